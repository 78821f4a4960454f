//! Removes keys from the inputs of a task.
//!
//! Everything that a task records follows from its inputs, so journal, memory, audit, telemetry and exports hold no key
//! that this process knows. A replay sees the same inputs without the keys.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use setpoint_machine::External;
use setpoint_model::ModelError;
use setpoint_protocol::topology::Payload;
use setpoint_scrub::Scrub;

/// Removes these keys from an input.
pub(super) fn input(keys: &Scrub, external: External) -> External {
    if keys.is_empty() {
        return external;
    }
    match external {
        External::Opened(opened) => External::Opened(Box::new(value(keys, *opened))),
        External::Message { from, payload } => External::Message { from, payload: message(keys, payload) },
        External::Answered(answered) => External::Answered(value(keys, answered)),
        External::Reasked(reasked) => External::Reasked(value(keys, reasked)),
        External::Fault(fault) => External::Fault(value(keys, fault)),
        External::Poisoned(poisoned) => External::Poisoned(value(keys, poisoned)),
    }
}

/// Removes these keys from a model's failure, which is recorded with the next attempt.
pub(super) fn failure(keys: &Scrub, error: ModelError) -> ModelError {
    ModelError { failure: value(keys, error.failure), ..error }
}

fn message(keys: &Scrub, payload: Payload) -> Payload {
    let body = payload.encode().ok().filter(|body| keys.holds(body));
    let clean =
        body.and_then(|body| serde_json::to_vec(&keys.value(serde_json::from_slice(&body).ok()?)).ok());
    clean.and_then(|body| Payload::decode(payload.kind(), &body).ok()).unwrap_or(payload)
}

/// Removes these keys from the texts of a value. Most hold none and are not copied. It stays as it is only if a key is
/// part of something that this program made, such as an id: no foreign text is in a field with a form of its own.
fn value<T: Serialize + DeserializeOwned>(keys: &Scrub, value: T) -> T {
    let holds = serde_json::to_vec(&value).is_ok_and(|body| keys.holds(&body));
    let found: Option<Value> = serde_json::to_value(&value).ok().filter(|_| holds);
    found.and_then(|found| serde_json::from_value(keys.value(found)).ok()).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use setpoint_protocol::message::UserInput;
    use setpoint_protocol::record::{Answer, Answered, Part, Reply, ToolRequest};
    use setpoint_protocol::tool::ToolAnswer;
    use setpoint_protocol::{Any, CallId, Instance, RoleId};

    use super::*;

    const KEY: &str = "sk-proj-Zq81LmXv0TtR5bNcYw7HdGf2";

    fn cleaned(answer: Answer) -> String {
        let keys = Scrub::named(&[("K".to_owned(), KEY.into())]);
        let call = CallId { role: RoleId::Executor, instance: Instance(1), n: 1 };
        let answered = Answered::new(call, 1, answer);
        let External::Answered(answered) = input(&keys, External::Answered(answered)) else { panic!() };
        serde_json::to_string(&answered.answer).unwrap()
    }

    #[test]
    fn no_input_keeps_a_key() {
        let keys = Scrub::named(&[("K".to_owned(), KEY.into())]);
        let payload = Payload::UserInput(UserInput { raw_input: format!("use {KEY} here") });
        let cleaned_message = input(&keys, External::Message { from: RoleId::User, payload });
        assert!(format!("{cleaned_message:?}").contains("use [key K] here"), "{cleaned_message:?}");
        let tool = ToolAnswer {
            text: format!("it is {KEY}"),
            created: vec![format!("/x/{KEY}")],
            ..Default::default()
        };
        let call = ToolRequest {
            tool: "read_file".to_owned(),
            input: Any(serde_json::json!({ KEY: [KEY, 1] })),
            id: None,
        };
        let reply = Reply {
            parts: vec![Part::Text(KEY.chars().rev().collect()), Part::ToolCall(call)],
            ..Default::default()
        };
        for (answer, marks) in [(Answer::Tool(Box::new(tool)), 2), (Answer::Model(reply), 3)] {
            let text = cleaned(answer);
            assert_eq!(text.matches("[key K]").count(), marks, "{text}");
        }
    }
}
