//! The state after a kill: the process is killed at every row of a small history, at every point of a commit, and
//! again while it goes on.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Output, Stdio};

use setpoint_journal::{HeadState, Journal, JournalOptions, Row, Submission};
use tempfile::TempDir;

use crate::common::{all_rows, opening, quick_dir, row};
use crate::disk::child;

const POINTS: [&str; 4] = ["before", "torn", "after_write", "after_sync"];
const FAILPOINT: &str = "SETPOINT_FAILPOINT";
/// Variable that makes the child submit everything at once instead of step by step.
const GROUPED: &str = "SETPOINT_TEST_GROUPED";

/// One submission of the history.
#[derive(Debug, Clone, Copy)]
struct Step {
    task: &'static str,
    rows: u64,
    last: bool,
}

/// Returns a history of three interleaved tasks, with submissions of one to four rows.
fn history() -> Vec<Step> {
    let mut steps = Vec::new();
    for round in 0..4 {
        for (n, task) in ["a", "b", "c"].into_iter().enumerate() {
            steps.push(Step { task, rows: 1 + (round + n as u64) % 4, last: round == 3 });
        }
    }
    steps
}

#[test]
fn kill_at_any_point_loses_no_acknowledged_row() {
    let steps = history();
    let whole = run_whole();
    let rows_total: u64 = steps.iter().map(|step| step.rows).sum();
    assert_eq!(whole.len() as u64, rows_total);
    let mut kills = 0;
    for (p, point) in POINTS.into_iter().enumerate() {
        for n in 1..=rows_total {
            let dir = quick_dir();
            let killed = run(dir.path(), Some(&format!("{point}:{n}")), false);
            assert_eq!(killed.status.signal(), Some(9), "{point}:{n}: {}", said(&killed));
            kills += 1;

            // The commit that holds the n-th row is the one in which the process died.
            let done = commits_before(&steps, n);
            assert_eq!(acknowledged(&killed), rows_of(&steps[..done]), "{point}:{n}");
            let survived = if point.starts_with("after") { done + 1 } else { done };
            let expected = usize::try_from(rows_of(&steps[..survived])).unwrap();
            let journal = Journal::open(dir.path(), &JournalOptions::default()).unwrap();
            let state = match (point, done) {
                ("after_write", 0) => HeadState::Absent,
                ("after_write", _) => HeadState::Behind { pos: rows_of(&steps[..done]) },
                _ => HeadState::Current,
            };
            assert_eq!(journal.open_report().head, state, "{point}:{n}");
            assert_eq!(all_rows(&journal).unwrap(), whole[..expected], "{point}:{n}");
            let report = journal.verify().unwrap();
            assert!(report.is_sound() || state == HeadState::Absent, "{point}:{n}: {:?}", report.damages);
            drop(journal);

            // Kill it once more while it goes on, at another point, and then let it finish.
            let again = format!("{}:{}", POINTS[(p + 1) % 4], 1 + n / 2);
            let killed = run(dir.path(), Some(&again), false);
            let left = rows_total - rows_of(&steps[..survived]);
            let hit = n / 2 < left;
            assert_eq!(killed.status.signal().is_some(), hit, "{point}:{n} then {again}: {}", said(&killed));
            kills += usize::from(hit);
            finish(dir.path(), &whole);
        }
    }
    println!("{kills} kills over {rows_total} rows: 0 lost, 0 doubled");
    assert!(kills > 150, "{kills}");
}

/// If one commit holds several submissions, each is stored whole or not at all.
#[test]
fn a_kill_in_a_group_leaves_whole_submissions() {
    let steps = history();
    let whole = run_whole();
    let rows_total: u64 = steps.iter().map(|step| step.rows).sum();
    for (n, point) in (1..=rows_total).zip(POINTS.into_iter().cycle()) {
        let dir = quick_dir();
        let killed = run(dir.path(), Some(&format!("{point}:{n}")), true);
        assert_eq!(killed.status.signal(), Some(9), "{point}:{n}: {}", said(&killed));
        let journal = Journal::open(dir.path(), &JournalOptions::default()).unwrap();
        let rows = all_rows(&journal).unwrap();
        assert!(rows.len() as u64 >= acknowledged(&killed), "{point}:{n}");
        for task in ["a", "b", "c"] {
            let mut ends = vec![0];
            for step in steps.iter().filter(|step| step.task == task) {
                ends.push(ends[ends.len() - 1] + step.rows);
            }
            let seq = journal.head(task).unwrap().seq();
            assert!(ends.contains(&seq), "{point}:{n}: {task} ends at {seq}");
        }
        assert_eq!(rows, whole[..rows.len()]);
        drop(journal);
        finish(dir.path(), &whole);
    }
}

#[test]
fn unknown_failpoint_ends_the_process_with_an_error() {
    for bad in ["before", "before:0", "sometime:3", "before:x"] {
        let dir = TempDir::new().unwrap();
        let output = run(dir.path(), Some(bad), false);
        assert_eq!(output.status.code(), Some(70), "{bad}: {}", said(&output));
    }
}

#[test]
fn goes_on_in_a_child() {
    let Some(dir) = child::dir() else { return };
    let journal = Journal::open(&dir, &JournalOptions::default()).unwrap();
    let grouped = std::env::var_os(GROUPED).is_some();
    let mut heads = ["a", "b", "c"].map(|task| (task, journal.head(task).unwrap()));
    let mut reached = [("a", 0), ("b", 0), ("c", 0)];
    for step in history() {
        let n = heads.iter().position(|(task, _)| *task == step.task).unwrap();
        reached[n].1 += step.rows;
        let head = &heads[n].1;
        if reached[n].1 <= head.seq() {
            continue;
        }
        let submission = next(head, step);
        heads[n].1 = submission.head().clone();
        let report = |rows| println!("acknowledged {rows}");
        if grouped {
            journal.submit(submission, move |result| {
                result.unwrap();
                report(step.rows);
            });
        } else {
            journal.append(submission).unwrap();
            report(step.rows);
        }
    }
    journal.close().unwrap();
}

fn next(head: &setpoint_journal::TaskHead, step: Step) -> Submission {
    let mut submission = Submission::new(head);
    for n in 1..=step.rows {
        let seq = head.seq() + n;
        submission.push(row(seq, "k", format!("{} {seq}", step.task).repeat(60).as_bytes())).unwrap();
    }
    if head.seq() == 0 {
        submission.open(opening(step.task)).unwrap();
    }
    if step.last {
        submission.close(7);
    }
    submission
}

/// Runs the history without a crash.
fn run_whole() -> Vec<Row> {
    let dir = quick_dir();
    let output = run(dir.path(), None, false);
    assert!(output.status.success(), "{}", said(&output));
    all_rows(&Journal::open(dir.path(), &JournalOptions::default()).unwrap()).unwrap()
}

/// Runs to the end, and checks that the journal equals one that was never interrupted.
fn finish(dir: &Path, whole: &[Row]) {
    let output = run(dir, None, false);
    assert!(output.status.success(), "{}", said(&output));
    let journal = Journal::open(dir, &JournalOptions::default()).unwrap();
    assert_eq!(all_rows(&journal).unwrap(), whole);
    let report = journal.verify().unwrap();
    assert!(report.is_sound(), "{:?}", report.damages);
    for task in ["a", "b", "c"] {
        assert!(journal.task(task).unwrap().is_closed());
    }
}

fn run(dir: &Path, failpoint: Option<&str>, grouped: bool) -> Output {
    let mut command = child::command("crash::goes_on_in_a_child", dir);
    if let Some(failpoint) = failpoint {
        command.env(FAILPOINT, failpoint);
    }
    if grouped {
        command.env(GROUPED, "1");
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Returns how many rows the process reported as acknowledged.
fn acknowledged(output: &Output) -> u64 {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = text.split_whitespace();
    let mut rows = 0;
    while words.any(|word| word == "acknowledged") {
        rows += words.next().unwrap().parse::<u64>().unwrap();
    }
    rows
}

fn commits_before(steps: &[Step], row: u64) -> usize {
    (0..steps.len()).find(|n| rows_of(&steps[..=*n]) >= row).unwrap()
}

fn rows_of(steps: &[Step]) -> u64 {
    steps.iter().map(|step| step.rows).sum()
}
