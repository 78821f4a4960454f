//! Commands with which people and models look around: hardly any asks, and each prints the same as in plain bash.

use crate::bash;
use crate::corpus;
use crate::gate::{Gate, Outcome};
use crate::workers;
use crate::world::Template;

const LOOKING: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../command_line/tests/corpus/looking_around.txt"));

/// Fewest commands in the list.
const LISTED_MIN: usize = 120;
/// Of 120 commands, how many may ask.
const ASKING_MAX_OF_120: usize = 10;

#[test]
fn process_looking_around_runs_and_prints_the_same() {
    let template = Template::new();
    let lines = corpus::lines(LOOKING);
    assert!(lines.len() >= LISTED_MIN, "{} commands", lines.len());
    let world = template.whole();
    let before = world.snapshot();
    let trials = workers::each(&lines, Gate::new, |gate, line| {
        match gate.run(&world, line.cwd, &line.command) {
            Outcome::Asked => Err("asked".to_owned()),
            Outcome::Refused(text) => Err(format!("refused: {text}")),
            Outcome::Ran(answer) => {
                // Only commands that the gate let through run in plain bash: one that asks may write a cache.
                let command = format!("export GIT_OPTIONAL_LOCKS=0; {}", line.command);
                let plain = bash::run(&world, line.cwd, &command);
                let facts = answer.facts.map(|facts| facts.0).unwrap_or_default();
                let stdout =
                    facts.get("stdout").and_then(|text| text.as_str()).unwrap_or_default().to_owned();
                let is_same = line.is_same(&plain.stdout, stdout.as_bytes());
                let plain_text = String::from_utf8_lossy(&plain.stdout).into_owned();
                Ok((
                    plain.code == answer.exit_code && is_same,
                    plain.code,
                    plain_text,
                    answer.exit_code,
                    stdout,
                ))
            }
        }
    });
    let asking: Vec<String> = lines
        .iter()
        .zip(&trials)
        .filter_map(|(line, trial)| Some(format!("{}\n  {}", line.text, trial.as_ref().err()?)))
        .collect();
    let other: Vec<String> = lines
        .iter()
        .zip(&trials)
        .filter_map(|(line, trial)| match trial {
            Ok((false, plain_code, plain, code, stdout)) => Some(format!(
                "{}\n  plain: {plain_code:?} {plain:?}\n  gate:  {code:?} {stdout:?}",
                line.text
            )),
            _ => None,
        })
        .collect();
    println!(
        "{} commands: {} ran without a question, {} asked",
        lines.len(),
        lines.len() - asking.len(),
        asking.len()
    );
    println!("asked:\n{}", asking.join("\n"));
    let changes = before.changes(&world.snapshot(), &world.root);
    assert!(changes.is_empty(), "they changed the world: {changes:?}");
    assert!(other.is_empty(), "{} print something else:\n{}", other.len(), other.join("\n"));
    assert!(
        asking.len() * LISTED_MIN <= lines.len() * ASKING_MAX_OF_120,
        "{} ask:\n{}",
        asking.len(),
        asking.join("\n")
    );
}
