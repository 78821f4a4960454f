//! What `tasks prune` and `memory prune` share: the age, and consent.

use clap::Args;
use setpoint_app::{Error, ErrorKind};

use super::confirm::{Word, confirm};
use super::pursue::is_interactive;
use crate::args::values::age_ms;
use crate::report;
use crate::{App, Exit, Io, Options};

/// Options that choose what is pruned, and whether to ask.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Retention {
    /// Prune only what is older than AGE, such as 30d, 12h or 8w [default: `retention.tasks` or `retention.memory`]
    #[arg(long = "older-than", value_name = "AGE", value_parser = age_ms)]
    older_than_ms: Option<u64>,
    /// Show what would be pruned without pruning it
    #[arg(long = "dry-run", conflicts_with = "is_agreed")]
    pub(super) is_dry_run: bool,
    /// Prune without asking
    #[arg(long = "yes")]
    is_agreed: bool,
}

impl Retention {
    /// Returns the age from which records are pruned, in milliseconds: from the command line, else from this configuration key.
    /// Fails early, before anything is opened, if the command could not ask for consent.
    ///
    /// # Errors
    /// If neither sets an age, or no one can be asked for consent.
    pub(super) fn age_ms(self, key: &str, app: &App<'_>, io: &Io) -> Result<u64, Error> {
        let age_ms = match self.older_than_ms {
            Some(age_ms) => Some(age_ms),
            None => {
                let values = app.host.desk().config()?;
                values.iter().find(|line| line.key == key).and_then(|line| line.value.as_u64())
            }
        };
        let age_ms = age_ms.ok_or_else(|| {
            Error::new(ErrorKind::Usage, "no age is set from which to prune").hint(format!(
                "set it for this run with `--older-than 90d`, or for all runs with `{key} = \"90d\"` in the configuration"
            ))
        })?;
        if self.is_agreed || self.is_dry_run || is_interactive(&app.options, io) {
            return Ok(age_ms);
        }
        let message = "cannot ask before pruning: there is no terminal";
        Err(Error::new(ErrorKind::Usage, message)
            .hint("`--yes` prunes without asking; `--dry-run` shows what would be pruned"))
    }

    /// Asks for consent unless `--yes` gave it. Returns the exit code to end with if consent is refused, else `None`.
    ///
    /// # Errors
    /// If the terminal closes before an answer.
    pub(super) async fn agreed(
        self,
        question: &str,
        options: &Options,
        io: &mut Io,
    ) -> Result<Option<Exit>, Error> {
        if self.is_agreed {
            return Ok(None);
        }
        let word = confirm(question, io).await;
        let word = word.map_err(|error| error.hint("`--yes` prunes without asking; nothing was pruned"))?;
        if word == Word::Yes {
            return Ok(None);
        }
        report::aside(io, options, "nothing was pruned");
        Ok(Some(if word == Word::Left { Exit::CANCELLED } else { Exit::DONE }))
    }
}
