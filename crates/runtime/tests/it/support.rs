//! An organisation around a test's own model.

use std::sync::Arc;

use setpoint_journal::Journal;
use setpoint_model::Model;
use setpoint_protocol::record::{Opened, Surroundings};
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_runtime::memory::{Access, Memory};
use setpoint_runtime::toolbox::Tools;
use setpoint_runtime::{Models, NewTask, Organisation, Parts};
use setpoint_tools::{Host, Registry};

/// One that asks this model everything and has the tools of a Linux machine.
pub(crate) fn organisation(journal: &Journal, model: impl Model + 'static) -> Organisation {
    organisation_of(journal, Models::one(Arc::new(model)))
}

/// The same with these models.
pub(crate) fn organisation_of(journal: &Journal, models: Models) -> Organisation {
    organisation_with(journal, models, None)
}

/// The same with a memory.
pub(crate) fn organisation_with(
    journal: &Journal,
    models: Models,
    memory: Option<Arc<Memory>>,
) -> Organisation {
    let memory = memory.map_or_else(|| Access::closed("there is none here"), Access::Open);
    Organisation::new(Parts {
        journal: journal.clone(),
        models,
        toolbox: Arc::new(Tools::new(Registry::built_in(&Host::new("linux", [])))),
        memory,
        has_reflection: true,
    })
}

/// A task of nothing but a goal.
pub(crate) fn new_task() -> NewTask {
    let opened = Opened {
        logic_version: 1,
        controller: ControllerSettings::default(),
        budgets: Budgets::default(),
        interactive: false,
        preview_plan: false,
        direct_answers: false,
        surroundings: Surroundings { cwd: "/".to_owned(), home: "/".to_owned(), ..Surroundings::default() }
            .into(),
        tools: Vec::new(),
        models: setpoint_protocol::models::Models::default(),
        thinking: Vec::new(),
        history: Vec::new(),
    };
    NewTask { raw_input: "count the files".to_owned(), opened, suffix: 1 }
}
