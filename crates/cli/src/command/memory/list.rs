//! `memory list`: lists records.

use clap::{Args, ValueEnum};
use serde_json::json;
use setpoint_app::{Error, Memory};
use setpoint_memory::view::RecordFilter;
use setpoint_protocol::message::Level;

use super::render::{Look, records};
use super::{MomentArgument, RECORDS_LISTED, look, note, opened};
use crate::app::App;
use crate::args::values::listed;
use crate::exit::Exit;
use crate::io::Io;
use crate::options::Options;

/// List records, newest first
#[derive(Args, Debug, Default)]
pub(super) struct List {
    /// List only this space
    #[arg(long)]
    space: Option<String>,
    /// List only this entity
    #[arg(long)]
    entity: Option<String>,
    /// List only this layer: raw records, knowledge, common sense, thinking
    #[arg(long, value_enum, ignore_case = true)]
    level: Option<LevelName>,
    /// List at most N [default: 20]
    #[arg(long, value_name = "N", value_parser = listed)]
    limit: Option<usize>,
    #[command(flatten)]
    seen: MomentArgument,
}

/// A layer, as it is typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "UPPER")]
enum LevelName {
    M,
    K,
    C,
    T,
}

impl LevelName {
    fn level(self) -> Level {
        match self {
            LevelName::M => Level::M,
            LevelName::K => Level::K,
            LevelName::C => Level::C,
            LevelName::T => Level::T,
        }
    }
}

impl List {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let at = self.seen.moment(app, io)?;
        let look = look(at, app, io);
        let List { space, entity, level, limit, seen: _ } = self;
        let (level, limit) = (level.map(LevelName::level), limit.unwrap_or(RECORDS_LISTED));
        let filter = RecordFilter { space, entity, level, limit, at };
        opened(app, async |memory| list(memory, &filter, &look, &app.options, io).await).await
    }
}

async fn list(
    memory: &dyn Memory,
    filter: &RecordFilter,
    look: &Look,
    options: &Options,
    io: &mut Io,
) -> Result<Exit, Error> {
    let is_everything = filter.space.is_none() && filter.entity.is_none() && filter.level.is_none();
    let found = memory.list(filter).await?;
    if options.is_json {
        io.out.json(&json!(found))?;
    } else if !found.is_empty() {
        io.out.lines(&records(&found, look))?;
    } else if is_everything {
        note("memory has no records yet", options, io);
    } else {
        note("no record matches", options, io);
    }
    Ok(Exit::DONE)
}
