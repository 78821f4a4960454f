//! Forks and reruns of a recorded task with other controller settings, as named on the command line.

use setpoint_history::History;
use setpoint_history::fork::{BudgetWish, NewFork};
use setpoint_protocol::TaskId;
use setpoint_protocol::replay::Rerun;

use super::{Program, ProgramError, suffix};
use crate::config::{Config, Origin, bare_name, controller_with};

impl Program {
    /// Creates a fork of a task at a record, with other controller settings, whose names are bare or as in the
    /// configuration. The recorded budgets apply unless the command line names others.
    ///
    /// # Errors
    /// If the task is unknown or damaged, or the controller rejects a setting.
    pub fn new_fork(
        &self,
        history: &History,
        from: TaskId,
        at: u64,
        set: &[(String, String)],
    ) -> Result<NewFork, ProgramError> {
        let recorded = history.controller(&from)?;
        let controller = controller_with(&recorded, set).map_err(ProgramError::Settings)?;
        let budgets = wishes(&self.config);
        Ok(NewFork { from, at, controller, budgets, suffix: suffix() })
    }
}

/// Returns the budgets that the command line names; what a file says is for new tasks.
fn wishes(config: &Config) -> Vec<BudgetWish> {
    let budgets = config.budgets();
    let wishes = [
        ("budgets.calls", BudgetWish::Calls(budgets.calls)),
        ("budgets.tokens", BudgetWish::Tokens(budgets.tokens)),
        ("budgets.money", BudgetWish::Money(budgets.money)),
    ];
    let is_named = |key: &str| matches!(config.origin(key), Origin::Flag(_));
    wishes.into_iter().filter(|(key, _)| is_named(key)).map(|(_, wish)| wish).collect()
}

/// Runs a task's controller again under other settings, whose names are bare or as in the configuration.
///
/// # Errors
/// If the task is unknown or damaged, does not replay, or the controller rejects a setting.
pub fn rerun(history: &History, task: &TaskId, set: &[(String, String)]) -> Result<Rerun, ProgramError> {
    let recorded = history.controller(task)?;
    let tried = controller_with(&recorded, set).map_err(ProgramError::Settings)?;
    let names: Vec<&str> = set.iter().map(|(name, _)| bare_name(name)).collect();
    Ok(history.rerun(task, tried, &names)?)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::BufReader;
    use std::sync::Arc;

    use setpoint_history::import::take_in;
    use setpoint_protocol::message::{EndedBy, MacroState};
    use setpoint_protocol::money::Money;
    use setpoint_protocol::replay::{Decided, PartingKind};
    use setpoint_protocol::topology::Payload;
    use setpoint_roles::factory::Roles;
    use setpoint_tools::{Host, Registry};

    use super::*;
    use crate::config::Sources;
    use crate::{Error, ErrorKind};

    /// Returns the history of an exported task: those of the net that holds the formats.
    fn exported(name: &str) -> (History, TaskId) {
        let path = format!("{}/../cli/tests/net/tasks/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let file = BufReader::new(File::open(path).unwrap());
        let (journal, task) = take_in(file, &setpoint_mkct::slug).unwrap();
        let reader = Arc::new(Registry::built_in(&Host::new("linux", [])));
        (History::new(journal, Arc::new(Roles::new(reader))), task)
    }

    #[test]
    fn only_the_command_line_names_budgets_of_a_fork() {
        let file = std::path::PathBuf::from("setpoint.toml");
        let wished = |set: &[(&str, &str)]| {
            let flag = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned(), String::new());
            wishes(
                &Config::load(&Sources {
                    texts: [(file.clone(), "[budgets]\ncalls = 3\n".to_owned())].into(),
                    files: vec![file.clone()],
                    flags: set.iter().map(flag).collect(),
                    ..Sources::default()
                })
                .unwrap(),
            )
        };
        assert_eq!(wished(&[]), []);
        let half = Money::of_units(0.5);
        assert_eq!(
            wished(&[("budgets.money", "0.5"), ("budgets.calls", "50")]),
            [BudgetWish::Calls(Some(50)), BudgetWish::Money(half)]
        );
        assert_eq!(wished(&[("budgets.tokens", "")]), [BudgetWish::Tokens(None)]);
    }

    fn tried(name: &str, set: &str) -> Result<Rerun, ProgramError> {
        let (history, task) = exported(name);
        let pair = |one: &str| one.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        let set: Vec<_> = set.split(' ').filter_map(pair).collect();
        rerun(&history, &task, &set)
    }

    /// The recorded decisions are those of the records, and the same settings decide the same.
    #[test]
    fn recorded_decisions_are_those_of_the_records() {
        let (history, task) = exported("accepted-in-four-rounds");
        let records = history.records(&task).unwrap();
        let decided = records.iter().filter_map(|record| match record.message()? {
            Payload::PlanDirective(it) => Some((it.loss, it.grad_l, MacroState::from(it.directive))),
            Payload::FinalResult(it) => Some((it.loss, it.grad_l, MacroState::from(it.directive))),
            _ => None,
        });
        let same = tried("accepted-in-four-rounds", "delta=0.31").unwrap();
        let recorded: Vec<&Decided> =
            same.rounds.iter().filter_map(|round| round.recorded.as_ref()).collect();
        assert_eq!(recorded.len(), 4);
        assert!(decided.eq(recorded.iter().map(|one| (one.loss, one.grad_l, one.decision))));
        assert!(same.rounds.iter().all(|round| round.tried == round.recorded), "{same:#?}");
        assert_eq!(same.parting, None);
    }

    #[test]
    fn other_settings_show_the_first_different_decision() {
        for (set, expected) in [
            ("controller.delta=0.5", "3 Ends success distance"),
            ("theta=0.3", "2 Ends abandon omega"),
            ("law2_rounds=1 theta=1", "2 Ends abandon law2"),
            ("epsilon=1", "2 Direction break_symmetry -"),
            ("urgency=sets", "2 Manner change_approach -"),
        ] {
            let tried = tried("accepted-in-four-rounds", set).unwrap();
            let parting = tried.parting.unwrap();
            let (before, after) = tried.rounds.split_at(parting.round as usize);
            assert!(after.iter().all(|round| round.tried.is_none() && round.recorded.is_some()), "{set}");
            let would = before.last().unwrap().tried.as_ref().unwrap();
            let ended_by = would.ended_by.map_or("-", EndedBy::name);
            let told = format!("{} {:?} {} {ended_by}", parting.round, parting.kind, would.decision.name());
            assert_eq!(told, expected, "{set}");
        }
    }

    #[test]
    fn a_controller_that_would_have_gone_on_is_reported() {
        let parting = |name: &str, set: &str| tried(name, set).unwrap().parting.map(|at| (at.round, at.kind));
        assert_eq!(parting("gaps-distance", "delta=0.1"), Some((1, PartingKind::GoesOn)));
        assert_eq!(parting("given-up-omega", "delta=0.1"), None);
        let goes_on = tried("given-up-omega", "max_replans=5").unwrap();
        assert_eq!(goes_on.parting.map(|at| at.kind), Some(PartingKind::GoesOn));
        let last = goes_on.rounds.last().unwrap();
        let ended_by = |decided: &Option<Decided>| decided.as_ref().and_then(|one| one.ended_by);
        assert_eq!((ended_by(&last.recorded), ended_by(&last.tried)), (Some(EndedBy::Omega), None));
    }

    #[test]
    fn settings_that_the_controller_does_not_take_are_usage_errors() {
        for (set, told) in [
            ("foo=1", "the controller's settings are law, alpha, beta"),
            ("models.brain=x", "the controller's settings are law, alpha, beta"),
            ("delta=2", "it must be from 0 to 0.999"),
            ("delta=nan", "it must be a finite number"),
            ("max_replans=-1", "it must be a whole number"),
            ("law=naive", "it must be one of reference"),
            ("law2_gradient=up", "it must be one of full, net"),
            ("urgency=", "it must be one of words, sets"),
        ] {
            let error = Error::from(tried("accepted-in-four-rounds", set).unwrap_err());
            assert!(error.kind == ErrorKind::Usage && error.message.contains(told), "{set}: {error:?}");
        }
    }
}
