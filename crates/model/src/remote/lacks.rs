//! The interfaces that a server turns out to lack; later requests do without them.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::wire::{Refusal, Request};

/// Interfaces that a model may lack although its provider has them.
#[derive(Debug, Default)]
pub(super) struct MissingInterfaces {
    tools: AtomicBool,
    schema: AtomicBool,
    reasoning: AtomicBool,
}

impl MissingInterfaces {
    /// Returns whether the model has refused tools.
    pub(super) fn tools(&self) -> bool {
        self.tools.load(Ordering::Relaxed)
    }

    /// Returns whether the model has refused a schema.
    pub(super) fn schema(&self) -> bool {
        self.schema.load(Ordering::Relaxed)
    }

    /// Returns whether the model has no reasoning that could be sent back.
    pub(super) fn reasoning(&self) -> bool {
        self.reasoning.load(Ordering::Relaxed)
    }

    /// Notes what a refusal says is missing. Returns the reason if the question should be retried in another form.
    pub(super) fn learn(&self, refusal: &Refusal, request: &Request<'_>) -> Option<&'static str> {
        if !matches!(refusal.status, Some(400 | 404 | 415 | 422 | 500 | 501)) {
            return None;
        }
        let message = refusal.message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        if !says(&[
            "not support",
            "unsupported",
            "unknown parameter",
            "unrecognized",
            "not enabled",
            "requires --",
        ]) {
            return None;
        }
        if request.goes_on && says(&["encrypted", "'include'", "`include`", "reasoning"]) {
            self.reasoning.store(true, Ordering::Relaxed);
            return Some("the model has no reasoning to send back; it is not asked for");
        }
        if !request.tools.is_empty() && says(&["tool", "function call"]) {
            self.tools.store(true, Ordering::Relaxed);
            return Some("the model takes no tools through its interface; the prompt describes them");
        }
        if request.schema.is_some()
            && says(&["schema", "response_format", "response format", "structured", "format"])
        {
            self.schema.store(true, Ordering::Relaxed);
            return Some("the model takes no schema for its answer; the prompt describes the form in words");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use serde_json::value::RawValue;
    use setpoint_protocol::tool::ToolSpec;
    use std::sync::Arc;

    #[test]
    fn missing_interfaces_are_learnt_from_refusals_only() {
        let tools: Vec<Arc<ToolSpec>> = serde_json::from_value(
            json!([{"name": "t", "description": "", "input_schema": {}, "class": "read"}]),
        )
        .unwrap();
        for (status, message, has_tools, expected) in [
            (400, "Encrypted content is not supported with this model.", true, "reasoning"),
            (400, "Unknown parameter: 'include'.", true, "reasoning"),
            (400, "registry/llama:7b does not support tools", true, "tools"),
            (400, "registry/llama:7b does not support tools", false, ""),
            (400, "Unknown parameter: 'response_format.json_schema'", true, "schema"),
            (500, "structured output is not supported by this engine", false, "schema"),
            (400, "tool_use ids were found without tool_result", true, ""),
            (401, "tools are not supported with this key", true, ""),
            (429, "not supported tool", true, ""),
        ] {
            let lacks = MissingInterfaces::default();
            let request = Request {
                tools: if has_tools { &tools } else { &[] },
                schema: Some(RawValue::NULL),
                goes_on: true,
                ..Request::default()
            };
            let refusal = Refusal { status: Some(status), message: message.to_owned(), ..Refusal::default() };
            let is_again = lacks.learn(&refusal, &request).is_some();
            let found = match (lacks.tools(), lacks.schema(), lacks.reasoning()) {
                (true, _, _) => "tools",
                (_, true, _) => "schema",
                (_, _, true) => "reasoning",
                _ => "",
            };
            assert_eq!((found, is_again), (expected, !expected.is_empty()), "{message}");
        }
    }
}
