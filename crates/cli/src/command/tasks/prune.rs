//! `tasks prune`: deletes the content of old tasks, after consent.

use clap::Args;
use serde_json::json;
use setpoint_app::{Error, Organisation};
use setpoint_runtime::organisation::{Prunable, Pruned};

use crate::app::App;
use crate::command::retention::Retention;
use crate::command::shut_down;
use crate::exit::Exit;
use crate::io::Io;
use crate::options::Options;
use crate::report;
use crate::text::{Line, Tone};
use crate::view::words;

/// The configuration key with the default age.
const KEY: &str = "retention.tasks";

/// Delete the steps of old tasks to free disk space; keeps goals, results and lessons
#[derive(Args, Debug)]
pub(super) struct Prune {
    #[command(flatten)]
    retention: Retention,
}

impl Prune {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let older_than_ms = self.retention.age_ms(KEY, app, io)?;
        let organisation = app.host.open_without_models().await?;
        let done = prune(&*organisation, older_than_ms, self.retention, &app.options, io).await;
        shut_down(&organisation).await;
        done
    }
}

async fn prune(
    organisation: &dyn Organisation,
    older_than_ms: u64,
    asked: Retention,
    options: &Options,
    io: &mut Io,
) -> Result<Exit, Error> {
    let prunable = organisation.prunable(older_than_ms).await?;
    let before = words::date_and_time(prunable.before, &io.zone);
    if asked.is_dry_run || prunable.tasks.is_empty() {
        if options.is_json {
            io.out.json(&json!({ "prunable": prunable }))?;
        } else if prunable.tasks.is_empty() {
            report::note(io, &format!("no task that ended before {before} is left to be pruned"));
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
        "Prune {} that ended before {before}, {}? What they did goes for good; goals, results and what was learnt stay.",
        words::count(prunable.tasks.len() as u64, "task"),
        words::bytes(prunable.bytes)
    );
    if let Some(exit) = asked.agreed(&question, options, io).await? {
        return Ok(exit);
    }
    let done = organisation.prune(&prunable).await?;
    if options.is_json {
        io.out.json(&json!({ "before": prunable.before, "tasks": prunable.tasks, "pruned": done }))?;
    } else {
        tell(&prunable, &done, options, io)?;
    }
    Ok(Exit::DONE)
}

fn tell(prunable: &Prunable, done: &Pruned, options: &Options, io: &mut Io) -> Result<(), Error> {
    let text = format!(
        "pruned {}: {}; the disk has {} back",
        words::count(prunable.tasks.len() as u64, "task"),
        words::count(done.records, "record"),
        words::bytes(done.bytes)
    );
    io.out.lines(&[Line::plain(&text)])?;
    if let Some(why) = &done.not_given_back {
        report::warning(io, &format!("the disk does not have the room back yet: {why}"));
    }
    if options.is_quiet {
        return Ok(());
    }
    if done.workspaces_kept > 0 {
        let kept = words::count(done.workspaces_kept, "workspace");
        let bytes = words::bytes(done.workspace_bytes);
        report::note(
            io,
            &format!("{kept} with files of these tasks stay, {bytes}: results may be among them"),
        );
    }
    if prunable.has_more {
        report::note(io, "there are more such tasks: prune once more");
    }
    Ok(())
}
