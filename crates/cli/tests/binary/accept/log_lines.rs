//! `log-summary`: which words belong to a line: fields of objects, keys and values, times and levels within
//! messages, continuation lines.

use serde_json::{Value, json};

use super::{Want, case, hold, texts};
use crate::support::Home;

/// Two lines with times, so that lines without one continue them.
const TIMED: &str = "2024-03-01 10:00:00 INFO up\n2024-03-01 10:00:01 ERROR lost\n";

#[test]
fn log_lines() {
    let home = Home::new();
    let mut cases = Vec::new();
    let mut answer = |name: &str, content: String, values: Vec<(&'static str, Value)>| {
        home.file(name, content);
        cases.push(case(format!("summarise {name}"), Want::Answer(values)));
    };
    let info = || ("/levels", json!({"INFO": 1}));
    let first = |time: &str| ("/first_time", json!(time));
    let last = |time: &str| ("/last_time", json!(time));

    let short = "t=2024-01-02T10:00:00+0000 lvl=eror msg=a\nt=2024-01-02T10:00:01+0000 lvl=dbug msg=b\n";
    let levels = ("/levels", json!({"DEBUG": 1, "ERROR": 1}));
    answer("short.log", short.to_owned(), vec![("/errors", json!(1)), levels]);
    let marked = "\u{feff}2024-01-02 10:00:01 INFO up\n2024-01-02 10:00:02 INFO down\n";
    answer(
        "marked.log",
        marked.to_owned(),
        vec![first("2024-01-02 10:00:01"), ("/levels", json!({"INFO": 2}))],
    );
    // The fields of an object, at its own depth only, in an order of preference.
    let object = r#"{"message":"Log level: DEBUG","level":"INFO","timestamp":"2024-03-01T10:00:00Z"}"#;
    answer("object.log", format!("{object}\n"), vec![info(), last("2024-03-01T10:00:00Z")]);
    let nested = r#"{"user":{"level":"warn"},"level":"info","tags":["level","error"]}"#;
    answer("nested.log", format!("{nested}\n"), vec![info(), ("/last_time", Value::Null)]);
    let escaped = r#"{"msg":"\"level\":\"error\" \\","level":"info","a":"{"}"#;
    answer("escaped.log", format!("{escaped}\n"), vec![info()]);
    let late = format!(r#"{{"trace":"{}","level":"ERROR"}}"#, "a".repeat(9_000));
    answer("far.log", format!("{late}\n"), vec![("/errors", json!(1))]);
    let expires = r#"{"level":"info","ts":1709287201.1,"expires_at":"2030-01-01T00:00:00Z"}"#;
    answer("expires.log", format!("{expires}\n"), vec![info(), ("/first_time", Value::Null)]);
    let date = r#"{"date":"2030-01-01T00:00:00Z","@timestamp":"2024-03-01T10:00:00Z","level":"info"}"#;
    answer("date.log", format!("{date}\n"), vec![info(), first("2024-03-01T10:00:00Z")]);
    let three: String =
        ["a", "b", "c"].map(|msg| format!("{{\"level\":\"info\",\"msg\":\"{msg}\"}}\n")).concat();
    answer("three.log", three, vec![("/top_messages", json!([])), ("/levels", json!({"INFO": 3}))]);
    let same = "{\"n\":\"a\",\"level\":\"info\",\"msg\":\"job 1 done\"}\n{\"msg\":\"job 2 done\",\"level\":\"info\"}\n";
    let top = ("/top_messages", json!([{"count": 2, "message": "job # done"}]));
    answer("same.log", same.to_owned(), vec![top]);

    // Keys and values.
    let words = r#"msg="user wrote level=error" level=info time=2024-03-01T10:00:00Z"#;
    answer("words.log", format!("{words}\n"), vec![info(), last("2024-03-01T10:00:00Z")]);
    let led = r#"2024-03-01T10:00:00Z level=info msg="due \"now\"" time=2030-01-01T00:00:00Z"#;
    answer("led.log", format!("{led}\n"), vec![info(), last("2024-03-01T10:00:00Z")]);

    // Keys with no information about the line.
    let elixir = "10:00:00.000 request_id=ab [warning] slow\n10:00:01.000 request_id=cd [error] lost\n";
    answer("elixir.log", elixir.to_owned(), vec![("/levels", json!({"ERROR": 1, "WARN": 1}))]);

    // Objects without a text: each counts as one word.
    let objects: String =
        [1, 2, 3].map(|n| format!("{{\"level\":\"info\",\"message\":{{\"n\":{n}}}}}\n")).concat()
            + "{\"level\":\"info\",\"message\":{\"up\":1}}\n";
    let top = json!([{"count": 3, "message": "{\"level\":\"info\",\"message\":{\"n\":#}}"}]);
    answer("objects.log", objects, vec![("/top_messages", top)]);

    // Times within a message.
    for (name, speaks) in [
        ("query.log", "INFO SELECT * FROM t WHERE date=\"2020-01-01 00:00:00\""),
        ("past.log", "ERROR bad request, timestamp=2020-01-01T00:00:00Z is in the past"),
    ] {
        let at = "2024-03-01 10:00:01";
        answer(name, format!("{at} {speaks}\n"), vec![first(at), last(at)]);
    }
    let dump = format!("app v1 built 2020-01-01 00:00:00\n{TIMED}  created: 2020-01-01 00:00:00\n");
    let values = vec![
        first("2024-03-01 10:00:00"),
        last("2024-03-01 10:00:01"),
        ("/continued", json!(2)),
        (
            "/left_out",
            texts(&[
                "2 lines continue others or have no time of their own, and were not counted by their levels",
            ]),
        ),
    ];
    answer("dump.log", dump, values);

    // Continuation lines.
    let one = || {
        vec![
            ("/errors", json!(1)),
            ("/continued", json!(1)),
            ("/without_level", json!(0)),
            ("/lines", json!(3)),
        ]
    };
    let cause = "Caused by: org.postgresql.util.PSQLException: ERROR: relation";
    answer("cause.log", format!("{TIMED}{cause}\n"), one());
    answer("indented.log", format!("{TIMED}  \"level\": \"ERROR\"\n"), one());
    let values = vec![("/errors", json!(2)), ("/continued", json!(0)), ("/lines", json!(3))];
    answer("shifted.log", format!("{TIMED}  2024-03-01 10:00:02 ERROR behind two blanks\n"), values);
    let trace = "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: x\n";
    let values = vec![("/errors", json!(1)), ("/continued", json!(3)), ("/lines", json!(5))];
    answer("trace.log", format!("{TIMED}{trace}"), values);
    let rows = "row\nrow\n";
    answer(
        "rows.log",
        format!("{TIMED}{rows}"),
        vec![("/top_messages", json!([])), ("/continued", json!(2))],
    );

    // A level field makes a line of its own, not a continuation.
    let values = vec![("/errors", json!(2)), ("/continued", json!(0)), ("/without_level", json!(0))];
    answer("own.log", format!("{TIMED}level=error\n"), values);

    // Words for levels.
    let logrus = "INFO[0000] a\nERRO[0003] boom\nFATA[0004] dead\n".to_owned();
    answer("logrus.log", logrus, vec![("/levels", json!({"INFO": 1, "ERROR": 1, "FATAL": 1}))]);
    let serilog = "[10:00:00 INF] a\n[10:00:01 WRN] b\n[10:00:02 FTL] c\n".to_owned();
    answer("serilog.log", serilog, vec![("/levels", json!({"INFO": 1, "WARN": 1, "FATAL": 1}))]);
    let laravel =
        "[2024-03-01 10:00:00] local.ERROR: lost\n[2024-03-01 10:00:01] local.INFO: up\n".to_owned();
    answer("laravel.log", laravel, vec![("/errors", json!(1)), last("2024-03-01 10:00:01")]);

    // Syslog's priorities.
    let priorities = "<14>Jan  1 10:00:00 host app: up\n<11>Jan  1 10:00:01 host app: disk gone\n\
                      <12>1 2026-01-01T10:00:02Z host app - - - slow\n<8>app: gone\n<11>up INFO\n\
                      <999>x\n";
    let levels = json!({"EMERGENCY": 1, "ERROR": 2, "INFO": 1, "WARN": 1, "DEBUG": 1});
    let values = vec![("/errors", json!(3)), ("/levels", levels), ("/continued", json!(0))];
    answer("priorities.log", priorities.to_owned(), values);

    // Forms of times.
    for (name, line, time) in [
        ("half.log", "2024-03-01 01:00:00 PM INFO b", "2024-03-01 01:00:00 PM"),
        ("fraction.log", "10:00:00,123 INFO b", "10:00:00,123"),
        ("syslog.log", "Mar  1 10:00:00.123 host app: INFO b", "Mar  1 10:00:00.123"),
        ("year.log", "Fri Mar  1 10:00:00 2024 INFO b", "Mar  1 10:00:00 2024"),
        ("django.log", "[01/Mar/2024 10:00:00] INFO b", "01/Mar/2024 10:00:00"),
        ("tomcat.log", "01-Mar-2024 10:00:00.123 INFO b", "01-Mar-2024 10:00:00.123"),
    ] {
        answer(name, format!("{line}\n"), vec![info(), first(time)]);
    }

    let mut gap = |name: &str, content: String, values: Vec<(&'static str, Value)>| {
        home.file(name, content);
        cases.push(case(format!("summarise {name}"), Want::Gap("everything could be read", values)));
    };
    // A line that begins with a level may come from another program, so it is not a continuation.
    let elsewhere = "1 line has a word for a level where most lines have none, and may only speak of it";
    for (name, other) in [("other1.log", "ERROR x"), ("other2.log", "[ERROR] x")] {
        let values = vec![
            ("/errors", json!(1)),
            ("/continued", json!(0)),
            ("/without_level", json!(1)),
            ("/left_out", texts(&[elsewhere])),
        ];
        gap(name, format!("{TIMED}{other}\n"), values);
    }
    // A line without a time that names a level, or speaks of an error that no line before it reports, may be an entry of its own.
    let doubtful = "1 of them names a level or speaks of an error, and may be an entry of its own";
    let up = "2024-03-01 10:00:02 INFO up\n";
    for (name, other) in [
        ("own1.log", "app[1]: ERROR disk failure"),
        ("own2.log", "[worker] ERROR disk failure"),
        ("own3.log", "  ERROR: indented failure"),
        ("own4.log", "1704067200 ERROR disk"),
        ("own5.log", "Traceback (most recent call last):"),
    ] {
        let values = vec![("/errors", json!(1)), ("/continued", json!(1)), ("/left_out/1", json!(doubtful))];
        gap(name, format!("{TIMED}{up}{other}\n"), values);
    }
    // A few lines have a word for a level within their texts.
    let speaks = "2024-03-01 10:00:00 INFO up\n2024-03-01 10:00:01 mail ERROR report sent\n";
    gap("speaks.log", speaks.to_owned(), vec![("/errors", json!(1)), ("/left_out", texts(&[elsewhere]))]);
    // Levels within a message.
    let suspect = "1 line without a known level may speak of an error";
    for (name, speaks) in [
        ("colon.log", "info app: severity: error was reported"),
        ("key.log", "app: set level=error"),
        ("quoted.log", "he said \"ERROR\" twice"),
        ("class.log", "lost in com.acme.ERROR"),
        ("segfault.log", "app[1]: segfault at 0"),
        ("memory.log", "Out of memory: a was stopped"),
        ("apt.log", "apt: E: not there"),
        ("xorg.log", "(EE) no screens"),
        ("sev.log", "[SEV1] disk gone"),
        ("fault.log", "FAULT in unit 3"),
        ("err.log", "Err disk gone"),
        ("polish.log", "wystąpiły błędy"),
    ] {
        let values =
            vec![("/errors", json!(1)), ("/without_level", json!(1)), ("/left_out", texts(&[suspect]))];
        gap(name, format!("{TIMED}2024-03-01 10:00:02 {speaks}\n"), values);
    }
    let number = vec![("/errors", Value::Null), ("/without_level", json!(1))];
    gap("number.log", "{\"level\":50,\"msg\":\"x\"}\n".to_owned(), number);
    // No number of errors is reported if all lines are continuations.
    let blanks = vec![("/errors", Value::Null), ("/continued", json!(2))];
    gap("blanks.log", "  INFO a\n  ERROR b\n".to_owned(), blanks);
    hold(&home, &cases);
}
