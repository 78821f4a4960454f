//! Completion by the shell: the command line's words, and the ids of existing tasks.

use std::ffi::OsString;

use clap::Command;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};

use super::grammar;

/// The variable with the shell's name, which the shell's script sets when it asks the program for words.
const VARIABLE: &str = "COMPLETE";
/// Name of the program, in the script and in `PATH`.
const PROGRAM: &str = "setpoint";

/// A task that can be named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTask {
    pub id: String,
    /// The task's goal, for shells that show it beside the id.
    pub title: String,
}

/// Prints completions on stdout if a shell asked for them. Returns `false` if none did, so that the program
/// runs as usual.
///
/// `tasks` returns the tasks, newest first, of the data directory that `--data-dir` names in the words typed
/// so far, or else of the usual one. It is called only where the command line takes a task.
///
/// # Errors
/// If the shell is not known, or stdout cannot be written to.
pub fn complete(
    words: impl IntoIterator<Item = OsString>,
    tasks: impl Fn(Option<OsString>) -> Vec<NamedTask> + Send + Sync + 'static,
) -> Result<bool, String> {
    let words: Vec<OsString> = words.into_iter().collect();
    let data_dir = named_data_dir(&words);
    let candidates = ArgValueCandidates::new(move || candidates(tasks(data_dir.clone())));
    let here = std::env::current_dir().ok();
    CompleteEnv::with_factory(|| with_tasks(grammar(), &candidates))
        .var(VARIABLE)
        .completer(PROGRAM)
        .try_complete(words, here.as_deref())
        .map_err(|error| error.to_string())
}

/// Returns the script that makes a shell ask the program for completions.
pub(crate) fn script(shell: Shell) -> std::io::Result<String> {
    let mut text = Vec::new();
    if let Some(known) = Shells::builtins().completer(&shell.to_string()) {
        known.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut text)?;
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    // Bash quotes a completion only if it is declared to be a file name: a file called `a$(b)` would run `b`.
    Ok(text.replace(" -o bashdefault ", " -o bashdefault -o filenames "))
}

fn with_tasks(command: Command, tasks: &ArgValueCandidates) -> Command {
    command
        .mut_args(|arg| match arg.get_id().as_str() {
            "task" | "diff" => arg.add(tasks.clone()),
            _ => arg,
        })
        .mut_subcommands(|sub| with_tasks(sub, tasks))
}

fn candidates(tasks: Vec<NamedTask>) -> Vec<CompletionCandidate> {
    let shown = |(place, task): (usize, NamedTask)| {
        // A title can hold any character that a person typed; a shell's menu has one line for it.
        let title: String = task.title.chars().filter(|c| !c.is_control()).collect();
        CompletionCandidate::new(task.id).help(Some(title.into())).display_order(Some(place))
    };
    tasks.into_iter().enumerate().map(shown).collect()
}

fn named_data_dir(words: &[OsString]) -> Option<OsString> {
    let at = words.iter().position(|word| word == "--data-dir")?;
    words.get(at + 1).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An argument that is renamed would lose its completion, and nothing else would fail.
    #[test]
    fn every_command_that_takes_a_task_completes_it() {
        fn places(command: &Command, path: &str, found: &mut Vec<String>) {
            for arg in command.get_arguments() {
                if arg.get::<ArgValueCandidates>().is_some() {
                    found.push(format!("{path} {}", arg.get_id()));
                }
            }
            for sub in command.get_subcommands() {
                places(sub, &format!("{path} {}", sub.get_name()), found);
            }
        }
        let mut found = Vec::new();
        let none = ArgValueCandidates::new(|| candidates(Vec::new()));
        places(&with_tasks(grammar(), &none), "setpoint", &mut found);
        expect_test::expect![[r#"
            setpoint tasks show task
            setpoint tasks cost task
            setpoint tasks diff task
            setpoint tasks undo task
            setpoint tasks cancel task
            setpoint tasks resume task
            setpoint tasks fork task
            setpoint tasks export task
            setpoint replay task
            setpoint replay diff
            setpoint audit query task"#]]
        .assert_eq(&found.join("\n"));
    }
}
