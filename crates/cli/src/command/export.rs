//! `tasks export`: a task's records as CloudEvents, one JSON object a line.

use std::path::Path;

use setpoint_client::{ClientError, Organisation};

use super::whole_file::{OR_STANDARD_OUTPUT, WholeFile};
use crate::exit::Exit;
use crate::io::Io;

pub(super) async fn export(
    organisation: &dyn Organisation,
    part: &str,
    output: Option<&Path>,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let task = organisation.resolve(part).await?;
    let lines = organisation.export(&task).await?;
    match output {
        None => {
            for line in &lines {
                io.out.json_line(line)?;
            }
        }
        Some(path) => {
            let mut file = WholeFile::create(path, OR_STANDARD_OUTPUT)?;
            for line in &lines {
                file.line(line)?;
            }
            file.finish()?;
        }
    }
    Ok(Exit::DONE)
}
