//! `audit verify`: checks that journal and audit log have not been changed.

use std::path::PathBuf;

use clap::Args;
use setpoint_app::Error;
use setpoint_audit::view::VerifyOptions;

use super::render;
use crate::{App, Exit, Io};

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
        let against = VerifyOptions { checkpoints, key, log_only };
        let verdict = app.host.audit().await?.verify(&against).await?;
        io.out.show(&app.options, &verdict, || render::verdict(&verdict))?;
        Ok(if verdict.is_sound { Exit::DONE } else { Exit::INTERNAL })
    }
}
