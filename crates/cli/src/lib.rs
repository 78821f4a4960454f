//! The command line of Setpoint: parses arguments, asks an organisation, prints text or JSON.
//!
//! It reaches tasks, memory and the Auditor only through `setpoint-app`, decides nothing about a goal, and
//! never shows a character from data that a terminal would obey. What a person sees is a pure function of a
//! task's records.
//!
//! Reading order: [`parse`] (arguments to a command), `command` (one file per command: its arguments, its help, its work),
//! [`host`] (what the binary provides), [`session`] (following a task), [`state`] and [`view`] (what it looks
//! like), [`text`] (how it is shown), [`io`] (where it goes).

mod app;
mod args;
mod command;
mod exit;
pub mod host;
pub mod io;
mod moment;
mod options;
mod render;
mod report;
pub mod session;
mod source;
pub mod state;
pub mod text;
pub mod view;

pub use self::app::App;
pub use self::args::values::LISTED_MAX;
pub use self::args::{CommandLine, NamedTask, Refusal, complete, grammar, parse};
pub use self::command::{Command, FINDINGS_LISTED, RECORDS_LISTED, TASKS_LISTED, execute};
pub use self::exit::Exit;
pub use self::host::Host;
pub use self::io::Io;
pub use self::options::{Color, Options, Setting};
pub use self::report::error as report_error;
