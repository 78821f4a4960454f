//! `memory list`: lists records.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use setpoint_app::Error;
use setpoint_memory::view::RecordFilter;
use setpoint_protocol::message::Level;

use super::render::records;
use super::{MomentArgument, RECORDS_LISTED, look, opened};
use crate::args::values::listed;
use crate::{App, Exit, Io, report};

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
    #[arg(long, value_parser = level(), ignore_case = true)]
    level: Option<Level>,
    /// List at most N [default: 20]
    #[arg(long, value_name = "N", value_parser = listed)]
    limit: Option<usize>,
    #[command(flatten)]
    seen: MomentArgument,
}

/// Returns the parser of a layer's name, in either case.
fn level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(["M", "K", "C", "T"]).map(|name| match name.to_ascii_uppercase().as_str() {
        "M" => Level::M,
        "K" => Level::K,
        "C" => Level::C,
        _ => Level::T,
    })
}

impl List {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let at = self.seen.moment(app, io)?;
        let look = look(at, app, io);
        let List { space, entity, level, limit, seen: _ } = self;
        let limit = limit.unwrap_or(RECORDS_LISTED);
        let filter = RecordFilter { space, entity, level, limit, at };
        let is_everything = filter.space.is_none() && filter.entity.is_none() && filter.level.is_none();
        let nothing = if is_everything { "memory has no records yet" } else { "no record matches" };
        opened(app, async |memory| {
            let found = memory.list(&filter).await?;
            report::found(io, &app.options, &found, || records(&found, &look), nothing)?;
            Ok(Exit::DONE)
        })
        .await
    }
}
