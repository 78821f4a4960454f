//! Log lines in many forms, and the summaries that they give.

use super::*;

fn entry(line: &str) -> Entry {
    Entry::of(&line::plain(line.as_bytes()))
}

fn sum(lines: &[&str]) -> Sum {
    let mut seen = LogTallies::default();
    lines.iter().for_each(|line| seen.add(line.as_bytes(), false));
    seen.sum()
}

fn first_time(line: &str) -> Option<String> {
    sum(&[line]).tally.first_time.map(|time| time.1)
}

#[test]
fn levels_are_found_in_many_forms() {
    for (line, expected) in [
        ("2026-01-01T10:00:00Z ERROR db: lost", Some("ERROR")),
        ("[warning] disk", Some("WARN")),
        ("level=info msg=x", Some("INFO")),
        (r#"{"level":"debug"}"#, Some("DEBUG")),
        ("Jan  2 03:04:05 host app[1]: error: no", Some("ERROR")),
        ("no errors were found", None),
        ("an information", None),
        ("INFORMATION", None),
        ("\u{1b}[31mERROR\u{1b}[0m: lost", Some("ERROR")),
        ("{\"ts\":1,\"level\" : \"Warn\"}", Some("WARN")),
        ("(err) x", Some("ERROR")),
        ("[Wed Nov 26] [proxy:error] [pid 12] AH01114", Some("ERROR")),
        ("1.2.3.4 - - \"GET /ERROR/404.html HTTP/1.1\" 200", None),
        ("one two three four five six seven error: x", None),
        ("user_ERROR", None),
        ("warn everybody", None),
        ("[ERROR-handler] INFO started", Some("INFO")),
        ("[2026-01-02 03:04:05,123: ERROR/ForkPoolWorker-1] lost", Some("ERROR")),
        ("ERROR/404.html was asked for", None),
        ("10:00:00,123-ERROR-lost", Some("ERROR")),
        ("mode=FATAL INFO x", Some("INFO")),
        ("x mode=FATAL INFO x", Some("INFO")),
        (r#"{"mode":"FATAL","level":"info"}"#, Some("INFO")),
        (r#"{"msg": "ERROR"}"#, None),
        (r#"{"message":"user sent WARN","level":"error"}"#, Some("ERROR")),
        (r#"time=1 msg="an ERROR page" level=info"#, Some("INFO")),
        (r#"{"message":"got [ERROR] from peer","severity":"INFO"}"#, Some("INFO")),
        ("a=1 ERROR lost", Some("ERROR")),
        ("2026-01-01 10:00:00 a=1 level=error", Some("ERROR")),
        ("[2026-01-01 10:00:00] lvl=error a", Some("ERROR")),
        (r#"msg="user wrote level=error" level=info"#, Some("INFO")),
        (r#"{"user":{"level":"warn"},"level":"info"}"#, Some("INFO")),
        (r#"{"level":"loud","severity":"ERROR"}"#, None),
        (r#"{"message":"Log level: DEBUG","level":"INFO"}"#, Some("INFO")),
        ("10:00:00 info app: severity: error was reported", None),
        ("10:00:00 app: set level=error", None),
        ("info of the app, level=error", None),
        ("web_1 | level=error lost", Some("ERROR")),
        (r#"he said "ERROR" twice"#, None),
        ("lost in com.acme.ERROR", None),
        ("[2026-01-01 10:00:00] local.ERROR: lost", Some("ERROR")),
        ("INFO[0000] a", Some("INFO")),
        ("ERRO[0003] boom", Some("ERROR")),
        ("FATA[0004] dead", Some("FATAL")),
        ("[10:00:00 INF] up", Some("INFO")),
        ("[FTL] dead", Some("FATAL")),
        ("10:00:00 INF up", None),
        ("[inf] up", None),
        ("10:00:00 ERROR set level=info", Some("ERROR")),
        ("smartd: last self-test, no error: all good", None),
        ("result of the check, error: none", None),
        ("a.c:1: error: x", Some("ERROR")),
        ("10:00:00 error: x", Some("ERROR")),
        (r#"1.2.3.4 - - "GET /logs?level=error HTTP/1.1" 200"#, None),
        ("GET /logs?a=1&level=ERROR", None),
        ("<11>Jan  1 10:00:00 host app: disk gone", Some("ERROR")),
        ("<12>1 2026-01-01T10:00:00Z host app - - - slow", Some("WARN")),
        ("<8>app: gone", Some("EMERGENCY")),
        ("<11>Jan  1 10:00:00 host app: INFO up", Some("ERROR")),
        ("<13>Jan  1 10:00:00 host app: ERROR lost", Some("ERROR")),
        ("<1100>x", None),
        ("<11 x", None),
        ("<>x", None),
    ] {
        let found = entry(line).level.map(|found| found.level);
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn an_unmarked_level_in_a_rare_position_is_not_trusted() {
    let check = |lines: &[&str], elsewhere: u64| assert_eq!(sum(lines).elsewhere, elsewhere, "{lines:?}");
    check(&["10:00 INFO up", "10:01 INFO down", "user PANIC logged in"], 1);
    check(&["user PANIC logged in"], 1);
    check(&["10:00 INFO up", "10:01 ERROR lost", "WARN x"], 0);
    check(&["10:00 INFO up", "10:01 INFO down", "10:01 by ada ERROR lost"], 1);
    check(&["a.c:1: error: x", "a.c:2: warning: y", "make: *** error: z"], 0);
    check(&["level=info at=1", "at=1 level=info"], 0);
}

#[test]
fn unknown_level_forms_are_suspect() {
    for (line, suspect) in [
        ("E1126 10:00:00.1 1 a.go:1] lost", 1),
        ("I1126 10:00:00.1 1 a.go:1] up", 0),
        ("[E] lost", 1),
        ("11-26 10:00:00 E/Tag: lost", 1),
        (r#"{"level":50,"msg":"lost"}"#, 1),
        ("t=1 lvl=custom msg=lost", 1),
        ("E: no such package", 1),
        ("app[1]: segfault at 0", 1),
        ("Out of memory: a was Killed", 1),
        ("(EE) no screens", 1),
        ("[SEV1] disk gone", 1),
        ("FAULT in unit 3", 1),
        ("Err disk gone", 1),
        ("err=disk", 1),
        ("произошла ошибки", 1),
        ("磁盘错误", 1),
        ("the default of several interrupts", 0),
        ("nothing", 0),
    ] {
        let tally = sum(&[line]).tally;
        assert_eq!((tally.without_level, tally.suspect), (1, suspect), "{line}");
    }
}

#[test]
fn times_are_found_in_many_forms() {
    for (line, expected) in [
        ("2026-01-01T10:00:00.123Z x", "2026-01-01T10:00:00.123Z"),
        ("2026/01/01 10:00:00 x", "2026/01/01 10:00:00"),
        (r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /""#, "10/Oct/2000:13:55:36 -0700"),
        ("Jan  2 03:04:05 host", "Jan  2 03:04:05"),
        ("[10:11:12] x", "10:11:12"),
        ("10:11:12,345 x", "10:11:12,345"),
        ("Jan  2 03:04:05.678 host", "Jan  2 03:04:05.678"),
        ("[Fri Mar  1 10:00:00.5 2024] x", "Mar  1 10:00:00.5 2024"),
        ("Mar  1 10:00:00 20245 x", "Mar  1 10:00:00"),
        ("[01/Mar/2024 10:00:00] x", "01/Mar/2024 10:00:00"),
        ("01-Mar-2024 10:00:00.123 x", "01-Mar-2024 10:00:00.123"),
        ("2024-03-01 01:00:00 PM x", "2024-03-01 01:00:00 PM"),
        ("2024-03-01 01:00:00 pmx", "2024-03-01 01:00:00"),
        ("<14>2024-03-01 01:00:00 x", "2024-03-01 01:00:00"),
        (r#"{"date":"2030-01-01 00:00:00","@timestamp":"2024-01-01 00:00:00"}"#, "2024-01-01 00:00:00"),
        (r#"time="2024-01-01 00:00:00" msg=x"#, "2024-01-01 00:00:00"),
        ("2024-01-01 00:00:00 a=b time=2030-01-01T00:00:00Z", "2024-01-01 00:00:00"),
    ] {
        assert_eq!(first_time(line).as_deref(), Some(expected), "{line}");
    }
    for line in [
        "26.11.2026 03:38:41 INFO next at 2026-12-01 00:00:00",
        "26/11/26 03:38:41 INFO next at 2026-12-01 00:00:00",
        "1764128321 INFO next at 2026-12-01 00:00:00",
        "26.11.2026 03:38:41 next at 2026-12-01 00:00:00",
        "INFO next at 2026-12-01 00:00:00",
        r#"INFO SELECT x WHERE date="2026-12-01 00:00:00""#,
        "up at time=2026-12-01T00:00:00Z",
        r#"{"ts":1709287201.1,"expires_at":"2030-01-01T00:00:00Z"}"#,
        r#"{"timestamp":"then","time":"2030-01-01T00:00:00Z"}"#,
        "  created: 2020-01-01 00:00:00",
    ] {
        assert_eq!(first_time(line), None, "{line}");
    }
    for line in [
        "INFO 2026-12-01 00:00:00 up",
        "[INFO] [2026-12-01 00:00:00] up",
        r#"{"level":"info","ts":"2026-12-01 00:00:00"}"#,
        "level=info ts=2026-12-01 00:00:00",
        "web_1 | 2026-12-01 00:00:00 INFO up",
    ] {
        assert_eq!(first_time(line).as_deref(), Some("2026-12-01 00:00:00"), "{line}");
    }
}

#[test]
fn messages_that_differ_only_in_numbers_are_equal() {
    let message = |line: &str| entry(line).message;
    assert_eq!(message("INFO user 12 from 10.0.0.1"), message("INFO user 9 from 10.1.2.3"));
    assert_eq!(message("2026-01-01T10:00:00Z  WARN\tretry 2 of 3"), "# WARN retry # of #");
    assert_eq!(message(r#"{"a":1,"msg":"retry 2 \"x\""}"#), r#"retry # \"x\""#);
    assert_eq!(message(r#"level=info event=e msg="retry 2""#), "retry #");
    assert_eq!(message(r#"{"a":1,"b":{"n":"x2"}}"#), r##"{"a":#,"b":{"n":"x#"}}"##);
    assert_eq!(Entry::of(b"\xff\xfe 1").message, "\u{fffd}\u{fffd} #");
}

#[test]
fn an_untimed_line_that_may_be_an_entry_is_doubted() {
    let (up, lost) = ("10:00:00 INFO up", "10:00:01 ERROR lost");
    for (lines, doubtful) in [
        (&[up, "app[1]: ERROR disk failure", up][..], 1),
        (&[lost, "[worker] ERROR disk failure", up], 1),
        (&[up, "1704067200 WARN disk", "Traceback (most recent call last):", up, up], 2),
        (&[up, "  ERROR: indented failure"], 1),
        (&["INFO up", "  ERROR: indented failure"], 1),
        (&[lost, "java.lang.IllegalStateException: gone", "\tat a.ERROR(b)"], 0),
        (&[up, "Caused by: org.acme.Lost: ERROR: no row"], 0),
        (&[up, "ERROR x", "two rows"], 0),
        (&["user PANIC", "x ERROR lost"], 0),
    ] {
        assert_eq!(sum(lines).doubtful, doubtful, "{lines:?}");
    }
}

#[test]
fn untimed_lines_continue_others_if_half_are_timed() {
    let check = |lines: &[&str], continued: u64, elsewhere: u64, levels: &[(&str, u64)]| {
        let sum = sum(lines);
        let expected: BTreeMap<&str, u64> = levels.iter().copied().collect();
        assert_eq!(
            (sum.continued, sum.elsewhere, sum.tally.levels),
            (continued, elsewhere, expected),
            "{lines:?}"
        );
    };
    let (up, lost) = ("10:00:00 INFO up", "10:00:01 ERROR lost");
    let error = "Caused by: org.acme.Lost: ERROR: no row";
    check(&[up, lost, error], 1, 0, &[("INFO", 1), ("ERROR", 1)]);
    check(&[up, lost, error, "", "x"], 3, 0, &[("INFO", 1), ("ERROR", 1)]);
    check(&[lost, error, "x"], 0, 0, &[("ERROR", 2)]);
    check(&[up, "  ERROR x", "\tat y"], 2, 0, &[("INFO", 1)]);
    check(&["INFO up", "  \"level\": \"ERROR\""], 1, 0, &[("INFO", 1)]);
    // A line that begins with a level, or has one after a time in another form, may come from another program.
    check(&[up, "ERROR x"], 0, 1, &[("INFO", 1)]);
    check(&[up, lost, "[ERROR] x", "x"], 1, 1, &[("INFO", 1), ("ERROR", 1)]);
    check(&[up, r#"{"level":"error"}"#], 0, 0, &[("INFO", 1), ("ERROR", 1)]);
    check(&["level=info", "level=info", "x"], 0, 0, &[("INFO", 2)]);
    check(&[up, "<11>app: disk gone"], 0, 0, &[("INFO", 1), ("ERROR", 1)]);
    let versioned = "<11>1 2026-01-01T10:00:00Z host app - - - gone";
    check(&[versioned, versioned, "x"], 1, 0, &[("ERROR", 2)]);
    check(&[up, "26.11.2026 10:00:00 ERROR x"], 0, 1, &[("INFO", 1)]);
}
