//! Every file in `answers/` is one answer: its dialect and form, `---`, the bytes.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect_file;
use serde_json::json;
use setpoint_model::wire::{
    BODY_BYTES_MAX, Dialect, LINE_BYTES_MAX, REPLY_BYTES_MAX, TEXT_BYTES_MAX, VALUES_MAX, WireError,
};
use setpoint_protocol::limits;
use setpoint_protocol::record::Reply;

use crate::support::{decode, decode_of, shown};

struct Recorded {
    name: String,
    dialect: Dialect,
    is_streamed: bool,
    body: Vec<u8>,
}

fn recorded() -> Vec<Recorded> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire/answers");
    let mut all: Vec<Recorded> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let (head, body) = text.split_once("\n---\n").unwrap();
            let (dialect, form) = head.split_once(' ').unwrap();
            Recorded {
                name: path.file_stem().unwrap().to_string_lossy().into_owned(),
                dialect: Dialect::ALL.into_iter().find(|known| known.name() == dialect).unwrap(),
                is_streamed: form == "streamed",
                body: body.as_bytes().to_vec(),
            }
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

#[test]
fn recorded_answers_are_read_as_expected() {
    let mut all = String::new();
    for answer in recorded() {
        let decoded = decode(answer.dialect, answer.is_streamed, [answer.body.as_slice()]);
        write!(all, "# {}\n{}\n", answer.name, shown(&decoded)).unwrap();
    }
    expect_file!["answers.expected"].assert_eq(&all);
}

#[test]
fn an_answer_is_the_same_however_its_bytes_arrive() {
    for answer in recorded() {
        let whole = decode(answer.dialect, answer.is_streamed, [answer.body.as_slice()]);
        for size in [1, 2, 3, 7, 64] {
            let pieces = decode(answer.dialect, answer.is_streamed, answer.body.chunks(size));
            assert_eq!(shown(&pieces), shown(&whole), "{} in pieces of {size}", answer.name);
        }
    }
}

/// The one thing that must not happen: half an answer that is taken for a whole one.
#[test]
fn a_cut_answer_is_never_taken_for_a_whole_one() {
    for answer in recorded() {
        let Ok(whole) = decode(answer.dialect, answer.is_streamed, [answer.body.as_slice()]) else {
            continue;
        };
        for end in 0..answer.body.len() {
            let (head, _) = answer.body.split_at(end);
            if let Ok(found) = decode(answer.dialect, answer.is_streamed, [head]) {
                assert_eq!(found.reply.parts, whole.reply.parts, "{} cut at {end}", answer.name);
                assert_eq!(found.reply.is_cut, whole.reply.is_cut, "{} cut at {end}", answer.name);
            }
        }
    }
}

#[test]
fn sizes_are_bounded() {
    let line = vec![b'x'; LINE_BYTES_MAX + 7];
    for (dialect, head) in [(Dialect::Chat, "data: "), (Dialect::Ollama, "")] {
        let packets = [head.as_bytes(), &line];
        assert!(matches!(decode(dialect, true, packets), Err(WireError::TooLarge { .. })), "{dialect:?}");
    }
    let piece = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{}"}}}}]}}"#, "x".repeat(100_000));
    let event = format!("data: {piece}\n\n");
    let times = TEXT_BYTES_MAX / 100_000 + 1;
    let packets = std::iter::repeat_n(event.as_bytes(), times);
    assert!(matches!(decode(Dialect::Chat, true, packets), Err(WireError::TooLarge { .. })));
    let comment = format!(": {}\n", "x".repeat(1_000));
    let packets = std::iter::repeat_n(comment.as_bytes(), BODY_BYTES_MAX / 1_000);
    assert!(matches!(decode(Dialect::Anthropic, true, packets), Err(WireError::TooLarge { .. })));
    let endless = vec![b' '; 1 << 20];
    let packets = std::iter::repeat_n(endless.as_slice(), 100);
    assert!(matches!(decode(Dialect::Gemini, false, packets), Err(WireError::TooLarge { .. })));
}

#[test]
fn an_answer_is_not_read_far_beyond_what_was_asked_for() {
    let text = |bytes: usize| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
            "x".repeat(bytes)
        )
    };
    let call = |bytes: usize| {
        let arguments = "x".repeat(bytes);
        let function = format!(r#"{{"name":"grep","arguments":"{arguments}"}}"#);
        let call = format!(r#"{{"index":0,"id":"a","function":{function}}}"#);
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n")
    };
    let end =
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let decode = |packets: &[&str]| {
        decode_of(1_000, Dialect::Chat, true, packets.iter().map(|packet| packet.as_bytes()))
    };
    for (most, more) in [(text(90_000), text(10_000)), (call(90_000), call(10_000))] {
        assert!(decode(&[&most, end]).is_ok());
        assert!(matches!(decode(&[&most, &more, end]), Err(WireError::TooLarge { .. })));
    }
}

#[test]
fn more_calls_than_anybody_makes_are_refused() {
    let call = |n: usize| {
        format!(r#"{{"index":{n},"id":"c{n}","function":{{"name":"list_dir","arguments":"{{}}"}}}}"#)
    };
    let body = |count: usize| {
        let calls: Vec<String> = (0..count).map(call).collect();
        format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{}]}},"finish_reason":"stop"}}]}}"#,
            calls.join(",")
        )
    };
    let hundred = decode(Dialect::Chat, false, [body(100).as_bytes()]).unwrap();
    assert_eq!(hundred.reply.tool_calls().count(), 100);
    assert_eq!(decode(Dialect::Chat, false, [body(129).as_bytes()]), Err(WireError::TooManyCalls));
    let far = format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{}]}}}}]}}"#, call(usize::MAX / 2));
    let far = format!("data: {far}\n\ndata: [DONE]\n\n");
    assert_eq!(decode(Dialect::Chat, true, [far.as_bytes()]).unwrap().reply.tool_calls().count(), 1);
}

/// In memory a value takes many times the two bytes that it takes here.
#[test]
fn more_values_than_any_answer_has_are_refused() {
    let body = |extra: usize, text: &str| {
        let zeros = ",0".repeat(extra);
        format!(
            r#"{{"x":[0{zeros}],"choices":[{{"message":{{"content":"{text}"}},"finish_reason":"stop"}}]}}"#
        )
    };
    for dialect in Dialect::ALL {
        let many = body(VALUES_MAX, "");
        assert_eq!(decode(dialect, false, [many.as_bytes()]), Err(WireError::TooManyValues), "{dialect:?}");
    }
    // A text is never parsed as a value, whatever it contains.
    let text = r#"[0,{\",,,,\":0}]\\"#.repeat(VALUES_MAX / 3);
    let decoded = decode(Dialect::Chat, false, [body(10, &text).as_bytes()]).unwrap();
    assert_eq!(decoded.reply.text().len(), text.len() - 3 * (VALUES_MAX / 3));
    let event = |json: &str| format!("data: {json}\n\n");
    let streamed = event(&body(VALUES_MAX, ""));
    assert_eq!(decode(Dialect::Chat, true, [streamed.as_bytes()]), Err(WireError::TooManyValues));
    let arguments = format!("[0{}]", ",0".repeat(VALUES_MAX));
    let call = format!(r#"{{"function":{{"name":"list_dir","arguments":"{arguments}"}}}}"#);
    let body = format!(r#"{{"choices":[{{"message":{{"tool_calls":[{call}]}},"finish_reason":"stop"}}]}}"#);
    let decoded = decode(Dialect::Chat, false, [body.as_bytes()]).unwrap();
    assert!(decoded.reply.tool_calls().all(|call| call.input.0.is_string()), "kept as text, and not read");
}

#[test]
fn of_a_field_that_is_there_twice_the_last_one_counts() {
    let body =
        r#"{"choices":[],"choices":[{"message":{"content":"no","content":"yes"},"finish_reason":"stop"}]}"#;
    assert_eq!(decode(Dialect::Chat, false, [body.as_bytes()]).unwrap().reply.text(), "yes");
    let line = r#"{"message":{"content":""},"done":true,"done":false}"#;
    assert_eq!(decode(Dialect::Ollama, true, [line.as_bytes()]), Err(WireError::Cut));
}

#[test]
fn depth_is_bounded() {
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let body = format!(r#"{{"choices":[{{"message":{{"content":{deep}}}}}]}}"#);
    assert!(matches!(decode(Dialect::Chat, false, [body.as_bytes()]), Err(WireError::NotJson(_))));
    let arguments = serde_json::to_string(&deep).unwrap();
    let body = format!(
        r#"{{"choices":[{{"message":{{"tool_calls":[{{"function":{{"name":"list_dir","arguments":{arguments}}}}}]}}}}]}}"#
    );
    let decoded = decode(Dialect::Chat, false, [body.as_bytes()]).unwrap();
    let call = decoded.reply.tool_calls().next().unwrap();
    assert!(call.input.0.is_string(), "arguments that cannot be read are kept as text");
}

/// The answer is stored in a record, which is read again when the task is resumed.
#[test]
fn arguments_of_any_depth_can_be_read_again() {
    for depth in 1..=127 {
        let arguments = format!(r#"{{"path":{}{}}}"#, "[".repeat(depth - 1), "]".repeat(depth - 1));
        let arguments = if depth == 1 { r#"{"path":1}"#.to_owned() } else { arguments };
        let call = json!({ "function": { "name": "list_dir", "arguments": arguments } });
        let body = json!({ "choices": [{ "message": { "tool_calls": [call] } }] }).to_string();
        let reply = decode(Dialect::Chat, false, [body.as_bytes()]).unwrap().reply;
        let input = &reply.tool_calls().next().unwrap().input;
        assert_eq!(input.is_object(), depth <= limits::VALUE_DEPTH_MAX, "{depth}");
        let record = json!({ "a": { "b": [{ "c": reply }] } }).to_string();
        assert!(serde_json::from_str::<serde_json::Value>(&record).is_ok(), "{depth}");
    }
}

/// A control character is one byte of an answer and six of a record.
#[test]
fn an_answer_fits_into_a_record_or_is_refused() {
    const { assert!(REPLY_BYTES_MAX < limits::BODY_BYTES_MAX / 2) };
    let text = |piece: &str, times: usize| {
        let delta = json!({ "choices": [{ "delta": { "content": piece } }] });
        let end = r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
        format!("{}{end}\n\ndata: [DONE]\n\n", format!("data: {delta}\n\n").repeat(times))
    };
    let calls = |count: usize, bytes: usize| {
        let arguments = json!({ "path": "a".repeat(bytes) }).to_string();
        let delta = |n: usize| {
            let function = json!({ "name": "list_dir", "arguments": arguments });
            let call = json!({ "index": n, "id": format!("c{n}"), "function": function });
            format!("data: {}\n\n", json!({ "choices": [{ "delta": { "tool_calls": [call] } }] }))
        };
        (0..count).map(delta).collect::<String>() + "data: [DONE]\n\n"
    };
    for (what, body, is_read) in [
        ("much text", text(&"x".repeat(100_000), 41), true),
        ("much text of control characters", text(&"\0".repeat(10_000), 60), true),
        ("more of them", text(&"\0".repeat(10_000), 80), false),
        ("many calls", calls(4, 900_000), true),
        ("more of them", calls(20, 900_000), false),
    ] {
        match decode(Dialect::Chat, true, [body.as_bytes()]) {
            Ok(decoded) => assert!(is_read && written(&decoded.reply) <= REPLY_BYTES_MAX + 1_000, "{what}"),
            Err(error) => assert!(!is_read && matches!(error, WireError::TooLarge { .. }), "{what}: {error}"),
        }
    }
}

fn written(reply: &Reply) -> usize {
    serde_json::to_vec(reply).unwrap().len()
}
