//! Two sub-tasks whose results do not simply add up: joining them naively counts customers twice.

use std::collections::BTreeSet;

use crate::error::TrialError;
use crate::ground::Ground;
use crate::random::Random;
use crate::trial::{After, Checked, Fact, State, Trial};

pub(super) const TRIAL: Trial = Trial {
    name: "merged-lists",
    state: State::Recoverable,
    goal: "north.txt and south.txt list the customers of two shops, a name per line. Clean each of them into \
           north-clean.txt and south-clean.txt: no blanks at the ends of lines, no empty lines, no name twice, sorted. Then \
           write customers.txt with the customers of both shops together, each once and sorted, and tell me how many there \
           are.",
    generate,
    check,
};

const FIRST: &[&str] = &["Ada", "Bela", "Cem", "Dora", "Emil", "Fritz", "Gesa", "Hugo", "Ines", "Jonas"];
const LAST: &[&str] = &["Amsel", "Brook", "Clay", "Dorn", "Esch"];
/// Names that both shops have.
const SHARED: usize = 6;

/// Returns the names of both shops, clean.
fn names(seed: u64) -> [BTreeSet<String>; 2] {
    let mut random = Random::new(seed);
    let all = LAST.iter().flat_map(|last| FIRST.iter().map(move |first| format!("{first} {last}"))).collect();
    let all = random.shuffled(all);
    let part = |from: usize, to: usize| all.iter().skip(from).take(to - from).cloned().collect();
    [part(0, 16), part(16 - SHARED, 29)]
}

/// Returns a shop's names as in its file: in any order, some twice, with blanks and empty lines.
fn untidy(seed: u64, names: &BTreeSet<String>) -> String {
    let mut random = Random::new(seed);
    let twice: Vec<String> = names.iter().take(4).cloned().collect();
    let lines = random.shuffled(names.iter().cloned().chain(twice).collect());
    let line = |(n, name): (usize, &String)| match n % 5 {
        1 => format!("  {name}\n"),
        3 => format!("{name}  \n\n"),
        _ => format!("{name}\n"),
    };
    lines.iter().enumerate().map(line).collect()
}

fn tidy<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let sorted: BTreeSet<&String> = names.into_iter().collect();
    sorted.into_iter().map(|name| format!("{name}\n")).collect()
}

fn generate(seed: u64, ground: &mut Ground<'_>) -> Result<(), TrialError> {
    let [north, south] = names(seed);
    ground.file("north.txt", &untidy(seed, &north))?;
    ground.file("south.txt", &untidy(seed + 1, &south))
}

fn check(after: &After<'_>) -> Result<Checked, TrialError> {
    let [north, south] = names(after.seed);
    let whole = tidy(north.iter().chain(&south));
    let mut checked = Checked::default();
    after.expect_changed_only(&mut checked, &["north-clean.txt", "south-clean.txt", "customers.txt"]);
    let has = |name: &str, text: &str| after.now.text(name).map(str::trim_end) == Some(text.trim_end());
    let parts = [("north-clean.txt", tidy(&north)), ("south-clean.txt", tidy(&south))];
    for (name, text) in &parts {
        checked.expect(has(name, text), || format!("{name} is not the clean list"));
    }
    let holds = has("customers.txt", &whole);
    checked.fact(holds, &["customers.txt"], || "customers.txt is not the list of both".to_owned());
    checked.facts.push(Fact { holds, words: &["both", "sorted"] });
    after.expect_said(&mut checked, &whole.lines().count().to_string());
    Ok(checked)
}
