//! The other questions: what is wanted, what failed, what was achieved, what the whole is; and what is said when there is
//! no answer.

use expect_test::expect;
use serde_json::{Value, json};
use setpoint_machine::Brief;
use setpoint_machine::brief::{JudgeBrief, MergeBrief, PerceiveBrief, ReportBrief};
use setpoint_model::{Model, Progress};
use setpoint_protocol::Any;
use setpoint_protocol::message::{Approach, Criterion, EndedBy, Verdict};
use setpoint_protocol::tool::ErrorKind;

use crate::support::{Next, brain, execute, execute_brief, plan, plan_brief, record, surroundings};

fn said(brief: &Brief) -> Value {
    serde_json::from_str(&brain().reply(brief).unwrap().text()).unwrap()
}

#[test]
fn the_intent_says_how_the_goal_was_read_or_is_the_input_on_one_line() {
    let brief = |input: &str| {
        Brief::Perceive(Box::new(PerceiveBrief {
            raw_input: input.to_owned(),
            history: Vec::new(),
            clarifications: Vec::new(),
            title_only: false,
            may_ask: true,
            may_answer: true,
            surroundings: surroundings(),
            repair: None,
        }))
    };
    for (goal, intent) in [
        ("  Find\n the\tsmallest  files ", "Find the smallest files"),
        (" Find\n the largest  files ", "list the largest files below ., at most 10"),
        ("archive this directory", "pack the directory . into project.tar.gz"),
        (
            "rename 'draft' to 'final' in the file names",
            "rename files right in .: “draft” becomes “final” anywhere in their names",
        ),
        (
            "preview renaming 'draft' to 'final' in the file names",
            "preview how to rename files right in .: “draft” becomes “final” anywhere in their names",
        ),
        ("rename .jpeg to .jpg in pics", "rename files right in pics: “.jpeg” becomes “.jpg” in their names"),
        (
            "find 'a b' in src",
            "list the lines in src that hold the text “a b”, also within longer words, case kept",
        ),
    ] {
        assert_eq!(said(&brief(goal)), json!({ "intent": intent }), "{goal}");
    }
    // What is unclear is not shown as if it had been read.
    let unclear = "search f for the string bar,";
    assert_eq!(said(&brief(unclear)), json!({ "intent": unclear }));
    assert_eq!(said(&brief(" \n ")), json!({}));
}

#[test]
fn a_path_that_is_not_there_or_is_something_else_ends_at_once() {
    for (goal, named, reason) in [
        (
            "summarise nope.csv",
            json!([{"path": "nope.csv"}]),
            "nope.csv does not exist in /home/user/project",
        ),
        ("summarise /x/nope.csv", json!([{"path": "/x/nope.csv"}]), "/x/nope.csv does not exist"),
        (
            "find duplicates in dup.csv",
            json!([{"path": "dup.csv", "kind": "file", "bytes": 3}]),
            "dup.csv is a file, not a directory",
        ),
        ("sha256 of src", json!([{"path": "src", "kind": "directory"}]), "src is a directory, not a file"),
        (
            "sha256 of l",
            json!([{"path": "l", "kind": "link that leads nowhere"}]),
            "l is a link that leads nowhere",
        ),
        (
            "find 'x' in pipe",
            json!([{"path": "pipe", "kind": "other"}]),
            "pipe is neither a file nor a directory",
        ),
    ] {
        let mut brief = plan_brief(goal);
        brief.survey = serde_json::from_value(json!({ "named": named })).unwrap();
        assert_eq!(plan(&brain(), &brief).unwrap_err().reason, reason, "{goal}");
    }
    for (goal, named) in [
        ("find duplicates in d", json!([{"path": "d", "kind": "link to a directory"}])),
        ("archive d to new.tar.gz", json!([{"path": "d", "kind": "directory"}, {"path": "new.tar.gz"}])),
        ("find duplicates in d", json!([])),
    ] {
        let mut brief = plan_brief(goal);
        brief.survey = serde_json::from_value(json!({ "named": named })).unwrap();
        assert!(plan(&brain(), &brief).is_ok(), "{goal}");
    }
}

#[test]
fn a_word_that_is_also_a_path_is_asked_about() {
    let folder = |path: &str| json!([{"path": path, "kind": "directory"}]);
    for (goal, name) in [
        ("how many commits are in repo", "repo"),
        ("how many commits does repo have", "repo"),
        ("report on repo", "repo"),
        ("who contributed to repo", "repo"),
        ("what is the state of the repo", "repo"),
        ("how many lines of code", "code"),
        ("count lines of code", "code"),
        ("how many lines does here have", "here"),
        ("find duplicate files in here", "here"),
        ("compare here with src", "here"),
    ] {
        let mut brief = plan_brief(goal);
        brief.survey = serde_json::from_value(json!({ "named": folder(name) })).unwrap();
        let reason = format!(
            "{name} may be a word, or the folder in /home/user/project: write ./{name} for the folder, or `in .` instead"
        );
        assert_eq!(plan(&brain(), &brief).unwrap_err().reason, reason, "{goal}");
        brief.survey = serde_json::from_value(json!({ "named": [{"path": name}] })).unwrap();
        assert!(plan(&brain(), &brief).is_ok(), "{goal}");
    }
    for (goal, name) in [
        ("how many commits are in ./repo", "repo"),
        ("how many commits are in the repo in repo", "repo"),
        ("how many commits does this repository have", "repository"),
        ("how many lines of code are in code", "code"),
        ("count lines of code in src", "code"),
        ("list the largest files", "files"),
        ("rename .txt to .md in ./names", "./names"),
        ("replace IMG_ with pic_ in the names in .", "names"),
        ("rename .txt to .md in 'names'", "names"),
        ("find duplicate files here", "here"),
        ("list the largest files in the current directory", "current"),
        ("replace IMG_ with pic_ in all names", "all"),
    ] {
        let mut brief = plan_brief(goal);
        brief.survey = serde_json::from_value(json!({ "named": folder(name) })).unwrap();
        assert!(plan(&brain(), &brief).is_ok(), "{goal}: {:?}", plan(&brain(), &brief));
    }
    // Also if the word was taken for the folder.
    let mut brief = plan_brief("rename .txt to .md in names");
    brief.survey = serde_json::from_value(json!({ "named": folder("names") })).unwrap();
    let reason = plan(&brain(), &brief).unwrap_err().reason;
    assert!(reason.starts_with("names may be a word, or the folder in "), "{reason}");
    for goal in ["replace IMG_ with pic_ in names", "replace IMG_ with pic_ in all the names"] {
        let mut brief = plan_brief(goal);
        brief.survey = serde_json::from_value(json!({ "named": folder("names") })).unwrap();
        let reason = "names may be a word, or the folder in /home/user/project: add `in ./names` for the folder, or `in .`";
        assert_eq!(plan(&brain(), &brief).unwrap_err().reason, reason, "{goal}");
    }
    // A file counts where a file is wanted.
    for (goal, name, is_asked) in [("count lines of code", "code", true), ("report on repo", "repo", false)] {
        let mut brief = plan_brief(goal);
        let file = json!({"path": name, "kind": "file", "bytes": 1});
        brief.survey = serde_json::from_value(json!({ "named": [file] })).unwrap();
        assert_eq!(plan(&brain(), &brief).is_err(), is_asked, "{goal}");
    }
}

#[test]
fn a_sign_that_may_belong_to_a_name_or_text_is_asked_about() {
    let there = |path: &str| json!({"path": path, "kind": "file", "bytes": 1});
    for (goal, named, reason) in [
        (
            "sha256 of q?",
            json!([there("q"), there("q?")]),
            "q and q? both exist: put the name in quotes, as 'q' or 'q?'",
        ),
        (
            "sha256 of c:",
            json!([{"path": "c"}, there("c:")]),
            "c: exists, and c does not: put the name in quotes, as 'c:'",
        ),
        (
            r"sha256 of a\ b.",
            json!([{"path": "a\\"}, {"path": "b"}]),
            "the last sign of a b. may belong to the name: put it in quotes, as 'a b' or 'a b.'",
        ),
        (
            "search f for the string bar,",
            json!([there("f")]),
            "the last sign of 'bar,' may belong to the text or to the sentence",
        ),
    ] {
        let mut brief = plan_brief(goal);
        brief.survey = serde_json::from_value(json!({ "named": named })).unwrap();
        assert_eq!(plan(&brain(), &brief).unwrap_err().reason, reason, "{goal}");
    }
    for goal in ["sha256 of q?", "search q for the string bar.", "grep for bar, in q"] {
        let mut brief = plan_brief(goal);
        let named = json!([there("q"), {"path": "q?"}]);
        brief.survey = serde_json::from_value(json!({ "named": named })).unwrap();
        assert!(plan(&brain(), &brief).is_ok(), "{goal}");
    }
}

#[test]
fn a_goal_that_nobody_knows_ends_with_what_to_do() {
    let refused = |goal: &str, named: Value| {
        let mut brief = plan_brief(goal);
        brief.survey = serde_json::from_value(json!({ "named": named })).unwrap();
        plan(&brain(), &brief).unwrap_err()
    };
    let folder = |path: &str| json!({"path": path, "kind": "directory"});
    let file = |path: &str| json!({"path": path, "kind": "file", "bytes": 1});
    let failure = refused("find the smallest files in ./src", json!([folder("./src")]));
    let shown = format!("{:?}: {}\n{}\n", failure.kind, failure.reason, failure.hints.join("\n"));
    expect![[r#"
        Unable: no playbook matches this goal, and no language model is set
        the playbook duplicate-files is close, for example: find duplicate files in ./src
        the playbook largest-files is close, for example: find the three largest files under ./src
        the playbook find-text is close, for example: find "fn main" in ./src
        `setpoint playbooks` lists what can be done without a language model
        for goals of any kind set a language model: `setpoint init` looks for one, or set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OLLAMA_HOST
    "#]].assert_eq(&shown);
    // The example that is closest in words may not take the person's own path; one that does is worth more.
    let other = refused("how many errors are in ./made/by.hand", json!([file("./made/by.hand")]));
    let example = "the playbook log-summary is close, for example: analyse the log file ./made/by.hand";
    assert!(other.hints.iter().any(|hint| hint == example), "{:#?}", other.hints);
    // A path is suggested only where it can stand, and never if the goal may exclude it.
    for (goal, named, example) in [
        (
            "archive l and r to lr.tar.gz",
            json!([folder("l"), folder("r"), {"path": "lr.tar.gz"}]),
            Some("archive ./photos to photos.tar.gz"),
        ),
        ("archive ./l and r", json!([folder("./l")]), Some("archive ./l to photos.tar.gz")),
        ("archive ./l and r", json!([file("./l")]), Some("archive ./photos to photos.tar.gz")),
        (
            "find \"TODO\" in src but not in lib.py",
            json!([folder("src"), file("lib.py")]),
            Some("find broken symlinks in ./vendor"),
        ),
        ("don't archive ./l", json!([folder("./l")]), None),
    ] {
        let hints = refused(goal, named).hints.join("\n");
        match example {
            Some(example) => assert!(hints.contains(example), "{goal}: {hints}"),
            None => assert!(!hints.contains("is close"), "{goal}: {hints}"),
        }
    }
    let far = plan(&brain(), &plan_brief("xyzzy")).unwrap_err();
    assert_eq!(far.hints.len(), 2);
}

#[test]
fn a_value_that_cannot_be_used_is_named() {
    let failure = plan(&brain(), &plan_brief("find the 200 largest files in src")).unwrap_err();
    expect!["the count in the goal cannot be used: it must be between 1 and 100, and is 200 (playbook largest-files)"].assert_eq(&failure.reason);
}

#[test]
fn a_failed_check_gets_the_class_that_its_calls_give_it() {
    let brain = brain();
    let draft = plan(&brain, &plan_brief("sha256 of a.txt")).unwrap();
    let mut brief = execute_brief(&draft.subtasks[0]);
    let Ok(Next::Call(call)) = execute(&brain, &brief) else { panic!("no call") };
    for (result, class) in [
        (Ok(json!({"stdout": ""})), json!("logical")),
        (Err(ErrorKind::MissingTool), json!("environmental")),
        (Err(ErrorKind::Exit), json!("logical")),
        (Err(ErrorKind::Consent), Value::Null),
    ] {
        brief.calls = vec![record(&brief, &call, result)];
        let question = JudgeBrief {
            claims: Vec::new(),
            words: String::new(),
            intent: "x".to_owned(),
            criteria: vec![criterion("s1.c1"), criterion("s1.c2")],
            classify: vec!["s1.c1".parse().unwrap()],
            output: Any::NULL,
            uncertainty: None,
            calls: brief.calls.clone(),
            surroundings: surroundings(),
            repair: None,
        };
        let said = said(&Brief::Judge(Box::new(question)));
        assert_eq!(said.pointer("/verdicts/0/verdict"), Some(&json!("fail")));
        assert_eq!(said.pointer("/verdicts/0/failure_class").unwrap_or(&Value::Null), &class);
        assert_eq!(said.pointer("/verdicts/1/criterion_id"), Some(&json!("s1.c2")));
        assert_eq!(said.pointer("/verdicts/1/failure_class"), None, "prose is not judged");
    }
    let failed = |kind| record(&brief, &call, Err(kind));
    let question = JudgeBrief {
        claims: Vec::new(),
        words: String::new(),
        intent: "x".to_owned(),
        criteria: Vec::new(),
        classify: vec!["s1.c1".parse().unwrap()],
        output: Any::NULL,
        uncertainty: None,
        calls: vec![failed(ErrorKind::Exit), failed(ErrorKind::NotFound)],
        surroundings: surroundings(),
        repair: None,
    };
    let said = said(&Brief::Judge(Box::new(question)));
    assert_eq!(said.pointer("/verdicts/0/failure_class"), Some(&json!("environmental")), "it goes first");
}

#[test]
fn of_several_approaches_the_last_one_makes_up_the_result() {
    let approach = |name: &str| {
        Some(Approach {
            playbook: "largest-files".into(),
            approach: name.into(),
            params: Any(json!({"step": 1})),
        })
    };
    let brief = |approaches: Vec<Option<Approach>>| {
        Brief::Merge(Box::new(MergeBrief {
            words: String::new(),
            criteria: Vec::new(),
            outcomes: Vec::new(),
            intents: Vec::new(),
            approaches,
            surroundings: surroundings(),
            repair: None,
        }))
    };
    let merged = said(&brief(vec![approach("find"), approach("walk"), approach("walk")]));
    assert_eq!(merged, json!({"verdicts": [], "summary": "Largest files", "output_of": [2, 3]}));
    assert_eq!(said(&brief(vec![None, None])), json!({"verdicts": []}));
}

#[test]
fn the_report_says_what_holds_and_what_does_not() {
    let verdict = |id: &str, word: &str, evidence: &str| -> Verdict {
        serde_json::from_value(json!({
            "criterion_id": id, "criterion": format!("criterion {id}"), "mode": "verifiable", "verdict": word,
            "evidence": evidence, "cites": [], "judged_by": "check",
        }))
        .unwrap()
    };
    let brief = ReportBrief {
        spec: plan_brief("find the three largest files under ./crates").spec,
        ended_by: EndedBy::Law2,
        reason: "worse twice".to_owned(),
        verdicts: vec![verdict("t1", "pass", "fine"), verdict("t2", "fail", "3 is not 4")],
        subtask_verdicts: vec![],
        unmet_criteria: vec!["criterion t2".to_owned()],
        partial_output: Any::NULL,
    };
    let said = said(&Brief::Report(Box::new(brief)));
    expect![[r#"
        {
          "achieved": "met: criterion t1",
          "blocked_by": "criterion t2 (3 is not 4)",
          "next_moves": [
            "check that ./crates is there and may be read"
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&said).unwrap());
}

/// Where an answer is there and another program has another one, nothing is amiss with the files.
#[test]
fn a_report_says_that_two_programs_do_not_agree() {
    let criterion = "find and sort put the same files of src first, with the same sizes, and count as many files and bytes";
    let verdict: Verdict = serde_json::from_value(json!({
        "criterion_id": "t1", "criterion": criterion, "mode": "verifiable", "verdict": "fail", "shown": "refuted",
        "evidence": "others", "cites": [], "judged_by": "check",
    }))
    .unwrap();
    for (output, next) in [
        (
            json!({"files": []}),
            format!(
                "do not rely on this answer: two programs do not agree on it (“{criterion}” was refuted)"
            ),
        ),
        (json!({"files": null, "complete": true}), "check that src is there and may be read".to_owned()),
    ] {
        let brief = ReportBrief {
            spec: plan_brief("find the two largest files in src").spec,
            ended_by: EndedBy::Law2,
            reason: "worse twice".to_owned(),
            verdicts: vec![verdict.clone()],
            subtask_verdicts: vec![],
            unmet_criteria: vec![criterion.to_owned()],
            partial_output: Any(output),
        };
        assert_eq!(said(&Brief::Report(Box::new(brief)))["next_moves"], json!([next]));
    }
}

#[tokio::test]
async fn as_a_model_it_says_the_same() {
    let brain = brain();
    assert_eq!(brain.name(), "playbook");
    let call = setpoint_machine::ModelCall {
        brief: Brief::Plan(Box::new(plan_brief("find the two largest files in src"))),
        prompt: Default::default(),
        schema: None,
        limits: Default::default(),
    };
    let (progress, mut tap) = Progress::tapped();
    let reply = brain.answer(&call, &progress).await.unwrap();
    assert_eq!(reply, brain.reply(&call.brief).unwrap());
    assert_eq!(tap.next().await, Some(reply.text()));
    assert_eq!((reply.usage.tokens_in, reply.usage.tokens_out), (0, 0));
}

fn criterion(id: &str) -> Criterion {
    serde_json::from_value(json!({"id": id, "criterion": "it reads well", "mode": "plausible"})).unwrap()
}
