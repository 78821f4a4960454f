//! The Dreamer's steps: demote rules, make rules, forget what has faded.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek, Write};

use setpoint_machine::brief::DistilBrief;
use setpoint_mkct::Rule;
use setpoint_own_files::own::{self, Access};
use setpoint_protocol::memory::{MemoryAct, Worded};
use setpoint_protocol::message::{Insight, InsightCategory, Level, Megram, SopKind};
use setpoint_protocol::text::clip;
use setpoint_protocol::{MegramId, RoleId, Timestamp};

use super::sharing::{after, known_to};
use super::{Memory, MemoryFailure, derived_id};
use crate::store::Candidate;

/// Name of the lock file, beside the store.
const LOCK: &str = "dreamer.lock";
/// Maximum bytes read of the note that a pass leaves in the lock file.
const WORD_BYTES_MAX: u64 = 64;
/// Maximum rules that one pass makes.
const PROMOTIONS_MAX: usize = 32;
/// Maximum records that one transaction deletes: other processes write in between.
pub(super) const FORGET_MAX: usize = 1_024;
/// Maximum records that one transaction indexes by words, and most such transactions in a pass; the next pass
/// continues.
const INDEX_MAX: usize = 1_024;
const INDEX_ROUNDS_MAX: usize = 16;
/// Longest rule, in characters.
const RULE_CHARS_MAX: usize = 400;
/// Maximum tags, tools and targets of a rule, each.
const ITEMS_MAX: usize = 10;

/// The result of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DreamResult {
    /// Rules that were demoted because the evidence turned against them.
    pub demoted: Vec<MegramId>,
    /// Lessons of tasks that a model has reworded.
    pub reflected: Vec<MegramId>,
    /// Rules that were made.
    pub promoted: Vec<MegramId>,
    /// Proposals for every task.
    pub proposed: Vec<MegramId>,
    /// Hypotheses made from what worked for other intents.
    pub hypotheses: Vec<MegramId>,
    /// Number of faded records deleted.
    pub faded: u64,
    /// Number of deleted outputs of tasks that have ended.
    pub outputs: u64,
}

impl Memory {
    /// Locks the Dreamer, which one process at a time may run; `None` if another one holds the lock. The lock ends with
    /// the process.
    ///
    /// # Errors
    /// If the lock file cannot be created.
    pub fn alone(&self) -> Result<Option<DreamLock>, MemoryFailure> {
        let path = self.store.path().with_file_name(LOCK);
        let failed = |source| MemoryFailure::Lock { path: path.clone(), source };
        let file = own::open_or_create(&path, Access::Write).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(DreamLock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Demotes rules that the evidence has turned against.
    pub(crate) fn demote(&self, _: &DreamLock, now: Timestamp) -> Result<Vec<MegramId>, MemoryFailure> {
        self.catch_up()?;
        let due = self.mended(|| Ok(self.store.bankrupt(now)?))?;
        let mut demoted = Vec::new();
        for rule in due {
            let id = rule.megram.id;
            self.act(RoleId::Memory, &MemoryAct::Demoted { rule: id.clone(), at: now }, now)?;
            demoted.push(id);
        }
        Ok(demoted)
    }

    /// Returns the pairs that are due for a rule.
    pub(crate) fn due(&self, _: &DreamLock, now: Timestamp) -> Result<Vec<Candidate>, MemoryFailure> {
        self.mended(|| Ok(self.store.promotable(now, PROMOTIONS_MAX)?))
    }

    /// Makes the rule that a pair is due for, with the given words or from a template, and records which model was
    /// asked.
    pub(crate) fn promote(
        &self,
        _: &DreamLock,
        candidate: &Candidate,
        words: Option<String>,
        worded: Option<Worded>,
        now: Timestamp,
    ) -> Result<MegramId, MemoryFailure> {
        let rule = rule(candidate, words, now);
        let id = rule.id.clone();
        self.act(RoleId::Memory, &MemoryAct::Promoted { rule, as_of: candidate.as_of, worded }, now)?;
        Ok(id)
    }

    /// Indexes new records by words, then deletes faded records and the outputs of ended tasks, until it is stopped.
    /// Returns how many of each it deleted.
    pub(crate) fn tidy(
        &self,
        alone: &DreamLock,
        now: Timestamp,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(u64, u64), MemoryFailure> {
        for _ in 0..INDEX_ROUNDS_MAX {
            let has_more = self.mended(|| Ok(self.store.index(INDEX_MAX)?))?;
            if !has_more || is_stopped() {
                break;
            }
        }
        let (mut faded, mut outputs) = (0, 0);
        while !is_stopped() {
            let forgotten = self.mended(|| Ok(self.store.forget_faded(now, FORGET_MAX)?))?;
            faded += forgotten.faded;
            outputs += forgotten.outputs;
            if !forgotten.has_more {
                alone.note(Dream { at: now, cursor: self.store.cursor()? });
                break;
            }
        }
        Ok((faded, outputs))
    }

    /// Returns the last pass that processed everything; `None` if there was none, or its note cannot be read.
    #[must_use]
    pub fn last_dream(&self) -> Option<Dream> {
        let mut text = String::new();
        let file = own::open(&self.store.path().with_file_name(LOCK), Access::Read).ok()?;
        file.take(WORD_BYTES_MAX).read_to_string(&mut text).ok()?;
        let mut words = text.split_whitespace().map(str::parse::<i64>);
        let (at, cursor) = (words.next()?.ok()?, words.next()?.ok()?);
        Some(Dream { at: Timestamp::from_micros(at), cursor: u64::try_from(cursor).ok()? })
    }
}

/// The Dreamer's lock.
#[derive(Debug)]
pub struct DreamLock(File);

/// A pass that processed everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dream {
    /// Time of the pass.
    pub at: Timestamp,
    /// Memory's journal position at the time.
    pub cursor: u64,
}

impl DreamLock {
    /// Writes a note of the pass into the lock file. If that fails, the next pass only runs earlier than needed.
    fn note(&self, dream: Dream) {
        let text = format!("{} {}\n", dream.at.as_micros(), dream.cursor);
        let mut file = &self.0;
        let noted =
            file.rewind().and_then(|()| file.set_len(0)).and_then(|()| file.write_all(text.as_bytes()));
        if let Err(error) = noted {
            tracing::debug!(%error, "a pass of the Dreamer was not logged");
        }
    }
}

/// Makes the rule of a pair's records, with the given words or, by template, from its newest lesson. It is known to the
/// models that know all of its lessons. The same records give the same rule id in every process.
fn rule(candidate: &Candidate, words: Option<String>, now: Timestamp) -> Megram {
    let Candidate { space, entity, rule, lessons, as_of, .. } = candidate;
    let (category, head) = match rule {
        Rule::BestPractice => (InsightCategory::Procedure, "This worked again and again."),
        Rule::Constraint => (InsightCategory::Constraint, "This failed again and again."),
    };
    let newest = lessons.first().map(|lesson| &lesson.megram);
    let known = newest.map_or_else(|| Insight::new(String::new(), category), |newest| newest.content.clone());
    let text = words.unwrap_or_else(|| format!("{head} {}", known.lesson));
    let mut content =
        Insight { lesson: clip(text.trim(), RULE_CHARS_MAX), category, failed_criteria: Vec::new(), ..known };
    content.tags.truncate(ITEMS_MAX);
    content.tools.truncate(ITEMS_MAX);
    content.targets.truncate(ITEMS_MAX);
    content.approaches.truncate(ITEMS_MAX);
    let quantum = rule.quantum();
    let parts = [space.as_bytes(), entity.as_bytes(), rule.name().as_bytes(), &as_of.to_le_bytes()];
    Megram {
        id: derived_id("rule", &parts, 0, newest.map_or(now, |newest| newest.created_at)),
        level: Level::C,
        created_at: now,
        space: space.clone(),
        entity: entity.clone(),
        content,
        state: None,
        f: quantum.f,
        sigma: quantum.sigma,
        k: quantum.k,
        known_to: known_to(lessons.iter().map(|lesson| &lesson.megram)),
        after: after(lessons.iter().map(|lesson| &lesson.megram)),
    }
}

/// Returns what a model is shown to word a rule.
pub(super) fn brief(candidate: &Candidate) -> DistilBrief {
    let Candidate { space, entity, rule, lessons, .. } = candidate;
    DistilBrief {
        kind: match rule {
            Rule::BestPractice => SopKind::BestPractice,
            Rule::Constraint => SopKind::Constraint,
        },
        space: space.clone(),
        entity: entity.clone(),
        lessons: lessons.iter().map(|lesson| lesson.megram.content.lesson.clone()).collect(),
    }
}
