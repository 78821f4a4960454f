//! `memory`: what the operator sees of memory, and what changes in it.

mod changing;
mod looking;
mod moments;
mod moving;
mod sharing;

use std::sync::Arc;
use std::time::Duration;

use setpoint_memory::view::*;
use setpoint_protocol::message::MemoryAction;

use crate::support::memory::*;
use crate::support::organisation::Fake;
use crate::support::world::{Came, World, words};

/// The clock is paused in tests that could hang, so this long wait takes no real time.
const WAIT_MAX: Duration = Duration::from_secs(600);

/// Returns a world with this memory and without a terminal.
fn remembering(memory: FakeMemory) -> World {
    let mut world = World::headless(Fake::with(vec![]));
    world.host.memory = Arc::new(memory);
    world
}

/// Runs a command line; returns its result and the requests to memory.
async fn run(world: World, line: &str) -> (Came, Vec<String>) {
    let ran = tokio::time::timeout(WAIT_MAX, world.run_arguments(words(line))).await;
    let (came, host) = ran.unwrap_or_else(|_| panic!("{line} waits for ever"));
    let asked = host.memory.asked();
    assert_eq!(host.opened() > 0, !asked.is_empty() || host.memory.is_locked, "{line}");
    (came, asked)
}

/// Returns stdout of a command line that must succeed.
async fn out(memory: FakeMemory, line: &str) -> String {
    let (came, asked) = run(remembering(memory), line).await;
    assert_eq!(came.code, 0, "{line}: {}", came.err);
    assert_eq!(asked.last().map(String::as_str), Some("close"), "{line}");
    came.out
}

/// Asserts that the text has no character that a terminal would obey, except for line ends.
#[track_caller]
fn assert_safe(text: &str) {
    for c in text.chars().filter(|c| *c != '\n') {
        assert!(!setpoint_cli::text::sanitise::is_unsafe(c), "{c:?} in {text:?}");
    }
}

/// Returns a memory whose every text is hostile.
fn poisoned() -> FakeMemory {
    let rule = RuleLine {
        record: hostile(3),
        kind: Some(setpoint_protocol::message::SopKind::Constraint),
        sources: u64::MAX,
        tasks: vec![],
        left: f64::NEG_INFINITY,
    };
    let mut report = pair(f64::MAX, f64::NEG_INFINITY, MemoryAction::Avoid);
    (report.space, report.entity) = (HOSTILE.to_owned(), HOSTILE.to_owned());
    (report.rules, report.records) = (vec![hostile(3)], vec![hostile(1)]);
    report.curve[3].attention = f64::NAN;
    FakeMemory {
        stats: MemoryStats { place: HOSTILE.to_owned(), bytes: u64::MAX, ..FakeMemory::default().stats },
        answer: Answer::Pair(Box::new(report)),
        records: vec![hostile(1)],
        sources: vec![hostile(2)],
        rules: vec![rule],
        dreamt: DreamReport {
            demoted: vec![hostile(1)],
            promoted: vec![hostile(2)],
            duration_ms: u64::MAX,
            ..DreamReport::default()
        },
        pages: vec![(vec![hostile(1).megram], None)],
        folders: vec![HOSTILE.into()],
        imported: ImportReport {
            taken: 1,
            known: 0,
            refused: vec![ImportProblem { line: 2, reason: HOSTILE.to_owned() }],
        },
        proposals: vec![hostile(4)],
        ..FakeMemory::default()
    }
}

/// Every command that needs no terminal.
const COMMANDS: [&str; 14] = [
    "memory stats",
    "memory query",
    "memory query s",
    "memory query s e",
    "memory list",
    "memory show 4f2a91c1",
    "memory rules",
    "memory remember it is so",
    "memory forget 4f2a91c1 --yes",
    "memory dream",
    "memory export",
    "memory export --skills d",
    "memory import -",
    "memory approve",
];

#[tokio::test]
async fn hostile_records_are_sanitised_and_their_json_is_unchanged() {
    for line in COMMANDS {
        let mut world = remembering(poisoned());
        world.is_terminal = true;
        let (came, _) = run(world, line).await;
        assert_eq!(came.code, 0, "{line}: {}", came.err);
        assert_safe(&came.out);
        assert_safe(&came.err);
        let (came, _) = run(remembering(poisoned()), &format!("{line} --json")).await;
        // Only the records of an export are data, as in a file; they are written one by one.
        if line != "memory export" {
            assert_safe(&came.out);
        }
        came.json();
    }
    let value = run(remembering(poisoned()), "memory show 4f2a91c1 --json").await.0.json();
    assert_eq!(value["space"], format!("intent:{HOSTILE}"));
    assert_eq!(value["content"]["tags"][0], HOSTILE);
}

#[tokio::test]
async fn lists_fit_the_terminals_width() {
    for line in ["memory query", "memory query s e", "memory list", "memory rules", "memory dream"] {
        for columns in [1, 20, 40, 100] {
            let mut world = remembering(poisoned());
            if line == "memory query" {
                let pair = PairLine {
                    space: "s".repeat(500),
                    entity: HOSTILE.to_owned(),
                    records: 1,
                    rules: 0,
                    sums: Sums { attention: 1.0, decision: 0.0, action: MemoryAction::Caution },
                };
                let memory = FakeMemory { answer: Answer::Pairs(vec![pair]), ..FakeMemory::default() };
                world.host.memory = Arc::new(memory);
            }
            (world.is_terminal, world.size.columns) = (true, columns);
            let (came, _) = run(world, line).await;
            let longest = came.out.lines().map(setpoint_cli::text::columns::width).max().unwrap();
            // The name and the numbers of a pair are not clipped.
            let is_whole = line == "memory query s e" || line == "memory dream";
            assert!(is_whole || longest <= usize::from(columns), "{line} at {columns}: {}", came.out);
        }
    }
}

#[tokio::test]
async fn errors_are_reported_and_memory_is_closed() {
    let broken = |what| FakeMemory { broken: what, records: vec![record(1, "x")], ..FakeMemory::default() };
    for line in COMMANDS {
        let (came, asked) = run(remembering(broken("")), line).await;
        let told = "error: failed to read memory: ␛[2Jbroken badly\nhint: look at the log\n";
        assert_eq!((came.code, came.out.as_str(), came.err.as_str()), (1, "", told), "{line}");
        assert_eq!(asked.len(), 2, "{line}: {asked:?}");
        assert_eq!(asked[1], "close", "{line}");
        let (came, _) = run(remembering(broken("")), &format!("{line} --json")).await;
        assert_eq!((came.code, &came.json()["error"]["kind"]), (1, &"internal".into()), "{line}");
    }
    // The record is found, but forgetting it fails.
    let (came, asked) = run(remembering(broken("forget")), "memory forget 4f2a91c1 --yes").await;
    assert_eq!((came.code, came.out.as_str(), asked.last().unwrap().as_str()), (1, "", "close"));
}

#[tokio::test]
async fn a_locked_memory_is_a_configuration_error() {
    for line in COMMANDS {
        let memory = FakeMemory { is_locked: true, ..FakeMemory::default() };
        let (came, asked) = run(remembering(memory), line).await;
        assert_eq!((came.code, came.out.as_str(), asked.as_slice()), (2, "", &[][..]), "{line}");
        assert!(came.err.contains("hint: name another folder with `--data-dir`\n"), "{}", came.err);
    }
}

#[tokio::test]
async fn an_empty_memory_is_no_error() {
    let told = [
        ("memory query", "memory has no records yet\n", "[]"),
        (
            "memory query s",
            "memory has no records of this space; `setpoint memory query` lists all spaces\n",
            "[]",
        ),
        ("memory list", "memory has no records yet\n", "[]"),
        ("memory list --level C", "no record matches\n", "[]"),
        ("memory rules", "no rule and no fact is in force\n", "[]"),
        ("memory export --skills d", "no rule is in force: nothing was written\n", "[]"),
        ("memory approve", "there are no proposals\n", "[]"),
    ];
    for (line, note, json) in told {
        let (came, _) = run(remembering(FakeMemory::default()), line).await;
        assert_eq!((came.code, came.out.as_str(), came.err.as_str()), (0, "", note), "{line}");
        let (came, _) = run(remembering(FakeMemory::default()), &format!("{line} --quiet")).await;
        assert_eq!((came.out.as_str(), came.err.as_str()), ("", ""), "{line}");
        let (came, _) = run(remembering(FakeMemory::default()), &format!("{line} --json")).await;
        assert_eq!((came.out.as_str(), came.err.as_str()), (format!("{json}\n").as_str(), ""), "{line}");
    }
    assert_eq!(out(FakeMemory::default(), "memory export").await, "");
}

#[tokio::test]
async fn what_is_wrong_with_the_command_line_is_said_with_what_to_do() {
    let mut said = String::new();
    for line in [
        "memory forgt",
        "memory query a b c",
        "memory list --limit 0",
        "memory list --limit 10001",
        "memory list --level X",
        "memory show",
        "memory show abc",
        "memory show 'x\u{1b}[2J'",
        "memory remember",
        "memory remember ''",
        "memory remember --tag",
        "memory forget",
        "memory forget --yes",
        "memory export -o f --skills d",
        "memory import",
        "memory import /no/such/file",
        "memory approve abc",
    ] {
        let (came, asked) = run(remembering(FakeMemory::default()), line).await;
        assert_eq!((came.code, came.out.as_str(), asked.len()), (2, "", 0), "{line}");
        assert_safe(&came.err);
        said.push_str(&format!("$ setpoint {}\n{}", line.replace('\u{1b}', "ESC"), came.err));
    }
    insta::assert_snapshot!(said);
}

#[tokio::test]
async fn help_says_what_each_command_does() {
    let (came, _) = run(remembering(FakeMemory::default()), "memory --help").await;
    insta::assert_snapshot!(came.out);
    for line in COMMANDS {
        let name: Vec<&str> = line.split(' ').take(2).collect();
        let (came, _) = run(remembering(FakeMemory::default()), &format!("{} --help", name.join(" "))).await;
        assert_eq!((came.code, came.err.as_str()), (0, ""), "{line}");
        assert!(came.out.contains("--json"), "{line}");
    }
}
