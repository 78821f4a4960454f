//! From arguments to an [`Invocation`], or to a [`Refusal`] that says what is wrong with them.

mod audit;
mod complete;
mod grammar;
mod memory;
mod refusal;
mod values;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};
use setpoint_client::models::InitWishes;

pub(crate) use self::complete::script;
pub use self::complete::{NamedTask, complete};
use self::grammar::{ConfigCommand, Grammar, PlaybooksCommand, TasksCommand, Verb};
pub use self::refusal::Refusal;
use crate::invocation::{
    Cassette, Command, Fork, GlobalOptions, Invocation, OwnValue, Replay, Resume, Run, TextSource,
};

/// Tasks that `tasks list` shows when nothing else is said.
pub const TASKS_LISTED: usize = 20;
/// Tasks that `tasks list` can be asked for.
pub const TASKS_LISTED_MAX: usize = 10_000;
/// Records that `memory list` shows when nothing else is said.
pub const RECORDS_LISTED: usize = 20;
/// Records that `memory list` can be asked for.
pub const RECORDS_LISTED_MAX: usize = 10_000;

/// Findings that `audit query` lists when nothing else is said.
pub const FINDINGS_LISTED: usize = 50;

/// Reads the arguments, the program's name first. They need not be UTF-8.
///
/// # Errors
/// A [`Refusal`] when they ask for nothing that the program does, or only for its help or version.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Invocation, Refusal> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let matches =
        grammar().try_get_matches_from(&arguments).map_err(|error| Refusal::of(&error, &arguments))?;
    let grammar = Grammar::from_arg_matches(&matches).map_err(|error| Refusal::of(&error, &arguments))?;
    let Some(verb) = grammar.verb else { return Err(Refusal::bare(grammar.common.json)) };
    let common = grammar.common;
    if given(&arguments, "--set") > common.set.len() {
        return Err(Refusal::apart("--set", common.json));
    }
    let mut global = GlobalOptions {
        is_json: common.json,
        is_verbose: common.verbose,
        is_quiet: common.quiet,
        data_dir: common.data_dir,
        model: common.model,
        set: common.set.into_iter().map(own_value).collect(),
        cassette: None,
        color: common.color,
    };
    let command = command(verb, &mut global);
    Ok(Invocation { global, command })
}

/// What `--set` says.
fn own_value((key, value): (String, String)) -> OwnValue {
    let option = format!("--set {key}");
    OwnValue { key, value, option }
}

/// How often an option is given. Those before the command are not seen when some stand after it, too.
fn given(arguments: &[OsString], option: &str) -> usize {
    let is_option = |argument: &&OsString| {
        let text = argument.to_string_lossy();
        text == option || text.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
    };
    arguments.iter().take_while(|argument| *argument != "--").filter(is_option).count()
}

/// The whole grammar, for completions.
fn grammar() -> clap::Command {
    Grammar::command()
}

fn command(verb: Verb, global: &mut GlobalOptions) -> Command {
    match verb {
        Verb::Run(run) => {
            let settings = [
                ("--time-budget", "controller.time_budget_ms", run.time_budget.map(|ms| ms.to_string())),
                ("--max-replans", "controller.max_replans", run.max_replans.map(|n| n.to_string())),
                ("--max-calls", "budgets.calls", run.max_calls.map(|n| n.to_string())),
                ("--max-tokens", "budgets.tokens", run.max_tokens.map(|n| n.to_string())),
                ("--max-cost", "budgets.money", run.max_cost.map(|amount| amount.to_string())),
            ];
            let own = |(option, key, value): (&str, &str, Option<String>)| {
                Some(OwnValue { key: key.to_owned(), value: value?, option: option.to_owned() })
            };
            global.set.extend(settings.into_iter().filter_map(own));
            global.cassette = match (run.record, run.replay) {
                (Some(file), _) => Some(Cassette::Record(file)),
                (None, Some(file)) => Some(Cassette::Replay(file)),
                (None, None) => None,
            };
            let goal = match (run.file, run.goal.as_slice()) {
                (Some(file), _) => TextSource::File(file),
                (None, [dash]) if dash == "-" => TextSource::Stdin,
                (None, words) => TextSource::Words(words.join(" ")),
            };
            Command::Run(Run {
                goal,
                approve: run.approve,
                is_plan_shown: run.plan,
                is_stream: run.stream,
                is_output_only: run.output_only,
            })
        }
        Verb::Tasks { command } => match command.unwrap_or(TasksCommand::List { open: false, limit: None }) {
            TasksCommand::List { open, limit } => {
                Command::TasksList { is_open_only: open, limit: limit.unwrap_or(TASKS_LISTED) }
            }
            TasksCommand::Show { task, html } => Command::TasksShow { task, html },
            TasksCommand::Cost { task } => Command::TasksCost { task },
            TasksCommand::Cancel { task } => Command::TasksCancel { task },
            TasksCommand::Resume { task, approve, replay, force } => {
                global.cassette = replay.map(Cassette::Replay);
                Command::TasksResume(Resume { task, approve, is_forced: force })
            }
            TasksCommand::Fork { task, at, set: _, approve } => {
                let (set, rest) = std::mem::take(&mut global.set).into_iter().partition(is_of_controller);
                global.set = rest;
                Command::TasksFork(Fork { task, at, set: named(set), approve })
            }
            TasksCommand::Export { task, output } => Command::TasksExport { task, output },
            TasksCommand::Prune(prune) => Command::TasksPrune(prune.asked()),
        },
        Verb::Replay(replay) => {
            // What is set here is tried on the task; it is no configuration of the program.
            let set = named(std::mem::take(&mut global.set));
            Command::Replay(Replay {
                task: replay.task,
                set,
                diff: replay.diff,
                from: replay.from,
                to: replay.to,
                is_stepwise: replay.step,
                has_prompts: replay.prompts,
            })
        }
        Verb::Memory { command } => Command::Memory(memory::command(command.unwrap_or_default())),
        Verb::Audit { command } => Command::Audit(audit::command(command.unwrap_or_default())),
        Verb::Ggs => Command::Ggs,
        Verb::Playbooks { command } => match command {
            None | Some(PlaybooksCommand::List) => Command::PlaybooksList,
            Some(PlaybooksCommand::Show { name }) => Command::PlaybooksShow { name },
            Some(PlaybooksCommand::Check { file }) => Command::PlaybooksCheck { file },
        },
        Verb::Init(init) => Command::Init(InitWishes {
            look_at: init.look_at,
            is_forced: init.force,
            is_shown_only: init.print,
        }),
        Verb::Models { all } => Command::Models { is_all: all },
        Verb::Doctor { model } => {
            // The same option as everywhere, but that its value may be left out.
            global.model = model.clone().filter(|model| !model.is_empty());
            Command::Doctor { has_models: model.is_some() }
        }
        Verb::Config { command } => match command {
            None | Some(ConfigCommand::Show) => Command::ConfigShow,
            Some(ConfigCommand::Path) => Command::ConfigPath,
        },
        Verb::Schema { name, asyncapi } => Command::Schema { name, is_asyncapi: asyncapi },
        Verb::Completions { shell } => Command::Completions { shell },
    }
}

/// Whether a value is one of the controller's: by a bare name, or by its key.
fn is_of_controller(value: &OwnValue) -> bool {
    value.key.starts_with("controller.") || !value.key.contains('.')
}

/// Names with values.
fn named(set: Vec<OwnValue>) -> Vec<(String, String)> {
    set.into_iter().map(|one| (one.key, one.value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_consistent() {
        grammar().debug_assert();
    }
}
