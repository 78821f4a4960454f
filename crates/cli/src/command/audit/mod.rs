//! `audit`: the operator's door to the Auditor. One file a command.

mod follow;
mod query;
mod report;
mod verify;

use setpoint_client::{ClientError, ErrorKind};
use setpoint_protocol::Timestamp;

use crate::exit::Exit;
use crate::host::Host;
use crate::invocation::{At, AuditCommand, GlobalOptions};
use crate::io::Io;

pub(super) async fn audit(
    command: AuditCommand,
    options: &GlobalOptions,
    host: &dyn Host,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    match command {
        AuditCommand::Report => report::report(&*host.audit().await?, host.now(), options, io).await,
        AuditCommand::Query(asked) => {
            let since = asked.since.map(|at| moment(at, host, io)).transpose()?;
            query::query(&*host.audit().await?, asked, since, options, io).await
        }
        AuditCommand::Verify(against) => verify::verify(&*host.audit().await?, against, options, io).await,
        AuditCommand::Follow { metrics } => follow::follow(host.audit().await?, metrics, options, io).await,
    }
}

/// The moment that `--since` names.
fn moment(at: At, host: &dyn Host, io: &Io) -> Result<Timestamp, ClientError> {
    at.anywhen(host.now(), &io.zone).map_err(|error| {
        ClientError::new(ErrorKind::Usage, format!("the moment of `--since` cannot be used: {error}"))
            .hint("name a day or a while before now, such as `--since -7d`")
    })
}
