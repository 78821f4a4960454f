//! The survey before a plan: what is looked up, and how the answer is handled. The embedded brain takes paths from
//! any word of a goal and reads nothing else, so for it exactly the words are looked up.

use setpoint_protocol::record::{Answer, SurveyAsk, SurveyEntry};
use setpoint_protocol::{CallId, RoleId};

use super::history::Task;
use super::phase::{Fx, Next};
use super::runners;

/// At most this many of the person's paths are looked up.
const NAMED_MAX: usize = 20;
/// At most this many words are looked up for the embedded brain.
const WORDS_MAX: usize = 64;
/// Maximum length, in characters, of a path that is looked up.
const PATH_CHARS_MAX: usize = 240;

/// Starts the survey; `None` if the planner reads none.
pub(super) fn look_around(raw_input: &str, fx: &mut Fx<'_>) -> Option<CallId> {
    let planner = fx.ctx.opened.models.of(RoleId::Planner);
    let names_only = planner.takes_any_word;
    let named = if names_only { every_word(raw_input) } else { named(raw_input) };
    (names_only || !planner.is_free).then(|| fx.survey(SurveyAsk { named, names_only }))
}

/// Handles the answer to the survey, and continues to the plan once memory has answered too.
pub(super) fn on_survey(task: &mut Task, answer: Answer, query: Option<CallId>, fx: &Fx<'_>) -> Next {
    if let Answer::Survey(mut found) = answer {
        let all = fx.ctx.opened.models.of(RoleId::Planner).takes_any_word;
        let words = quoted_words(&task.spec.raw_input);
        let entries = std::mem::take(&mut found.entries);
        found.named.retain(|named| {
            let path = named.path.as_str();
            all || named.kind.is_some() || !(words.contains(&path) || is_choice(path, &entries))
        });
        found.entries = entries;
        task.survey = Some(*found);
    }
    Next::plan_when_ready(query, None)
}

/// Returns the distinct names to look up from a text: its paths, the folders that a test runner's command names by a
/// bare word, and bare words in quotes.
fn named(text: &str) -> Vec<String> {
    let words = runners::words(text);
    let runners = runners::named(&words);
    let folders = runners.iter().flat_map(|runner| runner.folders(&words));
    let mut named: Vec<String> = Vec::new();
    for word in paths(text).chain(folders).chain(quoted_words(text)) {
        if named.len() < NAMED_MAX && !named.iter().any(|known| known == word) {
            named.push(word.to_owned());
        }
    }
    named
}

/// Returns everything that could be a path: each word, with its marks and without, and each quoted text.
fn every_word(text: &str) -> Vec<String> {
    let is_quote = |c: char| "\"'`“”‘’".contains(c);
    let is_mark = move |c: char| is_quote(c) || ",;:!?.".contains(c);
    let plain = text.split_whitespace();
    let bare =
        text.split_whitespace().map(|word| word.trim_start_matches(is_quote).trim_end_matches(is_mark));
    let quoted = text.split(['"', '\'', '`', '“', '”']).skip(1).step_by(2);
    let mut words: Vec<String> = Vec::new();
    for word in quoted.chain(bare).chain(plain) {
        let fits = !word.is_empty() && word.chars().count() <= PATH_CHARS_MAX;
        if fits && words.len() < WORDS_MAX && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    words
}

/// Returns the words that contain a slash, a tilde or a point and are not addresses.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |c: char| "\"'`“”«»()[]{}<>,;:!?".contains(c);
    let words =
        text.split(move |c: char| c.is_whitespace() || is_mark(c)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| {
        word.chars().count() <= PATH_CHARS_MAX
            && word.chars().any(char::is_alphanumeric)
            && !word.starts_with("//")
            && !word.contains('@')
            && (word.contains(['/', '~']) || is_file_name(word))
    })
}

/// Returns the bare words in quotes. Such a word may name a file, a function or a person, so it is not reported
/// missing if no file has it.
fn quoted_words(text: &str) -> Vec<&str> {
    let words = runners::words(text);
    let is_bare = |word: &str| {
        word.chars().count() <= PATH_CHARS_MAX
            && word.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
    };
    let alone = words.chunk_by(|a, b| a.quotation == b.quotation).filter_map(|words| match words {
        [word] if word.quotation.is_some() && is_bare(word.text) => Some(word.text),
        _ => None,
    });
    let folders: Vec<&str> =
        runners::named(&words).iter().flat_map(|runner| runner.folders(&words)).collect();
    alone.filter(|word| !folders.contains(word)).collect()
}

/// Returns whether a missing path only looks like one: `true/false`, `client/server`, where no folder has the first
/// name.
fn is_choice(path: &str, entries: &[SurveyEntry]) -> bool {
    let is_word = |text: &str| !text.is_empty() && text.chars().all(char::is_alphabetic);
    path.split_once('/').is_some_and(|(one, other)| {
        let is_below =
            |entry: &SurveyEntry| entry.path.strip_prefix(one).is_some_and(|rest| rest.starts_with('/'));
        is_word(one) && is_word(other) && !entries.iter().any(is_below)
    })
}

/// Returns whether the word has an extension of letters: `main.rs`, but not `3.11`.
fn is_file_name(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && ending.chars().any(char::is_alphabetic)
            && ending.chars().all(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_distinguished_from_other_words() {
        let text = "Fix calc.py (see \"src/my dir\") and tests/, with Python 3.11, then ~/x.txt. Look at \
                    https://a.example/b, mail ada@b.example; and calc.py again. I.e. all.";
        assert_eq!(named(text), ["calc.py", "src/my", "tests/", "~/x.txt", "I.e"]);
        assert_eq!(named(&"a/b1 ".repeat(50)), ["a/b1"]);
        let many: String = (0..50).map(|n| format!("d/{n} ")).collect();
        assert_eq!(named(&many).len(), NAMED_MAX);
    }

    #[test]
    fn bare_words_are_looked_up_where_a_command_or_quotes_name_them() {
        for (text, expected) in [
            ("run python3 -m unittest discover -s tests -v and tell me how many pass", vec!["tests"]),
            ("run `python3 -m unittest discover -s checks`", vec!["checks"]),
            ("run pytest -s and tell me; run pytest spec now", vec!["spec"]),
            ("python3 -m unittest has a failing test. Fix it.", vec![]),
            ("cargo test passes. Say what tests are for", vec![]),
            ("mend `calc` and \"parse_it\", not 'that one'", vec!["calc", "parse_it"]),
            ("it's Ada's: write the tests, please", vec![]),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
        // A word that only may be a file name is not reported as missing.
        assert_eq!(quoted_words("run `pytest tests`, mend `calc`"), ["calc"]);
        assert!(quoted_words("run pytest tests or `tests`").is_empty());
    }

    #[test]
    fn a_choice_of_words_is_not_a_path() {
        let entries = [SurveyEntry { path: "src/".to_owned(), bytes: None }];
        for (path, expected) in [
            ("true/false", true),
            ("and/or", true),
            ("src/missing", false),
            ("tests/", false),
            ("./a", false),
            ("a/b.txt", false),
            ("one/two/three", false),
        ] {
            assert_eq!(is_choice(path, &entries), expected, "{path}");
        }
    }
}
