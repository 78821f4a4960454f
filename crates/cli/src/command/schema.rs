//! `schema`: prints the schemas of the messages, for other programs.

use clap::Args;
use setpoint_app::{Error, ErrorKind};
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{asyncapi, schema};

use crate::{App, Exit, Io};

/// Print the JSON Schema of the messages
#[derive(Args, Debug)]
pub struct Schema {
    /// Print this message alone, such as `FinalResult`
    name: Option<String>,
    /// Print the AsyncAPI document of the bus instead
    #[arg(long = "asyncapi", conflicts_with = "name")]
    is_asyncapi: bool,
}

impl Schema {
    /// Prints JSON, indented on a terminal unless `--json` is given.
    pub(super) fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let document = match &self.name {
            _ if self.is_asyncapi => asyncapi::document(env!("CARGO_PKG_VERSION")),
            None => schema::document(),
            Some(name) => schema::of(name).ok_or_else(|| unknown(name))?,
        };
        if io.out.is_terminal && !app.options.is_json {
            let text = serde_json::to_string_pretty(&document).unwrap_or_else(|_| document.to_string());
            io.out.json_line(&text)?;
        } else {
            io.out.json(&document)?;
        }
        Ok(Exit::DONE)
    }
}

fn unknown(name: &str) -> Error {
    let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    let clipped = setpoint_protocol::text::clip(name, 80);
    Error::new(ErrorKind::Usage, format!("there is no message {clipped:?}"))
        .hint(format!("choose one of {}", names.join(", ")))
}
