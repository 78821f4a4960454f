//! `config`: every value with its origin, and the files that are read.

use clap::{Args, Subcommand};
use serde_json::json;
use setpoint_app::Error;

use crate::app::App;
use crate::exit::Exit;
use crate::io::Io;
use crate::text::Tone;
use crate::text::table::{Cell, table};

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
    if app.options.is_json {
        io.out.json(&json!(values))?;
        return Ok(Exit::DONE);
    }
    let rows: Vec<Vec<Cell>> = values
        .iter()
        .map(|line| {
            let value = match &line.value {
                serde_json::Value::Null => (Tone::Dim, "not set".to_owned()),
                serde_json::Value::String(text) => (Tone::Strong, text.clone()),
                other => (Tone::Strong, other.to_string()),
            };
            vec![
                (Tone::Name, line.key.clone()),
                value,
                (Tone::Dim, line.origin.clone()),
                (Tone::Plain, line.about.clone()),
            ]
        })
        .collect();
    io.out.lines(&table(&["key", "value", "from", "meaning"], &rows))?;
    Ok(Exit::DONE)
}

fn path(app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
    let files = app.host.desk().config_files();
    if app.options.is_json {
        let files: Vec<_> =
            files.iter().map(|(path, is_there)| json!({ "path": path, "exists": is_there })).collect();
        io.out.json(&json!(files))?;
        return Ok(Exit::DONE);
    }
    let rows: Vec<Vec<Cell>> = files
        .into_iter()
        .map(|(path, is_there)| {
            let state = if is_there { (Tone::Good, "is read") } else { (Tone::Dim, "does not exist") };
            vec![(Tone::Plain, path), (state.0, state.1.to_owned())]
        })
        .collect();
    io.out.lines(&table(&[], &rows))?;
    Ok(Exit::DONE)
}
