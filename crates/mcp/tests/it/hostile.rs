//! Servers that hang, flood, die and lie.

use serde_json::{Value, json};
use setpoint_mcp::{
    CALL_MS_MAX, CONNECT_MS_MAX, DEFINITION_BYTES_MAX, MESSAGE_BYTES_MAX, McpError, Outcome, PAGES_MAX,
    Server, TOOLS_MAX, TURN_BYTES_MAX,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::scripted::{Reply, Scripted, arguments, discovered, text, tool};

/// Calls the usual tool of a server.
async fn echo(server: &Server, text: &str) -> Result<Outcome, McpError> {
    let listing = server.tools().await?;
    let echo = listing.tools.iter().find(|tool| tool.name == "echo").unwrap();
    server.call(echo, arguments(text), &CancellationToken::new()).await
}

/// Calls a server which answers the call so.
async fn called(reply: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Result<Outcome, McpError> {
    let (server, _) = Scripted::server(move |method, _, id, _| (method == "tools/call").then(|| reply(id)));
    echo(&server, "x").await
}

/// Lists the tools of a server which answers so.
async fn listed(
    reply: impl Fn(&Value, &Value) -> Reply + Send + Sync + 'static,
) -> Result<setpoint_mcp::Listing, McpError> {
    let (server, _) =
        Scripted::server(move |method, params, id, _| (method == "tools/list").then(|| reply(params, id)));
    server.tools().await
}

fn message(error: McpError) -> String {
    error.to_string()
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_well_behaved_answers() {
    let (server, scripted) = Scripted::server(|_, _, _, _| None);
    let outcome = echo(&server, "hello").await.unwrap();
    assert_eq!(outcome, Outcome { is_ok: true, text: "hello".to_owned(), structured: None });
    let listing = server.tools().await.unwrap();
    assert_eq!(listing.revision, "2025-11-25");
    assert_eq!(
        scripted.methods(),
        [
            "server/discover",
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/list",
            "tools/call",
            "tools/list"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_newer_revision_is_spoken_where_it_is_known() {
    let (server, scripted) = Scripted::server(|method, params, _, _| match method {
        "server/discover" => Some(Reply::Result(discovered())),
        "initialize" => Some(Reply::Error(-32601, "there is no initialize")),
        "tools/call" => {
            let text = &params["arguments"]["text"];
            Some(Reply::Result(
                json!({"resultType": "complete", "content": [{"type": "text", "text": text}]}),
            ))
        }
        _ => None,
    });
    assert_eq!(echo(&server, "new").await.unwrap().text, "new");
    assert_eq!(server.tools().await.unwrap().revision, "2026-07-28");
    assert!(!scripted.methods().contains(&"initialize".to_owned()));
    // Each request of this revision says who asks.
    let asked = scripted.asked.lock().unwrap();
    let (_, params) = asked.iter().find(|(method, _)| method == "tools/call").unwrap();
    assert_eq!(params["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28", "{params}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_at_the_start_times_out() {
    let (server, _) = Scripted::server(|_, _, _, _| Some(Reply::Silence));
    let start = Instant::now();
    let error = message(server.tools().await.unwrap_err());
    assert_eq!(start.elapsed().as_millis(), u128::from(CONNECT_MS_MAX));
    assert_eq!(
        error,
        "connect to the MCP server odd within 15000 ms; it may be busy or hang; it said: warming up\\u{1b}[2J"
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_in_a_call_times_out() {
    let start = Instant::now();
    let error = message(called(|_| Reply::Silence).await.unwrap_err());
    assert_eq!(start.elapsed().as_millis(), u128::from(CALL_MS_MAX));
    assert!(error.starts_with("get an answer from the MCP server odd within 120000 ms"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_no_json_or_have_another_id_are_not_taken() {
    let invalid = called(|_| Reply::Raw(b"{\"jsonrpc\": \"2.0\", oops\n".to_vec())).await.unwrap_err();
    assert!(matches!(invalid, McpError::TimedOut { .. }), "{invalid}");
    let other =
        called(|_| Reply::Raw(text(&json!({"jsonrpc": "2.0", "id": 4711, "result": {"content": []}})))).await;
    assert!(matches!(other, Err(McpError::TimedOut { .. })), "{other:?}");
    let unfit = called(|_| Reply::Result(json!({"content": 7}))).await.unwrap_err();
    assert!(matches!(unfit, McpError::Unfit { .. }), "{unfit}");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_too_long_ends_the_connection() {
    let long = called(|id| {
        let content = json!([{"type": "text", "text": "x".repeat(MESSAGE_BYTES_MAX)}]);
        Reply::Raw(text(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}})))
    });
    let error = message(long.await.unwrap_err());
    assert!(
        error.starts_with("read from the MCP server odd: it sent a message that is too long; "),
        "{error}"
    );
    // Without a line end it must not be collected either.
    let endless = called(|_| Reply::Endless(vec![b'x'; 4096])).await.unwrap_err();
    assert!(matches!(endless, McpError::Flooded { what: "a message that is too long", .. }), "{endless}");
}

#[tokio::test(start_paused = true)]
async fn a_long_result_within_the_limit_is_given() {
    let chars = MESSAGE_BYTES_MAX - 200;
    let long =
        called(move |_| Reply::Result(json!({"content": [{"type": "text", "text": "x".repeat(chars)}]})));
    assert_eq!(long.await.unwrap().text.len(), chars);
}

#[tokio::test(start_paused = true)]
async fn what_is_read_is_counted_anew_for_every_request() {
    let chars = MESSAGE_BYTES_MAX - 200;
    let (server, _) = Scripted::server(move |method, _, _, _| {
        (method == "tools/call")
            .then(|| Reply::Result(json!({"content": [{"type": "text", "text": "x".repeat(chars)}]})))
    });
    for _ in 0..=TURN_BYTES_MAX / MESSAGE_BYTES_MAX as u64 {
        assert_eq!(echo(&server, "x").await.unwrap().text.len(), chars);
    }
}

#[tokio::test(start_paused = true)]
async fn endless_notifications_end_the_connection() {
    let note = |data: &str| {
        text(
            &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": data}}),
        )
    };
    let short = note("");
    let error = called(move |_| Reply::Endless(short.clone())).await.unwrap_err();
    assert!(matches!(error, McpError::Flooded { what: "too many notifications", .. }), "{error}");
    let long = note(&"x".repeat(1_000_000));
    let error = called(move |_| Reply::Endless(long.clone())).await.unwrap_err();
    assert!(matches!(error, McpError::Flooded { what: "too many bytes", .. }), "{error}");
    let request = text(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}),
    );
    let error = called(move |_| Reply::Endless(request.clone())).await.unwrap_err();
    assert!(matches!(error, McpError::Flooded { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_in_a_call_is_told_from_one_that_refuses() {
    let died = message(called(|_| Reply::Death).await.unwrap_err());
    assert_eq!(
        died,
        "get an answer from the MCP server odd: it ended the connection; it said: warming up\\u{1b}[2J; what it had done by \
         then is unknown"
    );
    let refused = message(called(|_| Reply::Error(-32602, "no such\u{1b}[31m file")).await.unwrap_err());
    assert_eq!(
        refused,
        "get an answer from the MCP server odd: it answered with the error -32602: no such\\u{1b}[31m file"
    );
    let failed =
        called(|_| Reply::Result(json!({"isError": true, "content": [{"type": "text", "text": "no"}]})));
    assert_eq!(failed.await.unwrap(), Outcome { is_ok: false, text: "no".to_owned(), structured: None });
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tools_are_refused() {
    let many = listed(|_, _| {
        let tools: Value = (0..10_000).map(|n| tool(&format!("t{n}"), "")).collect();
        Reply::Result(json!({ "tools": tools }))
    });
    let error = message(many.await.unwrap_err());
    assert_eq!(
        error,
        format!(
            "list the tools of the MCP server odd: it has more than {TOOLS_MAX} tools; configure it to offer fewer"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_without_an_end_is_refused() {
    let pages = listed(|params, _| {
        let n = params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        Reply::Result(json!({"tools": [tool(&format!("t{n}"), "")], "nextCursor": format!("{}", n + 1)}))
    });
    assert!(matches!(pages.await, Err(McpError::TooMany { what: "pages", max: PAGES_MAX, .. })));
    let two = listed(|params, _| match params["cursor"].as_str() {
        None => Reply::Result(json!({"tools": [tool("a", "")], "nextCursor": "more"})),
        Some(_) => Reply::Result(json!({"tools": [tool("b", "")]})),
    });
    let names: Vec<String> = two.await.unwrap().tools.into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_large_definition_is_left_out_and_a_huge_one_ends_it() {
    let listing = listed(|_, _| {
        let large = "x".repeat(DEFINITION_BYTES_MAX);
        Reply::Result(json!({"tools": [tool("large", &large), tool("echo", "small"), tool("echo", "again")]}))
    });
    let listing = listing.await.unwrap();
    let names: Vec<&str> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["echo"]);
    let left_out: Vec<String> =
        listing.left_out.iter().map(|one| format!("{}: {}", one.name, one.reason)).collect();
    assert_eq!(left_out.len(), 2);
    assert!(left_out[0].starts_with("large: its definition has 329"), "{left_out:?}");
    assert_eq!(left_out[1], "echo: the server lists this name twice");
    let huge = listed(|_, _| Reply::Result(json!({"tools": [tool("huge", &"x".repeat(10_000_000))]})));
    assert!(matches!(huge.await, Err(McpError::Flooded { .. })));
}

#[tokio::test(start_paused = true)]
async fn names_and_descriptions_are_shown_escaped() {
    let listing = listed(|_, _| {
        Reply::Result(
            json!({"tools": [tool("\u{1b}[2Jrm\n", "say \u{202e}hi\u{7}"), tool("", ""), tool(&"n".repeat(200), "")]}),
        )
    });
    let listing = listing.await.unwrap();
    assert_eq!(listing.tools.len(), 1);
    // The name is what the server must be called with; the description is what is read.
    assert_eq!(listing.tools[0].name, "\u{1b}[2Jrm\n");
    assert_eq!(listing.tools[0].description, "say \\u{202e}hi\\u{7}");
    assert!(listing.left_out.iter().all(|one| one.reason == "its name must have 1 to 128 characters"));
    assert!(listing.left_out.iter().all(|one| one.name.chars().count() <= 128));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_text_is_named_with_its_size() {
    let outcome = called(|_| {
        Reply::Result(json!({
            "content": [
                {"type": "text", "text": "a\u{1b}[0mb\nc"},
                {"type": "image", "mimeType": "image/png", "data": "AAAA".repeat(100)},
                {"type": "audio", "mimeType": "audio/wav\u{7}", "data": "AAAA"},
                {"type": "resource", "resource": {"uri": "file:///x", "mimeType": "text/plain", "text": "hidden"}},
                {"type": "resource_link", "uri": "file:///y", "name": "y"},
            ],
            "structuredContent": {"n": 1},
        }))
    });
    let outcome = outcome.await.unwrap();
    assert_eq!(
        outcome.text,
        "a\\u{1b}[0mb\nc\n[image, image/png, 300 bytes, not given]\n[audio, audio/wav\\u{7}, 3 bytes, not given]\n\
         [resource file:///x, text/plain, 6 bytes, not given]\n[link to the resource file:///y]"
    );
    assert_eq!(outcome.structured, Some(json!({"n": 1})));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_is_reported_to_the_server() {
    let (server, scripted) =
        Scripted::server(|method, _, _, _| (method == "tools/call").then_some(Reply::Silence));
    let listing = server.tools().await.unwrap();
    let cancel = CancellationToken::new();
    let call = server.call(&listing.tools[0], arguments("x"), &cancel);
    let asked = async {
        while !scripted.methods().contains(&"tools/call".to_owned()) {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (called, ()) = tokio::join!(call, asked);
    assert!(matches!(called, Err(McpError::Cancelled { .. })));
    while !scripted.methods().contains(&"notifications/cancelled".to_owned()) {
        tokio::task::yield_now().await;
    }
    // The connection is still of use.
    assert_eq!(server.tools().await.unwrap().tools.len(), 1);
    assert_eq!(scripted.starts(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_back_gets_no_answers() {
    let (server, scripted) = Scripted::server(|method, _, id, _| {
        (method == "tools/call").then(|| {
            let ask = json!({"jsonrpc": "2.0", "id": 77, "method": "elicitation/create", "params": {
                "message": "your password?", "requestedSchema": {"type": "object", "properties": {}}}});
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "done"}]}});
            Reply::Raw([text(&ask), text(&answer)].concat())
        })
    });
    assert_eq!(echo(&server, "x").await.unwrap().text, "done");
    let asked = scripted.asked.lock().unwrap();
    let (_, initialize) = asked.iter().find(|(method, _)| method == "initialize").unwrap();
    assert_eq!(initialize["capabilities"], json!({}));
}
