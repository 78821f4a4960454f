//! Kills while the task is resumed, until it ends.

use super::assembly::{Assembly, DONE_ONCE};

/// Far more than needed.
const KILLS_MAX: usize = 100;
/// At most this many runs until one cuts an ask short; one run in twenty does not.
const RUNS_MAX: usize = 5;

/// Every process that resumes the task dies at the next of these points, in a circle. Some of them must come
/// after the first answer that a process gets, or the task would make no progress.
///
/// The records before a point depend on what runs side by side: if no ask happens to be open at any point, it
/// is tried again.
fn dies_again_and_again(points: &[&str]) {
    let was_cut_short = (0..RUNS_MAX).any(|_| dies_and_is_resumed(points));
    assert!(was_cut_short, "nothing was cut short in {RUNS_MAX} runs");
}

/// Does one run; returns whether an ask was cut short.
fn dies_and_is_resumed(points: &[&str]) -> bool {
    let assembly = Assembly::new();
    let mut points = points.iter().copied().cycle();
    let mut failpoint = points.next().unwrap();
    let killed = assembly.run(Some(failpoint));
    assert_eq!(killed.signal, Some(9), "{killed:#?}");
    let tasks = assembly.tasks();
    let [task] = tasks.as_slice() else { panic!("{tasks:?}") };
    let mut kills = 1;
    let mut before = assembly.left_behind(task);
    let came = loop {
        failpoint = points.next().unwrap();
        let came = assembly.resume(task, Some(failpoint));
        if came.signal.is_none() {
            break came;
        }
        assert_eq!(came.signal, Some(9), "{came:#?}");
        kills += 1;
        assert!(kills < KILLS_MAX, "{failpoint} gets nowhere: {came:#?}");
        let now = assembly.left_behind(task);
        assert_eq!(now.records[..before.records.len()], before.records[..], "{failpoint}, kill {kills}");
        before = now;
    };
    let story = assembly.story(task);
    println!("{failpoint}: {kills} kills, {} records, exit {}", story.records.len(), came.code);
    assert!(kills > 4, "{failpoint}: {kills}");
    assert_eq!(story.count("FinalResult"), 1, "{failpoint}");
    assert!(story.ends_with("FinalResult"), "{failpoint}");
    // Reading the asks also checks that none was asked again after its answer.
    let was_cut_short = story.asks().values().any(super::story::Ask::is_interrupted);

    let result = came.json();
    let parts = assembly.parts();
    for (part, done) in parts.iter().zip(DONE_ONCE) {
        assert!(part.is_empty() || part == done, "{failpoint}: {parts:?}");
    }
    // The result is correct however often the task was cut short.
    match (came.code, result["directive"].as_str()) {
        (0, Some("accept")) => assert_eq!(parts, DONE_ONCE, "{result:#}"),
        (3, Some("success")) | (4, Some("abandon")) => {
            assert_ne!(result["unmet_criteria"].as_array().unwrap().len(), 0, "{result:#}");
        }
        other => panic!("{failpoint}: {other:?}: {result:#}"),
    }
    was_cut_short
}

#[test]
fn after_a_few_records() {
    dies_again_and_again(&["after_sync:4"]);
}

#[test]
fn at_another_point_every_time() {
    dies_again_and_again(&["after_write:6", "torn:2", "before:9", "after_sync:5", "torn:11", "before:1"]);
}
