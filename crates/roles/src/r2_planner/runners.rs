//! Finds commands of test runners in a person's words, and whether they ask for a run. It goes by words alone; what
//! it does not recognise is left to the plan.

use std::ops::Range;

use crate::words::{WordList, word_list};

/// A command that runs tests.
#[derive(Debug)]
pub(super) struct Runner {
    /// Its words. A launcher may precede them: `python3`, `uv run`, a folder.
    words: &'static [&'static str],
    /// Whether `test_run` parses its output completely; false for a command that runs whatever runner a project has.
    pub(super) is_read: bool,
}

const fn read(words: &'static [&'static str]) -> Runner {
    Runner { words, is_read: true }
}

const fn other(words: &'static [&'static str]) -> Runner {
    Runner { words, is_read: false }
}

const RUNNERS: &[Runner] = &[
    read(&["pytest"]),
    read(&["py.test"]),
    read(&["-m", "unittest"]),
    read(&["cargo", "test"]),
    read(&["cargo", "nextest"]),
    read(&["go", "test"]),
    read(&["jest"]),
    read(&["vitest"]),
    read(&["node", "--test"]),
    other(&["tox"]),
    other(&["nox"]),
    other(&["npm", "test"]),
    other(&["npm", "run", "test"]),
    other(&["yarn", "test"]),
    other(&["yarn", "run", "test"]),
    other(&["pnpm", "test"]),
    other(&["pnpm", "run", "test"]),
    other(&["bun", "test"]),
    other(&["make", "test"]),
    other(&["make", "check"]),
    other(&["just", "test"]),
];
/// Runners whose first word is also an English word: `make test files`.
const ENGLISH: WordList = word_list!("go make just");
/// Words that ask to run what follows them.
const RUN: WordList =
    word_list!("run rerun re-run running execute executing führe lass lance exécute ejecuta corre esegui");
/// Programs that have a subcommand `run`.
const RUN_OF: WordList =
    word_list!("uv poetry pipenv hatch pdm pixi conda coverage npm pnpm yarn bun docker");
/// Other words that precede a runner in a command.
const LAUNCHERS: WordList = word_list!("run exec npx bunx");
/// Words that negate a request.
const REFRAIN: WordList = word_list!("not don't don’t never without how no nicht nie ohne ne sans sin");
/// Words that, after one of `RUN`, start another clause than the runner's.
const AND: WordList = word_list!("and then or but und et y");
/// Words that ask for what a later word of `PASS` says.
const WANT: WordList = word_list!(
    "make so that until till get ensure sure keep see let must should to shall needs again damit bis"
);
/// Words for a run without failures.
const PASS: WordList = word_list!("pass passes passing green succeed succeeds grün passe pase");
/// Words for a run with failures.
const FAIL: WordList = word_list!("fail fails failing failed red broken breaks");
/// Words that ask to fix failures.
const MEND: WordList = word_list!("fix mend repair correct solve behebe repariere corrige");
/// Options that take a folder, by the last word of their runner.
const FOLDER_OPTIONS: &[(&str, &str)] = &[
    ("unittest", "-s"),
    ("unittest", "-t"),
    ("unittest", "--start-directory"),
    ("unittest", "--top-level-directory"),
    ("pytest", "--rootdir"),
    ("jest", "--rootDir"),
    ("vitest", "--dir"),
    ("vitest", "--root"),
];
/// Names of test folders.
const TEST_FOLDERS: &[&str] = &["test", "tests", "spec", "specs", "__tests__"];
/// At most this many words before a runner are searched for one of `RUN`.
const BEFORE_MAX: usize = 6;
/// At most this many words after a runner are searched for its arguments or the expected result.
const AFTER_MAX: usize = 10;
/// At most this many words before one of `RUN` are searched for one of `REFRAIN`.
const REFRAIN_MAX: usize = 3;
/// Pairs of quotation marks.
const QUOTES: [(char, char); 5] = [('`', '`'), ('"', '"'), ('“', '”'), ('«', '»'), ('\'', '\'')];

/// A word of a text.
#[derive(Debug)]
pub(super) struct Word<'t> {
    /// Word without the marks around it.
    pub(super) text: &'t str,
    /// Number of the quotation that contains it.
    pub(super) quotation: Option<usize>,
    /// Whether a sentence ends with it.
    is_last: bool,
    /// Whether the text has it as it is here, right after the word before it: no mark is left out but those of a
    /// sentence, outside quotations.
    is_whole: bool,
}

/// A runner found in a text.
#[derive(Debug)]
pub(super) struct NamedRunner {
    pub(super) runner: &'static Runner,
    /// Indexes of its words.
    at: Range<usize>,
}

/// A test run that a person asks for.
#[derive(Debug)]
pub(super) struct RequestedTestRun {
    /// Command, as a check may name it.
    pub(super) command: String,
    pub(super) runner: &'static Runner,
    /// Whether it must end without failures; otherwise a failing run is an answer too.
    pub(super) must_pass: bool,
}

/// Splits a text into words, each with the quotation that contains it.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let (mut quotations, mut closing) = (0, None);
    let mut is_next = true;
    let mut start = 0;
    let mut chars = text.char_indices().chain(std::iter::once((text.len(), ' '))).peekable();
    while let Some((at, c)) = chars.next() {
        let closes = closing == Some(c);
        let opens = closing.is_none().then(|| QUOTES.iter().find(|(open, _)| *open == c)).flatten();
        // An apostrophe is inside a word or at its end.
        let is_inside = |next: &(usize, char)| next.1.is_alphanumeric();
        let is_apostrophe =
            c == '\'' && if closes { chars.peek().is_some_and(is_inside) } else { start != at };
        if !c.is_whitespace() && (is_apostrophe || !(closes || opens.is_some())) {
            continue;
        }
        let raw = text.get(start..at).unwrap_or_default();
        let bare = raw.trim_matches(|c: char| "'’,;:!?()[]{}<>".contains(c)).trim_end_matches('.');
        if bare.chars().any(char::is_alphanumeric) {
            let is_last = raw.ends_with(['.', '!', '?']);
            let is_mark = |c: char| closing.is_none() && ".,;:!?".contains(c);
            let is_whole = is_next && raw.strip_prefix(bare).is_some_and(|rest| rest.chars().all(is_mark));
            words.push(Word { text: bare, quotation: closing.map(|_| quotations), is_last, is_whole });
            is_next = true;
        } else if !raw.is_empty() {
            is_next = false;
        }
        start = at + c.len_utf8();
        if closes {
            closing = None;
        } else if let Some((_, close)) = opens {
            closing = Some(*close);
            quotations += 1;
        }
    }
    words
}

/// Returns the runners whose commands are in a text, in order.
pub(super) fn named(words: &[Word<'_>]) -> Vec<NamedRunner> {
    let begins = |at: usize| {
        RUNNERS.iter().find(|runner| {
            let these = words.get(at..at + runner.words.len()).unwrap_or_default();
            is_runner(these.iter().map(|word| word.text), runner)
                && these.iter().all(|word| Some(word.quotation) == these.first().map(|first| first.quotation))
        })
    };
    let found = (0..words.len()).filter_map(|at| begins(at).map(|runner| (at, runner)));
    found.map(|(at, runner)| NamedRunner { runner, at: at..at + runner.words.len() }).collect()
}

/// Returns the test runs that a person asks for, at most one per runner.
pub(super) fn asked(text: &str) -> Vec<RequestedTestRun> {
    let words = words(text);
    let mut asked: Vec<RequestedTestRun> = Vec::new();
    for named in named(&words) {
        let must_pass = named.is_to_pass(&words);
        if !must_pass && !named.is_to_be_run(&words) {
            continue;
        }
        match asked.iter_mut().find(|known| std::ptr::eq(known.runner, named.runner)) {
            Some(known) => known.must_pass |= must_pass,
            None => {
                let command = named.command(&words);
                asked.push(RequestedTestRun { command, runner: named.runner, must_pass });
            }
        }
    }
    asked
}

impl Runner {
    /// Returns whether a command, in normal form, runs it.
    pub(super) fn is_in(&self, command: &str) -> bool {
        let words: Vec<&str> =
            command.split_whitespace().map(|word| word.trim_matches(['\'', '"'])).collect();
        words.windows(self.words.len()).any(|these| is_runner(these.iter().copied(), self))
    }
}

impl NamedRunner {
    /// Returns the folders that its arguments name by a bare word: the value of a folder option, or a usual name of a
    /// test folder, before the first word that belongs to the sentence.
    pub(super) fn folders<'w, 't>(&self, words: &'w [Word<'t>]) -> impl Iterator<Item = &'t str> + 'w {
        let arguments = self.arguments(words);
        let own = self.runner.words.last().copied().unwrap_or_default();
        let is_value = |at: usize| {
            at.checked_sub(1)
                .and_then(|at| arguments.get(at))
                .is_some_and(|option| FOLDER_OPTIONS.contains(&(own, option.text)))
        };
        let is_folder = move |at: usize, word: &Word<'_>| is_value(at) || TEST_FOLDERS.contains(&word.text);
        let is_argument = |word: &Word<'_>| {
            word.text.starts_with('-') || word.text.contains(['/', '.']) || word.text == "discover"
        };
        let sentence =
            arguments.iter().enumerate().find(|(at, word)| !is_argument(word) && !is_folder(*at, word));
        let end = sentence.map_or(arguments.len(), |(at, _)| at);
        let own = arguments.iter().enumerate().take(end);
        own.filter(move |(at, word)| is_folder(*at, word)).map(|(_, word)| word.text)
    }

    /// Returns the words after it that may be its arguments: up to the end of the sentence or of its quotation.
    fn arguments<'w, 't>(&self, words: &'w [Word<'t>]) -> &'w [Word<'t>] {
        let quotation = self.quotation(words);
        let after = self.after(words);
        let end = after.iter().position(|word| word.quotation != quotation).unwrap_or(after.len());
        after.get(..end).unwrap_or_default()
    }

    /// Returns the command as the person wrote it, if it is quoted and holds nothing but words: `uv run pytest -q`. Of any
    /// other text, returns the runner's words with the program and options that start it and the files and folders that
    /// follow.
    fn command(&self, words: &[Word<'_>]) -> String {
        let range = self.quoted(words).unwrap_or_else(|| self.start(words)..self.end(words));
        let command = words.get(range).unwrap_or_default();
        command.iter().map(|word| word.text).collect::<Vec<_>>().join(" ")
    }

    /// Returns the words of its quotation, if they are a command that runs it.
    fn quoted(&self, words: &[Word<'_>]) -> Option<Range<usize>> {
        let own = self.quotation(words)?;
        let is_own = |word: &Word<'_>| word.quotation == Some(own);
        let start = words.iter().position(is_own)?;
        let end = start + words.get(start..)?.iter().take_while(|word| is_own(word)).count();
        let is_launcher = |word: &Word<'_>| {
            word.text.starts_with('-')
                || word.text.starts_with("python")
                || LAUNCHERS.has(word.text)
                || RUN_OF.has(word.text)
        };
        let is_command = words.get(start..self.at.start)?.iter().all(is_launcher)
            && words.get(start..end)?.iter().all(|word| word.is_whole);
        is_command.then_some(start..end)
    }

    /// Returns where the program and options before it start: `python3 -m pytest`.
    fn start(&self, words: &[Word<'_>]) -> usize {
        let is_option = |at: usize| words.get(at).is_some_and(|word| word.text.starts_with('-'));
        let own = self.quotation(words);
        let mut start = self.at.start;
        while let Some(before) = start.checked_sub(1)
            && (is_option(start) || is_option(before))
            && words.get(before).is_some_and(|word| word.quotation == own && !word.is_last)
        {
            start = before;
        }
        start
    }

    /// Returns where the files and folders end that follow it outside a quotation.
    fn end(&self, words: &[Word<'_>]) -> usize {
        let is_outside = self.quotation(words).is_none();
        let is_path = |word: &Word<'_>| !word.text.starts_with('-') && word.text.contains(['/', '.']);
        let more = self.arguments(words).iter().take_while(|word| word.is_whole && is_path(word));
        self.at.end + if is_outside { more.count() } else { 0 }
    }

    fn quotation(&self, words: &[Word<'_>]) -> Option<usize> {
        words.get(self.at.start).and_then(|word| word.quotation)
    }

    /// Returns whether it may be plain English instead.
    fn is_english(&self, words: &[Word<'_>]) -> bool {
        self.quotation(words).is_none() && self.runner.words.first().is_some_and(|first| ENGLISH.has(first))
    }

    /// Returns the words before it in its sentence, nearest last.
    fn before<'w, 't>(&self, words: &'w [Word<'t>], most: usize) -> &'w [Word<'t>] {
        let before = words.get(self.at.start.saturating_sub(most)..self.at.start).unwrap_or_default();
        let start = before.iter().rposition(|word| word.is_last).map_or(0, |at| at + 1);
        before.get(start..).unwrap_or_default()
    }

    /// Returns the words after it in its sentence.
    fn after<'w, 't>(&self, words: &'w [Word<'t>]) -> &'w [Word<'t>] {
        let is_end = self.at.end.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|word| word.is_last);
        let most = if is_end { 0 } else { AFTER_MAX };
        let after = words.get(self.at.end..words.len().min(self.at.end + most)).unwrap_or_default();
        let end = after.iter().position(|word| word.is_last).map_or(after.len(), |at| at + 1);
        after.get(..end).unwrap_or_default()
    }

    /// Returns whether a word before it asks to run it.
    fn is_to_be_run(&self, words: &[Word<'_>]) -> bool {
        let before = self.before(words, BEFORE_MAX + REFRAIN_MAX);
        let own = self.quotation(words);
        let is_verb = |at: usize| {
            let program = at.checked_sub(1).and_then(|at| before.get(at));
            before
                .get(at)
                .is_some_and(|word| is_one_of(word, RUN) && (own.is_none() || word.quotation != own))
                && !program.is_some_and(|word| is_one_of(word, RUN_OF))
        };
        let nearest = before.len().saturating_sub(BEFORE_MAX)..before.len();
        let Some(verb) = nearest.rev().find(|at| is_verb(*at)) else { return false };
        let (ahead, between) = before.split_at(verb);
        let refrains = ahead.iter().rev().take(REFRAIN_MAX).any(|word| is_one_of(word, REFRAIN));
        let is_other = between.iter().any(|word| is_one_of(word, AND)) && self.is_english(words);
        let is_near = !self.is_english(words) || between.len() <= 2;
        !refrains && !is_other && is_near
    }

    /// Returns whether the sentence asks for a successful run, or reports failures that the text asks to fix.
    fn is_to_pass(&self, words: &[Word<'_>]) -> bool {
        if self.is_english(words) {
            return false;
        }
        let own = self.quotation(words);
        let is_said = |word: &&Word<'_>| own.is_none() || word.quotation != own;
        let after = self.after(words);
        let says = |list: WordList| after.iter().filter(is_said).position(|word| is_one_of(word, list));
        let wants = |upto: usize| {
            let before = self.before(words, AFTER_MAX).iter();
            before.chain(after.iter().filter(is_said).take(upto)).any(|word| is_one_of(word, WANT))
        };
        says(PASS).is_some_and(wants)
            || (says(FAIL).is_some() && words.iter().filter(is_said).any(|word| is_one_of(word, MEND)))
    }
}

fn is_one_of(word: &Word<'_>, list: WordList) -> bool {
    list.has(&word.text.to_lowercase())
}

/// Returns whether these words are the runner's; its program may have a folder before it.
fn is_runner<'a>(words: impl Iterator<Item = &'a str>, runner: &Runner) -> bool {
    let mut words = words.enumerate().map(|(at, word)| match at {
        0 => word.rsplit('/').next().unwrap_or(word),
        _ => word,
    });
    runner.words.iter().all(|own| words.next() == Some(*own))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<String> {
        asked(text).into_iter().map(|asked| asked.command).collect()
    }

    #[test]
    fn a_requested_test_run_is_found() {
        for (text, command) in [
            ("run python3 -m unittest discover -s tests -v and tell me how many pass", "python3 -m unittest"),
            ("python3 -m unittest has a failing test. Find out why and fix it.", "python3 -m unittest"),
            ("Fix calc.py so that `pytest tests/` is green", "pytest tests/"),
            ("Run the command `uv run pytest -q`.", "uv run pytest -q"),
            ("`python3 -m unittest test_stat2` must pass", "python3 -m unittest test_stat2"),
            ("make `cd sub && pytest -q` pass", "pytest"),
            ("run `pytest 'a b'`", "pytest"),
            ("run pytest tests/unit and say what fails", "pytest tests/unit"),
            ("run pytest tests/unit.", "pytest tests/unit"),
            ("Mend it. Then run black and pytest", "pytest"),
            ("run `make test` please", "make test"),
            ("run make test", "make test"),
            ("it's Ada's: run 'pytest -q'", "pytest -q"),
            ("work until cargo test passes", "cargo test"),
            ("please execute:\n```\nnode --test\n```\n", "node --test"),
            ("`npm test` must succeed", "npm test"),
            ("Führe venv/bin/pytest aus", "venv/bin/pytest"),
            ("run cargo nextest run -p a", "cargo nextest"),
            ("run python3 -m pytest -x", "python3 -m pytest"),
        ] {
            assert_eq!(commands(text), [command], "{text}");
        }
        assert_eq!(commands("run pytest, run pytest again and run `cargo test`"), ["pytest", "cargo test"]);
    }

    #[test]
    fn a_failing_run_does_not_do_where_it_must_pass() {
        for (text, must_pass) in [
            ("run pytest and say how many fail", false),
            ("run pytest until it passes", true),
            ("run pytest. Then see that pytest passes", true),
            ("`pytest` fails; mend that", true),
        ] {
            let asked = asked(text);
            assert_eq!((asked.len(), asked[0].must_pass), (1, must_pass), "{text}");
        }
    }

    #[test]
    fn a_runner_that_is_only_mentioned_is_ignored() {
        for text in [
            "find `run pytest` in the docs",
            "find \"run pytest\" in docs and say where",
            "find 'run pytest' in the users' docs",
            "don't you run pytest",
            "write into README.md how to run pytest",
            "do not run pytest; fix the typo",
            "mend it without running cargo test",
            "add pytest to requirements.txt",
            "replace nose with pytest and use pytest fixtures",
            "explain why cargo test is slow",
            "run the server and go test it by hand",
            "make test files for a and b. Run nothing.",
            "document `uv run pytest` in README.md",
            "say which of the tests in tests/ pass",
            "pytest passes at v1.0. Which tag came next?",
            "run it.\nPytest is not needed",
            "",
        ] {
            assert_eq!(commands(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_command_runs_a_runner_by_its_words() {
        let of = |text: &str| asked(text).into_iter().next().unwrap().runner;
        let unittest = of("run python3 -m unittest");
        assert!(unittest.is_in("python3 -m unittest discover -s tests") && unittest.is_in("'-m' unittest"));
        assert!(!unittest.is_in("python3 -m pytest") && !unittest.is_in("unittest") && !unittest.is_in(""));
        assert!(of("run pytest").is_in("/usr/bin/pytest tests"));
        assert!(of("run pytest").is_read && !of("run `make test`").is_read);
    }
}
