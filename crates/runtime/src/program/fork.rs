//! What is said of a fork where the program is started.

use setpoint_protocol::TaskId;

use super::{Program, suffix};
use crate::config::Origin;
use crate::time_travel::fork::{BudgetWish, NewFork};

impl Program {
    /// A fork of a task at a record, with other settings of the controller. The recorded budgets hold, but for those that
    /// the command line names.
    #[must_use]
    pub fn new_fork(&self, from: TaskId, at: u64, set: Vec<(String, String)>) -> NewFork {
        let budgets = self.config.budgets();
        let wishes = [
            ("budgets.calls", BudgetWish::Calls(budgets.calls)),
            ("budgets.tokens", BudgetWish::Tokens(budgets.tokens)),
            ("budgets.money", BudgetWish::Money(budgets.money)),
        ];
        let is_named = |key: &str| matches!(self.config.origin(key), Origin::Flag(_));
        let budgets = wishes.into_iter().filter(|(key, _)| is_named(key)).map(|(_, wish)| wish).collect();
        NewFork { from, at, set, budgets, suffix: suffix() }
    }
}
