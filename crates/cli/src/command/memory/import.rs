//! `memory import`: reads records from a file, one JSON object per line.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use setpoint_app::{Error, ErrorKind};
use setpoint_memory::view::ImportReport;

use super::opened;
use crate::report;
use crate::source::{self, TextKind, TextSource};
use crate::text::{Line, Tone};
use crate::view::words;
use crate::{App, Exit, Io, Options};

/// At most this many refused lines are listed for a person; JSON output has all.
const REFUSED_SHOWN_MAX: usize = 20;

/// An export has one line per record, so a longer one can be imported in pieces.
const IMPORT: TextKind = TextKind {
    noun: "import",
    bytes_max: 256 * 1024 * 1024,
    // An export of an empty memory is empty.
    when_empty: None,
    when_too_long: "split it into several files, at line ends; existing records are not imported twice",
    when_unreadable: "name a file that can be read, or give the records with `-` on stdin",
};

/// Import records, one JSON object per line: all of them or none
#[derive(Args, Debug)]
pub(super) struct Import {
    /// Read this file; `-` reads stdin
    file: PathBuf,
    /// Import the valid records, and name the others
    #[arg(long = "lenient")]
    is_lenient: bool,
}

impl Import {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let text = source::read(&TextSource::of_file(self.file), &IMPORT, &mut io.input)?;
        let report = opened(app, async |memory| memory.import(&text, self.is_lenient).await).await?;
        tell(&report, self.is_lenient, &app.options, io)
    }
}

fn tell(report: &ImportReport, is_lenient: bool, options: &Options, io: &mut Io) -> Result<Exit, Error> {
    let is_refused = is_refused(report, is_lenient);
    if options.is_json {
        io.out.json(&json!(report))?;
    } else if !is_refused {
        io.out.lines(&[taken(report)])?;
    }
    tell_refused(report, io);
    if !is_refused {
        return Ok(Exit::DONE);
    }
    let lines = words::count(report.refused.len() as u64, "line");
    let mut error = Error::new(ErrorKind::Usage, format!("nothing was imported: {lines} cannot be used"));
    if !is_lenient {
        error = error.hint("correct them, or import the others with `--lenient`");
    }
    // With `--json` the error is already in the value above.
    Ok(report::error(io, &error, false))
}

/// Returns whether invalid lines kept everything from being imported. A line that is known already is valid.
fn is_refused(report: &ImportReport, is_lenient: bool) -> bool {
    !report.refused.is_empty() && report.taken == 0 && (!is_lenient || report.known == 0)
}

fn taken(report: &ImportReport) -> Line {
    let line = Line::new().and(Tone::Good, &format!("took in {}", words::count(report.taken, "record")));
    match report.known {
        0 => line,
        known => line.and(Tone::Plain, &format!("; {} known already", words::thousands(known))),
    }
}

/// Lists the refused lines and what is wrong with them.
fn tell_refused(report: &ImportReport, io: &mut Io) {
    for problem in report.refused.iter().take(REFUSED_SHOWN_MAX) {
        report::warning(io, &format!("line {}: {}", problem.line, problem.reason));
    }
    let more = report.refused.len().saturating_sub(REFUSED_SHOWN_MAX);
    if more > 0 {
        let lines = words::count(more as u64, "more line");
        report::warning(io, &format!("{lines} cannot be used; `--json` lists all of them"));
    }
}
