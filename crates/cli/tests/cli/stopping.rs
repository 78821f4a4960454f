//! Ctrl-C: once cancels and waits for the end, twice leaves.

use setpoint_cli::io::Key;
use setpoint_protocol::RoleId::*;
use setpoint_protocol::message::*;
use setpoint_protocol::topology::{Kind, Payload};

use crate::support::organisation::{Beat, Fake};
use crate::support::tape::*;
use crate::support::world::World;

const CANCEL: Payload = Payload::CancelRequest(CancelRequest { reason: None });

fn cancelled() -> Tape {
    let mut tape = Tape::opened("tidy up");
    tape.say(Perceiver, 0, spec("tidy up")).say(User, 0, CancelRequest { reason: None }).quiesced().say(
        GoalGradientSolver,
        0,
        final_result(EndState::Abandon, EndedBy::Cancelled),
    );
    tape
}

#[tokio::test(start_paused = true)]
async fn the_first_cancels_and_the_result_is_still_told() {
    let beats = vec![Beat::Tell(3), Beat::Interrupt, Beat::AwaitSaid(Kind::CancelRequest), Beat::TellRest];
    for is_json in [false, true] {
        let fake = Fake::starting(cancelled(), beats.clone());
        let line = if is_json { "run --json tidy" } else { "run tidy" };
        let came = World::headless(fake.clone()).run(line).await;
        assert_eq!((came.code, fake.said()), (130, vec![CANCEL]));
        assert!(came.err.contains("cancelling…"), "{}", came.err);
        if is_json {
            assert_eq!(came.json()["ended_by"], "cancelled");
        } else {
            assert!(came.out.starts_with("cancelled\n"), "{}", came.out);
        }
        assert!(*fake.was_shut_down.lock().unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn the_second_leaves_and_says_how_to_come_back() {
    let beats = vec![
        Beat::Tell(3),
        Beat::Interrupt,
        Beat::AwaitSaid(Kind::CancelRequest),
        Beat::Tell(1),
        Beat::Interrupt,
        Beat::Stall,
    ];
    for is_json in [false, true] {
        let fake = Fake::starting(cancelled(), beats.clone());
        let line = if is_json { "run --json tidy" } else { "run tidy" };
        let came = World::headless(fake.clone()).run(line).await;
        assert_eq!((came.code, fake.said()), (130, vec![CANCEL]));
        assert!(
            came.err.contains("`setpoint tasks resume tidy-up-0000000000007f3a` takes it up again"),
            "{}",
            came.err
        );
        if is_json {
            assert_eq!(came.json()["error"]["kind"], "cancelled");
        } else {
            assert_eq!(came.out, "");
        }
        assert!(*fake.was_shut_down.lock().unwrap());
    }
}

/// A task that asks while it is cancelled: by a signal, or by the key.
#[tokio::test(start_paused = true)]
async fn while_a_question_is_asked_it_is_closed_and_the_task_cancelled() {
    let mut tape = Tape::opened("tidy up");
    tape.say(Executor, 1, approval("r3.1/2", "rm -rf build", &[]));
    let before = tape.records.len();
    tape.say(User, 0, CancelRequest { reason: None }).say(
        GoalGradientSolver,
        0,
        final_result(EndState::Abandon, EndedBy::Cancelled),
    );
    let by_key = vec![Beat::Tell(before), Beat::AwaitSaid(Kind::CancelRequest), Beat::TellRest];
    let by_signal = vec![
        Beat::Tell(before),
        Beat::AwaitListening,
        Beat::Interrupt,
        Beat::AwaitSaid(Kind::CancelRequest),
        Beat::TellRest,
    ];
    for (beats, keys) in [(by_key, vec![Key::Interrupt]), (by_signal, vec![])] {
        let fake = Fake::starting(tape.clone(), beats);
        let came = World::on_paper(fake.clone(), vec![keys]).run("run tidy").await;
        assert_eq!((came.code, fake.said()), (130, vec![CANCEL]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_being_cancelled_asks_nothing() {
    let mut tape = Tape::opened("tidy up");
    tape.say(Executor, 1, approval("r3.1/2", "rm -rf build", &[]));
    let all = tape.records.len();
    tape.say(GoalGradientSolver, 0, final_result(EndState::Abandon, EndedBy::Cancelled));
    let beats = vec![
        Beat::Tell(all - 1),
        Beat::Interrupt,
        Beat::AwaitSaid(Kind::CancelRequest),
        Beat::Tell(1),
        Beat::TellRest,
    ];
    let fake = Fake::starting(tape, beats);
    World::on_paper(fake.clone(), vec![vec![Key::Char('y')]]).run("run tidy").await;
    assert_eq!(fake.said(), [CANCEL]);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_finds_the_task_ended_is_no_error() {
    let tape = cancelled();
    let fake =
        Fake::starting(tape, vec![Beat::Tell(2), Beat::Miss(usize::MAX), Beat::Interrupt, Beat::Stall]);
    *fake.refuses_to_hear.lock().unwrap() = true;
    let came = World::headless(fake).run("run tidy").await;
    assert_eq!(came.code, 130);
    assert!(came.out.starts_with("cancelled\n"), "{}", came.out);
}
