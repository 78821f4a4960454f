//! A key that a server repeats appears nowhere, and a word that is not a key stays in place.

use serde_json::{Value, json};
use setpoint_model::remote::Remote;
use setpoint_model_server::Wire;
use setpoint_protocol::record::{Part, Reply};

use crate::support::{ask, canned, endpoint};

/// As long as the longest of them are.
fn long_key() -> String {
    let digits: String = (0..78).map(|n| format!("{:02x}", n * 7 % 256)).collect();
    format!("sk+proj/{digits}")
}

async fn asked(wire: Wire, key: &str, status: u16, body: String) -> Result<Reply, String> {
    let (address, _server) = canned(move |_, _| (status, body.clone())).await;
    let mut endpoint = endpoint(wire, &address, true);
    endpoint.key = Some(key.to_owned().into());
    let reply = ask(&Remote::new(endpoint, || 0).unwrap(), true).await;
    reply.map_err(|error| error.failure.reason)
}

fn streamed(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>() + "data: [DONE]\n\n"
}

fn call(input: &Value) -> String {
    let function = json!({ "name": "list_dir", "arguments": input.to_string() });
    let delta = json!({ "content": "Here it is.", "tool_calls": [{ "index": 0, "function": function }] });
    streamed(&[json!({ "choices": [{ "delta": delta, "finish_reason": "tool_calls" }] })])
}

fn input_of(reply: &Reply) -> Value {
    reply.tool_calls().next().unwrap().input.0
}

#[tokio::test]
async fn a_word_in_place_of_a_key_stays_in_answers() {
    let input = json!({ "path": "ollama/x/EMPTY", "lines": 7 });
    for key in ["x", "path", "EMPTY", "ollama", "Here it is.", "list_dir"] {
        let reply = asked(Wire::Chat, key, 200, call(&input)).await.unwrap();
        assert_eq!(input_of(&reply), input, "{key}");
        assert!(matches!(reply.parts.first(), Some(Part::Text(text)) if text == "Here it is."), "{key}");
    }
}

#[tokio::test]
async fn a_key_is_taken_out_of_a_call_and_the_call_stays_one() {
    let key = long_key();
    let input = json!({ "path": format!("a {key} b"), key.clone(): [{ "deep": key }], "n": 1 });
    let reply = asked(Wire::Chat, &key, 200, call(&input)).await.unwrap();
    let expected = json!({ "path": "a {secret} b", "{secret}": [{ "deep": "{secret}" }], "n": 1 });
    assert_eq!(input_of(&reply), expected);
}

/// Whatever is left of a message after it was cut, nothing of the key is in it.
#[tokio::test]
async fn no_part_of_a_key_is_in_an_error() {
    let key = long_key();
    // As another program writes `user:` and this key.
    let base64 = "dXNlcjpzaytwcm9qLzAwMDcwZTE1MWMyMzJhMzEzODNmNDY0ZDU0NWI2MjY5NzA3NzdlODU4YzkzOWFhMWE4YWZiNmJkYzRjYmQyZDllMGU3ZWVmNWZjMDMwYTExMTgxZjI2MmQzNDNiNDI0OTUwNTc1ZTY1NmM3MzdhODE4ODhmOTY5ZGE0YWJiMmI5YzBjN2NlZDVkY2UzZWFmMWY4ZmYwNjBkMTQxYg==";
    let forms = [key.clone(), key.replace('+', "%2B").replace('/', "%2F"), base64.to_owned()];
    for (form, before) in
        forms.iter().flat_map(|form| [0, 100, 200, 290, 299, 310].map(|before| (form, before)))
    {
        let message = format!("{} {form} is wrong", "y".repeat(before));
        let whole = json!({ "error": { "message": message, "code": form } });
        let blocked =
            json!({ "promptFeedback": { "blockReason": format!("{}{form}", "y".repeat(before / 6)) } });
        for (wire, status, body) in [
            (Wire::Chat, 401, whole.to_string()),
            (Wire::Chat, 200, whole.to_string()),
            (Wire::Anthropic, 200, streamed(&[json!({ "type": "error", "error": { "message": message } })])),
            (Wire::Ollama, 500, json!({ "error": message }).to_string()),
            (Wire::Gemini, 200, streamed(&[blocked])),
        ] {
            let reason = asked(wire, &key, status, body).await.unwrap_err();
            for piece in ["sk+proj", "sk%2Bproj", "twcm9qLzAwMDcw", "0070e151c"] {
                assert!(!reason.contains(piece), "{wire} {status} {before}: {reason}");
            }
        }
    }
}
