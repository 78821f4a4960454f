//! `csv-summary`: usual forms of values, names and rows, and what the answer says about them.

use serde_json::{Value, json};

use super::{Want, case, hold, texts};
use crate::support::Home;

#[test]
fn columns_of_figures_that_are_texts_are_named() {
    let home = Home::new();
    let form =
        "1 column holds figures in a form that is not read as numbers or dates, and was taken for text";
    let numbers = "1 column holds numbers beside other values, and was taken for text";
    let dates = "1 column holds dates beside other values, and was taken for text";
    let mut cases = Vec::new();
    let mut told = |content: String, said: Value| {
        let file = format!("t{}.csv", cases.len());
        home.file(&file, content);
        cases.push(case(format!("summarise {file}"), Want::Answer(vec![("/left_out", said)])));
    };
    for (value, other) in [
        ("1,234", "12,345"),
        ("1,2", "3,4,5"),
        ("1.234,50", "7,00"),
        ("$12.50", "$3"),
        ("12%", "7.5 %"),
        ("12,5 €", "3,0 €"),
        ("(5.00)", "(7.00)"),
        ("1'234", "12'345"),
        ("1\u{a0}234", "5\u{202f}678"),
        ("\u{2212}5", "\u{2212}7"),
        ("01.02.2024", "02.02.2024"),
        ("2/1/2024", "3/1/2024"),
        ("10:30", "n/a"),
        ("1234567890123456789", "1234567890123456790"),
        ("1_000", "12_000"),
        ("0x10", "0x1f"),
    ] {
        let said = texts(&[&format!("{form} (price: {value})")]);
        told(format!("name,price\nx,\"{value}\"\ny,\"{other}\"\n"), said);
    }
    let words = ["\\N", "#N/A", "N.A.", "<NA>", "(null)", "undefined", "#DIV/0!", "TBD", "Inf", "1,5", "n/a"];
    for word in words {
        let said = texts(&[&format!("{numbers} (v: {word})")]);
        told(format!("id;v\nx;1\ny;{word}\nz;2\n"), said);
    }
    told("day\n2024-01-01\nNULL\n2024-01-02\n".to_owned(), texts(&[&format!("{dates} (day: NULL)")]));
    told("v,w\n1,2024-01-01\nx,y\nz,\n,\nq,3\n".to_owned(), texts(&[&format!("{numbers} (w: 2024-01-01)")]));
    told("a\n1\nx\ny\n".to_owned(), Value::Null);
    told("a,b\nx1,1 kg\nx2,2 kg\n".to_owned(), Value::Null);
    let said = "1 column holds dates in several forms or with zones, and has no first and last one (at)";
    told("at\n2024-01-01T00:00:00+01:00\n2024-01-01T00:00:00Z\n".to_owned(), texts(&[said]));
    let said =
        "4 columns hold numbers beside other values, and were taken for texts (a: -, b: x y, c d: n/a, …)";
    told("a,b,c d,e\n1,2,3,4\n-,x y,n/a,?\n".to_owned(), texts(&[said]));
    hold(&home, &cases);
}

#[test]
fn spellings_count_once_where_they_mean_the_same() {
    let home = Home::new();
    let mut cases = Vec::new();
    for (name, values, kind, distinct) in [
        ("truths", "true\nTRUE\nTrue\nfalse", "boolean", 2),
        ("days", "2024-01-01\n\"2024-01-01 \"\n 2024-01-02", "date", 2),
        ("numbers", "1\n1.0\n+1\n1.\n10\n10.00\n-1.50\n-1.5", "number", 3),
        ("powers", "1000\n1e3\n0.5\n.5\n-0\n0.0", "number", 3),
        ("ids", "1234567890123456789\n1234567890123456790", "text", 2),
        ("codes", "007\n7\n07", "text", 3),
        ("words", "Ann\nann\n Ann", "text", 2),
        ("versions", "1.0\n1.00\n1.10\n1.1\nv2\n 1.0", "text", 5),
        ("answers", "true\nTRUE\nmaybe", "text", 3),
    ] {
        home.file(format!("{name}.csv"), format!("v\n{values}\n"));
        let values = vec![("/columns/0/type", json!(kind)), ("/columns/0/distinct", json!(distinct))];
        cases.push(case(format!("summarise {name}.csv"), Want::Answer(values)));
    }
    hold(&home, &cases);
}

#[test]
fn a_first_row_of_values_is_doubted() {
    let home = Home::new();
    let mut cases = Vec::new();
    let uuid = "123e4567-e89b-12d3-a456-42661417400";
    for (at, content) in [
        "01.02.2024;foo\n02.02.2024;bar\n",
        "1/2/2024,foo\n1/3/2024,bar\n",
        "10:30,foo\n11:30,bar\n",
        "10.0.0.1,web\n10.0.0.2,db\n",
        "https://a.b/c,x\nhttps://a.b/d,y\n",
        &format!("{uuid}0,x\n{uuid}1,y\n"),
        "007,x\n008,y\n",
        "1234567890123456789,x\n1234567890123456790,y\n",
        "alice,$5.00\nbob,$6.00\n",
        "alice,12%\nbob,7%\n",
        "\"1,5\";x\n\"2,5\";y\n",
        "#1,Ann\n#2,Bob\n",
    ]
    .iter()
    .enumerate()
    {
        home.file(format!("v{at}.csv"), content);
        cases.push(case(format!("summarise v{at}.csv"), Want::Gap("the first row holds names", vec![])));
    }
    for (at, content) in [
        "region,2023/24,2024/25\nnorth,1,2\nsouth,$5,3\n",
        "month,01,02,03\na,1,2,3\nb,4,5,6\n",
        "Stadt;01.01.2020;01.02.2020\nParis;1,5;2\nRom;3;4,5\n",
        "name,2024\nAnn,yes\nBob,no\n",
        "age,%,#\n1,2,3\n",
        "deadbeef-cafe,x\n1,2\n",
    ]
    .iter()
    .enumerate()
    {
        home.file(format!("n{at}.csv"), content);
        cases.push(case(format!("summarise n{at}.csv"), Want::Answer(vec![])));
    }
    hold(&home, &cases);
}

#[test]
fn one_column_that_could_be_several_is_doubted() {
    let home = Home::new();
    let mut cases = Vec::new();
    for (file, rival, content) in [
        ("r.csv", " ", "x y\n1 1 2\n2 3 4\n"),
        ("pods.csv", " ", "NAME READY STATUS\npod-1   1/1   Running\npod-2   0/1   Pending\n"),
        ("df.csv", " ", "Filesystem Used Use% Mounted on\n/dev/sda 5 7% /\ntmpfs 0 0% /run\n"),
        ("words.tsv", " ", "x y z\na b c\nd e f\n"),
        ("hive.csv", "\\u{1}", "id\u{1}name\n1\u{1}Ann\n"),
        ("units.csv", "\\u{1f}", "id\u{1f}name\n1\u{1f}Ann\n"),
    ] {
        home.file(file, content);
        let values = vec![("/column_count", json!(1)), ("/separator_doubtful", json!(true))];
        cases.push(case(format!("summarise {file}"), Want::Gap("one character alone can separate", values)));
        let told = home.run(&["run", "--json", &format!("summarise {file}")]).json()["output"]["left_out"]
            .to_string();
        assert!(told.contains(&format!("“{}” could separate", rival.escape_default())), "{file}: {told}");
    }
    for (file, content) in [
        ("note.csv", "note\nbuy some milk\ncall the doctor\n"),
        ("uneven.csv", "what is said\nbuy milk\ncall the doctor now\n"),
        ("two.csv", "id,note\n1,buy some milk\n2,call the doctor\n"),
    ] {
        home.file(file, content);
        cases.push(case(format!("summarise {file}"), Want::Answer(vec![])));
    }
    hold(&home, &cases);
}

#[test]
fn empty_lines_and_totals_are_reported() {
    let home = Home::new();
    let mut cases = Vec::new();
    let total = "the last row looks like a total, and was counted as a row";
    for (at, (content, rows, said)) in [
        ("v\n1\n\n3\n", 2, texts(&["1 empty line was left out"])),
        ("a,b\r\n1,2\r\n\r\n\r\n3,4\r\n", 2, texts(&["2 empty lines were left out"])),
        ("\nv\n1\n3\n\n\n", 2, Value::Null),
        ("v\n\"a\n\nb\"\nc\n", 2, Value::Null),
        ("a,b\nx,1\ny,2\nTotal,3\n", 3, texts(&[total])),
        ("a,b\nx,1\ny,2\nGRAND TOTAL:,3\n", 3, texts(&[total])),
        ("a,b\nTotal,1\ny,2\n", 2, Value::Null),
        ("a,b\nx,y\nsum,z\n", 2, Value::Null),
    ]
    .iter()
    .enumerate()
    {
        home.file(format!("t{at}.csv"), content);
        let values = vec![("/rows", json!(rows)), ("/left_out", said.clone())];
        cases.push(case(format!("summarise t{at}.csv"), Want::Answer(values)));
    }
    hold(&home, &cases);
}

#[test]
fn non_tables_and_odd_names_are_reported() {
    let home = Home::new();
    let mut cases = Vec::new();
    home.file("twice.csv", "id,v,w,v\n1,2,3,4\n");
    let said = texts(&["a column name is given more than once (v)"]);
    cases.push(case("summarise twice.csv", Want::Answer(vec![("/left_out", said)])));
    for (file, content) in [
        ("page.csv", "<!DOCTYPE html>\n<html><body>not found</body></html>\n"),
        ("error.csv", "{\"error\": \"no\"}\n"),
        ("array.csv", "[{\"a\":1},{\"a\":2}]\n"),
    ] {
        home.file(file, content);
        cases.push(case(format!("summarise {file}"), Want::Gap("the first row holds names", vec![])));
    }
    for (file, content) in [("led.csv", "a, \"b\"\n1, \"x\"\n"), ("single.csv", "'a','b'\n'x','y'\n")] {
        home.file(file, content);
        let values = vec![("/irregular_quotes", json!(2))];
        cases.push(case(format!("summarise {file}"), Want::Gap("every quote is closed where", values)));
    }
    hold(&home, &cases);
}

#[test]
fn numbers_and_days_are_judged_alike_wherever_they_are_read() {
    let home = Home::new();
    let mut cases = Vec::new();
    for (at, (value, kind)) in [
        ("6e40219", "text"),
        ("1e400", "text"),
        ("-1e309", "text"),
        ("1e308", "number"),
        ("1e-400", "number"),
        ("0000-00-00", "text"),
        ("2024-00-10", "text"),
        ("2024-04-31", "text"),
        ("2024-01-01 24:00:00", "text"),
        ("2024-01-01T25:00:00", "text"),
        ("2024-01-01T10:60", "text"),
        ("2024-01-01T10:00:00+99:99", "text"),
        ("2024-01-01T10", "text"),
        ("2024-01-01T10:00:00[Europe/Berlin]", "text"),
        ("2024-01-01 10:00:00,123", "date"),
        ("2024-01-01t10:00:00.5z", "date"),
        ("2016-12-31T23:59:60Z", "date"),
        ("2024-01-01T10:00+0530", "date"),
    ]
    .iter()
    .enumerate()
    {
        home.file(format!("j{at}.csv"), format!("a;b\n{value};x\n{value};y\n"));
        let values = vec![("/columns/0/type", json!(kind)), ("/columns/0/distinct", json!(1))];
        cases.push(case(format!("summarise j{at}.csv"), Want::Answer(values)));
    }
    // Their sum is not finite.
    home.file("far.csv", "v\n1e308\n1.5e308\n");
    let values = vec![("/columns/0/mean", Value::Null), ("/columns/0/max", json!(1.5e308))];
    cases.push(case("summarise far.csv", Want::Answer(values)));
    // As many distinct values as are counted, and a row with one more.
    let rows: String = (0..=500_000).map(|n| format!("{n},x{n}\n")).collect();
    home.file("many.csv", format!("a,b\n{rows}"));
    let said = texts(&["distinct values were counted up to 1,000,000 in all"]);
    let values = vec![("/columns/1/distinct", json!(500_000)), ("/left_out", said)];
    cases.push(case("summarise many.csv", Want::Gap("was counted", values)));
    hold(&home, &cases);
}
