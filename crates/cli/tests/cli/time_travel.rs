//! `replay` and `tasks fork`: what they show, when they wait, and what they pass on.

use serde_json::{Value, json};
use setpoint_cli::{Options, parse};
use setpoint_protocol::Any;
use setpoint_protocol::RoleId::*;
use setpoint_protocol::message::*;
use setpoint_protocol::record::*;
use setpoint_protocol::replay::*;
use setpoint_protocol::tool::{Effect, Phase, ToolCall};

use crate::support::organisation::{Beat, Fake};
use crate::support::tape::*;
use crate::support::tapes;
use crate::support::world::{World, words};

const ALL: usize = usize::MAX;

fn journal() -> std::sync::Arc<Fake> {
    Fake::with(vec![
        (tapes::accepted(), ALL, vec![], None),
        (tapes::migration_with_gaps(), ALL, vec![], None),
        (Tape::opened("tidy up\nthe \u{1b}[2Jhouse\u{202e}"), 2, vec![], None),
    ])
}

#[tokio::test]
async fn a_task_is_shown_step_by_step() {
    let came = World::headless(journal()).run("replay migrate").await;
    assert_eq!(came.code, 0, "{}", came.err);
    insta::assert_snapshot!(came.out);
    let came = World::headless(journal()).run("replay migrate --from 20 --to 22").await;
    let shown: Vec<&str> = came.out.lines().filter(|line| line.starts_with("    2")).collect();
    assert_eq!(shown.len(), 3, "{}", came.out);
    assert!(came.out.ends_with("replayed exactly: 38 records, 3 steps, 2 asks\n"), "{}", came.out);
}

#[tokio::test]
async fn a_replay_prints_no_control_characters() {
    let fake = journal();
    let came = World::on_paper(fake, vec![]).run("replay tidy").await;
    assert!(came.out.contains("house") && !came.out.contains(['\u{1b}', '\u{202e}']), "{:?}", came.out);
}

#[tokio::test]
async fn a_model_is_asked_what_the_journal_holds() {
    let texts = ["You plan.\nAnswer in JSON.", "\nthe goal:\u{1b}[2J migrate"];
    let fragments: Vec<FragmentHash> =
        texts.iter().map(|text| FragmentHash::of(text)).chain([FragmentHash::of("gone")]).collect();
    let mut tape = Tape::opened("ask");
    tape.ask("r2/1", Ask::Model { purpose: Purpose::Plan, fragments, after: None });
    let fake = || {
        let fake = Fake::with(vec![(tape.clone(), ALL, vec![], None)]);
        *fake.fragments.lock().unwrap() = texts.map(str::to_owned).to_vec();
        fake
    };
    let gist = World::headless(fake()).run("replay ask --from 3").await.out;
    let full = World::headless(fake()).run("replay ask --from 3 --prompts").await.out;
    insta::assert_snapshot!(format!("{gist}\n{full}"));
    let call = ToolCall { tool: "read_file".to_owned(), input: Any(json!({ "path": "a" })) };
    let mut reads = tape.clone();
    reads.ask("r3.1/2", Ask::Tool { call, phase: Phase::Work, effect: Effect::ReadOnly, grant: None });
    let shown = World::headless(Fake::with(vec![(reads, ALL, vec![], None)])).run("replay ask").await.out;
    assert!(shown.contains("tool read_file (reads)"), "{shown}");
    let json = World::headless(fake()).run("replay ask --from 3 --prompts --json").await.out;
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(first["prompt"], json!([texts[0], texts[1], null]));
}

#[tokio::test]
async fn a_replay_in_json_is_a_line_a_record_and_a_summary() {
    let came = World::headless(journal()).run("replay count --json").await;
    let lines: Vec<Value> = came.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (summary, records) = lines.split_last().unwrap();
    assert_eq!(records.len() as u64, summary["summary"]["records"].as_u64().unwrap());
    assert!(records.iter().zip(1..).all(|(line, seq)| line["record"] == seq && line["body"].is_object()));
    assert_eq!(records.last().unwrap()["kind"], "FinalResult");
}

#[tokio::test]
async fn a_divergence_is_reported_last_and_fails() {
    let fake = journal();
    let place = DivergencePlace { seq: 4, reason: "the journal has \u{1b}[2J one thing".to_owned() };
    *fake.divergence.lock().unwrap() = Some(place);
    let came = World::headless(std::sync::Arc::clone(&fake)).run("replay count").await;
    assert_eq!(came.code, 1);
    let end: Vec<&str> = came.out.lines().rev().take(2).collect();
    assert!(end[1].starts_with("does not replay: at record 4: the journal has "), "{end:?}");
    assert!(!came.out.contains('\u{1b}'));
    let came = World::headless(fake).run("replay count --json").await;
    assert_eq!(came.code, 1);
    assert!(came.out.lines().last().unwrap().contains("\"divergence\""), "{}", came.out);
}

/// Each wait reads one line from the terminal; without a terminal, or in JSON, nothing waits.
#[tokio::test]
async fn stepping_waits_for_enter_and_ends_at_q() {
    let steps = |out: &str| out.lines().filter(|line| line.starts_with("step ")).count();
    let all = steps(&World::headless(journal()).run("replay count --step").await.out);
    assert!(all > 4, "{all}");
    let on_paper = |typed: &str| {
        let world = World::on_paper(journal(), vec![]);
        World { stdin: typed.as_bytes().to_vec(), ..world }.run("replay count --step")
    };
    for (typed, shown) in [("\n\nq\n", 3), ("Q\n", 1), ("", 1), ("\n".repeat(99).as_str(), all)] {
        let came = on_paper(typed).await;
        assert_eq!((came.code, steps(&came.out)), (0, shown), "{typed:?}");
        assert!(came.out.contains("replayed exactly"), "{}", came.out);
        let waits = came.err.matches("Enter shows the next step, q ends").count();
        assert_eq!(waits, shown.min(all - 1), "{typed:?}");
    }
}

fn decided(decision: MacroState, ended_by: Option<EndedBy>, l: f64) -> Decided {
    Decided {
        loss: Loss { d: l, p: 0.5, omega: 0.25, l },
        grad_l: -0.1,
        decision,
        ended_by,
        urgency: None,
        blocked_tools: vec![],
        blocked_targets: vec![format!("read_file: /a\u{1b}[2Jb {decision:?}")],
        rationale: format!("{} because", decision.name()),
    }
}

fn rerun(parting: Option<PartingKind>, recorded: Decided, tried: Option<Decided>) -> Rerun {
    let first = decided(MacroState::ChangePath, None, 0.75);
    Rerun {
        task_id: tapes::accepted().task,
        settings: vec![],
        rounds: vec![
            RerunRound { round: 1, seq: 36, recorded: Some(first.clone()), tried: Some(first) },
            RerunRound { round: 2, seq: 69, recorded: Some(recorded), tried },
        ],
        parting: parting.map(|kind| Parting { round: 2, kind }),
        notes: vec!["a note".to_owned()],
    }
}

#[tokio::test]
async fn decisions_stand_side_by_side_with_what_they_mean() {
    let (refine, other) =
        (decided(MacroState::Refine, None, 0.5), decided(MacroState::BreakSymmetry, None, 0.5));
    let ended = decided(MacroState::Success, Some(EndedBy::Distance), 0.25);
    let abandoned = decided(MacroState::Abandon, Some(EndedBy::Omega), 0.9);
    let cases = [
        rerun(None, refine.clone(), Some(refine.clone())),
        rerun(Some(PartingKind::Direction), refine.clone(), Some(other)),
        rerun(Some(PartingKind::Manner), refine.clone(), Some(refine.clone())),
        rerun(Some(PartingKind::Ends), refine.clone(), Some(ended.clone())),
        rerun(Some(PartingKind::GoesOn), ended.clone(), Some(refine)),
        rerun(Some(PartingKind::OtherEnd), ended, Some(abandoned)),
    ];
    let mut shown = String::new();
    for case in cases {
        let fake = journal();
        *fake.rerun.lock().unwrap() = Some(case);
        let came = World::headless(std::sync::Arc::clone(&fake))
            .run("replay count --set delta=0.2 --set theta=1")
            .await;
        assert_eq!((came.code, came.err.as_str()), (0, ""));
        assert!(!came.out.contains('\u{1b}'));
        shown.push_str(&came.out);
        shown.push('\n');
        let value = World::headless(fake).run("replay count --set delta=0.2 --json").await.json();
        assert!(shown.contains(value["words"].as_str().unwrap()), "{value}");
    }
    insta::assert_snapshot!(shown);
}

#[tokio::test]
async fn two_tasks_stand_side_by_side() {
    let came = World::headless(journal()).run("replay count --diff migrate").await;
    assert_eq!(came.code, 0);
    insta::assert_snapshot!(came.out);
    let same = World::headless(journal()).run("replay count --diff ./count.jsonl --json").await.json();
    assert_eq!(same["first_record"], Value::Null);
    assert!(same["aspects"].as_array().unwrap().iter().all(|aspect| aspect["is_same"] == true), "{same}");
}

/// Settings tried on a task do not configure the program.
#[tokio::test]
async fn settings_of_a_replay_do_not_configure_the_program() {
    for line in
        ["replay count --json --set delta=0.2 --set a.b=c", "--set delta=0.2 --set a.b=c replay count --json"]
    {
        assert_eq!(options(line).set, vec![], "{line}");
        let fake = journal();
        *fake.rerun.lock().unwrap() = Some(rerun(None, decided(MacroState::Refine, None, 0.5), None));
        let tried = World::headless(fake).run(line).await.json();
        let set: Vec<_> =
            tried["settings"].as_array().unwrap().iter().map(|one| (&one["name"], &one["tried"])).collect();
        assert_eq!(set, [(&json!("delta"), &json!("0.2")), (&json!("a.b"), &json!("c"))], "{line}");
    }
    let line = "tasks fork count --at 7 --set delta=0.2 --set memory.recall=false --set controller.rho=1";
    assert_eq!(options(line).set.iter().map(|one| &*one.key).collect::<Vec<_>>(), ["memory.recall"]);
    let fake = journal();
    World::headless(fake.clone()).run(line).await;
    let forks = fake.forks.lock().unwrap();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(forks[0].set, [pair("delta", "0.2"), pair("controller.rho", "1")]);
}

fn options(line: &str) -> Options {
    parse(std::iter::once("setpoint".into()).chain(words(line))).unwrap().options
}

#[tokio::test]
async fn invalid_command_lines_of_replay_and_fork_are_refused() {
    for line in [
        "replay",
        "replay count --set delta",
        "replay count --set delta=1 --diff migrate",
        "--set delta=1 replay count --diff migrate",
        "replay count --diff migrate --step",
        "replay count --set a=1 --from 3",
        "replay count --from 0",
        "tasks fork count",
        "tasks fork count --at -1",
        "tasks fork count --at x",
        "replay nope",
        "replay ./nope.jsonl",
        "replay count --diff nope",
    ] {
        let came = World::headless(journal()).run(line).await;
        assert_eq!((came.code, came.out.as_str()), (2, ""), "{line}: {}", came.err);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fork_is_followed_to_its_end() {
    let tape = tapes::accepted();
    let from = Tape::opened("tidy up").task;
    let fake = Fake::starting(tape.clone(), vec![Beat::TellRest]);
    fake.insert_ended(Tape::opened("tidy up"));
    let (came, host) = World::headless(fake)
        .run_arguments(words("tasks fork tidy --at 2 --set delta=0.2 --set controller.rho=1"))
        .await;
    assert_eq!(came.code, 0, "{}", came.err);
    assert!(came.out.contains("\naccepted: "), "{}", came.out);
    let told = format!("{} continues from record 2 of {from}; ", tape.task);
    assert!(came.err.contains(&told) && came.err.contains("not as they were then"), "{}", came.err);
    let forks = host.organisation.forks.lock().unwrap().clone();
    assert_eq!(forks.len(), 1);
    assert_eq!((forks[0].at, &forks[0].from), (2, &from));
    let set: Vec<&str> = forks[0].set.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(set, ["delta", "controller.rho"]);
}

#[tokio::test(start_paused = true)]
async fn a_fork_says_what_its_workspace_holds() {
    let told = async |copied: Option<CopiedWorkspace>, options: &str| {
        let fake = Fake::starting(tapes::accepted(), vec![Beat::TellRest]);
        fake.insert_ended(Tape::opened("tidy up"));
        *fake.copied.lock().unwrap() = copied;
        let line = format!("tasks fork tidy --at 2 {options}");
        let (came, _) = World::headless(fake).run_arguments(words(&line)).await;
        came.err
    };
    assert!(!told(None, "").await.contains("workspace"));
    let empty = CopiedWorkspace { workspace: "/w/two".to_owned(), ..CopiedWorkspace::default() };
    let said = told(Some(empty.clone()), "").await;
    assert!(said.contains("then; it has its own empty workspace, /w/two\n"), "{said}");
    let copied = CopiedWorkspace { entries: 3, ..empty.clone() };
    let said = told(Some(copied.clone()), "").await;
    assert!(
        said.contains("/w/two, with a copy of the current files of the old one")
            && !said.contains("not copied")
    );
    let left_out_named = vec!["a b".to_owned(), "pipe\u{1b}".to_owned()];
    let left_out = CopiedWorkspace { left_out: 7, left_out_named, ..copied };
    let said = told(Some(left_out.clone()), "").await;
    assert!(said.contains("neither file nor folder: \"a b\", \"pipe\\u{1b}\", 5 more\n"), "{said}");
    assert!(!told(Some(left_out), "--quiet").await.contains("workspace"));
}

#[tokio::test]
async fn a_fork_shows_its_origin() {
    let mut tape = Tape::opened("count");
    let mut opened: Opened = serde_json::from_slice(&tape.records[0].body).unwrap();
    opened.forked_from =
        Some(ForkedFrom { task: tapes::accepted().task, seq: 12, models: None, earlier: vec![] });
    tape.records[0].body = serde_json::to_vec(&opened).unwrap();
    tape.say(Perceiver, 0, spec("count"));
    let fake = || Fake::with(vec![(tape.clone(), ALL, vec![], None)]);
    let came = World::headless(fake()).run("tasks show count").await;
    let told = format!("forked  from {} at record 12\n", tapes::accepted().task);
    assert!(came.out.contains(&told), "{}", came.out);
    let value = World::headless(fake()).run("tasks show count --json").await.json();
    assert_eq!(value["forked_from"]["seq"], 12);
}
