use proptest::prelude::*;
use setpoint_protocol::message::{Constraints, TaskSpec};
use setpoint_protocol::record::RecordKind;
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{Address, RoleId};

use super::*;

const SLUG: &dyn Fn(&str) -> String = &|intent| intent.replace(' ', "_");

fn record(seq: u64, cause: Option<u64>, kind: RecordKind, body: &str) -> Record {
    Record {
        seq,
        at: Timestamp::from_micros(1_767_000_000_000_000 + i64::try_from(seq).unwrap()),
        clock_ms: seq * 10_000_000_000,
        from: Address::singleton(RoleId::Perceiver),
        to: vec![Address::singleton(RoleId::Planner)],
        kind,
        cause,
        body: body.as_bytes().to_vec(),
    }
}

/// Returns a task's records, with bodies that a serialiser might write differently.
fn records() -> Vec<Record> {
    let spec = TaskSpec {
        title: String::new(),
        intent: "count files".to_owned(),
        constraints: Constraints::default(),
        raw_input: "count \u{2028} files".to_owned(),
        clarifications: vec![],
    };
    let spec = serde_json::to_string(&spec).unwrap();
    vec![
        record(1, None, RecordKind::Opened, r#"{"z":1,"a":0.1000,"e":1e400,"u":"\u0041","n":-0}"#),
        record(2, Some(1), RecordKind::Message(Kind::TaskSpec), &spec),
        record(3, Some(2), RecordKind::Message(Kind::FinalResult), "{}"),
        record(4, None, RecordKind::Message(Kind::SubTask), r#"[ 1 , 2 ]"#),
        record(5, None, RecordKind::Asked, &asked(&[PIECE])),
    ]
}

/// A fragment of a prompt.
const PIECE: &str = "a piece\nof a \"prompt\" \u{1b}";

/// Returns the body of a question with these fragments.
fn asked(pieces: &[&str]) -> String {
    let fragments: Vec<_> = pieces.iter().map(|piece| FragmentHash::of(piece)).collect();
    let ask = serde_json::json!({ "model": { "purpose": "plan", "fragments": fragments } });
    serde_json::json!({ "call": "r2/1", "attempt": 1, "ask": ask }).to_string()
}

fn seal(records: u64, fragments: u64) -> Seal {
    Seal {
        version: EXPORT_VERSION,
        task_id: TaskId::mint("count", 1),
        title: "count \"files\"".to_owned(),
        opened_at: records_at(1),
        closed_at: None,
        logic_version: 3,
        records,
        fragments,
        chain: "ab".repeat(32),
    }
}

fn records_at(seq: u64) -> Timestamp {
    record(seq, None, RecordKind::Opened, "").at
}

fn file() -> String {
    let seal = seal(5, 1);
    let mut exporter = Exporter::new(&seal, SLUG);
    let mut lines = vec![exporter.seal(&seal)];
    for (at, record) in records().iter().enumerate() {
        if at == 4 {
            lines.push(exporter.fragment(PIECE));
        }
        lines.push(exporter.record(record, 1, &"cd".repeat(32)).unwrap());
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn read(file: &[u8]) -> Result<(Vec<Record>, Vec<String>), ImportError> {
    let mut importer = Importer::new(file, SLUG)?;
    let (mut records, mut fragments) = (vec![], vec![]);
    while let Some(line) = importer.next()? {
        match line {
            Line::Record(stored) => records.push(stored.record),
            Line::Fragment(text) => fragments.push(text),
        }
    }
    Ok((records, fragments))
}

#[test]
fn a_file_is_read_back_to_the_same_bytes() {
    let (records_read, fragments) = read(file().as_bytes()).unwrap();
    assert_eq!(records_read, records());
    assert_eq!(fragments, [PIECE]);
}

/// Returns a file of fragments and questions; each line is a fragment (`+a`) or a question with fragments (`a b`).
fn asked_file(lines: &[&str]) -> String {
    let is_piece = |line: &&&str| line.starts_with('+');
    let pieces = lines.iter().filter(is_piece).count() as u64;
    let seal = seal(lines.len() as u64 - pieces, pieces);
    let mut exporter = Exporter::new(&seal, SLUG);
    let (mut file, mut seq) = (exporter.seal(&seal) + "\n", 0);
    for line in lines {
        file += &match line.strip_prefix('+') {
            Some(piece) => exporter.fragment(piece),
            None => {
                seq += 1;
                let pieces: Vec<_> = line.split(' ').collect();
                exporter.record(&record(seq, None, RecordKind::Asked, &asked(&pieces)), 1, "").unwrap()
            }
        };
        file.push('\n');
    }
    file
}

#[test]
fn a_fragment_precedes_the_first_record_that_names_it() {
    for lines in [
        &["+a", "+b", "a b a", "b a", "+c", "a c"][..],
        // A fragment missing from the journal is in no exported file.
        &["+b", "a b c", "a c"],
    ] {
        read(asked_file(lines).as_bytes()).unwrap();
    }
    for (lines, line) in [
        (&["+b", "+a", "a b", "+c", "c"][..], 3),
        (&["+a", "+b", "+c", "a b", "c"], 4),
        (&["+a", "a b", "+b", "b"], 4),
        (&["+a", "+b", "a", "a b"], 3),
        (&["+a", "a b", "+b"], 4),
        (&["+a", "+x", "a b"], 3),
        (&["+x", "a b"], 2),
    ] {
        let error = read(asked_file(lines).as_bytes()).unwrap_err();
        assert!(
            matches!(error, ImportError::Changed { line: at, seq: None } if at == line),
            "{lines:?}: {error}"
        );
    }
}

#[test]
fn a_line_is_an_event_with_the_ids_that_an_envelope_has() {
    let file = file();
    let events: Vec<serde_json::Value> = file
        .lines()
        .filter(|line| !line.contains("e400"))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for event in &events {
        for (attribute, value) in event.as_object().unwrap() {
            assert!(attribute.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "{attribute}");
            let is_plain = value.is_string() || value.is_u64() || attribute == "data";
            assert!(is_plain, "{attribute} is {value}");
        }
        assert_eq!(
            (&event["specversion"], &event["datacontenttype"]),
            (&"1.0".into(), &"application/json".into())
        );
    }
    let spec = events.iter().find(|event| event["type"] == "setpoint.TaskSpec").unwrap();
    assert_eq!(
        (&spec["slug"], &spec["data"]["task_id"]),
        (&"count_files".into(), &"count-0000000000000001".into())
    );
    assert_eq!(spec["causationid"], spec["correlationid"], "the first record caused it");
    let ended = events.iter().find(|event| event["type"] == "setpoint.FinalResult").unwrap();
    assert_eq!(ended["data"], serde_json::json!({ "task_id": "count-0000000000000001" }));
    assert_eq!(ended["causationid"], spec["id"]);
}

#[test]
fn a_body_that_is_not_json_on_one_line_is_not_written() {
    let seal = seal(1, 0);
    for body in ["", "{", "{}\n", " {}", "{\n}", "{} {}", "\u{feff}{}"] {
        let record = record(1, None, RecordKind::Opened, body);
        let error = Exporter::new(&seal, SLUG).record(&record, 1, "").unwrap_err();
        assert_eq!(
            error.to_string(),
            "write record 1 as a line: its body is not JSON on one line",
            "{body:?}"
        );
    }
}

#[test]
fn a_cut_file_is_refused_wherever_it_is_cut() {
    let file = file();
    for length in 0..file.len() {
        let error = read(&file.as_bytes()[..length]).unwrap_err();
        let is_named = matches!(
            error,
            ImportError::NotExported | ImportError::Malformed { .. } | ImportError::Incomplete { .. }
        );
        assert!(is_named, "{length}: {error}");
    }
}

/// The chain covers bodies and chain values; every other change is detected here.
#[test]
fn a_changed_byte_outside_the_bodies_is_refused() {
    let file = file();
    let mut missed = Vec::new();
    for at in 0..file.len() {
        let mut changed = file.clone().into_bytes();
        changed[at] ^= 1;
        if let Ok((read, _)) = read(&changed) {
            let columns = |records: &[Record]| {
                records.iter().map(|one| (one.from, one.to.clone(), one.kind, one.seq)).collect::<Vec<_>>()
            };
            assert_eq!(columns(&read), columns(&records()));
            missed.push(at);
        }
    }
    let text: String = missed.iter().map(|at| char::from(file.as_bytes()[*at])).collect();
    // A changed body, clock, cause, format or chain value may still parse, but the chain covers all of them.
    assert!(missed.len() < 900, "{} bytes: {text}", missed.len());
    let first = file.lines().next().unwrap().len();
    assert!(missed.iter().all(|at| *at > first), "the first line is covered whole");
}

#[test]
fn errors_name_their_place() {
    let file = file();
    let error = |from: &str, to: &str| {
        assert!(file.contains(from), "{from}");
        read(file.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
    };
    let lines: Vec<&str> = file.lines().collect();
    let without = |n: usize| {
        let kept: String = lines
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != n)
            .map(|(_, line)| format!("{line}\n"))
            .collect();
        read(kept.as_bytes()).unwrap_err().to_string()
    };
    let told = [
        error("\"title\":\"count", "\"title\":\"Count"),
        error("\"version\":1", "\"version\":2"),
        error("\"format\":1", "\"format\":3"),
        error("a piece", "a peace"),
        error("setpoint.FinalResult", "setpoint.Finality"),
        error("\"subject\":\"planner\"", "\"subject\":\"plan\""),
        error("\"clockms\":\"1", "\"clockms\":\"x"),
        error("/perceiver\"", "/nobody\""),
        error("\"slug\":\"count_files\"", "\"slug\":\"count_fleas\""),
        error("\"time\":\"2025-12-29T09:20:00.000002Z\"", "\"time\":\"2025-12-29T09:20:00.000002+00:00\""),
        without(0),
        without(1),
        without(5),
        without(2),
        read(format!("{file}\n").as_bytes()).unwrap_err().to_string(),
        read(format!("{file}{}\n", lines[6]).as_bytes()).unwrap_err().to_string(),
        read(format!("{file}{}\n", lines[5]).as_bytes()).unwrap_err().to_string(),
        read(file.replace('\n', "\r\n").as_bytes()).unwrap_err().to_string(),
        read(b"\xff\n").unwrap_err().to_string(),
        read(b"").unwrap_err().to_string(),
    ];
    expect_test::expect![[r#"
        read line 1: it was changed after it was written
        read line 1: its format is 2, and this program reads up to 1
        read line 2: its format is 3, and this program reads up to 2
        read line 6: it was changed after it was written
        read line 4, record 3: its type is "setpoint.Finality"
        read line 2, record 1: its subject is "plan"
        read line 2, record 1: its clockms is "x0000000000"
        read line 2, record 1: its source is "/setpoint/tasks/count-0000000000000001/nobody"
        read line 3, record 2: it was changed after it was written
        read line 3, record 2: it was changed after it was written
        read line 1: it is not the start of an exported task
        read line 2: record 1 comes next, and this is record 2
        read the file to its end: its first line says 5 records and 1 fragments, and there are 5 and 0
        read line 3: record 2 comes next, and this is record 3
        read line 8: it is not an event: EOF while parsing a value at line 1 column 0
        read line 8: record 6 comes next, and this is record 5
        read line 8: it was changed after it was written
        read line 1: it was changed after it was written
        read line 1: it is not UTF-8
        read line 1: it is not the start of an exported task
    "#]]
    .assert_eq(&(told.join("\n") + "\n"));
}

#[test]
fn a_line_without_end_is_not_read_into_memory() {
    let endless = std::io::BufReader::new(std::io::repeat(b'x'));
    let error = Importer::new(endless, SLUG).unwrap_err();
    assert!(matches!(error, ImportError::LineTooLong { line: 1 }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Any input terminates, and every accepted line is one that the exporter writes.
    #[test]
    fn hostile_bytes_are_refused_or_read_unchanged(
        at in 0_usize..7,
        garbage in proptest::collection::vec(any::<u8>(), 0..64),
        place in 0_usize..400,
        is_whole_line in any::<bool>(),
    ) {
        let mut lines: Vec<Vec<u8>> = file().lines().map(|line| line.as_bytes().to_vec()).collect();
        let line = &mut lines[at];
        if is_whole_line {
            *line = garbage;
        } else {
            let place = place.min(line.len());
            line.splice(place..place, garbage);
        }
        let bytes: Vec<u8> = lines.iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect();
        if let Ok((read, fragments)) = read(&bytes) {
            let mut exporter = Exporter::new(&seal(5, 1), SLUG);
            prop_assert_eq!(fragments.len(), 1);
            for (record, line) in read.iter().zip(lines.iter().enumerate().filter(|(n, _)| ![0, 5].contains(n))) {
                let line = String::from_utf8(line.1.clone()).unwrap();
                let event: serde_json::Value = serde_json::from_str(&line.replace("1e400", "1")).unwrap();
                let format = u16::try_from(event["format"].as_u64().unwrap()).unwrap();
                let chain = event["chain"].as_str().unwrap();
                prop_assert_eq!(exporter.record(record, format, chain).unwrap(), line);
            }
        }
    }

    /// Every body that a machine can write is restored byte for byte, whatever its kind appends.
    #[test]
    fn bodies_survive_the_wire_form(
        text in ".{0,40}",
        number in any::<f64>(),
        kind in prop::sample::select(vec![Kind::TaskSpec, Kind::SubTask, Kind::Megram, Kind::FinalResult]),
    ) {
        let number = if number.is_finite() { number } else { 0.0 };
        let body = serde_json::json!({ "task_ids": text, "n": number, "in": { "task_id": "count-0000000000000001" } });
        let record = record(1, None, RecordKind::Message(kind), &body.to_string());
        let seal = seal(1, 0);
        let mut exporter = Exporter::new(&seal, SLUG);
        let file = format!("{}\n{}\n", exporter.seal(&seal), exporter.record(&record, 1, "").unwrap());
        prop_assert_eq!(read(file.as_bytes()).unwrap().0, vec![record]);
    }
}

/// Export and import have the same limits, to the byte.
#[test]
fn export_and_import_have_the_same_limits() {
    use crate::cloud_events::export::{ExportError, Lines as Written};

    let read = |number: u64, bytes: u64, length: usize| {
        let input = std::io::repeat(b'x').take(length as u64).chain(&b"\n"[..]);
        let mut lines = Lines { input: io::BufReader::new(input), number, bytes };
        lines.next()
    };
    for (length, is_written) in [(LINE_BYTES_MAX, true), (LINE_BYTES_MAX + 1, false)] {
        let written = Written::default().push("x".repeat(length));
        assert_eq!((written.is_ok(), read(0, 0, length).is_ok()), (is_written, is_written), "{length}");
    }
    for (bytes, is_written) in [(FILE_BYTES_MAX - 8, true), (FILE_BYTES_MAX - 7, false)] {
        let mut written = Written::default();
        written.bytes = bytes;
        let written = written.push("x".repeat(7));
        assert_eq!((written.is_ok(), read(0, bytes, 7).is_ok()), (is_written, is_written), "{bytes}");
    }
    let mut written = Written::default();
    for _ in 0..LINES_MAX {
        written.push(String::new()).unwrap();
    }
    assert!(matches!(written.push(String::new()), Err(ExportError::TooLarge)));
    assert!(read(LINES_MAX - 1, 0, 0).is_ok() && read(LINES_MAX, 0, 0).is_err());
}
