//! A new task that goes on from a point of another one.
//!
//! The inputs that the other task had up to there are fed to fresh machines under the new task's id. Inputs carry the ids
//! of asks alone, which are the same in both; everything that is derived from the task's own id comes out anew. What the
//! machines say must be what they said then, but for those ids and for what other models' windows change in a question.
//! The records become the new task's journal, and from there on it is a task like any other.

use std::collections::BTreeSet;
use std::sync::Arc;

use setpoint_journal::{Fragment, JournalError, Lease, LeaseTerms, Submission, TaskHead, TaskOpening};
use setpoint_machine::{Cell, External, Factory, Outside, Step};
use setpoint_protocol::TaskId;
use setpoint_protocol::message::PlanDirective;
use setpoint_protocol::models::Models as Cards;
use setpoint_protocol::money::Money;
use setpoint_protocol::record::{Ask, Asked, ForkedFrom, FragmentHash, Opened, Record, RecordKind};
use setpoint_protocol::replay::CopiedWorkspace;
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_roles::factory::LOGIC_VERSION;

use crate::records::row_of;
use crate::workspace::{CopyError, Move};
use crate::{History, HistoryError};

/// Rows of one submission; the journal takes a few more.
const ROWS_MAX: usize = 2_000;
/// Bytes of one submission; the largest step fits on top of them.
const BYTES_MAX: usize = 16 * 1024 * 1024;
/// Fragments of one submission, where one step does not have more.
const FRAGMENTS_MAX: usize = 900;

/// What a fork is made of.
#[derive(Clone, Debug)]
pub struct NewFork {
    /// The task that it continues from.
    pub from: TaskId,
    /// The record whose step is the last that is taken over.
    pub at: u64,
    /// The settings of its controller.
    pub controller: ControllerSettings,
    /// Budgets in the place of the recorded ones.
    pub budgets: Vec<BudgetWish>,
    /// Makes the new task's id unique.
    pub suffix: u64,
}

/// Who is going to drive a fork.
#[derive(Clone, Debug)]
pub struct ForkKeeper {
    /// Its models.
    pub models: Cards,
    /// Under which terms it holds the task, from which moment on.
    pub lease: LeaseTerms,
}

/// A budget in the place of the recorded one; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetWish {
    /// Of model calls.
    Calls(Option<u64>),
    /// Of tokens.
    Tokens(Option<u64>),
    /// Of money.
    Money(Option<Money>),
}

/// A fork that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forked {
    /// The new task.
    pub task: TaskId,
    /// What it was forked from: the last record of the step that was named.
    pub from: ForkedFrom,
    /// Its workspace, where that is its own.
    pub copied: Option<CopiedWorkspace>,
}

/// Why a task cannot be forked there.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// There is no such record.
    #[error("fork {task} at record {at}: its records are 1 to {last}")]
    NoRecord {
        /// The task.
        task: TaskId,
        /// The record that was named.
        at: u64,
        /// Its last record.
        last: u64,
    },
    /// The task had not been told its goal.
    #[error("fork {task} at record {at}: it has no goal before record {goal}")]
    NoGoal {
        /// The task.
        task: TaskId,
        /// The record that was named.
        at: u64,
        /// The record of its goal.
        goal: u64,
    },
    /// The task ends with that step.
    #[error("fork {task} at record {at}: it ends there, and nothing would follow")]
    AtItsEnd {
        /// The task.
        task: TaskId,
        /// The record that was named.
        at: u64,
    },
    /// The fork cannot have a workspace of its own.
    #[error("fork {task} with its workspace")]
    Workspace {
        /// The task.
        task: TaskId,
        /// Why.
        #[source]
        source: CopyError,
    },
    /// The machines say something else to the same inputs.
    #[error("fork {task}: at record {seq} the two part: {reason}")]
    Parts {
        /// The task.
        task: TaskId,
        /// The record of the other task.
        seq: u64,
        /// In which way.
        reason: String,
    },
}

impl History {
    /// Makes a new task of another one's records up to a point, open for its keeper to drive. Its models are those that the
    /// keeper has: what was asked and not answered up to there is asked again, of them.
    ///
    /// # Errors
    /// An unknown or damaged task, a point that cannot be gone on from, a journal that refuses.
    pub fn fork(&self, new: &NewFork, keeper: ForkKeeper) -> Result<Forked, HistoryError> {
        let records = self.records(&new.from)?;
        let title = self.journal.task(new.from.as_str())?.title;
        let prefix = prefix(&new.from, &records, new.at)?;
        let (opened, goal) = beginning(&new.from, prefix, new.at)?;
        let from = ForkedFrom::of(new.from.clone(), &opened, prefix.len() as u64);
        let task = TaskId::mint(&goal, new.suffix);
        let mut surroundings = opened.surroundings;
        let moved = Move::of(&surroundings, &from, &task);
        if let Some(moved) = &moved {
            Arc::make_mut(&mut surroundings).workspace = moved.target();
        }
        let opened = Opened {
            logic_version: LOGIC_VERSION,
            controller: new.controller.clone(),
            budgets: with_wishes(opened.budgets, &new.budgets),
            models: keeper.models,
            forked_from: Some(from.clone()),
            surroundings,
            ..opened
        };
        let feed = Feed { task: &task, from: &new.from, records: prefix, opened, moved: moved.as_ref() };
        let mut is_closed = false;
        feed.steps(Arc::clone(&self.factory), |step| {
            is_closed = step.closed;
            Ok(())
        })?;
        if is_closed {
            return Err(ForkError::AtItsEnd { task: new.from.clone(), at: new.at }.into());
        }
        // Before the journal, so that a task that is there has it, and what is refused leaves nothing behind.
        let copied = moved.as_ref().map(Move::copy).transpose();
        let copied = copied.map_err(|source| ForkError::Workspace { task: new.from.clone(), source })?;
        if let Err(error) = self.append(&feed, title, &keeper.lease) {
            // A journal that took the first part has a task that can be resumed, in its workspace.
            let is_none = matches!(self.journal.task(task.as_str()), Err(JournalError::UnknownTask { .. }));
            if let Some(moved) = moved.as_ref().filter(|_| is_none) {
                moved.undo();
            }
            return Err(error);
        }
        Ok(Forked { task, from, copied })
    }

    /// The steps as the new task's journal, made once more so that not all of them are held: at once where that is possible.
    /// A process that dies between two parts leaves a task that ends earlier, which can be resumed from there.
    fn append(&self, feed: &Feed<'_>, title: String, terms: &LeaseTerms) -> Result<(), HistoryError> {
        let mut submission = Submission::new(&TaskHead::start(feed.task.as_str())?);
        let (mut bytes, mut title, mut lease) = (0, Some(title), None);
        let mut known: BTreeSet<FragmentHash> = BTreeSet::new();
        let mut attached = 0;
        feed.steps(Arc::clone(&self.factory), |step| {
            let asks = step.effects.iter().filter_map(|effect| match effect {
                Outside::Model { ask, .. } => Some(&ask.prompt.fragments),
                _ => None,
            });
            let new = asks.flatten().filter(|fragment| known.insert(fragment.hash()));
            let new = new.map(|fragment| Fragment::new(fragment.text().as_bytes().to_vec()));
            let new: Vec<Fragment> = new.collect::<Result<_, _>>()?;
            let is_full = submission.row_count() >= ROWS_MAX
                || bytes >= BYTES_MAX
                || attached + new.len() > FRAGMENTS_MAX;
            if is_full && submission.row_count() > 0 {
                let next = Submission::new(submission.head());
                self.append_part(std::mem::replace(&mut submission, next), &mut lease)?;
                (bytes, attached) = (0, 0);
            }
            for fragment in new {
                bytes += fragment.bytes().len();
                attached += 1;
                submission.attach(fragment)?;
            }
            for record in step.records {
                if let Some(title) = title.take() {
                    submission.open(TaskOpening {
                        // The records keep their times; the task is there from now on.
                        opened_at_us: terms.now_us,
                        logic_version: LOGIC_VERSION,
                        title,
                        lease: Some(terms.clone()),
                    })?;
                }
                bytes += record.body.len();
                submission.push(row_of(record))?;
            }
            Ok(())
        })?;
        self.append_part(submission, &mut lease)
    }

    fn append_part(&self, mut part: Submission, lease: &mut Option<Lease>) -> Result<(), HistoryError> {
        if let Some(lease) = lease {
            part.under(lease);
        }
        let committed = self.journal.append(part).map_err(HistoryError::Append)?;
        *lease = committed.lease.or(lease.take());
        Ok(())
    }
}

fn with_wishes(mut budgets: Budgets, wishes: &[BudgetWish]) -> Budgets {
    for wish in wishes {
        match *wish {
            BudgetWish::Calls(calls) => budgets.calls = calls,
            BudgetWish::Tokens(tokens) => budgets.tokens = tokens,
            BudgetWish::Money(money) => budgets.money = money,
        }
    }
    budgets
}

/// The records up to the end of the step that the record belongs to.
fn prefix<'r>(task: &TaskId, records: &'r [Record], at: u64) -> Result<&'r [Record], ForkError> {
    let last = records.len() as u64;
    let place =
        usize::try_from(at).ok().and_then(|at| at.checked_sub(1)).filter(|place| *place < records.len());
    let Some(place) = place else { return Err(ForkError::NoRecord { task: task.clone(), at, last }) };
    let (_, after) = records.split_at(place + 1);
    let rest = after.iter().position(Record::is_input).unwrap_or(after.len());
    let (prefix, _) = records.split_at((place + 1 + rest).min(records.len()));
    Ok(prefix)
}

/// How the task opened, and its goal.
fn beginning(task: &TaskId, prefix: &[Record], at: u64) -> Result<(Opened, String), HistoryError> {
    let opened = prefix.first().and_then(|first| serde_json::from_slice(&first.body).ok());
    let opened = opened.ok_or_else(|| HistoryError::unreadable(task))?;
    let goal = prefix.iter().find_map(|record| match record.message()? {
        Payload::UserInput(input) => Some(input.raw_input),
        _ => None,
    });
    let goal =
        goal.ok_or_else(|| ForkError::NoGoal { task: task.clone(), at, goal: prefix.len() as u64 + 1 })?;
    Ok((opened, goal))
}

/// The records that a fork takes over, and what is another one in it.
struct Feed<'f> {
    task: &'f TaskId,
    from: &'f TaskId,
    records: &'f [Record],
    opened: Opened,
    moved: Option<&'f Move>,
}

impl Feed<'_> {
    /// Feeds the inputs among the records to fresh machines, and hands out what they say step by step; it must be what they
    /// said then.
    fn steps(
        &self,
        factory: Arc<dyn Factory>,
        mut each: impl FnMut(Step) -> Result<(), HistoryError>,
    ) -> Result<(), HistoryError> {
        let mut cell = Cell::new(self.task.clone(), factory);
        let mut rest = self.records;
        let mut opened = Some(self.opened.clone());
        while let Some(input) = rest.first() {
            let parts = |seq, reason| ForkError::Parts { task: self.from.clone(), seq, reason };
            let external = match opened.take() {
                Some(opened) => External::Opened(Box::new(opened)),
                None => External::of(input).map_err(|reason| parts(input.seq, reason))?,
            };
            let step = cell
                .step(external, input.at, input.clock_ms)
                .map_err(|error| parts(input.seq, format!("failed to {error}")))?;
            let length = 1 + rest.iter().skip(1).take_while(|record| !record.is_input()).count();
            let (stored, after) = rest.split_at(length.min(rest.len()));
            compare(stored, &step.records, self.moved).map_err(|(seq, reason)| parts(seq, reason))?;
            each(step)?;
            rest = after;
        }
        Ok(())
    }
}

/// Whether a step came out as it did in the other task.
fn compare(stored: &[Record], made: &[Record], moved: Option<&Move>) -> Result<(), (u64, String)> {
    for (stored, made) in stored.iter().zip(made) {
        if (stored.kind, &stored.to) != (made.kind, &made.to) {
            let reason = format!(
                "there it was {} to {}, and here it is {} to {}",
                stored.kind,
                stored.to_column(),
                made.kind,
                made.to_column()
            );
            return Err((stored.seq, reason));
        }
        if let Some(what) = differs(stored, made, moved) {
            return Err((stored.seq, format!("{} has another {what}", stored.kind)));
        }
    }
    match (stored.get(made.len()), made.get(stored.len())) {
        (Some(more), _) => Err((more.seq, format!("{} to {} is missing", more.kind, more.to_column()))),
        (_, Some(more)) => Err((more.seq, format!("{} to {} is new", more.kind, more.to_column()))),
        (None, None) => Ok(()),
    }
}

/// What the later inputs would not fit to: another direction, or another question.
fn differs(stored: &Record, made: &Record, moved: Option<&Move>) -> Option<&'static str> {
    match stored.kind {
        RecordKind::Asked => {
            let read = |record: &Record| serde_json::from_slice::<Asked>(&record.body).ok();
            let (stored, made) = (read(stored)?, read(made)?);
            let is_same = stored.call == made.call
                && match (&stored.ask, &made.ask) {
                    // What other models' windows leave of a question may differ.
                    (Ask::Model { purpose: one, .. }, Ask::Model { purpose: other, .. }) => one == other,
                    (one, other) => one == other,
                };
            (!is_same).then_some("question")
        }
        RecordKind::Message(Kind::PlanDirective) => {
            let read = |record: &Record| serde_json::from_slice::<PlanDirective>(&record.body).ok();
            let (stored, made) = (read(stored)?, read(made)?);
            // What lies in a workspace is told by the path of the one there, and of the other one here.
            let there =
                |target: &String| moved.map_or_else(|| target.clone(), |moved| moved.said_there(target));
            let blocked = |one: &PlanDirective| {
                let targets: BTreeSet<String> = one.blocked_targets.iter().map(there).collect();
                (one.blocked_tools.clone(), targets)
            };
            if stored.directive != made.directive {
                return Some("direction");
            }
            (blocked(&stored) != blocked(&made)).then_some("set of what is blocked")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use setpoint_protocol::record::Surroundings;
    use setpoint_protocol::{Address, RoleId, Timestamp};

    use super::*;

    fn directive(targets: &[String]) -> Record {
        let golden = include_str!("../../protocol/tests/golden/messages/PlanDirective.json");
        let mut body: serde_json::Value = serde_json::from_str(golden).unwrap();
        body["blocked_targets"] = targets.into();
        Record {
            seq: 7,
            at: Timestamp::default(),
            clock_ms: 0,
            from: Address::singleton(RoleId::GoalGradientSolver),
            to: vec![Address::singleton(RoleId::Planner)],
            kind: RecordKind::Message(Kind::PlanDirective),
            cause: None,
            body: serde_json::to_vec(&body).unwrap(),
        }
    }

    #[test]
    fn a_target_in_the_workspace_is_the_same_one_in_the_forks() {
        let (here, there) = (TaskId::mint("a", 1), TaskId::mint("a", 2));
        let workspace = |task: &TaskId| format!("/data/{task}");
        let surroundings = Surroundings { workspace: workspace(&there), ..Surroundings::default() };
        let from = ForkedFrom { task: there.clone(), seq: 7, models: None, earlier: vec![] };
        let moved = Move::of(&surroundings, &from, &here).unwrap();
        assert_eq!(Path::new(&moved.target()), Path::new(&workspace(&here)));
        let target = |task: &TaskId, name: &str| format!("write_file: {}/{name}", workspace(task));
        let differs = |stored: &[String], made: &[String], moved| {
            super::differs(&directive(stored), &directive(made), moved)
        };
        let other = Some("set of what is blocked");
        // The second was named by its whole path then, and is now.
        let stored = [target(&there, "x"), target(&there, "y")];
        let made = [target(&there, "y"), target(&here, "x")];
        assert_eq!(differs(&stored, &made, Some(&moved)), None);
        assert_eq!(differs(&stored, &made, None), other);
        assert_eq!(differs(&stored, &made[..1], Some(&moved)), other);
        assert_eq!(differs(&stored, &[target(&here, "x"), target(&here, "z")], Some(&moved)), other);
    }
}
