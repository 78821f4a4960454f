//! Forks and reruns of a recorded task with other controller settings, as named on the command line.

use setpoint_history::History;
use setpoint_history::fork::{BudgetWish, NewFork};
use setpoint_protocol::TaskId;
use setpoint_protocol::replay::Rerun;

use super::{Program, ProgramError, suffix};
use crate::config::{Origin, bare_name, controller_with};

impl Program {
    /// Creates a fork of a task at a record, with other controller settings, whose names are bare or as in the
    /// configuration. The recorded budgets apply unless the command line names others.
    ///
    /// # Errors
    /// When the task is unknown or damaged, or the controller rejects a setting.
    pub fn new_fork(
        &self,
        history: &History,
        from: TaskId,
        at: u64,
        set: &[(String, String)],
    ) -> Result<NewFork, ProgramError> {
        let recorded = history.controller(&from)?;
        let controller = controller_with(&recorded, set).map_err(ProgramError::Settings)?;
        let budgets = self.config.budgets();
        let wishes = [
            ("budgets.calls", BudgetWish::Calls(budgets.calls)),
            ("budgets.tokens", BudgetWish::Tokens(budgets.tokens)),
            ("budgets.money", BudgetWish::Money(budgets.money)),
        ];
        let is_named = |key: &str| matches!(self.config.origin(key), Origin::Flag(_));
        let budgets = wishes.into_iter().filter(|(key, _)| is_named(key)).map(|(_, wish)| wish).collect();
        Ok(NewFork { from, at, controller, budgets, suffix: suffix() })
    }
}

/// Runs a task's controller again under other settings, whose names are bare or as in the configuration.
///
/// # Errors
/// When the task is unknown or damaged, does not replay, or the controller rejects a setting.
pub fn rerun(history: &History, task: &TaskId, set: &[(String, String)]) -> Result<Rerun, ProgramError> {
    let recorded = history.controller(task)?;
    let tried = controller_with(&recorded, set).map_err(ProgramError::Settings)?;
    let names: Vec<&str> = set.iter().map(|(name, _)| bare_name(name)).collect();
    Ok(history.rerun(task, tried, &names)?)
}
