//! An organisation that plays a tape and records the messages to it.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use setpoint_app::operator::tasks::Undoing;
use setpoint_app::{Error, ErrorKind, Event, Fork, Goal, Organisation};
use setpoint_cli::state::ViewState;
use setpoint_history::attempts::Attempt;
use setpoint_history::fork::ForkResult;
use setpoint_protocol::message::Finding;
use setpoint_protocol::record::{ForkedFrom, FragmentHash, Record};
use setpoint_protocol::replay::{CopiedWorkspace, DivergencePlace, ReplayReport, Rerun, TriedSetting};
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{CallId, TaskId};
use setpoint_runtime::organisation::{PrunableTasks, PruneReport};
use setpoint_runtime::organisation::{ResumeOutcome, TaskSummary};
use tokio::sync::{Notify, mpsc};

use super::tape::Tape;

/// The next action of the organisation.
#[derive(Clone, Debug)]
pub(crate) enum Beat {
    /// Commits this many records and sends them.
    Tell(usize),
    /// Commits and sends the rest of the tape, including its end.
    TellRest,
    /// Commits this many records without sending them, as for a receiver that was too slow.
    Miss(usize),
    /// Reports to the receiver that it missed records.
    Lagged,
    /// Sends streamed text of a model.
    Progress(CallId, &'static str),
    /// Waits for a message of this kind.
    AwaitSaid(Kind),
    /// Waits until a person is asked.
    AwaitListening,
    /// Waits until the tasks are released.
    AwaitShuttingDown,
    /// Waits until stderr shows this.
    AwaitShown(&'static str),
    /// Advances the virtual clock by this many seconds, one at a time.
    Seconds(u64),
    /// Sends Ctrl-C.
    Interrupt,
    /// Gives the task up.
    Release,
    /// Closes the events.
    Hang,
    /// Waits forever, with open events.
    Stall,
}

pub(crate) struct Scripted {
    tape: Tape,
    beats: Vec<Beat>,
    journal: Arc<Mutex<Vec<Record>>>,
    /// Number of records that exist before the task is followed.
    before: usize,
    driven_by: Option<String>,
}

/// A scripted organisation.
#[derive(Default)]
pub(crate) struct Fake {
    tasks: Mutex<BTreeMap<TaskId, Scripted>>,
    /// The tasks that `start` opens.
    next: Mutex<VecDeque<TaskId>>,
    pub(crate) goals: Mutex<Vec<Goal>>,
    pub(crate) said: Arc<Mutex<Vec<Payload>>>,
    /// The Auditor's findings, for every task.
    pub(crate) found: Mutex<Vec<Finding>>,
    pub(crate) refuses_to_hear: Mutex<bool>,
    pub(crate) was_shut_down: Mutex<bool>,
    pub(crate) never_shuts_down: Mutex<bool>,
    pub(crate) divergence: Mutex<Option<DivergencePlace>>,
    pub(crate) rerun: Mutex<Option<Rerun>>,
    /// The workspace of a fork.
    pub(crate) copied: Mutex<Option<CopiedWorkspace>>,
    pub(crate) fragments: Mutex<Vec<String>>,
    pub(crate) forks: Mutex<Vec<Fork>>,
    pub(crate) ears: Arc<Ears>,
}

/// Signals by which the script learns what happens elsewhere.
#[derive(Default)]
pub(crate) struct Ears {
    pub(crate) said: Notify,
    pub(crate) listening: Notify,
    pub(crate) shown: Notify,
    pub(crate) shutting_down: Notify,
    pub(crate) err: Mutex<Vec<u8>>,
    pub(crate) interrupts: Mutex<Option<mpsc::Sender<()>>>,
}

impl Fake {
    /// Returns an organisation with a task that `start` opens and these beats play.
    pub(crate) fn starting(tape: Tape, beats: Vec<Beat>) -> Arc<Fake> {
        let fake = Fake::default();
        fake.next.lock().unwrap().push_back(tape.task.clone());
        fake.insert(tape, beats, 0, None);
        Arc::new(fake)
    }

    /// Returns an organisation with these tasks in the journal: a tape, how many of its records exist
    /// already, its beats, and the process that drives it.
    pub(crate) fn with(tasks: Vec<(Tape, usize, Vec<Beat>, Option<&str>)>) -> Arc<Fake> {
        let fake = Fake::default();
        for (tape, before, beats, driven_by) in tasks {
            fake.insert(tape, beats, before, driven_by);
        }
        Arc::new(fake)
    }

    /// Adds a task with all records of the tape.
    pub(crate) fn insert_ended(&self, tape: Tape) {
        self.insert(tape, vec![], usize::MAX, None);
    }

    pub(crate) fn said(&self) -> Vec<Payload> {
        self.said.lock().unwrap().clone()
    }

    fn insert(&self, tape: Tape, beats: Vec<Beat>, before: usize, driven_by: Option<&str>) {
        let journal = Arc::new(Mutex::new(tape.first(before)));
        let driven_by = driven_by.map(str::to_owned);
        let task = tape.task.clone();
        self.tasks.lock().unwrap().insert(task, Scripted { tape, beats, journal, before, driven_by });
    }

    fn play(&self, task: &TaskId) -> mpsc::Receiver<Event> {
        let tasks = self.tasks.lock().unwrap();
        let scripted = &tasks[task];
        let (sender, events) = mpsc::channel(setpoint_app::operator::tasks::EVENTS_MAX);
        let player = Player {
            records: scripted.tape.records.iter().skip(scripted.before).cloned().collect(),
            journal: Arc::clone(&scripted.journal),
            said: Arc::clone(&self.said),
            ears: Arc::clone(&self.ears),
            sender,
        };
        tokio::spawn(player.play(scripted.beats.clone()));
        events
    }
}

#[async_trait]
impl Organisation for Fake {
    async fn start(&self, goal: Goal) -> Result<(TaskId, mpsc::Receiver<Event>), Error> {
        self.goals.lock().unwrap().push(goal);
        let task = self.next.lock().unwrap().pop_front();
        let task = task.ok_or_else(|| Error::new(ErrorKind::Internal, "failed to open a task"))?;
        let events = self.play(&task);
        Ok((task, events))
    }

    async fn resume(&self, task: &TaskId) -> Result<(ResumeOutcome, mpsc::Receiver<Event>), Error> {
        let is_ended = ViewState::of(task.clone(), &self.records(task).await?).is_ended();
        Ok((if is_ended { ResumeOutcome::Ended } else { ResumeOutcome::Running }, self.play(task)))
    }

    async fn say(&self, _: &TaskId, payload: Payload) -> Result<(), Error> {
        if *self.refuses_to_hear.lock().unwrap() {
            return Err(Error::new(ErrorKind::Usage, "the task has ended"));
        }
        self.said.lock().unwrap().push(payload);
        self.ears.said.notify_one();
        Ok(())
    }

    async fn records(&self, task: &TaskId) -> Result<Vec<Record>, Error> {
        let tasks = self.tasks.lock().unwrap();
        let scripted = tasks.get(task).ok_or_else(|| unknown(task.as_str()))?;
        let journal = scripted.journal.lock().unwrap();
        Ok(journal.clone())
    }

    async fn tasks(&self, only_open: bool, limit: usize) -> Result<Vec<TaskSummary>, Error> {
        let tasks = self.tasks.lock().unwrap();
        let mut lines = Vec::new();
        for (task, scripted) in tasks.iter() {
            let records = scripted.journal.lock().unwrap().clone();
            let state = ViewState::of(task.clone(), &records);
            if only_open && state.is_ended() {
                continue;
            }
            lines.push(TaskSummary {
                task: task.clone(),
                title: state.goal.clone(),
                opened_at: state.opened_at.unwrap_or_default(),
                closed_at: state.is_ended().then_some(state.at),
                result: state.result.clone(),
                records: state.seq,
                driven_by: scripted.driven_by.clone(),
                pruned_at: None,
            });
        }
        lines.truncate(limit);
        Ok(lines)
    }

    async fn prunable(&self, _: u64) -> Result<PrunableTasks, Error> {
        Ok(PrunableTasks::default())
    }

    async fn prune(&self, _: &PrunableTasks) -> Result<PruneReport, Error> {
        Ok(PruneReport::default())
    }

    async fn undoing(&self, task: &TaskId, _: Option<Attempt>, _: bool) -> Result<Undoing, Error> {
        let nothing = Path::new("/nonexistent").join(task.as_str());
        Undoing::of(&nothing, |_| true, false)
            .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))
    }

    async fn resolve(&self, prefix: &str) -> Result<TaskId, Error> {
        let tasks = self.tasks.lock().unwrap();
        tasks.keys().find(|task| task.as_str().starts_with(prefix)).cloned().ok_or_else(|| unknown(prefix))
    }

    async fn export(&self, task: &TaskId) -> Result<Vec<String>, Error> {
        let records = self.records(task).await?;
        Ok(records
            .iter()
            .map(|record| serde_json::json!({ "seq": record.seq, "text": "a\u{9b}b" }).to_string())
            .collect())
    }

    async fn findings(&self, _: &TaskId) -> Result<Vec<Finding>, Error> {
        Ok(self.found.lock().unwrap().clone())
    }

    async fn replay(&self, task: &TaskId) -> Result<ReplayReport, Error> {
        let records = self.records(task).await?.len() as u64;
        let divergence = self.divergence.lock().unwrap().clone();
        Ok(ReplayReport {
            task_id: task.clone(),
            records,
            replayed: divergence.as_ref().map_or(records, |place| place.seq - 1),
            steps: 3,
            asks: 2,
            rules: 0,
            fragments_missing: 0,
            is_exact: true,
            logic_version: 1,
            is_closed: true,
            divergence,
        })
    }

    async fn rerun(&self, task: &TaskId, set: &[(String, String)]) -> Result<Rerun, Error> {
        let rerun = self.rerun.lock().unwrap().clone();
        let settings = set.iter().map(|(name, value)| TriedSetting {
            name: name.clone(),
            recorded: "before".into(),
            tried: value.as_str().into(),
        });
        Ok(Rerun { task_id: task.clone(), settings: settings.collect(), ..rerun.unwrap() })
    }

    async fn fragments(&self, hashes: &[FragmentHash]) -> Result<Vec<Option<String>>, Error> {
        let known = self.fragments.lock().unwrap();
        let find = |hash: &FragmentHash| known.iter().find(|text| FragmentHash::of(text) == *hash).cloned();
        Ok(hashes.iter().map(find).collect())
    }

    async fn fork(&self, fork: &Fork) -> Result<(ForkResult, mpsc::Receiver<Event>), Error> {
        self.forks.lock().unwrap().push(fork.clone());
        let task = self.next.lock().unwrap().pop_front();
        let task = task.ok_or_else(|| Error::new(ErrorKind::Usage, "failed to fork"))?;
        let events = self.play(&task);
        let from = ForkedFrom { task: fork.from.clone(), seq: fork.at, models: None, earlier: vec![] };
        let copied = self.copied.lock().unwrap().clone();
        Ok((ForkResult { task, from, copied }, events))
    }

    async fn shutdown(&self) -> Option<String> {
        self.ears.shutting_down.notify_one();
        if *self.never_shuts_down.lock().unwrap() {
            std::future::pending::<()>().await;
        }
        *self.was_shut_down.lock().unwrap() = true;
        None
    }
}

fn unknown(prefix: &str) -> Error {
    Error::new(ErrorKind::Unknown, format!("no task begins with {prefix:?}"))
}

struct Player {
    records: VecDeque<Record>,
    journal: Arc<Mutex<Vec<Record>>>,
    said: Arc<Mutex<Vec<Payload>>>,
    ears: Arc<Ears>,
    sender: mpsc::Sender<Event>,
}

impl Player {
    async fn play(mut self, beats: Vec<Beat>) {
        for beat in beats {
            match beat {
                Beat::Tell(n) => self.tell(n).await,
                Beat::TellRest => self.tell(usize::MAX).await,
                Beat::Miss(n) => {
                    self.take(n);
                }
                Beat::Lagged => self.send(Event::Lagged).await,
                Beat::Progress(call, text) => self.send(Event::Progress { call, text: text.into() }).await,
                Beat::AwaitSaid(kind) => self.await_said(kind).await,
                Beat::AwaitShown(text) => self.await_shown(text).await,
                Beat::Seconds(seconds) => {
                    for _ in 0..seconds {
                        tokio::time::advance(std::time::Duration::from_secs(1)).await;
                    }
                }
                Beat::AwaitShuttingDown => self.ears.shutting_down.notified().await,
                Beat::AwaitListening => self.ears.listening.notified().await,
                Beat::Interrupt => {
                    let sender = self.ears.interrupts.lock().unwrap().clone();
                    if let Some(sender) = sender {
                        sender.send(()).await.unwrap();
                    }
                }
                Beat::Release => {
                    let lost = Error::new(ErrorKind::Internal, "the lease was lost");
                    self.send(Event::Released(lost)).await;
                }
                Beat::Hang => return,
                Beat::Stall => std::future::pending().await,
            }
        }
        // The events stay open, as those of a running task.
        std::future::pending::<()>().await;
    }

    async fn tell(&mut self, n: usize) {
        let records = self.take(n);
        let closed = self.records.is_empty();
        self.send(Event::Records { records: records.into(), closed }).await;
    }

    fn take(&mut self, n: usize) -> Vec<Record> {
        let n = n.min(self.records.len());
        let records: Vec<Record> = self.records.drain(..n).collect();
        self.journal.lock().unwrap().extend(records.iter().cloned());
        records
    }

    async fn await_said(&self, kind: Kind) {
        loop {
            if self.said.lock().unwrap().iter().any(|payload| payload.kind() == kind) {
                return;
            }
            self.ears.said.notified().await;
        }
    }

    async fn await_shown(&self, text: &str) {
        while !String::from_utf8_lossy(&self.ears.err.lock().unwrap()).contains(text) {
            self.ears.shown.notified().await;
        }
    }

    async fn send(&self, event: Event) {
        // It does not matter to the organisation that a receiver has left.
        let _ = self.sender.send(event).await;
    }
}
