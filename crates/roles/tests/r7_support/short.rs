//! Messages in short form: fields that a test omits are filled in.
//!
//! An outcome is written `<matched|failed> <n> <verdicts> <call> <call> …`: sub-task n, one letter per criterion (`.`
//! pass, `L` logical fail, `E` environmental fail, `C` fail that is shown to be impossible here, `N` fail that was
//! only not shown, `?` fail without a class, `P` logical fail of a plausible criterion, `v` vacuous pass, `s` pass on
//! what the work made or changed itself, `V` vacuous fail, `-` not judged), and calls `tool[+tool]:target`, with `!`
//! in front if it failed, `~` if consent was refused, `#` if a limit blocked it, `^` if it was cut off; a `*` before
//! the tool says that it may have changed something. A `·` in a target is a space; a shell call's target is its
//! command. Verdicts on the whole are written with the same letters.

use serde_json::{Value, json};

/// Returns the full form of a message of this kind.
pub(crate) fn expand(kind: &str, mut message: Value) -> Value {
    let defaults = match kind {
        "ReplanRequest" => json!({
            "round": 1, "gap_summary": "the gap in words", "failed_subtasks": [], "correction_count": 0,
            "elapsed_ms": 0, "outcomes": [], "partial_output": "a part", "plan_fingerprint": "plan-a",
            "recommendation": "replan",
        }),
        "OutcomeSummary" => json!({
            "merged_output": "the whole", "summary": "What was done, in words.", "task_criteria_verdicts": ".",
            "outcomes": [], "plan_fingerprint": "plan-a", "elapsed_ms": 0,
        }),
        "TaskFault" => json!({
            "role": "runtime", "kind": "fault", "reason": "it broke", "retryable": false, "elapsed_ms": 0,
        }),
        "PartialReport" => json!({ "achieved": "a part", "blocked_by": "a wall", "next_moves": ["climb"] }),
        _ => json!({}),
    };
    for (field, value) in defaults.as_object().unwrap() {
        message.as_object_mut().unwrap().entry(field).or_insert_with(|| value.clone());
    }
    if let Some(letters) = message.get("task_criteria_verdicts").and_then(Value::as_str) {
        message["task_criteria_verdicts"] = json!(verdicts("t", "the whole", letters));
    }
    if let Some(outcomes) = message.get_mut("outcomes").and_then(Value::as_array_mut) {
        outcomes.iter_mut().for_each(|one| *one = outcome(one));
    }
    for name in ["applied_rules", "overridden_rules"] {
        for rule in message.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(text) = rule.as_str() {
                let [n, space, entity] = text.split(' ').collect::<Vec<_>>()[..] else { panic!("{text}") };
                *rule = json!({ "id": uuid(n.parse().unwrap()), "space": space, "entity": entity });
            }
        }
    }
    message
}

/// Returns the id of sub-task `n`.
pub(crate) fn uuid(n: u32) -> String {
    format!("00000000-0000-7000-8000-{n:012}")
}

/// Expands a text in short form, or an object whose `of` is one and whose other fields replace its own.
fn outcome(given: &Value) -> Value {
    let text = given.as_str().or_else(|| given["of"].as_str()).unwrap();
    let mut words = text.split_whitespace();
    let status = words.next().unwrap();
    let n: u32 = words.next().unwrap().parse().unwrap();
    let letters = words.next().unwrap_or("");
    let prefix = format!("s{n}.c");
    let about = format!("sub-task {n}");
    let criteria: Vec<Value> = letters
        .chars()
        .enumerate()
        .map(|(at, letter)| {
            let mode = if letter == 'P' { "plausible" } else { "verifiable" };
            json!({ "id": format!("{prefix}{}", at + 1), "criterion": criterion(&about, at), "mode": mode })
        })
        .collect();
    let mut outcome = json!({
        "subtask_id": uuid(n), "success_criteria": criteria, "status": status, "output": format!("output {n}"),
        "criteria_verdicts": verdicts(&prefix, &about, letters), "gap_trajectory": [],
        "tool_calls": words.enumerate().map(|(at, text)| call(n, at, text)).collect::<Vec<_>>(),
        "fingerprint": format!("print-{n}"),
    });
    for (field, value) in given.as_object().into_iter().flatten().filter(|(field, _)| *field != "of") {
        outcome[field] = value.clone();
    }
    outcome
}

fn verdicts(prefix: &str, about: &str, letters: &str) -> Vec<Value> {
    let judged = letters.chars().enumerate().filter(|(_, letter)| *letter != '-');
    judged
        .map(|(at, letter)| {
            let mut verdict = json!({
                "criterion_id": format!("{prefix}{}", at + 1), "criterion": criterion(about, at),
                "mode": if letter == 'P' { "plausible" } else { "verifiable" },
                "verdict": if ".vs".contains(letter) { "pass" } else { "fail" },
                "evidence": format!("what was seen of {prefix}{}", at + 1), "cites": ["output"], "judged_by": "check",
                "vacuous": letter.eq_ignore_ascii_case(&'v'),
            });
            match letter {
                'L' | 'P' => verdict["failure_class"] = json!("logical"),
                'E' => verdict["failure_class"] = json!("environmental"),
                's' => verdict["self_made"] = json!(true),
                'C' => {
                    verdict["failure_class"] = json!("environmental");
                    verdict["shown"] = json!("cannot");
                }
                'N' => verdict["shown"] = json!("not_shown"),
                '.' | '?' | 'v' | 'V' => {}
                other => panic!("no verdict is written {other:?}"),
            }
            verdict
        })
        .collect()
}

fn criterion(about: &str, at: usize) -> String {
    format!("criterion {} of {about}", at + 1)
}

fn call(n: u32, at: usize, text: &str) -> Value {
    let (ok, error_kind, rest) = match text.split_at(1) {
        ("!", rest) => (false, Some("exit"), rest),
        ("~", rest) => (false, Some("consent"), rest),
        ("#", rest) => (false, Some("blocked"), rest),
        ("^", rest) => (false, Some("interrupted"), rest),
        _ => (true, None, text),
    };
    let (side_effect, rest) = match rest.strip_prefix('*') {
        Some(rest) => ("reversible", rest),
        None => ("none", rest),
    };
    let (tools, target) = rest.split_once(':').unwrap();
    let tools: Vec<&str> = tools.split('+').collect();
    let target = target.replace('·', " ");
    let input = if tools[0].starts_with("shell") { json!({ "command": target }) } else { json!({}) };
    let mut call = json!({
        "call_id": format!("r3.{n}/{}", at + 1), "attempt": 1, "phase": "work", "tool": tools[0],
        "tools": if tools.len() > 1 { &tools[..] } else { &[] }, "input": input, "target": target, "ok": ok,
        "evidence": "what it printed", "duration_ms": 1, "side_effect": side_effect,
    });
    if let Some(kind) = error_kind {
        call["error_kind"] = json!(kind);
    }
    if error_kind == Some("exit") {
        call["exit_code"] = json!(1);
    }
    call
}
