//! `memory share`, and the one-time question: whether memory may send a language model lessons learnt without
//! it.

use clap::{Args, ValueEnum};
use serde_json::json;
use setpoint_app::Error;

use super::opened;
use crate::command::confirm::{Word, confirm};
use crate::report;
use crate::text::{Line, Tone};
use crate::{App, Exit, Io};

const SHARED: &str = "a language model is sent what was learnt without it when it plans something similar";
const KEPT: &str = "a language model is sent only what was learnt with it";

/// Allow or forbid sending a language model what was learnt without it (goals, paths, what worked) [default: no]
#[derive(Args, Debug)]
pub(super) struct Share {
    /// Answer yes or no
    word: ShareWord,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShareWord {
    Yes,
    No,
}

impl Share {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let is_allowed = self.word == ShareWord::Yes;
        opened(app, async |memory| memory.share(is_allowed).await).await?;
        let lines = || vec![Line::plain(if is_allowed { SHARED } else { KEPT })];
        io.out.show(&app.options, &json!({ "is_shared": is_allowed }), lines)?;
        Ok(Exit::DONE)
    }
}

/// Asks the person whether memory may be shared, if it holds lessons that `models`, or else the configured
/// models, were not part of and the question is still open. Stores the answer and returns it; `None` if the
/// person was not asked. If memory cannot be asked, the command goes on and no model is sent anything from
/// it.
pub(in crate::command) async fn ask(models: &[String], app: &App<'_>, io: &mut Io) -> Option<Word> {
    let mut said = None;
    let asked = opened(app, async |memory| {
        let unasked = memory.unasked(models).await?;
        if unasked.is_empty() {
            return Ok(());
        }
        let known = Line::plain("Memory holds what was learnt without ")
            .and(Tone::Name, &unasked.join(" and "))
            .and(Tone::Plain, ": goals, paths, what worked and what failed.");
        io.err.lines(&[known])?;
        let word = confirm("May a language model be sent this when it plans something similar?", io).await?;
        said = Some(word);
        if word != Word::Left {
            memory.share(word == Word::Yes).await?;
            let hint = "you will not be asked again; `setpoint memory share yes` or `no` changes the answer";
            report::aside(io, &app.options, hint);
        }
        Ok(())
    })
    .await;
    if let Err(error) = asked {
        match said {
            None => {
                tracing::warn!(%error, "failed to ask whether memory may be shared with models");
            }
            Some(_) => report::warning(io, &format!("the answer was not stored: {error}")),
        }
    }
    said
}
