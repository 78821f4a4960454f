//! Whether a language model may receive what was learnt without it: set on the command line, and asked once.

use serde_json::json;
use setpoint_app::init::InitResult;
use setpoint_cli::io::Key;
use setpoint_protocol::RoleId::*;
use setpoint_protocol::message::*;

use super::*;
use crate::support::tape::*;

#[tokio::test]
async fn sharing_is_set_by_yes_or_no() {
    for (line, deed, told) in [
        ("memory share yes", "share true", "is sent what was learnt without it"),
        ("memory share no", "share false", "is sent only what was learnt with it"),
    ] {
        let (came, asked) = run(remembering(FakeMemory::default()), line).await;
        assert_eq!((came.code, asked), (0, vec![deed.to_owned(), "close".to_owned()]), "{line}");
        assert!(came.out.contains(told), "{line}: {}", came.out);
    }
    let value = run(remembering(FakeMemory::default()), "memory share yes --json").await.0.json();
    assert_eq!(value, json!({ "is_shared": true }));
    for line in ["memory share", "memory share perhaps"] {
        let (came, asked) = run(remembering(FakeMemory::default()), line).await;
        assert_eq!((came.code, asked.len()), (2, 0), "{line}");
    }
}

fn unasked() -> FakeMemory {
    FakeMemory { unasked: vec!["near/a".to_owned()], ..FakeMemory::default() }
}

/// Returns a world with a run that ends at once, on a terminal on which these keys are pressed.
fn running(memory: FakeMemory, keys: Vec<Key>) -> World {
    let mut tape = Tape::opened("tidy up");
    tape.say(Perceiver, 0, spec("tidy up"));
    tape.say(GoalGradientSolver, 0, final_result(EndState::Accept, EndedBy::CriteriaMet));
    let beats = vec![crate::support::organisation::Beat::TellRest];
    let mut world = World::on_paper(Fake::starting(tape, beats), vec![keys]);
    world.host.memory = Arc::new(memory);
    world
}

#[tokio::test(start_paused = true)]
async fn a_run_on_a_terminal_asks_and_keeps_the_answer() {
    for (key, deed) in [(Key::Char('y'), "share true"), (Key::Enter, "share false")] {
        let (came, asked) = run(running(unasked(), vec![key]), "run tidy up").await;
        assert_eq!((came.code, asked), (0, ["unasked", deed, "close"].map(str::to_owned).to_vec()));
        assert!(
            came.err.starts_with("Memory holds what was learnt without near/a: goals, paths"),
            "{}",
            came.err
        );
        assert!(came.err.contains("`setpoint memory share yes` or `no` changes the answer"), "{}", came.err);
    }
    let (came, asked) = run(running(unasked(), vec![Key::Interrupt]), "run tidy up").await;
    assert_eq!((came.code, came.out.as_str()), (130, ""));
    assert_eq!(asked, ["unasked", "close"], "who leaves says nothing");
}

#[tokio::test(start_paused = true)]
async fn no_question_is_asked_without_a_terminal_or_a_need() {
    let (came, asked) = run(running(FakeMemory::default(), vec![]), "run tidy up").await;
    assert_eq!((came.code, asked), (0, vec!["unasked".to_owned(), "close".to_owned()]));
    assert!(!came.err.contains("Memory holds"), "{}", came.err);
    let mut headless = running(unasked(), vec![]);
    headless.is_terminal = false;
    for world in [headless, running(unasked(), vec![])] {
        let line = if world.is_terminal { "run --json tidy up" } else { "run tidy up" };
        let (came, host) = world.run_arguments(words(line)).await;
        assert_eq!((came.code, host.memory.asked().len()), (0, 0), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_memory_that_is_broken_stops_no_task() {
    let locked = FakeMemory { is_locked: true, ..unasked() };
    let broken = FakeMemory { broken: "unasked", ..unasked() };
    for memory in [locked, broken] {
        let (came, _) = run(running(memory, vec![]), "run tidy up").await;
        assert_eq!(came.code, 0, "{}", came.err);
    }
    let forgetful = FakeMemory { broken: "share", ..unasked() };
    let (came, _) = run(running(forgetful, vec![Key::Char('y')]), "run tidy up").await;
    assert_eq!(came.code, 0);
    assert!(came.err.contains("warning: the answer was not stored"), "{}", came.err);
}

#[tokio::test(start_paused = true)]
async fn a_first_configuration_asks_about_the_models_that_it_chose() {
    let init = |is_written: bool, is_terminal: bool| {
        let mut world = running(unasked(), vec![Key::Char('y')]);
        world.is_terminal = is_terminal;
        world.host.desk.initialised = InitResult {
            brain: Some("near/a".to_owned()),
            tool: Some("near/b".to_owned()),
            is_written,
            ..InitResult::default()
        };
        world
    };
    let (came, host) = init(true, true).run_arguments(words("init")).await;
    assert_eq!(
        (came.code, host.memory.asked()[..2].to_vec()),
        (0, vec!["unasked near/a near/b".to_owned(), "share true".to_owned()])
    );
    for (is_written, is_terminal) in [(false, true), (true, false)] {
        let (_, host) = init(is_written, is_terminal).run_arguments(words("init")).await;
        assert!(host.memory.asked().is_empty());
    }
}
