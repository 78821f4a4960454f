//! Whom memory may be told to.
//!
//! A plan's question goes to a language model, which is somebody else's program, often on somebody else's machine. What was
//! learnt with the embedded brain, or with another model, stays here until the operator has said that it may go there
//! ([`MemoryAct::Shared`]). What the operator states as a fact, and what they approved for every task, is meant for every
//! model; so it goes to every one.

use std::collections::BTreeSet;

use setpoint_model::playbook::PLAYBOOK_MODEL;
use setpoint_protocol::memory::{Author, MemoryAct};
use setpoint_protocol::message::Megram;
use setpoint_protocol::models::Models;
use setpoint_protocol::{RoleId, Timestamp};

use super::{Memory, MemoryFailure};
use crate::store::Remembered;

/// The newest records that are looked through for one that is kept from a model.
const LOOKED_AT_MAX: usize = 256;

/// The language models that read what is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readers(BTreeSet<String>);

impl Readers {
    /// Those of a task. Its embedded brain is none: it is this program.
    #[must_use]
    pub fn of(models: &Models) -> Self {
        Readers::named(models.all().map(|card| card.name.as_str()))
    }

    /// Models by their names.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let is_language_model = |name: &&str| *name != PLAYBOOK_MODEL;
        Readers(names.into_iter().filter(is_language_model).map(str::to_owned).collect())
    }

    /// Their names, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.0.iter().cloned().collect()
    }

    /// Whether each of them knows what this is made of.
    #[must_use]
    pub fn know(&self, megram: &Megram) -> bool {
        self.0.iter().all(|name| megram.known_to.contains(name))
    }

    /// Whether each of them may be told it unasked.
    fn may_see(&self, record: &Remembered) -> bool {
        record.author == Author::Operator || self.know(&record.megram)
    }
}

/// What may be told to a task's models, and what was kept from them so far.
pub(super) struct Filter<'a> {
    readers: &'a Readers,
    is_shared: bool,
    /// Records that were kept from them.
    pub(super) withheld: u32,
}

impl Filter<'_> {
    /// Lets through what may be told, and counts the rest.
    pub(super) fn lets(&mut self, record: &Remembered) -> bool {
        let may = self.is_shared || self.readers.may_see(record);
        self.withheld = self.withheld.saturating_add(u32::from(!may));
        may
    }
}

/// What all of these records are known to.
pub(super) fn known_to<'a>(mut records: impl Iterator<Item = &'a Megram>) -> Vec<String> {
    let Some(first) = records.next() else { return Vec::new() };
    records.fold(first.known_to.clone(), |mut known, record| {
        known.retain(|name| record.known_to.contains(name));
        known
    })
}

impl Memory {
    pub(super) fn filter<'a>(&self, readers: &'a Readers) -> Result<Filter<'a>, MemoryFailure> {
        Ok(Filter { readers, is_shared: self.is_shared()? == Some(true), withheld: 0 })
    }

    /// What the operator last said of it: whether a model may be told what was learnt without it. `None` where nothing was
    /// said, and nothing is told then.
    ///
    /// # Errors
    /// When the store or the journal cannot be read.
    pub fn is_shared(&self) -> Result<Option<bool>, MemoryFailure> {
        self.mended(|| Ok(self.store.is_shared()?))
    }

    /// Says whether a model may be told what was learnt without it.
    ///
    /// # Errors
    /// When the journal or the store fails.
    pub fn share(&self, is_allowed: bool, now: Timestamp) -> Result<(), MemoryFailure> {
        self.act(RoleId::Operator, &MemoryAct::Shared { is_allowed }, now).map(drop)
    }

    /// Whether there is something, among what is newest, that these models do not know and nothing was said about.
    ///
    /// # Errors
    /// When the store or the journal cannot be read.
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
