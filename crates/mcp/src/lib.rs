//! The client of MCP servers (Model Context Protocol): connects, lists tools, pins their definitions and calls them.
//!
//! [`Server`] is one configured server. It connects when it is first needed, is asked for its tools again before every
//! call, and refuses a tool whose definition has changed since it was shown. Both revisions in use are spoken: a
//! server is probed with `server/discover` (2026-07-28), and asked to `initialize` (2025-11-25 and older) if it does not
//! know that.
//!
//! This crate never starts a process ([`Launch`] does), never repeats a call, never asks a person and never decides what
//! a tool may do. Everything that a server sends is bounded and is foreign text. Only this crate knows the library that
//! speaks the protocol.

mod definition;
mod endpoint;
mod error;
mod limits;
mod meter;
mod outcome;
mod peer;
mod server;
pub mod show;

pub use definition::{Definition, LeftOut, Listing};
pub use endpoint::{Endpoint, Launch, Launched, Process, Stream};
pub use error::McpError;
pub use limits::*;
pub use outcome::Outcome;
pub use server::Server;
