//! What a question may take is what is sent, and what an attempt took that came to nothing is known.

use std::sync::Arc;

use serde_json::Value;
use setpoint_machine::model_call::ModelLimits;
use setpoint_model::remote::Remote;
use setpoint_model::wire::Effort;
use setpoint_model::{Model as _, Progress};
use setpoint_model_server::{Answer, Fault, ModelServer, Turn, Wire};
use setpoint_protocol::record::Usage;

use crate::support::{endpoint, question, remote};

/// Asks once, and says whether the provider began to answer and what it has taken by the end.
async fn metered(fault: &str, wire: Wire) -> (bool, Usage) {
    let fault = Fault::by_name(fault).unwrap();
    let text = "Blue is the colour of it. ".repeat(200);
    let turn = Turn::from(Answer::text(&text)).with(fault.clone());
    let server = ModelServer::start(Arc::new(turn)).await.unwrap();
    let progress = Progress::none();
    let model = remote(wire, &server.base_with(wire, &fault), true);
    model.answer(&question(false), &progress).await.unwrap_err();
    server.stop().await;
    (progress.has_begun(), progress.used(|| 1_000))
}

#[tokio::test]
async fn what_breaks_off_has_begun_and_what_is_refused_has_not() {
    for wire in Wire::ALL {
        let (has_begun, used) = metered("truncated_chunks", wire).await;
        assert!(has_begun && used.tokens_in > 0 && used.tokens_out > 0, "{wire}: {used:?}");
        for fault in ["reset_before_head", "unauthorized", "unavailable_storm"] {
            assert!(!metered(fault, wire).await.0, "{fault} on {wire}");
        }
    }
}

/// What the wires call the bound on an answer, and on its thinking where that is a number.
fn bounds(wire: Wire, body: &Value) -> (Option<u64>, Option<u64>) {
    let (total, thinking) = match wire {
        Wire::Chat => ("/max_tokens", "/none"),
        Wire::Responses => ("/max_output_tokens", "/none"),
        Wire::Anthropic => ("/max_tokens", "/thinking/budget_tokens"),
        Wire::Gemini => {
            ("/generationConfig/maxOutputTokens", "/generationConfig/thinkingConfig/thinkingBudget")
        }
        Wire::Ollama => ("/options/num_predict", "/none"),
    };
    let number = |pointer: &str| body.pointer(pointer).and_then(Value::as_u64);
    (number(total), number(thinking))
}

#[tokio::test]
async fn no_more_is_asked_for_than_was_reserved_thinking_included() {
    for wire in Wire::ALL {
        for (thinking, told) in [(2_000, Some(2_000)), (1_023, None)] {
            let server = ModelServer::start(Arc::new(Turn::from(Answer::text("Blue.")))).await.unwrap();
            let mut endpoint = endpoint(wire, &server.base(wire), false);
            endpoint.effort = Some(Effort::High);
            let mut call = question(false);
            call.limits = ModelLimits {
                tokens_out_max: 3_000,
                tokens_thinking_max: thinking,
                ..ModelLimits::default()
            };
            Remote::new(endpoint, || 0).unwrap().answer(&call, &Progress::none()).await.unwrap();
            let (total, number) = bounds(wire, &server.seen()[0].body);
            assert_eq!(total, Some(3_000 + u64::from(thinking)), "{wire}");
            let is_number = matches!(wire, Wire::Anthropic | Wire::Gemini);
            assert_eq!(number, told.filter(|_| is_number), "{wire}");
            server.stop().await;
        }
    }
}
