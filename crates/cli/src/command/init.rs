//! `init`: writes a first configuration from what is installed.

use clap::Args;
use serde_json::json;
use setpoint_app::Error;
use setpoint_app::init::{InitOptions, InitResult, KeyVariable, UnnamedProvider};

use super::memory;
use super::pursue::is_interactive;
use crate::report;
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone};
use crate::{App, Exit, Io};

/// Find API keys and local servers, and write a first configuration
#[derive(Args, Debug)]
pub struct Init {
    /// Look at this address instead of the usual local ports; may be repeated
    #[arg(long, value_name = "URL")]
    look_at: Vec<String>,
    /// Replace existing files, and keep the old ones as `.bak`
    #[arg(long = "force", conflicts_with = "is_shown_only")]
    is_forced: bool,
    /// Show what would be written without writing it
    #[arg(long = "print", visible_alias = "dry-run")]
    is_shown_only: bool,
}

impl Init {
    /// Finding no model is not an error, because the embedded brain answers then.
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let Init { look_at, is_forced, is_shown_only } = self;
        let wishes = InitOptions { look_at, is_forced, is_shown_only };
        let done = app.host.desk().initialise(&wishes).await?;
        if app.options.is_json {
            io.out.json(&json!(done))?;
            return Ok(Exit::DONE);
        }
        if done.brain.is_none() {
            io.out.lines(&nothing(&done))?;
        } else if done.is_written {
            io.out.lines(&written(&done))?;
        } else {
            for found in &done.found {
                report::note(io, &format!("found  {found}"));
            }
            for file in &done.files {
                io.out.data(&format!("# {}\n{}\n", file.path.display(), file.text))?;
            }
        }
        for note in &done.notes {
            report::warning(io, note);
        }
        let chosen: Vec<String> = [&done.brain, &done.tool].into_iter().flatten().cloned().collect();
        if done.is_written && !chosen.is_empty() && is_interactive(&app.options, io) {
            // The configuration is already written, so the answer does not matter here.
            let _said = memory::ask(&chosen, app, io).await;
        }
        Ok(Exit::DONE)
    }
}

fn row(name: &str, text: String) -> Vec<Cell> {
    vec![(Tone::Dim, name.to_owned()), (Tone::Plain, text)]
}

fn written(done: &InitResult) -> Vec<Line> {
    let mut rows: Vec<Vec<Cell>> = done.found.iter().map(|found| row("found", found.clone())).collect();
    for (key, name) in [("models.brain", &done.brain), ("models.tool", &done.tool)] {
        rows.extend(name.as_ref().map(|name| row("chosen", format!("{key} = {name}"))));
    }
    for file in &done.files {
        rows.push(row("written", file.path.display().to_string()));
        rows.extend(file.kept.as_ref().map(|kept| row("kept", kept.display().to_string())));
    }
    rows.push(row(
        "next",
        "`setpoint models` checks that it can be reached, `setpoint doctor --model` what it can do"
            .to_owned(),
    ));
    table(&[], &rows)
}

fn nothing(done: &InitResult) -> Vec<Line> {
    let mut rows: Vec<Vec<Cell>> = done.found.iter().map(|found| row("found", found.clone())).collect();
    let chosen = if done.unnamed.is_empty() {
        "nothing: the embedded brain answers (playbook); it is not a language model"
    } else {
        "nothing: a task must name a model to start"
    };
    rows.push(row("chosen", chosen.to_owned()));
    for one in &done.unnamed {
        let UnnamedProvider { provider, origin } = one;
        rows.push(row(
            "name",
            format!(
                "a model of {provider}, whose address {origin} sets: with `--model {provider}/MODEL` or \
                     SETPOINT_BRAIN_MODEL"
            ),
        ));
    }
    let variable = |one: &KeyVariable| format!("{} to a key of {}", one.variable, one.provider);
    rows.extend(done.variables.iter().map(|one| row("set", variable(one))));
    rows.push(row(
        "or",
        "start a server (Ollama, llama.cpp, vLLM, LM Studio), or name one with --look-at URL".to_owned(),
    ));
    rows.push(row("written", "nothing".to_owned()));
    table(&[], &rows)
}
