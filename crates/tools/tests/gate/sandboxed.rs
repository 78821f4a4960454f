//! Commands in the sandbox, at the default level and without a person: whatever they do, nothing outside of the working
//! directory changes and nothing in it that other programs obey; and everyday work is done without a question.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::bash::{self, Printed};
use crate::corpus::{self, Line};
use crate::gate::{Gate, Outcome};
use crate::listener::Listener;
use crate::snapshot::Snapshot;
use crate::workers;
use crate::world::{CANARY, Template, World};

const EFFECTS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../command_line/tests/corpus/effects.txt"));
const LOOKING: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../command_line/tests/corpus/looking_around.txt"));
const WORKING: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../command_line/tests/corpus/working.txt"));

/// Seconds per command: some of the list wait for ever. One that is cut short has only less effect.
const SECONDS: u64 = 2;
/// Fewest commands of either kind.
const EFFECTS_MIN: usize = 750;
const BENIGN_MIN: usize = 400;
/// Of 100 everyday commands, how many may ask.
const ASKING_MAX_OF_100: usize = 2;
/// The exit code of a shell that does not find a program.
const NOT_FOUND: i32 = 127;

#[test]
fn process_a_command_in_the_sandbox_reaches_nothing_outside() {
    if Gate::sandboxed().is_none() {
        return;
    }
    let template = Template::new();
    let lines = corpus::lines(EFFECTS);
    let worker = || Worker {
        template: &template,
        gate: Gate::sandboxed().unwrap(),
        listener: Listener::new(),
        kept: None,
    };
    let trials = workers::each(&lines, worker, |worker, line| worker.held(line));
    let count = |wanted: fn(&Outcome) -> bool| trials.iter().filter(|(outcome, _)| wanted(outcome)).count();
    let ran = count(|outcome| matches!(outcome, Outcome::Ran(_)));
    let escaped: Vec<_> = lines.iter().zip(&trials).filter(|(_, (_, escapes))| !escapes.is_empty()).collect();
    println!(
        "{} commands with an effect: {} asked, {} refused, {ran} ran in the sandbox; with an effect outside: {}",
        lines.len(),
        count(|outcome| matches!(outcome, Outcome::Asked)),
        count(|outcome| matches!(outcome, Outcome::Refused(_))),
        escaped.len()
    );
    let named: Vec<_> =
        escaped.iter().map(|(line, (_, escapes))| format!("{}\n    {escapes:?}", line.text)).collect();
    assert!(named.is_empty(), "{}", named.join("\n"));
    assert!(lines.len() >= EFFECTS_MIN && ran * 2 > lines.len(), "{ran} of {} ran", lines.len());
}

/// What a thread keeps between lines.
struct Worker<'a> {
    template: &'a Template,
    gate: Gate,
    listener: Listener,
    /// The world of lines without special needs; it is restored after each.
    kept: Option<(World, Snapshot)>,
}

impl Worker<'_> {
    /// Runs a line without a person. Returns what became of it and its effects outside.
    fn held(&mut self, line: &Line<'_>) -> (Outcome, Vec<String>) {
        let kept = self.kept.take().filter(|_| !line.needs_more());
        let (world, before) = kept.unwrap_or_else(|| {
            let world = self.template.world(&line.needed());
            line.set_up_in(&world, self.listener.port());
            let before = world.snapshot();
            (world, before)
        });
        let folder = world.at(line.cwd);
        let obeyed = obeyed(&folder);
        self.listener.count();
        let command = line.command_in(&world, self.listener.port());
        let outcome = self.gate.run_for(&world, line.cwd, &command, SECONDS);
        let mut escapes: Vec<String> =
            world.left_running().into_iter().map(|name| format!("left running: {name}")).collect();
        let after = world.snapshot();
        let outside = |snapshot: &Snapshot| snapshot.clone().without(&folder).without(&world.at("space"));
        escapes.extend(outside(&before).changes(&outside(&after), &world.root));
        if obeyed != self::obeyed(&folder) {
            escapes.push("changed what other programs obey".to_owned());
        }
        let connections = self.listener.count();
        if connections > 0 {
            escapes.push(format!("connected {connections} times"));
        }
        if let Outcome::Ran(answer) = &outcome
            && bash::has(answer.text.as_bytes(), CANARY)
        {
            escapes.push("printed a key of the environment".to_owned());
        }
        if line.needs_more() || !world.restore(self.template, &before, &after) {
            world.discard();
        } else {
            let now = if before == after { after } else { world.snapshot() };
            self.kept = Some((world, now));
        }
        (outcome, escapes)
    }
}

/// Returns everything in hidden files and folders, except the index that Git writes again when it looks.
fn obeyed(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = files(folder);
    let is_hidden = |path: &Path| path.iter().any(|name| name.as_bytes().starts_with(b"."));
    all.retain(|path, _| is_hidden(path) && !path.ends_with(".git/index"));
    all
}

#[test]
fn process_everyday_work_is_done_without_a_question() {
    if Gate::sandboxed().is_none() {
        return;
    }
    let template = Template::new();
    let mut lines = corpus::lines(WORKING);
    lines.extend(corpus::lines(LOOKING));
    let listed = lines.len();
    let trials =
        workers::each(&lines, || Gate::sandboxed().unwrap(), |gate, line| done(&template, gate, line));
    let told = |wanted: fn(&Done) -> bool| {
        let found = lines.iter().zip(&trials).filter(|(_, done)| wanted(done));
        found.map(|(line, done)| format!("{}\n    {}", line.text, done.why())).collect::<Vec<_>>()
    };
    let asked = told(|done| matches!(done, Done::Asked | Done::Refused(_)));
    let other = told(|done| matches!(done, Done::Differs(_)));
    let missing = told(|done| matches!(done, Done::Missing));
    println!(
        "{listed} everyday commands: {} ran as in plain bash, {} asked, {} without their program",
        listed - asked.len() - other.len() - missing.len(),
        asked.len(),
        missing.len()
    );
    println!("asked:\n{}\nno program for:\n{}", asked.join("\n"), missing.join("\n"));
    assert!(other.is_empty(), "{} do something else:\n{}", other.len(), other.join("\n"));
    assert!(listed >= BENIGN_MIN && asked.len() * 100 <= listed * ASKING_MAX_OF_100, "{} asked", asked.len());
}

/// What became of an everyday command.
enum Done {
    Same,
    Asked,
    Refused(String),
    /// It prints or leaves something else than in plain bash.
    Differs(String),
    /// A program that it uses is not installed.
    Missing,
}

impl Done {
    fn why(&self) -> &str {
        match self {
            Done::Refused(why) | Done::Differs(why) => why,
            Done::Same | Done::Asked | Done::Missing => "",
        }
    }
}

fn done(template: &Template, gate: &Gate, line: &Line<'_>) -> Done {
    let [plain, boxed] = [(); 2].map(|()| template.world(&line.needed()));
    let printed = bash::run(&plain, line.cwd, &line.command);
    plain.left_running();
    let done = compared(gate, line, &plain, &boxed, &printed);
    [plain, boxed].into_iter().for_each(World::discard);
    done
}

fn compared(gate: &Gate, line: &Line<'_>, plain: &World, boxed: &World, printed: &Printed) -> Done {
    let outcome = gate.run(boxed, line.cwd, &line.command);
    let (left, right) = (worked(&plain.at(line.cwd)), worked(&boxed.at(line.cwd)));
    let text = printed.text();
    match outcome {
        _ if printed.code == Some(NOT_FOUND) || text.contains("command not found") => Done::Missing,
        Outcome::Asked => Done::Asked,
        Outcome::Refused(why) => Done::Refused(why),
        Outcome::Ran(answer) => {
            let stdout = answer.facts.as_ref().and_then(|facts| facts.0["stdout"].as_str());
            let is_here = |root: &World, text: &str| text.replace(&*root.root.to_string_lossy(), "/w");
            // What only looks around is compared in one and the same world ([`crate::looking`]).
            if LOOKING.lines().any(|known| known == line.text) {
                return Done::Same;
            }
            let (one, other) = (
                is_here(plain, &String::from_utf8_lossy(&printed.stdout)),
                is_here(boxed, stdout.unwrap_or_default()),
            );
            let paths: Vec<_> = left.keys().chain(right.keys()).collect();
            let differing: Vec<_> =
                paths.into_iter().filter(|path| left.get(*path) != right.get(*path)).collect();
            if printed.code != answer.exit_code {
                Done::Differs(format!(
                    "exit {:?} and not {:?}: {}",
                    answer.exit_code, printed.code, answer.text
                ))
            } else if !line.is_same(one.as_bytes(), other.as_bytes()) {
                Done::Differs(format!("{other:?} and not {one:?}"))
            } else if differing.is_empty() || line.varies() {
                Done::Same
            } else {
                Done::Differs(format!("other files: {differing:?}"))
            }
        }
    }
}

/// Returns what a command may have worked on: everything but what Git and interpreters keep for themselves.
fn worked(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = files(folder);
    all.retain(|path, _| !path.iter().any(|name| name == ".git" || name == "__pycache__"));
    all
}

/// Returns everything below a folder: the mode, and the content or target.
fn files(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(meta) = entry.metadata() else { continue };
            let content = if meta.is_symlink() {
                fs::read_link(&path).unwrap_or_default().as_os_str().as_bytes().to_vec()
            } else if meta.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else if meta.is_file() {
                fs::read(&path).unwrap_or_default()
            } else {
                Vec::new()
            };
            all.insert(path.strip_prefix(folder).unwrap_or(&path).to_path_buf(), (meta.mode(), content));
        }
    }
    all
}
