//! Processes that tasks keep running beside their calls: each in a sandbox, on a view of its own, until it ends, is
//! stopped, is too old, or its task ends. A keeper ends them when this process dies.
//!
//! All that a task keeps running shares one network, a loopback interface; the task's commands join it. Nothing here is
//! read by a replay: what a call said of a process is in the journal.

mod kept;
mod process;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use setpoint_protocol::TaskId;
use setpoint_sandbox::{Outer, is_apart};

pub(crate) use self::kept::{Folder, KeptProcess};
pub(crate) use self::process::{Process, Start, Wanted};

/// Maximum processes that a task keeps running at one time.
pub const BACKGROUND_MAX: usize = 4;
/// Maximum processes that a task starts in all.
pub const BACKGROUND_STARTS_MAX: usize = 200;

/// What the tasks of this process keep running.
#[derive(Clone, Debug, Default)]
pub(crate) struct Background(Arc<Mutex<BTreeMap<TaskId, Arc<OfTask>>>>);

/// What one task keeps running, with what has ended and was not forgotten.
#[derive(Debug, Default)]
pub(crate) struct OfTask {
    list: Mutex<Vec<Arc<Process>>>,
    /// Held while one is started, so that the next one finds its network.
    pub(crate) starting: tokio::sync::Mutex<()>,
}

impl Background {
    fn tasks(&self) -> MutexGuard<'_, BTreeMap<TaskId, Arc<OfTask>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the processes of a task.
    pub(crate) fn of(&self, task: &TaskId) -> Arc<OfTask> {
        Arc::clone(self.tasks().entry(task.clone()).or_default())
    }

    /// Returns a sandbox of the task whose network its commands use, if one is running.
    pub(crate) fn beside(&self, task: Option<&TaskId>) -> Option<Outer> {
        let of_task = self.tasks().get(task?).cloned()?;
        of_task.network()
    }

    /// Ends all processes of a task and waits for their end.
    pub(crate) async fn end(&self, task: &TaskId) {
        let Some(of_task) = self.tasks().remove(task) else { return };
        // One that is about to start is registered when this is free.
        let _none_starts = of_task.starting.lock().await;
        let all = std::mem::take(&mut *of_task.processes());
        for process in &all {
            process.ask_to_end();
        }
        for process in &all {
            process.end().await;
        }
    }
}

impl OfTask {
    fn processes(&self) -> MutexGuard<'_, Vec<Arc<Process>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, process: Arc<Process>) {
        self.processes().push(process);
    }

    pub(crate) fn named(&self, name: &str) -> Option<Arc<Process>> {
        self.processes().iter().find(|process| process.name == name).cloned()
    }

    /// Returns the names of all.
    pub(crate) fn names(&self) -> Vec<String> {
        self.processes().iter().map(|process| process.name.clone()).collect()
    }

    /// Returns the names of those that run.
    pub(crate) fn running(&self) -> Vec<String> {
        let list = self.processes();
        list.iter().filter(|process| process.ending().is_none()).map(|process| process.name.clone()).collect()
    }

    /// Returns a sandbox whose network others can join.
    pub(crate) fn network(&self) -> Option<Outer> {
        let list = self.processes();
        let mut outer = list.iter().filter(|one| one.ending().is_none()).filter_map(|one| one.outer);
        outer.find(|outer| is_apart(outer).is_ok_and(|is_apart| is_apart))
    }
}
