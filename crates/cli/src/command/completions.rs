//! `completions`: a script that makes a shell ask this program for words.

use clap_complete::Shell;
use setpoint_client::{ClientError, ErrorKind};

use crate::args::script;
use crate::exit::Exit;
use crate::io::Io;

pub(super) fn completions(shell: Shell, io: &mut Io) -> Result<Exit, ClientError> {
    let text = script(shell)
        .map_err(|error| ClientError::new(ErrorKind::Internal, format!("failed to write it: {error}")))?;
    io.out.write_text(&text)?;
    Ok(Exit::DONE)
}
