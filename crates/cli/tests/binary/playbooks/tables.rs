//! Files with structure: `csv-summary`, `json-summary`, `log-summary`.

use serde_json::{Value, json};

use super::{accepted, array, at_once, given_up, goal, goal_without, lines, number};
use crate::support::{Home, shell};

pub(super) const PLAYBOOKS: &[&str] = &["csv-summary", "json-summary", "log-summary"];

/// Sums that need more than six digits, negative numbers, gaps, letters beyond ASCII.
const SALES: &str = "city,sold,price\nUlm,1234567,-5\nKöln,1234568,\nUlm,-3,12\nBonn a. R.,0,0\n";

#[test]
fn a_plain_table_is_summed_up_column_by_column() {
    let home = Home::new();
    for (name, separator, text) in [
        ("my sales.csv", ",", "summarise 'my sales.csv'"),
        ("-sales.tsv", "\t", "how many rows and columns does -sales.tsv have?"),
    ] {
        home.file(name, SALES.replace(',', separator));
        let output = at_once(&home, text);
        assert_eq!(output["rows"], json!(number(&home, &format!("tail -n +2 './{name}' | wc -l"))));
        let columns = array(&output["columns"]);
        let names: Vec<&str> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["city", "sold", "price"]);
        for (at, column) in columns.iter().enumerate() {
            let values = format!("tail -n +2 './{name}' | cut -d '{separator}' -f {}", at + 1);
            assert_eq!(column["empty"], json!(number(&home, &format!("{values} | grep -c '^$' || true"))));
            let distinct = format!("{values} | grep . | sort -u | wc -l");
            assert_eq!(column["distinct"], json!(number(&home, &distinct)), "{column}");
            if at > 0 {
                let sorted = lines_of_numbers(&home, &format!("{values} | grep . | sort -n"));
                let told = [as_number(&column["min"]), as_number(&column["max"])];
                assert_eq!(told, [sorted[0], *sorted.last().unwrap()], "{column}");
                let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
                assert!((as_number(&column["mean"]) - mean).abs() < 1e-9, "{mean}: {column}");
            }
        }
    }
}

fn lines_of_numbers(home: &Home, script: &str) -> Vec<f64> {
    shell(&home.work(), script).lines().map(|line| line.parse().unwrap()).collect()
}

/// A figure, which awk can only give as text.
fn as_number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

#[test]
fn quotes_turn_the_summary_of_a_table() {
    let home = Home::new();
    home.file("q.csv", "name,note\nann,\"a, b\"\n\"bob \"\"x\"\"\",\"two\nlines\"\ncid,\n");
    let (output, directives) = accepted(&home, goal(&home, "summarise q.csv"));
    assert_eq!(directives, ["break_symmetry"]);
    let columns: Vec<Value> = array(&output["columns"])
        .iter()
        .map(|column| json!([column["name"], column["empty"], column["distinct"]]))
        .collect();
    assert_eq!((&output["rows"], columns), (&json!(3), vec![json!(["name", 0, 3]), json!(["note", 1, 2])]));

    // A line that is longer than the first is no reason for another count of columns.
    home.file("dos.csv", "a,b\r\n1,2\r\n3,4\r\n");
    let (output, _) = accepted(&home, goal(&home, "what columns are in dos.csv"));
    let names: Vec<&Value> = array(&output["columns"]).iter().map(|column| &column["name"]).collect();
    assert_eq!((names, &output["rows"]), (vec![&json!("a"), &json!("b")], &json!(2)));
}

#[test]
fn a_table_without_rows_has_none_and_a_missing_one_is_told() {
    let home = Home::new();
    home.file("head.csv", "a,b\n");
    let output = at_once(&home, "summarise head.csv");
    assert_eq!((&output["rows"], array(&output["columns"]).len()), (&json!(0), 2));
    home.file("empty.csv", "");
    let output = at_once(&home, "summarise empty.csv");
    assert_eq!((&output["rows"], &output["columns"]), (&json!(0), &json!([])));
    let result = given_up(goal(&home, "summarise none.csv"), 4);
    assert_eq!(result["output"], Value::Null, "{result:#}");
}

#[test]
fn without_jq_the_built_in_reader_takes_a_value_apart() {
    let home = Home::new();
    let text = "{\n  \"b c\": [1, {\"x\": {\"y\": null}}],\n  \"ü\": \"s\",\n  \"a\": {}\n}\n";
    home.file("my data.json", text);
    let command = goal_without(&home, &["jq"], "describe the structure of 'my data.json'");
    let (output, directives) = accepted(&home, command);
    assert_eq!(directives, ["change_path"]);
    assert_eq!((&output["type"], &output["length"]), (&json!("object"), &json!(3)));
    let keys = array(&output["keys"]).iter().map(|key| key.as_str().unwrap().to_owned()).collect();
    let written = lines(&home, r#"grep -o '^  "[^"]*"' 'my data.json' | tr -d '"' | sed 's/^  //'"#);
    assert_eq!(super::sorted(keys), written);

    home.file("list.json", "[1, [2], 3, \"x\"]");
    let (output, _) = accepted(&home, goal(&home, "summarise list.json"));
    assert_eq!((&output["type"], &output["length"]), (&json!("array"), &json!(4)));
}

#[test]
fn lines_of_json_are_counted() {
    let home = Home::new();
    home.file("events.jsonl", "{\"a\": 1}\n{\"a\": 2, \"b\": \"x\"}\n\n{\"b\": \"y\"}\n");
    let output = at_once(&home, "give me an overview of events.jsonl");
    assert_eq!(output["rows"], json!(number(&home, "grep -c . events.jsonl")));
    let names: Vec<&Value> = array(&output["columns"]).iter().map(|column| &column["name"]).collect();
    assert_eq!(names, [&json!("a"), &json!("b")]);
}

#[test]
fn what_is_no_json_is_not_described() {
    let home = Home::new();
    for (name, content) in [("cut.json", "{\"a\": [1, 2"), ("empty.json", ""), ("text.json", "hello")] {
        home.file(name, content);
        let result = given_up(goal(&home, &format!("summarise {name}")), 4);
        assert!(result["output"].is_null() || result["output"] == json!(""), "{result:#}");
    }
    given_up(goal(&home, "summarise none.json"), 4);
    given_up(goal_without(&home, &["jq"], "summarise cut.json"), 4);
}

const LOG: &str = "2026-01-02T03:04:05Z ERROR disk /dev/sda1 is full\n\
    2026-01-02T03:04:06Z INFO started\n\
    2026-01-02T03:05:06Z WARN slow disk, no error\n\
    2026-01-02T03:05:07Z INFO started\n\
    2026-01-02T03:05:08Z ERROR no route\n\
    plain line\n\
    2026-01-02T03:06:09Z DEBUG last";

#[test]
fn a_log_is_summed_up_as_grep_counts_it() {
    let home = Home::new();
    home.file("my app.log", LOG);
    let output = at_once(&home, "summarise 'my app.log'");
    assert_eq!(output["lines"], json!(number(&home, "awk 'END { print NR }' 'my app.log'")));
    assert_eq!(output["errors"], json!(number(&home, "cut -d ' ' -f 2 'my app.log' | grep -c ERROR")));
    for level in ["ERROR", "INFO", "WARN", "DEBUG"] {
        let count = number(&home, &format!("cut -d ' ' -f 2 'my app.log' | grep -c {level}"));
        assert_eq!(output["levels"][level], json!(count), "{level}");
    }
    let times = lines(&home, "grep -o '^2026[^ ]*' 'my app.log'");
    assert_eq!(
        (&output["first_time"], &output["last_time"]),
        (&json!(times[0]), &json!(times[times.len() - 1]))
    );
    assert_eq!(output["top_messages"][0]["count"], json!(2));
    assert!(output["top_messages"][0]["message"].as_str().unwrap().contains("started"), "{output:#}");
}

#[test]
fn an_empty_log_has_no_errors_and_a_missing_one_no_summary() {
    let home = Home::new();
    home.file("empty.log", "");
    let output = at_once(&home, "how many errors are in empty.log?");
    assert_eq!((&output["lines"], &output["errors"]), (&json!(0), &json!(0)));
    let result = given_up(goal(&home, "summarise none.log"), 4);
    assert!(result["output"].is_null() || result["output"]["lines"].is_null(), "{result:#}");
}
