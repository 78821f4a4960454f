//! Summaries of tables, JSON and logs.

use serde_json::{Value, json};
use setpoint_protocol::tool::ErrorKind;

use crate::support::{World, number};

#[tokio::test]
async fn csv_columns_are_summarised() {
    let world = World::new();
    let rows = "id,name,price,when,ok\n1,\"Lovelace, Ada\",1.50,2026-01-01,true\n2,\"two\nlines\",,2026-02-01,false\n3,Ada,3,2026-01-15,true\n";
    world.file("t.csv", rows);
    let facts = world.facts("table_summary", json!({"path": "t.csv"})).await;
    assert_eq!(
        (facts["kind"].clone(), facts["rows"].clone(), facts["ragged"].clone()),
        (json!("csv"), json!(3), json!(0))
    );
    let column = |name: &str,
                  kind: &str,
                  empty: u64,
                  distinct: u64,
                  min: Value,
                  max: Value,
                  mean: Value,
                  numbers: u64| json!({"name": name, "type": kind, "empty": empty, "distinct": distinct, "min": min, "max": max, "mean": mean, "numbers": numbers});
    assert_eq!(
        facts["columns"],
        json!([
            column("id", "integer", 0, 3, json!(1), json!(3), json!(2.0), 3),
            column("name", "text", 0, 3, Value::Null, Value::Null, Value::Null, 0),
            column("price", "number", 1, 2, json!(1.5), json!(3), json!(2.25), 2),
            column("when", "date", 0, 3, json!("2026-01-01"), json!("2026-02-01"), Value::Null, 0),
            column("ok", "boolean", 0, 2, Value::Null, Value::Null, Value::Null, 0),
        ])
    );
}

#[tokio::test]
async fn figures_agree_with_awk() {
    let world = World::new();
    let rows: String =
        (0..5_000).map(|n| format!("{n};{};{}\n", (n * 7919) % 101, f64::from(n) / 8.0)).collect();
    world.file("t.txt", format!("n;group;value\n{rows}"));
    let facts = world.facts("table_summary", json!({"path": "t.txt"})).await;
    assert_eq!(facts["delimiter"], json!(";"));
    let awk = |program: &str| number(&world.at("."), &format!("awk -F ';' 'NR > 1 {{ {program} }}' t.txt"));
    assert_eq!(facts["rows"], json!(awk("n++ } END { print n")));
    assert_eq!(
        facts["columns"][1]["distinct"],
        json!(awk("if (!($2 in seen)) { seen[$2]; n++ } } END { print n"))
    );
    assert_eq!(facts["columns"][1]["max"], json!(awk("if ($2 > m) m = $2 } END { print m")));
    assert_eq!(facts["columns"][2]["mean"], json!(312.4375));
}

#[tokio::test]
async fn odd_tables_are_reported() {
    let world = World::new();
    world.file("ragged.csv", "a,b\n1\n1,2,3\n1,2\n");
    world.file("header.csv", "a,b\n");
    world.file("bom.csv", "\u{feff}a,b\r\n1,2\r\n");
    world.file("tabs", "a\tb\n1\t2\n");
    world.file("latin.csv", b"a\ncaf\xe9\n");
    world.file("empty.csv", "");
    let facts = |path: &'static str| world.facts("table_summary", json!({"path": path}));
    assert_eq!(
        (facts("ragged.csv").await["rows"].clone(), facts("ragged.csv").await["ragged"].clone()),
        (json!(3), json!(2))
    );
    assert_eq!(facts("header.csv").await["rows"], json!(0));
    assert_eq!(facts("bom.csv").await["columns"][0]["name"], json!("a"));
    assert_eq!(facts("bom.csv").await["columns"][1]["max"], json!(2));
    assert_eq!(facts("tabs").await["kind"], json!("tsv"));
    assert_eq!(facts("latin.csv").await["columns"][0]["type"], json!("text"));
    assert_eq!(
        (facts("empty.csv").await["rows"].clone(), facts("empty.csv").await["columns"].clone()),
        (json!(0), json!([]))
    );
    let pipes = world.facts("table_summary", json!({"path": "ragged.csv", "delimiter": "|"})).await;
    assert_eq!(pipes["columns"].as_array().unwrap().len(), 1);
    for (input, kind) in [
        (json!({"path": "ragged.csv", "delimiter": "::"}), ErrorKind::InvalidInput),
        (json!({"path": "ragged.csv", "kind": "xlsx"}), ErrorKind::InvalidInput),
        (json!({"path": "none.csv"}), ErrorKind::NotFound),
        (json!({"path": "."}), ErrorKind::InvalidInput),
        (json!({"path": "/dev/null"}), ErrorKind::InvalidInput),
    ] {
        assert_eq!(world.run("table_summary", input.clone()).await.error_kind, Some(kind), "{input}");
    }
    world.file("binary.csv", b"a,b\0");
    assert_eq!(
        world.run("table_summary", json!({"path": "binary.csv"})).await.error_kind,
        Some(ErrorKind::InvalidData)
    );
}

#[tokio::test]
async fn json_documents_are_summarised() {
    let world = World::new();
    world.file("o.json", r#"{"name": "x", "list": [1, {"a": [2]}], "none": null}"#);
    world.file("scalar.json", "3");
    world.file("bad.json", r#"{"a": }"#);
    world.file("two.json", "{}\n3\n");
    world.file("lines.json", "\u{feff}{\"b\": 1}\n[2]\n");
    world.file("deep.json", "[".repeat(10_000));
    let facts = world.facts("table_summary", json!({"path": "o.json"})).await;
    assert_eq!(
        facts,
        json!({"kind": "json", "type": "object", "length": 3, "keys": ["name", "list", "none"], "key_count": 3, "duplicate_keys": 0, "depth": 4, "complete": true})
    );
    let scalar = world.facts("table_summary", json!({"path": "scalar.json"})).await;
    assert_eq!(
        scalar,
        json!({"kind": "json", "type": "number", "depth": 0, "key_count": 0, "duplicate_keys": 0, "complete": true})
    );
    for path in ["bad.json", "two.json", "deep.json"] {
        let answer = world.run("table_summary", json!({"path": path})).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::InvalidData), "{path}: {}", answer.text);
    }
    assert!(world.run("table_summary", json!({"path": "two.json"})).await.text.contains("maybe JSON lines"));
    let lines = world.facts("table_summary", json!({"path": "lines.json", "kind": "json"})).await;
    assert_eq!(
        (lines["kind"].clone(), lines["length"].clone(), lines["keys"].clone()),
        (json!("jsonl"), json!(2), json!(["b"]))
    );
}

#[tokio::test]
async fn json_lines_are_summarised() {
    let world = World::new();
    world.file("l.jsonl", "{\"a\": 1, \"b\": \"x\"}\n\n{\"a\": 2.5, \"c\": [1]}\nnot json\n7\n");
    let facts = world.facts("table_summary", json!({"path": "l.jsonl"})).await;
    assert_eq!((facts["rows"].clone(), facts["malformed"].clone()), (json!(3), json!(1)));
    assert_eq!(facts["types"], json!({"number": 1, "object": 2}));
    let names: Vec<&str> =
        facts["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(
        (facts["columns"][0]["type"].clone(), facts["columns"][0]["empty"].clone()),
        (json!("number"), json!(1))
    );
    assert_eq!(facts["columns"][2]["type"], json!("text"));
}

#[tokio::test]
async fn logs_are_summarised() {
    let world = World::new();
    let log = "2026-01-01T10:00:00Z INFO start\n2026-01-01T10:00:01Z ERROR request 17 failed after 20 ms\n\
               2026-01-01T10:00:02Z WARNING slow\n  at frame\n2026-01-01T10:00:03Z ERROR request 18 failed after 9 ms\nno end";
    world.file("app.log", log);
    let facts = world.facts("table_summary", json!({"path": "app.log"})).await;
    assert_eq!(facts["lines"], json!(number(&world.at("."), "grep -c '' app.log")));
    assert_eq!(facts["levels"], json!({"ERROR": 2, "INFO": 1, "WARN": 1}));
    assert_eq!(facts["levels"]["ERROR"], json!(number(&world.at("."), "grep -c ERROR app.log")));
    assert_eq!(
        (facts["first_time"].clone(), facts["last_time"].clone()),
        (json!("2026-01-01T10:00:00Z"), json!("2026-01-01T10:00:03Z"))
    );
    assert_eq!(
        facts["top_messages"],
        json!([{"message": "# ERROR request # failed after # ms", "count": 2}])
    );
    world.file("empty.log", "");
    assert_eq!(world.facts("table_summary", json!({"path": "empty.log"})).await["lines"], json!(0));
}
