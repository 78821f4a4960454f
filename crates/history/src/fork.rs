//! Makes a new task that continues from a point of another one.
//!
//! The other task's inputs up to there are fed to new machines under the new task's id. Inputs carry only the ids of
//! asks, which are the same in both; everything derived from the task's own id changes. The machines' outputs must
//! equal the recorded ones, except for those ids and for what other models' windows change in a question. The records
//! become the new task's journal, and from there on it is a task like any other.

use std::collections::BTreeSet;
use std::sync::Arc;

use setpoint_journal::{Fragment, JournalError, Lease, LeaseTerms, Submission, TaskHead, TaskOpening};
use setpoint_machine::{Cell, External, Factory, Step, WorldEffect};
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

/// Maximum rows per submission; the journal accepts a few more.
const ROWS_MAX: usize = 2_000;
/// Maximum bytes per submission; the largest step still fits on top of them.
const BYTES_MAX: usize = 16 * 1024 * 1024;
/// Maximum fragments per submission, unless one step has more.
const FRAGMENTS_MAX: usize = 900;

/// The parameters of a fork.
#[derive(Clone, Debug)]
pub struct NewFork {
    /// Task that it continues from.
    pub from: TaskId,
    /// Record whose step is the last inherited one.
    pub at: u64,
    /// Settings of its controller.
    pub controller: ControllerSettings,
    /// Budgets that replace the recorded ones.
    pub budgets: Vec<BudgetWish>,
    /// Makes the new task's id unique.
    pub suffix: u64,
}

/// The party that will drive a fork.
#[derive(Clone, Debug)]
pub struct ForkKeeper {
    /// Models that it has.
    pub models: Cards,
    /// Lease terms under which it holds the task, and from when.
    pub lease: LeaseTerms,
}

/// A budget that replaces the recorded one; `None` for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetWish {
    /// Limit on model calls.
    Calls(Option<u64>),
    /// Limit on tokens.
    Tokens(Option<u64>),
    /// Limit on money.
    Money(Option<Money>),
}

/// The result of a fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkResult {
    /// Id of the new task.
    pub task: TaskId,
    /// Origin of the fork: the last record of the named step.
    pub from: ForkedFrom,
    /// Its workspace, if it has one of its own.
    pub copied: Option<CopiedWorkspace>,
}

/// Why a task cannot be forked at a record.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// The record does not exist.
    #[error("fork {task} at record {at}: its records are 1 to {last}")]
    NoRecord {
        task: TaskId,
        /// Named record.
        at: u64,
        /// Last record of the task.
        last: u64,
    },
    /// The task had not received its goal.
    #[error("fork {task} at record {at}: it has no goal before record {goal}")]
    NoGoal {
        task: TaskId,
        /// Named record.
        at: u64,
        /// Record of its goal.
        goal: u64,
    },
    /// The task ends with that step.
    #[error("fork {task} at record {at}: the task had ended there")]
    AtItsEnd {
        task: TaskId,
        /// Named record.
        at: u64,
    },
    /// The fork cannot have a workspace of its own.
    #[error("fork {task} with its workspace")]
    Workspace {
        task: TaskId,
        /// Cause of the failure.
        #[source]
        source: CopyError,
    },
    /// The machines give other outputs for the same inputs.
    #[error("fork {task}: the machines differ from it at record {seq}: {reason}")]
    Parts {
        task: TaskId,
        /// Record of the original task.
        seq: u64,
        /// How the outputs differ.
        reason: String,
    },
}

impl History {
    /// Makes a new task from another one's records up to a point, open for its keeper to drive. It uses the keeper's
    /// models: asks without an answer up to there are asked again, of those.
    ///
    /// # Errors
    /// Fails for an unknown or damaged task, for a point from which a task cannot continue, and if the journal
    /// refuses.
    pub fn fork(&self, new: &NewFork, keeper: ForkKeeper) -> Result<ForkResult, HistoryError> {
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
        // The copy is made before the journal's task, so that an existing task always has its workspace and a refused
        // fork leaves nothing.
        let copied = moved.as_ref().map(Move::copy).transpose();
        let copied = copied.map_err(|source| ForkError::Workspace { task: new.from.clone(), source })?;
        if let Err(error) = self.append(&feed, title, &keeper.lease) {
            // If the journal accepted the first part, the task can be resumed and keeps its workspace.
            let is_none = matches!(self.journal.task(task.as_str()), Err(JournalError::UnknownTask { .. }));
            if let Some(moved) = moved.as_ref().filter(|_| is_none) {
                moved.undo();
            }
            return Err(error);
        }
        Ok(ForkResult { task, from, copied })
    }

    /// Appends the steps as the new task's journal, in one submission if possible. They are derived a second time, so
    /// that not all of them are held in memory. A process that dies between two parts leaves a shorter task, which
    /// can be resumed from there.
    fn append(&self, feed: &Feed<'_>, title: String, terms: &LeaseTerms) -> Result<(), HistoryError> {
        let mut submission = Submission::new(&TaskHead::start(feed.task.as_str())?);
        let (mut bytes, mut title, mut lease) = (0, Some(title), None);
        let mut known: BTreeSet<FragmentHash> = BTreeSet::new();
        let mut attached = 0;
        feed.steps(Arc::clone(&self.factory), |step| {
            let asks = step.effects.iter().filter_map(|effect| match effect {
                WorldEffect::Model { ask, .. } => Some(&ask.prompt.fragments),
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
                        // The records keep their times, but the task exists only from now on.
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

/// Returns the records up to the end of the named record's step.
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

/// Returns how the task opened, and its goal.
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

/// The records that a fork inherits, and what changes in them.
struct Feed<'f> {
    task: &'f TaskId,
    from: &'f TaskId,
    records: &'f [Record],
    opened: Opened,
    moved: Option<&'f Move>,
}

impl Feed<'_> {
    /// Feeds the recorded inputs to new machines and passes on their outputs step by step; they must equal the
    /// recorded ones.
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

/// Checks that a step has the same outputs as in the original task.
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

/// Returns a difference that the later inputs would not fit: another direction, or another question.
fn differs(stored: &Record, made: &Record, moved: Option<&Move>) -> Option<&'static str> {
    match stored.kind {
        RecordKind::Asked => {
            let read = |record: &Record| serde_json::from_slice::<Asked>(&record.body).ok();
            let (stored, made) = (read(stored)?, read(made)?);
            let is_same = stored.call == made.call
                && match (&stored.ask, &made.ask) {
                    // Other models' windows may leave different parts of a question.
                    (Ask::Model { purpose: one, .. }, Ask::Model { purpose: other, .. }) => one == other,
                    (one, other) => one == other,
                };
            (!is_same).then_some("question")
        }
        RecordKind::Message(Kind::PlanDirective) => {
            let read = |record: &Record| serde_json::from_slice::<PlanDirective>(&record.body).ok();
            let (stored, made) = (read(stored)?, read(made)?);
            // Targets in a workspace are named by the path in the original there, and by the path in the fork here.
            let there =
                |target: &String| moved.map_or_else(|| target.clone(), |moved| moved.in_original(target));
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
    fn workspace_targets_of_task_and_fork_compare_equal() {
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
        // The second was named by its whole path in the original, and is in the fork.
        let stored = [target(&there, "x"), target(&there, "y")];
        let made = [target(&there, "y"), target(&here, "x")];
        assert_eq!(differs(&stored, &made, Some(&moved)), None);
        assert_eq!(differs(&stored, &made, None), other);
        assert_eq!(differs(&stored, &made[..1], Some(&moved)), other);
        assert_eq!(differs(&stored, &[target(&here, "x"), target(&here, "z")], Some(&moved)), other);
    }
}
