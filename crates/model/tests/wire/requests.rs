//! One question in every dialect's words.

use std::fmt::Write as _;

use expect_test::expect_file;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use setpoint_model::wire::{Dialect, Effort, Request};

use crate::support::{request, tools};

#[test]
fn a_question_in_every_dialect() {
    let tools = tools();
    let schema: &RawValue = serde_json::from_str(r#"{ "type": "object", "required": ["intent"] }"#).unwrap();
    let extra = json!({ "temperature": 0, "options": { "seed": 1 } });
    let bare = request(&[], false);
    let full = Request {
        model: "models/ödd/name",
        tools: &tools,
        schema: Some(schema),
        effort: Some(Effort::Low),
        tokens_thinking_max: 2_048,
        window_tokens: Some(32_768),
        cache_key: Some("r2"),
        is_first_party: true,
        is_streamed: true,
        extra: extra.as_object(),
        ..bare
    };
    let mut all = String::new();
    for dialect in Dialect::ALL {
        for request in [bare, full] {
            let body: Value = serde_json::from_slice(&dialect.body(&request).unwrap()).unwrap();
            let body = serde_json::to_string_pretty(&body).unwrap();
            writeln!(
                all,
                "# {} {}\n{body}\n",
                dialect.name(),
                dialect.path(request.model, request.is_streamed)
            )
            .unwrap();
        }
    }
    expect_file!["requests.expected"].assert_eq(&all);
}
