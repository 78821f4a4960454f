//! An executor's conversation with its model, as the provider sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn, Wire};

use super::{Place, Ran, asked, run, run_with, said, site};

/// The smallest share of an executor's tokens that must come from the cache over a task of twenty calls.
const CACHED_SHARE_MIN: f64 = 0.85;

/// Returns a model that plans one sub-task and, as its executor, answers in turn.
fn server(criteria: Value, steps: Vec<Turn>) -> Hosted {
    let subtask = json!({ "intent": "read the lists one after the other", "success_criteria": criteria });
    serve(json!({ "subtasks": [subtask] }), steps)
}

/// Returns a model that gives this plan and, as its executors, answers in turn.
fn serve(plan: Value, steps: Vec<Turn>) -> Hosted {
    let executed = AtomicUsize::new(0);
    let answer = move |seen: &SeenRequest| match site(seen) {
        Site::Perceive => said(&json!({ "title": question::goal(&seen.asked.told()) })),
        Site::Plan => said(&plan),
        Site::Execute => steps[executed.fetch_add(1, Ordering::Relaxed)].clone(),
        Site::Merge => said(&json!({ "verdicts": [], "summary": "The lists were read." })),
        Site::Judge => said(&holds(seen.asked.last_user().unwrap_or_default())),
        Site::Report => panic!("nobody has to ask: {}", seen.asked.system),
    };
    Hosted::start(Arc::new(answer)).unwrap()
}

/// Returns the verdicts of a judge for whom all that is asked holds, by the first call.
fn holds(question: &str) -> Value {
    let cited: Vec<&str> = question::calls(question).take(1).collect();
    let verdict =
        |id: &str| json!({ "criterion_id": id, "verdict": "pass", "evidence": "read", "cites": cited });
    json!({ "verdicts": question::criteria(question).map(verdict).collect::<Vec<_>>() })
}

/// Writes a unique file of some 3,000 characters, and returns the call that reads it.
fn look(place: &Place, n: usize) -> Turn {
    let lines: String =
        (0..60).map(|line| format!("jar {line} of shelf {n}: {}\n", "plum ".repeat(7))).collect();
    place.file(&format!("list-{n}.txt"), lines);
    Answer::call("read_file", &json!({ "path": format!("list-{n}.txt") }).to_string()).into()
}

/// Runs a task that reads `calls` different files of some 3,000 characters, one after the other.
fn reads(wire: Wire, calls: usize) -> (Hosted, Ran) {
    let place = Place::new();
    let mut steps: Vec<Turn> = (0..calls).map(|n| look(&place, n)).collect();
    steps.push(said(&json!({ "status": "completed", "output": "plums everywhere" })));
    let check = json!({ "on": { "call": { "tool": "read_file", "which": "list-0.txt" } }, "expect": { "contains": "plum" } });
    let server = server(json!([{ "criterion": "list-0.txt names plums", "check": check }]), steps);
    let ran = run_with(&place, &server, wire, "read the lists of the cellar", "", |_| ());
    assert_eq!(ran.result["directive"], "accept", "{wire:?}: {:#}", ran.result);
    (server, ran)
}

#[test]
fn a_conversation_grows_at_its_end_and_comes_from_the_cache() {
    for wire in [Wire::Anthropic, Wire::Chat, Wire::Responses, Wire::Gemini] {
        let (server, ran) = reads(wire, 20);
        let asked = asked(&server, Site::Execute);
        assert_eq!(asked.len(), 21, "{wire:?}");
        for (before, after) in asked.iter().zip(asked.iter().skip(1)) {
            assert_eq!(
                (&before.asked.system, &before.asked.tools),
                (&after.asked.system, &after.asked.tools)
            );
            assert!(after.asked.said.starts_with(&before.asked.said), "{wire:?}: {:#?}", after.asked.said);
            // One call, one result, and sometimes the remaining number of rounds.
            let added = after.asked.said.len() - before.asked.said.len();
            assert!((2..=3).contains(&added), "{wire:?}: {added} more");
        }
        if wire == Wire::Anthropic {
            assert!(
                asked.iter().skip(1).all(|seen| seen.asked.cache_marks == 3),
                "system, and our last two messages"
            );
        }
        let usage = &ran.result["usage"]["by_role"]["executor"];
        let tokens = |name: &str| usage[name].as_f64().unwrap();
        let share = tokens("tokens_cached") / tokens("tokens_in");
        println!("{wire:?}: {:.1} % of {} tokens from the cache", share * 100.0, tokens("tokens_in"));
        assert!(share >= CACHED_SHARE_MIN, "{wire:?}: {share}");
    }
}

/// Instructions and schemas of an executor with the core tools: what every task sends.
#[test]
fn an_executors_fixed_prompt_is_short() {
    let (server, _) = reads(Wire::Chat, 1);
    let first = asked(&server, Site::Execute).swap_remove(0).asked;
    let tools: Vec<String> =
        first.tools.iter().map(|tool| format!("{}{}{}", tool.name, tool.description, tool.schema)).collect();
    let names: Vec<&str> = first.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        names,
        ["edit_file", "glob", "grep", "list_dir", "read_file", "shell", "write_file", "load_tools"]
    );
    let chars = first.system.chars().count() + tools.iter().map(|tool| tool.chars().count()).sum::<usize>();
    println!("{chars} characters, {} of them instructions", first.system.chars().count());
    assert!(chars <= 8_000, "{chars}");
    assert!(first.said.iter().any(|said| format!("{said:?}").contains("More tools, by `load_tools`")));
}

/// Runs one task with a hundred calls of its executors' model: a conversation of three attempts, each with as
/// many rounds as an attempt may have, and one more. Ninety-six results of 3,000 characters.
fn hundred() -> (Hosted, Ran) {
    let place = Place::new();
    let answer = |output: &str| said(&json!({ "status": "completed", "output": output }));
    let mut steps: Vec<Turn> = Vec::new();
    for (quarter, output) in ["plums", "plums", "plums, and no pears", "plums"].into_iter().enumerate() {
        steps.extend((quarter * 24..quarter * 24 + 24).map(|n| look(&place, n)));
        steps.push(answer(output));
    }
    let subtask = |intent: &str, word: &str| {
        let check = json!({ "on": "output", "expect": { "contains": word } });
        let read = json!({ "on": { "call": { "tool": "read_file", "which": "list-0.txt" } }, "expect": { "contains": "plum" } });
        let named = json!({ "criterion": format!("the output names {word}"), "check": check });
        let shown = json!({ "criterion": "list-0.txt names plums", "check": read });
        match word {
            "pears" => json!({ "intent": intent, "sequence": 1, "success_criteria": [named, shown] }),
            _ => json!({ "intent": intent, "sequence": 2, "success_criteria": [named] }),
        }
    };
    let of_whole = json!([{ "criterion": "the output names plums", "check": { "on": "output", "expect": { "contains": "plums" } } }]);
    let plan = json!({
        "subtasks": [subtask("read the first lists", "pears"), subtask("read the other lists", "plums")],
        "task_criteria": of_whole,
    });
    let server = serve(plan, steps);
    let ran = run(&place, &server, "read the lists of the cellar", "");
    (server, ran)
}

/// Earlier text is not stored again: the journal grows as much in the last quarter of a long task as in the
/// first. docs/models.md has the figures.
#[test]
fn the_journal_grows_linearly_with_the_conversation() {
    let (server, ran) = hundred();
    let asked = asked(&server, Site::Execute);
    assert_eq!(asked.len(), 100, "{:#}", ran.result);
    // The bytes of the journal before each question to an executor's model, and in total.
    let mut bytes = 0;
    let mut before: Vec<usize> = Vec::new();
    for line in &ran.exported {
        let record: Value = serde_json::from_str(line).unwrap();
        if record["data"]["ask"]["model"]["purpose"] == "execute" {
            before.push(bytes);
        }
        bytes += line.len();
    }
    let sent = |n: usize| {
        let asked = &asked[n].asked;
        let tools =
            asked.tools.iter().map(|tool| format!("{}{}{}", tool.name, tool.description, tool.schema));
        let said = asked.said.iter().map(|said| format!("{said:?}").chars().count()).sum::<usize>();
        asked.system.chars().count() + tools.map(|tool| tool.chars().count()).sum::<usize>() + said
    };
    for call in [1, 25, 50, 75, 76, 100] {
        println!("call {call}: {} bytes before it, {} characters sent", before[call - 1], sent(call - 1));
    }
    let usage = &ran.result["usage"]["by_role"]["executor"];
    let tokens = |name: &str| usage[name].as_f64().unwrap();
    let share = tokens("tokens_cached") / tokens("tokens_in");
    println!("{bytes} bytes at the end; {:.1} % of {} tokens cached", share * 100.0, tokens("tokens_in"));
    // Over ten turns at the beginning of the conversation, and ten at its end, in its third attempt.
    let grown = |from: usize, to: usize| before[to - 1] - before[from - 1];
    assert!(grown(62, 72) * 10 <= grown(5, 15) * 11, "{} and {}", grown(5, 15), grown(62, 72));
    assert!(grown(76, 100) * 10 <= grown(1, 25) * 11, "{} and {}", grown(1, 25), grown(76, 100));
    assert!(share >= CACHED_SHARE_MIN, "{share}");
}

#[test]
fn another_attempt_goes_on_where_the_first_one_ended() {
    let long = "x".repeat(2_000);
    let write = json!({ "path": "notes.txt", "content": long }).to_string();
    let mut beside = Answer::call("write_file", &write);
    beside.text = vec!["I note it first.".to_owned()];
    let answer =
        |fruit: &str| said(&json!({ "status": "completed", "output": format!("the jar holds {fruit}") }));
    let steps = vec![Turn::from(beside), answer("pears"), answer("plums")];
    let named = json!({ "on": "output", "expect": { "contains": "plums" } });
    let holds = json!({ "on": { "probe": { "tool": "read_file", "input": { "path": "notes.txt" } } },
        "expect": { "contains": "xxx" } });
    let criteria = json!([
        { "criterion": "notes.txt holds the note", "check": holds },
        { "criterion": "the output names plums", "check": named },
    ]);
    let server = server(criteria, steps);
    let result = run(&Place::new(), &server, "note what the jar holds", "").result;
    assert_eq!(result["directive"], "accept", "{result:#}");
    let asked = asked(&server, Site::Execute);
    assert_eq!(asked.len(), 3, "one call, and an answer in each attempt");
    let last = &asked[2].asked;
    assert!(last.said.starts_with(&asked[1].asked.said), "{:#?}", last.said);
    let whole = format!("{:?}", last.said);
    for kept in ["I note it first.", &long, "the jar holds pears", "attempt 2 of 3", "the output names plums"]
    {
        assert!(whole.contains(kept), "{kept}: {whole}");
    }
}
