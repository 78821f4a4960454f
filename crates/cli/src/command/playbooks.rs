//! `playbooks`: what the embedded brain knows.

use std::path::Path;

use serde_json::json;
use setpoint_client::desk::PlaybookProblem;
use setpoint_client::{ClientError, Desk};

use crate::exit::Exit;
use crate::invocation::GlobalOptions;
use crate::io::Io;
use crate::report;
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone};

pub(super) fn list(options: &GlobalOptions, desk: &dyn Desk, io: &mut Io) -> Result<Exit, ClientError> {
    let (playbooks, problems) = desk.playbooks();
    if options.is_json {
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

pub(super) fn show(
    name: &str,
    options: &GlobalOptions,
    desk: &dyn Desk,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let text = desk.playbook(name)?;
    if options.is_json {
        io.out.json(&json!({ "name": name, "text": text }))?;
    } else {
        io.out.data(&text)?;
        if !text.ends_with('\n') {
            io.out.write_text("\n")?;
        }
    }
    Ok(Exit::DONE)
}

/// A playbook that cannot be used is a configuration that cannot be used.
pub(super) fn check(
    file: Option<&Path>,
    options: &GlobalOptions,
    desk: &dyn Desk,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let problems = desk.check_playbooks(file)?;
    if options.is_json {
        io.out.json(&json!({ "problems": problems }))?;
    } else if problems.is_empty() {
        io.out.lines(&[Line::new().and(Tone::Good, "no problems")])?;
    } else {
        let lines: Vec<Line> = problems.iter().map(|problem| Line::plain(&words(problem))).collect();
        io.out.lines(&lines)?;
    }
    Ok(if problems.is_empty() { Exit::DONE } else { Exit::USAGE })
}

fn words(problem: &PlaybookProblem) -> String {
    match problem.line {
        0 => format!("{}: {}", problem.file, problem.reason),
        line => format!("{}:{line}: {}", problem.file, problem.reason),
    }
}
