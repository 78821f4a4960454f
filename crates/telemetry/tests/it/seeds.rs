//! Real roles under a virtual clock: faults, corrections, replans, cancels, crashes, budgets.

use std::sync::{Arc, LazyLock};

use setpoint_machine::Factory;
use setpoint_protocol::TaskId;
use setpoint_protocol::record::{Opened, Record};
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_roles::factory::Roles;
use setpoint_sim::brain::Skill;
use setpoint_sim::plant::PlantReader;
use setpoint_sim::{Chance, Crashes, Scenario, run};

/// Number of tasks.
const SEEDS: u64 = 100;

/// A task with its seed and its records.
pub(crate) struct Task {
    pub(crate) seed: u64,
    pub(crate) id: TaskId,
    pub(crate) records: Vec<Record>,
}

/// Returns all tasks, which are simulated only once.
pub(crate) fn tasks() -> &'static [Task] {
    static TASKS: LazyLock<Vec<Task>> = LazyLock::new(|| (0..SEEDS).map(task).collect());
    &TASKS
}

fn task(seed: u64) -> Task {
    let mut chance = Chance::new(seed.wrapping_mul(0x9e37_79b9));
    let mut percent = |choices: &[u64]| chance.pick(choices).copied().unwrap_or(0);
    let scenario = Scenario {
        seed,
        skill: Skill {
            sense_percent: percent(&[100, 95, 80, 30]),
            uptime_percent: percent(&[100, 99, 90, 50]),
            lenient_percent: percent(&[100, 90, 60, 10]),
        },
        broken_percent: percent(&[0, 10, 50, 100]),
        cancel_percent: percent(&[0, 0, 0, 3]),
        refuse_percent: percent(&[0, 20, 100]),
        crashes: if seed.is_multiple_of(4) { Crashes::Percent(10) } else { Crashes::Never },
        controller: ControllerSettings::default(),
        budgets: Budgets { calls: seed.is_multiple_of(7).then_some(12), ..Budgets::default() },
    };
    let factory: Arc<dyn Factory> = Arc::new(Roles::new(Arc::new(PlantReader)));
    let done = run(&scenario, &factory);
    assert!(done.closed, "{:?}", done.broken);
    let mut records = done.records;
    // Simulated tasks do not name their models.
    let mut opened: Opened = serde_json::from_slice(&records[0].body).unwrap();
    opened.models.brain.name = "gemini/brain".to_owned();
    opened.models.tool.name = "openai/tool".to_owned();
    records[0].body = serde_json::to_vec(&opened).unwrap();
    Task { seed, id: TaskId::mint("simulated", seed), records }
}
