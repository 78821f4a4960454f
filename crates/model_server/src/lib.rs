//! A scripted model server for tests.
//!
//! It speaks five wires over real TCP, answers with the turns of a [`Script`], records the requests, and misbehaves on
//! request: every fault of the list ([`Fault`]), from a reset below HTTP to a lie in a finish reason. It asks no model,
//! reads no clock and no file, reaches nothing outside this machine, and is never part of the shipped program.
//!
//! ```
//! use std::sync::Arc;
//!
//! use setpoint_model_server::{Answer, Fault, ModelServer, SeenRequest, Turn, Wire};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let script = |seen: &SeenRequest| match seen.nth {
//!     0 => Turn::from(Fault::Overloaded),
//!     _ => Turn::from(Answer::call("read_file", r#"{"path":"a.txt"}"#)),
//! };
//! let server = ModelServer::start(Arc::new(script)).await?;
//! // A client of the wire is configured with this; afterwards `seen` and `served` tell what happened.
//! assert!(server.base(Wire::Chat).ends_with("/v1"));
//! assert!(server.seen().is_empty() && server.served().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! Reading order: [`ModelServer`], [`Script`] with [`Turn`] and [`Answer`], [`SeenRequest`], [`Fault`]. Inside: `wire` finds
//! out what a request is for, `seen` reads it, `plan` decides what is sent (with `fault::content` for what the model
//! says, `render` for the format of the wire, `shape` and `http::steps` for bytes and ends), `connection` sends it.

mod answer;
mod canned;
mod connection;
mod delay;
mod draft;
mod example;
mod fault;
mod hosted;
mod http;
mod json;
mod plan;
pub mod question;
mod refusal;
mod render;
mod script;
pub mod scripts;
mod seen;
mod server;
mod shape;
mod wire;

pub use answer::{Answer, Call, Finish, Usage};
pub use canned::{CannedRequest, canned};
pub use delay::{Delay, Gate};
pub use example::example;
pub use fault::{Fault, Measures};
pub use hosted::Hosted;
pub use http::request::HEAD_BYTES_MAX;
pub use script::{Listing, ModelInfo, Script, Turn};
pub use seen::{Asked, Said, SeenRequest, Tool};
pub use server::{ModelServer, RefusedAddress, RequestOutcome, refused_address};
pub use wire::{Purpose, Wire};
