//! One configured server: connected when it is needed, and again, with growing pauses, after it was lost.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::definition::{Definition, Listing};
use crate::endpoint::Endpoint;
use crate::error::McpError;
use crate::limits::{BACK_OFF_MS, FAILURES_MAX};
use crate::outcome::Outcome;
use crate::peer::Peer;

/// A server.
pub struct Server {
    name: String,
    endpoint: Endpoint,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    peer: Option<Arc<Peer>>,
    /// Failed and lost connections since the last call that was answered.
    failures: u32,
    last: String,
}

impl Server {
    /// Creates a server that is not connected yet.
    #[must_use]
    pub fn new(name: &str, endpoint: Endpoint) -> Self {
        Server { name: name.to_owned(), endpoint, state: Mutex::default() }
    }

    /// Returns its configured name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lists its tools now, connecting if necessary.
    ///
    /// # Errors
    /// If it cannot be connected to, or does not give a list within the limits.
    pub async fn tools(&self) -> Result<Listing, McpError> {
        let peer = self.connected().await?;
        let listed = peer.list().await;
        self.settle(&peer, listed, false).await
    }

    /// Calls a tool once, if its definition is still this one. A call that fails is never repeated.
    ///
    /// # Errors
    /// If the server cannot be connected to, has changed the tool, or gives no answer within the limits.
    pub async fn call(
        &self,
        tool: &Definition,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<Outcome, McpError> {
        let peer = tokio::select! {
            peer = self.connected() => peer?,
            () = cancel.cancelled() => return Err(McpError::Cancelled { server: self.name.clone() }),
        };
        let called = async {
            peer.verify(tool).await?;
            peer.call(&tool.name, arguments).await
        };
        let called = tokio::select! {
            called = called => called,
            () = cancel.cancelled() => Err(McpError::Cancelled { server: self.name.clone() }),
        };
        self.settle(&peer, called, true).await
    }

    /// Ends the connection and the program, if there is one.
    pub async fn close(&self) {
        let peer = self.state.lock().await.peer.take();
        if let Some(peer) = peer.and_then(Arc::into_inner) {
            peer.close().await;
        }
    }

    /// Returns the connection, making one if there is none. Others wait for it meanwhile.
    async fn connected(&self) -> Result<Arc<Peer>, McpError> {
        let mut state = self.state.lock().await;
        if let Some(peer) = &state.peer {
            if peer.is_open() {
                return Ok(Arc::clone(peer));
            }
            state.peer = None;
            state.fail("it ended the connection".to_owned());
        }
        if state.failures >= FAILURES_MAX {
            return Err(McpError::GivenUp { server: self.name.clone(), last: state.last.clone() });
        }
        if let Some(doublings) = state.failures.checked_sub(1) {
            tokio::time::sleep(Duration::from_millis(BACK_OFF_MS << doublings)).await;
        }
        match Peer::connect(&self.name, &self.endpoint).await {
            Ok(peer) => {
                let peer = Arc::new(peer);
                state.peer = Some(Arc::clone(&peer));
                Ok(peer)
            }
            Err(error) => {
                state.fail(error.to_string());
                Err(error)
            }
        }
    }

    /// Drops a connection that was lost. An answered call ends a row of failures: a server that can be connected to but
    /// dies in every call is given up too.
    async fn settle<T>(
        &self,
        peer: &Arc<Peer>,
        done: Result<T, McpError>,
        is_call: bool,
    ) -> Result<T, McpError> {
        let mut state = self.state.lock().await;
        match &done {
            Ok(_) if is_call => state.failures = 0,
            Err(error)
                if error.is_lost() && state.peer.as_ref().is_some_and(|one| Arc::ptr_eq(one, peer)) =>
            {
                state.peer = None;
                state.fail(error.to_string());
            }
            Ok(_) | Err(_) => {}
        }
        done
    }
}

impl State {
    fn fail(&mut self, why: String) {
        self.failures += 1;
        self.last = why;
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.name)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
