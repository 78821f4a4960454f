//! `memory forget`: permanently deletes records, after consent.

use clap::Args;
use setpoint_app::{Error, ErrorKind, Memory};
use setpoint_memory::view::RecordLine;
use setpoint_protocol::MegramId;

use super::render::{Look, change_lines, records};
use super::{look, opened};
use crate::args::values::megram;
use crate::command::confirm::{Word, confirm};
use crate::command::pursue::is_interactive;
use crate::report;
use crate::text::Tone;
use crate::view::words;
use crate::{App, Exit, Io, Options};

/// Delete records permanently, after asking
#[derive(Args, Debug)]
pub(super) struct Forget {
    /// Name the records by their ids, or the start or end of an id
    #[arg(value_name = "ID", required = true, value_parser = megram)]
    ids: Vec<String>,
    /// Delete without asking
    #[arg(long = "yes")]
    is_agreed: bool,
}

impl Forget {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        check(self.is_agreed, &app.options, io)?;
        let look = look(None, app, io);
        opened(app, async |memory| self.forget(memory, &look, &app.options, io).await).await
    }

    async fn forget(
        &self,
        memory: &dyn Memory,
        look: &Look,
        options: &Options,
        io: &mut Io,
    ) -> Result<Exit, Error> {
        let found = find(memory, &self.ids).await?;
        if !self.is_agreed {
            io.err.lines(&records(&found, look))?;
            let question = match found.len() {
                1 => "Delete this record permanently? It cannot be restored.".to_owned(),
                _ => {
                    let count = words::count(found.len() as u64, "record");
                    format!("Delete these {count} permanently? They cannot be restored.")
                }
            };
            let word = confirm(&question, io)
                .await
                .map_err(|error| error.hint("`--yes` deletes without asking; nothing was deleted"))?;
            if word != Word::Yes {
                report::aside(io, options, "nothing was forgotten");
                return Ok(if word == Word::Left { Exit::CANCELLED } else { Exit::DONE });
            }
        }
        let ids: Vec<MegramId> = found.into_iter().map(|record| record.megram.id).collect();
        let gone = memory.forget(&ids).await?;
        io.out.show(options, &gone, || change_lines("forgot", Tone::Good, &gone, look))?;
        Ok(Exit::DONE)
    }
}

/// Fails if no one can give consent.
fn check(is_agreed: bool, options: &Options, io: &Io) -> Result<(), Error> {
    if is_agreed || is_interactive(options, io) {
        return Ok(());
    }
    let message = "cannot ask before deleting: there is no terminal";
    Err(Error::new(ErrorKind::Usage, message)
        .hint("`--yes` deletes them without asking; `setpoint memory show ID` shows a record in full"))
}

/// Returns the records that the ids name, without duplicates.
async fn find(memory: &dyn Memory, ids: &[String]) -> Result<Vec<RecordLine>, Error> {
    let mut found: Vec<RecordLine> = Vec::new();
    for id in ids {
        let record = memory.show(id, None).await?.record;
        if found.iter().all(|other| other.megram.id != record.megram.id) {
            found.push(record);
        }
    }
    Ok(found)
}
