//! Counts what goes over the wire: the characters of a question and of its answer, in OpenAI's chat completions.

use serde_json::Value;

/// The fields of a question that a model reads.
const READ: &[&str] = &["messages", "tools", "response_format"];

/// Counts the characters of a question's messages, tools and schema, as JSON.
pub(crate) fn question(body: &Value) -> u64 {
    READ.iter().filter_map(|field| body.get(field)).map(json_chars).sum()
}

/// Counts the characters of an answer, whole or as a stream of events: text, thinking, names and arguments of calls.
pub(crate) fn answer(body: &str) -> u64 {
    match serde_json::from_str::<Value>(body) {
        Ok(whole) => said(&whole),
        Err(_) => {
            let events = body.lines().filter_map(|line| line.strip_prefix("data:"));
            events
                .filter_map(|event| serde_json::from_str::<Value>(event.trim()).ok())
                .map(|e| said(&e))
                .sum()
        }
    }
}

fn json_chars(value: &Value) -> u64 {
    chars(&value.to_string())
}

fn chars(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}

/// Counts the characters in the choices of a body or of one event of a stream.
fn said(body: &Value) -> u64 {
    let choices = body["choices"].as_array().into_iter().flatten();
    choices.map(|choice| message(choice.get("message").unwrap_or(&choice["delta"]))).sum()
}

fn message(message: &Value) -> u64 {
    let text = |value: &Value| value.as_str().map_or(0, chars);
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let calls: u64 =
        calls.map(|call| text(&call["function"]["name"]) + text(&call["function"]["arguments"])).sum();
    text(&message["content"]) + text(&message["reasoning_content"]) + calls
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_the_model_reads_is_counted() {
        let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "été" }], "tools": [], "stream": true });
        assert_eq!(question(&body), chars(r#"[{"content":"été","role":"user"}]"#) + 2);
    }

    #[test]
    fn a_whole_answer_and_its_stream_count_equally() {
        let whole = json!({ "choices": [{ "message": {
            "content": "Hello", "tool_calls": [{ "function": { "name": "ls", "arguments": "{}" } }],
        } }] });
        let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n\
                      data: {\"choices\":[{\"delta\":{\"content\":\"lo\"}}]}\n\n\
                      data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"ls\",\"arguments\":\"{\"}}]}}]}\n\n\
                      data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"}\"}}]}}]}\n\ndata: [DONE]\n";
        assert_eq!((answer(&whole.to_string()), answer(stream)), (9, 9));
        assert_eq!(answer("no answer"), 0);
    }
}
