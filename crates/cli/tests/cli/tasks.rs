//! `tasks`: ended, running and interrupted tasks.

use serde_json::{Value, json};
use setpoint_protocol::RoleId::*;
use setpoint_protocol::message::*;
use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::{ErrorKind, ToolAnswer};
use setpoint_protocol::topology::{Kind, Payload};

use crate::support::organisation::{Beat, Fake};
use crate::support::tape::*;
use crate::support::tapes;
use crate::support::world::World;

const ALL: usize = usize::MAX;

fn journal() -> std::sync::Arc<Fake> {
    Fake::with(vec![
        (tapes::accepted(), ALL, vec![], None),
        (tapes::migration_with_gaps(), ALL, vec![], None),
        (Tape::opened("tidy up\nthe \u{1b}[2Jhouse"), 2, vec![], None),
        (Tape::opened("write the report"), 2, vec![], Some("pid 4711")),
    ])
}

#[tokio::test]
async fn a_list_has_a_line_for_each() {
    let came = World::headless(journal()).run("tasks list").await;
    assert_eq!(came.code, 0);
    insta::assert_snapshot!(came.out);
    let open = World::headless(journal()).run("tasks list --open --limit 1").await;
    assert_eq!(open.out.lines().count(), 2, "{}", open.out);
    let none = World::headless(Fake::with(vec![])).run("tasks list").await;
    assert_eq!((none.code, none.out.as_str(), none.err.as_str()), (0, "", "there are no tasks yet\n"));
}

#[tokio::test]
async fn a_list_tells_tasks_that_never_began_from_given_up_ones() {
    let mut refused = final_result(EndState::Abandon, EndedBy::Fault);
    refused.summary = "Not started: no playbook matches this goal.".to_owned();
    let given_up = final_result(EndState::Abandon, EndedBy::Rounds);
    for (result, state) in [(refused, "not started"), (given_up, "given up")] {
        let fake = Fake::with(vec![(tapes::ended(result), ALL, vec![], None)]);
        let came = World::headless(fake).run("tasks list").await;
        assert!(came.out.contains(state), "{state}: {}", came.out);
    }
}

#[tokio::test]
async fn a_list_in_json_is_one_array() {
    let value = World::headless(journal()).run("tasks list --json").await.json();
    let rows = value.as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0]["result"]["task_id"], rows[0]["task_id"]);
    assert_eq!(rows[3]["driven_by"], "pid 4711");
    let none = World::headless(Fake::with(vec![])).run("tasks list --json").await.json();
    assert_eq!(none, json!([]));
}

/// A result and a replay show what proves nothing.
#[tokio::test]
async fn the_basis_of_a_result_is_shown() {
    let own = Verdict { self_made: true, ..pass("s1.c1", "the adder adds", "4", &["r3.1/1"]) };
    let mut result = final_result(EndState::Success, EndedBy::Unproven);
    result.verdicts = vec![own.clone()];
    result.withdrawn = vec![Withdrawal {
        criterion_id: "t1".parse().unwrap(),
        criterion: "list.txt has three lines".to_owned(),
        why: "its check could not be evaluated".to_owned(),
        seen: vec![],
        check_replaced: true,
    }];
    let mut tape = Tape::opened("mend the adder");
    tape.say(Perceiver, 0, spec("mend the adder"))
        .say(
            AgentValidator,
            1,
            outcome(1, vec![criterion("s1.c1", "the adder adds")], vec![own], vec![], vec![]),
        )
        .say(GoalGradientSolver, 0, result);
    let world = || World::headless(Fake::with(vec![(tape.clone(), ALL, vec![], None)]));
    let (shown, replayed) = (world().run("tasks show mend").await, world().run("replay mend").await);
    let own = "on what the work made or changed itself";
    assert!(shown.out.contains(own), "{}", shown.out);
    assert!(replayed.out.contains(&format!("  check, {own}: ")), "{}", replayed.out);
    let replaced = "judged by a different check than at first:\n- list.txt has three lines: its check";
    assert!(shown.out.contains(replaced), "{}", shown.out);
}

/// Refuted, not shown, and impossible: in every view, by word and by sign.
#[tokio::test(start_paused = true)]
async fn kinds_of_failure_are_distinct_everywhere() {
    let texts = ["the number is even", "the number was counted twice", "the tests were run"];
    let shown = [Shown::Refuted, Shown::NotShown, Shown::Cannot];
    let ids = ["s1.c1", "s1.c2", "s1.c3"];
    let verdicts: Vec<Verdict> = (0..3)
        .map(|n| Verdict {
            shown: Some(shown[n]),
            ..fail(ids[n], texts[n], Some(FailureClass::Logical), "nothing says so", &[])
        })
        .collect();
    let criteria: Vec<Criterion> = (0..3).map(|n| criterion(ids[n], texts[n])).collect();
    let mut result = final_result(EndState::Abandon, EndedBy::Infeasible);
    result.subtask_verdicts = verdicts.clone();
    result.unmet_criteria = texts.map(str::to_owned).to_vec();
    let mut tape = Tape::opened("count the tests");
    tape.say(Perceiver, 0, spec("count the tests"))
        .say(Planner, 0, manifest(1, &[(1, 1, criteria.clone())], vec![]))
        .say(Planner, 1, subtask(1, "count the tests", criteria.clone()))
        .say(Executor, 1, execution(1, 1, vec![]))
        .say(AgentValidator, 1, outcome(1, criteria, verdicts, vec![], vec![]))
        .say(GoalGradientSolver, 0, result);
    let ran = World::headless(Fake::starting(tape.clone(), vec![Beat::TellRest])).run("run count").await;
    assert!(ran.err.contains("1 refuted, 1 not shown, 1 cannot hold here"), "{}", ran.err);
    let world = || World::headless(Fake::with(vec![(tape.clone(), ALL, vec![], None)]));
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    world().run(&format!("tasks show count --html '{}'", page.display())).await;
    let verbose = world().run("tasks show -v count").await.out;
    for seen in [
        ran.out,
        world().run("tasks show count").await.out,
        world().run("replay count").await.out,
        std::fs::read_to_string(page).unwrap(),
    ] {
        for word in ["refuted", "not shown", "cannot hold here"] {
            assert!(seen.contains(word), "{word}: {seen}");
        }
    }
    for sign in ["✗L", "?L", "⊘"] {
        assert!(verbose.contains(sign), "{sign}: {verbose}");
    }
    let value = world().run("tasks show --json count").await.json();
    let states: Vec<&Value> =
        value["criteria"].as_array().unwrap().iter().map(|row| &row["attempts"][0]["state"]).collect();
    assert_eq!(states, ["failed_logical", "not_shown_logical", "cannot"], "{value:#}");
}

/// The change that a person is asked to allow is shown, and the call that waited for it counts once.
#[tokio::test(start_paused = true)]
async fn consent_shows_the_change_and_its_call_counts_once() {
    const CHANGE: &str = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three";
    let edit = json!({ "path": "notes.txt", "find": "two", "replace": "2" });
    let unasked = ToolAnswer { error_kind: Some(ErrorKind::ApprovalRequired), ..ToolAnswer::default() };
    let mut request = approval("r3.1/3", "edit_file notes.txt", &[]);
    request.need.preview = Some(CHANGE.to_owned());
    let decision = ApprovalDecision {
        call_id: id("r3.1/3"),
        decision: ApprovalWord::Once,
        digest: request.need.digest.clone(),
        by: "file:approve:1".to_owned(),
        allows: Vec::new(),
    };
    let mut tape = Tape::opened("mend the notes");
    tape.ask_tool("r3.1/2", "edit_file", edit.clone())
        .answer("r3.1/2", Answer::Tool(Box::new(unasked)))
        .say(Executor, 1, request);
    let mut refused = tape.clone();
    refused.say(GoalGradientSolver, 0, final_result(EndState::Abandon, EndedBy::Consent));
    let beats = vec![Beat::Tell(5), Beat::AwaitSaid(Kind::ApprovalDecision), Beat::TellRest];
    let asked = World::headless(Fake::starting(refused, beats)).run("run mend").await.err;
    assert!(asked.contains("\n   one\n  -two\n  +2\n   three\n"), "{asked}");
    tape.say(User, 1, decision)
        .ask_tool("r3.1/4", "edit_file", edit)
        .answer("r3.1/4", Answer::Tool(Box::new(ToolAnswer { ok: true, ..ToolAnswer::default() })));
    let world = || World::headless(Fake::with(vec![(tape.clone(), ALL, vec![], None)]));
    let shown = world().run("tasks show mend").await.out;
    assert!(shown.contains("\n  -two\n  +2\n") && !shown.contains("needs approval"), "{shown}");
    let value = world().run("tasks show --json mend").await.json();
    assert_eq!(value["approvals"][0]["preview"], CHANGE, "{value:#}");
    assert_eq!((value["calls"].as_array().unwrap().len(), &value["calls"][0]["ok"]), (1, &json!(true)));
    assert_eq!(value["usage"]["tool_calls"], 1, "{value:#}");
}

#[tokio::test]
async fn a_task_is_shown_from_its_records_alone() {
    for (name, line) in [
        ("show_gaps", "tasks show migrate"),
        ("show_gaps_verbose", "tasks show -v migrate"),
        ("show_open", "tasks show tidy"),
        ("show_open_verbose", "tasks show -v tidy"),
    ] {
        let came = World::headless(journal()).run(line).await;
        assert_eq!(came.code, 0, "{line}");
        insta::assert_snapshot!(name, came.out);
    }
    let mut tape = Tape::opened("waste no words");
    tape.say(Perceiver, 0, clarification("r1/2", &["Which words?"])).say(
        Executor,
        1,
        approval("r3.1/2", "rm\n-rf build", &[]),
    );
    let came = World::headless(Fake::with(vec![(tape, ALL, vec![], None)])).run("tasks show waste").await;
    assert!(came.out.contains("state   open, round 1, 2 questions for you\n"), "{}", came.out);
    assert!(came.out.contains("waits   for you, to allow: rm\\n-rf build\n"), "{}", came.out);
}

#[tokio::test]
async fn a_task_in_json_is_one_value_with_everything() {
    let value = World::headless(journal()).run("tasks show migrate --json").await.json();
    assert_eq!(value["state"], "success");
    assert_eq!(value["result"]["unmet_criteria"], json!(["tests pass"]));
    assert_eq!(value["rounds"][0]["directive"], "change_approach");
    assert_eq!(value["rounds"][0]["blocked"], json!(["shell/csvsql"]));
    let tests = value["criteria"].as_array().unwrap().iter().find(|row| row["label"] == "c3").unwrap();
    assert_eq!(tests["ids"], json!(["s2.c1", "s4.c1", "s5.c1"]));
    let states: Vec<&Value> =
        tests["attempts"].as_array().unwrap().iter().map(|cell| &cell["state"]).collect();
    assert_eq!(states, ["not_yet", "failed_environmental", "not_yet"]);
    assert_eq!(value["usage"]["model_calls"], 3);
    insta::assert_snapshot!(serde_json::to_string_pretty(&value["criteria"][0]).unwrap());
}

#[tokio::test]
async fn an_unknown_task_is_a_usage_error() {
    for line in ["tasks show nope", "tasks cancel nope", "tasks resume nope", "tasks export nope"] {
        let came = World::headless(journal()).run(line).await;
        assert_eq!((came.code, came.err.as_str()), (2, "error: no task begins with \"nope\"\n"), "{line}");
    }
}

#[tokio::test]
async fn an_export_is_lines_of_json() {
    let came = World::headless(journal()).run("tasks export tidy").await;
    assert_eq!(came.out, "{\"seq\":1,\"text\":\"a\u{9b}b\"}\n{\"seq\":2,\"text\":\"a\u{9b}b\"}\n");
    let came = World::on_terminal(journal(), vec![]).run("tasks export tidy").await;
    assert_eq!(came.out, "{\"seq\":1,\"text\":\"a\\u009bb\"}\n{\"seq\":2,\"text\":\"a\\u009bb\"}\n");
}

#[tokio::test]
async fn an_export_to_a_file_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tidy.jsonl");
    let came = World::headless(journal()).run(&format!("tasks export tidy -o '{}'", path.display())).await;
    assert_eq!((came.code, came.out.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
    for place in ["none/tidy.jsonl", ".", "tidy.jsonl/task.jsonl"] {
        let place = folder.path().join(place);
        let line = format!("tasks export tidy -o '{}'", place.display());
        let came = World::headless(journal()).run(&line).await;
        assert_eq!((came.code, came.out.as_str()), (2, ""), "{place:?}");
        assert!(came.err.contains("failed to write") && came.err.contains("hint: "), "{}", came.err);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_reaches_the_process_that_drives_the_task() {
    let fake = journal();
    let came = World::headless(fake.clone()).run("tasks cancel write").await;
    assert_eq!(
        (came.code, came.err.as_str()),
        (0, "told pid 4711 to cancel write-the-report-0000000000007f3a\n")
    );
    assert_eq!(fake.said(), [Payload::CancelRequest(CancelRequest { reason: None })]);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_resumes_a_task_without_a_driver() {
    let mut tape = Tape::opened("tidy up");
    tape.say(User, 0, CancelRequest { reason: None }).say(
        GoalGradientSolver,
        0,
        final_result(EndState::Abandon, EndedBy::Cancelled),
    );
    let fake = Fake::with(vec![(tape, 2, vec![Beat::AwaitSaid(Kind::CancelRequest), Beat::TellRest], None)]);
    let came = World::headless(fake).run("tasks cancel tidy").await;
    assert_eq!(came.code, 0, "{}", came.err);
    assert!(came.out.starts_with("cancelled\n"), "{}", came.out);
}

#[tokio::test(start_paused = true)]
async fn an_ended_task_cannot_be_cancelled() {
    let came = World::headless(journal()).run("tasks cancel count").await;
    assert_eq!(came.code, 2);
    assert!(
        came.err.starts_with("error: the task count-the-files-0000000000007f3a has ended already\n"),
        "{}",
        came.err
    );
}

#[tokio::test(start_paused = true)]
async fn a_resumed_task_goes_on_where_it_was() {
    let tape = tapes::accepted();
    // The first records that are sent are in the journal already.
    let fake = Fake::with(vec![(tape, 6, vec![Beat::TellRest], None)]);
    let came = World::headless(fake).run("tasks resume count").await;
    assert_eq!(came.code, 0);
    assert!(!came.err.contains("goal:"), "{}", came.err);
    assert!(
        came.out.starts_with("42\n\naccepted: the count is right\n\nCounted the files.\n"),
        "{}",
        came.out
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_that_was_open_is_asked_again() {
    let mut tape = Tape::opened("tidy up");
    tape.say(Executor, 1, approval("r3.1/2", "rm -rf build", &[]));
    let before = tape.records.len();
    tape.say(GoalGradientSolver, 0, final_result(EndState::Abandon, EndedBy::Consent));
    let beats = vec![Beat::AwaitSaid(Kind::ApprovalDecision), Beat::TellRest];
    let fake = Fake::with(vec![(tape, before, beats, None)]);
    let came = World::headless(fake.clone()).run("tasks resume tidy").await;
    assert_eq!(came.code, 5);
    assert!(
        matches!(fake.said().as_slice(), [Payload::ApprovalDecision(decision)] if decision.by == "headless")
    );
}

#[tokio::test(start_paused = true)]
async fn resuming_an_ended_task_shows_its_result() {
    let came = World::headless(journal()).run("tasks resume migrate --json").await;
    assert_eq!((came.code, came.json()["ended_by"].as_str()), (3, Some("distance")));
}

fn interrupted() -> std::sync::Arc<Fake> {
    let end = |name: &str, directive, ended_by| {
        let mut tape = Tape::opened(name);
        tape.say(GoalGradientSolver, 0, final_result(directive, ended_by));
        (tape, 2, vec![Beat::TellRest], None)
    };
    let mut running = end("d is driven elsewhere", EndState::Accept, EndedBy::CriteriaMet);
    running.3 = Some("pid 4711");
    Fake::with(vec![
        end("a goes well", EndState::Accept, EndedBy::CriteriaMet),
        end("b is given up", EndState::Abandon, EndedBy::Rounds),
        end("c has gaps", EndState::Success, EndedBy::Distance),
        running,
    ])
}

#[tokio::test(start_paused = true)]
async fn resume_runs_all_open_tasks_and_returns_the_worst_code() {
    let came = World::headless(interrupted()).run("tasks resume").await;
    assert_eq!(came.code, 4);
    assert_eq!(came.out.matches("task: ").count(), 3, "{}", came.out);
    let value = World::headless(interrupted()).run("tasks resume --json").await.json();
    assert_eq!(value.as_array().unwrap().len(), 3);
    let none = World::headless(Fake::with(vec![])).run("tasks resume --json").await;
    assert_eq!((none.code, none.json()), (0, json!([])));
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_resuming_of_the_others() {
    let mut first = Tape::opened("z comes first");
    first.say(GoalGradientSolver, 0, final_result(EndState::Abandon, EndedBy::Cancelled));
    let mut second = Tape::opened("a comes second");
    second.say(GoalGradientSolver, 0, final_result(EndState::Accept, EndedBy::CriteriaMet));
    let beats = vec![Beat::Interrupt, Beat::Stall];
    let fake = Fake::with(vec![(first, 2, beats, None), (second, 2, vec![Beat::TellRest], None)]);
    let came = World::headless(fake).run("tasks resume").await;
    assert_eq!(came.code, 130);
    assert!(!came.out.contains("a-comes-second"), "{}", came.out);
}
