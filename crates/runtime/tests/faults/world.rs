//! A whole organisation whose models are reached over a wire, on a clock that advances whenever everything waits.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

use async_trait::async_trait;
use setpoint_journal::Journal;
use setpoint_machine::ModelCall;
use setpoint_memory::Access;
use setpoint_model::remote::{Endpoint, Remote, base};
use setpoint_model::wire::Dialect;
use setpoint_model::{Model, ModelError, Progress};
use setpoint_model_server::question::Site;
use setpoint_model_server::{Fault, ModelServer, SeenRequest, Turn, Wire};
use setpoint_protocol::TaskId;
use setpoint_protocol::record::Record;
use setpoint_protocol::record::{Opened, Purpose, Reply, Surroundings};
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_runtime::hints::Hints;
use setpoint_runtime::toolbox::Tools;
use setpoint_runtime::{Models, NewTask, Organisation, Parts};
use setpoint_tools::{Host, Registry};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::organisation::{FILES, GOAL, Organisation as Script, Whole};

/// Most calls of a task: twice as many as one without faults makes.
const CALLS_MAX: u64 = 24;
/// The same if the server is unavailable for a minute, which costs calls at every place that asks in that time.
const CALLS_IN_STORM_MAX: u64 = 60;
/// The key sent with every request.
pub(crate) const KEY: &str = "sk-very-secret-0123456789";
/// The time budget of a task.
pub(crate) const BUDGET: Duration = Duration::from_secs(300);
/// More time than any task takes.
const ENDLESS: Duration = Duration::from_secs(3_600);
/// Time in which the server notices that no client waits.
const SOON: Duration = Duration::from_secs(2);

/// A fault and its place.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) site: Site,
    pub(crate) fault: Option<Fault>,
    /// Only the site's first question meets the fault.
    pub(crate) is_once: bool,
    pub(crate) wire: Wire,
    pub(crate) is_streamed: bool,
}

impl Scenario {
    /// Returns whether the fault is possible on this wire.
    pub(crate) fn is_possible(&self) -> bool {
        let is_made = |fault: &Fault| !is_of_a_turn(fault) || fault.applies(self.wire, self.is_streamed);
        self.fault.as_ref().is_some_and(is_made)
    }

    /// Returns the most calls that the task may make.
    pub(crate) fn calls_max(&self) -> u64 {
        if self.is_stormy() { CALLS_IN_STORM_MAX } else { CALLS_MAX }
    }

    /// Returns whether the server is unavailable to all clients, for a minute.
    pub(crate) fn is_stormy(&self) -> bool {
        matches!(self.fault, Some(Fault::UnavailableStorm))
    }

    /// Returns whether the fault can meet any client, even if only the next one to connect.
    pub(crate) fn meets_everybody(&self) -> bool {
        self.is_stormy() || matches!(self.fault, Some(Fault::RefuseConnect(_)))
    }

    /// Returns whether the fault passes by itself, so that a retry is enough.
    pub(crate) fn is_passing(&self) -> bool {
        // Faults below HTTP, except endless ones and those that are not retried; then those of the stream and of the
        // model's text.
        matches!(self.fault.as_ref().map_or(0, Fault::number), 3..=7 | 9..=12 | 21 | 24..=55 | 57..=58)
    }
}

/// The outcome of a scenario.
pub(crate) struct Outcome {
    pub(crate) records: Vec<Record>,
    pub(crate) seen: Vec<SeenRequest>,
    /// Number of answers that really had the fault.
    pub(crate) struck: usize,
    /// Number of questions sent to a model at a wrong address.
    pub(crate) astray: usize,
    /// Duration of the task on the paused clock.
    pub(crate) took: Duration,
    pub(crate) panics: usize,
    pub(crate) is_driven: bool,
}

/// Creates the working directory of the tasks.
pub(crate) fn cellar() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in FILES {
        std::fs::write(folder.path().join(file), "plum\nquince\n").unwrap();
    }
    folder
}

/// Runs a task through a scenario, to its end.
pub(crate) async fn run(scenario: &Scenario, cellar: &Path) -> Outcome {
    count_panics();
    let before = PANICS.get();
    let Scenario { site, fault, is_once, wire, is_streamed } = scenario.clone();
    let whole = if site == Site::Report { Whole::Fails } else { Whole::Holds };
    let server = ModelServer::start(Arc::new(Faulty::new(scenario, whole))).await.unwrap();
    let sane = remote(wire, &server.base(wire), is_streamed);
    let strange = fault.as_ref().filter(|fault| !is_of_a_turn(fault));
    let lost = strange.map(|fault| remote(wire, &server.base_with(wire, fault), is_streamed));
    let astray = Arc::new(AtomicUsize::new(0));
    let model: Arc<dyn Model> =
        Arc::new(Routed { sane, lost, site: purpose(site), is_once, astray: Arc::clone(&astray) });
    let organisation = Organisation::new(Parts {
        journal: Journal::in_memory(),
        models: Models::one(model),
        toolbox: Arc::new(Tools::new(Registry::built_in(
            &Host::new("linux", []).with_own_commands(setpoint_model::playbook::forms),
        ))),
        memory: Access::closed("there is none here"),
        has_reflection: false,
        hints: Hints::default(),
        keys: Default::default(),
    });
    let begun = Instant::now();
    let task = organisation.start(task_in(cellar, whole, scenario.calls_max())).await.unwrap();
    let ended = tokio::time::timeout(ENDLESS, organisation.ended(&task)).await;
    assert!(ended.is_ok(), "{scenario:?}: it did not end");
    let took = begun.elapsed();
    let records = records_of(&organisation, &task);
    let is_driven = organisation.drives(&task);
    let replayed = organisation.history().replay(&task).unwrap();
    assert_eq!(replayed.divergence, None, "{scenario:?}: {replayed:#?}");
    assert!(replayed.is_exact && replayed.replayed == records.len() as u64, "{scenario:?}: {replayed:#?}");
    organisation.shutdown().await;
    // A connection may stay open for the next question, but no client may wait for an answer on it.
    let seen = server.seen();
    let served = tokio::time::timeout(SOON, server.until_served(seen.len())).await;
    assert!(served.is_ok(), "{scenario:?}: a question is still open at the server");
    let struck = server.served().iter().filter(|served| served.fault.is_some()).count();
    server.stop().await;
    let panics = PANICS.get() - before;
    let astray = astray.load(Ordering::SeqCst);
    Outcome { records, seen, struck, astray, took, panics, is_driven }
}

fn records_of(organisation: &Organisation, task: &TaskId) -> Vec<Record> {
    let failure = organisation.take_failure(task);
    assert!(failure.is_none(), "{failure:?}");
    organisation.records(task).unwrap()
}

/// A correct script with a fault at one place.
struct Faulty {
    script: Script,
    site: Site,
    fault: Option<Fault>,
    is_once: bool,
    struck: AtomicUsize,
}

impl Faulty {
    fn new(scenario: &Scenario, whole: Whole) -> Self {
        let fault = scenario.fault.clone().filter(is_of_a_turn);
        let Scenario { site, is_once, .. } = *scenario;
        Faulty { script: Script::new(whole), site, fault, is_once, struck: AtomicUsize::new(0) }
    }
}

impl setpoint_model_server::Script for Faulty {
    fn turn(&self, seen: &SeenRequest) -> Turn {
        let turn = self.script.turn(seen);
        match &self.fault {
            Some(fault) if Site::of(seen) == Some(self.site) => {
                let is_first = self.struck.fetch_add(1, Ordering::SeqCst) == 0;
                if is_first || !self.is_once { turn.with(fault.clone()) } else { turn }
            }
            _ => turn,
        }
    }
}

/// Returns whether the server makes the fault in an answer; otherwise the address does.
fn is_of_a_turn(fault: &Fault) -> bool {
    !matches!(fault, Fault::DnsFailure | Fault::TlsGarbage)
}

/// One model for all roles, with another address for one place.
struct Routed {
    sane: Remote,
    lost: Option<Remote>,
    site: Purpose,
    is_once: bool,
    astray: Arc<AtomicUsize>,
}

#[async_trait]
impl Model for Routed {
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        if let Some(lost) = self.lost.as_ref().filter(|_| call.purpose() == self.site) {
            let is_first = self.astray.load(Ordering::SeqCst) == 0;
            if is_first || !self.is_once {
                self.astray.fetch_add(1, Ordering::SeqCst);
                return lost.answer(call, progress).await;
            }
        }
        self.sane.answer(call, progress).await
    }

    fn name(&self) -> &str {
        self.sane.name()
    }
}

const fn purpose(site: Site) -> Purpose {
    match site {
        Site::Perceive => Purpose::Perceive,
        Site::Plan => Purpose::Plan,
        Site::Report => Purpose::Report,
        Site::Execute => Purpose::Execute,
        Site::Judge => Purpose::Judge,
        Site::Merge => Purpose::Merge,
    }
}

const fn dialect(wire: Wire) -> Dialect {
    match wire {
        Wire::Chat => Dialect::Chat,
        Wire::Responses => Dialect::Responses,
        Wire::Anthropic => Dialect::Anthropic,
        Wire::Gemini => Dialect::Gemini,
        Wire::Ollama => Dialect::Ollama,
    }
}

fn remote(wire: Wire, address: &str, is_streamed: bool) -> Remote {
    let base = base::normalised(dialect(wire), address).unwrap();
    let mut endpoint = Endpoint::new("the-model".to_owned(), dialect(wire), base, "test-model".to_owned());
    endpoint.key = Some(KEY.to_owned().into());
    endpoint.is_streamed = is_streamed;
    endpoint.window_tokens = Some(65_536);
    Remote::new(endpoint, || 0).unwrap()
}

/// Creates the task in this folder. If the whole fails, the task is abandoned after its first round.
fn task_in(cellar: &Path, whole: Whole, calls_max: u64) -> NewTask {
    let theta = if whole == Whole::Fails { 0.5 } else { 0.8 };
    let controller = ControllerSettings {
        max_replans: 1,
        theta,
        time_budget_ms: u64::try_from(BUDGET.as_millis()).unwrap(),
        ..ControllerSettings::default()
    };
    let cwd = cellar.to_str().unwrap().to_owned();
    let surroundings = Surroundings {
        home: cwd.clone(),
        workspace: format!("{cwd}/out"),
        os: "linux".to_owned(),
        cwd,
        ..Surroundings::default()
    };
    let opened = Opened {
        logic_version: 1,
        controller,
        budgets: Budgets { calls: Some(calls_max), ..Budgets::default() },
        interactive: false,
        preview_plan: false,
        direct_answers: false,
        surroundings: surroundings.into(),
        tools: Vec::new(),
        models: setpoint_protocol::models::Models::default(),
        thinking: Vec::new(),
        history: Vec::new(),
        forked_from: None,
    };
    NewTask { raw_input: format!("{GOAL}\nLook at every shelf."), opened, suffix: 1 }
}

thread_local! {
    /// Panics on this thread, which runs everything of a scenario except the journal.
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            PANICS.set(PANICS.get() + 1);
            before(info);
        }));
    });
}
