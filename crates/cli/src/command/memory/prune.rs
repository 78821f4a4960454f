//! `memory prune`: permanently deletes records older than a given age, after consent.

use clap::Args;
use serde_json::json;
use setpoint_app::Error;
use setpoint_protocol::MegramId;

use super::render::records;
use super::{look, opened};
use crate::command::retention::Retention;
use crate::text::Line;
use crate::view::words;
use crate::{App, Exit, Io, report};

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
        let options = &app.options;
        opened(app, async |memory| {
    let prunable = memory.prunable(older_than_ms).await?;
    let before = words::date_and_time(prunable.before, &io.zone);
    let count = words::count(prunable.records.len() as u64, "record");
    if self.retention.is_dry_run || prunable.records.is_empty() {
        if options.is_json {
            io.out.json(&json!({ "prunable": prunable }))?;
        } else if prunable.records.is_empty() {
            let text = format!("there is nothing to prune that was learnt before {before}");
            report::aside(io, options, &text);
        } else {
            io.out.lines(&records(&prunable.records, &look))?;
            report::aside(io, options, &format!("{count} from before {before} would be pruned"));
        }
        return Ok(Exit::DONE);
    }
    let question = format!(
        "Delete {count} from before {before} permanently? Rules and facts are kept; what is deleted cannot be restored."
    );
    if let Some(exit) = self.retention.agreed(&question, options, io).await? {
        return Ok(exit);
    }
    let ids: Vec<MegramId> = prunable.records.into_iter().map(|record| record.megram.id).collect();
    for part in ids.chunks(FORGOTTEN_AT_ONCE) {
        memory.forget(part).await?;
    }
    let value = json!({ "before": prunable.before, "forgotten": ids });
    io.out.show(options, &value, || vec![Line::plain(&format!("forgot {count}"))])?;
    Ok(Exit::DONE)
        })
        .await
    }
}
