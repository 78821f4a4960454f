//! `doctor`: checks the setup, and with `--model` what the chosen models can do.

use clap::Args;
use serde_json::json;
use setpoint_app::Error;
use setpoint_app::desk::{Diagnosis, Health};
use setpoint_app::models::trial::Trial;

use crate::report;
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone};
use crate::{App, Exit, Io, Options};

/// Check that Setpoint is set up correctly
#[derive(Args, Debug)]
pub struct Doctor {
    /// Also ask the chosen models, or NAME, a few questions; shows the tokens this costs
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    model: Option<String>,
}

impl Doctor {
    /// Copies `--model` to the general options; here its value may be left out.
    pub(super) fn settle(&self, options: &mut Options) {
        options.model = self.model.clone().filter(|model| !model.is_empty());
    }

    /// Returns exit code 1 if something does not work.
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let (options, desk) = (&app.options, app.host.desk());
        let mut diagnoses = desk.doctor();
        if self.model.is_some() && io.err.is_terminal {
            report::aside(io, options, "asking the chosen models; this can take a while");
        }
        let trial = if self.model.is_some() { desk.try_models().await } else { Trial::default() };
        diagnoses.extend(trial.found);
        let worst = diagnoses.iter().map(|diagnosis| diagnosis.state).max().unwrap_or(Health::Good);
        let mut value = json!({ "state": worst, "findings": diagnoses });
        if let Some(cost) = &trial.cost {
            value["cost"] = json!(cost);
        }
        io.out.show(options, &value, || lines(&diagnoses))?;
        Ok(exit(worst))
    }
}

/// Returns a table of findings, each with its hint below it.
fn lines(diagnoses: &[Diagnosis]) -> Vec<Line> {
    let row = |diagnosis: &Diagnosis| -> Vec<Cell> {
        let subject = (Tone::Name, diagnosis.subject.clone().into_owned());
        vec![state(diagnosis.state), subject, (Tone::Plain, diagnosis.finding.clone())]
    };
    let rows: Vec<Vec<Cell>> = diagnoses.iter().map(row).collect();
    let mut lines = Vec::new();
    for (line, diagnosis) in table(&[], &rows).into_iter().zip(diagnoses) {
        lines.push(line);
        lines.extend(diagnosis.hint.as_deref().map(hint));
    }
    lines
}

/// Returns the exit code for the worst finding.
pub(super) fn exit(worst: Health) -> Exit {
    if worst == Health::Bad { Exit::INTERNAL } else { Exit::DONE }
}

/// Returns the line with the hint for a finding.
pub(super) fn hint(text: &str) -> Line {
    Line::plain("      ").and(Tone::Care, "hint: ").and(Tone::Plain, text)
}

/// Returns the word for a finding's state.
pub(super) fn state(health: Health) -> Cell {
    let (tone, word) = match health {
        Health::Good => (Tone::Good, "good"),
        Health::Note => (Tone::Care, "note"),
        Health::Bad => (Tone::Bad, "bad"),
    };
    (tone, word.to_owned())
}
