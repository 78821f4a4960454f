//! `playbooks`: lists and checks the playbooks of the embedded brain.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use setpoint_app::Error;
use setpoint_app::program::PlaybookProblem;

use crate::report;
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone};
use crate::{App, Exit, Io};

/// Show and check the playbooks of the embedded brain
#[derive(Args, Debug)]
pub struct Playbooks {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the playbooks
    List,
    /// Print a playbook as it is written
    Show {
        /// Name the playbook
        name: String,
    },
    /// Check all playbooks, or one file
    Check {
        /// Check this file alone
        file: Option<PathBuf>,
    },
}

impl Playbooks {
    pub(super) fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        match self.verb.unwrap_or(Verb::List) {
            Verb::List => list(app, io),
            Verb::Show { name } => show(&name, app, io),
            Verb::Check { file } => check(file.as_deref(), app, io),
        }
    }
}

fn list(app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
    let (playbooks, problems) = app.host.desk().playbooks();
    if app.options.is_json {
        io.out.json(&json!({ "playbooks": playbooks, "problems": problems }))?;
        return Ok(Exit::DONE);
    }
    let cell = |tone: Tone, text: &str| -> Cell { (tone, text.to_owned()) };
    let rows: Vec<Vec<Cell>> = playbooks
        .iter()
        .map(|playbook| {
            vec![
                cell(Tone::Name, &playbook.name),
                cell(Tone::Plain, &playbook.title),
                cell(Tone::Plain, &playbook.approaches.join(", ")),
                cell(Tone::Dim, &playbook.origin),
                cell(Tone::Plain, &playbook.example),
            ]
        })
        .collect();
    io.out.lines(&table(&["name", "what for", "approaches", "origin", "example"], &rows))?;
    for problem in &problems {
        report::warning(io, &words(problem));
    }
    Ok(Exit::DONE)
}

fn show(name: &str, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
    let text = app.host.desk().playbook(name)?;
    if app.options.is_json {
        io.out.json(&json!({ "name": name, "text": text }))?;
    } else {
        io.out.data(&text)?;
        if !text.ends_with('\n') {
            io.out.write_text("\n")?;
        }
    }
    Ok(Exit::DONE)
}

/// Returns the code of a configuration error if a playbook cannot be used.
fn check(file: Option<&Path>, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
    let problems = app.host.desk().check_playbooks(file)?;
    io.out.show(&app.options, &json!({ "problems": problems }), || match problems.as_slice() {
        [] => vec![Line::new().and(Tone::Good, "no problems")],
        _ => problems.iter().map(|problem| Line::plain(&words(problem))).collect(),
    })?;
    Ok(if problems.is_empty() { Exit::DONE } else { Exit::USAGE })
}

fn words(problem: &PlaybookProblem) -> String {
    match problem.line {
        0 => format!("{}: {}", problem.file, problem.reason),
        line => format!("{}:{line}: {}", problem.file, problem.reason),
    }
}
