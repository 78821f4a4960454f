//! A record: its layout in the database, and its present state.

use setpoint_mkct::consolidation::demoted;
use setpoint_mkct::{Level, Moments, Quantum, Trace};
use setpoint_protocol::memory::Author;
use setpoint_protocol::message::{self, Insight, Megram};
use setpoint_protocol::{MegramId, TaskId};

use crate::store::error::{MemoryError, Result};
use crate::store::sqlite::{Columns, Db, Seal};
use crate::store::tags;

/// A record in its present state.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    /// The record, with reworded content if there is one.
    pub megram: Megram,
    /// Author of the record.
    pub author: Author,
    /// Task that the record comes from, if any.
    pub task: Option<TaskId>,
    /// Journal position.
    pub pos: u64,
    /// Present numbers.
    pub trace: Trace,
    /// Whether the operator approved or stated it, which layer T requires.
    pub is_approved: bool,
    /// Whether a model has reworded its content.
    pub is_reflected: bool,
    /// The rule that it is a source of.
    pub rule: Option<MegramId>,
    /// The rule that superseded it.
    pub superseded_by: Option<MegramId>,
}

impl StoredRecord {
    /// Returns whether it is a rule in force.
    #[must_use]
    pub fn is_live_rule(&self) -> bool {
        self.trace.level == Level::C && self.superseded_by.is_none()
    }
}

/// The columns that [`Entry::read`] takes, of a record `r`. Ends before the conditions.
macro_rules! entries {
    ($rest:literal) => {
        concat!(
            "SELECT r.rid, r.id, r.pid, r.level, r.created_us, r.f, r.sigma, r.k, r.pos, r.tid, r.author, r.body, \
             r.seal, m.rid, m.demoted_us, m.demoted_pos, m.superseded_by, m.recalled_us, m.insight, m.approved_pos, \
             m.seal, q.as_of, q.rule, q.seal FROM record r LEFT JOIN mark m ON m.rid = r.rid LEFT JOIN promotion q \
             ON q.pid = r.pid AND q.as_of = (SELECT MAX(as_of) FROM promotion z WHERE z.pid = r.pid) ",
            $rest
        )
    };
}
pub(crate) use entries;

/// A row of `record`, with its mark.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) rid: i64,
    pub(crate) new: NewEntry,
    pub(crate) mark: Mark,
    /// Position up to which the records of its pair are sources of rules.
    pub(crate) consolidated_to: i64,
}

/// A row of `record` before it has a number.
#[derive(Debug)]
pub(crate) struct NewEntry {
    pub(crate) id: [u8; 16],
    pub(crate) pid: i64,
    pub(crate) level: Level,
    pub(crate) created_us: i64,
    pub(crate) quantum: Quantum,
    pub(crate) pos: i64,
    pub(crate) tid: Option<i64>,
    pub(crate) author: Author,
    /// JSON of the Megram.
    pub(crate) body: Vec<u8>,
}

/// The later changes of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) demoted_us: Option<i64>,
    /// Journal position of its demotion.
    pub(crate) demoted_pos: Option<i64>,
    /// Id of the rule that superseded it.
    pub(crate) superseded_by: Option<[u8; 16]>,
    pub(crate) recalled_us: Option<i64>,
    /// Reworded content, as JSON.
    pub(crate) insight: Option<Vec<u8>>,
    /// Journal position of the operator's approval.
    pub(crate) approved_pos: Option<i64>,
}

impl Entry {
    pub(crate) fn read(columns: &Columns<'_>) -> Result<Self> {
        let rid = columns.int(0)?;
        let damaged = || columns.damaged(&format!("the record {rid} is invalid"));
        let new = NewEntry {
            id: columns.blob(1)?.try_into().map_err(|_| damaged())?,
            pid: columns.int(2)?,
            level: level_of(columns.int(3)?).ok_or_else(damaged)?,
            created_us: columns.int(4)?,
            quantum: Quantum { f: columns.real(5)?, sigma: columns.real(6)?, k: columns.real(7)? },
            pos: columns.int(8)?,
            tid: columns.optional_int(9)?,
            author: author_of(columns.int(10)?).ok_or_else(damaged)?,
            body: columns.blob(11)?.to_vec(),
        };
        if new.seal() != columns.int(12)? {
            return Err(damaged());
        }
        let mark = match columns.optional_int(13)? {
            None => Mark::default(),
            Some(_) => {
                let mark = Mark {
                    demoted_us: columns.optional_int(14)?,
                    demoted_pos: columns.optional_int(15)?,
                    superseded_by: columns
                        .optional_blob(16)?
                        .map(|id| id.try_into().map_err(|_| damaged()))
                        .transpose()?,
                    recalled_us: columns.optional_int(17)?,
                    insight: columns.optional_blob(18)?.map(<[u8]>::to_vec),
                    approved_pos: columns.optional_int(19)?,
                };
                if mark.seal(rid) != columns.int(20)? {
                    return Err(damaged());
                }
                mark
            }
        };
        let consolidated_to = match columns.optional_int(21)? {
            Some(as_of) if promotion_seal(new.pid, as_of, columns.blob(22)?) != columns.int(23)? => {
                return Err(damaged());
            }
            as_of => as_of.unwrap_or(-1),
        };
        Ok(Entry { rid, new, mark, consolidated_to })
    }

    /// Returns the present numbers.
    pub(crate) fn trace(&self) -> Trace {
        let NewEntry { level, quantum, created_us, pos, .. } = self.new;
        let Mark { demoted_us, demoted_pos, recalled_us, .. } = self.mark;
        let (level, quantum) =
            if demoted_us.is_some() { (Level::K, demoted(quantum)) } else { (level, quantum) };
        Trace {
            level,
            quantum,
            moments: Moments { created_us, recalled_us, demoted_us },
            is_consolidated: level.fades() && demoted_pos.unwrap_or(pos) <= self.consolidated_to,
        }
    }

    /// Returns the record for callers outside the store.
    pub(crate) fn remembered(&self, db: &Db) -> Result<StoredRecord> {
        let damaged = || db.damaged(format!("the record {} cannot be read", self.rid));
        let mut megram: Megram = serde_json::from_slice(&self.new.body).map_err(|_| damaged())?;
        if let Some(insight) = &self.mark.insight {
            megram.content = serde_json::from_slice::<Insight>(insight).map_err(|_| damaged())?;
        }
        let trace = self.trace();
        let rule = match trace.is_consolidated {
            true => source_of(db, self.new.pid, self.mark.demoted_pos.unwrap_or(self.new.pos))?,
            false => None,
        };
        Ok(StoredRecord {
            megram,
            author: self.new.author,
            task: self.new.tid.map(|tid| task_of(db, tid)).transpose()?,
            pos: u64::try_from(self.new.pos).unwrap_or(0),
            trace,
            is_approved: self.mark.approved_pos.is_some() || self.new.author == Author::Operator,
            is_reflected: self.mark.insight.is_some(),
            rule,
            superseded_by: self.mark.superseded_by.map(|id| id_from(id, db)).transpose()?,
        })
    }
}

impl NewEntry {
    pub(crate) fn seal(&self) -> i64 {
        let Quantum { f, sigma, k } = self.quantum;
        Seal::of("record")
            .bytes(&self.id)
            .int(self.pid)
            .int(number_of(self.level))
            .int(self.created_us)
            .real(f)
            .real(sigma)
            .real(k)
            .int(self.pos)
            .optional_int(self.tid)
            .int(author_number(self.author))
            .bytes(&self.body)
            .value()
    }
}

impl Mark {
    pub(crate) fn seal(&self, rid: i64) -> i64 {
        Seal::of("mark")
            .int(rid)
            .optional_int(self.demoted_us)
            .optional_int(self.demoted_pos)
            .optional_bytes(self.superseded_by.as_ref().map(|id| &id[..]))
            .optional_int(self.recalled_us)
            .optional_bytes(self.insight.as_deref())
            .optional_int(self.approved_pos)
            .value()
    }

    /// Writes the mark, replacing the one before.
    pub(crate) fn save(&self, db: &Db, rid: i64) -> Result<()> {
        let Mark { demoted_us, demoted_pos, superseded_by, recalled_us, insight, approved_pos } = self;
        db.change(
            "INSERT OR REPLACE INTO mark (rid, demoted_us, demoted_pos, superseded_by, recalled_us, insight, \
             approved_pos, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                rid,
                demoted_us,
                demoted_pos,
                superseded_by.as_ref().map(|id| &id[..]),
                recalled_us,
                insight,
                approved_pos,
                self.seal(rid),
            ),
        )?;
        Ok(())
    }
}

/// Returns the seal of a row of `promotion`.
pub(crate) fn promotion_seal(pid: i64, as_of: i64, rule: &[u8]) -> i64 {
    Seal::of("promotion").int(pid).int(as_of).bytes(rule).value()
}

/// Returns position and rule of a promotion, from the columns `pid, as_of, rule, seal`.
pub(crate) fn sealed_promotion<'a>(columns: &Columns<'a>) -> Result<(i64, &'a [u8])> {
    let (as_of, rule) = (columns.int(1)?, columns.blob(2)?);
    if promotion_seal(columns.int(0)?, as_of, rule) != columns.int(3)? {
        return Err(columns.damaged("a promotion is invalid"));
    }
    Ok((as_of, rule))
}

/// Returns the rule that a source record at this position went into: the first one made after it.
fn source_of(db: &Db, pid: i64, pos: i64) -> Result<Option<MegramId>> {
    db.first(
        "SELECT pid, as_of, rule, seal FROM promotion WHERE pid = ?1 AND as_of >= ?2 ORDER BY as_of LIMIT 1",
        (pid, pos),
        |columns| {
            let (_, rule) = sealed_promotion(columns)?;
            id_from(rule.try_into().map_err(|_| columns.damaged("an id has the wrong length"))?, db)
        },
    )
}

fn task_of(db: &Db, tid: i64) -> Result<TaskId> {
    let found = db.first("SELECT tid, id, ended_pos, seal FROM task WHERE tid = ?1", [tid], |columns| {
        Ok(tags::sealed_task(columns)?.id)
    })?;
    found.ok_or_else(|| db.damaged("a record's task is gone"))
}

/// Returns the sixteen bytes of an id.
pub(crate) fn id_bytes(id: &MegramId) -> [u8; 16] {
    let digits = id.as_str().bytes().filter_map(|byte| char::from(byte).to_digit(16));
    digits.fold(0_u128, |number, digit| (number << 4) | u128::from(digit)).to_be_bytes()
}

/// Returns the id of sixteen bytes.
pub(crate) fn id_from(bytes: [u8; 16], db: &Db) -> Result<MegramId> {
    let number = u128::from_be_bytes(bytes);
    let part = |shift: u32, digits: u32| (number >> shift) & ((1_u128 << (4 * digits)) - 1);
    let text = format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        part(96, 8),
        part(80, 4),
        part(64, 4),
        part(48, 4),
        part(0, 12)
    );
    text.parse().map_err(|_| db.damaged("a record's id is invalid"))
}

pub(crate) const fn number_of(level: Level) -> i64 {
    match level {
        Level::M => 0,
        Level::K => 1,
        Level::C => 2,
        Level::T => 3,
    }
}

const fn level_of(number: i64) -> Option<Level> {
    Some(match number {
        0 => Level::M,
        1 => Level::K,
        2 => Level::C,
        3 => Level::T,
        _ => return None,
    })
}

/// Converts a layer to the arithmetic's type.
pub(crate) const fn level(level: message::Level) -> Level {
    match level {
        message::Level::M => Level::M,
        message::Level::K => Level::K,
        message::Level::C => Level::C,
        message::Level::T => Level::T,
    }
}

pub(crate) const fn author_number(author: Author) -> i64 {
    match author {
        Author::Task => 0,
        Author::Operator => 1,
        Author::Dreamer => 2,
        Author::Import => 3,
    }
}

fn author_of(number: i64) -> Option<Author> {
    Author::ALL.into_iter().find(|author| author_number(*author) == number)
}

/// Creates the error for an id that no record has.
pub(crate) fn unknown(id: &MegramId) -> MemoryError {
    MemoryError::Unknown { id: id.clone() }
}
