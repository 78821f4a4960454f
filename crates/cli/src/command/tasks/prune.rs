//! `tasks prune`: deletes the content of old tasks, after consent.

use clap::Args;
use serde_json::json;
use setpoint_app::Error;
use setpoint_runtime::organisation::{PrunableTasks, PruneReport};

use crate::command::reading;
use crate::command::retention::Retention;
use crate::report;
use crate::text::{Line, Tone};
use crate::view::words;
use crate::{App, Exit, Io, Options};

/// The configuration key with the default age.
const KEY: &str = "retention.tasks";

/// Delete the steps of old tasks, and what they kept for an undo; keeps goals, results and lessons
#[derive(Args, Debug)]
pub(super) struct Prune {
    #[command(flatten)]
    retention: Retention,
}

impl Prune {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let older_than_ms = self.retention.age_ms(KEY, app, io)?;
        let options = &app.options;
        reading(app, async |organisation| {
    let prunable = organisation.prunable(older_than_ms).await?;
    let before = words::date_and_time(prunable.before, &io.zone);
    if self.retention.is_dry_run || prunable.tasks.is_empty() {
        if options.is_json {
            io.out.json(&json!({ "prunable": prunable }))?;
        } else if prunable.tasks.is_empty() {
            report::note(io, &format!("there is no task to prune that ended before {before}"));
        } else {
            let text = format!(
                "{} that ended before {before} would be pruned: {}, {}",
                words::count(prunable.tasks.len() as u64, "task"),
                words::count(prunable.records, "record"),
                words::bytes(prunable.bytes)
            );
            let ids = prunable.tasks.iter().map(|task| Line::new().and(Tone::Dim, &format!("  {task}")));
            io.out.lines(&std::iter::once(Line::plain(&text)).chain(ids).collect::<Vec<_>>())?;
        }
        return Ok(Exit::DONE);
    }
    let question = format!(
        "Prune {} that ended before {before}, {}? Their steps, and what is kept to undo their changes, are deleted \
         permanently; goals, results and lessons are kept.",
        words::count(prunable.tasks.len() as u64, "task"),
        words::bytes(prunable.bytes)
    );
    if let Some(exit) = self.retention.agreed(&question, options, io).await? {
        return Ok(exit);
    }
    let done = organisation.prune(&prunable).await?;
    if options.is_json {
        io.out.json(&json!({ "before": prunable.before, "tasks": prunable.tasks, "pruned": done }))?;
    } else {
        tell(&prunable, &done, options, io)?;
    }
    Ok(Exit::DONE)
        })
        .await
    }
}

fn tell(prunable: &PrunableTasks, done: &PruneReport, options: &Options, io: &mut Io) -> Result<(), Error> {
    let text = format!(
        "pruned {}: {}; freed {} on the disk",
        words::count(prunable.tasks.len() as u64, "task"),
        words::count(done.records, "record"),
        words::bytes(done.bytes)
    );
    io.out.lines(&[Line::plain(&text)])?;
    if let Some(why) = &done.not_given_back {
        report::warning(io, &format!("the disk space is not freed yet: {why}"));
    }
    if done.workspaces_kept > 0 {
        let kept = words::count(done.workspaces_kept, "workspace");
        let bytes = words::bytes(done.workspace_bytes);
        let text = format!("kept {kept} with files of these tasks, {bytes}: results may be among them");
        report::aside(io, options, &text);
    }
    if prunable.has_more {
        report::aside(io, options, "more tasks can be pruned: run the command again");
    }
    Ok(())
}
