//! `log-summary`: levels in every form, none at all, colours, line ends.

use serde_json::{Value, json};

use super::{Want, case, hold, texts, worded};
use crate::support::Home;

const LOG: &[&str] =
    &["summarise {}", "how many errors are in {}?", "what are the most common messages in {}"];

#[test]
fn logs() {
    let home = Home::new();
    let content = "2026-01-01T10:00:00Z ERROR db: lost 12\n\
                   2026-01-01T10:00:05Z ERROR db: lost 13\n\
                   2026-01-01T10:00:06Z INFO ready\n\
                   2026-01-01T10:00:07Z [warning] disk\n\
                   level=debug msg=x\n\
                   2026-01-01T10:00:08Z all is well again\n\
                   Jan  2 03:04:05 host app[1]: error: no\n";
    home.file("app.log", content);
    home.file("crlf.log", content.replace('\n', "\r\n"));
    home.file("colour.log", content.replace("ERROR", "\u{1b}[31mERROR\u{1b}[0m"));
    home.file("no end.log", content.trim_end());
    let mut cases = Vec::new();
    for file in ["app.log", "crlf.log", "colour.log", "'no end.log'"] {
        cases.extend(worded(LOG, file, || {
            Want::Answer(vec![
                ("/lines", json!(7)),
                ("/errors", json!(3)),
                ("/levels", json!({"DEBUG": 1, "ERROR": 3, "INFO": 1, "WARN": 1})),
                ("/without_level", json!(1)),
                ("/first_time", json!("2026-01-01T10:00:00Z")),
                ("/last_time", json!("Jan  2 03:04:05")),
                ("/top_messages", json!([{"count": 2, "message": "# ERROR db: lost #"}])),
            ])
        }));
    }
    // Unknown levels must not be reported as “0 errors”.
    home.file("other.log", "E0101 12:00:00 failed\nSTATUS=red\n");
    cases.extend(worded(LOG, "other.log", || {
        Want::Gap("everything could be read", vec![("/errors", Value::Null), ("/without_level", json!(2))])
    }));
    // Questions about errors and warnings are about a log, whatever its name.
    home.file("server.txt", "2026-01-01 ERROR a\n2026-01-01 WARN b\n");
    cases.extend(worded(&["how many errors are in {}", "count the warnings in {}"], "server.txt", || {
        Want::Answer(vec![("/errors", json!(1)), ("/levels", json!({"ERROR": 1, "WARN": 1}))])
    }));
    // Levels above ERROR count as errors, and a line without a level may mention one.
    home.file("worse.log", "INFO a\nERROR b\nFATAL c\nCRITICAL d\n");
    cases.push(case("how many errors are in worse.log", Want::Answer(vec![("/errors", json!(3))])));
    let untimed = "no line has a time in a form that is known";
    home.file(
        "late.log",
        format!("INFO a\n{{\"trace\": \"{}\", \"level\": \"ERROR\"}}\n", "a".repeat(17_000)),
    );
    let said = texts(&["1 line without a known level may speak of an error", untimed]);
    cases.push(case("summarise late.log", Want::Gap("everything could be read", vec![("/left_out", said)])));
    // The position of a word decides whether it is the line's level or part of its message.
    let up = "10:00:00 INFO up\n10:00:01 INFO down\n";
    home.file("spoken.log", "up: INFO a\nup: INFO b\nuser PANIC logged in\n");
    let said = texts(&[
        "1 line has a word for a level where most lines have none, and may only speak of it",
        untimed,
    ]);
    cases
        .push(case("summarise spoken.log", Want::Gap("everything could be read", vec![("/left_out", said)])));
    home.file("joined.log", "mode=FATAL level=info\n[ERROR-handler] level=INFO up\n");
    let values = vec![("/errors", json!(0)), ("/levels", json!({"INFO": 2}))];
    cases.push(case("summarise joined.log", Want::Answer(values)));
    home.file("forms.log", "INFO up\nINFO down\nE1126 10:00:02.1 1 a.go:1] lost\n{\"level\":50}\n");
    let said = texts(&["2 lines without a known level may speak of errors", untimed]);
    cases.push(case("summarise forms.log", Want::Gap("everything could be read", vec![("/left_out", said)])));
    home.file(
        "celery.log",
        "[2026-01-02 03:04:05,123: INFO/MainProcess] up\n[2026-01-02 03:04:06,123: ERROR/Worker-1] lost\n",
    );
    let values = vec![("/errors", json!(1)), ("/last_time", json!("2026-01-02 03:04:06,123"))];
    cases.push(case("summarise celery.log", Want::Answer(values)));
    home.file("npm.log", "npm WARN old x\nnpm ERR! code E404\nnpm ERR! 404\nnpm WARN old y\n");
    cases.push(case("how many errors are in npm.log", Want::Answer(vec![("/errors", json!(2))])));
    home.file(
        "access.log",
        "10.0.0.1 - - [26/Nov/2026:10:00:01 +0000] \"GET / HTTP/1.1\" 200 5\n\
         10.0.0.2 - - [26/Nov/2026:10:00:02 +0000] \"GET / HTTP/1.1\" 500 5\n",
    );
    let values = vec![
        ("/errors", Value::Null),
        ("/lines", json!(2)),
        ("/last_time", json!("26/Nov/2026:10:00:02 +0000")),
    ];
    cases.push(case("summarise access.log", Want::Gap("everything could be read", values)));
    // The time is the value of a time key, even after a message that mentions another time.
    home.file(
        "objects.log",
        "{\"message\":\"next at 2030-01-01 00:00:00\",\"timestamp\":\"2026-01-01T10:00:00Z\",\"level\":\"info\"}\n\
         {\"message\":\"2031-01-01 00:00:00 next\",\"timestamp\":\"2026-01-01T10:00:01Z\",\"level\":\"info\"}\n\
         {\"message\":\"next at 2032-01-01 00:00:00\",\"level\":\"info\"}\n",
    );
    let values =
        vec![("/first_time", json!("2026-01-01T10:00:00Z")), ("/last_time", json!("2026-01-01T10:00:01Z"))];
    cases.push(case("summarise objects.log", Want::Answer(values)));
    // Times and levels within a message are not the line's.
    home.file(
        "stamped.log",
        "26.11.2026 03:38:41 INFO next at 2026-12-01 00:00:00\n26.11.2026 03:38:42 ERROR lost\n",
    );
    let said = texts(&[untimed]);
    let values = vec![("/first_time", Value::Null), ("/errors", json!(1)), ("/left_out", said)];
    cases.push(case("summarise stamped.log", Want::Answer(values)));
    home.file("well.log", format!("{up}10:00:02 smartd: last self-test, no error: all good\n"));
    cases.push(case(
        "how many errors are in well.log",
        Want::Gap("everything could be read", vec![("/errors", json!(0))]),
    ));
    home.file("asked.log", format!("{up}10:00:02 1.2.3.4 - - \"GET /logs?level=error HTTP/1.1\" 200 12\n"));
    cases.push(case(
        "how many errors are in asked.log",
        Want::Gap("everything could be read", vec![("/errors", json!(0))]),
    ));
    home.file(
        "keys.log",
        "{\"message\":\"user sent WARN\",\"level\":\"error\"}\nmsg=\"an ERROR page\" level=info\n",
    );
    let values = vec![("/errors", json!(1)), ("/levels", json!({"ERROR": 1, "INFO": 1}))];
    cases.push(case("how many errors are in keys.log", Want::Answer(values)));
    home.file("german.log", format!("{up}10:00:02 FEHLER Datenbank nicht erreichbar\n"));
    cases.push(case(
        "summarise german.log",
        Want::Gap("everything could be read", vec![("/without_level", json!(1))]),
    ));
    home.file("returns.log", "INFO a\rERROR b\rERROR c\n");
    let said = texts(&["1 line has carriage returns within it, and was read as one line", untimed]);
    cases.push(case(
        "summarise returns.log",
        Want::Gap("everything could be read", vec![("/left_out", said)]),
    ));
    let often: String = (0..40).map(|n| format!("INFO {0} x\nINFO {0} x\n", "z".repeat(n + 1))).collect();
    home.file("often.log", often);
    let said = texts(&[untimed, "10 of 40 top_messages are listed"]);
    cases.push(case("summarise often.log", Want::Answer(vec![("/left_out", said)])));
    cases.push(case("what are the most common errors in worse.log", Want::Refused("no playbook")));
    home.file("empty.log", "");
    let values = vec![("/lines", json!(0)), ("/errors", json!(0)), ("/first_time", Value::Null)];
    cases.push(case("summarise empty.log", Want::Answer(values)));
    let many: String =
        (0..5_000).map(|n| format!("INFO kind {} done in {n} ms\n", ["a", "b", "c"][n % 3])).collect();
    home.file("many.log", many);
    let values = vec![
        ("/lines", json!(5_000)),
        ("/levels", json!({"INFO": 5_000})),
        ("/top_messages/0", json!({"count": 1_667, "message": "INFO kind a done in # ms"})),
    ];
    cases.push(case("summarise many.log", Want::Answer(values)));
    let utf16: Vec<u8> = "ERROR x\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    home.file("utf16.log", utf16);
    cases.push(case("summarise utf16.log", Want::Refused("it is no text")));
    cases.push(case("summarise nope.log", Want::Refused("nope.log does not exist in ")));
    hold(&home, &cases);
}
