//! `completions`: prints the script that completes the command line in a shell.

use clap::Args;
use clap_complete::Shell;
use setpoint_app::{Error, ErrorKind};

use crate::args::script;
use crate::{Exit, Io};

/// Print the script that completes commands, options and task ids
///
/// For bash: `source <(setpoint completions bash)` in ~/.bashrc. For zsh the same in ~/.zshrc, for fish
/// `setpoint completions fish | source` in ~/.config/fish/config.fish. The script asks this program, so each
/// new shell has to read it again.
#[derive(Args, Debug)]
pub struct Completions {
    /// Name the shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, io: &mut Io) -> Result<Exit, Error> {
        let text = script(self.shell).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("failed to write the script: {error}"))
        })?;
        io.out.write_text(&text)?;
        Ok(Exit::DONE)
    }
}
