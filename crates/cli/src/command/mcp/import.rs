//! `mcp import`: shows the servers of another program's file as text for `setpoint.toml`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;
use setpoint_app::import::{IMPORT_BYTES_MAX, Import as Imported, ImportOrigin};
use setpoint_app::{Error, ErrorKind};

use crate::report;
use crate::source::{self, TextKind, TextSource};
use crate::{App, Exit, Io};

const FILE: TextKind = TextKind {
    noun: "file",
    bytes_max: IMPORT_BYTES_MAX,
    when_empty: Some("name a file that lists MCP servers"),
    when_too_long: "copy the table of servers into a file of its own",
    when_unreadable: "name a file that can be read, or give its text with `-` on stdin",
};

/// Print the servers of another program's file as text for setpoint.toml
///
/// Reads the files of Claude Code, Claude Desktop, Cursor, VS Code, Codex and opencode. Writes nothing: paste into your own
/// setpoint.toml what you want to keep. Keys are not taken over; the text names the variables to set.
#[derive(Args, Debug)]
pub(super) struct Import {
    /// Read this file; `-` reads stdin
    #[arg(required_unless_present = "from")]
    file: Option<PathBuf>,
    /// Look where this program keeps its file
    #[arg(long, value_name = "PROGRAM", conflicts_with = "file")]
    from: Option<Origin>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Origin {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Codex,
    Opencode,
}

impl From<Origin> for ImportOrigin {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::ClaudeCode => Self::ClaudeCode,
            Origin::ClaudeDesktop => Self::ClaudeDesktop,
            Origin::Cursor => Self::Cursor,
            Origin::VsCode => Self::VsCode,
            Origin::Codex => Self::Codex,
            Origin::Opencode => Self::Opencode,
        }
    }
}

impl Import {
    pub(super) fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let file = self.place(app)?;
        let text = source::read(&TextSource::of_file(file.clone()), &FILE, &mut io.input)?;
        let imported = Imported::of(&text).map_err(|error| {
            let message = format!("failed to read the servers in {}: {error}", file.display());
            Error::new(ErrorKind::Usage, message)
                .hint("name a file of Claude Code, Claude Desktop, Cursor, VS Code, Codex or opencode that lists MCP servers")
        })?;
        if app.options.is_json {
            io.out.json(&json!(imported))?;
        } else {
            io.out.data(&imported.text())?;
        }
        let note =
            format!("read {}; paste what you want to keep into your own setpoint.toml", file.display());
        report::aside(io, &app.options, &note);
        Ok(Exit::DONE)
    }

    fn place(&self, app: &App<'_>) -> Result<PathBuf, Error> {
        let Some(origin) = self.from else {
            return Ok(self.file.clone().unwrap_or_else(|| PathBuf::from("-")));
        };
        let places = app.host.desk().places_of(origin.into());
        places.iter().find(|place| place.is_file()).cloned().ok_or_else(|| {
            let looked =
                places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ");
            Error::new(ErrorKind::Unknown, format!("there is no such file: {looked}"))
                .hint("name the file itself")
        })
    }
}
