//! Ctrl-C: the first stops a task so that it can be resumed, the second leaves at once.

use setpoint_cli::io::Key;
use setpoint_protocol::RoleId::*;
use setpoint_protocol::topology::Payload;

use crate::support::organisation::{Beat, Fake};
use crate::support::tape::*;
use crate::support::world::{Came, World};

fn under_way() -> Tape {
    let mut tape = Tape::opened("tidy up");
    tape.say(Perceiver, 0, spec("tidy up"));
    tape
}

#[track_caller]
fn assert_stopped(came: &Came, said: &[Payload]) {
    assert_eq!((came.code, said), (130, [].as_slice()), "nothing was told to the task: {}", came.err);
    for hint in [
        "tasks resume tidy-up-0000000000007f3a` continues it",
        "tasks cancel tidy-up-0000000000007f3a` ends it",
    ] {
        assert!(came.err.contains(hint), "{}", came.err);
    }
}

#[tokio::test(start_paused = true)]
async fn a_first_interrupt_stops_the_task_and_says_how_to_resume() {
    for is_json in [false, true] {
        let fake = Fake::starting(under_way(), vec![Beat::Tell(2), Beat::Interrupt, Beat::Stall]);
        let line = if is_json { "run --json tidy" } else { "run tidy" };
        let came = World::headless(fake.clone()).run(line).await;
        assert_stopped(&came, &fake.said());
        if is_json {
            assert_eq!(came.json()["error"]["kind"], "interrupted");
            assert_eq!(came.json()["task_id"], "tidy-up-0000000000007f3a");
        } else {
            assert_eq!(came.out, "");
        }
        assert!(*fake.was_shut_down.lock().unwrap());
    }
}

/// Releasing a task may take a while; a second interrupt ends the wait.
#[tokio::test(start_paused = true)]
async fn a_second_interrupt_does_not_wait_for_the_release() {
    let beats = vec![Beat::Tell(2), Beat::Interrupt, Beat::AwaitShuttingDown, Beat::Interrupt, Beat::Stall];
    let fake = Fake::starting(under_way(), beats);
    *fake.never_shuts_down.lock().unwrap() = true;
    let began = tokio::time::Instant::now();
    let came = World::headless(fake.clone()).run("run tidy").await;
    assert_stopped(&came, &fake.said());
    assert_eq!(began.elapsed().as_secs(), 0, "of the virtual clock");
}

/// By a signal, or by the key.
#[tokio::test(start_paused = true)]
async fn a_question_is_closed_without_an_answer() {
    let mut tape = Tape::opened("tidy up");
    tape.say(Executor, 1, approval("r3.1/2", "rm -rf build", &[]));
    let before = tape.records.len();
    tape.quiesced();
    let by_key = vec![Beat::Tell(before), Beat::Stall];
    let by_signal = vec![Beat::Tell(before), Beat::AwaitListening, Beat::Interrupt, Beat::Stall];
    for (beats, keys) in [(by_key, vec![Key::Interrupt]), (by_signal, vec![])] {
        let fake = Fake::starting(tape.clone(), beats);
        let came = World::on_paper(fake.clone(), vec![keys]).run("run tidy").await;
        assert_stopped(&came, &fake.said());
    }
}

/// A program that resumes all tasks gets one value, which includes the interrupted task.
#[tokio::test(start_paused = true)]
async fn resuming_all_ends_with_the_task_that_was_interrupted() {
    let fake = Fake::with(vec![(under_way(), 2, vec![Beat::Interrupt, Beat::Stall], None)]);
    let came = World::headless(fake.clone()).run("tasks resume --json").await;
    assert_stopped(&came, &fake.said());
    assert_eq!(came.json()[0]["error"]["kind"], "interrupted");
}
