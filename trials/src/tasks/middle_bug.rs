//! A bug in the middle of a file of 7 kB; everything around it stays as it is.

use crate::error::TrialError;
use crate::ground::Ground;
use crate::python;
use crate::random::Random;
use crate::trial::{After, Checked, Fact, State, Trial};

pub(super) const TRIAL: Trial = Trial {
    name: "middle-bug",
    state: State::Solvable,
    goal: "parse_duration(\"1h30m\") in units.py returns 1800, it should be 5400. Fix that, and leave everything else in \
           the file as it is.",
    generate,
    check,
};

const FILE: &str = "units.py";
/// Functions before the bug, and as many after it.
const FUNCTIONS: usize = 19;
const UNITS: &[&str] = &[
    "acre", "bar", "barrel", "bushel", "carat", "chain", "cubit", "dram", "ell", "fathom", "furlong", "gill",
    "grain", "hand", "hogshead", "knot", "league", "link", "mile", "ounce", "pace", "peck", "perch", "pint",
    "point", "pole", "pound", "quart", "quire", "ream", "rod", "rood", "scruple", "span", "stone", "therm",
    "ton", "yard",
];

/// The function with the bug: each part overwrites the sum.
const BROKEN: &str = r#"def parse_duration(text):
    """Returns the seconds of a text such as 2h, 45m or 1h30m10s."""
    seconds = {"h": 3600, "m": 60, "s": 1}
    total = 0
    number = ""
    for char in text:
        if char.isdigit():
            number += char
        elif char in seconds and number:
            total = int(number) * seconds[char]
            number = ""
        else:
            raise ValueError(text)
    if number:
        raise ValueError(text)
    return total
"#;

/// Returns the text before the function, and the text after it.
fn around(seed: u64) -> (String, String) {
    let mut random = Random::new(seed);
    let mut functions = random.shuffled(UNITS.to_vec()).into_iter().map(|unit| {
        let (whole, part) = (random.between(1, 900), random.between(10, 99));
        format!(
            "def {unit}s(value):\n    \"\"\"Returns so many {unit}s in the base unit of the trade, rounded to four places at most.\"\"\"\n    \
             factor = {whole}.{part}\n    return round(value * factor, 4)\n\n\n"
        )
    });
    let before: String = functions.by_ref().take(FUNCTIONS).collect();
    let after: String = functions.collect();
    let head = "\"\"\"Units of old trades, and durations.\"\"\"\n\n\n";
    (format!("{head}{before}"), format!("\n\n{}", after.trim_end()) + "\n")
}

fn generate(seed: u64, ground: &mut Ground<'_>) -> Result<(), TrialError> {
    let (before, after) = around(seed);
    ground.file(FILE, &format!("{before}{BROKEN}{after}"))
}

const HIDDEN: &str = r#"
import units
def expect(text, seconds):
    got = units.parse_duration(text)
    return None if got == seconds else f"{text} is {got} and not {seconds}"
@test
def hours_and_minutes(): return expect("1h30m", 5400)
@test
def one_part(): return expect("45m", 2700)
@test
def all_parts(): return expect("2h5m7s", 7507)
@test
def same_unit_twice(): return expect("1m1m", 120)
@test
def nothing(): return expect("", 0)
@test
def nonsense_is_refused():
    for text in ["1x", "h", "12", "1h 2m"]:
        try:
            units.parse_duration(text)
        except ValueError:
            continue
        return f"{text!r} was taken"
"#;

fn check(after: &After<'_>) -> Result<Checked, TrialError> {
    let mut checked = Checked::default();
    after.expect_changed_only(&mut checked, &[FILE]);
    let (head, tail) = around(after.seed);
    let text = after.now.text(FILE).unwrap_or_default();
    let is_kept = text.starts_with(&head) && text.ends_with(&tail);
    checked.fact(is_kept, &["unchanged"], || "what stands around the function changed".to_owned());
    let results = python::expect_all(&mut checked, HIDDEN, after.root)?;
    let holds = results.values().all(Option::is_none);
    checked.facts.push(Fact { holds, words: &["parse_duration", "5400"] });
    Ok(checked)
}
