//! An organisation around a test's own model, whose tasks are all replayed at the end.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use setpoint_audit::findings_of;
use setpoint_journal::Journal;
use setpoint_memory::{Access, Memory};
use setpoint_model::Model;
use setpoint_protocol::message::{Finding, FindingKind, Severity};
use setpoint_protocol::record::{Opened, RecordKind, Surroundings};
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_runtime::hints::Hints;
use setpoint_runtime::toolbox::Tools;
use setpoint_runtime::{Models, NewTask, Organisation, Parts};
use setpoint_tools::{Host, Registry};

/// An organisation whose tasks must replay exactly and break no rule by the time it is shut down or dropped.
pub(crate) struct Tested {
    organisation: Organisation,
    is_checked: AtomicBool,
}

impl Tested {
    /// Checks its tasks, and shuts it down.
    pub(crate) async fn shutdown(&self) {
        self.check();
        self.organisation.shutdown().await;
    }

    fn check(&self) {
        if self.is_checked.swap(true, Ordering::SeqCst) {
            return;
        }
        // A journal that a test closed or broke cannot be read.
        let tasks = self.organisation.tasks(false, usize::MAX).unwrap_or_default();
        for task in tasks.into_iter().filter(|task| task.pruned_at.is_none()) {
            let first = self.organisation.journal().read_rows(task.task.as_str(), 1, 1).unwrap();
            if first.iter().all(|row| row.kind != RecordKind::Opened.name()) {
                // Rows that a test wrote itself.
                continue;
            }
            let report = self.organisation.history().replay(&task.task).unwrap();
            assert_eq!(report.divergence, None, "{report:#?}");
            assert!(report.is_exact && report.replayed == report.records && report.asks > 0, "{report:#?}");
            // Whatever a test does to a task, the organisation keeps its own rules. Some tests are about machines that
            // fail.
            let records = self.organisation.records(&task.task).unwrap();
            let is_broken = |finding: &Finding| {
                finding.kind.severity() == Severity::Violation && finding.kind != FindingKind::MachineFault
            };
            let broken: Vec<Finding> =
                findings_of(&task.task, &records).into_iter().filter(is_broken).collect();
            assert_eq!(broken, []);
        }
    }
}

impl Drop for Tested {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.check();
        }
    }
}

impl Deref for Tested {
    type Target = Organisation;

    fn deref(&self) -> &Organisation {
        &self.organisation
    }
}

/// Creates an organisation that asks this model everything and has the tools of a Linux machine.
pub(crate) fn organisation(journal: &Journal, model: impl Model + 'static) -> Tested {
    organisation_of(journal, Models::one(Arc::new(model)))
}

/// Creates an organisation with these models.
pub(crate) fn organisation_of(journal: &Journal, models: Models) -> Tested {
    organisation_with(journal, models, None)
}

/// Creates an organisation with a memory.
pub(crate) fn organisation_with(journal: &Journal, models: Models, memory: Option<Arc<Memory>>) -> Tested {
    let memory = memory.map_or_else(|| Access::closed("there is none here"), Access::Open);
    let host = Host::new("linux", []).with_own_commands(setpoint_model::playbook::forms);
    organisation_on(Registry::built_in(&host), journal, models, memory)
}

/// Creates an organisation with a memory, and with the tools of this host.
pub(crate) fn organisation_on(
    registry: Registry,
    journal: &Journal,
    models: Models,
    memory: Access,
) -> Tested {
    let organisation = Organisation::new(Parts {
        journal: journal.clone(),
        models,
        toolbox: Arc::new(Tools::new(registry)),
        memory,
        has_reflection: true,
        hints: Hints::default(),
        keys: Default::default(),
    });
    Tested { organisation, is_checked: AtomicBool::new(false) }
}

/// Creates a task with a goal and nothing else.
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
        forked_from: None,
    };
    NewTask { raw_input: "count the files\nand name the largest".to_owned(), opened, suffix: 1 }
}
