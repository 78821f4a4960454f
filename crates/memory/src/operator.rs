//! The operator's changes to memory: each is written to the journal before it takes effect.

use std::collections::BTreeSet;

use setpoint_mkct::Quantum;
use setpoint_mkct::tags::{ENV_LOCAL, TASK_SPACE, USER_SPACE};
use setpoint_protocol::memory::{Author, MemoryAct};
use setpoint_protocol::message::{Insight, InsightCategory, Level, Megram};
use setpoint_protocol::{MegramId, RoleId, Timestamp};

use super::{BEGINNING, Memory, MemoryFailure, derived_id};
use crate::store::StoredRecord;
use crate::store::limits::{RECORD_BYTES_MAX, TAG_BYTES_MAX};

/// Longest fact in characters: what a plan is shown of it.
const FACT_CHARS_MAX: usize = 400;
/// Maximum facts: every task sees all of them.
pub(super) const FACTS_MAX: usize = 32;
/// Maximum tags of a fact.
const FACT_TAGS_MAX: usize = 16;
/// Longest tag, in characters.
const FACT_TAG_CHARS_MAX: usize = 64;
/// Maximum lines of an import.
pub const IMPORT_LINES_MAX: usize = 100_000;
/// Records in one transaction of the journal.
const IMPORT_RECORDS_AT_ONCE: usize = 512;
/// Records that are read for one page of an export.
const EXPORT_PAGE: usize = 1_000;

/// A stated fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedFact {
    /// Id of the fact.
    pub id: MegramId,
    /// Whether the same fact existed before.
    pub is_known: bool,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportResult {
    /// Number of new records.
    pub taken: u64,
    /// Number of records that existed or were forgotten permanently.
    pub known: u64,
    /// Rejected lines, from 1, with the reason.
    pub refused: Vec<(u64, String)>,
}

impl Memory {
    /// States a fact, which every later task sees. The same words are stored once.
    ///
    /// # Errors
    /// If the words or tags are invalid, or the journal or the store fails.
    pub fn remember(&self, text: &str, tags: &[String], now: Timestamp) -> Result<StatedFact, MemoryFailure> {
        let lesson = text.trim();
        check_fact(lesson, tags)?;
        self.catch_up()?;
        let facts = self.mended(|| Ok(self.store.rules_of(USER_SPACE, ENV_LOCAL)?))?;
        if let Some(known) = facts.iter().find(|fact| fact.megram.content.lesson == lesson) {
            return Ok(StatedFact { id: known.megram.id.clone(), is_known: true });
        }
        if facts.len() >= FACTS_MAX {
            return Err(MemoryFailure::TooManyFacts { max: FACTS_MAX });
        }
        let id = self.id_of_fact(lesson)?;
        let content = Insight {
            tags: tags.iter().map(|tag| tag.trim().to_owned()).collect(),
            ..Insight::new(lesson.to_owned(), InsightCategory::Fact)
        };
        let megram = Megram {
            id: id.clone(),
            level: Level::C,
            created_at: now,
            space: USER_SPACE.to_owned(),
            entity: ENV_LOCAL.to_owned(),
            content,
            state: None,
            f: 1.0,
            sigma: 1.0,
            k: 0.0,
            known_to: Vec::new(),
            after: Vec::new(),
        };
        self.act(RoleId::Operator, &MemoryAct::Recorded { megram, by: Author::Operator }, now)?;
        Ok(StatedFact { id, is_known: false })
    }

    /// Returns the id of a fact, which is derived from its words, so that the same words are stored once. A forgotten
    /// fact gets the next free id, so that it can be stated again.
    fn id_of_fact(&self, lesson: &str) -> Result<MegramId, MemoryFailure> {
        let mut n = 0;
        loop {
            let id = derived_id("fact", &[lesson.as_bytes()], n, BEGINNING);
            if !self.mended(|| Ok(self.store.knows(&id)?))? {
                return Ok(id);
            }
            n += 1;
        }
    }

    /// Deletes these records permanently, all of them or none, and returns them.
    ///
    /// # Errors
    /// If an id has no record, or the journal or the store fails.
    pub fn forget_records(
        &self,
        ids: &[MegramId],
        now: Timestamp,
    ) -> Result<Vec<StoredRecord>, MemoryFailure> {
        self.catch_up()?;
        let mut seen = BTreeSet::new();
        let ids: Vec<MegramId> = ids.iter().filter(|id| seen.insert(*id)).cloned().collect();
        let records =
            self.mended(|| ids.iter().map(|id| Ok(self.store.get(id)?)).collect::<Result<Vec<_>, _>>())?;
        if !ids.is_empty() {
            self.act(RoleId::Operator, &MemoryAct::Forgotten { ids }, now)?;
        }
        Ok(records)
    }

    /// Returns what was learnt before this time and can be forgotten, oldest first: everything that fades. Keeps rules,
    /// their source records, proposals, and what the operator stated.
    ///
    /// # Errors
    /// If the journal or the store cannot be read.
    pub fn prunable(&self, before: Timestamp) -> Result<Vec<StoredRecord>, MemoryFailure> {
        self.catch_up()?;
        let mut found = Vec::new();
        let mut after = 0;
        loop {
            let (page, next) = self.mended(|| Ok(self.store.page(after, EXPORT_PAGE)?))?;
            found.extend(page.into_iter().filter(|record| can_go(record, before)));
            match next {
                Some(next) => after = next,
                None => return Ok(found),
            }
        }
    }

    /// Imports records, one JSON object per line. A single invalid line rejects the whole import, unless `is_lenient`.
    ///
    /// # Errors
    /// If there are too many lines, or the journal or the store fails. Records imported until then stay; a second
    /// import counts them as known.
    pub fn import(
        &self,
        text: &str,
        is_lenient: bool,
        now: Timestamp,
    ) -> Result<ImportResult, MemoryFailure> {
        self.catch_up()?;
        let mut imported = ImportResult::default();
        let (mut taken, mut ids) = (Vec::new(), BTreeSet::new());
        let facts = self.mended(|| Ok(self.store.rules_of(USER_SPACE, ENV_LOCAL)?))?;
        let mut room = FACTS_MAX.saturating_sub(facts.len());
        for (line, number) in text.lines().zip(1_u64..) {
            if line.trim().is_empty() {
                continue;
            }
            match record_of(line, now) {
                Ok(megram) if !ids.insert(megram.id.clone()) => imported.known += 1,
                Ok(megram) if self.mended(|| Ok(self.store.knows(&megram.id)?))? => imported.known += 1,
                Ok(megram) if author_of(&megram) == Author::Operator && room == 0 => {
                    let reason = format!("there are already {FACTS_MAX} facts, and tasks read no more");
                    imported.refused.push((number, reason));
                }
                Ok(megram) => {
                    room -= usize::from(author_of(&megram) == Author::Operator);
                    taken.push(megram);
                }
                Err(reason) => imported.refused.push((number, reason)),
            }
            if taken.len() > IMPORT_LINES_MAX {
                return Err(MemoryFailure::TooManyLines { max: IMPORT_LINES_MAX });
            }
        }
        if !imported.refused.is_empty() && !is_lenient {
            imported.known = 0;
            return Ok(imported);
        }
        for some in taken.chunks(IMPORT_RECORDS_AT_ONCE) {
            let acts: Vec<MemoryAct> = some
                .iter()
                .map(|megram| MemoryAct::Recorded { megram: megram.clone(), by: author_of(megram) })
                .collect();
            self.acts(RoleId::Operator, &acts, now)?;
            imported.taken += some.len() as u64;
        }
        Ok(imported)
    }

    /// Returns the proposals for every task that are not approved, newest first.
    ///
    /// # Errors
    /// If the store or the journal cannot be read.
    pub fn proposals(&self) -> Result<Vec<StoredRecord>, MemoryFailure> {
        self.catch_up()?;
        self.mended(|| Ok(self.store.thoughts()?.1))
    }

    /// Approves a proposal: every model of every task opened from now on sees it.
    ///
    /// # Errors
    /// If the record is not a proposal, or the journal or the store fails.
    pub fn approve(&self, id: &MegramId, now: Timestamp) -> Result<StoredRecord, MemoryFailure> {
        let proposals = self.proposals()?;
        if !proposals.iter().any(|proposal| proposal.megram.id == *id) {
            return Err(MemoryFailure::NoProposal { id: id.clone() });
        }
        self.act(RoleId::Operator, &MemoryAct::Approved { id: id.clone() }, now)?;
        self.mended(|| Ok(self.store.get(id)?))
    }

    /// Returns the words of the approved proposals, oldest first.
    ///
    /// # Errors
    /// If the store or the journal cannot be read.
    pub fn approved_principles(&self) -> Result<Vec<String>, MemoryFailure> {
        // An approval applies the journal, so only a new memory has to do it here.
        if self.mended(|| Ok(self.store.cursor()?))? == 0 {
            self.catch_up()?;
        }
        let (laid_down, _) = self.mended(|| Ok(self.store.thoughts()?))?;
        Ok(laid_down.into_iter().map(|thought| thought.megram.content.lesson).collect())
    }

    /// Returns a page of current records after this position, oldest first, and the next position while there may be
    /// more. Leaves out source records, which their rule replaces.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn exported(&self, after: u64) -> Result<(Vec<Megram>, Option<u64>), MemoryFailure> {
        let (page, next) = self.mended(|| Ok(self.store.page(after, EXPORT_PAGE)?))?;
        Ok((page.into_iter().filter_map(as_it_is).collect(), next))
    }
}

fn can_go(record: &StoredRecord, before: Timestamp) -> bool {
    let was_learnt = matches!(record.megram.level, Level::M | Level::K) && record.author != Author::Operator;
    was_learnt && record.rule.is_none() && record.megram.created_at < before
}

/// Returns a record with its current numbers, if it counts.
fn as_it_is(record: StoredRecord) -> Option<Megram> {
    // A task's own outputs are of no use to other tasks.
    let is_kept = !record.megram.space.starts_with(TASK_SPACE);
    let is_told = is_kept && (record.trace.is_summed() || record.is_live_rule());
    let StoredRecord { mut megram, trace, .. } = record;
    if trace.level == setpoint_mkct::Level::K && megram.level == Level::C {
        // A demoted rule fades from its demotion on.
        megram.level = Level::K;
        megram.k = trace.quantum.k;
        megram.created_at = Timestamp::from_micros(trace.moments.origin_us());
    }
    is_told.then_some(megram)
}

/// Returns the author: the operator for a fact, even if it is imported.
fn author_of(megram: &Megram) -> Author {
    let is_fact = megram.level == Level::C && megram.space == USER_SPACE;
    if is_fact { Author::Operator } else { Author::Import }
}

/// Parses the record in a line; the error says what is wrong with it.
fn record_of(line: &str, now: Timestamp) -> Result<Megram, String> {
    if line.len() > RECORD_BYTES_MAX {
        return Err(format!("it has {} bytes, and at most {RECORD_BYTES_MAX} are allowed", line.len()));
    }
    let megram: Megram =
        serde_json::from_str(line).map_err(|error| format!("it is not a record: {error}"))?;
    if megram.created_at > now {
        return Err(format!("`created_at` is {}, which is in the future", megram.created_at));
    }
    let quantum = Quantum { f: megram.f, sigma: megram.sigma, k: megram.k };
    quantum.check().map_err(|error| error.to_string())?;
    for (name, tag) in [("space", &megram.space), ("entity", &megram.entity)] {
        if tag.is_empty() || tag.len() > TAG_BYTES_MAX {
            return Err(format!("`{name}` has {} bytes, and 1 to {TAG_BYTES_MAX} are allowed", tag.len()));
        }
    }
    if author_of(&megram) == Author::Operator {
        let is_one = megram.entity == ENV_LOCAL && (megram.f, megram.sigma, megram.k) == (1.0, 1.0, 0.0);
        return match check_fact(megram.content.lesson.trim(), &megram.content.tags) {
            Ok(()) if is_one => Ok(megram),
            Ok(()) => Err(format!("a fact belongs to `{ENV_LOCAL}` and has f 1, sigma 1 and k 0")),
            Err(error) => Err(error.to_string()),
        };
    }
    match megram.level {
        Level::M | Level::K if megram.k > 0.0 => Ok(megram),
        Level::M | Level::K => Err("levels M and K fade: `k` is above 0".to_owned()),
        Level::C if megram.k == 0.0 && megram.sigma != 0.0 => Ok(megram),
        Level::C => {
            Err("a rule (level C) has a sign (`sigma` is not 0) and does not fade (`k` is 0)".to_owned())
        }
        Level::T => {
            Err("level T comes from the operator's own file and from proposals, not from an import"
                .to_owned())
        }
    }
}

fn check_fact(lesson: &str, tags: &[String]) -> Result<(), MemoryFailure> {
    let refused = |reason: String| Err(MemoryFailure::Fact { reason });
    let chars = lesson.chars().count();
    if chars == 0 {
        return refused("the text is empty".to_owned());
    }
    if chars > FACT_CHARS_MAX {
        return refused(format!("it has {chars} characters, and at most {FACT_CHARS_MAX} are allowed"));
    }
    if tags.len() > FACT_TAGS_MAX {
        return refused(format!("it has {} tags, and at most {FACT_TAGS_MAX} are allowed", tags.len()));
    }
    let is_tag = |tag: &&String| (1..=FACT_TAG_CHARS_MAX).contains(&tag.trim().chars().count());
    match tags.iter().find(|tag| !is_tag(tag)) {
        None => Ok(()),
        Some(_) => refused(format!("a tag has 1 to {FACT_TAG_CHARS_MAX} characters")),
    }
}
