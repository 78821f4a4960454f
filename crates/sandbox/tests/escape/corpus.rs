//! Runs every attempt without a sandbox, then in each tier.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use setpoint_sandbox::Tier;
use setpoint_sandbox::linux::{probe, stage};

use crate::attempts::{self, Attempt, GOT_IN, Oracle};
use crate::world::{Mode, NOBODY, World, is_root};

/// Minimum number of attempts.
const ATTEMPTS_MIN: usize = 80;
/// Minimum number of attempts that are seen to work without a sandbox.
const PROVEN_MIN: usize = 60;

/// The outcome of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Blocked,
    GotThrough(String),
    NotMade(String),
}

/// A copy of this executable that every user can start.
pub(crate) struct Stage(tempfile::TempDir);

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("stage").tempdir().unwrap();
        let readable = || PermissionsExt::from_mode(0o755);
        fs::set_permissions(folder.path(), readable()).unwrap();
        let path = folder.path().join("stage");
        fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        fs::set_permissions(&path, readable()).unwrap();
        Stage(folder)
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.0.path().join("stage")
    }
}

/// Returns why a tier cannot be tried here.
pub(crate) fn missing(tier: Tier, stage: &Path) -> Option<String> {
    if tier == Tier::Full {
        let found = probe(stage, &std::env::temp_dir()).unwrap();
        return found.missing.into_iter().find(|one| one.tier == Tier::Full).map(|one| one.why);
    }
    let world = World::new(Mode::In(Tier::Partial), 0);
    let said = world.run(stage, "true", &[], "");
    said.lines().find_map(|line| line.strip_prefix(stage::NOT_MADE)).map(str::to_owned)
}

/// Prints that a tier is left out, so that it is not taken for a tier that holds.
pub(crate) fn skip(tier: Tier, why: &str) {
    println!("#### SKIPPED: this machine cannot hold the {} tier: {why} ####", tier.name());
}

pub(crate) fn run() -> Vec<String> {
    let stage = Stage::new();
    let (attempts, others): (Vec<_>, Vec<_>) =
        attempts::all().into_iter().partition(|one| !one.is_for_x86 || cfg!(target_arch = "x86_64"));
    println!("{} attempts; {} are for another architecture", attempts.len(), others.len());
    let mut wrong = Vec::new();
    check_names(&attempts, &mut wrong);
    if attempts.len() < ATTEMPTS_MIN && others.is_empty() {
        wrong.push(format!("there are {} attempts, at least {ATTEMPTS_MIN} are needed", attempts.len()));
    }
    controls(&attempts, &stage, &mut wrong);
    for tier in [Tier::Full, Tier::Partial] {
        match missing(tier, &stage.path()) {
            Some(why) => skip(tier, &why),
            None => in_mode(Mode::In(tier), &attempts, &stage, &mut wrong),
        }
    }
    wrong
}

fn check_names(attempts: &[Attempt], wrong: &mut Vec<String>) {
    let mut count = BTreeMap::new();
    for attempt in attempts {
        *count.entry(attempt.name).or_insert(0) += 1;
    }
    wrong.extend(
        count.iter().filter(|(_, n)| **n > 1).map(|(name, _)| format!("two attempts are named {name}")),
    );
}

fn controls(attempts: &[Attempt], stage: &Stage, wrong: &mut Vec<String>) {
    let harmful = attempts.iter().filter(|one| one.is_harmful).count();
    let mut proven = 0;
    let mut unproven = Vec::new();
    for (number, attempt) in attempts.iter().enumerate().filter(|(_, one)| !one.is_harmful) {
        match outcome(attempt, Mode::Control, number, stage) {
            Outcome::GotThrough(_) => proven += 1,
            Outcome::Blocked | Outcome::NotMade(_) => unproven.push(attempt.name),
        }
    }
    println!("without a sandbox: {proven} work, {harmful} are not tried because they would harm the machine");
    println!("without a sandbox: {} do not work here: {}", unproven.len(), unproven.join(" "));
    if proven < PROVEN_MIN {
        wrong.push(format!("{proven} attempts work without a sandbox, at least {PROVEN_MIN} are needed"));
    }
}

pub(crate) fn in_mode(mode: Mode, attempts: &[Attempt], stage: &Stage, wrong: &mut Vec<String>) {
    let is_partial = mode == Mode::In(Tier::Partial);
    let name = match mode {
        Mode::Control => "no",
        Mode::In(tier) => tier.name(),
        Mode::Beside(_) => Tier::Full.name(),
    };
    let is_here = |one: &Attempt| !one.is_for_x86 || cfg!(target_arch = "x86_64");
    let is_tried = |one: &&Attempt| is_here(one) && (!is_partial || !one.is_for_full);
    let mut classes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut holes = Vec::new();
    for (number, attempt) in attempts.iter().filter(is_tried).enumerate() {
        let (blocked, tried) = classes.entry(attempt.class).or_default();
        *tried += 1;
        let is_expected = is_partial && attempt.is_known_hole;
        match outcome(attempt, mode, number, stage) {
            Outcome::Blocked => {
                *blocked += 1;
                if is_expected {
                    wrong.push(format!("{}: {} is blocked, but listed as a hole", name, attempt.name));
                }
            }
            Outcome::GotThrough(_) if is_expected => holes.push(attempt.name),
            Outcome::GotThrough(what) => {
                wrong.push(format!("{}: {} got through: {what}", name, attempt.name));
            }
            Outcome::NotMade(why) => {
                wrong.push(format!("{}: {} was not tried: {why}", name, attempt.name));
            }
        }
    }
    let (blocked, tried) = classes.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("{name} tier: {blocked} of {tried} attempts are blocked");
    for (class, (blocked, tried)) in classes {
        println!("    {class}: {blocked} of {tried}");
    }
    if is_partial {
        println!("partial tier: {} known holes: {}", holes.len(), holes.join(" "));
    }
}

fn outcome(attempt: &Attempt, mode: Mode, number: usize, stage: &Stage) -> Outcome {
    let mut world = World::new(mode, number);
    let mark = format!("{}-mark", world.secret.replace("secret", "run"));
    let before = world.picture();
    let printed = world.run(&stage.path(), attempt.shell, &attempt.args(), &mark);
    if std::env::var_os("ESCAPE_VERBOSE").is_some() {
        println!("---- {mode:?} {}: {printed}", attempt.name);
    }
    if let Some(why) = printed.lines().find_map(|line| line.strip_prefix(stage::NOT_MADE)) {
        return Outcome::NotMade(why.to_owned());
    }
    // A program that was never started is not one that was held.
    if let Some(why) = printed.lines().find(|line| line.starts_with("timeout: ")) {
        return Outcome::NotMade(why.to_owned());
    }
    let survivors = end_survivors(&mark, &world.path("work"));
    let got_through = match attempt.oracle {
        Oracle::Changed => difference(&before, &world.picture()),
        Oracle::Printed => printed.contains(&world.secret).then(|| "it printed the secret".to_owned()),
        Oracle::Hit => world.is_hit().then(|| "a listener was reached".to_owned()),
        Oracle::Victim => (!world.is_victim_unharmed()).then(|| "the process outside was harmed".to_owned()),
        Oracle::Survivor => (survivors > 0).then(|| format!("{survivors} processes are left")),
        Oracle::SetId => world.has_set_id().then(|| "a file lends rights".to_owned()),
        Oracle::Marker => printed.contains(GOT_IN).then(|| printed.clone()),
    };
    got_through.map_or(Outcome::Blocked, Outcome::GotThrough)
}

fn difference<K: Ord + std::fmt::Debug>(
    before: &BTreeMap<K, String>,
    after: &BTreeMap<K, String>,
) -> Option<String> {
    let changed = before.keys().chain(after.keys()).find(|path| before.get(path) != after.get(path))?;
    Some(format!("{changed:?} was {:?} and is {:?}", before.get(changed), after.get(changed)))
}

/// Ends what is left of a run; returns how much that was at first.
fn end_survivors(mark: &str, cwd: &Path) -> usize {
    let first = marked(mark, cwd);
    let mut pids = first.clone();
    // Some may have been started meanwhile. They would count against the limit of those that follow.
    while !pids.is_empty() {
        for pid in pids.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            let _ = kill_process(pid, Signal::KILL);
        }
        pids = marked(mark, cwd);
    }
    first.len()
}

/// Returns the processes of a run: those that have its mark in their environment, or its working folder. While a
/// process becomes another program, it has no environment that could be read.
pub(crate) fn marked(mark: &str, cwd: &Path) -> Vec<i32> {
    let is_marked = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let is_dead = fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|text| text.contains(") Z "));
        let is_there = fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|place| place == cwd);
        !is_dead && (is_there || environment.windows(mark.len()).any(|part| part == mark.as_bytes()))
    };
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_marked).collect()
}

/// Returns whether a program is on this machine.
pub(crate) fn has_program(name: &str) -> bool {
    let mut command = Command::new("sh");
    command.args(["-c", "command -v \"$1\"", "sh", name]).env("PATH", crate::world::PATH);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Makes the command run as an ordinary user, which the partial tier needs.
pub(crate) fn as_nobody(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
}
