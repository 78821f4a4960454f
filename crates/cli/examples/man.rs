//! Writes the manual pages of `setpoint` into FOLDER: `cargo run -p setpoint-cli --example man -- FOLDER`.

use std::io;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).ok_or_else(|| io::Error::other("name the folder to write to"))?;
    clap_mangen::generate_to(setpoint_cli::grammar(), folder)
}
