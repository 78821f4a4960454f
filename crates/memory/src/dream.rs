//! The Dreamer's steps: rules lose their standing, rules are made, what has faded is forgotten.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek, Write};

use setpoint_machine::brief::DistilBrief;
use setpoint_mkct::Rule;
use setpoint_own_files::own::{self, Access};
use setpoint_protocol::memory::{MemoryAct, Worded};
use setpoint_protocol::message::{Insight, InsightCategory, Level, Megram, SopKind};
use setpoint_protocol::text::clip;
use setpoint_protocol::{MegramId, RoleId, Timestamp};

use super::sharing::known_to;
use super::{Memory, MemoryFailure, derived_id};
use crate::store::Candidate;

/// The file that is locked, beside the store.
const LOCK: &str = "dreamer.lock";
/// Bytes that are read of what a pass left in it.
const WORD_BYTES_MAX: u64 = 64;
/// Rules that one pass makes at most.
const PROMOTIONS_MAX: usize = 32;
/// Records that one transaction deletes at most: others write in between.
pub(super) const FORGET_MAX: usize = 1_024;
/// Records that one transaction indexes by their words, and how many of these a pass makes: the next one goes on.
const INDEX_MAX: usize = 1_024;
const INDEX_ROUNDS_MAX: usize = 16;
/// Characters of a rule.
const RULE_CHARS_MAX: usize = 400;
/// Tags, tools and targets of a rule, each.
const ITEMS_MAX: usize = 10;

/// What a pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dreamt {
    /// Rules that the evidence had turned against.
    pub demoted: Vec<MegramId>,
    /// What tasks taught that a model has put into better words.
    pub reflected: Vec<MegramId>,
    /// Rules that were made.
    pub promoted: Vec<MegramId>,
    /// What was proposed for every task.
    pub proposed: Vec<MegramId>,
    /// What was made up of what worked elsewhere.
    pub hypotheses: Vec<MegramId>,
    /// Records that had faded.
    pub faded: u64,
    /// Outputs of tasks that have ended.
    pub outputs: u64,
}

impl Memory {
    /// The right to dream, which one process at a time has; `None` where another one has it. It goes with the process.
    ///
    /// # Errors
    /// When the file that is locked cannot be made.
    pub fn alone(&self) -> Result<Option<Alone>, MemoryFailure> {
        let path = self.store.path().with_file_name(LOCK);
        let failed = |source| MemoryFailure::Lock { path: path.clone(), source };
        let file = own::open_or_create(&path, Access::Write).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Alone(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Rules that the evidence has turned against lose their standing.
    pub(crate) fn demote(&self, _: &Alone, now: Timestamp) -> Result<Vec<MegramId>, MemoryFailure> {
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

    /// The pairs that are due for a rule.
    pub(crate) fn due(&self, _: &Alone, now: Timestamp) -> Result<Vec<Candidate>, MemoryFailure> {
        self.mended(|| Ok(self.store.promotable(now, PROMOTIONS_MAX)?))
    }

    /// Makes the rule that a pair is due for, in these words or by template; and says which model was asked for them.
    pub(crate) fn promote(
        &self,
        _: &Alone,
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

    /// What is new is indexed by its words; what has faded goes, and the outputs of tasks that have ended; how many of each.
    /// Until it is stopped.
    pub(crate) fn tidy(
        &self,
        alone: &Alone,
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

    /// The last pass that went through everything; `None` where there was none, or it left no word.
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

/// The right to dream.
#[derive(Debug)]
pub struct Alone(File);

/// A pass that went through everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dream {
    /// When.
    pub at: Timestamp,
    /// The place in the journal that memory stood at.
    pub cursor: u64,
}

impl Alone {
    /// Leaves word of a pass in the file that is locked. Without it the next one comes too early, and finds nothing to do.
    fn note(&self, dream: Dream) {
        let text = format!("{} {}\n", dream.at.as_micros(), dream.cursor);
        let mut file = &self.0;
        let noted =
            file.rewind().and_then(|()| file.set_len(0)).and_then(|()| file.write_all(text.as_bytes()));
        if let Err(error) = noted {
            tracing::debug!(%error, "a pass of the Dreamer left no word");
        }
    }
}

/// The rule that a pair's records make: in these words, or by template its newest lesson; and what that was learnt with. The
/// same records make the same rule, whoever dreams.
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
    }
}

/// What a model is shown for the words of a rule.
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
