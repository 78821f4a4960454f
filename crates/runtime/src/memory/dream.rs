//! The Dreamer: rules lose their standing, rules are made, what has faded is forgotten, in this order.

use std::fs::{File, OpenOptions, TryLockError};

use setpoint_memory_store::Candidate;
use setpoint_mkct::Rule;
use setpoint_protocol::memory::MemoryAct;
use setpoint_protocol::message::{Insight, InsightCategory, Level, Megram};
use setpoint_protocol::text::clip;
use setpoint_protocol::{MegramId, TaskId, Timestamp, id};

use super::{Memory, MemoryFailure, held};

/// The file that is locked, beside the store.
const LOCK: &str = "dreamer.lock";
/// Rules that one pass makes at most.
const PROMOTIONS_MAX: usize = 32;
/// Records that one transaction deletes at most: others write in between.
const FORGET_MAX: usize = 1_024;
/// Characters of a rule.
const RULE_CHARS_MAX: usize = 400;
/// Tags, tools and targets of a rule, each.
const ITEMS_MAX: usize = 10;

/// What a pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dreamt {
    /// Rules that the evidence had turned against.
    pub demoted: Vec<MegramId>,
    /// Rules that were made.
    pub promoted: Vec<MegramId>,
    /// Records that had faded.
    pub faded: u64,
    /// Outputs of tasks that have ended.
    pub outputs: u64,
}

impl Memory {
    /// One pass, by what the journal holds by now. Nothing is done where another process dreams.
    ///
    /// # Errors
    /// When the store or the journal fails; what was done until then stays done.
    pub fn dream(&self, now: Timestamp) -> Result<Dreamt, MemoryFailure> {
        let _held = held(&self.dreaming);
        self.mended(|| self.pass(now))
    }

    fn pass(&self, now: Timestamp) -> Result<Dreamt, MemoryFailure> {
        let mut dreamt = Dreamt::default();
        let Some(_alone) = self.alone()? else { return Ok(dreamt) };
        self.catch_up()?;
        for rule in self.store.bankrupt(now)? {
            self.act(&MemoryAct::Demoted { rule: rule.megram.id.clone(), at: now }, now)?;
            dreamt.demoted.push(rule.megram.id);
        }
        for candidate in self.store.promotable(now, PROMOTIONS_MAX)? {
            let rule = rule(&candidate, now);
            dreamt.promoted.push(rule.id.clone());
            self.act(&MemoryAct::Promoted { rule, as_of: candidate.as_of }, now)?;
        }
        loop {
            let forgotten = self.store.forget_faded(now, FORGET_MAX)?;
            dreamt.faded += forgotten.faded;
            dreamt.outputs += forgotten.outputs;
            if !forgotten.has_more {
                return Ok(dreamt);
            }
        }
    }
}

impl Memory {
    /// The lock that one process at a time dreams under; `None` where another one does. It goes with the process.
    fn alone(&self) -> Result<Option<File>, MemoryFailure> {
        let path = self.store.path().with_file_name(LOCK);
        let failed = |source| MemoryFailure::Lock { path: path.clone(), source };
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(false);
        let file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }
}

/// The rule that a pair's records make, by template: its newest lesson, and what it was learnt with.
fn rule(candidate: &Candidate, now: Timestamp) -> Megram {
    let Candidate { space, entity, rule, lessons, .. } = candidate;
    let quantum = rule.quantum();
    let newest = lessons.iter().find(|lesson| lesson.megram.sigma * quantum.sigma > 0.0);
    let content = newest.map(|lesson| &lesson.megram.content);
    let lesson = content.map_or("", |content| content.lesson.as_str());
    let (category, text) = match rule {
        Rule::BestPractice => (InsightCategory::Procedure, format!("This worked again and again. {lesson}")),
        Rule::Constraint => (InsightCategory::Constraint, format!("This failed again and again. {lesson}")),
    };
    let first = |items: &[String]| items.iter().take(ITEMS_MAX).cloned().collect();
    let content = Insight {
        lesson: clip(text.trim(), RULE_CHARS_MAX),
        category,
        tags: content.map(|content| first(&content.tags)).unwrap_or_default(),
        tools: content
            .map(|content| content.tools.iter().take(ITEMS_MAX).cloned().collect())
            .unwrap_or_default(),
        targets: content.map(|content| first(&content.targets)).unwrap_or_default(),
        approaches: content
            .map(|content| content.approaches.iter().take(ITEMS_MAX).cloned().collect())
            .unwrap_or_default(),
        plan_fingerprint: content.and_then(|content| content.plan_fingerprint.clone()),
        failed_criteria: Vec::new(),
    };
    Megram {
        id: id_of(candidate, newest.map_or(now, |lesson| lesson.megram.created_at)),
        level: Level::C,
        created_at: now,
        space: space.clone(),
        entity: entity.clone(),
        content,
        state: None,
        f: quantum.f,
        sigma: quantum.sigma,
        k: quantum.k,
    }
}

/// The same records make the same rule, whoever dreams.
fn id_of(candidate: &Candidate, at: Timestamp) -> MegramId {
    let Candidate { space, entity, rule, as_of, .. } = candidate;
    let mut hasher = blake3::Hasher::new();
    for part in [space, entity, rule.name()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.update(&as_of.to_le_bytes());
    let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
    let number = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    MegramId::from_uuid(id::derive(&TaskId::mint("rule", 0), number, 0, at))
}
