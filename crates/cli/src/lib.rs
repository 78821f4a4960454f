//! The command line of Setpoint: arguments in, an organisation asked, text or JSON out.
//!
//! It sees an organisation only through `setpoint-client`, decides nothing about a goal, and never shows a
//! character from data that a terminal would obey. What a person sees is a pure function of a task's records.
//!
//! Reading order: [`parse`] and [`invocation`] (what is asked for), [`host`] (what the binary hands in),
//! [`execute`] with one file a command, [`session`] (following a task), [`state`] and [`view`] (what it looks
//! like), [`text`] (how it is shown), [`io`] (where it goes).

mod args;
mod command;
mod exit;
pub mod host;
pub mod invocation;
pub mod io;
mod moment;
mod render;
mod report;
pub mod session;
mod source;
pub mod state;
pub mod text;
pub mod view;

pub use self::args::{
    FINDINGS_LISTED, NamedTask, RECORDS_LISTED, RECORDS_LISTED_MAX, Refusal, TASKS_LISTED, TASKS_LISTED_MAX,
    complete, parse,
};
pub use self::command::execute;
pub use self::exit::Exit;
pub use self::host::{Allowance, ApprovalPolicy, Host};
pub use self::invocation::{Cassette, Color, Command, GlobalOptions, Invocation, OwnValue};
pub use self::io::Io;
pub use self::report::error as report_error;
