//! `tasks export`: writes a task's records as CloudEvents, one JSON object per line.

use std::path::PathBuf;

use clap::Args;
use setpoint_app::Error;

use crate::command::reading;
use crate::command::whole_file::{OR_STANDARD_OUTPUT, WholeFile};
use crate::{App, Exit, Io};

/// Write a task as CloudEvents, one JSON object per line, to replay it elsewhere
#[derive(Args, Debug)]
pub(super) struct Export {
    /// Name the task by its id, or the start or end of its id
    task: String,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Export {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        reading(app, async |organisation| {
            let task = organisation.resolve(&self.task).await?;
            let lines = organisation.export(&task).await?;
            match &self.output {
                None => {
                    for line in &lines {
                        io.out.json_line(line)?;
                    }
                }
                Some(path) => {
                    let mut file = WholeFile::create(path, OR_STANDARD_OUTPUT, io.out.keys())?;
                    for line in &lines {
                        file.line(line)?;
                    }
                    file.finish()?;
                }
            }
            Ok(Exit::DONE)
        })
        .await
    }
}
