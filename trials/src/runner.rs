//! Runs trials: generates, runs, judges, records and replays them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use crate::error::TrialError;
use crate::organisation::{self, Answers};
use crate::place::Place;
use crate::plain;
use crate::recording::{Files, Kept, programs};
use crate::relay::Relay;
use crate::report::{PlainRow, Row};
use crate::tasks::TRIALS;
use crate::trial::{End, PLAIN, Trial};

/// The model to ask, and how.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) name: String,
    /// The model's own address.
    pub(crate) base: String,
    pub(crate) key: Option<String>,
}

/// How trials are run.
pub(crate) struct Runner {
    /// The built program.
    pub(crate) setpoint: PathBuf,
    pub(crate) seed: u64,
    pub(crate) limit: Duration,
    /// Whether commands of the model run in the sandbox.
    pub(crate) has_sandbox: bool,
    /// Whether the temporary folders are kept.
    pub(crate) keeps: bool,
    /// The executable that keeps tool calls of the plain loop.
    pub(crate) keeper: Option<PathBuf>,
}

/// Returns the trials of these names, in the order of the table; all if there are no names.
pub(crate) fn named(names: &[String]) -> Result<Vec<&'static Trial>, TrialError> {
    if let Some(name) = names.iter().find(|name| TRIALS.iter().all(|trial| trial.name != name.as_str())) {
        let known = TRIALS.map(|trial| trial.name).join(", ");
        return Err(TrialError::Unknown { name: name.clone(), known });
    }
    let is_wanted = |trial: &&Trial| names.is_empty() || names.iter().any(|name| trial.name == name);
    Ok(TRIALS.into_iter().filter(is_wanted).collect())
}

impl Runner {
    /// Runs a trial with a model, and keeps the recording if a folder is given.
    pub(crate) async fn run(
        &self,
        trial: &Trial,
        model: &Model,
        with_plain: bool,
        record: Option<&Path>,
    ) -> Result<Row, TrialError> {
        let files = record.map(|folder| Files::of(folder, trial.name));
        if let Some(files) = files.as_ref().filter(|files| files.tape.exists()) {
            // Fails now instead of after an hour of answers.
            return Err(TrialError::Kept { path: files.tape.clone() });
        }
        let place = Place::new(self.has_sandbox)?;
        let relay = Relay::start(&model.base).await?;
        let answers = Answers::Model {
            name: &model.name,
            base: relay.base(),
            key: model.key.as_deref(),
            is_recorded: record.is_some(),
        };
        let mut row = self.judged(trial, &place, &answers).await?;
        row.traffic = Some(relay.expect_answers()?);
        if with_plain {
            row.plain = Some(self.plain(trial, model).await?);
        }
        if let Some(files) = files {
            let kept = Kept {
                seed: self.seed,
                model: model.name.clone(),
                programs: programs()?,
                row: row.to_keep(),
            };
            files.keep(trial.name, &organisation::tape(&place), &kept, &private(&place, model))?;
        }
        self.leave(trial, place);
        Ok(row)
    }

    /// Runs a trial with its kept recording. Returns its result, and how that differs from the kept one.
    pub(crate) async fn replay(
        &self,
        trial: &Trial,
        folder: &Path,
    ) -> Result<(Row, Vec<String>), TrialError> {
        let files = Files::of(folder, trial.name);
        let kept = files.read()?;
        let tape = files.tape.canonicalize().map_err(TrialError::file("find", &files.tape))?;
        let place = Place::new(self.has_sandbox)?;
        let runner =
            Runner { seed: kept.seed, ..Runner { setpoint: self.setpoint.clone(), keeper: None, ..*self } };
        let row = runner.judged(trial, &place, &Answers::Recording(&tape)).await?;
        let mut differences = differences(&kept.row, &row);
        if !differences.is_empty() {
            // The text names a question that was not recorded, with the nearest that was.
            differences.push(format!("it says: {}", row.text));
            let now = programs()?;
            if now != kept.programs {
                // Other versions do not excuse a difference, but are the first thing to check.
                let then = kept.programs.join(", ");
                differences.push(format!("recorded with {then}; here is {}", now.join(", ")));
            }
        }
        self.leave(trial, place);
        let row = Row { plain: kept.row.plain, ..row };
        Ok((row, differences))
    }

    async fn judged(&self, trial: &Trial, place: &Place, answers: &Answers<'_>) -> Result<Row, TrialError> {
        let before = trial.prepare(self.seed, &place.work())?;
        let start = Instant::now();
        let run = organisation::run(&self.setpoint, place, trial.goal, answers, self.limit).await?;
        let seconds = start.elapsed().as_secs();
        let checked = trial.judge(self.seed, &place.work(), &before, &run.end)?;
        Ok(Row {
            trial: trial.name.to_owned(),
            state: trial.state.name().to_owned(),
            solved: checked.is_solved(),
            false_passes: run.false_passes(&checked),
            faults: checked.faults,
            claimed: run.end.claimed,
            text: run.end.text,
            calls_by_role: run.calls_by_role,
            tool_calls: run.tool_calls,
            approvals: run.approvals,
            rounds: run.end.replans + 1,
            traffic: None,
            seconds: Some(seconds),
            plain: None,
        })
    }

    /// Runs the plain loop in its own place.
    async fn plain(&self, trial: &Trial, model: &Model) -> Result<PlainRow, TrialError> {
        let place = Place::new(self.has_sandbox)?;
        let relay = Relay::start(&model.base).await?;
        let before = trial.prepare(self.seed, &place.work())?;
        let start = Instant::now();
        let asked = plain::Model { name: &model.name, base: relay.base(), key: model.key.as_deref() };
        let run = plain::run(&asked, &place, trial.goal, self.keeper.clone());
        let run = match tokio::time::timeout(self.limit, run).await {
            Ok(run) => run?,
            Err(_) => plain::PlainRun { text: "(time is up)".to_owned(), ..plain::PlainRun::default() },
        };
        let seconds = start.elapsed().as_secs();
        let end = End { claimed: PLAIN.to_owned(), text: run.text.clone(), ..End::default() };
        let checked = trial.judge(self.seed, &place.work(), &before, &end)?;
        self.leave(trial, place);
        Ok(PlainRow {
            solved: checked.is_solved(),
            faults: checked.faults,
            tool_calls: run.tool_calls,
            approvals: run.approvals,
            traffic: relay.traffic(),
            text: run.text,
            seconds: Some(seconds),
        })
    }

    fn leave(&self, trial: &Trial, place: Place) {
        if self.keeps {
            eprintln!("{}: kept in {}", trial.name, place.keep().display());
        }
    }
}

/// Returns the texts that no recording may contain.
fn private(place: &Place, model: &Model) -> Vec<String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let folder = place.home().file_name().map(|name| name.to_string_lossy().into_owned());
    let here = std::env::current_dir().map(|folder| folder.to_string_lossy().into_owned());
    let key = model.key.clone();
    [Some(format!("{home}/")), folder, here.ok(), key]
        .into_iter()
        .flatten()
        .filter(|text| text != "/")
        .collect()
}

/// Returns how a replay differs from the kept result.
fn differences(kept: &Row, now: &Row) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |what: &str, kept: String, now: String| {
        if kept != now {
            found.push(format!("{what}: {now} instead of {kept}"));
        }
    };
    compare("solved", kept.solved.to_string(), now.solved.to_string());
    compare("faults", kept.faults.join("; "), now.faults.join("; "));
    compare("claimed", kept.claimed.clone(), now.claimed.clone());
    compare("false ✔", kept.false_passes.join("; "), now.false_passes.join("; "));
    compare("rounds", kept.rounds.to_string(), now.rounds.to_string());
    compare("approvals", kept.approvals.to_string(), now.approvals.to_string());
    compare("calls", format!("{:?}", kept.calls_by_role), format!("{:?}", now.calls_by_role));
    found
}
