//! `completions`: the grammar, for a shell.

use clap_complete::Shell;
use setpoint_client::ClientError;

use crate::args::grammar;
use crate::exit::Exit;
use crate::io::Io;

pub(super) fn completions(shell: Shell, io: &mut Io) -> Result<Exit, ClientError> {
    // Generated into memory first: the generator ends the process when its output cannot be written to.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut grammar(), "setpoint", &mut text);
    io.out.write_text(&String::from_utf8_lossy(&text))?;
    Ok(Exit::DONE)
}
