//! How many wrong answers the checks of the shipped playbooks notice: every number, text, flag and list of an
//! answer is changed, one at a time, and the criteria are judged again on the evidence of the real run. A
//! change that no check notices is a survivor.

use serde_json::{Value, json};
use setpoint_protocol::Any;
use setpoint_protocol::predicate::{Check, CheckOn, Observation};

use super::odd_home;
use crate::support::{Home, say, shell};

/// Expected survivors, by pointer: no program measures these values again.
const MEANT: &[(&str, &str)] = &[
    // What a tool leaves out on purpose is only reported, because no other program leaves out the same
    // things.
    ("/left_out", "what was left out is the tool's own account"),
    // The name of a language is a convention, not a measurement.
    ("/languages/language", "the name of a language is a convention"),
    ("/conflicts", "names that would collide are not renamed, and the others are looked at"),
];

/// The smallest share of changes that must be noticed.
const NOTICED_MIN: f64 = 0.95;

struct Judged {
    playbook: &'static str,
    output: Value,
    /// Each check with the facts of its probe; `None` for checks of the output.
    checks: Vec<(Check, Option<Value>)>,
}

impl Judged {
    /// Returns a goal that is accepted, with the evidence from its journal.
    fn of(home: &Home, playbook: &'static str, goal: &str, options: &[&str]) -> Self {
        let came = home.run(&[&["run", "--json"], options, &[goal]].concat());
        let result = came.json();
        assert_eq!(came.code, 0, "{playbook}: {goal}: {came:#?}");
        let records = home.records(result["task_id"].as_str().unwrap());
        let last = |kind: &str| {
            let name = format!("setpoint.{kind}");
            records.iter().rfind(|record| record["type"] == *name).unwrap()["data"].clone()
        };
        let manifest = last("DispatchManifest");
        let outcome = last("SubTaskOutcome");
        let steps = manifest["subtasks"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|step| step["success_criteria"].as_array().unwrap());
        let criteria = manifest["task_criteria"].as_array().into_iter().flatten().chain(steps);
        let probes: Vec<&Value> = outcome["tool_calls"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|call| call["phase"] == "after")
            .collect();
        let checks = criteria.map(|criterion| {
            let check: Check = serde_json::from_value(criterion["check"].clone()).unwrap();
            let facts = match &check.on {
                CheckOn::Output => None,
                CheckOn::Probe(call) => {
                    let probe = probes.iter().find(|probe| probe["input"] == call.input.0);
                    Some(probe.unwrap_or_else(|| panic!("{playbook}: no probe {call:?}"))["facts"].clone())
                }
                CheckOn::Call { .. } => panic!("{playbook}: a check on a call of the work"),
            };
            (check, facts)
        });
        let judged = Judged { playbook, output: result["output"].clone(), checks: checks.collect() };
        assert!(judged.holds(&judged.output), "{playbook}: the answer itself is not shown");
        judged
    }

    fn holds(&self, output: &Value) -> bool {
        let text = Any(output.clone()).to_text();
        self.checks.iter().all(|(check, facts)| {
            let value = facts.as_ref().unwrap_or(output);
            let text = if facts.is_some() { "" } else { text.as_str() };
            check
                .expect
                .evaluate_against(&Observation { text, value: Some(value), exit_code: Some(0) }, output)
                .holds
        })
    }
}

/// Adds every value that differs from this one in one place, with the place.
fn changed(value: &Value, at: &str, out: &mut Vec<(String, Value)>, whole: &Value) {
    let mut put = |with: Value| {
        let mut copy = whole.clone();
        *copy.pointer_mut(at).unwrap() = with;
        out.push((at.to_owned(), copy));
    };
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(number) => {
                for other in [number + 1, number - 1, number * 10 + 7] {
                    put(json!(other));
                }
            }
            None => put(json!(number.as_f64().unwrap() + 1.0)),
        },
        Value::String(text) => {
            put(json!(format!("{text}x")));
            put(json!(text.chars().rev().chain(['~']).collect::<String>()));
        }
        Value::Bool(flag) => put(json!(!flag)),
        Value::Null => put(json!(1)),
        Value::Array(items) => {
            let mut longer = items.clone();
            longer.push(items.first().cloned().unwrap_or_else(|| json!({"path": "made up"})));
            put(json!(longer));
            for n in 0..items.len() {
                let mut shorter = items.clone();
                shorter.remove(n);
                put(json!(shorter));
            }
            for (n, item) in items.iter().enumerate() {
                changed(item, &format!("{at}/{n}"), out, whole);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                changed(field, &format!("{at}/{name}"), out, whole);
            }
        }
    }
}

/// Returns whether a survivor at this place is expected. Positions in lists are ignored.
fn is_meant(at: &str) -> bool {
    let plain: String = at
        .split('/')
        .filter(|part| !part.is_empty() && part.parse::<usize>().is_err())
        .map(|part| format!("/{part}"))
        .collect();
    MEANT.iter().any(|(meant, _)| plain == *meant || plain.starts_with(&format!("{meant}/")))
}

#[test]
fn a_changed_answer_is_not_accepted() {
    let home = odd_home();
    let script = r#"
        git init -q -b trunk repo && cd repo && echo a > a && echo k > k && git add . &&
        git -c user.name=Ann -c user.email=a@a commit -q -m first && echo b >> a && echo n > new && cd ..
        mkdir twin copy && echo 1 > twin/a && cp twin/a copy/a
    "#;
    shell(&home.work(), script);
    home.file("t.csv", "id,name,v\n1,ann,1.5\n2,\"b, c\",2.5\n3,,\n");
    home.file("o.json", r#"{"b": 1, "a": {"x": [1, {"y": 2}]}}"#);
    home.file("l.jsonl", "{\"a\": 1}\n{\"b\": 2}\n");
    home.file(
        "x.log",
        "2026-01-01T10:00:00Z ERROR lost 1\n2026-01-01T10:00:01Z ERROR lost 2\n2026-01-01T10:00:02Z INFO up\n2026-01-01T10:00:03Z plain\n",
    );
    home.file("p/IMG_1.jpeg", "1");
    let goals = [
        ("broken-symlinks", "find broken symlinks in 'odd dir'"),
        ("compare-directories", "compare twin with copy"),
        ("count-lines", "count the lines in 'odd dir'"),
        ("csv-summary", "summarise t.csv"),
        ("disk-usage", "disk usage of 'odd dir'"),
        ("duplicate-files", "find duplicate files in 'odd dir'"),
        ("file-checksum", "sha256 of t.csv"),
        ("find-text", "find 'needle' in 'odd dir'"),
        ("git-report", "report on the git repository in repo"),
        ("json-summary", "summarise o.json"),
        ("json-summary", "summarise l.jsonl"),
        ("largest-files", "find the five largest files in 'odd dir'"),
        ("log-summary", "summarise x.log"),
        ("manifest-create", "create a checksum manifest of twin in ./twin.sha256"),
        ("manifest-verify", "verify twin.sha256 against copy"),
        ("archive-directory", "archive twin to ./twin.tar.gz"),
        ("rename-files", "preview renaming .jpeg to .jpg in p"),
    ];
    let (mut tried, mut noticed) = (0_u32, 0_u32);
    let mut survivors = Vec::new();
    for (playbook, goal) in goals {
        let judged = Judged::of(&home, playbook, goal, &[]);
        let mut answers = Vec::new();
        changed(&judged.output, "", &mut answers, &judged.output);
        for (at, answer) in answers {
            tried += 1;
            match judged.holds(&answer) {
                false => noticed += 1,
                true => survivors.push((judged.playbook, at)),
            }
        }
    }
    say(&format!("mutations: {tried} changed answers, {noticed} noticed"));
    survivors.iter().for_each(|(playbook, at)| say(&format!("  survivor: {playbook} {at}")));
    let unmeant: Vec<_> = survivors.iter().filter(|(_, at)| !is_meant(at)).collect();
    assert!(unmeant.is_empty(), "{unmeant:#?}");
    assert!(f64::from(noticed) >= NOTICED_MIN * f64::from(tried), "{noticed} of {tried}: {survivors:#?}");
}
