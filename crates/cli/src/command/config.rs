//! `config`: every value with its origin, and the files that are read.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use setpoint_app::Error;
use setpoint_app::config::ConfigLine;

use crate::text::Tone;
use crate::text::table::{Cell, table};
use crate::{App, Exit, Io};

/// Show the configuration and where each value comes from
#[derive(Args, Debug)]
pub struct Config {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
enum Verb {
    /// Show every value and where it comes from
    Show,
    /// List the files that are read, weakest first
    Path,
}

impl Config {
    /// `config path` must work even if one of the files is invalid.
    pub(super) fn needs_configuration(&self) -> bool {
        self.verb != Some(Verb::Path)
    }

    pub(super) fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        match self.verb.unwrap_or(Verb::Show) {
            Verb::Show => show(app, io),
            Verb::Path => path(app, io),
        }
    }
}

fn show(app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
    let values = app.host.desk().config()?;
    let row = |line: &ConfigLine| -> Vec<Cell> {
        let value = match &line.value {
            Value::Null => (Tone::Dim, "not set".to_owned()),
            Value::String(text) => (Tone::Strong, text.clone()),
            other => (Tone::Strong, other.to_string()),
        };
        vec![
            (Tone::Name, line.key.clone()),
            value,
            (Tone::Dim, line.origin.clone()),
            (Tone::Plain, line.about.clone()),
        ]
    };
    let rows: Vec<_> = values.iter().map(row).collect();
    io.out.show(&app.options, &values, || table(&["key", "value", "from", "meaning"], &rows))?;
    Ok(Exit::DONE)
}

fn path(app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
    let files = app.host.desk().config_files();
    let value = |(path, is_there): &(String, bool)| json!({ "path": path, "exists": is_there });
    let row = |(path, is_there): &(String, bool)| -> Vec<Cell> {
        let (tone, state) = if *is_there { (Tone::Good, "is read") } else { (Tone::Dim, "does not exist") };
        vec![(Tone::Plain, path.clone()), (tone, state.to_owned())]
    };
    let rows: Vec<_> = files.iter().map(row).collect();
    io.out.show(&app.options, &files.iter().map(value).collect::<Value>(), || table(&[], &rows))?;
    Ok(Exit::DONE)
}
