//! One criterion over all its attempts.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_protocol::message::{
    Cite, Criterion, FailureClass, JudgedBy, Mode, Shown, Verdict, VerdictWord,
};
use setpoint_protocol::text::clip;
use setpoint_protocol::{CallId, CriterionId, Instance, Timestamp};

/// At most this many characters of evidence are kept; the journal has all of it.
const EVIDENCE_CHARS_MAX: usize = 300;

/// A round and an attempt in it, from 1. Attempt 0 is the round as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    pub round: u32,
    pub attempt: u32,
}

/// The state of a criterion in one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Not judged, and nothing runs that could lead to a verdict.
    NotYet,
    /// The work on it, or its judgement, is running.
    Running,
    /// It holds.
    Verified,
    /// Its check passed before any work, so the pass proves nothing.
    Vacuous,
    /// It does not hold; with the class of the failure, if known.
    Failed(Option<FailureClass>),
    /// There is no evidence for it; with the class of the failure, if known.
    NotShown(Option<FailureClass>),
    /// It is proved that it cannot hold here.
    Cannot,
}

impl Cell {
    /// Returns the cell for a verdict.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Cell {
        match (verdict.verdict, verdict.shown) {
            (VerdictWord::Pass, _) if verdict.vacuous => Cell::Vacuous,
            (VerdictWord::Pass, _) => Cell::Verified,
            (VerdictWord::Fail, Some(Shown::Cannot)) => Cell::Cannot,
            (VerdictWord::Fail, Some(Shown::NotShown)) => Cell::NotShown(verdict.failure_class),
            (VerdictWord::Fail, Some(Shown::Refuted) | None) => Cell::Failed(verdict.failure_class),
        }
    }

    /// Returns the word for JSON output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Cell::NotYet => "not_yet",
            Cell::Running => "running",
            Cell::Verified => "verified",
            Cell::Vacuous => "vacuous",
            Cell::Failed(Some(FailureClass::Logical)) => "failed_logical",
            Cell::Failed(Some(FailureClass::Environmental)) => "failed_environmental",
            Cell::Failed(None) => "failed",
            Cell::NotShown(Some(FailureClass::Logical)) => "not_shown_logical",
            Cell::NotShown(Some(FailureClass::Environmental)) => "not_shown_environmental",
            Cell::NotShown(None) => "not_shown",
            Cell::Cannot => "cannot",
        }
    }
}

/// The basis of a judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// When it was judged.
    pub at: Timestamp,
    /// The observation, clipped.
    pub text: String,
    /// Calls that were cited.
    pub calls: Vec<CallId>,
    /// Whether the output itself was cited.
    pub cites_output: bool,
    /// Who judged; `None` if the text is only the reason why it was not judged.
    pub judged_by: Option<JudgedBy>,
    /// The kind of failure, if known.
    pub shown: Option<Shown>,
    /// Whether a pass rests on something that the work itself made or changed.
    pub self_made: bool,
}

impl Evidence {
    /// Returns the evidence of a verdict.
    #[must_use]
    pub fn of(verdict: &Verdict, at: Timestamp) -> Self {
        let calls = verdict.cites.iter().filter_map(|cite| match cite {
            Cite::Call(call) => Some(*call),
            Cite::Output(_) => None,
        });
        Evidence {
            at,
            text: clip(&verdict.evidence, EVIDENCE_CHARS_MAX),
            calls: calls.collect(),
            cites_output: verdict.cites.contains(&Cite::OUTPUT),
            judged_by: Some(verdict.judged_by),
            shown: verdict.shown,
            self_made: verdict.self_made,
        }
    }

    pub(super) fn words(at: Timestamp, text: &str) -> Self {
        let text = clip(text, EVIDENCE_CHARS_MAX);
        Evidence {
            at,
            text,
            calls: Vec::new(),
            cites_output: false,
            judged_by: None,
            shown: None,
            self_made: false,
        }
    }
}

/// A criterion.
#[derive(Clone, Debug)]
pub struct Row {
    /// `c1`, `c2`, … for sub-tasks' criteria, `t1`, … for the task's own.
    pub label: String,
    /// The statement.
    pub statement: String,
    /// How strictly it can be judged.
    pub mode: Mode,
    /// Whether code can judge it.
    pub is_checked: bool,
    /// The latest evidence.
    pub evidence: Option<Evidence>,
    /// The effector that works on it, or was the last to do so.
    pub instance: Option<Instance>,
    of_task: bool,
    ids: BTreeSet<CriterionId>,
    cells: BTreeMap<Column, Cell>,
    seen: BTreeMap<Column, Evidence>,
    /// The columns with a running cell.
    running: BTreeSet<Column>,
}

impl Row {
    pub(super) fn new(criterion: &Criterion, number: usize, of_task: bool) -> Self {
        Row {
            label: format!("{}{number}", if of_task { 't' } else { 'c' }),
            statement: criterion.criterion.clone(),
            mode: criterion.mode,
            is_checked: criterion.check.is_some(),
            evidence: None,
            instance: None,
            of_task,
            ids: BTreeSet::new(),
            cells: BTreeMap::new(),
            seen: BTreeMap::new(),
            running: BTreeSet::new(),
        }
    }

    /// Returns whether it is a criterion of the whole task.
    #[must_use]
    pub fn is_of_task(&self) -> bool {
        self.of_task
    }

    /// Returns whether the criterion had this id in some round.
    #[must_use]
    pub fn has(&self, id: &CriterionId) -> bool {
        self.ids.contains(id)
    }

    /// Returns the ids that the criterion had.
    pub fn ids(&self) -> impl Iterator<Item = &CriterionId> {
        self.ids.iter()
    }

    /// Returns all cells, in order.
    pub fn cells(&self) -> impl Iterator<Item = (Column, Cell)> + '_ {
        self.cells.iter().map(|(column, cell)| (*column, *cell))
    }

    /// Returns the latest cell.
    #[must_use]
    pub fn latest(&self) -> Option<Cell> {
        self.cells.last_key_value().map(|(_, cell)| *cell)
    }

    /// Returns the cell of exactly this column.
    #[must_use]
    pub fn cell(&self, column: Column) -> Option<Cell> {
        self.cells.get(&column).copied()
    }

    /// Returns the evidence for the cell of exactly this column.
    #[must_use]
    pub fn evidence_in(&self, column: Column) -> Option<&Evidence> {
        self.seen.get(&column)
    }

    /// Records evidence for this column as the row's latest.
    pub(super) fn record_evidence(&mut self, column: Column, evidence: Evidence) {
        self.seen.insert(column, evidence.clone());
        self.evidence = Some(evidence);
    }

    /// Records evidence for this column, but keeps the row's latest, which may say more.
    pub(super) fn note(&mut self, column: Column, evidence: Evidence) {
        self.seen.insert(column, evidence);
    }

    /// Replaces the evidence that a repeated judgement left in this column by the original, with its time.
    pub(super) fn keep(&mut self, column: Column, known: Evidence) {
        let repeated = self.seen.get_mut(&column).filter(|seen| seen.judged_by.is_some());
        if let Some(seen) = repeated {
            seen.clone_from(&known);
        }
        self.evidence = Some(known);
    }

    pub(super) fn set(&mut self, column: Column, cell: Cell) {
        self.cells.insert(column, cell);
        match cell == Cell::Running {
            true => self.running.insert(column),
            false => self.running.remove(&column),
        };
    }

    pub(super) fn add_criterion(&mut self, criterion: &Criterion) {
        self.ids.insert(criterion.id.clone());
    }

    pub(super) fn runs_in(&mut self, instance: Option<Instance>) {
        self.instance = instance;
    }

    /// Resets the running cells. Returns the last column that had one.
    pub(super) fn stop(&mut self) -> Option<Column> {
        let ran = std::mem::take(&mut self.running);
        for column in &ran {
            self.cells.insert(*column, Cell::NotYet);
        }
        ran.last().copied()
    }
}
