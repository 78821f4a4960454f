//! `run`: pursues one goal to its end.

use std::path::PathBuf;

use clap::Args;
use setpoint_app::program::Cassette;
use setpoint_app::{Error, ErrorKind, Goal};

use super::confirm::Word;
use super::memory;
use super::pursue::{ResultDetail, driving, exit_of, is_interactive, left, opened, show, tell, tell_notices};
use crate::args::values::{amount, count, duration_ms};
use crate::render::result;
use crate::session::Show;
use crate::source::{self, TextSource};
use crate::state::ViewState;
use crate::{App, Exit, Io, Options, Setting};

/// Pursue one goal to its end
#[derive(Args, Debug)]
pub struct Run {
    /// State the goal in your own words; `-` reads it from stdin
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    goal: Vec<String>,
    /// Read the goal from FILE
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Allow what FILE covers without asking
    #[arg(long, value_name = "FILE")]
    approve: Option<PathBuf>,
    /// Show each plan, and ask before it runs
    #[arg(long = "plan")]
    is_plan_shown: bool,
    /// Write every record to stdout as one JSON line while the task runs
    #[arg(long = "stream")]
    is_stream: bool,
    /// Write only the answer to stdout, for other programs: text as it is, anything else as JSON
    #[arg(long = "output-only", conflicts_with_all = ["is_stream", "is_json"])]
    is_output_only: bool,
    /// Aim for TIME, such as 90s, 5m or 1h; at twice TIME the task is stopped; waiting for a person does not count
    #[arg(long, value_name = "TIME", value_parser = duration_ms)]
    time_budget: Option<u64>,
    /// Replan at most N times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_replans: Option<u32>,
    /// Stop after N model calls
    #[arg(long, value_name = "N", value_parser = count)]
    max_calls: Option<u64>,
    /// Stop after N tokens, questions and answers together
    #[arg(long, value_name = "N", value_parser = count)]
    max_tokens: Option<u64>,
    /// Stop after spending AMOUNT, in the currency of the price table
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    max_cost: Option<f64>,
    /// Record what the models say to FILE, which must not exist yet
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Let a recording answer instead of the models
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
}

impl Run {
    /// Adds the settings of these options last, so that they override `--set`.
    pub(super) fn settle(&mut self, options: &mut Options) {
        let settings = [
            ("--time-budget", "controller.time_budget_ms", self.time_budget.map(|ms| ms.to_string())),
            ("--max-replans", "controller.max_replans", self.max_replans.map(|n| n.to_string())),
            ("--max-calls", "budgets.calls", self.max_calls.map(|n| n.to_string())),
            ("--max-tokens", "budgets.tokens", self.max_tokens.map(|n| n.to_string())),
            ("--max-cost", "budgets.money", self.max_cost.map(|amount| amount.to_string())),
        ];
        let own = |(option, key, value): (&str, &str, Option<String>)| {
            Some(Setting { key: key.to_owned(), value: value?, option: option.to_owned() })
        };
        options.set.extend(settings.into_iter().filter_map(own));
        options.cassette = match (self.record.take(), self.replay.take()) {
            (Some(file), _) => Some(Cassette::Record(file)),
            (None, Some(file)) => Some(Cassette::Play(file)),
            (None, None) => None,
        };
    }

    /// Checks the whole command line before it touches a data directory.
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let is_interactive = is_interactive(&app.options, io);
        if self.is_plan_shown && !is_interactive {
            return Err(Error::new(ErrorKind::Usage, "`--plan` needs a terminal to show the plan on")
                .hint("leave `--plan` out, or run it on a terminal without `--json`"));
        }
        let goal = match &self.file {
            Some(file) => TextSource::File(file.clone()),
            None => TextSource::of_words(&self.goal),
        };
        let raw_input = source::read(&goal, &source::GOAL, &mut io.input)?;
        let policy = app.host.approvals(self.approve.as_deref())?;
        let goal =
            Goal { raw_input, interactive: is_interactive, preview_plan: self.is_plan_shown.then_some(true) };
        tell_notices(app, io);
        // With a recording no model is asked, so nothing can be sent to one.
        if is_interactive
            && !matches!(app.options.cassette, Some(Cassette::Play(_)))
            && memory::ask(&[], app, io).await == Some(Word::Left)
        {
            return Ok(Exit::CANCELLED);
        }
        let organisation = opened(app, io).await?;
        driving(organisation, policy.as_ref(), &app.options, io, async |driver, io| {
            let (task, events) = driver.organisation.start(goal).await?;
            // On one terminal, records and a live view would overwrite each other.
            let is_mixed = self.is_stream && io.out.is_terminal;
            let show = if is_mixed { Show::Nothing } else { show(driver.options, io) };
            let state = ViewState::new(task.clone());
            let Some(state) = driver.follow(io, state, events, show, self.is_stream).await? else {
                return Ok(left(io, &task, driver.options));
            };
            if driver.options.is_json || !self.is_stream {
                let detail = ResultDetail::of(driver.options);
                tell(io, &state, if self.is_output_only { ResultDetail::Output } else { detail })?;
            } else if !driver.options.is_quiet {
                // stdout has the records already, and the last of them is the result.
                io.err.lines(&result::brief(&state))?;
            }
            driver.tell_changes(io, &task).await;
            Ok(exit_of(&state))
        })
        .await
    }
}
