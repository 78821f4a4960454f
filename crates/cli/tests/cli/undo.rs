//! Which calls of a task `tasks undo --to` names.

use serde_json::json;
use setpoint_history::attempts::{Attempt, tool_calls};
use setpoint_protocol::RoleId::*;
use setpoint_protocol::record::Purpose;

use crate::support::tape::*;

#[test]
fn a_tool_call_belongs_to_an_attempt_of_a_round() {
    let mut tape = Tape::opened("two rounds");
    tape.say(Planner, 0, manifest(1, &[(1, 1, vec![]), (2, 1, vec![])], vec![]))
        .say(Planner, 1, subtask(1, "one", vec![]))
        .say(Planner, 2, subtask(2, "two", vec![]))
        .ask_tool("r3.1/1", "shell", json!({}))
        .say(AgentValidator, 1, correction(1, 1, ("no", None), "no", &[]))
        .ask_tool("r3.1/2", "shell", json!({}))
        .ask_tool("r3.2/1", "shell", json!({}))
        .ask_model("r3.2/2", Purpose::Execute)
        .say(Planner, 0, manifest(2, &[(3, 1, vec![])], vec![]))
        .say(Planner, 1, subtask(3, "three", vec![]))
        .ask_tool("r3.1/3", "shell", json!({}));
    let calls = tool_calls(&tape.first(usize::MAX));
    let named: Vec<String> = calls.iter().map(|(call, attempt)| format!("{call} {attempt}")).collect();
    assert_eq!(named, ["r3.1/1 1.1", "r3.1/2 1.2", "r3.1/3 2.1", "r3.2/1 1.1"]);
    for wrong in ["", "1", "0.1", "1.0", "1.x", "-1.1"] {
        assert!(wrong.parse::<Attempt>().is_err(), "{wrong}");
    }
}
