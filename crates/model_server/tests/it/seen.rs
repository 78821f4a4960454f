//! What a script and a test see of a request, and what a real server would refuse.

use std::sync::Arc;

use expect_test::{Expect, expect};
use setpoint_model_server::{Answer, ModelServer, Said, SeenRequest, Turn, Wire};

use crate::client::Client;
use crate::requests;

async fn look(wire: Wire, is_streaming: bool, body: &str) -> (u16, String, SeenRequest) {
    let server = ModelServer::start(Arc::new(Turn::from(Answer::text("Yes.")))).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let reply = client.ask(&requests::request(wire, is_streaming, "m-1", body)).await;
    (reply.status, reply.text(), server.seen().remove(0))
}

/// Compares the content of a request, one entry per line.
async fn check(wire: Wire, body: &str, expected: &Expect) {
    let (status, text, seen) = look(wire, true, body).await;
    assert_eq!((status, &seen.problems), (200, &Vec::new()), "{text}");
    let asked = &seen.asked;
    let mut lines = format!(
        "{} {} {} streaming: {}\nsystem {:?}\n",
        seen.wire, seen.path, asked.model, seen.is_streaming, asked.system
    );
    for said in &asked.said {
        lines.push_str(&match said {
            Said::User(text) => format!("user {text:?}\n"),
            Said::Assistant(text) => format!("assistant {text:?}\n"),
            Said::Thought(text) => format!("thought {text:?}\n"),
            Said::Call { id, name, arguments } => format!("call {id:?} {name} {arguments}\n"),
            Said::Result { id, name, text } => format!("result {id:?} {name:?} {text:?}\n"),
        });
    }
    for tool in &asked.tools {
        lines.push_str(&format!("tool {} {:?} {}\n", tool.name, tool.description, tool.schema));
    }
    lines.push_str(&format!(
        "schema {:?} tokens {:?} context {:?} usage {} marks {}\n",
        asked.schema.as_ref().map(ToString::to_string),
        asked.tokens_max,
        asked.context,
        asked.wants_usage,
        asked.cache_marks,
    ));
    expected.assert_eq(&lines);
}

#[tokio::test]
async fn chat_completions_requests_are_read() {
    check(
        Wire::Chat,
        r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":9,"temperature":0.5,
        "reasoning_effort":"low","prompt_cache_key":"k","tool_choice":"auto",
        "response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"array"}}},
        "tools":[{"type":"function","function":{"name":"t","description":"d","parameters":{"type":"object"}}}],
        "messages":[{"role":"system","content":"s1"},{"role":"developer","content":[{"type":"text","text":"s2"}]},
        {"role":"user","content":[{"type":"text","text":"u1"},{"type":"text","text":"u2"}]},
        {"role":"assistant","content":"a","reasoning_content":"r","tool_calls":[
            {"id":"1","type":"function","function":{"name":"t","arguments":"{\"a\": 1}"}},
            {"id":"2","type":"function","function":{"name":"t","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"2","content":"r2"},{"role":"tool","tool_call_id":"1","content":"r1"}]}"#,
        &expect![[r#"
            chat /v1/chat/completions m streaming: true
            system "s1\ns2"
            user "u1u2"
            thought "r"
            assistant "a"
            call Some("1") t {"a": 1}
            call Some("2") t {}
            result Some("2") None "r2"
            result Some("1") None "r1"
            tool t "d" {"type":"object"}
            schema Some("{\"type\":\"array\"}") tokens Some(9) context None usage true marks 0
        "#]],
    )
    .await;
}

#[tokio::test]
async fn responses_requests_are_read() {
    check(
        Wire::Responses,
        r#"{"model":"m","stream":true,"instructions":"s1","max_output_tokens":9,"temperature":0,"prompt_cache_key":"k",
        "reasoning":{"effort":"high"},"text":{"format":{"type":"json_schema","name":"a","schema":{"type":"array"}}},
        "tools":[{"type":"function","name":"t","description":"d","parameters":{"type":"object"}},{"type":"web_search"}],
        "input":[{"role":"developer","content":"s2"},{"type":"message","role":"user","content":[{"type":"input_text","text":"u"}]},
        {"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"r"}]},
        {"role":"assistant","content":[{"type":"output_text","text":"a"}]},
        {"type":"function_call","call_id":"1","name":"t","arguments":"{}"},{"role":"user","content":"meanwhile"},
        {"type":"function_call_output","call_id":"1","output":"r1"}]}"#,
        &expect![[r#"
            responses /v1/responses m streaming: true
            system "s1\ns2"
            user "u"
            thought "r"
            assistant "a"
            call Some("1") t {}
            user "meanwhile"
            result Some("1") None "r1"
            tool t "d" {"type":"object"}
            schema Some("{\"type\":\"array\"}") tokens Some(9) context None usage true marks 0
        "#]],
    )
    .await;
}

#[tokio::test]
async fn anthropic_requests_are_read() {
    check(
        Wire::Anthropic,
        r#"{"model":"m","stream":true,"max_tokens":2000,"temperature":1,"thinking":{"type":"enabled","budget_tokens":1024},
        "system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"tool_choice":{"type":"auto"},
        "output_config":{"format":{"type":"json_schema","schema":{"type":"array"}}},
        "tools":[{"name":"t","description":"d","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],
        "messages":[{"role":"user","content":"u"},{"role":"assistant","content":[
            {"type":"thinking","thinking":"r","signature":"x"},{"type":"text","text":"a"},
            {"type":"tool_use","id":"1","name":"t","input":{"b":1,"a":2}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"r1"}]},
            {"type":"text","text":"more"}]}]}"#,
        &expect![[r#"
            anthropic /v1/messages m streaming: true
            system "s"
            user "u"
            thought "r"
            assistant "a"
            call Some("1") t {"a":2,"b":1}
            result Some("1") None "r1"
            user "more"
            tool t "d" {"type":"object"}
            schema Some("{\"type\":\"array\"}") tokens Some(2000) context None usage true marks 2
        "#]],
    )
    .await;
}

#[tokio::test]
async fn gemini_requests_are_read() {
    check(
        Wire::Gemini,
        r#"{"systemInstruction":{"parts":[{"text":"s"}]},
        "generationConfig":{"maxOutputTokens":9,"temperature":0.1,"responseMimeType":"application/json",
            "responseJsonSchema":{"type":"array"},"thinkingConfig":{"thinkingBudget":0}},
        "tools":[{"functionDeclarations":[{"name":"t","description":"d","parametersJsonSchema":{"type":"object"}}]}],
        "contents":[{"role":"user","parts":[{"text":"u"}]},
        {"role":"model","parts":[{"text":"r","thought":true},{"text":"a"},{"functionCall":{"name":"t","args":{"a":1}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"t","response":{"result":"r1"}}}]}]}"#,
        &expect![[r#"
            gemini /v1beta/models/m-1:streamGenerateContent m-1 streaming: true
            system "s"
            user "u"
            thought "r"
            assistant "a"
            call None t {"a":1}
            result None Some("t") "{\"result\":\"r1\"}"
            tool t "d" {"type":"object"}
            schema Some("{\"type\":\"array\"}") tokens Some(9) context None usage true marks 0
        "#]],
    )
    .await;
}

#[tokio::test]
async fn ollama_requests_are_read() {
    check(
        Wire::Ollama,
        r#"{"model":"m","format":{"type":"array"},"think":true,"options":{"num_ctx":8192,"num_predict":9,"temperature":0.2},
        "tools":[{"type":"function","function":{"name":"t","description":"d","parameters":{"type":"object"}}}],
        "messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},
        {"role":"assistant","content":"a","thinking":"r","tool_calls":[{"function":{"name":"t","arguments":{"a":1}}}]},
        {"role":"tool","tool_name":"t","content":"r1"}]}"#,
        &expect![[r#"
            ollama /api/chat m streaming: true
            system "s"
            user "u"
            thought "r"
            assistant "a"
            call None t {"a":1}
            result None Some("t") "r1"
            tool t "d" {"type":"object"}
            schema Some("{\"type\":\"array\"}") tokens Some(9) context Some(8192) usage true marks 0
        "#]],
    )
    .await;
}

/// Checks the first reason why a real server would refuse the request.
async fn refused(wire: Wire, body: &str, expected: &str) {
    let (status, text, seen) = look(wire, false, body).await;
    let problem = seen.problems.first().cloned().unwrap_or_default();
    assert_eq!((status, problem.as_str()), (400, expected), "{wire} {body} {text}");
    // The error is in the wire's own form, and the script was not asked.
    assert!(text.contains("error") && !text.contains("Yes."), "{text}");
}

#[tokio::test]
async fn requests_that_real_servers_refuse_are_refused() {
    let user = r#"{"role":"user","content":"u"}"#;
    let call = r#"{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":"{}"}}]}"#;
    let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"r"}}"#);
    let chat = |messages: &str| format!(r#"{{"model":"m","messages":[{messages}]}}"#);
    refused(Wire::Chat, "no JSON", "the body is no JSON object").await;
    refused(Wire::Chat, &format!(r#"{{"messages":[{user}]}}"#), "model: it is required").await;
    refused(Wire::Chat, &chat(""), "there is nothing to answer").await;
    refused(Wire::Chat, &chat(r#"{"role":"robot","content":"u"}"#), "messages[0]: there is no role 'robot'")
        .await;
    refused(Wire::Chat, &chat(&format!("{user},{call}")), "calls without a result: 1").await;
    refused(Wire::Chat, &chat(&format!("{user},{call},{user}")), "calls without a result: 1").await;
    let other = format!("{user},{call},{},{}", result("1"), result("2"));
    refused(Wire::Chat, &chat(&other), "a result for the call '2', which is not open").await;
    let object = call.replace(r#""{}""#, "{}");
    let object = chat(&format!("{user},{object},{}", result("1")));
    refused(Wire::Chat, &object, "messages[1]: the arguments of a call must be a string").await;
    let tool = |name: &str| {
        format!(
            r#"{{"model":"m","messages":[{user}],"tools":[{{"type":"function","function":{{"name":"{name}"}}}}]}}"#
        )
    };
    refused(Wire::Chat, &tool("a b"), "tools: 'a b' is no name for a tool").await;
    refused(
        Wire::Chat,
        &tool(&"x".repeat(65)),
        &format!("tools: '{}' is no name for a tool", "x".repeat(65)),
    )
    .await;
    let strict = |schema: &str| {
        format!(
            r#"{{"model":"m","messages":[{user}],"response_format":{{"type":"json_schema","json_schema":{{"name":"a","strict":true,"schema":{schema}}}}}}}"#
        )
    };
    refused(
        Wire::Chat,
        &strict(r#"{"type":"array","items":{"type":"object","properties":{}}}"#),
        "answer's schema: additionalProperties must be false",
    )
    .await;
    refused(
        Wire::Chat,
        &strict(
            r#"{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{},"b":{}}}"#,
        ),
        "answer's schema: 'b' must be required",
    )
    .await;

    let orphan = r#"{"model":"m","input":[{"type":"function_call_output","call_id":"1","output":"r"}]}"#;
    refused(Wire::Responses, orphan, "there is no call '1' for this output").await;
    let open =
        r#"{"model":"m","input":[{"type":"function_call","call_id":"1","name":"t","arguments":"{}"}]}"#;
    refused(Wire::Responses, open, "the call '1' has no output").await;

    refused(Wire::Anthropic, &chat(user), "max_tokens: a number of at least 1 is required").await;
    let system = r#"{"model":"m","max_tokens":1,"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}"#;
    refused(Wire::Anthropic, system, "messages[0]: there is no role 'system'").await;
    let empty =
        r#"{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}"#;
    refused(Wire::Anthropic, empty, "messages[0]: text blocks must not be empty").await;

    let thinking = |rest: &str, messages: &str| {
        format!(
            r#"{{"model":"m","max_tokens":2000,"thinking":{{"type":"enabled","budget_tokens":1024}}{rest},"messages":[{messages}]}}"#
        )
    };
    let small = thinking("", user).replace("1024", "1000");
    refused(Wire::Anthropic, &small, "thinking.budget_tokens: at least 1024 are required").await;
    let large = thinking("", user).replace("1024", "2000");
    refused(Wire::Anthropic, &large, "max_tokens: more than thinking.budget_tokens are required").await;
    let forced = thinking(r#","tool_choice":{"type":"any"}"#, user);
    refused(Wire::Anthropic, &forced, "tool_choice: a call cannot be forced while thinking").await;
    let cold = thinking(r#","temperature":0.5"#, user);
    refused(Wire::Anthropic, &cold, "temperature: while thinking it is 1").await;
    let use_tool = r#"{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{}},{"type":"tool_use","id":"2","name":"t","input":{}}]}"#;
    let results = |ids: &[&str], last: &str| {
        let results = ids
            .iter()
            .map(|id| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"r"}}{last}"#));
        format!(r#"{{"role":"user","content":[{}]}}"#, results.collect::<Vec<_>>().join(","))
    };
    let both = format!("{user},{use_tool},{}", results(&["1", "2"], ""));
    refused(
        Wire::Anthropic,
        &thinking("", &both),
        "while thinking, a message with calls begins with what was thought",
    )
    .await;
    let plain = |messages: &str| format!(r#"{{"model":"m","max_tokens":9,"messages":[{messages}]}}"#);
    let apart = format!("{user},{use_tool},{},{}", results(&["1"], ""), results(&["2"], ""));
    refused(Wire::Anthropic, &plain(&apart), "messages[2]: the result of the call '2' is missing").await;
    let never = format!("{user},{use_tool}");
    refused(Wire::Anthropic, &plain(&never), "the result of the call '1' is missing").await;
    let orphan = format!("{user},{}", results(&["1"], ""));
    refused(Wire::Anthropic, &plain(&orphan), "messages[1]: there is no call '1' in the message before")
        .await;
    let late = format!("{user},{use_tool},{}", results(&["1", "2"], r#",{"type":"text","text":"t"}"#));
    refused(Wire::Anthropic, &plain(&late), "messages[2]: results must come before everything else").await;
    let mark = r#"{"type":"text","text":"t","cache_control":{"type":"ephemeral"}}"#;
    let marks = plain(&format!(r#"{{"role":"user","content":[{}]}}"#, [mark; 5].join(",")));
    refused(Wire::Anthropic, &marks, "cache_control: at most 4 blocks may have it").await;

    let no_tools = format!(r#"{{"model":"m","messages":[{user}],"tools":[]}}"#);
    refused(Wire::Chat, &no_tools, "tools: an empty list is no list of tools").await;
    let any_json =
        format!(r#"{{"model":"m","messages":[{user}],"response_format":{{"type":"json_object"}}}}"#);
    refused(Wire::Chat, &any_json, "who wants a json_object must speak of 'json'").await;

    let words = r#"{"contents":[{"parts":[{"text":"u"}]}],"tools":[{"functionDeclarations":[{"name":"t","parameters":{"type":"object","properties":{"$any":{"type":"array","items":{"type":"object","additionalProperties":false}}}}}]}]}"#;
    refused(Wire::Gemini, words, "a schema has the unknown name 'additionalProperties'").await;
    let unanswered = r#"{"contents":[{"role":"model","parts":[{"functionCall":{"name":"t","args":{}}}]},{"role":"user","parts":[{"text":"u"}]}]}"#;
    refused(Wire::Gemini, unanswered, "contents[1]: 0 results for 1 calls").await;
    let digit =
        r#"{"contents":[{"parts":[{"text":"u"}]}],"tools":[{"functionDeclarations":[{"name":"1t"}]}]}"#;
    refused(Wire::Gemini, digit, "tools: '1t' is no name for a tool").await;

    let text = r#"{"model":"m","messages":[{"role":"user","content":"u"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"t","arguments":"{}"}}]}]}"#;
    refused(Wire::Ollama, text, "messages[1]: the arguments of a call must be an object").await;
}

#[tokio::test]
async fn requests_that_real_servers_accept_are_accepted() {
    for (wire, body) in [
        (
            Wire::Chat,
            r#"{"model":"m","messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a","tool_calls":[
                {"id":"1","type":"function","function":{"name":"t","arguments":"{}"}},
                {"id":"2","type":"function","function":{"name":"t","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"2","content":"r"},{"role":"tool","tool_call_id":"1","content":"r"},
            {"role":"assistant","tool_calls":[{"id":"3","type":"function","function":{"name":"t","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"3","content":"r"},{"role":"user","content":"more"}]}"#,
        ),
        (
            Wire::Chat,
            r#"{"model":"m","messages":[{"role":"user","content":"As JSON."}],"response_format":{"type":"json_object"}}"#,
        ),
        (
            Wire::Responses,
            r#"{"model":"m","previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"1","output":"r"}]}"#,
        ),
        (
            Wire::Anthropic,
            r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"u"},{"role":"assistant","content":[
                {"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"t","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r"},{"type":"text","text":"t"}]},
            {"role":"assistant","content":"done"},{"role":"user","content":"more"}]}"#,
        ),
        (
            Wire::Gemini,
            r#"{"contents":[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[
                {"functionCall":{"name":"t","args":{}}},{"functionCall":{"name":"t","args":{}}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"t","response":{}}},
                {"functionResponse":{"name":"t","response":{}}}]}],
            "tools":[{"functionDeclarations":[{"name":"t","parameters":{"type":"object","properties":{"$any":{"type":"string"}}}}]}]}"#,
        ),
    ] {
        let (status, text, seen) = look(wire, false, body).await;
        assert_eq!((status, seen.problems.as_slice()), (200, &[][..]), "{wire} {text}");
    }
}

#[tokio::test]
async fn a_missing_version_or_event_stream_is_refused() {
    let server = ModelServer::start(Arc::new(Turn::from(Answer::text("Yes.")))).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let mut request = requests::plain(Wire::Anthropic, false);
    request.headers.retain(|(name, _)| *name != "anthropic-version");
    assert_eq!(client.ask(&request).await.status, 400);
    let mut request = requests::plain(Wire::Gemini, true);
    request.target = request.target.replace("?alt=sse", "");
    assert_eq!(client.ask(&request).await.status, 400);
    let problems: Vec<String> = server.seen().into_iter().flat_map(|seen| seen.problems).collect();
    expect![[r#"
        [
            "anthropic-version: the header is required",
            "alt=sse: streams come as events here, and only so",
        ]
    "#]]
    .assert_debug_eq(&problems);
}

#[tokio::test]
async fn helpers_find_what_scripts_need() {
    let (_, _, seen) = look(
        Wire::Chat,
        false,
        r#"{"model":"m","messages":[{"role":"user","content":"one"},
        {"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"1","content":"r"},{"role":"user","content":"two"}]}"#,
    )
    .await;
    assert_eq!(seen.asked.last_user(), Some("two"));
    assert_eq!(seen.asked.results().collect::<Vec<_>>(), ["r"]);
    assert_eq!(seen.asked.call_ids().collect::<Vec<_>>(), ["1"]);
    assert_eq!(seen.headers["authorization"], format!("Bearer {}", requests::SECRET));
    assert_eq!(seen.nth, 0);
}
