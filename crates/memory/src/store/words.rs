//! Finds records by words: tags and lessons that are useful across intents, indexed outside the write path.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_mkct::tags::INTENT_SPACE;
use setpoint_mkct::{Level, terms};
use setpoint_protocol::Timestamp;
use setpoint_protocol::memory::Author;
use setpoint_protocol::message::Insight;

use crate::store::database::{Store, last_rid};
use crate::store::error::Result;
use crate::store::record::{Entry, StoredRecord, entries};
use crate::store::sqlite::{Db, Seal};
use crate::store::tags;

/// Name of the position up to which records are indexed, by their numbers.
const WORDS: &str = "words";
/// Maximum words of a question that are looked up.
const QUESTION_TERMS_MAX: usize = 16;
/// Maximum records, the newest ones, that are read per word.
const RECORDS_OF_TERM_MAX: usize = 256;
/// Maximum records that are scored, those with most words first.
const WEIGHED_MAX: usize = 64;
/// Maximum records with a word that are counted; beyond that a word has little weight anyway.
const COUNTED_MAX: i64 = 10_000;
/// Minimum weighted share of a question's words that a record must contain.
const SHARE_MIN: f64 = 0.3;
/// Minimum score of a record: its share of the words times its remaining strength.
const SCORE_MIN: f64 = 0.1;

/// A record that was found by words.
#[derive(Clone, Debug, PartialEq)]
pub struct WordMatch {
    pub record: StoredRecord,
    /// Weighted share of the question's words, times the remaining strength.
    pub score: f64,
}

impl Store {
    /// Indexes up to `limit` records that are not indexed yet, in one transaction; returns whether there may be more.
    ///
    /// # Errors
    /// If nothing was indexed: the disk is full, or the store is locked or damaged.
    pub fn index(&self, limit: usize) -> Result<bool> {
        let from = indexed_to(&self.reader())?;
        if last_rid(&self.reader())? <= from {
            return Ok(false);
        }
        self.writer().transact(|db| Ok(go_on(db, limit)? >= limit))
    }

    /// Returns records of other pairs that share words with a text, the best first: rules in force, and summed
    /// experience of intents. Excludes facts of the operator, which every task sees anyway.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn related(
        &self,
        text: &str,
        (space, entity): (&str, &str),
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<WordMatch>> {
        let mut db = self.reader();
        db.look(|db| {
            let total = indexed_to(db)?.max(1) as f64;
            let own = tags::pair(db, space, entity)?;
            let mut weights: BTreeMap<String, f64> = BTreeMap::new();
            for term in terms(text) {
                let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM term WHERE term = ?1 LIMIT ?2)";
                let count = db.first(sql, (term.as_bytes(), COUNTED_MAX), |columns| columns.count(0))?;
                // Rare words weigh more: the inverse document frequency.
                let weight = (total / (1.0 + count.unwrap_or(0) as f64)).ln_1p();
                weights.insert(term, weight);
            }
            let mut rarest: Vec<(&String, f64)> =
                weights.iter().map(|(term, weight)| (term, *weight)).collect();
            rarest.sort_by(|a, b| b.1.total_cmp(&a.1));
            rarest.truncate(QUESTION_TERMS_MAX);
            let all: f64 = rarest.iter().map(|(_, weight)| weight).sum();
            let mut shares: BTreeMap<i64, f64> = BTreeMap::new();
            for (term, weight) in rarest {
                let sql = "SELECT rid FROM term WHERE term = ?1 ORDER BY rid DESC LIMIT ?2";
                let max = i64::try_from(RECORDS_OF_TERM_MAX).unwrap_or(i64::MAX);
                for rid in db.all(sql, (term.as_bytes(), max), |columns| columns.int(0))? {
                    *shares.entry(rid).or_default() += weight / all;
                }
            }
            let mut best: Vec<(i64, f64)> =
                shares.into_iter().filter(|(_, share)| *share >= SHARE_MIN).collect();
            best.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
            best.truncate(WEIGHED_MAX);
            let mut found = Vec::new();
            for (rid, share) in best {
                let entry = db.first(entries!("WHERE r.rid = ?1"), [rid], Entry::read)?;
                let Some(entry) = entry else { continue };
                let trace = entry.trace();
                let counts =
                    trace.is_summed() || (trace.level == Level::C && entry.mark.superseded_by.is_none());
                let score = share * trace.attention(now.as_micros());
                let is_own = own.is_some_and(|own| own.pid == entry.new.pid);
                if !is_own && counts && entry.new.author != Author::Operator && score >= SCORE_MIN {
                    found.push((entry, score));
                }
            }
            found.sort_by(|a, b| b.1.total_cmp(&a.1));
            found.truncate(limit);
            let whole = |(entry, score): (Entry, f64)| Ok(WordMatch { record: entry.remembered(db)?, score });
            found.into_iter().map(whole).collect()
        })
    }
}

/// Indexes up to `limit` further records; returns their number.
fn go_on(db: &Db, limit: usize) -> Result<usize> {
    let from = indexed_to(db)?;
    let max = i64::try_from(limit).unwrap_or(i64::MAX);
    let page = db.all(entries!("WHERE r.rid > ?1 ORDER BY r.rid LIMIT ?2"), (from, max), Entry::read)?;
    for entry in &page {
        add(db, entry)?;
    }
    if let Some(last) = page.last() {
        set_indexed_to(db, last.rid)?;
    }
    Ok(page.len())
}

/// Indexes the records written since the newest record was `before`, if everything up to there is indexed.
pub(crate) fn follow(db: &Db, before: i64) -> Result<()> {
    if indexed_to(db)? < before || last_rid(db)? <= before {
        return Ok(());
    }
    go_on(db, usize::MAX).map(drop)
}

/// Returns whether a record is indexed by words: experience of intents, and rules. Records of a tool are found by the
/// tool, and a task's own records are of no use to others.
fn is_found_by_words(db: &Db, entry: &Entry) -> Result<bool> {
    match entry.new.level {
        Level::C => Ok(true),
        Level::M => Ok(tags::names(db, entry.new.pid)?.0.starts_with(INTENT_SPACE)),
        Level::K | Level::T => Ok(false),
    }
}

fn words(db: &Db, entry: &Entry) -> Result<BTreeSet<String>> {
    if !is_found_by_words(db, entry)? {
        return Ok(BTreeSet::new());
    }
    let Insight { lesson, tags, .. } = entry.remembered(db)?.megram.content;
    // Tags come first, because words of a long lesson are left out.
    Ok(terms(&format!("{}\n{lesson}", tags.join("\n"))))
}

fn add(db: &Db, entry: &Entry) -> Result<()> {
    for term in words(db, entry)? {
        let row = (term.as_bytes(), entry.rid);
        db.change("INSERT OR IGNORE INTO term (term, rid) VALUES (?1, ?2)", row)?;
    }
    Ok(())
}

/// Adds a record that was just written to the index, if its number is in the indexed range: then it reuses the number
/// of a deleted record.
pub(crate) fn written(db: &Db, rid: i64) -> Result<()> {
    if rid > indexed_to(db)? {
        return Ok(());
    }
    match db.first(entries!("WHERE r.rid = ?1"), [rid], Entry::read)? {
        Some(entry) => add(db, &entry),
        None => Ok(()),
    }
}

/// Removes a record from the index, before it is changed or deleted.
pub(crate) fn forget(db: &Db, entry: &Entry) -> Result<()> {
    if entry.rid > indexed_to(db)? {
        return Ok(());
    }
    for term in words(db, entry)? {
        db.change("DELETE FROM term WHERE term = ?1 AND rid = ?2", (term.as_bytes(), entry.rid))?;
    }
    Ok(())
}

/// Checks the index against the records.
pub(crate) fn check(db: &Db) -> Result<()> {
    let to = indexed_to(db)?;
    let mut expected = 0;
    db.each(entries!("WHERE r.rid <= ?1"), [to], |columns| {
        let entry = Entry::read(columns)?;
        for term in words(db, &entry)? {
            expected += 1;
            let row = (term.as_bytes(), entry.rid);
            let found = db.first("SELECT 1 FROM term WHERE term = ?1 AND rid = ?2", row, |_| Ok(()))?;
            found.ok_or_else(|| columns.damaged("the word index lacks a record"))?;
        }
        Ok(true)
    })?;
    let listed = db.first("SELECT COUNT(*) FROM term", (), |columns| columns.count(0))?;
    match listed == Some(expected) {
        true => Ok(()),
        false => Err(db.damaged("the word index lists records without these words")),
    }
}

fn indexed_to(db: &Db) -> Result<i64> {
    let found = db.first("SELECT pos, seal FROM place WHERE name = ?1", [WORDS], |columns| {
        let pos = columns.int(0)?;
        if seal(pos) != columns.int(1)? {
            return Err(columns.damaged("the position of the word index is invalid"));
        }
        Ok(pos)
    })?;
    Ok(found.unwrap_or(0))
}

fn set_indexed_to(db: &Db, rid: i64) -> Result<()> {
    let row = (WORDS, rid, seal(rid));
    db.change("INSERT OR REPLACE INTO place (name, pos, seal) VALUES (?1, ?2, ?3)", row)?;
    Ok(())
}

fn seal(rid: i64) -> i64 {
    Seal::of("place").bytes(WORDS.as_bytes()).int(rid).value()
}
