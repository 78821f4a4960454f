//! Other settings for the controller of a recorded task, as the command line names them.

use setpoint_history::History;
use setpoint_history::fork::{BudgetWish, NewFork};
use setpoint_protocol::TaskId;
use setpoint_protocol::replay::Rerun;

use super::{Program, ProgramError, suffix};
use crate::config::{Origin, bare_name, controller_with};

impl Program {
    /// A fork of a task at a record, with other settings of the controller: names, bare or as in the configuration, with
    /// values. The recorded budgets hold, but for those that the command line names.
    ///
    /// # Errors
    /// An unknown or damaged task, and settings that the controller does not take.
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

/// Runs a task's controller again under other settings: names, bare or as in the configuration, with values.
///
/// # Errors
/// An unknown or damaged task, one that does not replay, and settings that the controller does not take.
pub fn rerun(history: &History, task: &TaskId, set: &[(String, String)]) -> Result<Rerun, ProgramError> {
    let recorded = history.controller(task)?;
    let tried = controller_with(&recorded, set).map_err(ProgramError::Settings)?;
    let names: Vec<&str> = set.iter().map(|(name, _)| bare_name(name)).collect();
    Ok(history.rerun(task, tried, &names)?)
}
