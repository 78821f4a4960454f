//! Writes to the database, inside the writer's transaction.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::Params;

use super::connect::Db;
use super::packed::Packer;
use super::pruning;
use super::transaction::Progress;
use super::view::{command_sum, cursor_sum, signed_count, state_sum, task_sum};
use crate::damage::{Damage, DamageKind};
use crate::entry::{Command, KeptKinds, NewCommand, TaskOpening, TaskState, Tid};
use crate::error::{JournalError, Result};
use crate::head::Mark;
use crate::limits::COUNT_MAX;
use crate::row::{Fragment, SealedRow};
use crate::store::Store;

const INSERT_TASK: &str =
    "INSERT INTO task (tid, id, opened_at_us, logic_version, title, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const LAST_TID: &str = "SELECT max(tid) FROM task";
const INSERT_STATE: &str = "INSERT INTO task_state (tid, seq, chain, closed_at_us, owner, epoch, \
     until_us, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const SAVE_PROGRESS: &str = "UPDATE task_state SET seq = ?2, chain = ?3, sum = ?4 WHERE tid = ?1";
const SAVE_STATE: &str = "UPDATE task_state SET seq = ?2, chain = ?3, closed_at_us = ?4, owner = ?5, \
     epoch = ?6, until_us = ?7, sum = ?8 WHERE tid = ?1";
const INSERT_ROW: &str = "INSERT INTO record (pos, tid, seq, at_us, clock_ms, sender, addressee, kind, \
     cause, format, chain, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
const HAS_FRAGMENT: &str = "SELECT fid FROM fragment WHERE hash = ?1";
const INSERT_FRAGMENT: &str = "INSERT INTO fragment (hash, body) VALUES (?1, ?2)";
const LAST_COMMAND: &str = "SELECT max(id) FROM command";
const INSERT_COMMAND: &str = "INSERT INTO command (id, tid, kind, body, at_us, taken_seq, sum) \
     VALUES (?1, ?2, ?3, ?4, ?5, NULL, ?6)";
const READ_COMMAND: &str = "SELECT id, tid, kind, body, at_us, taken_seq, sum FROM command WHERE id = ?1";
const MARK_COMMAND: &str = "UPDATE command SET taken_seq = ?2, sum = ?3 WHERE id = ?1";
const SET_CURSOR: &str = "INSERT INTO cursor (name, pos, sum) VALUES (?1, ?2, ?3) \
     ON CONFLICT (name) DO UPDATE SET pos = excluded.pos, sum = excluded.sum";

impl Store for Db {
    fn insert_task(&mut self, id: &str, opening: &TaskOpening, state: &TaskState) -> Result<Tid> {
        let tid = self.next_number(LAST_TID, "task number")?;
        let TaskOpening { opened_at_us, logic_version, title, .. } = opening;
        let sum = task_sum(tid, id, *opened_at_us, i64::from(*logic_version), title);
        self.change(INSERT_TASK, (tid, id, opened_at_us, logic_version, title, sum))?;
        self.change(INSERT_STATE, state_params(tid, state))?;
        Ok(tid)
    }

    fn save_progress(&mut self, tid: Tid, state: &TaskState) -> Result<()> {
        let params = (tid, signed_count(state.seq), state.chain.as_slice(), state_sum(tid, state));
        self.change(SAVE_PROGRESS, params)
    }

    fn save_state(&mut self, tid: Tid, state: &TaskState) -> Result<()> {
        self.change(SAVE_STATE, state_params(tid, state))
    }

    fn insert_rows(&mut self, tid: Tid, rows: &[Arc<SealedRow>]) -> Result<u64> {
        let mut packer = std::mem::take(&mut self.packer);
        let inserted = self.insert_packed(tid, rows, &mut packer);
        self.packer = packer;
        self.progress = inserted?;
        Ok(self.progress.last_pos)
    }

    fn skip_to(&mut self, pos: u64) -> Result<()> {
        self.progress.last_pos = self.progress.last_pos.max(pos);
        Ok(())
    }

    fn insert_fragment(&mut self, fragment: &Fragment) -> Result<()> {
        if self.has_fragment(fragment.hash())? {
            return Ok(());
        }
        let mut packer = std::mem::take(&mut self.packer);
        let (_, stored) = packer.pack(fragment.bytes());
        let inserted = self.change(INSERT_FRAGMENT, (fragment.hash().as_slice(), &*stored));
        self.packer = packer;
        inserted
    }

    fn insert_command(&mut self, tid: Tid, command: &NewCommand) -> Result<u64> {
        let number = self.next_number(LAST_COMMAND, "command number")?;
        let NewCommand { kind, body, at_us } = command.clone();
        let id = u64::try_from(number).unwrap_or(COUNT_MAX);
        let command = Command { id, task: String::new(), kind, body, at_us };
        let sum = command_sum(tid, &command, None);
        let Command { kind, body, .. } = &command;
        self.change(INSERT_COMMAND, (number, tid, kind, body, at_us, sum))?;
        Ok(id)
    }

    fn mark_command(&mut self, id: u64, taken_seq: u64) -> Result<()> {
        let found = self.one(READ_COMMAND, [signed_count(id)], |row| self.stored_command(row))?;
        let Some((entry, command)) = found else {
            return Err(self.unchanged());
        };
        let taken_seq = signed_count(taken_seq);
        let sum = command_sum(entry.tid, &command, Some(taken_seq));
        self.change(MARK_COMMAND, (signed_count(id), taken_seq, sum))
    }

    fn set_cursor(&mut self, name: &str, pos: u64) -> Result<()> {
        let pos = signed_count(pos);
        self.change(SET_CURSOR, (name, pos, cursor_sum(name, pos)))
    }

    fn empty_rows(&mut self, tid: Tid, kept: &KeptKinds) -> Result<(u64, u64)> {
        let counts = pruning::content(self, tid, kept)?;
        pruning::empty(self, tid, kept)?;
        Ok(counts)
    }

    fn set_pruning(&mut self, tid: Tid, pos: u64) -> Result<()> {
        self.change(pruning::SET_PRUNING, (tid, signed_count(pos)))
    }

    fn delete_fragments_but(&mut self, kept: &BTreeSet<[u8; 32]>) -> Result<(u64, u64)> {
        pruning::delete_fragments_but(self, kept)
    }
}

impl Db {
    /// Inserts rows, and returns the transaction's progress.
    fn insert_packed(&self, tid: Tid, rows: &[Arc<SealedRow>], packer: &mut Packer) -> Result<Progress> {
        let mut progress = self.progress;
        let mut statement = self.prepare(INSERT_ROW)?;
        for sealed in rows {
            let SealedRow { row, chain, .. } = &**sealed;
            let pos = progress.last_pos + 1;
            check_number("position", pos)?;
            let (form, body) = packer.pack(&row.body);
            let params = (
                signed_count(pos),
                tid,
                signed_count(row.seq),
                row.at_us,
                signed_count(row.clock_ms),
                &*row.from,
                &*row.to,
                &*row.kind,
                row.cause.map(signed_count),
                form.with(row.format),
                chain.as_slice(),
                &*body,
            );
            self.changed_one(statement.execute(params))?;
            progress.last_pos = pos;
            progress.rows += 1;
            progress.mark = Some(Mark { pos, chain: *chain });
        }
        Ok(progress)
    }

    fn has_fragment(&self, hash: &[u8; 32]) -> Result<bool> {
        Ok(self.one(HAS_FRAGMENT, [hash.as_slice()], |row| self.columns(row).int(0, "fid"))?.is_some())
    }

    /// Changes exactly one entry.
    pub(super) fn change(&self, sql: &'static str, params: impl Params) -> Result<()> {
        self.changed_one(self.prepare(sql)?.execute(params))
    }

    fn changed_one(&self, changed: rusqlite::Result<usize>) -> Result<()> {
        match changed {
            Ok(1) => Ok(()),
            Ok(_) => Err(self.unchanged()),
            Err(error) => Err(self.faults.of(error)),
        }
    }

    /// Returns the error for an entry that was read but cannot be changed: an index and its table disagree.
    fn unchanged(&self) -> JournalError {
        let message = "an entry that was read is not there to be changed".to_owned();
        self.faults.damaged(Damage::database(DamageKind::Integrity { message }))
    }

    /// Returns the number after the highest one. Chosen here because SQLite would choose a random one after a
    /// damaged highest number.
    fn next_number(&self, sql: &'static str, what: &'static str) -> Result<i64> {
        let last = self.one(sql, [], |row| self.columns(row).optional_count(0, "number"))?;
        let next = last.flatten().unwrap_or(0) + 1;
        check_number(what, next)?;
        Ok(signed_count(next))
    }
}

fn check_number(what: &'static str, number: u64) -> Result<()> {
    if number > COUNT_MAX {
        return Err(JournalError::Limit { what, max: COUNT_MAX, got: number });
    }
    Ok(())
}

fn state_params(tid: Tid, state: &TaskState) -> impl Params + '_ {
    (
        tid,
        signed_count(state.seq),
        state.chain.as_slice(),
        state.closed_at_us,
        state.owner.as_deref(),
        signed_count(state.epoch),
        state.until_us,
        state_sum(tid, state),
    )
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::append;
    use crate::chain::TaskHead;
    use crate::entry::{CommandScope, TaskFilter};
    use crate::options::JournalOptions;
    use crate::row::NewRow;
    use crate::sqlite::{DATABASE, schema, view};
    use crate::store::{Page, View};
    use crate::submission::Submission;

    const STATEMENTS: [&str; 13] = [
        INSERT_TASK,
        LAST_TID,
        INSERT_STATE,
        SAVE_PROGRESS,
        SAVE_STATE,
        INSERT_ROW,
        HAS_FRAGMENT,
        INSERT_FRAGMENT,
        LAST_COMMAND,
        INSERT_COMMAND,
        READ_COMMAND,
        MARK_COMMAND,
        SET_CURSOR,
    ];

    /// Runs a task from opening to closing, and every query over it.
    fn live_and_look(db: &mut Db, id: &str) {
        let mut head = TaskHead::start(id).unwrap();
        for step in 1..=3 {
            let mut submission = Submission::new(&head);
            let name = || id.to_owned();
            let row = NewRow {
                seq: step,
                at_us: 1,
                clock_ms: 1,
                from: name().into(),
                to: name().into(),
                kind: name().into(),
                cause: None,
                format: 1,
                body: id.into(),
            };
            submission.push(row).unwrap().attach(Fragment::new(id.into()).unwrap()).unwrap();
            let opening = TaskOpening { opened_at_us: 1, logic_version: 1, title: name(), lease: None };
            match step {
                1 => drop(submission.open(opening).unwrap()),
                2 => {}
                _ => drop(submission.close(1)),
            }
            head = append::apply(db, &submission, 1).unwrap().head;
            if step < 3 {
                let (tid, _) = db.find(id).unwrap().unwrap();
                db.insert_command(tid, &NewCommand { kind: name(), body: id.into(), at_us: 1 }).unwrap();
            }
        }
        db.set_cursor(id, 1).unwrap();

        let (tid, _) = db.find(id).unwrap().unwrap();
        db.entry(tid).unwrap();
        db.state(tid).unwrap();
        for filter in [TaskFilter::Any, TaskFilter::Open, TaskFilter::Closed] {
            db.tids(filter, 1).unwrap();
        }
        db.ids_from(id, 1).unwrap();
        db.ids_to(id, 1).unwrap();
        db.rows_after(db.last_pos().unwrap() - 1, Page::of(1)).unwrap();
        db.next_pos(0).unwrap();
        db.rows_of_kinds_after(0, ["k"; 4], Page::of(1)).unwrap();
        db.task_rows(tid, head.seq(), Page::of(1)).unwrap();
        db.row_at(tid, head.seq()).unwrap();
        db.fragment(&Fragment::hash_of(id.as_bytes())).unwrap();
        db.cursor(id).unwrap();
        db.command(1).unwrap();
        db.pending(CommandScope::All, 0, 1).unwrap();
    }

    #[test]
    fn no_statement_is_compiled_twice() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(DATABASE), "").unwrap();
        let mut db = Db::writer(dir.path(), &JournalOptions::default()).unwrap();
        schema::create(&db.conn, &db.faults).unwrap();
        for id in ["a", "b", "c"] {
            live_and_look(&mut db, id);
        }
        for sql in STATEMENTS.into_iter().chain(view::STATEMENTS) {
            let statement = db.prepare(sql).unwrap();
            let runs = statement.get_status(StatementStatus::Run);
            let again = statement.get_status(StatementStatus::RePrepare);
            assert!(runs > 2 && again == 0, "run {runs} times, compiled again {again} times: {sql}");
        }
    }
}
