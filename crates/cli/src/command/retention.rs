//! What `tasks prune` and `memory prune` have in common: how old is old, and who agrees.

use setpoint_client::{ClientError, ErrorKind};

use super::confirm::{Word, confirm};
use super::pursue::is_interactive;
use crate::exit::Exit;
use crate::host::Host;
use crate::invocation::{GlobalOptions, Prune};
use crate::io::Io;
use crate::report;

/// Returns the age from which records are pruned, in milliseconds: from the command line, else from this configuration key.
/// Fails early, before anything is opened, if the command could not ask for consent.
///
/// # Errors
/// If neither sets an age, or no one can be asked for consent.
pub(super) fn age_ms(
    asked: Prune,
    key: &str,
    options: &GlobalOptions,
    host: &dyn Host,
    io: &Io,
) -> Result<u64, ClientError> {
    let age_ms = match asked.older_than_ms {
        Some(age_ms) => Some(age_ms),
        None => {
            let values = host.desk().config()?;
            values.iter().find(|line| line.key == key).and_then(|line| line.value.as_u64())
        }
    };
    let age_ms = age_ms.ok_or_else(|| {
        ClientError::new(ErrorKind::Usage, "nothing says how old is old enough to be pruned").hint(format!(
            "`--older-than 90d` says it once; `{key} = \"90d\"` in the configuration says it for good"
        ))
    })?;
    if asked.is_agreed || asked.is_dry_run || is_interactive(options, io) {
        return Ok(age_ms);
    }
    let message = "nobody can be asked whether it may go";
    Err(ClientError::new(ErrorKind::Usage, message)
        .hint("`--yes` prunes without asking; `--dry-run` says what would go"))
}

/// Asks for consent unless `--yes` gave it. Returns the exit code to end with if consent is refused, else `None`.
///
/// # Errors
/// If the terminal closes before an answer.
pub(super) async fn agreed(
    asked: Prune,
    question: &str,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Option<Exit>, ClientError> {
    if asked.is_agreed {
        return Ok(None);
    }
    let word = confirm(question, io).await;
    let word = word.map_err(|error| error.hint("`--yes` prunes without asking; nothing was pruned"))?;
    if word == Word::Yes {
        return Ok(None);
    }
    if !options.is_quiet {
        report::note(io, "nothing was pruned");
    }
    Ok(Some(if word == Word::Left { Exit::CANCELLED } else { Exit::DONE }))
}
