//! `memory stats`: how much is remembered, in which layers, and when the Dreamer last ran.

use clap::Args;
use setpoint_app::Error;
use setpoint_memory::view::MemoryStats;

use super::render::Look;
use super::{look, opened};
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone};
use crate::view::words;
use crate::{App, Exit, Io};

/// Show how much is remembered, where, and when the Dreamer last ran
#[derive(Args, Debug)]
pub(super) struct Stats {}

impl Stats {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let look = look(None, app, io);
        opened(app, async |memory| {
            let stats = memory.stats().await?;
            io.out.show(&app.options, &stats, || lines(&stats, &look))?;
            Ok(Exit::DONE)
        })
        .await
    }
}

fn lines(stats: &MemoryStats, look: &Look) -> Vec<Line> {
    let row =
        |name: &str, text: String| -> Vec<Cell> { vec![(Tone::Dim, name.to_owned()), (Tone::Plain, text)] };
    let count = |name: &str, number: u64| row(name, words::thousands(number));
    let dreamt =
        stats.dreamt_at.map_or_else(|| "never".to_owned(), |at| words::date_and_time(at, &look.zone));
    let shared = match stats.is_shared {
        Some(true) => "with every language model",
        Some(false) => "only with the model that it was learnt with",
        None => "only with the model that it was learnt with (you have not been asked yet)",
    };
    let rows = [
        row("place", stats.place.clone()),
        row("size", words::bytes(stats.bytes)),
        count("records", stats.records),
        count("summed", stats.summed),
        count("rules", stats.rules),
        count("facts", stats.facts),
        count("pairs", stats.pairs),
        count("forgotten", stats.forgotten),
        row("journal", format!("{} taken in", words::count(stats.journal_records, "record"))),
        row("dreamt", dreamt),
        row("shared", shared.to_owned()),
    ];
    table(&[], &rows)
}
