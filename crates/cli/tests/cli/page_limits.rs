//! Pages of long tasks: every section shows the latest rounds and attempts, the same ones everywhere, and how
//! many it leaves out.

use setpoint_protocol::RoleId::*;
use setpoint_protocol::message::*;
use setpoint_protocol::record::Purpose;

use crate::page::page;
use crate::support::markup::Markup;
use crate::support::tape::*;

/// Returns a task whose rounds, numbered from `first`, each judge one criterion once; then it is given up.
fn rounds(first: u32, count: u32) -> Tape {
    let mut tape = Tape::opened("try on and on");
    tape.say(Perceiver, 0, spec("try on and on"));
    let part = || vec![criterion("s1.c1", "it is done")];
    for round in first..first + count {
        tape.after(1_000)
            .say(Planner, 0, manifest(round, &[(round, 1, part())], vec![]))
            .say(Planner, 1, subtask(round, "try", part()))
            .say(
                AgentValidator,
                1,
                outcome(round, part(), vec![fail("s1.c1", "it is done", None, "no", &[])], vec![], vec![]),
            )
            .say(MetaValidator, 0, replan(round, vec![], None));
        if round + 1 == first + count {
            tape.say(GoalGradientSolver, 0, final_result(EndState::Abandon, EndedBy::Omega));
        } else {
            let reason = format!("refine: reason {round}.");
            let loss = loss(0.5, 0.1, 0.1, 0.3);
            tape.say(GoalGradientSolver, 0, directive(ActionState::Refine, loss, 0.0, &[], &reason));
        }
    }
    tape
}

/// Returns the values of this attribute of these elements, in order.
fn values<'m>(markup: &'m Markup, element: &'m str, attribute: &str) -> Vec<&'m str> {
    markup.all(element).filter_map(|one| one.attribute(attribute)).collect()
}

fn fact<'m>(markup: &'m Markup, name: &str) -> &'m str {
    let place = markup.elements.iter().position(|one| one.name == "dt" && one.text == name).unwrap();
    &markup.elements[place + 1].text
}

#[tokio::test]
async fn the_latest_rounds_are_the_same_ones_everywhere() {
    let (_, markup) = page(rounds(1, 45)).await;
    let latest: Vec<String> = (6..=45).map(|round| round.to_string()).collect();
    assert_eq!(values(&markup, "g", "data-round"), latest);
    assert_eq!(values(&markup, "g", "data-step"), latest);
    assert_eq!(fact(&markup, "Rounds"), "45 measured, the 5 earliest left out here");
    // The last round has no direction.
    for (id, told) in [
        ("loss", "5 more earlier rounds are left out here"),
        ("direction", "5 more earlier rounds are left out here"),
        ("decisions", "4 more earlier decisions are left out here"),
        ("intent", "5 more earlier plans are left out here"),
    ] {
        assert!(markup.by_id(id).text.contains(told), "{id}: {}", markup.by_id(id).text);
    }
    let decisions = &markup.by_id("decisions").text;
    assert!(decisions.contains("reason 44") && decisions.contains("reason 5"), "{decisions}");
    assert!(!decisions.contains("Round 4 "), "{decisions}");
    let plans = &markup.by_id("intent").text;
    assert!(plans.contains("Plan of round 45:") && !plans.contains("Plan of round 5:"), "{plans}");
    let (_, markup) = page(rounds(1, 3)).await;
    assert_eq!(fact(&markup, "Rounds"), "3 measured");
    assert!(!markup.text.contains("left out"), "{}", markup.text);
}

/// Each sign of the matrix links to its judgement: [`Markup::of`] rejects a link without a target.
#[tokio::test]
async fn a_criterion_opens_to_its_latest_attempts() {
    let (_, markup) = page(rounds(1, 70)).await;
    let columns = values(&markup, "th", "data-column");
    assert_eq!((columns.len(), columns.first(), columns.last()), (60, Some(&"11.1"), Some(&"70.1")));
    let judged = &markup.by_id("criterion-0").text;
    assert!(judged.contains("10 earlier attempts are left out here") && judged.contains("70.1"), "{judged}");
}

#[tokio::test]
async fn a_round_has_the_number_of_its_manifest() {
    let (_, markup) = page(rounds(7, 2)).await;
    let labels: Vec<&str> = markup.all("text").map(|label| label.text.as_str()).collect();
    assert!(labels.contains(&"round 7") && labels.contains(&"round 8"), "{labels:?}");
    assert!(!labels.contains(&"round 1"), "{labels:?}");
    assert_eq!(values(&markup, "g", "data-round"), ["7", "8"]);
}

#[tokio::test]
async fn a_round_that_was_cut_short_was_not_measured() {
    for ended_by in [EndedBy::Cancelled, EndedBy::Budget, EndedBy::Deadline, EndedBy::Consent, EndedBy::Fault]
    {
        let mut tape = Tape::opened("stop it");
        let part = || vec![criterion("s1.c1", "it is done")];
        tape.say(Perceiver, 0, spec("stop it"))
            .say(Planner, 0, manifest(1, &[(1, 1, part())], vec![]))
            .say(Planner, 1, subtask(1, "try", part()))
            .say(User, 0, CancelRequest { reason: None })
            .say(GoalGradientSolver, 0, final_result(EndState::Abandon, ended_by));
        let (_, markup) = page(tape).await;
        assert_eq!(fact(&markup, "Rounds"), "0 measured, round 1 not measured");
        assert!(markup.by_id("loss").text.contains("No round has been measured."));
        assert!(values(&markup, "g", "data-step").is_empty());
    }
}

#[tokio::test]
async fn late_answers_close_their_spans_and_later_calls_are_counted() {
    let mut tape = Tape::opened("wait");
    tape.say(Perceiver, 0, spec("wait")).ask_model("r2/1", Purpose::Plan).ask_model("r2/2", Purpose::Plan);
    for _ in 0..1_500 {
        tape.quiesced();
    }
    tape.after(2_000).answer_model("r2/1", 1, 1);
    for call in ["r2/3", "r2/4"] {
        tape.ask_model(call, Purpose::Plan);
    }
    let (_, markup) = page(tape).await;
    let drawn = &markup.by_id("timeline").text;
    assert!(drawn.contains("r2/1: model, to plan, 2.0 s"), "{drawn}");
    assert!(drawn.contains("r2/2: model, to plan, has not returned"), "{drawn}");
    let told = "2 more calls of models and tools are left out here";
    assert!(markup.by_id("messages").text.contains(told), "{}", markup.by_id("messages").text);
}

#[tokio::test]
async fn a_long_tool_name_is_clipped() {
    let mut tape = Tape::opened("call it");
    let name = "tool".repeat(5_000);
    tape.say(Perceiver, 0, spec("call it")).ask_tool("r3.1/1", &name, serde_json::json!({ "path": "x" }));
    let (text, _) = page(tape).await;
    assert!(text.contains(&"tool".repeat(20)) && !text.contains(&"tool".repeat(100)));
}
