//! Criteria × attempts, over rounds whose plans give criteria other ids.

use setpoint_cli::state::ViewState;
use setpoint_cli::state::board::{Cell, Column};
use setpoint_protocol::RoleId::*;
use setpoint_protocol::message::*;

use crate::support::tape::*;

const FIRST: Column = Column { round: 1, attempt: 1 };
const SECOND: Column = Column { round: 2, attempt: 1 };

fn state(tape: &Tape) -> ViewState {
    ViewState::of(tape.task.clone(), &tape.records)
}

#[test]
fn criteria_with_equal_text_keep_separate_rows() {
    let of_round = |round: u32| {
        let one = vec![
            criterion(&format!("s{round}1.c1"), "it is done"),
            criterion(&format!("s{round}1.c2"), "it is done"),
        ];
        let two = vec![criterion(&format!("s{round}2.c1"), "it is done")];
        manifest(
            round,
            &[(round * 10, 1, one), (round * 10 + 1, 1, two)],
            vec![criterion("t1", "it is done")],
        )
    };
    let mut tape = Tape::opened("do it");
    tape.say(Perceiver, 0, spec("do it")).say(Planner, 0, of_round(1));
    let failed = |id: &str| fail(id, "it is done", None, "no", &[]);
    tape.say(Planner, 1, subtask(10, "one", vec![]))
        .say(AgentValidator, 1, outcome(10, vec![], vec![failed("s11.c2")], vec![], vec![]))
        .say(MetaValidator, 0, replan(1, vec![], None))
        .say(Planner, 0, of_round(2));
    tape.say(AgentValidator, 1, outcome(21, vec![], vec![failed("s22.c1")], vec![], vec![]));
    let state = state(&tape);
    let rows: Vec<_> = state
        .board
        .rows()
        .map(|row| (row.label.as_str(), row.ids().map(ToString::to_string).collect::<Vec<_>>().join(" ")))
        .collect();
    let expected = [("c1", "s11.c1 s21.c1"), ("c2", "s11.c2 s21.c2"), ("c3", "s12.c1 s22.c1"), ("t1", "t1")];
    assert_eq!(rows, expected.map(|(label, ids)| (label, ids.to_owned())));
    let cells = |column: Column| state.board.rows().map(|row| row.cell(column)).collect::<Vec<_>>();
    let (open, failed) = (Some(Cell::NotYet), Some(Cell::Failed(None)));
    assert_eq!(cells(FIRST), [failed, failed, open, None], "what ran and was not judged has failed");
    assert_eq!(cells(SECOND), [open, open, failed, None]);
}

#[test]
fn the_whole_is_judged_after_every_part_has_matched() {
    let mut tape = Tape::opened("do it");
    let parts = |n: u32| vec![criterion(&format!("s{n}.c1"), "it is done")];
    let plan = manifest(1, &[(1, 1, parts(1)), (2, 1, parts(2))], vec![criterion("t1", "all of it")]);
    tape.say(Planner, 0, plan);
    let whole = |tape: &Tape| state(tape).board.row(&"t1".parse().unwrap()).unwrap().latest();
    let matched = |n: u32| {
        outcome(n, vec![], vec![pass(&format!("s{n}.c1"), "it is done", "yes", &[])], vec![], vec![])
    };
    let failed = outcome(2, vec![], vec![], vec![], vec![]);
    tape.say(AgentValidator, 1, matched(1));
    assert_eq!(whole(&tape), Some(Cell::NotYet));
    let mut other = tape.clone();
    other.say(AgentValidator, 2, failed);
    assert_eq!(whole(&other), Some(Cell::NotYet));
    tape.say(AgentValidator, 2, matched(2));
    assert_eq!(whole(&tape), Some(Cell::Running));
    tape.say(User, 0, CancelRequest { reason: None });
    assert_eq!(whole(&tape), Some(Cell::NotYet));
}

#[test]
fn a_kept_result_keeps_its_time() {
    let mut tape = Tape::opened("do it");
    let part = || vec![criterion("s1.c1", "it is done")];
    tape.say(Planner, 0, manifest(1, &[(1, 1, part())], vec![]));
    let matched = outcome(1, part(), vec![pass("s1.c1", "it is done", "yes", &[])], vec![], vec![]);
    tape.after(5_000).say(AgentValidator, 1, matched.clone());
    let judged_at = tape.records.last().unwrap().at;
    let mut next = manifest(2, &[(1, 1, part())], vec![]);
    next.subtasks[0].carried = Some(matched);
    next.dispatched_at = judged_at.plus_millis(60_000);
    tape.after(60_000).say(Planner, 0, next);
    let state = state(&tape);
    let row = state.board.rows().next().unwrap();
    assert_eq!(row.cell(SECOND), Some(Cell::Verified));
    for column in [FIRST, SECOND] {
        assert_eq!(row.evidence_in(column).map(|evidence| evidence.at), Some(judged_at), "{column:?}");
    }
}

#[test]
fn the_number_of_columns_is_limited() {
    let mut tape = Tape::opened("do it");
    let part = || vec![criterion("s1.c1", "it is done")];
    tape.say(Planner, 0, manifest(1, &[(1, 1, part())], vec![]));
    for attempt in (1..=300).chain([u32::MAX]) {
        tape.say(AgentValidator, 1, correction(1, attempt, ("it is done", None), "no", &["s1.c1"]));
    }
    let state = state(&tape);
    assert_eq!(state.board.columns().count(), 101);
    assert_eq!(state.board.rows().next().unwrap().cells().count(), 101);
}
