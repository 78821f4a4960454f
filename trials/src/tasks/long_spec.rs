//! A program to write from a specification of twelve details.

use crate::error::TrialError;
use crate::ground::Ground;
use crate::python;
use crate::random::Random;
use crate::trial::{After, Checked, Fact, State, Trial};

pub(super) const TRIAL: Trial = Trial {
    name: "long-spec",
    state: State::Solvable,
    goal: "write wordstat.py, a program for python3 without other packages:\n\
           1. `python3 wordstat.py FILE` counts the words of FILE.\n\
           2. It prints one line per word: the count, a tab, the word.\n\
           3. The highest count comes first; words with the same count are in alphabetical order.\n\
           4. Words are counted and printed in lower case.\n\
           5. A word consists of the letters a to z; apostrophes inside it belong to it (don't is one word), at its \
           ends they do not.\n\
           6. Digits and everything else separate words.\n\
           7. `--top N` prints only the first N lines.\n\
           8. `--min-length N` leaves out words with fewer than N characters.\n\
           9. `--json` prints one JSON object from word to count instead, in the same order.\n\
           10. Without FILE it reads standard input.\n\
           11. If FILE does not exist it prints `wordstat: FILE: not found` to standard error, with the name as given, and \
           ends with exit code 2.\n\
           12. For an input without words it prints nothing ({} with --json) and ends with exit code 0.\n\
           sample.txt is there to try it with; leave that as it is.",
    generate,
    check,
};

const FILE: &str = "wordstat.py";
const WORDS: &[&str] = &["plum", "Quince", "don't", "it's", "PEAR", "fig", "apple", "7up", "o'clock", "kiwi"];

fn generate(seed: u64, ground: &mut Ground<'_>) -> Result<(), TrialError> {
    let mut random = Random::new(seed);
    let line = |random: &mut Random| (0..9).map(|_| random.pick(WORDS)).collect::<Vec<_>>().join(" ");
    let text: String = (0..8).map(|_| line(&mut random) + ".\n").collect();
    ground.file("sample.txt", &text)
}

const HIDDEN: &str = r#"
import tempfile
def wordstat(text, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text); file.flush()
        return run("wordstat.py", file.name, *options)
def expect(done, out, code=0):
    if done.returncode != code: return f"exit code {done.returncode}: {done.stderr[-120:]}"
    if done.stdout != out: return f"printed {done.stdout!r}, not {out!r}"
@test
def detail_01_counts_a_file(): return expect(wordstat("fig fig fig"), "3\tfig\n")
@test
def detail_02_count_tab_word(): return expect(wordstat("kiwi"), "1\tkiwi\n")
@test
def detail_03_order(): return expect(wordstat("b a c c a b d d d"), "3\td\n2\ta\n2\tb\n2\tc\n")
@test
def detail_04_lower_case(): return expect(wordstat("Fig FIG fig"), "3\tfig\n")
@test
def detail_05_apostrophes(): return expect(wordstat("don't 'don't' dogs' o'clock"), "2\tdon't\n1\tdogs\n1\to'clock\n")
@test
def detail_06_separators(): return expect(wordstat("fig7fig a-b 12 a_b"), "2\ta\n2\tb\n2\tfig\n")
@test
def detail_07_top(): return expect(wordstat("b a c c a b d d d", "--top", "2"), "3\td\n2\ta\n")
@test
def detail_08_min_length(): return expect(wordstat("a bb ccc", "--min-length", "2"), "1\tbb\n1\tccc\n")
@test
def detail_09_json():
    done = wordstat("b a c c", "--json")
    said = json.loads(done.stdout)
    if list(said.items()) != [("c", 2), ("a", 1), ("b", 1)]: return f"printed {done.stdout!r}"
@test
def detail_10_standard_input(): return expect(run("wordstat.py", stdin="fig"), "1\tfig\n")
@test
def detail_11_not_found():
    done = run("wordstat.py", "no such.txt")
    if done.returncode != 2: return f"exit code {done.returncode}"
    if done.stderr.strip() != "wordstat: no such.txt: not found": return f"said {done.stderr!r}"
    if done.stdout: return f"printed {done.stdout!r}"
@test
def detail_12_no_words():
    return expect(wordstat(" 12 \n"), "") or (wordstat("", "--json").stdout.strip() != "{}" and "no {} with --json") or None
"#;

/// The words that identify criteria about the details.
const SAID: [(&str, &[&str]); 8] = [
    ("detail_03", &["alphabetical"]),
    ("detail_04", &["lower case"]),
    ("detail_05", &["apostrophe"]),
    ("detail_07", &["--top"]),
    ("detail_08", &["--min-length"]),
    ("detail_09", &["--json", "order"]),
    ("detail_10", &["standard input"]),
    ("detail_11", &["exit", "2"]),
];

fn check(after: &After<'_>) -> Result<Checked, TrialError> {
    let mut checked = Checked::default();
    let mut changed = after.now.changed_since(after.before);
    // Additional files for trying the program are allowed; the sample and other existing files must stay unchanged.
    changed.retain(|name| after.before.text(name).is_some());
    checked.expect(changed.is_empty(), || format!("changed what was to stay: {}", changed.join(", ")));
    checked.expect(after.now.text(FILE).is_some(), || format!("there is no {FILE}"));
    let results = python::expect_all(&mut checked, HIDDEN, after.root)?;
    for (detail, words) in SAID {
        let holds = results.iter().any(|(name, fault)| name.starts_with(detail) && fault.is_none());
        checked.facts.push(Fact { holds, words });
    }
    Ok(checked)
}
