//! `audit verify`: whether what was written down still stands.

use serde_json::json;
use setpoint_client::audit::Against;
use setpoint_client::{Audit, ClientError};

use crate::exit::Exit;
use crate::invocation::{AuditVerify, GlobalOptions};
use crate::io::Io;
use crate::render::audit;

pub(super) async fn verify(
    auditor: &dyn Audit,
    against: AuditVerify,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let AuditVerify { checkpoints, key, log_only } = against;
    let verdict = auditor.verify(&Against { checkpoints, key, log_only }).await?;
    if options.is_json {
        io.out.json(&json!(verdict))?;
    } else {
        io.out.lines(&audit::verdict(&verdict))?;
    }
    Ok(if verdict.is_sound { Exit::DONE } else { Exit::INTERNAL })
}
