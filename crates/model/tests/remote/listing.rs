//! Lists of models: every wire, and every fault that can strike one.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use setpoint_model::remote::listing::{LIST_BYTES_MAX, ListOutcome, Lister};
use setpoint_model_server::{
    Answer, Fault, Listing, Measures, ModelInfo, ModelServer, Script, SeenRequest, Turn, Wire,
};

use crate::support::{canned, endpoint};

/// A server with these models, and a fault in its list.
struct With(Vec<ModelInfo>, Option<Fault>);

impl Script for With {
    fn turn(&self, _: &SeenRequest) -> Turn {
        Answer::text("no").into()
    }

    fn listing(&self, _: &SeenRequest) -> Listing {
        Listing { models: self.0.clone(), fault: self.1.clone() }
    }
}

async fn listed(wire: Wire, address: &str) -> String {
    let lister = Lister::new(Duration::from_secs(20));
    match lister.list(&endpoint(wire, address, false)).await {
        Ok(ListOutcome::Offer(offer)) => {
            let names: Vec<String> = offer.models.into_iter().map(|model| model.name).collect();
            format!("{}{}", names.join(", "), if offer.is_whole { "" } else { ", and others" })
        }
        Ok(ListOutcome::NoList { status }) => format!("no list ({status})"),
        Err(error) => {
            let hint = error.failure.hints.first().map(|hint| format!("; {hint}")).unwrap_or_default();
            format!("{:?}: {}{hint}", error.failure.kind, error.failure.reason)
        }
    }
}

#[tokio::test]
async fn a_list_comes_through_every_wire() {
    for wire in Wire::ALL {
        let models = vec![ModelInfo::new("big:70b"), ModelInfo::new("small")];
        let server = ModelServer::start(Arc::new(With(models, None))).await.unwrap();
        assert_eq!(listed(wire, &server.base(wire)).await, "big:70b, small", "{wire}");
        // With the key in the header of the wire, and as a GET.
        let seen = server.seen();
        assert_eq!((seen.len(), seen[0].method.as_str()), (1, "GET"));
        let header = match wire {
            Wire::Anthropic => "x-api-key",
            Wire::Gemini => "x-goog-api-key",
            _ => "authorization",
        };
        assert!(seen[0].headers[header].contains("very-secret"), "{wire}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_fault_of_a_list_is_a_typed_end() {
    let measures = Measures { bomb_bytes: 8 << 20, ..Measures::default() };
    let mut found = String::new();
    for fault in Fault::all_with(&measures).into_iter().filter(|fault| fault.number() <= 28) {
        let name = fault.name();
        let script = With(vec![ModelInfo::new("m")], Some(fault));
        let server = ModelServer::start(Arc::new(script)).await.unwrap();
        let line = listed(Wire::Chat, &server.base(Wire::Chat)).await;
        assert!(!line.contains("very-secret"), "{line}");
        writeln!(found, "{name}: {line}").unwrap();
    }
    expect![[r#"
        refuse_connect: Unavailable: the request failed: client error (SendRequest): connection error: Connection reset by peer (os error 104)
        hang: Timeout: the server did not answer within 20000 ms; check the address and the proxy variables, and that the server is not stuck
        dns_failure: m
        tls_garbage: Unable: the request failed: client error (SendRequest): invalid HTTP version parsed; the program there is not a web server, or needs https://: check the address and its port
        reset_before_head: Unavailable: the request failed: client error (SendRequest): connection error: Connection reset by peer (os error 104)
        reset_in_body: Unavailable: the answer broke off: error reading a body from connection: Connection reset by peer (os error 104)
        half_close: Unavailable: the answer broke off: error reading a body from connection: end of file before message length reached
        drip: Timeout: the server did not answer within 20000 ms; check the address and the proxy variables, and that the server is not stuck
        pause_in_body: Timeout: the server did not answer within 20000 ms; check the address and the proxy variables, and that the server is not stuck
        end_without_done: m
        truncated_chunks: Unavailable: the answer broke off: error reading a body from connection: end of file before message length reached
        length_says_more: Unavailable: the answer broke off: error reading a body from connection: end of file before message length reached
        length_says_less: Unable: the server's answer is not a list of models; check the address: another program or a proxy may answer there
        length_is_a_word: Unavailable: the request failed: client error (SendRequest): invalid content-length parsed
        gzip_bomb: m
        redirect_loop: Unable: the server answered 307; the address moved: set the new one, because redirects are not followed with a key
        context_too_long: TooLong: the server answered 400 (context_length_exceeded): The maximum context length is 128000 tokens; 210000 were sent.; choose a model with a larger window, or state its `window_tokens` in `models.toml`: prompts are then cut to it
        tool_pairing: Unable: the server answered 400 (invalid_request_error): An assistant message with 'tool_calls' has no tool message for: call_x
        unauthorized: Refused: the server answered 401 (invalid_api_key): The API key is not valid.; check the key: `setpoint models` shows where it is taken from
        unauthorized_as_400: m
        quota_spent: Refused: the server answered 402 (insufficient_quota): The quota is used up; see the plan and its billing.; pay for the account, or choose another provider
        quota_spent_as_429: Refused: the server answered 429 (insufficient_quota): The quota is used up; see the plan and its billing.; pay for the account, or choose another provider
        forbidden: Refused: the server answered 403 (permission_denied): The key may not use this model.; check the key: `setpoint models` shows where it is taken from
        model_not_found: no list (404)
        request_timeout: Unavailable: the server answered 408 (timeout): The request took too long.
        too_large: TooLong: the server answered 413 (invalid_request_error): The request is too large.; choose a model with a larger window, or state its `window_tokens` in `models.toml`: prompts are then cut to it
        rate_limited_seconds: Unavailable: the server answered 429 (rate_limit_exceeded): The limit of requests per minute is reached.
        rate_limited_date: Unavailable: the server answered 429 (rate_limit_exceeded): The limit of requests per minute is reached.
        rate_limited_for_ages: Unavailable: the server answered 429 (rate_limit_exceeded): The limit of requests per minute is reached.
        rate_limited_overflow: Unavailable: the server answered 429 (rate_limit_exceeded): The limit of requests per minute is reached.
        rate_limited_negative: Unavailable: the server answered 429 (rate_limit_exceeded): The limit of requests per minute is reached.
        rate_limited_word: Unavailable: the server answered 429 (rate_limit_exceeded): The limit of requests per minute is reached.
        rate_limited_unsaid: Unavailable: the server answered 429 (rate_limit_exceeded): The limit of requests per minute is reached.
        internal_error: Unable: the server answered 500 (server_error): The server had an error.; the server fails on this question: check its log, try again later, or choose another model with `--model`
        bad_gateway: Unavailable: the server answered 502
        unavailable_storm: Unavailable: the server answered 503 (server_is_overloaded): The service is unavailable.
        overloaded: Unavailable: the server answered 529 (server_is_overloaded): Overloaded
        error_with_ok: Unable: the server's answer is not a list of models; check the address: another program or a proxy may answer there
        error_after_text: m
    "#]].assert_eq(&found);
}

#[tokio::test]
async fn what_is_no_list_is_said_and_a_list_without_end_is_not_read() {
    let (address, _server) = canned(|path, _| match path {
        "/none/models" => (404, String::new()),
        "/page/models" => (200, "<html>hello</html>".to_owned()),
        "/deep/models" => (200, "[".repeat(100_000)),
        "/large/models" => (200, "x".repeat(LIST_BYTES_MAX + 1)),
        "/names/models" => (200, "{\"data\": [{\"id\": \"a\\u001b[2Jb\"}, {\"id\": \"sound\"}]}".to_owned()),
        _ => (500, "{\"error\": \"sk-very-secret-0123456789 is not known\"}".to_owned()),
    })
    .await;
    let mut found = String::new();
    for place in ["none", "page", "deep", "large", "names", "other"] {
        writeln!(found, "{place}: {}", listed(Wire::Chat, &format!("{address}/{place}")).await).unwrap();
    }
    expect![[r#"
        none: no list (404)
        page: Unable: the server's answer is not a list of models; check the address: another program or a proxy may answer there
        deep: Unable: the server's answer is not a list of models; check the address: another program or a proxy may answer there
        large: Unavailable: the server sent a list of more than 4194304 bytes; check the address: another program or a proxy may answer there
        names: sound, and others
        other: Unable: the server answered 500: {secret} is not known; the server fails on this question: check its log, try again later, or choose another model with `--model`
    "#]].assert_eq(&found);
}

/// Names are shown, and written into a first configuration.
#[tokio::test]
async fn a_name_with_the_key_is_left_out() {
    let key = endpoint(Wire::Chat, "http://h", false).key.unwrap();
    let key = secrecy::ExposeSecret::expose_secret(&key).to_owned();
    let reversed: String = key.chars().rev().collect();
    for name in [key.clone(), format!("org/{key}:8b"), reversed] {
        let models = vec![ModelInfo::new("small"), ModelInfo::new(&name)];
        let server = ModelServer::start(Arc::new(With(models, None))).await.unwrap();
        assert_eq!(listed(Wire::Chat, &server.base(Wire::Chat)).await, "small, and others", "{name}");
    }
}

#[tokio::test]
async fn ollama_tells_what_it_is_and_what_its_models_could_have() {
    let model = ModelInfo { context: 40_960, has_tools: false, ..ModelInfo::new("q:8b") };
    let server = ModelServer::start(Arc::new(With(vec![model], None))).await.unwrap();
    let endpoint_of = |address: &str| endpoint(Wire::Ollama, address, false);
    let lister = Lister::new(Duration::from_secs(20));
    assert!(lister.is_ollama(&endpoint_of(&server.base(Wire::Ollama))).await);
    let details = lister.details(&endpoint_of(&server.base(Wire::Ollama)), "q:8b").await;
    let said = (details.window_tokens, details.answers, details.tools);
    assert_eq!(said, (Some(40_960), Some(true), Some(false)));
    let (address, _server) = canned(|_, _| (200, "{}".to_owned())).await;
    assert!(!lister.is_ollama(&endpoint_of(&address)).await);
    assert_eq!(lister.details(&endpoint_of(&address), "q:8b").await, Default::default());
}
