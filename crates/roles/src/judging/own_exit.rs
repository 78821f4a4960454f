//! Programs that the work changed and that tell only by their exit code that all is well.

use setpoint_protocol::message::Criterion;

use super::case::Case;
use super::executed::{names, words};
use super::programs::INTERPRETERS;
use super::self_made::is_touched;
use super::strength::is_about_the_exit_alone;
use crate::words::{WordList, word_list};

/// Shells, which run a file that they are given.
const SHELLS: WordList = word_list!("ash bash dash ksh sh zsh source");
/// Words before a file that is run.
const RUNS: WordList = word_list!("call calls execute executes run running runs");
/// Words after a program that is to end well.
const ENDS_WELL: WordList = word_list!(
    "ends exits ok pass passes passed passing return returns run runs succeed succeeds terminates work works"
);

/// Returns whether a program that the work changed tells by its exit code alone that all is well, and is not what was
/// to be made or mended: `exit 0` in the script with which the person examines the work.
pub(super) fn tells_by_its_own_exit(path: &str, criterion: &Criterion, case: &Case<'_>) -> bool {
    let is_the_exit = criterion.check.as_ref().is_some_and(|check| is_about_the_exit_alone(&check.expect));
    let is_asked_for = || {
        let mut said = [case.words].into_iter().chain(case.runs.iter().map(|run| run.intent));
        said.any(|text| names_as_the_work(text, path) || names_its_package(text, path))
    };
    is_the_exit && is_touched(path, case) && !is_asked_for()
}

/// Returns whether a text names, as the work, the package whose file this is that runs.
pub(super) fn names_its_package(text: &str, path: &str) -> bool {
    path.strip_suffix("/__main__.py").is_some_and(|package| names_as_the_work(text, package))
}

/// Returns whether a text names the file otherwise than as a command: `mend a.sh`, not "`sh a.sh` passes" or "a.sh ends
/// with 0".
fn names_as_the_work(text: &str, path: &str) -> bool {
    let words: Vec<&str> = words(text).filter(|word| !word.is_empty()).collect();
    let is_command = |at: usize| {
        let word = |at: Option<usize>| at.and_then(|at| words.get(at)).copied().unwrap_or_default();
        let (before, word, after) = (word(at.checked_sub(1)), word(Some(at)), word(Some(at + 1)));
        let is_run = RUNS.has(before)
            || INTERPRETERS.contains(&before)
            || SHELLS.has(before)
            || before.starts_with('-');
        is_run || word.starts_with("./") || ENDS_WELL.has(after)
    };
    words.iter().enumerate().any(|(at, word)| names(word, path) && !is_command(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_as_the_work_or_as_a_command() {
        for text in ["mend a.sh so that it passes", "write a.sh", "a crash in src/a.sh", "`a.sh`: mend it"] {
            assert!(names_as_the_work(text, "/w/src/a.sh"), "{text}");
        }
        for text in [
            "`sh a.sh` passes",
            "mend the data so that a.sh passes",
            "make ./a.sh happy",
            "until bash -e a.sh is green",
            "run a.sh",
            "b.sh",
            "",
        ] {
            assert!(!names_as_the_work(text, "/w/src/a.sh"), "{text}");
        }
        for (text, is_named) in [("mend the package pkg", true), ("`python3 -m pkg` ends with 0", false)] {
            assert_eq!(names_its_package(text, "/w/pkg/__main__.py"), is_named, "{text}");
        }
    }
}
