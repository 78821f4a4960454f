//! Random command lines in a throw-away world: what the gate runs without a question changes nothing, connects nowhere,
//! prints no environment and leaves no process.
//!
//! The lines mix read-only commands with pieces of commands that have an effect. `SETPOINT_FUZZ_LINES` sets how many
//! are generated and `SETPOINT_FUZZ_SEED` where they start; a line that fails reports its own seed.

mod grammar;
mod words;

use self::grammar::Grammar;
use crate::corpus;
use crate::gate::{Gate, Outcome};
use crate::listener::Listener;
use crate::workers;
use crate::world::{Template, World};

/// Lines of a default run.
const LINES: u64 = 4_000;
/// The first line's seed by default.
const SEED: u64 = 0x5EED_0018;
/// Lines that run in one world before it is checked.
const BATCH: u64 = 250;
/// Percentage of lines that must run: otherwise a gate that asks about everything would pass.
const RUN_PERCENT_MIN: usize = 15;
/// Seconds per line, enough for all but lines that wait for another program's input.
const SECONDS_MAX: u64 = 3;

/// The results of some lines.
#[derive(Default)]
struct Tally {
    lines: usize,
    ran: usize,
    stopped: usize,
    /// Lines with a read-only text that the gate asks about or refuses because of where their paths lead.
    held: usize,
    failures: Vec<String>,
}

struct Worker {
    template: Template,
    grammar: Grammar,
    listener: Listener,
    gate: Gate,
    world: Option<World>,
}

/// A random line and its directory.
struct Try {
    seed: u64,
    cwd: &'static str,
    command: String,
}

#[test]
fn process_random_lines_that_run_have_no_effect() {
    let lines = number("SETPOINT_FUZZ_LINES").unwrap_or(LINES);
    let seed = number("SETPOINT_FUZZ_SEED").unwrap_or(SEED);
    let batches: Vec<(u64, u64)> =
        (0..lines).step_by(BATCH as usize).map(|first| (seed + first, BATCH.min(lines - first))).collect();
    let worker = || Worker {
        template: Template::new(),
        grammar: Grammar::new(),
        listener: Listener::new(),
        gate: Gate::new(),
        world: None,
    };
    let tallies = workers::each(&batches, worker, |worker, (first, count)| worker.batch(*first, *count));
    let mut all = Tally::default();
    for tally in tallies {
        all.lines += tally.lines;
        all.ran += tally.ran;
        all.stopped += tally.stopped;
        all.held += tally.held;
        all.failures.extend(tally.failures);
    }
    println!(
        "{} lines from seed {seed}: {} ran without a question ({} of them out of time), {} read as read-only and were held \
         for where their paths lead, {} failures",
        all.lines,
        all.ran,
        all.stopped,
        all.held,
        all.failures.len()
    );
    assert!(
        all.failures.is_empty(),
        "{} lines got through:\n{}",
        all.failures.len(),
        all.failures.join("\n")
    );
    let percent = all.ran * 100 / all.lines.max(1);
    assert!(percent >= RUN_PERCENT_MIN, "only {percent} % of the lines ran: the test has no teeth");
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

impl Worker {
    fn batch(&mut self, first: u64, count: u64) -> Tally {
        let mut tally = Tally { lines: usize::try_from(count).unwrap(), ..Tally::default() };
        let world = self.world.take().unwrap_or_else(|| self.template.whole());
        let before = world.snapshot();
        self.listener.count();
        let mut ran = Vec::new();
        for seed in first..first + count {
            let (cwd, line) = self.grammar.line(seed);
            let command = self.filled(&line, &world);
            if !self.gate.reads_only(&world, cwd, &command) {
                continue;
            }
            match self.gate.run_for(&world, cwd, &command, SECONDS_MAX) {
                Outcome::Ran(answer) => {
                    tally.ran += 1;
                    tally.stopped += usize::from(answer.exit_code.is_none());
                    if self.gate.leaks(&world, cwd, &command, &answer) {
                        tally
                            .failures
                            .push(format!("seed {seed}, in {cwd}: {line}\n    printed the environment"));
                    }
                    ran.push(Try { seed, cwd, command: line });
                }
                Outcome::Asked | Outcome::Refused(_) => tally.held += 1,
            }
        }
        let mut effects = self.effects(&world);
        effects.extend(before.changes(&world.snapshot(), &world.root));
        if effects.is_empty() {
            self.world = Some(world);
            return tally;
        }
        world.discard();
        tally.failures.extend(self.culprits(&ran, &effects));
        tally
    }

    /// Finds the lines of a batch that have an effect: tries each again in a world that is restored after every line.
    fn culprits(&self, ran: &[Try], effects: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        let mut world = self.template.whole();
        let mut before = world.snapshot();
        for Try { seed, cwd, command } in ran {
            self.gate.run_for(&world, cwd, &self.filled(command, &world), SECONDS_MAX);
            let mut effects = self.effects(&world);
            let after = world.snapshot();
            effects.extend(before.changes(&after, &world.root));
            if effects.is_empty() {
                continue;
            }
            found.push(format!("seed {seed}, in {cwd}: {command}\n    {effects:?}"));
            if !world.restore(&self.template, &before, &after) {
                std::mem::replace(&mut world, self.template.whole()).discard();
            }
            before = world.snapshot();
        }
        world.discard();
        if found.is_empty() {
            let seeds = ran.first().map(|first| first.seed).zip(ran.last().map(|last| last.seed));
            return vec![format!("none alone, all of the seeds {seeds:?} together: {effects:?}")];
        }
        found
    }

    fn filled(&self, line: &str, world: &World) -> String {
        corpus::filled(line, world, self.listener.port())
    }

    fn effects(&self, world: &World) -> Vec<String> {
        let left = world.left_running().into_iter().map(|line| format!("left running: {line}"));
        let connections = self.listener.count();
        left.chain((connections > 0).then(|| format!("connected {connections} times"))).collect()
    }
}
