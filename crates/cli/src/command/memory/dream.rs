//! `memory dream`: runs one pass of the Dreamer now.

use clap::Args;
use setpoint_app::Error;
use setpoint_memory::view::DreamReport;

use super::render::{Look, change_lines};
use super::{look, opened};
use crate::report;
use crate::text::{Line, Tone};
use crate::view::words;
use crate::{App, Exit, Io};

/// Run the Dreamer now: promote rules, demote rules, delete faded records
#[derive(Args, Debug)]
pub(super) struct Dream {}

impl Dream {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let look = look(None, app, io);
        opened(app, async |memory| {
            if io.err.is_terminal {
                let text = "the Dreamer is running; it can take a while if a model words the rules";
                report::aside(io, &app.options, text);
            }
            let report = memory.dream().await?;
            io.out.show(&app.options, &report, || lines(&report, &look))?;
            Ok(Exit::DONE)
        })
        .await
    }
}

fn lines(report: &DreamReport, look: &Look) -> Vec<Line> {
    if report.is_elsewhere {
        return vec![Line::new().and(Tone::Care, "another process runs the Dreamer: nothing was done here")];
    }
    let mut lines = change_lines("demoted ", Tone::Bad, &report.demoted, look);
    lines.extend(change_lines("reworded", Tone::Plain, &report.reflected, look));
    lines.extend(change_lines("made    ", Tone::Good, &report.promoted, look));
    lines.extend(change_lines("proposed", Tone::Care, &report.proposed, look));
    if !report.proposed.is_empty() {
        let hint = "          `setpoint memory approve` lists what waits for your approval";
        lines.push(Line::new().and(Tone::Dim, hint));
    }
    lines.extend(change_lines("imagined", Tone::Dim, &report.hypotheses, look));
    let counts = [(report.faded, "faded record"), (report.outputs, "output")];
    for (number, thing) in counts.into_iter().filter(|(number, _)| *number > 0) {
        lines.push(
            Line::new()
                .and(Tone::Dim, "deleted ")
                .and(Tone::Plain, &format!("  {}", words::count(number, thing))),
        );
    }
    let took = words::duration(report.duration_ms);
    let end =
        if lines.is_empty() { format!("nothing had to be done ({took})") } else { format!("took {took}") };
    lines.push(Line::new().and(Tone::Dim, &end));
    lines
}
