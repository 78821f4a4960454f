//! Measures memory's store with up to a million records: writing, asking, dreaming and opening.
//!
//! Every row runs in its own process, on its own store on disk.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use setpoint_memory::store::{BatchOutcome, Durability, Event, EventKind, Options, Store};
use setpoint_mkct::{Quantum, State, quantize};
use setpoint_protocol::memory::MemoryAct;
use setpoint_protocol::message::{Insight, InsightCategory, Level, Megram};
use setpoint_protocol::{TaskId, Timestamp, id};

use crate::measure::{Spread, peak_mib, start};
use crate::scenario::{Answers, Scenario, Store as Journaled};

const DAY_US: i64 = 86_400_000_000;
/// The time of all questions; records were written in the year before it.
const NOW_US: i64 = 1_790_000_000_000_000;
/// Records of the pairs that are asked for.
const PAIRS: [u64; 4] = [10, 1_000, 100_000, 1_000_000];
/// Records of the stores that are dreamt over.
const DREAMS: [u64; 2] = [100_000, 1_000_000];
/// Events per commit for which writing is measured.
const COMMITS: [u64; 4] = [1, 64, 512, 4_096];
/// Events per commit if only a full store is needed.
const COMMIT: u64 = 4_096;
/// Questions per measurement, and measurements.
const QUESTIONS: u32 = 20_000;
const ROUNDS: usize = 5;
/// Maximum rules that a pass creates: each costs a model call.
const PROMOTED: usize = 64;
/// Records of the store that is asked by words, records indexed per transaction, and questions.
const WORDS: u64 = 100_000;
const INDEX: usize = 1_024;
const ASKED_BY_WORDS: u32 = 200;
/// Records forgotten per transaction.
const FORGET: usize = 4_096;

/// Prints the table of all measurements.
pub(crate) fn table() -> Result<(), String> {
    println!("memory on disk, records of some 370 bytes; SQLite, WAL\n");
    println!("writing, records/s, the median of {ROUNDS} [least, most]; target 20000 acknowledged");
    for (durability, words) in [
        ("commit", "acknowledged when it is on the disk"),
        ("checkpoint", "buffered: the journal has it on the disk"),
    ] {
        println!("{words}");
        for commit in COMMITS {
            let rates: Result<Vec<f64>, String> =
                (0..ROUNDS).map(|_| number(&child(&["write", &commit.to_string(), durability])?)).collect();
            let Spread { least, median, most } = Spread::of(rates?);
            println!("{commit:>8} a commit  {median:>8.0} [{least:.0}, {most:.0}]");
        }
    }
    println!("\nasking, in one store of {} records:", PAIRS.iter().sum::<u64>());
    print!("{}", child(&["ask"])?);
    println!("\ndreaming: rules looked at, pairs looked at, what has faded deleted");
    for records in DREAMS {
        print!("{}", child(&["dream", &records.to_string()])?);
    }
    println!("\nfinding by words, in a store of {WORDS} records:");
    print!("{}", child(&["words"])?);
    println!(
        "\none task (18 model calls, 5 tool calls, all answered at once) with memory and without: CPU ms, the median of {ROUNDS}"
    );
    tasks()
}

/// Measures one row.
pub(crate) fn one(arguments: &[String]) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let arguments: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    match arguments.as_slice() {
        ["write", commit, durability] => {
            let durability =
                if *durability == "commit" { Durability::Commit } else { Durability::Checkpoint };
            write(dir.path(), commit.parse().map_err(|_| "not a number")?, durability)
        }
        ["ask"] => ask(dir.path()),
        ["words"] => words(dir.path()),
        ["dream", records] => dream(dir.path(), records.parse().map_err(|_| "not a number")?),
        _ => Err("--memory write COMMIT DURABILITY | ask | dream RECORDS".to_owned()),
    }
}

/// Compares the cost of a task with memory and without.
fn tasks() -> Result<(), String> {
    for (in_flight, tasks) in [(1, 300), (100, 1_000)] {
        let mut costs = [Journaled::Disk, Journaled::Remembering].map(|store| (store, Vec::new()));
        for _ in 0..ROUNDS {
            for (store, costs) in &mut costs {
                let scenario = Scenario { store: *store, answers: Answers::AtOnce, in_flight, tasks };
                costs.push(crate::child(&scenario)?.cpu_ms_per_task);
            }
        }
        let [without, with] = costs.map(|(_, costs)| Spread::of(costs));
        println!(
            "{in_flight:>4} in flight: with {}, without {}, ratio {:.2}",
            with.text(),
            without.text(),
            with.median / without.median
        );
    }
    Ok(())
}

fn child(arguments: &[&str]) -> Result<String, String> {
    let me = std::env::current_exe().map_err(|error| error.to_string())?;
    let output =
        Command::new(me).arg("--memory").args(arguments).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is no number"))
}

fn write(dir: &Path, commit: u64, durability: Durability) -> Result<(), String> {
    let options = Options { durability, ..Options::default() };
    let (store, _) = Store::open(dir, &options).map_err(text)?;
    let count = (commit * 200).clamp(2_000, 200_000);
    let begin = start();
    fill(&store, count, commit, |pos| format!("intent:{}", pos % 10_000))?;
    println!("{}", count as f64 / begin.elapsed().as_secs_f64());
    Ok(())
}

fn ask(dir: &Path) -> Result<(), String> {
    let store = open(dir)?;
    let total: u64 = PAIRS.iter().sum();
    // Pairs are mixed, as in real use.
    fill(&store, total, COMMIT, |pos| {
        let mut below = 0;
        let of = PAIRS.into_iter().find(|records| {
            below += records;
            pos.wrapping_mul(7_919) % total < below
        });
        format!("intent:{}", of.unwrap_or(0))
    })?;
    let bytes = size(dir);
    drop(store);
    let begin = start();
    let store = open(dir)?;
    store.potentials("intent:10", "env:local", now()).map_err(text)?;
    let opened = ms(begin);
    println!("{:>9} {:>26} {:>18} {:>9}", "records", "query_mk us", "plain sum ms", "ratio");
    for records in PAIRS {
        let space = format!("intent:{records}");
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let begin = start();
            for _ in 0..QUESTIONS {
                store.potentials(&space, "env:local", now()).map_err(text)?;
            }
            rounds.push(ms(begin) * 1e3 / f64::from(QUESTIONS));
        }
        let query = Spread::of(rounds);
        let begin = start();
        let plain = store.plain_potentials(&space, "env:local", now()).map_err(text)?;
        let plain_ms = ms(begin);
        let kept = store.potentials(&space, "env:local", now()).map_err(text)?;
        let error = (kept.attention - plain.attention).abs() / plain.attention;
        if error > 1e-9 {
            return Err(format!("the running sum of {records} records is wrong by {error:e} of it"));
        }
        println!("{records:>9} {:>26} {plain_ms:>18.3} {:>9.0}", query.text(), plain_ms * 1e3 / query.median);
    }
    let rule = promoted(total + 1, "intent:1000", total);
    take(&store, total, vec![Event { pos: total + 1, what: rule }], total + 1)?;
    let begin = start();
    for _ in 0..200 {
        store.recall("intent:1000", "env:local", now()).map_err(text)?;
    }
    println!("query_c, noting the recall: {:.3} ms", ms(begin) / 200.0);
    println!("opening, and a first question: {opened:.1} ms; target < 1000");
    println!("on disk: {:.0} MiB; peak memory: {:.0} MiB", bytes, peak_mib());
    Ok(())
}

fn words(dir: &Path) -> Result<(), String> {
    let store = open(dir)?;
    fill(&store, WORDS, COMMIT, |pos| format!("intent:{}", pos % 10_000))?;
    let begin = start();
    while store.index(INDEX).map_err(text)? {}
    let rate = WORDS as f64 / begin.elapsed().as_secs_f64();
    let begin = start();
    for n in 0..ASKED_BY_WORDS {
        let question = format!("count the words of every file, and give number {n}");
        store.related(&question, ("intent:none", "env:local"), now(), 5).map_err(text)?;
    }
    let asked = ms(begin) / f64::from(ASKED_BY_WORDS);
    println!(
        "indexed {rate:.0} records/s, off the path of writing; asked {asked:.2} ms; on disk {:.0} MiB",
        size(dir)
    );
    Ok(())
}

fn dream(dir: &Path, records: u64) -> Result<(), String> {
    let store = open(dir)?;
    fill(&store, records, COMMIT, |pos| format!("intent:{}", pos.wrapping_mul(7_919) % (records / 20)))?;
    let stats = store.stats().map_err(text)?;
    drop(store);
    let store = open(dir)?;
    let begin = start();
    let bankrupt = store.bankrupt(now()).map_err(text)?.len();
    let due = store.promotable(now(), PROMOTED).map_err(text)?.len();
    let looked = ms(begin);
    let begin = start();
    let mut faded = 0;
    loop {
        let forgotten = store.forget_faded(now(), FORGET).map_err(text)?;
        faded += forgotten.faded;
        if !forgotten.has_more {
            break;
        }
    }
    let forgot = ms(begin);
    println!(
        "{records:>9} records, {} pairs: looked {looked:.0} ms ({bankrupt} bankrupt, {due} due), forgot {faded} in {forgot:.0} ms, \
         all {:.0} ms (target < 5000 at 1000000); peak memory {:.0} MiB",
        stats.pairs,
        looked + forgot,
        peak_mib()
    );
    let begin = start();
    while store.forget_faded(Timestamp::from_micros(NOW_US + 1), FORGET).map_err(text)?.has_more {}
    let due = store.promotable(now(), PROMOTED).map_err(text)?.len();
    println!("          a pass right after it: {:.0} ms ({due} due)", ms(begin));
    Ok(())
}

/// Writes `count` records in the spaces that `space` returns; written in the year before now, a tenth of them long
/// faded.
fn fill(store: &Store, count: u64, commit: u64, space: impl Fn(u64) -> String) -> Result<(), String> {
    let mut from = 0;
    while from < count {
        let to = (from + commit).min(count);
        let events = (from + 1..=to).map(|pos| Event { pos, what: written(pos, space(pos)) }).collect();
        take(store, from, events, to)?;
        from = to;
    }
    Ok(())
}

fn take(store: &Store, from: u64, events: Vec<Event>, to: u64) -> Result<(), String> {
    match store.apply(from, &events, to).map_err(text)? {
        BatchOutcome::Applied(applied) if applied.refused == 0 => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

fn written(pos: u64, space: String) -> EventKind {
    let task = TaskId::mint("count the words of every file", pos / 3);
    // One in ten is a refinement, which is forgotten after a while.
    let states = [State::Accept, State::Abandon, State::ChangePath, State::Success, State::ChangeApproach];
    let state = if pos.is_multiple_of(10) { State::Refine } else { states[(pos / 11) as usize % 5] };
    let Quantum { f, sigma, k } = quantize(state);
    let age_us = if f < 0.2 { 30 * DAY_US } else { (pos as i64 % 5) * DAY_US };
    let created_at = Timestamp::from_micros(NOW_US - age_us - pos as i64 % 1_000);
    let megram = Megram {
        id: setpoint_protocol::MegramId::from_uuid(id::derive(&task, pos, 0, created_at)),
        level: Level::M,
        created_at,
        space,
        entity: "env:local".to_owned(),
        content: Insight {
            lesson: format!("counting the words with wc -w gave {pos}, and every criterion was met by it"),
            category: InsightCategory::Procedure,
            tags: vec!["count".to_owned(), "words".to_owned()],
            tools: Vec::new(),
            targets: Vec::new(),
            approaches: Vec::new(),
            plan_fingerprint: Some("c92bc0ae62e9e6a0".to_owned()),
            failed_criteria: Vec::new(),
        },
        state: None,
        f,
        sigma,
        k,
        known_to: Vec::new(),
        after: Vec::new(),
    };
    EventKind::Written { task, megram: Box::new(megram) }
}

fn promoted(pos: u64, space: &str, as_of: u64) -> EventKind {
    let EventKind::Written { megram, .. } = written(pos, space.to_owned()) else {
        return EventKind::Act(Box::new(MemoryAct::Forgotten { ids: Vec::new() }));
    };
    let rule = Megram { level: Level::C, f: 1.0, sigma: 1.0, k: 0.0, ..*megram };
    EventKind::Act(Box::new(MemoryAct::Promoted { rule, as_of, worded: None }))
}

fn open(dir: &Path) -> Result<Store, String> {
    Store::open(dir, &Options::default()).map(|(store, _)| store).map_err(text)
}

/// Returns the size of the files in MiB.
fn size(dir: &Path) -> f64 {
    let files = std::fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    files.filter_map(|file| file.metadata().ok()).map(|file| file.len() as f64).sum::<f64>()
        / f64::from(1 << 20)
}

fn now() -> Timestamp {
    Timestamp::from_micros(NOW_US)
}

fn ms(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e3
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
