//! `audit verify`: checks that journal and audit log have not been changed.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use setpoint_app::{Audit, Error};
use setpoint_audit::view::VerifyOptions;

use super::render;
use crate::app::App;
use crate::exit::Exit;
use crate::io::Io;
use crate::options::Options;

/// Check that the audit log and the journal were not changed afterwards
#[derive(Args, Debug)]
pub(super) struct Verify {
    /// Compare the log with these exported checkpoints
    #[arg(long, value_name = "FILE")]
    checkpoints: Option<PathBuf>,
    /// Require this signing key, in hexadecimal
    #[arg(long, value_name = "HEX")]
    key: Option<String>,
    /// Check only the log, not the journal
    #[arg(long)]
    log_only: bool,
}

impl Verify {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let Verify { checkpoints, key, log_only } = self;
        verify(&*app.host.audit().await?, &VerifyOptions { checkpoints, key, log_only }, &app.options, io)
            .await
    }
}

async fn verify(
    auditor: &dyn Audit,
    against: &VerifyOptions,
    options: &Options,
    io: &mut Io,
) -> Result<Exit, Error> {
    let verdict = auditor.verify(against).await?;
    if options.is_json {
        io.out.json(&json!(verdict))?;
    } else {
        io.out.lines(&render::verdict(&verdict))?;
    }
    Ok(if verdict.is_sound { Exit::DONE } else { Exit::INTERNAL })
}
