//! Reads from the database.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{OptionalExtension, Params, Row as SqlRow};

use super::check;
use super::columns::Columns;
use super::connect::Db;
use super::packed::inflated;
use super::pruning;
use super::sum::Sum;
use crate::chain::Chain;
use crate::damage::{Damage, DamageKind};
use crate::entry::{
    Command, CommandEntry, CommandScope, CommandState, EntryCounts, KeptKinds, TaskEntry, TaskFilter,
    TaskState, Tid,
};
use crate::error::{JournalError, Result};
use crate::head::Mark;
use crate::limits::{COUNT_MAX, FRAGMENT_BYTES_MAX};
use crate::row::{Fragment, Row};
use crate::store::{Kinds, Page, View};

const FIND: &str = "SELECT tid FROM task WHERE id = ?1";
const ENTRY: &str = "SELECT id, opened_at_us, logic_version, title, sum FROM task WHERE tid = ?1";
const STATE: &str =
    "SELECT seq, chain, closed_at_us, owner, epoch, until_us, sum FROM task_state WHERE tid = ?1";
const TIDS: &str = "SELECT tid FROM task_state ORDER BY tid DESC LIMIT ?1";
const TIDS_OPEN: &str = "SELECT tid FROM task_state INDEXED BY task_open WHERE closed_at_us IS NULL \
     ORDER BY tid DESC LIMIT ?1";
const TIDS_CLOSED: &str =
    "SELECT tid FROM task_state WHERE closed_at_us IS NOT NULL ORDER BY tid DESC LIMIT ?1";
const IDS_FROM: &str = "SELECT id FROM task WHERE id >= ?1 ORDER BY id LIMIT ?2";
const IDS_TO: &str = "SELECT id FROM task WHERE substr(id, -length(?1)) = ?1 ORDER BY id LIMIT ?2";
const ROWS_AFTER: &str = "SELECT pos, tid, seq, at_us, clock_ms, sender, addressee, kind, cause, format, \
     chain, body FROM record WHERE pos > ?1 ORDER BY pos LIMIT ?2";
const ROWS_OF_KINDS: &str = "SELECT pos, tid, seq, at_us, clock_ms, sender, addressee, kind, cause, format, \
     chain, body FROM record WHERE pos > ?1 AND kind IN (?3, ?4, ?5, ?6) ORDER BY pos LIMIT ?2";
const TASK_ROWS: &str = "SELECT pos, tid, seq, at_us, clock_ms, sender, addressee, kind, cause, format, \
     chain, body FROM record WHERE tid = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3";
const ROW_AT: &str = "SELECT pos, chain FROM record WHERE tid = ?1 AND seq = ?2";
const CHAIN_AT_POS: &str = "SELECT chain FROM record WHERE pos = ?1";
const NEXT_POS: &str = "SELECT min(pos) FROM record WHERE pos > ?1";
const LAST_POS: &str = "SELECT max(pos) FROM record";
const FRAGMENT: &str = "SELECT body FROM fragment WHERE hash = ?1";
const CURSOR: &str = "SELECT pos, sum FROM cursor WHERE name = ?1";
const COMMAND: &str = "SELECT id, tid, kind, body, at_us, taken_seq, sum FROM command WHERE id = ?1";
const PENDING: &str = "SELECT id, tid, kind, body, at_us, taken_seq, sum FROM command \
     INDEXED BY command_pending WHERE taken_seq IS NULL AND id > ?1 ORDER BY id LIMIT ?2";
const PENDING_OF_TASK: &str = "SELECT id, tid, kind, body, at_us, taken_seq, sum FROM command \
     INDEXED BY command_pending WHERE taken_seq IS NULL AND id > ?1 AND tid = ?3 ORDER BY id LIMIT ?2";

#[cfg(test)]
pub(super) const STATEMENTS: [&str; 19] = [
    FIND,
    ENTRY,
    STATE,
    TIDS,
    TIDS_OPEN,
    TIDS_CLOSED,
    IDS_FROM,
    IDS_TO,
    ROWS_AFTER,
    ROWS_OF_KINDS,
    TASK_ROWS,
    ROW_AT,
    NEXT_POS,
    LAST_POS,
    FRAGMENT,
    CURSOR,
    COMMAND,
    PENDING,
    PENDING_OF_TASK,
];

impl View for Db {
    fn dir(&self) -> &Path {
        self.faults.dir()
    }

    fn find(&self, task: &str) -> Result<Option<(Tid, TaskState)>> {
        let tid = self.one(FIND, [task], |row| self.columns(row).int(0, "tid"))?;
        match tid {
            None => Ok(None),
            Some(tid) => {
                let state = self.state(tid).map_err(|error| error.in_task(task))?;
                Ok(Some((tid, state)))
            }
        }
    }

    fn entry(&self, tid: Tid) -> Result<TaskEntry> {
        let entry = self.one(ENTRY, [tid], |row| {
            let columns = self.columns(row);
            let (id, opened_at_us) = (columns.text(0, "id")?, columns.int(1, "opened_at_us")?);
            let (version, title) = (columns.int(2, "logic_version")?, columns.text(3, "title")?);
            let sum = task_sum(tid, id, opened_at_us, version, title);
            columns.checked(4, "task", &tid, sum).map_err(|error| error.in_task(id))?;
            let logic_version = columns.count(2, "logic_version")?;
            Ok(TaskEntry { id: id.into(), opened_at_us, logic_version, title: title.to_owned() })
        })?;
        entry.ok_or_else(|| self.missing("task", tid))
    }

    fn state(&self, tid: Tid) -> Result<TaskState> {
        let state = self.one(STATE, [tid], |row| {
            let columns = self.columns(row);
            let state = TaskState {
                seq: columns.count(0, "seq")?,
                chain: columns.hash(1, "chain")?,
                closed_at_us: columns.optional_int(2, "closed_at_us")?,
                owner: columns.optional_text(3, "owner")?.map(Arc::from),
                epoch: columns.count(4, "epoch")?,
                until_us: columns.int(5, "until_us")?,
            };
            columns.checked(6, "task_state", &tid, state_sum(tid, &state))?;
            Ok(state)
        })?;
        state.ok_or_else(|| self.missing("task_state", tid))
    }

    fn tids(&self, filter: TaskFilter, limit: usize) -> Result<Vec<Tid>> {
        let sql = match filter {
            TaskFilter::Any => TIDS,
            TaskFilter::Open => TIDS_OPEN,
            TaskFilter::Closed => TIDS_CLOSED,
        };
        self.all(sql, [signed(limit)], |row| self.columns(row).int(0, "tid"))
    }

    fn ids_from(&self, first: &str, limit: usize) -> Result<Vec<String>> {
        self.all(IDS_FROM, (first, signed(limit)), |row| Ok(self.columns(row).text(0, "id")?.to_owned()))
    }

    fn ids_to(&self, last: &str, limit: usize) -> Result<Vec<String>> {
        self.all(IDS_TO, (last, signed(limit)), |row| Ok(self.columns(row).text(0, "id")?.to_owned()))
    }

    fn rows_after(&self, pos: u64, page: Page) -> Result<Vec<(Tid, Row)>> {
        self.page(ROWS_AFTER, (signed_count(pos), signed(page.rows())), page)
    }

    fn rows_of_kinds_after(&self, pos: u64, [a, b, c, d]: Kinds<'_>, page: Page) -> Result<Vec<(Tid, Row)>> {
        let params = (signed_count(pos), signed(page.rows()), a, b, c, d);
        self.page(ROWS_OF_KINDS, params, page)
    }

    fn task_rows(&self, tid: Tid, from_seq: u64, page: Page) -> Result<Vec<Row>> {
        let rows = self.page(TASK_ROWS, (tid, signed_count(from_seq), signed(page.rows())), page)?;
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    fn row_at(&self, tid: Tid, seq: u64) -> Result<Option<Mark>> {
        self.one(ROW_AT, (tid, signed_count(seq)), |row| {
            let columns = self.columns(row);
            let pos = columns.count(0, "pos")?;
            Ok(Mark { pos, chain: columns.at_pos(pos).hash(1, "chain")? })
        })
    }

    fn next_pos(&self, pos: u64) -> Result<Option<u64>> {
        let next =
            self.one(NEXT_POS, [signed_count(pos)], |row| self.columns(row).optional_count(0, "pos"))?;
        Ok(next.flatten())
    }

    fn last_pos(&self) -> Result<u64> {
        let pos = self.one(LAST_POS, [], |row| self.columns(row).optional_count(0, "pos"))?;
        Ok(pos.flatten().unwrap_or(0))
    }

    fn fragment(&self, hash: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        self.one(FRAGMENT, [hash.as_slice()], |row| {
            let bytes = fragment_bytes(self.columns(row).blob(0, "body")?, hash);
            bytes.map(Cow::into_owned).ok_or_else(|| self.faults.damaged(mismatch(hash)))
        })
    }

    fn command(&self, id: u64) -> Result<Option<CommandEntry>> {
        let found = self.one(COMMAND, [signed_count(id)], |row| self.stored_command(row))?;
        Ok(found.map(|(entry, _)| entry))
    }

    fn pending(&self, scope: CommandScope, after_id: u64, limit: usize) -> Result<Vec<Command>> {
        let (after_id, limit) = (signed_count(after_id), signed(limit));
        let read = |row: &SqlRow<'_>| self.stored_command(row);
        let found = match scope {
            CommandScope::All => self.all(PENDING, (after_id, limit), read)?,
            CommandScope::Task(tid) => self.all(PENDING_OF_TASK, (after_id, limit, tid), read)?,
        };
        let mut commands = Vec::with_capacity(found.len());
        for (entry, mut command) in found {
            command.task = self.entry(entry.tid)?.id.to_string();
            commands.push(command);
        }
        Ok(commands)
    }

    fn cursor(&self, name: &str) -> Result<Option<u64>> {
        self.one(CURSOR, [name], |row| {
            let columns = self.columns(row);
            columns.checked(1, "cursor", &name, cursor_sum(name, columns.int(0, "pos")?))?;
            columns.count(0, "pos")
        })
    }

    fn pruning(&self, tid: Tid) -> Result<Option<u64>> {
        self.one(pruning::PRUNING, [tid], |row| self.columns(row).count(0, "pos"))
    }

    fn last_pruning(&self) -> Result<u64> {
        let pos = self.one(pruning::LAST_PRUNING, [], |row| self.columns(row).optional_count(0, "pos"))?;
        Ok(pos.flatten().unwrap_or(0))
    }

    fn prunable(&self, before_us: i64, limit: usize) -> Result<Vec<Tid>> {
        self.all(pruning::PRUNABLE, (before_us, signed(limit)), |row| self.columns(row).int(0, "tid"))
    }

    fn content(&self, tid: Tid, kept: &KeptKinds) -> Result<(u64, u64)> {
        pruning::content(self, tid, kept)
    }

    fn check_entries(&self, found: &mut dyn FnMut(Damage)) -> Result<EntryCounts> {
        check::entries(self, found)
    }
}

impl Db {
    pub(crate) fn columns<'a>(&'a self, row: &'a SqlRow<'a>) -> Columns<'a> {
        Columns::of(row, &self.faults)
    }

    /// Returns the chain value of the row at this position.
    pub(crate) fn chain_at_pos(&self, pos: u64) -> Result<Option<Chain>> {
        self.one(CHAIN_AT_POS, [signed_count(pos)], |row| self.columns(row).hash(0, "chain"))
    }

    /// Returns the entry that a query finds, if any.
    pub(crate) fn one<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        read: impl FnOnce(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.prepare(sql)?;
        let found = statement.query_row(params, |row| Ok(read(row))).optional();
        found.map_err(|error| self.faults.of(error))?.transpose()
    }

    /// Returns every entry that a query finds.
    pub(crate) fn all<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        mut read: impl FnMut(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.prepare(sql)?;
        let mut rows = statement.query(params).map_err(|error| self.faults.of(error))?;
        let mut out = Vec::new();
        while let Some(row) = rows.next().map_err(|error| self.faults.of(error))? {
            out.push(read(row)?);
        }
        Ok(out)
    }

    /// Reads rows up to the first unreadable one; fails if that is the first of the page.
    fn page(&self, sql: &'static str, params: impl Params, mut page: Page) -> Result<Vec<(Tid, Row)>> {
        let mut statement = self.prepare(sql)?;
        let mut rows = statement.query(params).map_err(|error| self.faults.of(error))?;
        let mut out = Vec::new();
        loop {
            let next = match rows.next() {
                Ok(None) => return Ok(out),
                Ok(Some(row)) => self.record(row),
                Err(error) => Err(self.faults.of(error)),
            };
            match next {
                Err(error) if out.is_empty() => return Err(error),
                Err(_) => return Ok(out),
                Ok((tid, row)) => {
                    let more = page.take(row.bytes());
                    out.push((tid, row));
                    if !more {
                        return Ok(out);
                    }
                }
            }
        }
    }

    fn record(&self, row: &SqlRow<'_>) -> Result<(Tid, Row)> {
        let pos: u64 = self.columns(row).count(0, "pos")?;
        let columns = self.columns(row).at_pos(pos);
        let tid = columns.int(1, "tid")?;
        let (format, body, is_pruned) = columns.packed(9, 11)?;
        let row = Row {
            pos,
            task: Arc::from(""),
            seq: columns.count(2, "seq")?,
            at_us: columns.int(3, "at_us")?,
            clock_ms: columns.count(4, "clock_ms")?,
            from: columns.text(5, "sender")?.to_owned().into(),
            to: columns.text(6, "addressee")?.to_owned().into(),
            kind: columns.text(7, "kind")?.to_owned().into(),
            cause: columns.optional_count(8, "cause")?,
            format,
            chain: columns.hash(10, "chain")?,
            body,
            is_pruned,
        };
        Ok((tid, row))
    }

    /// Reads a command, without its task's id.
    pub(crate) fn stored_command(&self, row: &SqlRow<'_>) -> Result<(CommandEntry, Command)> {
        let columns = self.columns(row);
        let tid = columns.int(1, "tid")?;
        let taken = columns.optional_int(5, "taken_seq")?;
        let command = Command {
            id: columns.count(0, "id")?,
            task: String::new(),
            kind: columns.text(2, "kind")?.to_owned(),
            body: columns.blob(3, "body")?.to_vec(),
            at_us: columns.int(4, "at_us")?,
        };
        columns.checked(6, "command", &command.id, command_sum(tid, &command, taken))?;
        let state = CommandState::from_taken_seq(columns.optional_count(5, "taken_seq")?);
        Ok((CommandEntry { tid, state }, command))
    }

    fn missing(&self, table: &'static str, tid: Tid) -> JournalError {
        let kind = DamageKind::EntryMissing { table, key: tid.to_string() };
        self.faults.damaged(Damage::database(kind))
    }
}

/// Returns the bytes of a fragment, stored as they are or deflated; `None` if neither matches the hash.
pub(crate) fn fragment_bytes<'s>(stored: &'s [u8], hash: &[u8; 32]) -> Option<Cow<'s, [u8]>> {
    if Fragment::hash_of(stored) == *hash {
        return Some(Cow::Borrowed(stored));
    }
    let bytes = inflated(stored, FRAGMENT_BYTES_MAX)?;
    (Fragment::hash_of(&bytes) == *hash).then_some(Cow::Owned(bytes))
}

/// Returns the damage for a fragment whose bytes do not match its hash.
pub(crate) fn mismatch(hash: &[u8; 32]) -> Damage {
    let hash = blake3::Hash::from_bytes(*hash).to_hex().to_string();
    Damage::database(DamageKind::FragmentMismatch { hash })
}

pub(crate) fn task_sum(tid: Tid, id: &str, opened_at_us: i64, logic_version: i64, title: &str) -> i64 {
    let sum = Sum::of("task").int(tid).bytes(id.as_bytes()).int(opened_at_us);
    sum.int(logic_version).bytes(title.as_bytes()).value()
}

pub(crate) fn state_sum(tid: Tid, state: &TaskState) -> i64 {
    let sum = Sum::of("task_state").int(tid).int(signed_count(state.seq)).bytes(&state.chain);
    let sum = sum.optional_int(state.closed_at_us).optional_text(state.owner.as_deref());
    sum.int(signed_count(state.epoch)).int(state.until_us).value()
}

pub(crate) fn command_sum(tid: Tid, command: &Command, taken_seq: Option<i64>) -> i64 {
    let sum = Sum::of("command").int(signed_count(command.id)).int(tid).bytes(command.kind.as_bytes());
    sum.bytes(&command.body).int(command.at_us).optional_int(taken_seq).value()
}

pub(crate) fn cursor_sum(name: &str, pos: i64) -> i64 {
    Sum::of("cursor").bytes(name.as_bytes()).int(pos).value()
}

/// Converts to SQLite's signed integers. Stored numbers were checked against [`COUNT_MAX`]; a reader that asks for
/// more finds no row.
pub(crate) fn signed_count(count: u64) -> i64 {
    i64::try_from(count.min(COUNT_MAX)).unwrap_or(i64::MAX)
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
