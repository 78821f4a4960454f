//! `run`: exit codes, stdout and stderr, JSON output.

use expect_test::expect;
use serde_json::{Value, json};
use setpoint_protocol::RoleId;
use setpoint_protocol::limits::RAW_INPUT_BYTES_MAX;
use setpoint_protocol::message::*;
use setpoint_protocol::money::Money;
use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::ToolAnswer;

use crate::support::organisation::{Beat, Fake};
use crate::support::tape::{Tape, approval, final_result, id, pass, spec};
use crate::support::tapes;
use crate::support::world::{Came, World};

async fn run(tape: Tape, line: &str) -> Came {
    World::headless(Fake::starting(tape, vec![Beat::TellRest])).run(line).await
}

#[tokio::test(start_paused = true)]
async fn the_exit_code_is_that_of_the_result() {
    let cases = [
        (EndState::Accept, EndedBy::CriteriaMet, 0),
        (EndState::Success, EndedBy::Unproven, 3),
        (EndState::Success, EndedBy::Distance, 3),
        (EndState::Abandon, EndedBy::Omega, 4),
        (EndState::Abandon, EndedBy::Law2, 4),
        (EndState::Abandon, EndedBy::Rounds, 4),
        (EndState::Abandon, EndedBy::Fault, 4),
        (EndState::Abandon, EndedBy::Consent, 5),
        (EndState::Abandon, EndedBy::Budget, 4),
        (EndState::Abandon, EndedBy::Deadline, 4),
        (EndState::Abandon, EndedBy::Cancelled, 130),
    ];
    for (directive, ended_by, code) in cases {
        for line in ["run count the files", "run --json count the files"] {
            let came = run(tapes::ended(final_result(directive, ended_by)), line).await;
            assert_eq!(came.code, code, "{line}: {directive:?} {ended_by:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_terminal_progress_is_lines_and_stdout_the_result() {
    let came = run(tapes::accepted(), "run count the files").await;
    assert_eq!(came.code, 0);
    insta::assert_snapshot!("accepted_stderr", came.err);
    insta::assert_snapshot!("accepted_stdout", came.out);
}

/// Whatever else is written: a model that a file of the working directory chose costs the person money.
#[tokio::test(start_paused = true)]
async fn notices_of_the_desk_are_warnings_before_a_task_is_driven() {
    for line in ["run count the files", "run --json --quiet count the files", "tasks resume"] {
        let mut world = World::headless(Fake::starting(tapes::accepted(), vec![Beat::TellRest]));
        world.host.desk.notices = vec!["models.brain comes from ./setpoint.toml".to_owned()];
        let came = world.run(line).await;
        assert!(came.err.starts_with("warning: models.brain comes from ./setpoint.toml\n"), "{}", came.err);
    }
}

#[tokio::test(start_paused = true)]
async fn gaps_are_told_by_name() {
    let came = run(tapes::migration_with_gaps(), "run migrate").await;
    assert_eq!(came.code, 3);
    insta::assert_snapshot!("gaps_stderr", came.err);
    insta::assert_snapshot!("gaps_stdout", came.out);
    assert!(!came.out.contains("success"), "{}", came.out);
}

#[tokio::test(start_paused = true)]
async fn quiet_prints_the_answer_and_on_stderr_what_is_missing() {
    let came = run(tapes::accepted(), "run --quiet count the files").await;
    assert_eq!((came.out.as_str(), came.err.as_str()), ("42\n", ""));
    let came = run(tapes::migration_with_gaps(), "run --quiet migrate").await;
    assert_eq!(came.code, 3);
    assert!(
        came.err.starts_with("accepted with gaps: 1 of 2 criteria is not met; shown: 10 412 rows in db\n")
            && came.err.contains("✗ tests pass  "),
        "{}",
        came.err
    );
    assert!(!came.out.contains("accepted"), "{}", came.out);
}

/// Text is unchanged, with its line ends; anything else is one line of JSON.
#[tokio::test(start_paused = true)]
async fn the_output_alone_can_be_piped() {
    let mut tape = tapes::accepted();
    for (output, written) in
        [(json!("a\r\n\tb"), "a\r\n\tb\n"), (json!({ "b": 1, "a": [2] }), "{\"a\":[2],\"b\":1}\n")]
    {
        let end = tape.records.last_mut().unwrap();
        let mut result: Value = serde_json::from_slice(&end.body).unwrap();
        result["output"] = output;
        end.body = serde_json::to_vec(&result).unwrap();
        let came = run(tape.clone(), "run --output-only count the files").await;
        assert_eq!((came.code, came.out.as_str()), (0, written));
        assert!(came.err.contains("goal: count the files"), "progress stays: {}", came.err);
    }
    let came = run(tapes::accepted(), "run --output-only --json count").await;
    assert_eq!(came.code, 2);
}

#[tokio::test(start_paused = true)]
async fn the_output_of_a_task_given_up_is_not_an_answer() {
    for option in ["--quiet", "--output-only"] {
        let tape = tapes::ended(final_result(EndState::Abandon, EndedBy::Rounds));
        let came = run(tape, &format!("run {option} tidy up")).await;
        assert_eq!((came.code, came.out.as_str()), (4, ""));
        assert!(came.err.contains("given up: no replans are left"), "{}", came.err);
    }
}

#[tokio::test(start_paused = true)]
async fn the_rule_that_ended_a_task_is_told_in_words() {
    for (ended_by, words) in [
        (EndedBy::Omega, "given up: rounds and time are nearly used up"),
        (EndedBy::Law2, "given up: it got worse round after round"),
        (EndedBy::Rounds, "given up: no replans are left"),
        (EndedBy::Budget, "given up: a budget is used up"),
        (EndedBy::Infeasible, "given up: the goal cannot be reached here"),
    ] {
        let came = run(tapes::ended(final_result(EndState::Abandon, ended_by)), "run x").await;
        assert!(came.out.contains(words), "{words:?}: {}", came.out);
    }
    let mut result = final_result(EndState::Abandon, EndedBy::Fault);
    result.summary = "Not started: no playbook matches this goal, and no language model is set.".to_owned();
    let came = run(tapes::ended(result), "run x").await;
    let words = "not started: no playbook matches this goal, and no language model is set";
    assert!(came.out.contains(words), "{}", came.out);
    let mut result = final_result(EndState::Abandon, EndedBy::Fault);
    result.verdicts = vec![pass("t1", "the count is right", "42", &[])];
    result.unmet_criteria = vec!["it is even".to_owned()];
    let came = run(tapes::ended(result), "run x").await;
    let words = "given up: no further plan was found; 1 of 2 criteria is not met";
    assert!(came.out.contains(words), "{}", came.out);
}

/// The proof comes first: what code checked, before what a model judged, and the rest is counted.
#[tokio::test(start_paused = true)]
async fn an_accept_names_its_proof_and_counts_the_rest() {
    let by_model = |id: &str, text: &str| Verdict {
        judged_by: JudgedBy::Model,
        strength: Strength::Opinion,
        ..pass(id, text, "42", &[])
    };
    let checked = || pass("s1.c1", "the count is right", "42", &[]);
    for (verdicts, told) in [
        (vec![checked()], "accepted: the count is right\n"),
        (vec![checked(), pass("s1.c2", "it is even", "42", &[])], "right  (and 1 more criterion)\n"),
        (
            vec![by_model("t1", "it fits"), by_model("s1.c2", "the name is well chosen"), checked()],
            "accepted: the count is right  (and 2 more criteria, 2 of which a model judged)\n",
        ),
    ] {
        let mut result = final_result(EndState::Accept, EndedBy::CriteriaMet);
        result.verdicts = verdicts;
        let came = run(tapes::ended(result), "run x").await;
        assert!(came.out.starts_with("42\n") && came.out.contains(told), "{told:?}: {}", came.out);
        assert!(!came.out.contains("not met"), "{}", came.out);
    }
}

#[tokio::test(start_paused = true)]
async fn created_files_are_listed_and_a_recording_is_named() {
    let mut tape = Tape::opened("write a file");
    let made = vec!["/made/names".to_owned(), "/made/names/alpha.txt".to_owned()];
    let wrote = ToolAnswer { ok: true, created: made, ..ToolAnswer::default() };
    let mut result = final_result(EndState::Accept, EndedBy::CriteriaMet);
    result.usage = UsageReport { cost: Some(Money::ZERO), tokens_recorded: 9, ..result.usage };
    tape.say(RoleId::Perceiver, 0, spec("write a file"))
        .ask_tool("r3.1/2", "write_file", json!({ "path": "names/alpha.txt" }))
        .answer("r3.1/2", Answer::Tool(Box::new(wrote)))
        .say(RoleId::GoalGradientSolver, 0, result);
    let came = run(tape, "run x").await;
    assert!(came.out.contains("files that were made:\n- /made/names/alpha.txt\n\n"), "{}", came.out);
    assert!(came.out.contains("price 0.00, a recording answered"), "{}", came.out);
}

#[tokio::test(start_paused = true)]
async fn what_is_lost_or_was_refused_is_named_at_the_end() {
    let mut tape = Tape::opened("tidy up");
    let facts = json!({ "count": 3, "removed": ["/w/a"], "renamed": ["/w/b"], "changed": ["/w/c"], "made": [],
        "counts": { "removed": 401 }, "whole": true, "commits": { "new": 2, "lost": 1 } });
    let measured = ToolAnswer { ok: true, facts: Some(facts.into()), ..ToolAnswer::default() };
    let refusal = ApprovalDecision {
        call_id: id("r3.1/3"),
        decision: ApprovalWord::Never,
        digest: "digest of git push".to_owned(),
        by: "headless".to_owned(),
        allows: Vec::new(),
    };
    tape.say(RoleId::Perceiver, 0, spec("tidy up"))
        .say(RoleId::Executor, 1, approval("r3.1/3", "git push", &[]))
        .say(RoleId::User, 1, refusal)
        .ask_tool("r3.1/4", "task_changes", json!({}))
        .answer("r3.1/4", Answer::Tool(Box::new(measured)))
        .say(RoleId::GoalGradientSolver, 0, final_result(EndState::Success, EndedBy::Unproven));
    let came = run(tape, "run x").await;
    for told in [
        "files that were removed:\n- /w/a\n- and 400 more\nfiles that were renamed:\n- /w/b\nfiles that were changed:\n- /w/c\n\
         commits that nothing leads to any more: 1\ncommits that are new: 2\n",
        "refused, because you could not be asked:\n- git push  (command digest of git push in an approval file allows it)\n",
    ] {
        assert!(came.out.contains(told), "{told}: {}", came.out);
    }
    // It is the program's own look.
    assert!(!came.err.contains("task_changes"), "{}", came.err);
}

#[tokio::test(start_paused = true)]
async fn with_json_stdout_is_the_result_and_nothing_else() {
    for (tape, directive) in [(tapes::accepted(), "accept"), (tapes::migration_with_gaps(), "success")] {
        let task = tape.task.to_string();
        let came = run(tape, "run --json do it").await;
        let value = came.json();
        assert_eq!(value["task_id"], task.as_str());
        assert_eq!(value["directive"], directive);
        let schema = setpoint_protocol::schema::of("FinalResult").unwrap();
        jsonschema::validate(&schema, &value).unwrap();
        assert_eq!(value["exit_code"], came.code);
        assert!(value["duration_ms"].is_u64() && value["models"].is_array(), "{value:#}");
        let outcome = if directive == "accept" { "accepted" } else { "accepted with gaps" };
        assert_eq!(value["outcome"], outcome);
        assert!(value["goal"].as_str().is_some_and(|goal| !goal.is_empty()), "{value:#}");
    }
}

#[tokio::test(start_paused = true)]
async fn streamed_records_are_cloud_events_and_the_result_comes_last() {
    let tape = tapes::accepted();
    let count = tape.records.len();
    let came = run(tape.clone(), "run --stream --json do it").await;
    let lines: Vec<Value> = came.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), count + 1);
    for (n, event) in lines.iter().take(count).enumerate() {
        assert_eq!(event["specversion"], "1.0");
        assert_eq!(event["seq"], n as u64 + 1);
    }
    assert_eq!(lines[0]["type"], "setpoint.Opened");
    assert_eq!(lines[1]["causationid"], lines[0]["id"]);
    assert_eq!(lines[count]["directive"], "accept");
    let result = lines[count - 1]["data"].as_object().unwrap();
    assert!(result.iter().all(|(field, value)| lines[count][field] == *value), "{lines:#?}");

    let came = run(tape, "run --stream do it").await;
    assert_eq!(came.out.lines().count(), count);
    assert!(came.err.contains("42\n\naccepted: the count is right\n\nCounted the files."), "{}", came.err);
}

#[tokio::test(start_paused = true)]
async fn the_goal_reaches_the_organisation_as_it_is() {
    let fake = Fake::starting(tapes::accepted(), vec![Beat::TellRest]);
    let mut world = World::headless(fake.clone());
    world.stdin = "  two\nlines é\n".as_bytes().to_vec();
    let came = world.run("run -").await;
    assert_eq!(came.code, 0);
    let goals = fake.goals.lock().unwrap();
    assert_eq!(goals[0].raw_input, "  two\nlines é\n");
    assert_eq!((goals[0].interactive, goals[0].preview_plan), (false, None));
    assert!(*fake.was_shut_down.lock().unwrap());
}

#[tokio::test(start_paused = true)]
async fn an_invalid_goal_never_opens_a_data_directory() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken");
    std::fs::write(&broken, b"\xff").unwrap();
    let large = folder.path().join("large");
    std::fs::write(&large, "x".repeat(RAW_INPUT_BYTES_MAX + 1)).unwrap();
    let lines = [
        "run ''".to_owned(),
        "run ' \t '".to_owned(),
        "run -".to_owned(),
        format!("run --file '{}'", broken.display()),
        format!("run --file '{}'", large.display()),
        format!("run --file '{}'", folder.path().display()),
        "run --plan x".to_owned(),
        "run --approve broken.toml x".to_owned(),
    ];
    for line in lines {
        for is_json in [false, true] {
            let line = if is_json { format!("{line} --json") } else { line.clone() };
            let world = World::headless(Fake::with(vec![]));
            let (came, host) = world.run_arguments(crate::support::world::words(&line)).await;
            assert_eq!(came.code, 2, "{line}: {}", came.err);
            assert_eq!(host.opened(), 0, "{line}");
            assert!(came.err.starts_with("error: "), "{line}: {}", came.err);
            if is_json {
                assert!(came.json()["error"]["message"].is_string(), "{line}");
            } else {
                assert_eq!(came.out, "", "{line}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_was_too_slow_reads_the_journal() {
    let tape = tapes::accepted();
    let count = tape.records.len();
    let lagging = vec![Beat::Tell(3), Beat::Miss(4), Beat::Lagged, Beat::TellRest];
    let gap = vec![Beat::Tell(3), Beat::Miss(4), Beat::TellRest];
    let silent_end = vec![Beat::Tell(3), Beat::Miss(usize::MAX), Beat::Hang];
    for beats in [lagging, gap, silent_end] {
        let fake = Fake::starting(tape.clone(), beats.clone());
        let came = World::headless(fake).run("run --stream --json do it").await;
        assert_eq!((came.code, came.out.lines().count()), (0, count + 1), "{beats:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_released_task_has_no_result() {
    for (beat, message) in
        [(Beat::Release, "the lease was lost"), (Beat::Hang, "stopped sending its records")]
    {
        let fake = Fake::starting(tapes::accepted(), vec![Beat::Tell(4), beat]);
        let came = World::headless(fake.clone()).run("run --json do it").await;
        assert_eq!(came.code, 1);
        let value = came.json();
        assert!(value["error"]["message"].as_str().unwrap().contains(message), "{value}");
        assert!(
            value["error"]["hints"][0].as_str().unwrap().contains("tasks resume count-the-files-"),
            "{value}"
        );
        assert!(*fake.was_shut_down.lock().unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_end_is_an_error() {
    let mut tape = tapes::accepted();
    tape.records.last_mut().unwrap().body = b"{}".to_vec();
    let came = run(tape, "run do it").await;
    assert_eq!(came.code, 1);
    assert!(came.err.contains("the task has ended, but its result cannot be read"), "{}", came.err);
}

#[tokio::test(start_paused = true)]
async fn an_error_has_a_hint_and_an_exit_code() {
    let came = World::headless(Fake::with(vec![])).run("run do it").await;
    expect![[r#"
        error: failed to open a task
    "#]]
    .assert_eq(&came.err);
    assert_eq!((came.code, came.out.as_str()), (1, ""));
}

#[tokio::test(start_paused = true)]
async fn small_talk_is_answered_without_a_task() {
    let mut tape = Tape::opened("hello");
    tape.say(
        setpoint_protocol::RoleId::Perceiver,
        0,
        DirectAnswer { text: "Hello \u{1b}[2Jthere".to_owned() },
    );
    let came = run(tape.clone(), "run hello").await;
    assert_eq!((came.code, came.out.as_str()), (0, "Hello ␛[2Jthere\n"));
    let came = run(tape, "run --json hello").await;
    assert_eq!(came.json()["text"], "Hello \u{1b}[2Jthere");
}

#[tokio::test(start_paused = true)]
async fn an_accept_that_proves_nothing_says_so() {
    let mut result = final_result(EndState::Success, EndedBy::Unproven);
    result.unproven = true;
    let came = run(tapes::ended(result), "run x").await;
    assert!(came.out.contains("\naccepted, unproven: nothing proves it\n"), "{}", came.out);
}

#[tokio::test(start_paused = true)]
async fn an_output_equal_to_the_summary_is_printed_once() {
    let mut result = final_result(EndState::Accept, EndedBy::CriteriaMet);
    result.output = "Counted the files.\n".into();
    let came = run(tapes::ended(result), "run x").await;
    assert_eq!(came.out.matches("Counted the files.").count(), 1, "{}", came.out);
}

#[tokio::test(start_paused = true)]
async fn a_plan_without_memory_says_why() {
    let mut tape = Tape::opened("count");
    let reply = json!({ "call_id": "r2/1", "potentials": { "attention": 0.0, "decision": 0.0, "action": "ignore" },
        "availability": "unavailable", "reason": "failed to open memory", "records": [], "rules": [] });
    let reply: MemoryReply = serde_json::from_value(reply).unwrap();
    tape.say(RoleId::Memory, 0, reply).say(
        RoleId::GoalGradientSolver,
        0,
        final_result(EndState::Accept, EndedBy::CriteriaMet),
    );
    let came = run(tape, "run count").await;
    assert!(
        came.err.contains("memory: the plan is made without memory: failed to open memory"),
        "{}",
        came.err
    );
}
