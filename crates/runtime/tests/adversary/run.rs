//! One task in a world, from its start to its end.

use std::sync::Arc;

use serde_json::Value;
use setpoint_fetch::{Fetcher, SystemResolver, address};
use setpoint_journal::Journal;
use setpoint_memory::Access;
use setpoint_model::Model;
use setpoint_protocol::message::{ApprovalDecision, ApprovalRequest, ApprovalWord};
use setpoint_protocol::record::{Exchange, Opened, Record, Surroundings};
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_protocol::topology::Payload;
use setpoint_runtime::hints::Hints;
use setpoint_runtime::tap::{Event, TapItem};
use setpoint_runtime::toolbox::Tools;
use setpoint_runtime::{Models, NewTask, Organisation, Parts};
use setpoint_tools::{Host, House, Registry, Sandbox, Tool};

use crate::world::World;

/// This executable, as keeper and as stage.
const SELF: &str = "/proc/self/exe";
/// Who decides, in the records.
pub(crate) const PERSON: &str = "terminal";
/// Maximum questions to models in one task.
pub(crate) const CALLS_MAX: u64 = 40;

/// How calls are bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// As in the program: gate, house, sandbox, keeper.
    All,
    /// By nothing.
    None,
}

/// A task that has ended.
pub(crate) struct Ran {
    pub(crate) result: Value,
    pub(crate) records: Vec<Record>,
    /// The questions to the person, in order.
    pub(crate) asked: Vec<ApprovalRequest>,
}

impl Ran {
    /// Returns all that the records hold.
    pub(crate) fn said(&self) -> Vec<u8> {
        self.records.iter().flat_map(|record| record.body.iter().copied()).collect()
    }

    /// Returns the decisions that the records hold, with who made them.
    pub(crate) fn decisions(&self) -> Vec<ApprovalDecision> {
        let decision = |record: &Record| match record.message() {
            Some(Payload::ApprovalDecision(decision)) => Some(decision),
            _ => None,
        };
        self.records.iter().filter_map(decision).collect()
    }
}

/// Returns why a full sandbox cannot be made on this machine.
pub(crate) fn missing_sandbox(world: &World) -> Option<String> {
    let probed = setpoint_sandbox::probe(SELF.as_ref(), &world.at("outside")).unwrap();
    (!probed.missing.is_empty()).then(|| format!("{:?}", probed.missing))
}

fn registry(world: &World, bounds: Bounds) -> (Host, Registry) {
    let env = [("PATH", world.search_path()), ("LOGNAME", world.token())];
    let host = Host::new("linux", env.map(|(name, value)| (name.into(), value.into())))
        .with_own_commands(setpoint_model::playbook::forms)
        .with_fetcher(Fetcher::new(Arc::new(SystemResolver), address::is_public_or_private));
    let own = vec![world.at("config"), world.at("data")];
    if bounds == Bounds::None {
        let registry = Registry::built_in(&host).ungated();
        return (host, registry);
    }
    let sandbox = Sandbox {
        stage: SELF.into(),
        readable: Vec::new(),
        hidden: own.clone(),
        home: world.at("home"),
        layers: world.at("data/layers"),
        bounds: setpoint_tools::Bounds::default(),
    };
    let host = host.with_keeper(SELF).with_sandbox(sandbox);
    let house = House::new(own, Vec::new(), world.at("data/workspaces"));
    let registry = Registry::built_in(&host).with_house(house).keeping_in(world.at("data/undo"));
    (host, registry)
}

/// Runs a task to its end. `allows` is the person.
pub(crate) fn run(
    world: &World,
    bounds: Bounds,
    goal: &str,
    model: Arc<dyn Model>,
    more: Vec<Arc<dyn Tool>>,
    journal: &Journal,
    allows: impl Fn(&ApprovalRequest) -> bool,
) -> Ran {
    let (host, mut registry) = registry(world, bounds);
    more.into_iter().for_each(|tool| registry.add(tool));
    let surroundings = Surroundings {
        cwd: world.text("work"),
        home: world.text("home"),
        workspace: world.text("data/workspaces/{task}"),
        vars: [("HOME".to_owned(), world.text("home"))].into(),
        os: "linux".to_owned(),
        programs: host.notable_programs(),
        has_sandbox: bounds == Bounds::All,
        ..Surroundings::default()
    };
    let before = Exchange {
        input: "look at notes.txt".to_owned(),
        summary: "It is about shelves.".to_owned(),
        output: String::new(),
    };
    let opened = Opened {
        logic_version: 1,
        controller: ControllerSettings { max_replans: 1, ..ControllerSettings::default() },
        budgets: Budgets { calls: Some(CALLS_MAX), ..Budgets::default() },
        interactive: false,
        preview_plan: false,
        direct_answers: false,
        surroundings: surroundings.into(),
        tools: Vec::new(),
        models: setpoint_protocol::models::Models::default(),
        thinking: Vec::new(),
        history: vec![before],
        forked_from: None,
    };
    let new = NewTask { raw_input: goal.to_owned(), opened, suffix: 1 };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let organisation = Organisation::new(Parts {
            journal: journal.clone(),
            models: Models::one(model),
            toolbox: Arc::new(Tools::new(registry)),
            memory: Access::closed("there is none here"),
            has_reflection: false,
            hints: Hints::default(),
            keys: Default::default(),
        });
        ended(&organisation, new, allows).await
    })
}

async fn ended(organisation: &Organisation, new: NewTask, allows: impl Fn(&ApprovalRequest) -> bool) -> Ran {
    let mut tap = organisation.tap();
    let mut asked = Vec::new();
    let task = organisation.start(new).await.unwrap();
    loop {
        let TapItem::Event(event) = tap.next().await else { panic!("the tap is behind") };
        let Event::Records { records, closed, .. } = event else { continue };
        for record in records.iter() {
            if let Some(Payload::ApprovalRequest(request)) = record.message() {
                let decision = ApprovalDecision {
                    call_id: request.call_id,
                    decision: if allows(&request) { ApprovalWord::Once } else { ApprovalWord::Never },
                    digest: request.need.digest.clone(),
                    by: PERSON.to_owned(),
                    allows: Vec::new(),
                };
                asked.push(request);
                organisation.say(&task, Payload::ApprovalDecision(decision)).await.unwrap();
            }
        }
        if closed {
            break;
        }
    }
    organisation.ended(&task).await;
    let result = serde_json::to_value(organisation.result(&task).unwrap().unwrap()).unwrap();
    let records = organisation.records(&task).unwrap();
    organisation.shutdown().await;
    Ran { result, records, asked }
}
