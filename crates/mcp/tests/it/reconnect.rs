//! Lost connections are made again, with growing pauses, and not without end.

use serde_json::json;
use setpoint_mcp::{BACK_OFF_MS, FAILURES_MAX, McpError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::scripted::{Reply, Scripted, arguments};

#[tokio::test(start_paused = true)]
async fn a_server_that_died_is_started_again_for_the_next_call() {
    let (server, scripted) = Scripted::server(|method, _, _, start| {
        (method == "tools/call" && start == 1).then_some(Reply::Death)
    });
    let listing = server.tools().await.unwrap();
    let echo = &listing.tools[0];
    let died = server.call(echo, arguments("a"), &CancellationToken::new()).await;
    assert!(matches!(died, Err(McpError::Died { .. })));
    // The call that died was not repeated.
    assert_eq!(scripted.methods().iter().filter(|method| *method == "tools/call").count(), 1);
    let start = Instant::now();
    assert_eq!(server.call(echo, arguments("b"), &CancellationToken::new()).await.unwrap().text, "b");
    assert_eq!(start.elapsed().as_millis(), u128::from(BACK_OFF_MS));
    assert_eq!(scripted.starts(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_in_every_call_is_given_up() {
    let (server, scripted) =
        Scripted::server(|method, _, _, _| (method == "tools/call").then_some(Reply::Death));
    let listing = server.tools().await.unwrap();
    let mut pauses = Vec::new();
    for _ in 0..FAILURES_MAX {
        let start = Instant::now();
        let died = server.call(&listing.tools[0], arguments("a"), &CancellationToken::new()).await;
        assert!(matches!(died, Err(McpError::Died { .. })), "{died:?}");
        pauses.push(u64::try_from(start.elapsed().as_millis()).unwrap());
    }
    assert_eq!(pauses, [0, BACK_OFF_MS, 2 * BACK_OFF_MS, 4 * BACK_OFF_MS, 8 * BACK_OFF_MS]);
    let given_up =
        server.call(&listing.tools[0], arguments("a"), &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(given_up, McpError::GivenUp { .. }), "{given_up}");
    assert!(
        given_up.to_string().contains("the last time: get an answer from the MCP server odd"),
        "{given_up}"
    );
    assert_eq!(scripted.starts(), FAILURES_MAX);
}

#[tokio::test(start_paused = true)]
async fn an_answered_call_ends_a_row_of_failures() {
    // Every second start dies in its first call.
    let (server, _) = Scripted::server(|method, _, _, start| {
        (method == "tools/call" && start % 2 == 1).then_some(Reply::Death)
    });
    let listing = server.tools().await.unwrap();
    let call = |text: &'static str| {
        let tool = &listing.tools[0];
        let server = &server;
        async move { server.call(tool, arguments(text), &CancellationToken::new()).await }
    };
    for _ in 0..2 * FAILURES_MAX {
        assert!(matches!(call("x").await, Err(McpError::Died { .. })));
        assert_eq!(call("y").await.unwrap().text, "y");
        server.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn calls_at_the_same_time_share_one_connection() {
    let (server, scripted) = Scripted::server(|_, _, _, _| None);
    let (a, b, c) = tokio::join!(server.tools(), server.tools(), server.tools());
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
    assert_eq!(scripted.starts(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_older_server_is_reached_whatever_it_answers_the_probe() {
    let probe = |reply: fn() -> Reply| {
        Scripted::server(move |method, _, _, _| (method == "server/discover").then(reply))
    };
    // Silence, and an error without an id, leave the connection usable: the handshake follows on it after 10 s.
    let odd: [(fn() -> Reply, u32); 4] = [
        (|| Reply::Result(json!({})), 2),
        (
            || {
                Reply::Raw(b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"no session\"}}\n".to_vec())
            },
            1,
        ),
        (|| Reply::Death, 2),
        (|| Reply::Silence, 1),
    ];
    for (reply, starts) in odd {
        let (server, scripted) = probe(reply);
        let listing = server.tools().await.unwrap();
        assert_eq!((listing.revision.as_str(), scripted.starts()), ("2025-11-25", starts));
        let called = server.call(&listing.tools[0], arguments("a"), &CancellationToken::new()).await;
        assert_eq!(called.unwrap().text, "a");
        assert_eq!(scripted.methods().iter().filter(|method| *method == "tools/call").count(), 1);
    }
    // A server that fails in the handshake too is started twice, within one limit of time.
    let (server, scripted) = Scripted::server(|_, _, _, start| (start < 9).then_some(Reply::Death));
    let error = server.tools().await.unwrap_err().to_string();
    assert!(
        error.contains("it ended the connection; it said: warming up")
            && error.ends_with("; run it by hand to see what it prints"),
        "{error}"
    );
    assert_eq!(scripted.starts(), 2);
}
