//! A kill at every record, at four points of its commit.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::assembly::{Assembly, DONE_ONCE};
use super::story::Story;

/// At most this many processes are killed and resumed side by side.
const SIDE_BY_SIDE: usize = 2;

#[test]
fn before_the_commit() {
    killed_at_every_record("before");
}

#[test]
fn in_the_middle_of_the_commit() {
    killed_at_every_record("torn");
}

#[test]
fn after_the_commit_was_written() {
    killed_at_every_record("after_write");
}

#[test]
fn after_the_commit_was_synced() {
    killed_at_every_record("after_sync");
}

fn killed_at_every_record(point: &str) {
    let undisturbed = undisturbed();
    let records = undisturbed.records.len();
    assert!(records > 50, "{records}");
    let next = AtomicUsize::new(1);
    let nothing_there = AtomicUsize::new(0);
    let interrupted = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    if n > records {
                        return;
                    }
                    match kill_and_resume(&format!("{point}:{n}"), n, &undisturbed) {
                        None => nothing_there.fetch_add(1, Ordering::SeqCst),
                        Some(some) => interrupted.fetch_add(some, Ordering::SeqCst),
                    };
                }
            });
        }
    });
    println!(
        "{point}: {records} kills, {interrupted:?} calls interrupted, {nothing_there:?} times no task yet"
    );
    // The records that open a task are one commit, so a kill there leaves a task or nothing at all.
    let before_the_first = if point.starts_with("after") { 0 } else { first_commit(&undisturbed) };
    assert_eq!(nothing_there.into_inner(), before_the_first);
    assert!(interrupted.into_inner() > 0, "no kill met a call that may change something");
}

/// Returns the task without a crash.
fn undisturbed() -> Story {
    let assembly = Assembly::new();
    let came = assembly.run(None);
    assert_eq!((came.code, assembly.parts().each_ref().map(String::as_str)), (0, DONE_ONCE), "{came:#?}");
    let tasks = assembly.tasks();
    let [task] = tasks.as_slice() else { panic!("{tasks:?}") };
    assembly.story(task)
}

/// Returns the number of records up to the first ask, of a model or of memory: nothing starts before them,
/// and they are one commit.
fn first_commit(story: &Story) -> usize {
    let is_ask =
        |record: &Value| ["setpoint.Asked", "setpoint.MemoryQuery"].iter().any(|ask| record["type"] == *ask);
    1 + story.records.iter().position(is_ask).unwrap()
}

/// Kills at a point, resumes, and checks the result. Returns the number of interrupted calls; `None` if the
/// process died before there was a task.
fn kill_and_resume(failpoint: &str, n: usize, undisturbed: &Story) -> Option<usize> {
    let assembly = Assembly::new();
    let killed = assembly.run(Some(failpoint));
    assert_eq!((killed.signal, killed.out.as_str()), (Some(9), ""), "{failpoint}: {killed:#?}");

    let tasks = assembly.tasks();
    let Some(task) = tasks.first() else {
        let (came, results) = assembly.resume_all();
        assert_eq!((came.code, results.len()), (0, 0), "{failpoint}: {came:#?}");
        assert_eq!(assembly.parts(), ["", "", ""], "{failpoint}: there is no task, and something happened");
        return None;
    };
    assert_eq!(tasks.len(), 1, "{failpoint}: {tasks:?}");
    let left = assembly.left_behind(task);
    let is_ended = left.count("FinalResult") == 1;

    // Alternates between resuming by name and resuming all, because both must notice that the process is
    // dead.
    let (came, result) = if n.is_multiple_of(2) {
        let came = assembly.resume(task, None);
        let result = came.json();
        (came, result)
    } else if is_ended {
        let came = assembly.resume(task, None);
        let (_, results) = assembly.resume_all();
        assert!(results.is_empty(), "{failpoint}: an ended task was resumed: {results:?}");
        let result = came.json();
        (came, result)
    } else {
        let (came, results) = assembly.resume_all();
        let [result] = results.as_slice() else { panic!("{failpoint}: {came:#?}") };
        let result = result.clone();
        (came, result)
    };
    assert_eq!((came.code, &result["directive"]), (0, &"accept".into()), "{failpoint}: {came:#?}");
    assert_eq!(assembly.parts(), DONE_ONCE, "{failpoint}");

    let story = assembly.story(task);
    assert_eq!(story.count("FinalResult"), 1, "{failpoint}");
    assert!(story.ends_with("FinalResult"), "{failpoint}");
    // What was committed is unchanged.
    assert_eq!(story.records[..left.records.len()], left.records[..], "{failpoint}");
    Some(compare(failpoint, &left, &story, undisturbed))
}

/// Compares the whole story with what the killed process left and with a run without a crash.
fn compare(failpoint: &str, left: &Story, story: &Story, undisturbed: &Story) -> usize {
    let asks = story.asks();
    let open: Vec<_> = asks.iter().filter(|(_, ask)| ask.is_open() && !ask.what.contains("timer")).collect();
    assert!(open.is_empty(), "{failpoint}: never answered: {open:?}");
    let interrupted: Vec<&String> =
        asks.iter().filter(|(_, ask)| ask.is_interrupted()).map(|(call, _)| call).collect();
    let in_flight = left.asks();
    let expected: Vec<&String> =
        in_flight.iter().filter(|(_, ask)| ask.is_open() && ask.is_unsafe).map(|(call, _)| call).collect();
    assert_eq!(interrupted, expected, "{failpoint}");
    let asked = story.everything_asked();
    if interrupted.is_empty() {
        assert_eq!(asked, undisturbed.everything_asked(), "{failpoint}");
    } else {
        // Checking for the interrupted call and repeating it takes further asks; no earlier question is asked
        // again under another number.
        let of_planning = |all: std::collections::BTreeSet<String>| -> Vec<String> {
            all.into_iter().filter(|ask| !ask.starts_with("r3.")).collect()
        };
        assert_eq!(of_planning(asked), of_planning(undisturbed.everything_asked()), "{failpoint}");
    }
    interrupted.len()
}
