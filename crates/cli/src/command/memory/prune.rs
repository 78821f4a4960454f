//! `memory prune`: permanently deletes records older than a given age, after consent.

use clap::Args;
use serde_json::json;
use setpoint_app::{Error, Memory};
use setpoint_protocol::MegramId;

use super::render::{Look, records};
use super::{look, note, opened};
use crate::app::App;
use crate::command::retention::Retention;
use crate::exit::Exit;
use crate::io::Io;
use crate::options::Options;
use crate::text::Line;
use crate::view::words;

/// The configuration key with the default age.
const KEY: &str = "retention.memory";
/// Records that one entry of the journal forgets.
const FORGOTTEN_AT_ONCE: usize = 1_000;

/// Delete old lessons permanently, after asking; keeps rules and stated facts
#[derive(Args, Debug)]
pub(super) struct Prune {
    #[command(flatten)]
    retention: Retention,
}

impl Prune {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let older_than_ms = self.retention.age_ms(KEY, app, io)?;
        let look = look(None, app, io);
        opened(app, async |memory| {
            prune(memory, older_than_ms, self.retention, &look, &app.options, io).await
        })
        .await
    }
}

async fn prune(
    memory: &dyn Memory,
    older_than_ms: u64,
    asked: Retention,
    look: &Look,
    options: &Options,
    io: &mut Io,
) -> Result<Exit, Error> {
    let prunable = memory.prunable(older_than_ms).await?;
    let before = words::date_and_time(prunable.before, &io.zone);
    let count = words::count(prunable.records.len() as u64, "record");
    if asked.is_dry_run || prunable.records.is_empty() {
        if options.is_json {
            io.out.json(&json!({ "prunable": prunable }))?;
        } else if prunable.records.is_empty() {
            note(&format!("there is nothing to prune that was learnt before {before}"), options, io);
        } else {
            io.out.lines(&records(&prunable.records, look))?;
            note(&format!("{count} from before {before} would be pruned"), options, io);
        }
        return Ok(Exit::DONE);
    }
    let question = format!(
        "Delete {count} from before {before} permanently? Rules and facts are kept; what is deleted cannot be restored."
    );
    if let Some(exit) = asked.agreed(&question, options, io).await? {
        return Ok(exit);
    }
    let ids: Vec<MegramId> = prunable.records.into_iter().map(|record| record.megram.id).collect();
    for part in ids.chunks(FORGOTTEN_AT_ONCE) {
        memory.forget(part).await?;
    }
    if options.is_json {
        io.out.json(&json!({ "before": prunable.before, "forgotten": ids }))?;
    } else {
        io.out.lines(&[Line::plain(&format!("forgot {count}"))])?;
    }
    Ok(Exit::DONE)
}
