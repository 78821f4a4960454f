//! Runs one scenario: a number of tasks, a number in flight, and a journal.

use std::io::Write as _;
use std::sync::Arc;

use setpoint_audit::{AuditPlace, Keeper};
use setpoint_journal::{Journal, JournalOptions};
use setpoint_memory::{Access, Memory};
use setpoint_protocol::TaskId;
use setpoint_protocol::message::EndState;
use setpoint_protocol::record::{Opened, Surroundings};
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_runtime::hints::Hints;
use setpoint_runtime::{Models, NewTask, Organisation, Parts};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::instant::{InstantModel, InstantTools, Pace};
use crate::measure;

/// Where the journal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    Memory,
    Disk,
    /// On disk, and memory (R5) is asked before every plan.
    Remembering,
    /// On disk, and the Auditor (R6) follows.
    Audited,
}

impl Store {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Store::Memory => "memory",
            Store::Disk => "disk",
            Store::Remembering => "disk+r5",
            Store::Audited => "disk+r6",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, String> {
        [Store::Memory, Store::Disk, Store::Remembering, Store::Audited]
            .into_iter()
            .find(|s| s.name() == name)
            .ok_or_else(|| format!("no store {name}"))
    }
}

/// How the model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// At once, as the targets assume.
    AtOnce,
    /// After a turn of the scheduler.
    Turn,
    /// At once, but the last answer of a task waits until all tasks in flight have reached theirs; for measuring memory
    /// use.
    Together,
}

impl Answers {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Answers::AtOnce => "at-once",
            Answers::Turn => "turn",
            Answers::Together => "together",
        }
    }

    pub(crate) fn named(name: &str) -> Result<Self, String> {
        [Answers::AtOnce, Answers::Turn, Answers::Together]
            .into_iter()
            .find(|a| a.name() == name)
            .ok_or_else(|| format!("no answers {name}"))
    }

    fn pace(self, in_flight: usize) -> Pace {
        match self {
            Answers::AtOnce => Pace::AtOnce,
            Answers::Turn => Pace::Turn,
            Answers::Together => Pace::Together(Barrier::new(in_flight)),
        }
    }
}

/// The parameters of a run.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) store: Store,
    pub(crate) answers: Answers,
    pub(crate) in_flight: usize,
    pub(crate) tasks: usize,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) tasks_per_s: f64,
    pub(crate) cpu_ms_per_task: f64,
    pub(crate) peak_mib: f64,
}

impl Scenario {
    /// Returns the scenarios with targets.
    pub(crate) fn all() -> Vec<Scenario> {
        let mut all = Vec::new();
        for store in [Store::Memory, Store::Disk] {
            // A journal in memory also keeps ended tasks, so only as many are run there as are in flight.
            let last = if store == Store::Memory { 1_000 } else { 4_000 };
            for (in_flight, tasks) in [(1, 300), (100, 1_000), (1_000, last)] {
                all.push(Scenario { store, answers: Answers::AtOnce, in_flight, tasks });
            }
        }
        all
    }

    /// Returns the scenario with all tasks in flight at one moment, to measure their memory.
    pub(crate) fn together(&self) -> Self {
        Scenario { answers: Answers::Together, tasks: self.in_flight, ..self.clone() }
    }

    /// Returns the scenario with answers that have to be waited for.
    pub(crate) fn waiting(&self) -> Self {
        Scenario { answers: Answers::Turn, ..self.clone() }
    }

    /// Returns whether the design's targets are met, as a word.
    pub(crate) fn target(&self, outcome: &Outcome) -> &'static str {
        let cpu_max = match (self.store, self.in_flight) {
            (Store::Memory, _) => 1.0,
            (Store::Disk | Store::Remembering | Store::Audited, 1) => 4.0,
            (Store::Disk | Store::Remembering | Store::Audited, _) => 2.0,
        };
        let memory_holds = self.in_flight < 1_000 || outcome.peak_mib < 200.0;
        if outcome.cpu_ms_per_task < cpu_max && memory_holds { "met" } else { "missed" }
    }
}

impl Outcome {
    pub(crate) fn write(&self) -> String {
        format!("{} {} {}", self.tasks_per_s, self.cpu_ms_per_task, self.peak_mib)
    }

    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match numbers.as_slice() {
            [tasks_per_s, cpu_ms_per_task, peak_mib] => Ok(Outcome {
                tasks_per_s: *tasks_per_s,
                cpu_ms_per_task: *cpu_ms_per_task,
                peak_mib: *peak_mib,
            }),
            _ => Err(format!("unreadable outcome {text:?}")),
        }
    }
}

/// Runs a scenario in this process.
pub(crate) fn run(scenario: &Scenario) -> Result<Outcome, String> {
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let journal = match scenario.store {
        Store::Memory => Journal::in_memory(),
        Store::Disk | Store::Remembering | Store::Audited => {
            Journal::open(dir.path(), &JournalOptions::default()).map_err(|error| error.to_string())?
        }
    };
    let memory = match scenario.store {
        Store::Memory | Store::Disk | Store::Audited => Access::closed("there is none here"),
        Store::Remembering => {
            let (memory, _) =
                Memory::open(&dir.path().join("memory"), &journal).map_err(|error| error.to_string())?;
            Access::Open(Arc::new(memory))
        }
    };
    runtime()?.block_on(async {
        let organisation = organisation(journal, memory, || {}, scenario.answers.pace(scenario.in_flight));
        if scenario.store == Store::Audited {
            organisation.audit(auditor_in(dir.path()));
        }
        if scenario.answers != Answers::Together {
            // The first tasks pay for one-time initialisation.
            many(&organisation, scenario.in_flight, scenario.in_flight.min(50), 0).await?;
        }
        let (begin, cpu) = (measure::start(), measure::cpu_ms());
        many(&organisation, scenario.in_flight, scenario.tasks, 1_000_000).await?;
        let (wall, cpu) = (begin.elapsed().as_secs_f64(), measure::cpu_ms() - cpu);
        let tasks = scenario.tasks as f64;
        organisation.shutdown().await;
        Ok(Outcome { tasks_per_s: tasks / wall, cpu_ms_per_task: cpu / tasks, peak_mib: measure::peak_mib() })
    })
}

/// Returns the Auditor's place in a data directory.
pub(crate) fn auditor_in(dir: &std::path::Path) -> AuditPlace {
    AuditPlace { dir: dir.join("audit"), key: None, export: None }
}

/// Measures the Auditor's catching up with tasks that ran without it: rows, and CPU microseconds per row.
pub(crate) fn caught_up(tasks: usize) -> Result<(u64, f64), String> {
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let journal = Journal::open(dir.path(), &JournalOptions::default()).map_err(|error| error.to_string())?;
    runtime()?.block_on(async {
        let memory = Access::closed("there is none here");
        let organisation = organisation(journal, memory, || {}, Pace::AtOnce);
        many(&organisation, 100, tasks, 0).await?;
        organisation.shutdown().await;
        Ok::<_, String>(())
    })?;
    let journal = Journal::open(dir.path(), &JournalOptions::default()).map_err(|error| error.to_string())?;
    let now = setpoint_runtime::clock::now();
    let keeper = Keeper::open(&auditor_in(dir.path()), &journal, now).map_err(|error| error.to_string())?;
    let mut keeper = keeper.ok_or("somebody else audits")?;
    let cpu = measure::cpu_ms();
    let caught = keeper.catch_up(u64::MAX, now).map_err(|error| error.to_string())?;
    let cpu_us = (measure::cpu_ms() - cpu) * 1e3;
    if !caught.findings.is_empty() {
        return Err(format!("what is measured breaks a rule: {:?}", caught.findings));
    }
    Ok((caught.rows, cpu_us / caught.rows as f64))
}

/// Opens an organisation on disk and ends the process at its first model call.
pub(crate) fn first_call() -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let journal = Journal::open(dir.path(), &JournalOptions::default()).map_err(|error| error.to_string())?;
    runtime()?.block_on(async {
        let on_call = || {
            println!("called");
            drop(std::io::stdout().flush());
            std::process::exit(0);
        };
        let memory = Access::closed("there is none here");
        let organisation = organisation(journal, memory, on_call, Pace::AtOnce);
        one(&organisation, 1).await
    })
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| error.to_string())
}

fn organisation(journal: Journal, memory: Access, on_call: fn(), pace: Pace) -> Organisation {
    let model = Arc::new(InstantModel { on_call, pace });
    let models = Models::one(model);
    Organisation::new(Parts {
        journal,
        models,
        toolbox: Arc::new(InstantTools),
        memory,
        has_reflection: false,
        hints: Hints::default(),
        keys: Default::default(),
    })
}

/// Runs `tasks` tasks with at most `in_flight` at a time.
pub(crate) async fn many(
    organisation: &Organisation,
    in_flight: usize,
    tasks: usize,
    first: u64,
) -> Result<(), String> {
    let mut running = JoinSet::new();
    for n in 0..tasks {
        if running.len() >= in_flight
            && let Some(ended) = running.join_next().await
        {
            ended.map_err(|error| error.to_string())??;
        }
        let organisation = organisation.clone();
        let suffix = first + n as u64;
        running.spawn(async move { one(&organisation, suffix).await });
    }
    while let Some(ended) = running.join_next().await {
        ended.map_err(|error| error.to_string())??;
    }
    Ok(())
}

pub(crate) async fn one(organisation: &Organisation, suffix: u64) -> Result<(), String> {
    let opened = Opened {
        logic_version: 0,
        controller: ControllerSettings::default(),
        budgets: Budgets::default(),
        interactive: false,
        preview_plan: false,
        direct_answers: false,
        surroundings: Surroundings { cwd: "/".to_owned(), home: "/".to_owned(), ..Surroundings::default() }
            .into(),
        tools: vec![],
        models: setpoint_protocol::models::Models::default(),
        thinking: vec![],
        history: vec![],
        forked_from: None,
    };
    let task: TaskId = organisation
        .start(NewTask {
            raw_input: "take stock of the cellar\nand list every jar".to_owned(),
            opened,
            suffix,
        })
        .await
        .map_err(|error| error.to_string())?;
    organisation.ended(&task).await;
    let result = organisation.result(&task).map_err(|error| error.to_string())?;
    match result.map(|result| (result.directive, result.usage.calls, result.usage.tool_calls)) {
        Some((EndState::Accept, 18, 5)) => Ok(()),
        other => Err(format!("the task did not do what is measured: {other:?}")),
    }
}
