//! `memory export`: writes all records as JSON lines, or the rules in force as folders.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use setpoint_app::{Error, ErrorKind, Memory};

use super::opened;
use crate::command::whole_file::{OR_STANDARD_OUTPUT, WholeFile};
use crate::report;
use crate::text::Line;
use crate::view::words;
use crate::{App, Exit, Io, Options};

/// The hint when memory returns something impossible.
const SEE_DOCTOR: &str = "`setpoint doctor` checks the data directory";

/// Write the records that count, one JSON object per line
#[derive(Args, Debug)]
pub(super) struct Export {
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the rules in force instead, one folder with a SKILL.md each, below DIR
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    skills: Option<PathBuf>,
}

impl Export {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        opened(app, async |memory| match &self.skills {
            Some(folder) => skills(memory, folder, &app.options, io).await,
            None => records(memory, self.output.as_deref(), &app.options, io).await,
        })
        .await
    }
}

async fn records(
    memory: &dyn Memory,
    output: Option<&Path>,
    options: &Options,
    io: &mut Io,
) -> Result<Exit, Error> {
    let Some(path) = output else {
        each(memory, |line| io.out.json_line(line)).await?;
        return Ok(Exit::DONE);
    };
    let mut file = WholeFile::create(path, OR_STANDARD_OUTPUT, io.out.keys())?;
    let count = each(memory, |line| file.line(line)).await?;
    file.finish()?;
    let path = path.display().to_string();
    if options.is_json {
        io.out.json(&json!({ "file": path, "records": count }))?;
    } else {
        report::aside(io, options, &format!("wrote {} to {path}", words::count(count, "record")));
    }
    Ok(Exit::DONE)
}

async fn skills(memory: &dyn Memory, folder: &Path, options: &Options, io: &mut Io) -> Result<Exit, Error> {
    let folders = memory.export_skills(folder).await?;
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let lines = || folders.iter().map(|folder| Line::plain(folder)).collect();
    report::found(io, options, &folders, lines, "no rule is in force: nothing was written")?;
    Ok(Exit::DONE)
}

/// Passes each record to `take` as a line of JSON, oldest first, and returns their number. Holds at most one
/// page at a time.
async fn each(memory: &dyn Memory, mut take: impl FnMut(&str) -> Result<(), Error>) -> Result<u64, Error> {
    let mut count = 0;
    let mut after = 0;
    loop {
        let (megrams, next) = memory.export(after).await?;
        for megram in &megrams {
            let line = serde_json::to_string(megram).map_err(|error| {
                let message = format!("failed to write the record {} as JSON: {error}", megram.id);
                Error::new(ErrorKind::Internal, message).hint(SEE_DOCTOR)
            })?;
            take(&line)?;
            count += 1;
        }
        match next {
            None => return Ok(count),
            Some(next) if next > after => after = next,
            // The loop would never end.
            Some(next) => {
                let message = format!("failed to read memory: position {after} is followed by {next}");
                return Err(Error::new(ErrorKind::Internal, message).hint(SEE_DOCTOR));
            }
        }
    }
}
