//! The live view, as a person sees it.

use jiff::tz::TimeZone;
use proptest::prelude::*;
use setpoint_cli::state::{ApplyOutcome, ViewState};
use setpoint_cli::text::columns::width;
use setpoint_cli::text::sanitise::is_unsafe;
use setpoint_cli::view::{Look, view};
use setpoint_protocol::RoleId::*;
use setpoint_protocol::message::*;
use setpoint_protocol::record::Purpose;

use crate::support::tape::*;
use crate::support::tapes;

fn look(columns: usize) -> Look {
    Look { columns, lines: None, clock_ms: 0, is_ascii: false, zone: TimeZone::UTC }
}

fn state(tape: &Tape) -> ViewState {
    ViewState::of(tape.task.clone(), &tape.records)
}

/// Returns the view some seconds after the last record, without trailing spaces.
fn shown(state: &ViewState, look: Look) -> String {
    let look = Look { clock_ms: state.clock_ms + 9_000, ..look };
    let lines = view(state, &look);
    for line in &lines {
        assert!(line.width() <= look.columns, "{} > {}: {}", line.width(), look.columns, line.to_text());
    }
    lines.iter().map(|line| line.to_text().trim_end().to_owned() + "\n").collect()
}

#[test]
fn a_task_under_way_at_120_columns() {
    insta::assert_snapshot!(shown(&state(&tapes::migration()), look(120)));
}

#[test]
fn a_task_under_way_at_80_columns() {
    insta::assert_snapshot!(shown(&state(&tapes::migration()), look(80)));
}

#[test]
fn a_task_under_way_at_40_columns() {
    insta::assert_snapshot!(shown(&state(&tapes::migration()), look(40)));
}

#[test]
fn a_task_under_way_in_ascii() {
    let text = shown(&state(&tapes::migration()), Look { is_ascii: true, ..look(120) });
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_task_under_way_in_colours() {
    let state = state(&tapes::migration());
    let lines = view(&state, &Look { clock_ms: state.clock_ms, ..look(80) });
    let text: String = lines.iter().map(|line| line.paint(true).replace('\u{1b}', "ESC") + "\n").collect();
    insta::assert_snapshot!(text);
}

#[test]
fn gaps_are_named_and_never_called_a_success() {
    let text = shown(&state(&tapes::migration_with_gaps()), look(100));
    assert!(text.contains("accepted with gaps: not met: tests pass"), "{text}");
    assert!(!text.contains("success"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn every_moment_of_an_accepted_task() {
    let tape = tapes::accepted();
    let mut text = String::new();
    let mut before = String::new();
    for n in 1..=tape.records.len() {
        let state = ViewState::of(tape.task.clone(), &tape.first(n));
        let lines = view(&state, &Look { clock_ms: state.clock_ms, ..look(90) });
        let now: String = lines.iter().map(|line| line.to_text().trim_end().to_owned() + "\n").collect();
        if now != before {
            text.push_str(&format!("after record {n}:\n{now}\n"));
            before = now;
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_small_terminal_keeps_what_fails_and_what_runs() {
    let mut tape = Tape::opened("check many things");
    let criteria: Vec<Criterion> =
        (1..=9).map(|n| criterion(&format!("s1.c{n}"), &format!("thing {n} holds"))).collect();
    let verdicts = |n: usize, text: &str| {
        if n == 7 {
            fail(&format!("s1.c{n}"), text, None, "it does not", &[])
        } else {
            pass(&format!("s1.c{n}"), text, "it does", &[])
        }
    };
    let judged = (1..=9).map(|n| verdicts(n, &format!("thing {n} holds"))).collect();
    tape.say(Perceiver, 0, spec("check many things"))
        .say(
            Planner,
            0,
            manifest(
                1,
                &[(1, 1, criteria.clone()), (2, 2, vec![criterion("s2.c1", "the last thing holds")])],
                vec![],
            ),
        )
        .say(Planner, 1, subtask(1, "check", criteria.clone()))
        .say(AgentValidator, 1, outcome(1, criteria, judged, vec![], vec![]));
    insta::assert_snapshot!(shown(&state(&tape), Look { lines: Some(8), ..look(80) }));
    for lines in 0..20 {
        let shown = shown(&state(&tape), Look { lines: Some(lines), ..look(80) });
        assert!(shown.lines().count() <= lines, "{lines}: {shown}");
    }
}

#[test]
fn questions_come_before_everything_else_that_is_waited_for() {
    let mut tape = Tape::opened("tidy up");
    tape.say(Perceiver, 0, spec("tidy up"))
        .ask_model("r2/1", Purpose::Plan)
        .say(Executor, 1, approval("r3.1/2", "rm -rf build", &["/w/build"]))
        .say(Executor, 2, approval("r3.2/2", "rm -rf dist", &["/w/dist"]));
    let text = shown(&state(&tape), look(100));
    assert!(text.contains("waiting: you, to allow: rm -rf build (and 1 more)"), "{text}");
}

#[test]
fn a_second_attempt_of_a_call_says_why() {
    let mut tape = Tape::opened("tidy up");
    tape.ask_model("r1/1", Purpose::Perceive).reask("r1/1", 2, "the service was overloaded");
    let text = shown(&state(&tape), look(100));
    assert!(text.contains("waiting: R1 reads the goal 9 s, attempt 2: the service was overloaded"), "{text}");
}

#[test]
fn a_fault_leaves_nothing_running() {
    let mut tape = tapes::migration();
    tape.say(
        Runtime,
        0,
        TaskFault {
            role: Executor,
            kind: FaultKind::Fault,
            reason: "the provider is down".to_owned(),
            failure_class: None,
            hints: vec![],
            retryable: true,
            elapsed_ms: 0,
        },
    );
    let text = shown(&state(&tape), look(100));
    assert!(text.contains("not judged: the provider is down"), "{text}");
    assert!(!text.contains('◐'), "{text}");
}

#[test]
fn omega_is_the_controllers() {
    let mut tape = tapes::migration();
    // Two of three replans and 0 s of 300 s: 0.6 · 2/3, plus 0.4 times the share of time.
    let state = state(&tape);
    let since = state.clock_ms - state.spec_clock_ms.unwrap();
    assert!((state.omega_at(state.clock_ms) - (0.4 + 0.4 * since as f64 / 300_000.0)).abs() < 1e-9);
    assert_eq!(state.omega_at(u64::MAX), 1.0);
    tape.say(GoalGradientSolver, 0, final_result(EndState::Accept, EndedBy::CriteriaMet));
    assert_eq!(self::state(&tape).omega_at(u64::MAX), 0.04);
}

#[test]
fn a_deadline_shortens_the_time_budget() {
    let mut tape = Tape::opened("be quick");
    let mut spec = spec("be quick");
    spec.constraints.deadline = Some("2026-01-01T12:01:00Z".parse().unwrap());
    tape.say(Perceiver, 0, spec);
    assert_eq!(state(&tape).time_budget_ms, 60_000);
}

#[test]
fn records_are_taken_once_and_in_order() {
    let tape = tapes::accepted();
    let mut state = ViewState::new(tape.task.clone());
    assert_eq!(state.apply(&tape.records[0]), ApplyOutcome::New);
    assert_eq!(state.apply(&tape.records[0]), ApplyOutcome::Known);
    assert_eq!(state.apply(&tape.records[2]), ApplyOutcome::Gap);
    assert_eq!(state.seq, 1);
    assert_eq!(state.apply(&tape.records[1]), ApplyOutcome::New);
}

#[test]
fn an_unreadable_record_changes_nothing() {
    let mut tape = tapes::accepted();
    for record in &mut tape.records {
        record.body = b"{\"half\":".to_vec();
    }
    let state = state(&tape);
    assert_eq!(state.seq, tape.records.len() as u64);
    assert!(!state.is_ended());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever models, tools and people write, and however large the terminal is.
    #[test]
    fn no_text_from_outside_reaches_the_terminal_unsafe(text in nasty(), columns in 1_usize..140, lines in 0_usize..30) {
        let mut tape = Tape::opened(&text);
        let criteria = vec![criterion("s1.c1", &text), criterion("s1.c2", &text)];
        tape.say(Perceiver, 0, spec(&text))
            .say(Planner, 0, manifest(1, &[(1, 1, criteria.clone())], vec![criterion("t1", &text)]))
            .say(Planner, 1, subtask(1, &text, criteria.clone()))
            .ask_tool("r3.1/1", "shell", serde_json::json!({ "command": text }))
            .say(AgentValidator, 1, correction(1, 1, (&text, None), &text, &["s1.c1"]))
            .say(AgentValidator, 1, outcome(1, criteria, vec![fail("s1.c1", &text, None, &text, &["r3.1/1"])], vec![], vec![]))
            .say(GoalGradientSolver, 0, directive(ActionState::Refine, loss(1.0, 0.5, 0.2, 0.9), 0.0, &[], &text))
            .say(Executor, 1, approval("r3.1/2", &text, &[&text]));
        let state = state(&tape);
        for is_ascii in [false, true] {
            let look = Look { columns, lines: Some(lines), clock_ms: 0, is_ascii, zone: TimeZone::UTC };
            for line in view(&state, &look) {
                let text = line.to_text();
                prop_assert!(text.chars().all(|c| !is_unsafe(c)), "{text:?}");
                prop_assert!(width(&text) <= columns);
                prop_assert!(!is_ascii || text.is_ascii());
            }
        }
    }
}

fn nasty() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "\u{1b}[2J",
        "\u{1b}]52;c;eA==\u{7}",
        "\u{1b}]8;;http://x\u{1b}\\",
        "\u{202e}",
        "\u{200b}",
        "\0",
        "\r",
        "\n",
        "日本",
        "e\u{301}",
        "👩\u{200d}🚀",
        "\u{9b}1m",
        "x y",
    ]);
    prop::collection::vec(prop_oneof![piece.prop_map(str::to_owned), ".{0,6}"], 0..8)
        .prop_map(|parts| parts.concat())
}
