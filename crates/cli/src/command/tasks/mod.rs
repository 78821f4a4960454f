//! `tasks`: commands that show and change tasks.

mod cancel;
mod cost;
mod diff;
mod export;
mod fork;
mod list;
mod page;
mod prune;
mod resume;
mod show;
mod undo;

use clap::{Args, Subcommand};
use setpoint_app::Error;

pub use self::list::TASKS_LISTED;
use crate::{App, Exit, Io, Options};

/// List, show, cancel and resume tasks [default: list]
#[derive(Args, Debug)]
pub struct Tasks {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(list::List),
    Show(show::Show),
    Cost(cost::Cost),
    Diff(diff::Diff),
    Undo(undo::Undo),
    Cancel(cancel::Cancel),
    Resume(resume::Resume),
    Fork(fork::Fork),
    Export(export::Export),
    Prune(prune::Prune),
}

impl Tasks {
    pub(super) fn settle(&mut self, options: &mut Options) {
        match &mut self.verb {
            Some(Verb::Resume(resume)) => resume.settle(options),
            Some(Verb::Fork(fork)) => fork.settle(options),
            _ => {}
        }
    }

    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        match self.verb.unwrap_or(Verb::List(list::List::default())) {
            Verb::List(list) => list.run(app, io).await,
            Verb::Show(show) => show.run(app, io).await,
            Verb::Cost(cost) => cost.run(app, io).await,
            Verb::Diff(diff) => diff.run(app, io).await,
            Verb::Undo(undo) => undo.run(app, io).await,
            Verb::Cancel(cancel) => cancel.run(app, io).await,
            Verb::Resume(resume) => resume.run(app, io).await,
            Verb::Fork(fork) => fork.run(app, io).await,
            Verb::Export(export) => export.run(app, io).await,
            Verb::Prune(prune) => prune.run(app, io).await,
        }
    }
}
