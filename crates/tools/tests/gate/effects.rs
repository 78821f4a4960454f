//! Commands with an effect: each is proven to have it in plain bash, and none runs without a question.

use std::collections::{BTreeMap, BTreeSet};

use crate::bash;
use crate::corpus::{self, Line};
use crate::gate::{Gate, Outcome};
use crate::listener::Listener;
use crate::snapshot::Snapshot;
use crate::workers;
use crate::world::{Template, World};

const EFFECTS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../command_line/tests/corpus/effects.txt"));

/// Commands that must show their effect here. A machine without some of the programs proves fewer than are listed.
const PROVEN_MIN: usize = 700;
/// Families that they must come from.
const FAMILIES_MIN: usize = 30;
/// The exit code of a shell that does not find a program.
const NOT_FOUND: i32 = 127;

/// The result of one line on both sides.
struct Trial {
    /// Its effects in plain bash.
    effects: Vec<String>,
    /// A program that it uses is not installed.
    is_missing: bool,
    gate: Outcome,
    /// Its effects through the gate.
    holes: Vec<String>,
}

/// What a thread keeps between lines.
struct Worker<'a> {
    template: &'a Template,
    listener: Listener,
    gate: Gate,
    /// The world in which lines without special needs run in plain bash; it is restored after each.
    plain: Option<(World, Snapshot)>,
    /// The world in which lines ask that are not expected to run: a final check verifies that it is unchanged.
    asked: &'a World,
}

#[test]
fn process_no_effect_without_a_question() {
    let template = Template::new();
    let lines = corpus::lines(EFFECTS);
    let asked = template.whole();
    let untouched = asked.snapshot();
    let worker = || Worker {
        template: &template,
        listener: Listener::new(),
        gate: Gate::new(),
        plain: None,
        asked: &asked,
    };
    let trials = workers::each(&lines, worker, |worker, line| worker.trial(line));
    let (mut proven, mut families) = (0, BTreeMap::<&str, usize>::new());
    let (mut missing, mut unproven, mut holes) = (Vec::new(), Vec::new(), Vec::new());
    for (line, trial) in lines.iter().zip(&trials) {
        match (trial.effects.is_empty(), trial.is_missing) {
            (false, _) => {
                proven += 1;
                *families.entry(line.family).or_default() += 1;
            }
            (true, true) => missing.push(line.text),
            (true, false) => unproven.push(line.text),
        }
        let ran = matches!(trial.gate, Outcome::Ran(_)) && !line.may_run();
        if ran || !trial.holes.is_empty() {
            let what = if ran { "ran" } else { "did not run" };
            holes.push(format!(
                "{}: {}\n    {what} behind the gate: {:?}",
                line.family, line.text, trial.holes
            ));
        }
    }
    let count = |wanted: fn(&Outcome) -> bool| trials.iter().filter(|trial| wanted(&trial.gate)).count();
    println!(
        "{} lines; proven: {proven} in {} families; no program for {}; not proven here: {}; asked {}, refused {}, ran {}",
        lines.len(),
        families.len(),
        missing.len(),
        unproven.len(),
        count(|gate| matches!(gate, Outcome::Asked)),
        count(|gate| matches!(gate, Outcome::Refused(_))),
        count(|gate| matches!(gate, Outcome::Ran(_))),
    );
    println!("no program for:\n{}\nnot proven here:\n{}", missing.join("\n"), unproven.join("\n"));
    let listed: BTreeSet<&str> = lines.iter().map(|line| line.family).collect();
    let idle: Vec<_> = listed.iter().filter(|family| !families.contains_key(*family)).collect();
    let changes = untouched.changes(&asked.snapshot(), &asked.root);
    assert!(changes.is_empty(), "a line that asked changed something all the same: {changes:?}");
    assert!(holes.is_empty(), "{} lines got through:\n{}", holes.len(), holes.join("\n"));
    assert!(proven >= PROVEN_MIN, "only {proven} commands show an effect");
    assert!(families.len() >= FAMILIES_MIN, "only {} families show an effect, not {idle:?}", families.len());
}

impl Worker<'_> {
    fn trial(&mut self, line: &Line<'_>) -> Trial {
        let (world, before) = self.plain_world(line);
        let port = self.listener.port();
        self.listener.count();
        let printed = bash::run(&world, line.cwd, &line.command_in(&world, port));
        let left = world.left_running();
        let after = world.snapshot();
        let effects = self.effects(left, before.changes(&after, &world.root), printed.leaks());
        let is_missing = printed.code == Some(NOT_FOUND) || printed.text().contains("command not found");
        if line.needs_more() || !world.restore(self.template, &before, &after) {
            world.discard();
        } else {
            let now = if before == after { after } else { world.snapshot() };
            self.plain = Some((world, now));
        }
        let (gate, holes) = self.gated(line);
        Trial { effects, is_missing, gate, holes }
    }

    fn plain_world(&mut self, line: &Line<'_>) -> (World, Snapshot) {
        match self.plain.take().filter(|_| !line.needs_more()) {
            Some(kept) => kept,
            None => self.prepared(line),
        }
    }

    fn prepared(&self, line: &Line<'_>) -> (World, Snapshot) {
        let world = self.template.world(&line.needed());
        line.set_up_in(&world, self.listener.port());
        let before = world.snapshot();
        (world, before)
    }

    fn gated(&self, line: &Line<'_>) -> (Outcome, Vec<String>) {
        let port = self.listener.port();
        if line.set_up.is_none() {
            let command = line.command_in(self.asked, port);
            if !self.gate.reads_only(self.asked, line.cwd, &command) {
                let outcome = self.gate.run(self.asked, line.cwd, &command);
                if !matches!(outcome, Outcome::Ran(_)) {
                    return (outcome, Vec::new());
                }
            }
        }
        let (world, before) = self.prepared(line);
        self.listener.count();
        let command = line.command_in(&world, port);
        let outcome = self.gate.run(&world, line.cwd, &command);
        let leaks =
            matches!(&outcome, Outcome::Ran(answer) if self.gate.leaks(&world, line.cwd, &command, answer));
        let left = world.left_running();
        let holes = self.effects(left, before.changes(&world.snapshot(), &world.root), leaks);
        world.discard();
        (outcome, holes)
    }

    fn effects(&self, left: Vec<String>, changes: Vec<String>, leaks: bool) -> Vec<String> {
        let mut effects: Vec<String> = left.into_iter().map(|line| format!("left running: {line}")).collect();
        effects.extend(changes);
        let connections = self.listener.count();
        if connections > 0 {
            effects.push(format!("connected {connections} times"));
        }
        if leaks {
            effects.push("printed the environment".to_owned());
        }
        effects
    }
}
