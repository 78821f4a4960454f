//! Queries of the operator. Their cost may grow with the store.

use setpoint_mkct::Potentials;
use setpoint_protocol::message::Level;
use setpoint_protocol::{MegramId, Timestamp};

use crate::store::database::Store;
use crate::store::error::{MemoryError, Result};
use crate::store::limits::LIST_MAX;
use crate::store::query::{limit_of, of_pair};
use crate::store::record::{Entry, StoredRecord, entries, id_from};
use crate::store::sqlite::Db;
use crate::store::sums::{self, Owner};
use crate::store::tags;

/// Fewest characters of an id that a record can be found by.
pub const ID_CHARS_MIN: usize = 4;
/// Maximum records with a matching id that are read, to distinguish one from several.
const SAME_ID_MAX: usize = 2;

/// Selects records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only this space.
    pub space: Option<String>,
    /// Only this entity.
    pub entity: Option<String>,
    /// Only records that are of this layer now.
    pub level: Option<Level>,
    /// Maximum records to return.
    pub limit: usize,
}

impl Filter {
    fn takes(&self, record: &StoredRecord) -> bool {
        let is = |wanted: &Option<String>, tag: &str| wanted.as_deref().is_none_or(|wanted| wanted == tag);
        is(&self.space, &record.megram.space)
            && is(&self.entity, &record.megram.entity)
            && self.level.is_none_or(|level| crate::store::record::level(level) == record.trace.level)
    }
}

impl Store {
    /// Returns the one record whose id begins or ends with `part`, with or without dashes.
    ///
    /// # Errors
    /// If no record or several match, or the store cannot be read.
    pub fn find(&self, part: &str) -> Result<StoredRecord> {
        let wanted: String = part.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
        let no_id = || MemoryError::NoId { part: part.to_owned() };
        if wanted.len() < ID_CHARS_MIN || !wanted.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(no_id());
        }
        let mut db = self.reader();
        db.look(|db| {
            let mut found = Vec::new();
            db.each("SELECT id FROM record", (), |columns| {
                let bytes = columns.blob(0)?;
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                if hex.starts_with(&wanted) || hex.ends_with(&wanted) {
                    let id = bytes.try_into().map_err(|_| columns.damaged("an id has the wrong length"))?;
                    found.push(id_from(id, db)?);
                }
                Ok(found.len() < SAME_ID_MAX)
            })?;
            match found.as_slice() {
                [] => Err(no_id()),
                [id] => of_id(db, id),
                several => {
                    let ids: Vec<&str> = several.iter().map(MegramId::as_str).collect();
                    Err(MemoryError::SeveralIds { part: part.to_owned(), ids: ids.join(" and ") })
                }
            }
        })
    }

    /// Returns whether a record has this id, or had it and was forgotten permanently.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn knows(&self, id: &MegramId) -> Result<bool> {
        let id = crate::store::record::id_bytes(id);
        let sql = "SELECT 1 FROM record WHERE id = ?1 UNION ALL SELECT 1 FROM forgotten WHERE id = ?1";
        Ok(self.reader().first(sql, [&id[..]], |_| Ok(()))?.is_some())
    }

    /// Returns records, newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<StoredRecord>> {
        let mut db = self.reader();
        let limit = filter.limit.min(LIST_MAX);
        db.look(|db| {
            let mut found = Vec::new();
            let mut take = |entry: Entry| {
                let record = entry.remembered(db)?;
                if filter.takes(&record) {
                    found.push(record);
                }
                Ok(found.len() < limit)
            };
            if limit == 0 {
                return Ok(found);
            }
            match &filter.space {
                Some(space) => {
                    let Some(sid) = tags::space(db, space)? else { return Ok(found) };
                    let sql = entries!("JOIN pair o ON o.pid = r.pid WHERE o.sid = ?1 ORDER BY r.rid DESC");
                    db.each(sql, [sid], |columns| take(Entry::read(columns)?))?;
                }
                None => {
                    db.each(entries!("ORDER BY r.rid DESC"), (), |columns| take(Entry::read(columns)?))?;
                }
            }
            Ok(found)
        })
    }

    /// Returns the source records of a rule that still exist, newest first, and their number.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn sources(&self, rule: &MegramId, limit: usize) -> Result<(Vec<StoredRecord>, u64)> {
        let mut db = self.reader();
        db.look(|db| {
            let rule = of_id(db, rule)?;
            let Some(pair) = tags::pair(db, &rule.megram.space, &rule.megram.entity)? else {
                return Ok((Vec::new(), 0));
            };
            let (mut sources, mut count) = (Vec::new(), 0);
            db.each(entries!("WHERE r.pid = ?1"), [pair.pid], |columns| {
                let entry = Entry::read(columns)?;
                if !entry.trace().is_consolidated {
                    return Ok(true);
                }
                let record = entry.remembered(db)?;
                if record.rule.as_ref() == Some(&rule.megram.id) {
                    count += 1;
                    sources.push(record);
                }
                Ok(true)
            })?;
            sources.sort_by_key(|source| std::cmp::Reverse(source.pos));
            sources.truncate(limit.min(LIST_MAX));
            Ok((sources, count))
        })
    }

    /// Returns the approved proposals for every task, oldest first, and the open ones, newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn thoughts(&self) -> Result<(Vec<StoredRecord>, Vec<StoredRecord>)> {
        let mut db = self.reader();
        db.look(|db| {
            let sql = entries!("WHERE r.level = 3 ORDER BY r.rid LIMIT ?1");
            let all = db.all(sql, [limit_of(LIST_MAX)], Entry::read)?;
            let all = all.iter().map(|entry| entry.remembered(db)).collect::<Result<Vec<_>>>()?;
            let (laid_down, mut proposed): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|thought| thought.is_approved);
            proposed.reverse();
            Ok((laid_down, proposed))
        })
    }

    /// Returns a page of all records after this position, oldest first, and the position of the last of them while
    /// there may be more.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn page(&self, after: u64, limit: usize) -> Result<(Vec<StoredRecord>, Option<u64>)> {
        let mut db = self.reader();
        db.look(|db| {
            let after = i64::try_from(after).unwrap_or(i64::MAX);
            let sql = entries!("WHERE r.rid > ?1 ORDER BY r.rid LIMIT ?2");
            let page = db.all(sql, (after, limit_of(limit)), Entry::read)?;
            let next = page.last().filter(|_| page.len() >= limit).map(|last| last.rid);
            let records = page.iter().map(|entry| entry.remembered(db)).collect::<Result<Vec<_>>>()?;
            Ok((records, next.and_then(|rid| u64::try_from(rid).ok())))
        })
    }

    /// Returns the number of summed records of a pair.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count(&self, space: &str, entity: &str) -> Result<u64> {
        let mut db = self.reader();
        db.look(|db| match tags::pair(db, space, entity)? {
            Some(pair) => Ok(sums::load(db, Owner::Pair(pair.pid))?.count()),
            None => Ok(0),
        })
    }

    /// Returns the sums of a pair at each of these moments, assuming no further records.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn curve(&self, space: &str, entity: &str, moments: &[Timestamp]) -> Result<Vec<Potentials>> {
        let mut db = self.reader();
        db.look(|db| {
            let Some(pair) = tags::pair(db, space, entity)? else {
                return Ok(vec![Potentials::default(); moments.len()]);
            };
            let sums = sums::load(db, Owner::Pair(pair.pid))?;
            moments.iter().map(|at| of_pair(db, pair.pid, &sums, *at)).collect()
        })
    }
}

fn of_id(db: &Db, id: &MegramId) -> Result<StoredRecord> {
    let id_bytes = crate::store::record::id_bytes(id);
    let entry = db.first(entries!("WHERE r.id = ?1"), [&id_bytes[..]], Entry::read)?;
    entry.ok_or_else(|| crate::store::record::unknown(id))?.remembered(db)
}
