//! The committed vectors pass, a wrong one is detected, and a bad file is named.

use std::error::Error as _;
use std::path::Path;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use setpoint_control::Gains;

use super::*;

#[test]
fn the_committed_vectors_pass() {
    let summary = run(None).unwrap();
    expect![[r#"
        146 passed, 0 failed
    "#]]
    .assert_eq(&summary.to_string());
}

#[test]
fn the_committed_settings_are_the_reference() {
    let vectors = committed();
    let mut summary = Summary::default();
    let gains = format::gains(vectors.get("hyperparameters"), &mut summary).unwrap();
    assert_eq!((gains, summary.failures), (Gains::default(), Vec::new()));
}

/// Every expected value of every vector is compared: if any of them is changed, its vector fails.
#[test]
fn each_expected_value_counts() {
    let mut changed = 0;
    for alone in one_by_one(&committed()) {
        assert_eq!(run_vectors(&alone).unwrap().failed(), 0, "{alone}");
        for pointer in expected_values(&alone) {
            let mut spoiled = alone.clone();
            let value = spoiled.pointer_mut(&pointer).unwrap();
            *value = other_than(value, &pointer);
            assert_eq!(run_vectors(&spoiled).unwrap().failed(), 1, "{pointer} was not compared");
            changed += 1;
        }
    }
    assert!(changed > 900, "only {changed} values were changed");
}

#[test]
fn a_failure_shows_expected_and_got() {
    let mut vectors = committed();
    *vectors.pointer_mut("/ggs/components/1/expect/D").unwrap() = json!(0.25);
    *vectors.pointer_mut("/ggs/sequences/1/rounds/0/expect/directive").unwrap() = json!("refine");
    *vectors.pointer_mut("/ggs/sequences/1/rounds/1/expect/megrams/1/f").unwrap() = json!(0.5);
    *vectors.pointer_mut("/ggs/sequences/3/rounds/1/expect/blocked_targets").unwrap() = json!(["search: b"]);
    *vectors.pointer_mut("/memory/slug/0/expect").unwrap() = json!("intent:migrate");
    check_failures(
        &vectors,
        &expect![[r#"
        failed: ggs.components comp-half: D: expected 0.25, got 0.5
        failed: ggs.sequences seq-logical-then-accept: round 1: directive: expected "refine", got "break_symmetry"; round 2: megrams[1].f: expected 0.5, got 0.75
        failed: ggs.sequences seq-stuck-env-fast-rounds: round 2: blocked_targets: expected ["search: b"], got ["search: a","search: b"]
        failed: memory.slug slug-01: expected "intent:migrate", got "intent:migrate_database_schema"
    "#]],
    );
}

#[test]
fn unknown_fields_are_failures_that_name_them() {
    let vectors = json!({
        "hyperparameters": { "gamma": 1 },
        "ggs": {
            "decision": [
                { "id": "field", "in": { "grad_l": 0, "D": 1, "P": 0, "Omega": 0 }, "expect": { "directive": "change_path", "mood": "good" } },
                { "id": "input", "in": { "grad_l": 0, "D": 1, "P": 0, "Omega": 0, "phase": 1 }, "expect": { "directive": "change_path" } },
            ],
            "sequences": [
                { "id": "vector", "only_on": "tuesdays", "rounds": [{ "kind": "abort", "replan_count": 2 }] },
                { "id": "kind", "rounds": [{ "task_id": "T", "kind": "explode", "elapsed_ms": 0, "expect": { "D": 1 } }] },
                { "id": "deep", "rounds": [{ "task_id": "T", "kind": "replan", "elapsed_ms": 0, "expect": { "D": 1 }, "outcomes": [
                    { "status": "failed", "evidence": "is without effect", "tool_calls": [{ "tool": "a", "target": "b", "speed": 3 }] },
                ] }] },
            ],
            "derived": { "phase_margin": 1 },
            "stability": [],
        },
    });
    check_failures(
        &vectors,
        &expect![[r#"
            failed: hyperparameters gamma: a setting that is not known here
            failed: ggs.decision field: mood: a field that is not known here
            failed: ggs.decision input: in.phase: an input that is not known here
            failed: ggs.derived phase_margin: a figure that is not known here
            failed: ggs.sequences vector: only_on: an input that is not known here; round 1: replan_count: an input that is counted here
            failed: ggs.sequences kind: round 1: kind: "explode" is not known here
            failed: ggs.sequences deep: round 1: outcomes.tool_calls.speed: an input that is not known here
            failed: ggs stability: a group that is not known here
        "#]],
    );
}

#[test]
fn groups_that_are_not_run_are_named() {
    let vectors = json!({
        "memory": { "slug": [{ "id": "s", "in": "a", "expect": "intent:a" }], "charts": [1, 2], "tables": { "x": 1 } },
        "future": {},
    });
    let summary = run_vectors(&vectors).unwrap();
    assert_eq!(
        summary.to_string(),
        "skipped: future, memory.charts (2), memory.tables (1)\n1 passed, 0 failed\n"
    );
}

/// A decision late in a task, under settings from the file.
#[test]
fn the_files_settings_govern_its_vectors() {
    let cell = |counts: Value| {
        let mut input = json!({ "grad_l": 0.0, "D": 1.0, "P": 0.0, "Omega": 0.0 });
        input.as_object_mut().unwrap().extend(counts.as_object().unwrap().clone());
        input
    };
    let vectors = json!({
        "hyperparameters": { "max_replans": 1, "law2_kill": 3 },
        "ggs": { "decision": [
            { "id": "rounds", "in": cell(json!({ "replan_count": 2 })), "expect": { "directive": "abandon", "decided_by": "rounds" } },
            { "id": "law2", "in": cell(json!({ "worsening_count": 3 })), "expect": { "directive": "abandon", "decided_by": "law2" } },
            { "id": "not yet", "in": cell(json!({ "worsening_count": 2 })), "expect": { "directive": "change_path", "decided_by": "grid" } },
        ] },
    });
    assert_eq!(run_vectors(&vectors).unwrap().to_string(), "3 passed, 0 failed\n");
}

#[test]
fn a_missing_file_is_named() {
    let error = run(Some(Path::new("no/such/vectors.json"))).unwrap_err();
    assert_eq!(error.to_string(), "read the vectors in no/such/vectors.json");
    assert!(error.source().is_some());
}

#[test]
fn a_bad_file_is_named_with_the_place() {
    let slug =
        |expect: &str| format!(r#"{{"memory": {{"slug": [{{"id": "s", "in": "a", "expect": {expect}}}]}}}}"#);
    let cell = |omega: &str, expect: &str| {
        let input = format!(r#"{{"grad_l": 0, "D": 1, "P": 0, "Omega": {omega}}}"#);
        format!(r#"{{"ggs": {{"decision": [{{"id": "d", "in": {input}, "expect": {expect}}}]}}}}"#)
    };
    let directive = r#"{"directive": "refine"}"#;
    let rounds = |rounds: &str| format!(r#"{{"ggs": {{"sequences": [{{"id": "s", "rounds": {rounds}}}]}}}}"#);
    let cases = [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        slug("1"),
        cell("NaN", directive),
        cell("1e999", directive),
        cell("\"high\"", directive),
        cell("null", directive),
        cell("0", r#"{"directive": 7}"#),
        cell("0", "{}"),
        cell("0", "[]"),
        rounds("[]"),
        rounds(r#"[{"task_id": "T", "kind": "replan", "elapsed_ms": 0}]"#),
        rounds(r#"[{"task_id": "T", "kind": "replan", "expect": {"D": 1}}]"#),
        rounds(r#"[{"elapsed_ms": 0, "expect": {"D": 1}, "outcomes": [{"status": "maybe"}]}]"#),
        r#"{"hyperparameters": {"max_replans": 0}}"#.to_owned(),
        r#"{"hyperparameters": {"max_replans": -1}}"#.to_owned(),
        r#"{"ggs": {"components": [{"id": "c", "in": {"elapsed_ms": 0}, "expect": {"D": 1}}]}}"#.to_owned(),
    ];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bad.json");
    let mut text = String::new();
    for case in cases {
        std::fs::write(&path, &case).unwrap();
        let error = run(Some(&path)).unwrap_err();
        let mut chain = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            chain = format!("{chain}: {cause}");
            source = cause.source();
        }
        text += &format!("{}\n", chain.replace(&path.display().to_string(), "bad.json"));
    }
    expect![[r#"
        parse the vectors in bad.json: EOF while parsing a value at line 1 column 0
        parse the vectors in bad.json: EOF while parsing an object at line 1 column 1
        understand the file in bad.json: it is not an object
        find a vector to run in bad.json
        understand memory.slug[0] in bad.json: invalid type: integer `1`, expected a string
        parse the vectors in bad.json: expected value at line 1 column 80
        parse the vectors in bad.json: number out of range at line 1 column 84
        understand ggs.decision[0] in bad.json: invalid type: string "high", expected f64
        understand ggs.decision[0] in bad.json: invalid type: null, expected f64
        understand ggs.decision[0] in bad.json: directive is a number, not a string
        understand ggs.decision[0] in bad.json: it expects nothing
        understand ggs.decision[0] in bad.json: it is not an object
        understand ggs.sequences[0] in bad.json: it has no rounds
        understand ggs.sequences[0].rounds[0] in bad.json: missing field `expect`
        understand ggs.sequences[0].rounds[0] in bad.json: missing field `elapsed_ms`
        understand ggs.sequences[0] in bad.json: unknown variant `maybe`, expected `matched` or `failed`
        use the hyperparameters in bad.json: accept max_replans = 0: it must be from 1 to 100
        understand hyperparameters.max_replans in bad.json: invalid value: integer `-1`, expected u32
        understand ggs.components[0] in bad.json: missing field `replan_count`
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_file_beyond_the_limit_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(FILE_BYTES_MAX + 1).unwrap();
    let error = run(Some(file.path())).unwrap_err();
    assert!(matches!(error, ConformanceError::TooBig { .. }), "{error}");
}

fn check_failures(vectors: &Value, expected: &Expect) {
    let summary = run_vectors(vectors).unwrap();
    let text = summary.to_string();
    let failures: String =
        text.lines().filter(|line| line.starts_with("failed: ")).map(|line| format!("{line}\n")).collect();
    expected.assert_eq(&failures);
}

fn committed() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(COMMITTED);
    serde_json::from_slice(&read(&path).unwrap()).unwrap()
}

/// Returns each vector as a file of its own, and the derived figures together as one.
fn one_by_one(vectors: &Value) -> Vec<Value> {
    let settings = &vectors["hyperparameters"];
    let mut files =
        vec![json!({ "hyperparameters": settings, "ggs": { "derived": vectors["ggs"]["derived"] } })];
    let tables = &vectors["memory"]["lifetime_tables"];
    files.push(json!({ "hyperparameters": settings, "memory": { "lifetime_tables": tables } }));
    for (group, name) in [
        ("ggs", "decision"),
        ("ggs", "components"),
        ("ggs", "sequences"),
        ("memory", "quantization"),
        ("memory", "slug"),
        ("memory", "potentials"),
        ("memory", "gc"),
        ("memory", "promotion"),
        ("memory", "bankruptcy"),
        ("memory", "feedback"),
    ] {
        for vector in vectors[group][name].as_array().unwrap() {
            files.push(json!({ "hyperparameters": settings, group: { name: [vector] } }));
        }
    }
    files
}

/// Returns JSON pointers to all expected values of a file with one vector: numbers, strings and empty lists.
fn expected_values(alone: &Value) -> Vec<String> {
    let mut pointers = Vec::new();
    leaves(alone, "", &mut pointers);
    pointers.retain(|pointer| {
        let row = pointer.strip_prefix("/memory/quantization/0/");
        pointer.contains("/expect")
            || row.is_some_and(|field| !["id", "state"].contains(&field))
            || pointer.contains("/lifetime_tables/")
            || pointer.ends_with("/grad_l") && pointer.contains("/derived/")
            || pointer.contains("_reaches_theta_")
            || pointer.ends_with("_as_worsening")
    });
    pointers
}

fn leaves(value: &Value, pointer: &str, pointers: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| leaves(value, &format!("{pointer}/{name}"), pointers));
        }
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().enumerate();
            items.for_each(|(index, item)| leaves(item, &format!("{pointer}/{index}"), pointers));
        }
        Value::Null => {}
        Value::Array(_) | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            pointers.push(pointer.to_owned());
        }
    }
}

/// Returns a changed value. Times are used as input of the controller, so they count to the millisecond; other numbers
/// to the tolerance.
fn other_than(value: &Value, pointer: &str) -> Value {
    let is_time = pointer.contains("_reaches_theta_") || pointer.ends_with("_as_worsening");
    match value {
        Value::Number(number) => json!(number.as_f64().unwrap() + if is_time { 1.0 } else { 1e-6 }),
        Value::String(text) => json!(format!("{text}x")),
        Value::Array(_) => json!(["x"]),
        Value::Bool(truth) => json!(!truth),
        Value::Null | Value::Object(_) => json!(0),
    }
}
