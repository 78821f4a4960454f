//! Measures the Auditor: its log (writing, sealing, opening and verifying a million entries), and tasks that run beside
//! it.
//!
//! Each round runs in its own process, on its own log on disk, with an export beside it.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use setpoint_audit::log::{AppendResult, AuditLog, Options, SealedLog, TrustAnchors, verify};

use crate::measure::{Spread, cpu_ms, peak_mib, start};
use crate::scenario::{self, Answers, Scenario, Store as Journaled};

/// Entries of the log, and of one batch: as many as the rows that tasks write at a time.
const ENTRIES: u64 = 1_000_000;
const BATCH: u64 = 64;
/// Rounds, each starting with an empty log.
const ROUNDS: usize = 3;
/// Pairs of runs without and with the Auditor, right after each other: other load on the machine changes the speed by
/// more than the Auditor does, so only neighbouring runs are compared.
const RUNS: usize = 15;
/// Tasks in flight, and tasks that are run.
const IN_FLIGHT: [(usize, usize); 3] = [(1, 500), (100, 4_000), (1_000, 4_000)];
/// Tasks that the Auditor catches up with.
const CAUGHT_UP: usize = 1_000;
/// The time of checkpoints.
const AT_US: i64 = 1_790_000_000_000_000;

/// The figures of a round, in the order in which they are printed.
const FIGURES: [(&str, &str); 8] = [
    ("appending, us/entry", "target < 2"),
    ("a checkpoint (3 syncs), ms", ""),
    ("all of the writing, CPU us/entry", ""),
    ("bytes/entry, of them JSON 250", ""),
    ("verifying, s", "target < 5"),
    ("verifying, CPU s", ""),
    ("verifying against export, s", ""),
    ("opening, ms", "target < 50"),
];

/// Prints the table of all measurements.
pub(crate) fn table() -> Result<(), String> {
    println!(
        "the Auditor's log: {ENTRIES} entries in batches of {BATCH}, a checkpoint every 1000; the median of {ROUNDS} [least, most]\n"
    );
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(child()?);
    }
    for (figure, (name, target)) in FIGURES.iter().enumerate() {
        let spread = Spread::of(rounds.iter().filter_map(|round| round.get(figure).copied()));
        println!("{name:<34} {:>26}  {target}", spread.text());
    }
    let peak = Spread::of(rounds.iter().filter_map(|round| round.last().copied()));
    println!("{:<34} {:>26}", "peak memory, MiB", peak.text());
    following()
}

/// Measures how much the Auditor slows down tasks that run at full speed beside it, and the cost of catching up
/// afterwards.
fn following() -> Result<(), String> {
    println!(
        "\ntasks at full speed, journal on disk, with the Auditor following and without; the median of {RUNS} [least, most]\n"
    );
    println!(
        "{:>9} {:>30} {:>30} {:>22}",
        "in flight", "with, tasks/s", "without, tasks/s", "loss of a pair, %"
    );
    for (in_flight, tasks) in IN_FLIGHT {
        let mut speeds = [Journaled::Disk, Journaled::Audited].map(|store| (store, Vec::new()));
        for _ in 0..RUNS {
            for (store, speeds) in &mut speeds {
                let scenario = Scenario { store: *store, answers: Answers::AtOnce, in_flight, tasks };
                speeds.push(crate::child(&scenario)?.tasks_per_s);
            }
        }
        let [(_, without), (_, with)] = speeds;
        let pairs = without.iter().zip(&with);
        let loss = Spread::of(pairs.map(|(without, with)| (1.0 - with / without) * 100.0));
        let target = if loss.median < 10.0 { "met" } else { "missed" };
        println!(
            "{in_flight:>9} {:>30} {:>30} {:>22}  target < 10: {target}",
            Spread::of(with).text(),
            Spread::of(without).text(),
            loss.text()
        );
    }
    let (rows, cpu_us) = scenario::caught_up(CAUGHT_UP)?;
    let per_task = rows as f64 / CAUGHT_UP as f64;
    println!(
        "\ncatching up with {CAUGHT_UP} tasks that ran without it: {cpu_us:.2} us CPU a row, {per_task:.0} rows a task: {:.3} ms a task",
        cpu_us * per_task / 1e3
    );
    Ok(())
}

fn child() -> Result<Vec<f64>, String> {
    let me = std::env::current_exe().map_err(text)?;
    let output = Command::new(me).arg("--audit").output().map_err(text)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let figures = String::from_utf8_lossy(&output.stdout);
    figures.split_whitespace().map(|figure| figure.parse().map_err(text)).collect()
}

/// Runs one round.
pub(crate) fn one() -> Result<(), String> {
    let root = tempfile::tempdir().map_err(text)?;
    let dir = root.path().join("audit");
    let export = root.path().join("exported");
    let options = Options { export: Some(export.clone()), ..Options::default() };
    let (mut log, _) = AuditLog::open(&dir, &options).map_err(text)?;
    let (append_us, checkpoint_ms, cpu_us) = write(&mut log)?;
    drop(log);
    let bytes = std::fs::metadata(dir.join("log")).map_err(text)?.len() as f64 / ENTRIES as f64;
    let (alone, alone_cpu) = verified(&dir, &TrustAnchors::default())?;
    let (exported, _) = verified(&dir, &TrustAnchors { export: Some(export), key: None })?;
    let opening = opened(&dir, &options)?;
    println!(
        "{append_us} {checkpoint_ms} {cpu_us} {bytes} {alone} {alone_cpu} {exported} {opening} {}",
        peak_mib()
    );
    Ok(())
}

/// Returns microseconds per entry without a due checkpoint, milliseconds per batch with one, and the CPU time of
/// everything.
fn write(log: &mut AuditLog) -> Result<(f64, f64, f64), String> {
    let (mut appended_s, mut entries, mut sealed_s, mut checkpoints) = (0.0, 0, 0.0, 0);
    let mut cpu = 0.0;
    for from in (1..=ENTRIES).step_by(BATCH as usize) {
        let batch: Vec<String> = (from..(from + BATCH).min(ENTRIES + 1)).map(entry).collect();
        let (begin, cpu_begin) = (start(), cpu_ms());
        let AppendResult { sealing, .. } = log.append(&batch, AT_US).map_err(text)?;
        cpu += cpu_ms() - cpu_begin;
        match sealing {
            None => {
                appended_s += seconds(begin);
                entries += batch.len();
            }
            Some(Ok(SealedLog { exported: Ok(()), .. })) => {
                sealed_s += seconds(begin);
                checkpoints += 1;
            }
            other => return Err(format!("{other:?}")),
        }
    }
    log.seal(AT_US).map_err(text)?;
    Ok((
        appended_s * 1e6 / entries as f64,
        sealed_s * 1e3 / f64::from(checkpoints),
        cpu * 1e3 / ENTRIES as f64,
    ))
}

/// Returns what the Auditor stores for a row of the journal, in 250 bytes.
fn entry(seq: u64) -> String {
    let hash = seq.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let entry = format!(
        r#"{{"row":{seq},"task":"count-the-words-of-every-file-{:08x}","seq":{},"kind":"sub_task_outcome","from":"agent_validator:{}","to":"meta_validator:0","chain":"{hash:016x}{hash:016x}{hash:016x}{hash:016x}","note":""#,
        seq / 70,
        seq % 70,
        seq % 5,
    );
    let filling = 250usize.saturating_sub(entry.len() + 2);
    format!("{entry}{}\"}}", "x".repeat(filling))
}

/// Returns wall and CPU seconds.
fn verified(dir: &Path, against: &TrustAnchors) -> Result<(f64, f64), String> {
    let (begin, cpu_begin) = (start(), cpu_ms());
    let seen = verify(dir, against).map_err(text)?;
    let took = (seconds(begin), (cpu_ms() - cpu_begin) / 1e3);
    if !seen.is_sound() || seen.sealed != ENTRIES {
        return Err(format!("the log is not what was written: {seen:?}"));
    }
    Ok(took)
}

fn opened(dir: &Path, options: &Options) -> Result<f64, String> {
    let begin = start();
    let (log, _) = AuditLog::open(dir, options).map_err(text)?;
    let took = seconds(begin);
    if log.size() == ENTRIES { Ok(took * 1e3) } else { Err(format!("{} entries", log.size())) }
}

fn seconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64()
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
