//! What is found out of a model by asking it: one that can do everything, ones that lack something, and servers that
//! misbehave in every phase.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::expect;
use setpoint_model::remote::Remote;
use setpoint_model::remote::probe::{CONTEXT_TOKENS_MAX, ProbeReport, probe};
use setpoint_model::wire::Dialect;
use setpoint_model_server::{
    Answer, Delay, Fault, Finish, ModelServer, SeenRequest, Turn, Usage, Wire, refused_address,
};

use crate::support::{canned, endpoint};

/// What the question at hand is about.
fn phase(seen: &SeenRequest) -> &'static str {
    let user = seen.asked.last_user().unwrap_or_default();
    [("ready", "answers"), ("report_number", "tools"), ("colour", "schema"), ("code word", "context")]
        .into_iter()
        .find_map(|(word, phase)| user.contains(word).then_some(phase))
        .unwrap_or("nothing")
}

/// A model that does what it is asked to.
fn able(seen: &SeenRequest) -> Turn {
    let answer = match phase(seen) {
        "answers" => Answer::text("Ready."),
        "tools" if seen.asked.tools.is_empty() => {
            Answer::text(r#"{"tool": "report_number", "input": {"number": 7}}"#)
        }
        "tools" => Answer::call("report_number", r#"{"number": 7}"#),
        "schema" => Answer::text(r#"{"colour": "red", "letters": 3}"#),
        "context" => Answer::text("QUINTEL-4187"),
        _ => Answer::text("?"),
    };
    answer.into()
}

fn shown(probed: &ProbeReport) -> String {
    let mut text = String::new();
    for finding in &probed.findings {
        writeln!(text, "{:?}: {}", finding.outcome, finding.text).unwrap();
        if let Some(hint) = &finding.hint {
            writeln!(text, "      {hint}").unwrap();
        }
    }
    text
}

async fn probed(wire: Wire, is_streamed: bool, server: &ModelServer) -> ProbeReport {
    let mut endpoint = endpoint(wire, &server.base(wire), is_streamed);
    endpoint.name = "local/test-model".to_owned();
    endpoint.window_tokens = Some(32_768);
    probe(&Remote::new(endpoint, || 0).unwrap()).await
}

/// What is found with this turn in place of an able model's in one phase.
async fn with(phase_of: &'static str, turn: impl Into<Turn>) -> String {
    let turn = turn.into();
    let script = move |seen: &SeenRequest| if phase(seen) == phase_of { turn.clone() } else { able(seen) };
    let server = ModelServer::start(Arc::new(script)).await.unwrap();
    let probed = probed(Wire::Chat, false, &server).await;
    // Only what another able model would not have given.
    let mut text = String::new();
    for line in shown(&probed).lines() {
        if !line.starts_with("Good") {
            writeln!(text, "{line}").unwrap();
        }
    }
    writeln!(text, "{} calls", probed.calls).unwrap();
    text
}

#[tokio::test]
async fn an_able_model_is_found_able_on_every_wire() {
    for wire in Wire::ALL {
        for is_streamed in [false, true] {
            let server = ModelServer::start(Arc::new(able)).await.unwrap();
            let probed = probed(wire, is_streamed, &server).await;
            let text = shown(&probed);
            expect![[r#"
                Good: answers
                Good: calls tools through the provider's interface
                Good: follows a JSON Schema
                Good: reads a question of about 24000 tokens to its end; its window of 32768 was not tested in full
            "#]]
            .assert_eq(&text);
            assert_eq!(probed.calls, 4);
            // The report has the server's counts, and the requests never exceed the announced cost.
            let served: i128 = server.served().iter().filter_map(|one| one.input_tokens).sum();
            assert_eq!(i128::from(probed.usage.tokens_in), served, "{wire}");
            assert!(probed.usage.tokens_in < 2 * CONTEXT_TOKENS_MAX && probed.usage.tokens_out > 0);
        }
    }
}

#[tokio::test]
async fn what_a_model_lacks_is_named_with_what_to_do() {
    let mut found = String::new();
    for (phase, turn) in [
        ("answers", Turn::from(Answer::text("Certainly! How can I help?"))),
        ("answers", Turn::from(Answer::text(""))),
        ("answers", Turn::from(Answer::text("").after_thinking("hm").ended_by(Finish::Length))),
        ("tools", Turn::from(Answer::text(r#"{"tool": "report_number", "input": {"number": 7}}"#))),
        ("tools", Turn::from(Answer::text("I would call the tool now."))),
        ("tools", Turn::from(Answer::call("report_number", r#"{"number": "seven"}"#))),
        ("tools", Turn::from(Answer::call("report_numbers", r#"{"number": 7}"#))),
        ("schema", Turn::from(Answer::text("Red has three letters."))),
        ("schema", Turn::from(Answer::text(r#"{"colour": "red"}"#))),
        ("context", Turn::from(Answer::text("There is no code word."))),
        ("context", Turn::from(Fault::ContextTooLong)),
        (
            "context",
            Turn::from(Answer::text("QUINTEL-4187").costing(Usage {
                input: 4_096,
                cached: 0,
                output: 4,
                reasoning: 0,
            })),
        ),
    ] {
        let what = with(phase, turn).await;
        writeln!(found, "{phase}\n{what}").unwrap();
    }
    expect![[r#"
        answers
        Note: answers, but not with the one word that was asked for
              it may be too weak for a task: expect repairs and replans
        4 calls

        answers
        Bad: gives an empty answer
              choose another model: this one gives empty answers
        1 calls

        answers
        Bad: thinks for 2048 tokens without coming to an answer
              let it think less (`models.brain_effort`, `models.tool_effort`)
        1 calls

        tools
        Note: does not call the tool that it is given; calls them in its text, which is enough
              set `providers.local.tools = false`: then it is not tried first each time
        5 calls

        tools
        Bad: does not call the tool that it is given, and cannot call them in its text either
              choose another model for R3 (`models.tool`, or `models.executor`)
        5 calls

        tools
        Bad: calls a tool with an input that does not fit its schema, and cannot call them in its text either
              choose another model for R3 (`models.tool`, or `models.executor`)
        5 calls

        tools
        Bad: calls a tool that does not exist, and cannot call them in its text either
              choose another model for R3 (`models.tool`, or `models.executor`)
        5 calls

        schema
        Bad: does not follow a JSON Schema, and writes no JSON that can be read either
              choose another model: without JSON there is no plan and no verdict
        5 calls

        schema
        Bad: does not follow a JSON Schema, and writes no JSON that can be read either
              choose another model: without JSON there is no plan and no verdict
        5 calls

        context
        Bad: loses the beginning of a question of about 24000 tokens
              state the real `window_tokens` of local/test-model in `models.toml`: prompts are then cut to it
        4 calls

        context
        Bad: its window is smaller than the 32768 tokens it is said to have
              state the real `window_tokens` of local/test-model in `models.toml`: prompts are then cut to it
        4 calls

        context
        Bad: its server read 4096 tokens of a question of at least 10821, and did not say so
              state the real `window_tokens` of local/test-model in `models.toml`: prompts are then cut to it
        4 calls

    "#]]
    .assert_eq(&found);
}

/// A model that refuses an interface, and does the same in words.
#[tokio::test]
async fn an_interface_that_is_refused_is_done_without() {
    let (address, _server) = canned(|path, body| {
        let user = body.to_owned();
        let says = |text: &str| {
            let message = serde_json::json!({ "role": "assistant", "content": text });
            let whole = serde_json::json!({
                "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
                "usage": { "prompt_tokens": 20_000, "completion_tokens": 3 },
            });
            (200, whole.to_string())
        };
        let refuses = |text: &str| (400, serde_json::json!({ "error": { "message": text } }).to_string());
        match path {
            "/v1/chat/completions" if user.contains("\"tools\"") => refuses("llama does not support tools"),
            "/v1/chat/completions" if user.contains("json_schema") => {
                refuses("response_format is not supported by this engine")
            }
            "/v1/chat/completions" if user.contains("report_number") => {
                says(r#"<think>A call.</think>{"tool": "report_number", "input": {"number": 7}}"#)
            }
            "/v1/chat/completions" if user.contains("colour") => {
                says("```json\n{\"colour\": \"red\", \"letters\": 3}\n```")
            }
            "/v1/chat/completions" if user.contains("code word") => says("quintel-4187"),
            _ => says("ready"),
        }
    })
    .await;
    let mut endpoint = endpoint(Wire::Chat, &address, false);
    endpoint.name = "local/test-model".to_owned();
    endpoint.window_tokens = Some(8_192);
    let probed = probe(&Remote::new(endpoint, || 0).unwrap()).await;
    expect![[r#"
        Good: answers
        Note: takes no tools through the provider's interface; calls them in its text, which is enough
              set `providers.local.tools = false`: then it is not tried first each time
        Note: takes no JSON Schema; writes JSON when asked to, which is enough
              set `providers.local.schema = false`: then it is not tried first each time
        Good: reads a question of about 6553 tokens to its end, in a window of 8192
    "#]]
    .assert_eq(&shown(&probed));
    assert_eq!(probed.calls, 6);
}

#[tokio::test]
async fn what_the_configuration_says_is_not_asked() {
    let server = ModelServer::start(Arc::new(able)).await.unwrap();
    let mut endpoint = endpoint(Wire::Ollama, &server.base(Wire::Ollama), true);
    (endpoint.takes_tools, endpoint.takes_schema, endpoint.window_tokens) = (false, false, None);
    let probed = probe(&Remote::new(endpoint, || 0).unwrap()).await;
    expect![[r#"
        Good: answers
        Note: takes no tools through the provider's interface; calls them in its text, which is enough
        Note: takes no JSON Schema; writes JSON when asked to, which is enough
        Note: reads a question of about 6553 tokens to its end; the size of its window is not known
              state the `window_tokens` of the-model in `models.toml`: prompts are then cut to it
    "#]]
    .assert_eq(&shown(&probed));
    assert_eq!(probed.calls, 4);
    assert!(server.seen().iter().all(|seen| seen.asked.tools.is_empty() && seen.asked.schema.is_none()));
}

/// Where nothing is known of a window, what a task needs is tried.
#[tokio::test]
async fn a_window_that_is_not_known_is_tried_as_far_as_a_task_needs_it() {
    let usage = Usage { input: 4_096, cached: 0, output: 2, reasoning: 0 };
    let cut = Usage { input: 2_048, ..usage };
    let mut found = String::new();
    for (wire, turn) in [
        (Wire::Chat, Turn::from(Answer::text("QUINTEL-4187"))),
        (Wire::Chat, Turn::from(Answer::text("None.").costing(usage))),
        (Wire::Ollama, Turn::from(Answer::text("None.").costing(cut))),
        (Wire::Chat, Turn::from(Fault::ContextTooLong)),
    ] {
        let script =
            move |seen: &SeenRequest| if phase(seen) == "context" { turn.clone() } else { able(seen) };
        let server = ModelServer::start(Arc::new(script)).await.unwrap();
        let endpoint = endpoint(wire, &server.base(wire), true);
        let probed = probe(&Remote::new(endpoint, || 0).unwrap()).await;
        let context =
            ProbeReport { findings: probed.findings.into_iter().skip(3).collect(), ..ProbeReport::default() };
        found.push_str(&shown(&context));
        assert!(probed.usage.tokens_in < 20_000, "finding out costs little");
    }
    expect![[r#"
        Note: reads a question of about 6553 tokens to its end; the size of its window is not known
              state the `window_tokens` of the-model in `models.toml`: prompts are then cut to it
        Bad: loses the beginning of a question of about 6553 tokens
              let the server give the-model a larger window, or choose another model: a task needs 8192 tokens
        Bad: its server read 2048 tokens of a question of at least 2984, and did not say so
              let the server give the-model a larger window, or choose another model: a task needs 8192 tokens
        Bad: its window is smaller than the 8192 tokens that a task needs
              let the server give the-model a larger window, or choose another model: a task needs 8192 tokens
    "#]]
    .assert_eq(&found);
}

/// The window is asked for, and a server that gives less and cuts without a word is found out.
#[tokio::test]
async fn an_ollama_that_cuts_without_a_word_is_found_out() {
    let cut = |seen: &SeenRequest| {
        let usage = Usage { input: 2_048, cached: 0, output: 2, reasoning: 0 };
        if phase(seen) == "context" { Turn::from(Answer::text("None.").costing(usage)) } else { able(seen) }
    };
    let server = ModelServer::start(Arc::new(cut)).await.unwrap();
    let mut endpoint = endpoint(Wire::Ollama, &server.base(Wire::Ollama), true);
    endpoint.window_tokens = Some(16_384);
    assert_eq!(endpoint.dialect, Dialect::Ollama);
    let probed = probe(&Remote::new(endpoint, || 0).unwrap()).await;
    let last = probed.findings.last().unwrap();
    expect!["Bad: its server read 2048 tokens of a question of at least 5933, and did not say so; let the server give the-model a larger window, or state its real `window_tokens` in `models.toml`"].assert_eq(&format!(
        "{:?}: {}; {}",
        last.outcome,
        last.text,
        last.hint.as_deref().unwrap_or("")
    ));
    assert!(server.seen().iter().all(|seen| seen.asked.context == Some(16_384)));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_misbehaves_gives_one_bad_line_and_no_hang() {
    let mut found = String::new();
    for fault in [
        Fault::Hang(Delay::Ever),
        Fault::ResetBeforeHead,
        Fault::ResetInBody,
        Fault::TlsGarbage,
        Fault::Unauthorized,
        Fault::ModelNotFound,
        Fault::InternalError,
        Fault::BadGateway,
        Fault::RedirectLoop,
        Fault::GzipBomb(8 << 20),
        Fault::HugeText(20 << 20),
        Fault::CutInText,
        Fault::EmptyReply,
        Fault::NullContent,
    ] {
        let name = fault.name();
        let script = move |_: &SeenRequest| Turn::from(fault.clone());
        let server = ModelServer::start(Arc::new(script)).await.unwrap();
        let probed = probed(Wire::Chat, true, &server).await;
        assert!(!shown(&probed).contains("very-secret"));
        writeln!(found, "# {name}, {} calls\n{}", probed.calls, shown(&probed)).unwrap();
    }
    let refused = refused_address().unwrap();
    let endpoint = endpoint(Wire::Chat, &refused.base(Wire::Chat), true);
    let probed = probe(&Remote::new(endpoint, || 0).unwrap()).await;
    let base = refused.base(Wire::Chat);
    let place = base.split('/').nth(2).unwrap();
    writeln!(found, "# refused\n{}", shown(&probed).replace(place, "HOST:PORT")).unwrap();
    expect![[r#"
        # hang, 1 calls
        Bad: does not answer: no answer came within 120000 ms
              raise `models.idle_ms` if the model is that slow

        # reset_before_head, 1 calls
        Bad: does not answer: the request failed: client error (SendRequest): connection error: Connection reset by peer (os error 104)
              try again later; if this persists, choose another model

        # reset_in_body, 1 calls
        Bad: does not answer: the answer broke off: error reading a body from connection: Connection reset by peer (os error 104)
              try again later; if this persists, choose another model

        # tls_garbage, 1 calls
        Bad: does not answer: the request failed: client error (SendRequest): invalid HTTP version parsed
              the program there is not a web server, or needs https://: check the address and its port

        # unauthorized, 1 calls
        Bad: does not answer: the server answered 401 (invalid_api_key): The API key is not valid.
              check the key: `setpoint models` shows where it is taken from

        # model_not_found, 1 calls
        Bad: does not answer: the server answered 404 (model_not_found): The model `test-model` does not exist.
              check the model's name and the address: `setpoint models --all` lists what the server has

        # internal_error, 1 calls
        Bad: does not answer: the server answered 500 (server_error): The server had an error.
              the server fails on this question: check its log, try again later, or choose another model with `--model`

        # bad_gateway, 1 calls
        Bad: does not answer: the server answered 502
              try again later; if this persists, choose another model

        # redirect_loop, 1 calls
        Bad: does not answer: the server answered 307
              the address moved: set the new one, because redirects are not followed with a key

        # gzip_bomb, 1 calls
        Bad: does not answer: the server compressed its answer, which was not allowed
              check for a proxy between here and the model that compresses answers

        # huge_text, 1 calls
        Bad: does not answer: read an answer's text of more than 131072 bytes
              no answer is that large: try another model, or check which program answers at its address

        # cut_in_text, 1 calls
        Bad: does not answer: read the answer to its end: the connection ended before it
              if this persists, try `models.stream = false`: a proxy may cut streamed answers

        # empty_reply, 1 calls
        Bad: gives an empty answer
              choose another model: this one gives empty answers

        # null_content, 1 calls
        Bad: gives an empty answer
              choose another model: this one gives empty answers

        # refused
        Bad: does not answer: could not connect: client error (Connect): tcp connect error: Connection refused (os error 111)
              check the model's address (HOST:PORT) and the proxy variables, and that its server runs

    "#]].assert_eq(&found);
}
