//! Commands that run tests: what they run, and whether that is what was named.

use super::executed::words;
use crate::words::{WordList, word_list};

/// Programs or subcommands that discover and run tests.
const RUNNERS: &[&str] = &[
    "pytest", "py.test", "unittest", "nose2", "tox", "jest", "vitest", "mocha", "ava", "nextest", "rspec",
    "phpunit", "ctest", "bats",
];
/// Words after which a program runs tests: `cargo test`, `go test`, `npm test`, `node --test`.
const RUNS_TESTS: &[&str] = &["test", "--test", "run-tests"];
/// Options of a runner that change what is printed, not what is run.
const VERBOSITY: WordList = word_list!(
    "-v -vv -vvv -q -qq -s -b -x --verbose --quiet --nocapture --no-capture --no-header --no-fail-fast \
     --locked --offline --buffer --exitfirst --ci --"
);
/// The same with a value after `=`, or as the prefix of a short option.
const VERBOSITY_OF: WordList =
    word_list!("--tb= --color --durations --reporter= --reporters= --test-reporter= -ra -rA -rf -rs -count=");
/// Options that change how any program prints, not what it does. Short options are omitted because their meaning
/// differs per program.
const LOOKS: &[&str] = &["--verbose", "--locked", "--offline", "--no-color", "--no-progress"];
const LOOKS_OF: &[&str] = &["--color"];
const MAKE: WordList = word_list!("make gmake");
/// Files that configure or replace the tests that a runner runs, per words of its command.
const SAYS_WHAT_RUNS: &[(WordList, WordList)] = &[
    (word_list!("make gmake"), word_list!("Makefile makefile GNUmakefile")),
    (word_list!("just"), word_list!("justfile Justfile .justfile")),
    (
        word_list!("pytest py.test unittest nose2 tox"),
        word_list!(
            "conftest.py pytest.ini .pytest.ini tox.ini setup.cfg unittest.py pytest.py \
         sitecustomize.py usercustomize.py"
        ),
    ),
    (word_list!("npm npx yarn pnpm node"), word_list!("package.json .npmrc .yarnrc .yarnrc.yml")),
    (word_list!("jest"), word_list!("jest.config.js jest.config.ts jest.config.mjs jest.config.json")),
    (
        word_list!("vitest"),
        word_list!("vitest.config.js vitest.config.ts vitest.config.mts vitest.workspace.ts"),
    ),
    (word_list!("mocha"), word_list!(".mocharc.js .mocharc.json .mocharc.yml")),
];

/// Programs that load Python modules from the working directory before the standard library.
const PYTHON: WordList = word_list!("python python3 pytest py.test unittest nose2 tox");
/// Modules of Python and its runners that a test run loads: a file or folder of this name shadows them.
const LOADED: WordList = word_list!(
    "argparse ast asyncio collections contextlib copy dataclasses difflib enum fnmatch functools gettext \
     importlib inspect io itertools json logging math os pathlib pluggy pprint pytest random re shutil \
     signal site sitecustomize string subprocess sys tempfile threading time token tokenize traceback types \
     typing unittest usercustomize warnings weakref _pytest iniconfig packaging"
);
/// Parts of names that mark a script for examining others.
const EXAMINES: &[&str] =
    &["check", "checks", "ci", "lint", "test", "tests", "validate", "validation", "verify"];

/// Returns whether a file examines others, by its name: a test, or a script such as `run_tests.sh` and `lint.py`.
pub(super) fn is_examiner(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    is_test(path) || name.split(|c: char| !c.is_alphanumeric()).any(|part| EXAMINES.contains(&part))
}

/// Returns whether a command with the words `more` after the named ones still does what was named. The run may not be
/// narrowed: `pytest -k one` is not `pytest`.
pub(super) fn is_same_run(named: &[String], more: &[String], is_test_run: bool) -> bool {
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    if is_test_run || runs_tests(named) {
        let only_looks =
            |word: &String| VERBOSITY.has(word) || VERBOSITY_OF.iter().any(|option| word.starts_with(option));
        return more.iter().all(only_looks);
    }
    let is_jobs = |word: &String| {
        let number = word.strip_prefix("-j").or_else(|| word.strip_prefix("--jobs="));
        named.first().is_some_and(|program| MAKE.has(program))
            && number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    // A commit needs a message, which no criterion names.
    let is_commit = named.iter().map(String::as_str).eq(["git", "commit"]);
    if let (true, [option, _]) = (is_commit, more)
        && is(option, &["-m", "-am", "--message"])
    {
        return true;
    }
    let looks = |word: &String| is(word, LOOKS) || LOOKS_OF.iter().any(|option| word.starts_with(option));
    more.iter().all(|word| looks(word) || is_jobs(word))
}

/// Returns whether the command runs tests.
pub(super) fn runs_tests(command: &[String]) -> bool {
    scope(&command.join(" ")).is_some()
}

/// Returns whether a file configures what the command runs.
pub(super) fn says_what_runs(path: &str, command: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let runs =
        |programs: WordList| words(command).any(|word| programs.has(word.rsplit('/').next().unwrap_or(word)));
    let is_setting = SAYS_WHAT_RUNS.iter().any(|(programs, files)| files.has(name) && runs(*programs));
    // `difflib.py` or `argparse/__init__.py`, anywhere on the command's search path, shadows the real module.
    let is_code = name.ends_with(".py") || name.ends_with(".pyc");
    let is_init = name.starts_with("__init__.") || name.starts_with("__main__.");
    let folder = path.rsplit('/').nth(1).filter(|_| is_init);
    let module = folder.or_else(|| name.split('.').next()).unwrap_or(name);
    is_setting || (is_code && LOADED.has(module) && runs(PYTHON))
}

/// Returns the paths given to a test runner; `None` if the command runs no tests.
pub(super) fn scope(command: &str) -> Option<Vec<String>> {
    let mut is_runner = false;
    let mut scope = Vec::new();
    for word in words(command) {
        let name = word.rsplit('/').next().unwrap_or(word);
        if !is_runner && (RUNNERS.contains(&name) || RUNS_TESTS.contains(&name)) {
            is_runner = true;
        } else if is_runner && !word.starts_with('-') && word.contains(['/', '.']) && !word.contains("...") {
            let path = word.split("::").next().unwrap_or(word).trim_start_matches("./").trim_end_matches('/');
            if !path.is_empty() && path != "." {
                scope.push(path.to_owned());
            }
        }
    }
    is_runner.then_some(scope)
}

/// Returns whether the name is a test's: `test_x.py`, `x_test.go`, `x.spec.ts`, or anything below a folder `tests`.
pub(super) fn is_test(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    let Some(name) = parts.pop() else { return false };
    let stem = name.split('.').next().unwrap_or(name).to_lowercase();
    let is_named = stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || matches!(stem.as_str(), "test" | "tests")
        || name.contains(".test.")
        || name.contains(".spec.");
    // Support files that a runner only loads contain no tests.
    let is_support = matches!(stem.as_str(), "__init__" | "conftest");
    !is_support
        && (is_named || parts.iter().any(|part| matches!(*part, "test" | "tests" | "__tests__" | "spec")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_recognised_by_file_name() {
        for path in
            ["/w/test_a.py", "tests/a.py", "src/a_test.go", "a.spec.ts", "web/__tests__/a.js", "a.test.js"]
        {
            assert!(is_test(path), "{path}");
        }
        for path in [
            "/w/contest.py",
            "tests/__init__.py",
            "tests/conftest.py",
            "attest.rs",
            "latest/a.py",
            "testing.md",
            "",
        ] {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn further_words_may_not_narrow_a_run() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for (named, more, is_run, expected) in [
            ("pytest tests/", "-v --tb=short", true, true),
            ("pytest tests/", "-k one", false, false),
            ("python3 -m unittest", "test_one", false, false),
            ("cargo test", "-- --nocapture", true, true),
            ("cargo test", "-p one", false, false),
            ("./check", "one", true, false),
            ("./check", "one", false, false),
            ("./check", "--quick", false, false),
            ("./check", "--verbose --color=never", false, true),
            ("cmp a b", "-n 0", false, false),
            ("diff -r a b", "--exclude=x", false, false),
            ("make check", "-kn", false, false),
            ("make check", "--dry", false, false),
            ("make check", "SHELL=/bin/true", false, false),
            ("git push origin main", "-n", false, false),
            ("git commit", "--dry-run", false, false),
            ("git commit", "-m one --dry-run", false, false),
            ("make check", "-n", false, false),
            ("make check", "--file=other.mk", false, false),
            ("make check", "-j4", false, true),
            ("git commit", "-m one", false, true),
            ("git merge one", "--dry-run", false, false),
        ] {
            assert_eq!(is_same_run(&words(named), &words(more), is_run), expected, "{named} {more}");
        }
    }

    #[test]
    fn test_configuration_is_recognised_by_file_name() {
        assert!(
            says_what_runs("/w/Makefile", "make check")
                && says_what_runs("conftest.py", "python3 -m pytest -q")
        );
        assert!(says_what_runs("/w/unittest.py", "python3 -m unittest"));
        for (path, command) in [
            ("/w/difflib.py", "python3 -m unittest"),
            ("argparse/__init__.py", "pytest -q"),
            (".pytest.ini", "pytest"),
            ("/w/.npmrc", "npm test"),
        ] {
            assert!(says_what_runs(path, command), "{path}");
        }
        assert!(
            !says_what_runs("/w/difflib.py", "cargo test") && !says_what_runs("/w/src/shop.py", "pytest")
        );
        for (path, expected) in [
            ("run_tests.sh", true),
            ("bin/check", true),
            ("ci.sh", true),
            ("tests/a.py", true),
            ("build.sh", false),
            ("circle.py", false),
        ] {
            assert_eq!(is_examiner(path), expected, "{path}");
        }
        assert!(!says_what_runs("/w/Makefile", "pytest") && !says_what_runs("/w/calc.py", "make"));
    }
}
