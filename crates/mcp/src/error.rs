//! Why a server could not be used. Every message says what a person can do, and shows a server's words escaped and cut.

use std::io;

use crate::limits::{FAILURES_MAX, MESSAGE_BYTES_MAX, NOTIFICATIONS_MAX, TURN_BYTES_MAX};

/// An error of an MCP server.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// The program could not be started.
    #[error("start the MCP server {server}; check `command` in its configuration")]
    NotStarted {
        server: String,
        #[source]
        source: io::Error,
    },
    /// The address of an HTTP server cannot be used.
    #[error("use the address of the MCP server {server}: {reason}")]
    Address {
        server: String,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// The HTTP client could not be made.
    #[error("connect to the MCP server {server}: {reason}")]
    Client {
        server: String,
        /// The library's own words.
        reason: String,
    },
    /// Program and client did not come to an agreement.
    #[error("connect to the MCP server {server}: {reason}{said}; {advice}")]
    NotConnected {
        server: String,
        /// What went wrong.
        reason: String,
        /// What it printed to standard error, or empty.
        said: String,
        /// What a person can do.
        advice: &'static str,
    },
    /// It did not answer in time.
    #[error("{doing} the MCP server {server} within {ms} ms; it may be busy or hang{said}")]
    TimedOut {
        server: String,
        /// What was attempted: `connect to`, `list the tools of`, `get an answer from`.
        doing: &'static str,
        /// The limit.
        ms: u64,
        /// What it printed to standard error, or empty.
        said: String,
    },
    /// The connection ended while it was waited for. Whether a call was carried out is unknown.
    #[error(
        "{doing} the MCP server {server}: it ended the connection{said}; what it had done by then is unknown"
    )]
    Died {
        server: String,
        doing: &'static str,
        /// What it printed to standard error, or empty.
        said: String,
    },
    /// It sent more than is accepted, and was disconnected.
    #[error(
        "read from the MCP server {server}: it sent {what}; a message may have {MESSAGE_BYTES_MAX} bytes, and between two \
         requests {TURN_BYTES_MAX} bytes and {NOTIFICATIONS_MAX} notifications are read; ask it for less"
    )]
    Flooded {
        server: String,
        /// What there was too much of.
        what: &'static str,
    },
    /// It answered with an error of the protocol.
    #[error("{doing} the MCP server {server}: it answered with the error {code}: {message}")]
    Refused {
        server: String,
        doing: &'static str,
        /// The code of JSON-RPC.
        code: i32,
        /// Its message, escaped and cut.
        message: String,
    },
    /// It answered something that does not fit the request.
    #[error("{doing} the MCP server {server}: {reason}")]
    Unfit {
        server: String,
        doing: &'static str,
        /// What does not fit.
        reason: String,
    },
    /// It lists more tools than are accepted.
    #[error(
        "list the tools of the MCP server {server}: it has more than {max} {what}; configure it to offer fewer"
    )]
    TooMany {
        server: String,
        /// What there are too many of.
        what: &'static str,
        max: usize,
    },
    /// The definition of a tool is not the one that was shown.
    #[error(
        "call {tool} of the MCP server {server}: the server has changed the definition of this tool since it was listed, so \
         it is not called; look at the new definition, and begin a new task to use it"
    )]
    Changed {
        server: String,
        /// The tool's name, escaped.
        tool: String,
    },
    /// The server has stopped listing the tool.
    #[error(
        "call {tool} of the MCP server {server}: the server no longer lists this tool; begin a new task to use \
         those that it lists now"
    )]
    Gone {
        server: String,
        /// The tool's name, escaped.
        tool: String,
    },
    /// It has failed too often in a row.
    #[error(
        "connect to the MCP server {server}: it failed {FAILURES_MAX} times in a row and is given up until the program starts \
         again; the last time: {last}"
    )]
    GivenUp {
        server: String,
        /// The last failure.
        last: String,
    },
    /// The call was cancelled. Whether it was carried out is unknown.
    #[error(
        "finish the call of the MCP server {server}: it was cancelled; what the server had done by then is unknown"
    )]
    Cancelled { server: String },
}

impl McpError {
    /// Returns whether the connection cannot be used any more.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            McpError::NotStarted { .. }
            | McpError::Client { .. }
            | McpError::NotConnected { .. }
            | McpError::TimedOut { .. }
            | McpError::Died { .. }
            | McpError::Flooded { .. } => true,
            McpError::Address { .. }
            | McpError::Refused { .. }
            | McpError::Unfit { .. }
            | McpError::TooMany { .. }
            | McpError::Changed { .. }
            | McpError::Gone { .. }
            | McpError::GivenUp { .. }
            | McpError::Cancelled { .. } => false,
        }
    }
}
