//! Which models may see which memory.
//!
//! A plan's question goes to a language model: a third party's program, often on a third party's machine. What was
//! learnt with the embedded brain, or with another model, stays here until the operator allows sharing
//! ([`MemoryAct::Shared`]). Facts that the operator states, and proposals that they approve for every task, are meant
//! for every model, so every model sees them.

use std::collections::BTreeSet;

use setpoint_model::playbook::PLAYBOOK_MODEL;
use setpoint_protocol::limits::LESSON_SOURCES_MAX;
use setpoint_protocol::memory::{Author, MemoryAct};
use setpoint_protocol::message::Megram;
use setpoint_protocol::models::Models;
use setpoint_protocol::tool::Source;
use setpoint_protocol::{RoleId, Timestamp};

use super::{Memory, MemoryFailure};
use crate::store::StoredRecord;

/// Maximum records, the newest ones, that are searched for one that a model may not see.
const LOOKED_AT_MAX: usize = 256;

/// The language models that read an answer of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readers(BTreeSet<String>);

impl Readers {
    /// Returns the models of a task. The embedded brain is part of this program and does not count.
    #[must_use]
    pub fn of(models: &Models) -> Self {
        Readers::named(models.all().map(|card| card.name.as_str()))
    }

    /// Creates readers from names of models.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let is_language_model = |name: &&str| *name != PLAYBOOK_MODEL;
        Readers(names.into_iter().filter(is_language_model).map(str::to_owned).collect())
    }

    /// Returns the names, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.0.iter().cloned().collect()
    }

    /// Returns whether each of these models knows the record's sources.
    #[must_use]
    pub fn know(&self, megram: &Megram) -> bool {
        self.0.iter().all(|name| megram.known_to.contains(name))
    }

    /// Returns whether each of these models may see the record without the operator's consent.
    fn may_see(&self, record: &StoredRecord) -> bool {
        record.author == Author::Operator || self.know(&record.megram)
    }
}

/// Selects records that a task's models may see, and counts the others.
pub(super) struct Filter<'a> {
    readers: &'a Readers,
    is_shared: bool,
    /// Number of records left out.
    pub(super) withheld: u32,
}

impl Filter<'_> {
    /// Returns whether the models may see the record, and counts it if not.
    pub(super) fn admits(&mut self, record: &StoredRecord) -> bool {
        let may = self.is_shared || self.readers.may_see(record);
        self.withheld = self.withheld.saturating_add(u32::from(!may));
        may
    }
}

/// Returns the models that know all of these records.
pub(super) fn known_to<'a>(mut records: impl Iterator<Item = &'a Megram>) -> Vec<String> {
    let Some(first) = records.next() else { return Vec::new() };
    records.fold(first.known_to.clone(), |mut known, record| {
        known.retain(|name| record.known_to.contains(name));
        known
    })
}

/// Returns where any of these records comes from, of what somebody elsewhere wrote.
pub(super) fn after<'a>(records: impl Iterator<Item = &'a Megram>) -> Vec<Source> {
    let all: BTreeSet<&Source> = records.flat_map(|record| &record.after).collect();
    all.into_iter().take(LESSON_SOURCES_MAX).cloned().collect()
}

impl Memory {
    pub(super) fn filter<'a>(&self, readers: &'a Readers) -> Result<Filter<'a>, MemoryFailure> {
        Ok(Filter { readers, is_shared: self.is_shared()? == Some(true), withheld: 0 })
    }

    /// Returns whether the operator allows that a model sees what was learnt without it. `None` if they have not
    /// decided; then it is not shown.
    ///
    /// # Errors
    /// If the store or the journal cannot be read.
    pub fn is_shared(&self) -> Result<Option<bool>, MemoryFailure> {
        self.mended(|| Ok(self.store.is_shared()?))
    }

    /// Records whether a model may see what was learnt without it.
    ///
    /// # Errors
    /// If the journal or the store fails.
    pub fn share(&self, is_allowed: bool, now: Timestamp) -> Result<(), MemoryFailure> {
        self.act(RoleId::Operator, &MemoryAct::Shared { is_allowed }, now).map(drop)
    }

    /// Returns whether the operator has to decide: they have not yet, and among the newest records there is one that
    /// these models do not know.
    ///
    /// # Errors
    /// If the store or the journal cannot be read.
    pub fn must_ask(&self, readers: &Readers) -> Result<bool, MemoryFailure> {
        if readers.0.is_empty() {
            return Ok(false);
        }
        self.catch_up()?;
        if self.is_shared()?.is_some() {
            return Ok(false);
        }
        let newest = self.mended(|| Ok(self.store.newest(LOOKED_AT_MAX)?))?;
        Ok(newest.iter().any(|record| !readers.may_see(record)))
    }
}
