//! Restores a cell after a crash of the process, and after a panic of a machine.

use std::collections::BTreeSet;
use std::sync::Arc;

use setpoint_history::records::{read_records, strictness_of};
use setpoint_history::workspace::created_in_copy;
use setpoint_journal::Journal;
use setpoint_machine::cell::{AskClass, Divergence, PendingAsk, ReplayedTask, StepError};
use setpoint_machine::{Cell, External, WorldEffect};
use setpoint_protocol::message::{FaultKind, TaskFault};
use setpoint_protocol::record::{Answer, Answered, Opened, Reasked, Record, RecordKind, Usage};
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{CallId, RoleId, TaskId};

use super::again::broken_off;
use super::{Driver, Inbound};
use crate::error::RuntimeError;
use crate::toolbox::Traces;

/// Maximum panics of one task's machines before the task is given up.
const REBUILDS_MAX: u32 = 3;

/// A cell restored from its journal.
pub(crate) struct RestoredCell {
    pub(crate) cell: Cell,
    pub(crate) open: OpenAsks,
    pub(crate) clock_ms: u64,
}

/// Why a restored task had no driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Its process has died.
    Crash,
    /// It is a new fork: its first records are another task's, and their open asks were never sent by this one.
    Fork,
}

/// The open asks of a restored task.
#[derive(Debug)]
pub(crate) struct OpenAsks {
    pub(crate) pause: Pause,
    pub(crate) replayed: ReplayedTask,
    pub(crate) divergence: Option<Divergence>,
    /// The asks that were open. Excludes those of messages that waited for the task.
    pub(crate) asks: BTreeSet<CallId>,
    /// What its answers told before.
    pub(crate) traces: Traces,
}

/// Replays a task's records into a new cell. A divergence is not an error here: the task can still be ended.
pub(crate) fn restore(
    journal: &Journal,
    task: &TaskId,
    factory: Arc<dyn setpoint_machine::Factory>,
) -> Result<RestoredCell, RuntimeError> {
    let records = read_records(journal, task)?;
    let mut cell = Cell::new(task.clone(), factory);
    let (_, strictness) = strictness_of(&records);
    let clock_ms = records.last().map_or(0, |last| last.clock_ms);
    let (replayed, divergence) = match cell.replay(&records, strictness) {
        Ok(replayed) => (replayed, None),
        Err(divergence) => {
            cell.skip_to(records.last().map_or(0, |last| last.seq));
            (ReplayedTask::default(), Some(divergence))
        }
    };
    let asks = cell.pending().iter().map(|pending| pending.call).collect();
    let open = OpenAsks { pause: Pause::Crash, replayed, divergence, asks, traces: traces(task, &records) };
    Ok(RestoredCell { cell, open, clock_ms })
}

/// Returns what the answers of a task tell. For a fork, files created before the fork point count only if the fork has a
/// copy of them.
fn traces(task: &TaskId, records: &[Record]) -> Traces {
    let opened = records.first().and_then(|first| serde_json::from_slice::<Opened>(&first.body).ok());
    let fork = opened.and_then(|opened| Some((opened.forked_from?, opened.surroundings)));
    let mut traces = Traces::default();
    for record in records {
        if record.kind == RecordKind::Message(Kind::MemoryReply)
            && let Ok(reply) = serde_json::from_slice(&record.body)
        {
            traces.recalled(&reply);
        }
        if record.kind != RecordKind::Answered {
            continue;
        }
        match serde_json::from_slice(&record.body) {
            Ok(Answered { answer: Answer::Survey(survey), .. }) => traces.surveyed(&survey),
            Ok(Answered { answer: Answer::Tool(answer), .. }) => {
                traces.read(&answer);
                match fork.as_ref().filter(|(from, _)| record.seq <= from.seq) {
                    Some((from, place)) => {
                        let copies = answer.created.iter();
                        traces
                            .created
                            .extend(copies.filter_map(|path| created_in_copy(path, place, from, task)));
                    }
                    None => traces.created.extend(answer.created),
                }
            }
            _ => {}
        }
    }
    traces
}

impl Driver {
    /// Resumes the open asks of a restored task.
    pub(super) fn resume_asks(&mut self, open: OpenAsks) {
        let OpenAsks { pause, mut replayed, divergence, asks, traces } = open;
        self.traces = Arc::new(traces);
        for pending in self.cell.pending().into_iter().filter(|pending| asks.contains(&pending.call)) {
            let effect = replayed.open.remove(&pending.call);
            self.take_up_ask(&pending, effect, pause);
        }
        if let Some(divergence) = divergence {
            let reason = format!("the journal does not replay: {divergence}");
            self.backlog.push_back(Inbound::External(self.defect(reason)));
        }
    }

    fn take_up_ask(&mut self, pending: &PendingAsk, effect: Option<WorldEffect>, pause: Pause) {
        match (pending.class, effect) {
            (AskClass::Person, _) => {}
            (AskClass::Timer, Some(effect)) if !pending.stopped => self.start(effect),
            (AskClass::Memory, Some(effect)) => self.start(effect),
            (AskClass::Memory, None) => {
                self.memory_is_unavailable(pending.call, "the question cannot be asked again");
            }
            (AskClass::Model | AskClass::Pure | AskClass::Survey, Some(effect)) if !pending.stopped => {
                let (reason, spent) = match pause {
                    Pause::Crash => {
                        ("the process that asked has died", self.unreported_cost(pending.call, &effect))
                    }
                    Pause::Fork => ("the task was forked here", Usage::default()),
                };
                let reason = reason.to_owned();
                let failure = broken_off(reason.clone());
                let attempt = pending.attempt.saturating_add(1);
                let reasked = Reasked { call: pending.call, attempt, reason, spent, by_runtime: true };
                self.ask_again(reasked, effect, failure);
            }
            (AskClass::Model | AskClass::Pure | AskClass::Unsafe | AskClass::Timer | AskClass::Survey, _) => {
                self.interrupted(pending.call, pending.attempt);
            }
        }
    }

    fn defect(&self, reason: String) -> External {
        External::Fault(TaskFault {
            role: RoleId::Runtime,
            kind: FaultKind::Fault,
            reason,
            failure_class: None,
            hints: vec![self.services.hints.defect.to_owned()],
            retryable: false,
            elapsed_ms: 0,
        })
    }

    /// Rebuilds the cell as of before the input that made a machine panic, records that input as poisoned and raises a
    /// fault.
    pub(super) fn rebuild(&mut self, error: &StepError) -> Result<(), RuntimeError> {
        self.rebuilt += 1;
        tracing::error!(task = %self.task, %error, "a machine failed; the task is rebuilt from its journal");
        if self.rebuilt > REBUILDS_MAX {
            return Err(RuntimeError::Broken { task: self.task.clone(), reason: error.to_string() });
        }
        if self.head.seq() == 0 {
            return Err(RuntimeError::Broken { task: self.task.clone(), reason: error.to_string() });
        }
        let poisoned = self.cell.poisoned(error);
        let restored = restore(&self.services.journal, &self.task, Arc::clone(&self.services.factory))?;
        self.cell = restored.cell;
        self.backlog.push_front(Inbound::External(self.defect(format!("failed to {error}"))));
        self.backlog.push_front(Inbound::External(External::Poisoned(poisoned)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use setpoint_protocol::record::{ForkedFrom, Surroundings, Survey};
    use setpoint_protocol::tool::{Secret, Source, ToolAnswer};
    use setpoint_protocol::{Address, Timestamp};

    use super::*;

    fn record(seq: u64, kind: RecordKind, body: &impl serde::Serialize) -> Record {
        let (from, body) = (Address::singleton(RoleId::Runtime), serde_json::to_vec(body).unwrap());
        Record { seq, at: Timestamp::default(), clock_ms: 0, from, to: vec![], kind, cause: None, body }
    }

    fn opened(workspace: String, forked_from: Option<ForkedFrom>) -> Record {
        let surroundings = Surroundings { workspace, ..Surroundings::default() };
        let mut opened: Opened = serde_json::from_value(serde_json::json!({
            "logic_version": 1, "controller": {}, "interactive": false, "tools": [],
            "surroundings": surroundings, "models": { "brain": "playbook", "tool": "playbook" }
        }))
        .unwrap();
        opened.forked_from = forked_from;
        record(1, RecordKind::Opened, &opened)
    }

    fn created(seq: u64, path: &str) -> Record {
        let answer = ToolAnswer { created: vec![path.to_owned()], ..ToolAnswer::default() };
        let answer = Answer::Tool(Box::new(answer));
        record(seq, RecordKind::Answered, &Answered::new("r3.1/1".parse().unwrap(), 1, answer))
    }

    #[test]
    fn what_was_read_elsewhere_is_known_after_a_restart() {
        let task = TaskId::mint("count", 1);
        let (web, server) = (Source::Web("a.example".to_owned()), Source::Server("s".to_owned()));
        let read = |seq, source: &Source| {
            let answer = ToolAnswer { source: Some(source.clone()), ..ToolAnswer::default() };
            let answer = Answer::Tool(Box::new(answer));
            record(seq, RecordKind::Answered, &Answered::new("r3.1/1".parse().unwrap(), 1, answer))
        };
        let records = [opened("/w".to_owned(), None), read(4, &server), created(5, "/w/a"), read(6, &web)];
        assert_eq!(traces(&task, &records).sources.into_iter().collect::<Vec<_>>(), [web, server]);
    }

    #[test]
    fn what_memory_learnt_elsewhere_is_read_by_the_task_that_recalls_it() {
        let mut reply = setpoint_memory::unavailable("r2/1".parse().unwrap(), "");
        reply.after = vec![Source::Web("a.example".to_owned()), Source::Unknown.remembered()];
        let reply = record(4, RecordKind::Message(Kind::MemoryReply), &reply);
        let read = traces(&TaskId::mint("count", 1), &[opened("/w".to_owned(), None), reply]).sources;
        let told: Vec<String> = read.iter().map(ToString::to_string).collect();
        let unknown = "memory of text from elsewhere whose origin is no longer known";
        assert_eq!(told, ["memory of pages of a.example", unknown]);
    }

    #[test]
    fn what_files_were_written_after_is_known_after_a_restart() {
        let after = vec![Source::Web("a.example".to_owned()).written()];
        let secrets = vec![Secret::File(".env".to_owned()).written()];
        let survey = Survey { after: after.clone(), secrets: secrets.clone(), ..Survey::default() };
        let survey = Answer::Survey(Box::new(survey));
        let survey = record(4, RecordKind::Answered, &Answered::new("r2/1".parse().unwrap(), 1, survey));
        let records = [opened("/w".to_owned(), None), survey];
        let read = traces(&TaskId::mint("count", 1), &records);
        assert_eq!(
            (read.sources, read.secrets),
            (after.into_iter().collect(), secrets.into_iter().collect())
        );
    }

    #[test]
    fn keys_that_were_read_are_known_after_a_restart() {
        let secrets = vec![Secret::Key("K".to_owned()), Secret::File(".env".to_owned())];
        let answer = ToolAnswer { secrets: secrets.clone(), ..ToolAnswer::default() };
        let answer = Answered::new("r3.1/1".parse().unwrap(), 1, Answer::Tool(Box::new(answer)));
        let records = [opened("/w".to_owned(), None), record(4, RecordKind::Answered, &answer)];
        assert_eq!(traces(&TaskId::mint("count", 1), &records).secrets, secrets.into_iter().collect());
    }

    #[test]
    fn files_created_before_a_fork_are_its_own_if_it_has_a_copy() {
        let (first, fork) = (TaskId::mint("count", 1), TaskId::mint("count", 2));
        let own = |task: &TaskId, name: &str| format!("/data/workspaces/{task}/{name}");
        let of = |task: &TaskId, workspace: String, forked_from: Option<ForkedFrom>| {
            let records = [
                opened(workspace, forked_from),
                created(4, &own(&first, "a")),
                created(5, "/home/ada/b"),
                created(6, "/home/ada/c"),
            ];
            traces(task, &records).created.into_iter().collect::<Vec<_>>()
        };
        let in_first = || format!("/data/workspaces/{first}");
        assert_eq!(
            of(&first, in_first(), None),
            [own(&first, "a"), "/home/ada/b".into(), "/home/ada/c".into()]
        );
        let from = || Some(ForkedFrom { task: first.clone(), seq: 5, models: None, earlier: vec![] });
        let in_own = format!("/data/workspaces/{fork}");
        assert_eq!(of(&fork, in_own, from()), [own(&fork, "a"), "/home/ada/c".into()]);
        // One fork from the time when forks shared the workspace of the original task; one with a given workspace.
        assert_eq!(of(&fork, in_first(), from()), ["/home/ada/c"]);
        assert_eq!(of(&fork, "/home/ada".into(), from()), ["/home/ada/c"]);
    }
}
