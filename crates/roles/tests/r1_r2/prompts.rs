//! The prompts of R1 and R2.

use std::path::PathBuf;

use expect_test::{expect, expect_file};
use serde_json::{Value, json};
use setpoint_machine::effects::Effect;
use setpoint_machine::prompt::FragmentKind;
use setpoint_machine::{ModelCall, Prompt};
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{CallId, RoleId};
use setpoint_roles::r1_perceiver::Perceiver;
use setpoint_roles::r2_planner::Planner;

use crate::support::{Bench, directive, matched, model_call};

/// Marks untrusted text that must stay in data fragments.
const MARKER: &str = "INJECTED";

#[test]
fn r1_title() {
    let mut r1 = Bench::<Perceiver>::new(&json!({}));
    let input = json!({ "raw_input": "count the lines of todo.txt\nand say which is the longest" });
    let (_, call) = model_call(r1.message(Kind::UserInput, &input));
    check("r1_title", &call);
}

#[test]
fn r1_with_everything() {
    let opened = json!({
        "interactive": true,
        "direct_answers": true,
        "history": [{ "input": "translate letter.txt", "summary": "translated", "output": "Sehr geehrte Damen" }],
    });
    let mut r1 = Bench::<Perceiver>::new(&opened);
    let (call, _) =
        model_call(r1.message(Kind::UserInput, &json!({ "raw_input": "do that with the newer letter" })));
    let asked = r1.reply(call, r#"{"questions": ["Which one is newer?", "To which language?"]}"#);
    let Some(Effect::Send { payload: Payload::ClarificationRequest(request), .. }) = asked.first() else {
        panic!("no question")
    };
    let answer = json!({ "call_id": request.call_id, "answers": ["letter2.txt"] });
    let (call, _) = model_call(r1.message(Kind::ClarificationAnswer, &answer));
    let (_, call) = model_call(r1.reply(call, "Then I would translate letter2.txt."));
    check("r1_with_everything", &call);
    let mut greeted = Bench::<Perceiver>::new(&opened);
    let (_, call) = model_call(greeted.message(Kind::UserInput, &json!({ "raw_input": "hello" })));
    assert!(call.prompt.fragments.iter().any(|fragment| fragment.name == "direct_answer"));
}

#[test]
fn r1_is_given_no_date_and_no_place() {
    let history = json!([{ "input": "look around", "summary": "done", "output": "three rooms" }]);
    for (opened, text) in [
        (json!({}), "tidy up by tomorrow\nand say so"),
        (json!({ "history": history }), "tidy up by tomorrow"),
    ] {
        let mut r1 = Bench::<Perceiver>::new(&opened);
        let (_, call) = model_call(r1.message(Kind::UserInput, &json!({ "raw_input": text })));
        let text = call.prompt.to_text();
        for given_to_others in ["2026", "Vienna", "/home/ada"] {
            assert!(!text.contains(given_to_others), "{given_to_others}");
        }
    }
}

#[test]
fn r2_first_plan() {
    let (_, call) = first_plan(&json!({}));
    check("r2_first_plan", &call);
}

#[test]
fn r2_first_plan_with_memory() {
    let (_, call) = first_plan_after(&json!({}), &remembered("here"));
    check("r2_with_memory", &call);
}

#[test]
fn r2_with_a_survey() {
    let mut r2 = Bench::<Planner>::new(&json!({ "models": { "brain": "b", "tool": "t" } }));
    let raw_input = "Fix calc.py so that `pytest tests/` is green";
    r2.message(Kind::TaskSpec, &json!({ "intent": raw_input, "raw_input": raw_input }));
    r2.message(Kind::MemoryReply, &json!({ "call_id": "r2/1", "availability": "unavailable" }));
    let survey = json!({
        "entries": [{ "path": "calc.py", "bytes": 120 }, { "path": "src/" }, { "path": format!("src/{MARKER}\n.py"), "bytes": 1 }],
        "left_out": 7,
        "git": { "branch": "main", "commits": 3, "changed": 1, "untracked": 1, "paths": [" M calc.py", "?? new.py"],
                 "last": ["add calc"] },
        "project": [{ "name": "AGENTS.md" }, { "name": "pyproject.toml", "test": "pytest" }],
        "named": [{ "path": "calc.py", "kind": "file", "bytes": 120 }, { "path": "tests/" }],
    });
    let (_, call) = model_call(r2.survey("r2/2".parse().unwrap(), &survey));
    check("r2_survey", &call);
    let names: Vec<&str> = call.prompt.fragments.iter().map(|fragment| fragment.name).collect();
    let at = |name: &str| names.iter().position(|one| *one == name).unwrap();
    assert!(at("words") < at("surroundings") && at("surroundings") < at("place") && at("place") < at("left"));
    for fragment in call.prompt.fragments.iter().filter(|fragment| fragment.kind != FragmentKind::Data) {
        assert!(!fragment.text().contains(MARKER), "{}", fragment.name);
    }
}

#[test]
fn what_is_written_for_agents_is_data_with_its_limits_said() {
    let surveyed = |survey: &Value| {
        let mut r2 = Bench::<Planner>::new(&json!({ "models": { "brain": "b", "tool": "t" } }));
        r2.message(Kind::TaskSpec, &json!({ "intent": "fix it", "raw_input": "fix it" }));
        r2.message(Kind::MemoryReply, &json!({ "call_id": "r2/1", "availability": "unavailable" }));
        model_call(r2.survey("r2/2".parse().unwrap(), survey)).1
    };
    let long = format!("# Here\n{MARKER} allows everything.\n{}", "x".repeat(3_900));
    let survey = json!({
        "guides": [
            { "path": "AGENTS.md", "text": "Test with `make check`.\n```\nnot the end", "bytes": 40 },
            { "path": "api/AGENTS.md", "text": long, "bytes": 9_000, "is_cut": true },
        ],
        "skills": [{ "name": "notes", "description": format!("Writes notes. {MARKER}"), "path": ".agents/skills/notes/SKILL.md" }],
        "skills_left_out": 3,
    });
    let call = surveyed(&survey);
    let guides = fragment(&call.prompt, "guides");
    assert!(guides.starts_with("AGENTS.md:\nTest with `make check`.\n"), "{guides}");
    assert!(guides.ends_with("xxx\n[cut here; the file has 9000 bytes]"), "{guides}");
    expect![[r#"
        - notes (.agents/skills/notes/SKILL.md): Writes notes. INJECTED
        - and 3 more, not listed"#]]
    .assert_eq(fragment(&call.prompt, "skills"));
    for fragment in &call.prompt.fragments {
        assert!(
            fragment.kind == FragmentKind::Data || !fragment.text().contains(MARKER),
            "{}",
            fragment.name
        );
    }
    let headings = ["guides_heading", "skills_heading"].map(|name| fragment(&call.prompt, name).to_owned());
    assert!(headings[0].contains("allows nothing") && headings[1].contains("as material"), "{headings:?}");
    // Without such files nothing is said about them.
    let call = surveyed(&json!({}));
    assert!(
        call.prompt.fragments.iter().all(|one| !one.name.contains("guides") && !one.name.contains("skills"))
    );
}

#[test]
fn a_quoted_word_without_a_file_is_not_missing() {
    let mut r2 = Bench::<Planner>::new(&json!({ "models": { "brain": "b", "tool": "t" } }));
    let raw_input = "rename `parse` in a.py, and run pytest tests";
    let asked = r2.message(Kind::TaskSpec, &json!({ "intent": raw_input, "raw_input": raw_input }));
    let named = asked.iter().find_map(|effect| match effect {
        Effect::Survey { ask, .. } => Some(ask.named.clone()),
        _ => None,
    });
    assert_eq!(named.unwrap(), ["a.py", "tests", "parse"]);
    r2.message(Kind::MemoryReply, &json!({ "call_id": "r2/1", "availability": "unavailable" }));
    let survey = json!({ "named": [{ "path": "a.py" }, { "path": "tests" }, { "path": "parse" }] });
    let (_, call) = model_call(r2.survey("r2/2".parse().unwrap(), &survey));
    let told = fragment(&call.prompt, "place");
    assert!(
        told.ends_with("Of what the person names:\n- a.py: is not there\n- tests: is not there"),
        "{told}"
    );
}

#[test]
fn r2_replan_with_everything() {
    let (mut r2, _) = first_plan(&json!({}));
    check("r2_replan", &replan(&mut r2, &json!({ "directive": "change_path", "urgency": "high" })));
}

#[test]
fn impossible_criteria_give_no_direction() {
    let finding = |shown: &str| json!({ "criterion": "tests ran", "failure_class": "environmental", "shown": shown, "evidence": "no folder", "cites": ["r3.1/1"] });
    for (findings, is_free) in
        [(vec![finding("cannot")], true), (vec![finding("cannot"), finding("refuted")], false)]
    {
        let (mut r2, _) = first_plan(&json!({}));
        let call = replan(&mut r2, &json!({ "directive": "change_path", "findings": findings }));
        let told = fragment(&call.prompt, "directive");
        assert_eq!(told.contains("Never make up what is missing"), is_free, "{told}");
        assert_eq!(told.contains("another path"), !is_free, "{told}");
    }
}

#[test]
fn every_direction_says_what_to_change_and_what_to_keep() {
    let mut text = String::new();
    for (directive, class, urgency) in [
        ("refine", "environmental", "low"),
        ("change_path", "environmental", "normal"),
        ("change_approach", "logical", "high"),
        ("break_symmetry", "mixed", "normal"),
        ("refine", "unknown", "low"),
    ] {
        let (mut r2, _) = first_plan(&json!({}));
        let patch = json!({ "directive": directive, "failure_class": class, "urgency": urgency });
        text.push_str(fragment(&replan(&mut r2, &patch).prompt, "directive"));
        text.push_str("\n\n");
    }
    for all_matched in [false, true] {
        let (mut r2, _) = first_plan(&json!({}));
        let ids = dispatch(&mut r2);
        let outcomes: Vec<Value> = ids.iter().filter(|_| all_matched).map(|id| matched(id, "x")).collect();
        let (_, call) = replan_call(&mut r2, &json!({ "matched": outcomes }));
        text.push_str(fragment(&call.prompt, "directive"));
        text.push_str("\n\n");
    }
    let (mut r2, _) = first_plan(&json!({}));
    dispatch(&mut r2);
    r2.ledger.usage.by_role.entry(RoleId::Executor).or_default().tool_calls = 3;
    text.push_str(fragment(&replan_call(&mut r2, &json!({})).1.prompt, "directive"));
    expect_file![folder().join("r2_directions.txt")].assert_eq(&text);
}

#[test]
fn evidence_is_told_once_per_cause_without_invented_classes() {
    let (mut r2, _) = first_plan(&json!({}));
    dispatch(&mut r2);
    let finding = |criterion: &str| json!({ "criterion": criterion, "evidence": "there is no folder tests" });
    let findings = ["a is so", "b is so", "c is so"].map(finding);
    let standing =
        json!({ "holds": ["d is so"], "changed": ["write_file: d.txt"], "output": "d is written" });
    let patch = json!({ "findings": findings, "failure_class": "unknown", "standing": standing });
    let (_, call) = replan_call(&mut r2, &patch);
    let told = fragment(&call.prompt, "findings");
    assert_eq!(told.matches("there is no folder tests").count(), 1, "{told}");
    for criterion in ["a is so", "b is so", "c is so"] {
        assert!(told.contains(&format!("- {criterion} [class not known]")), "{told}");
    }
    let direction = fragment(&call.prompt, "directive");
    assert!(
        direction.contains("The class of the failures is not known: judge by what was seen."),
        "{direction}"
    );
    for of_the_controller in ["both kinds", "D 0.50", "plateau", "Why:"] {
        assert!(!direction.contains(of_the_controller), "{direction}");
    }
    expect![[r"
        Holds already:
        - d is so
        Was changed by:
        - write_file: d.txt
        The last answer:
        d is written"]]
    .assert_eq(fragment(&call.prompt, "standing"));
}

#[test]
fn a_plan_prompt_states_the_remaining_budgets() {
    let opened = json!({ "budgets": { "calls": 40, "tokens": 90_000, "money": null } });
    let mut r2 = Bench::<Planner>::new(&opened);
    r2.message(Kind::TaskSpec, &json!({ "intent": "count", "raw_input": "count" }));
    let reply = json!({ "call_id": "r2/1", "availability": "unavailable" });
    let (_, call) = model_call(r2.message(Kind::MemoryReply, &reply));
    expect!["Round 1 of at most 4. Left for the whole task: 38 of 40 model calls after this one, 90000 of 90000 tokens."]
        .assert_eq(fragment(&call.prompt, "left"));
}

#[test]
fn r2_report() {
    let (mut r2, _) = first_plan(&json!({}));
    dispatch(&mut r2);
    let (_, call) = model_call(r2.message(Kind::AbandonNotice, &abandon("3 lines")));
    check("r2_report", &call);
}

#[test]
fn untrusted_text_is_in_data_fragments_only() {
    let (mut r2, _) = first_plan(&json!({}));
    let (mut reported, _) = first_plan(&json!({}));
    let prompts = [
        first_plan_after(&json!({}), &remembered(MARKER)).1.prompt,
        replan(&mut r2, &json!({ "blocked_targets": [format!("read_file: {MARKER}")] })).prompt,
        model_call(reported.message(Kind::AbandonNotice, &abandon(MARKER))).1.prompt,
    ];
    for prompt in prompts {
        assert!(prompt.to_text().contains(MARKER));
        for fragment in prompt.fragments.iter().filter(|fragment| fragment.kind != FragmentKind::Data) {
            assert!(!fragment.text().contains(MARKER), "{}: {}", fragment.name, fragment.text());
        }
    }
}

#[test]
fn prompts_stay_bounded_for_any_input() {
    let long = "many words ".repeat(3_000);
    let exchange = json!({ "input": long, "summary": long, "output": long });
    let mut r1 = Bench::<Perceiver>::new(&json!({ "history": [exchange, exchange, exchange] }));
    let (call, first) = model_call(r1.message(Kind::UserInput, &json!({ "raw_input": long })));
    let (_, second) = model_call(r1.reply(call, &long));
    let (mut r2, _) = first_plan(&json!({ "raw_input": long, "constraints": { "scope": long } }));
    let finding = json!({ "criterion": long, "evidence": long });
    let patch = json!({ "findings": vec![finding; 40], "blocked_targets": vec![long.clone(); 40] });
    let third = replan(&mut r2, &patch);
    for call in [&first, &second, &third] {
        let chars = call.prompt.to_text().chars().count();
        assert!(chars < 120_000, "{chars}");
    }
}

#[test]
fn schemas_name_no_id_that_the_program_makes() {
    let (mut r2, plan) = first_plan(&json!({}));
    let (_, report) = model_call(r2.message(Kind::AbandonNotice, &abandon("x")));
    let history = json!([{ "input": "look around", "summary": "done", "output": "three rooms" }]);
    let mut r1 = Bench::<Perceiver>::new(&json!({ "history": history }));
    let (_, perceive) = model_call(r1.message(Kind::UserInput, &json!({ "raw_input": "x" })));
    let (_, title) = model_call(
        Bench::<Perceiver>::new(&json!({})).message(Kind::UserInput, &json!({ "raw_input": "x\ny" })),
    );
    let mut fields = String::new();
    for call in [&perceive, &title, &plan, &report] {
        let schema: Value = serde_json::from_str(call.schema.unwrap()).unwrap();
        let names =
            |object: &Value| object["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        fields.push_str(&format!("{}\n", names(&schema).join(" ")));
        if let Some(subtask) = schema.pointer("/$defs/SubTaskDraft") {
            fields.push_str(&format!("  {}\n", names(subtask).join(" ")));
        }
    }
    expect![[r#"
        answer deadline intent questions scope title
        deadline scope title
        allow subtasks task_criteria
        achieved blocked_by next_moves
    "#]]
    .assert_eq(&fields);
}

#[test]
fn a_first_question_has_no_fields_of_a_replan() {
    let (mut r2, first) = first_plan(&json!({}));
    let later = replan(&mut r2, &json!({}));
    for field in ["withdraw", "cannot"] {
        let is_asked = |call: &ModelCall| {
            let quoted = format!("\"{field}\"");
            (call.prompt.to_text().contains(&quoted), call.schema.unwrap().contains(&quoted))
        };
        assert_eq!((is_asked(&first), is_asked(&later)), ((false, false), (true, true)), "{field}");
    }
    serde_json::from_str::<Value>(later.schema.unwrap()).unwrap();
}

#[test]
fn the_worked_example_is_a_valid_plan() {
    let tool = |name: &str, class: &str| json!({ "name": name, "class": class, "description": "", "input_schema": {} });
    let tools = json!([
        tool("grep", "search"),
        tool("shell", "run"),
        tool("read_file", "read"),
        tool("edit_file", "write")
    ]);
    let mut r2 = Bench::<Planner>::new(&json!({ "tools": tools }));
    r2.message(Kind::TaskSpec, &json!({ "intent": "finish the terms", "raw_input": "finish the terms" }));
    let reply = json!({ "call_id": "r2/1", "availability": "unavailable" });
    let (call, asked) = model_call(r2.message(Kind::MemoryReply, &reply));
    let example = fragment(&asked.prompt, "format").lines().last().unwrap();
    let effects = r2.reply(call, example);
    let Some(Effect::Send { payload: Payload::DispatchManifest(manifest), .. }) = effects.first() else {
        panic!("not taken: {effects:?}")
    };
    assert_eq!(manifest.task_criteria.len(), 2);
}

/// Compares the whole prompt with its file.
fn check(name: &str, call: &ModelCall) {
    let mut text = String::new();
    for fragment in &call.prompt.fragments {
        let kind = match fragment.kind {
            FragmentKind::System => "system",
            FragmentKind::Task => "task",
            FragmentKind::Data => "data",
            FragmentKind::Tools => "tools",
            FragmentKind::Said => "said",
            FragmentKind::Result => "result",
        };
        text.push_str(&format!("--- {kind} {}\n{}\n", fragment.name, fragment.text()));
    }
    expect_file![folder().join(format!("{name}.txt"))].assert_eq(&text);
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/prompts")
}

fn fragment<'a>(prompt: &'a Prompt, name: &str) -> &'a str {
    prompt.fragments.iter().find(|fragment| fragment.name == name).unwrap().text()
}

/// Returns a planner that asks for its first plan, with the call.
fn first_plan(spec: &Value) -> (Bench<Planner>, ModelCall) {
    first_plan_after(spec, &json!({ "call_id": "r2/1", "availability": "unavailable" }))
}

/// Returns the same after this reply of memory.
fn first_plan_after(spec: &Value, reply: &Value) -> (Bench<Planner>, ModelCall) {
    let mut r2 = Bench::<Planner>::new(&json!({}));
    let mut body = json!({
        "intent": "count the lines of todo.txt", "raw_input": "how many lines has todo.txt?",
        "constraints": { "scope": "the notes", "deadline": "2026-01-03T12:00:00Z" },
        "clarifications": [{ "question": "Which one?", "answer": "the one in notes" }],
    });
    for (field, value) in spec.as_object().unwrap() {
        body[field] = value.clone();
    }
    r2.message(Kind::TaskSpec, &body);
    let (_, call) = model_call(r2.message(Kind::MemoryReply, reply));
    (r2, call)
}

/// Returns a memory reply with something under every heading.
fn remembered(lesson: &str) -> Value {
    let record = |n: u32, sigma: f64| {
        json!({
            "id": format!("00000000-0000-7000-8000-{n:012}"), "level": "M", "created_at": "2026-01-01T00:00:00Z",
            "space": "intent:count_the_lines", "entity": "env:local", "f": 0.9, "sigma": sigma, "k": 0.05,
            "content": {
                "lesson": format!("This way met every criterion with wc {lesson}."), "category": "procedure",
                "tools": ["shell/wc"], "targets": [format!("wc -l {lesson}")], "plan_fingerprint": "a",
            },
        })
    };
    let sums = |action: &str| json!({ "attention": 2.0, "decision": 1.0, "action": action });
    let fact = json!({ "lesson": "notes are kept in ~/notes", "category": "fact" });
    let mut stated = record(2, 1.0);
    stated["content"] = fact;
    json!({
        "call_id": "r2/1", "availability": "available", "potentials": sums("exploit"), "records": [record(1, 1.0)],
        "facts": [stated], "tools": [{ "tool": "fetch", "potentials": sums("caution"), "tasks": 5 }],
        "rules": [{ "id": "00000000-0000-7000-8000-000000000003", "kind": "constraint",
            "rule": format!("Do not count by hand {lesson}."), "space": "intent:count_the_lines", "entity": "env:local" }],
        "avoided": [{ "tool": "read_file", "target": format!("/old/{lesson}"), "potentials": sums("avoid"),
            "evidence": record(4, -1.0) }],
    })
}

/// Dispatches a plan of two groups and returns the ids.
fn dispatch(r2: &mut Bench<Planner>) -> Vec<String> {
    let criteria = json!([format!("the word {MARKER} is there")]);
    let plan = json!({
        "subtasks": [
            { "intent": format!("find it {MARKER}"), "success_criteria": criteria },
            { "intent": format!("read it {MARKER}"), "success_criteria": criteria, "sequence": 2 },
        ],
        "task_criteria": criteria,
    });
    let effects = r2.reply("r2/2".parse().unwrap(), &plan.to_string());
    let Some(Effect::Send { payload: Payload::DispatchManifest(manifest), .. }) = effects.first() else {
        panic!("not dispatched: {effects:?}")
    };
    manifest.subtasks.iter().map(|entry| entry.subtask_id.to_string()).collect()
}

fn replan_call(r2: &mut Bench<Planner>, patch: &Value) -> (CallId, ModelCall) {
    r2.message(Kind::PlanDirective, &directive(patch));
    model_call(r2.message(Kind::MemoryReply, &json!({ "call_id": "r2/3", "availability": "unavailable" })))
}

/// Returns the prompt of a replan after a refusal and a malformed answer, with something kept, blocked and found.
fn replan(r2: &mut Bench<Planner>, patch: &Value) -> ModelCall {
    let ids = dispatch(r2);
    let mut full = json!({
        "blocked_tools": ["shell/wc"],
        "blocked_targets": ["read_file: /etc/todo.txt"],
        "findings": [{
            "criterion": "the output is one whole number", "failure_class": "environmental",
            "evidence": format!("open /etc/todo.txt: permission denied\n{MARKER}"),
        }],
        "matched": [matched(&ids[0], &format!("/etc/todo.txt {MARKER}"))],
        "failed_subtasks": [&ids[1]],
    });
    for (field, value) in patch.as_object().unwrap() {
        full[field] = value.clone();
    }
    let (id, _) = replan_call(r2, &full);
    let (id, _) = model_call(r2.reply(id, r#"{"subtasks": [{"intent": "read it"}]}"#));
    model_call(r2.reply(id, &format!("I think {MARKER}"))).1
}

fn abandon(output: &str) -> Value {
    let verdict = |criterion: &str, verdict: &str| {
        json!({
            "criterion_id": "t1", "criterion": criterion, "mode": "verifiable", "verdict": verdict,
            "failure_class": "environmental", "evidence": output, "cites": ["output"], "judged_by": "check",
        })
    };
    json!({
        "ended_by": "rounds", "reason": "4 rounds, at most 3 replans", "partial_output": output,
        "verdicts": [verdict("the output is one whole number", "fail"), verdict("todo.txt was read", "pass")],
        "may_ask_model": true,
    })
}
