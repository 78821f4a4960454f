//! `models`: which models are chosen and why, what is known of them, and whether they answer.

use clap::Args;
use serde_json::json;
use setpoint_app::Error;
use setpoint_app::desk::Health;
use setpoint_app::models::provider::ProviderLine;
use setpoint_app::models::survey::{ModelLine, ModelsReport, ServerLine};

use super::doctor;
use crate::report;
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone};
use crate::{App, Exit, Io};

/// At most this many models of one server are listed for a person; JSON output has all.
pub(crate) const LISTED_MAX: usize = 200;

/// Show which models are chosen and whether they can be reached
#[derive(Args, Debug)]
pub struct Models {
    /// Also list the models of their servers
    #[arg(long = "all")]
    is_all: bool,
}

impl Models {
    /// Returns the code of a configuration error if the choice cannot be used, and 1 if a model is missing.
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let report = app.host.desk().models().await;
        let worst = report.models.iter().map(|model| model.state).max().unwrap_or(Health::Good);
        io.out.show(&app.options, &value(self.is_all, worst, &report), || lines(self.is_all, &report))?;
        Ok(match &report.error {
            // With `--json` the error is already in the value above.
            Some(error) => report::error(io, error, false),
            None => doctor::exit(worst),
        })
    }
}

fn value(is_all: bool, worst: Health, report: &ModelsReport) -> serde_json::Value {
    let ModelsReport { models, servers, providers, error } = report;
    match error {
        Some(error) => json!({ "error": report::value(error), "providers": providers }),
        None if is_all => {
            json!({ "state": worst, "models": models, "providers": providers, "servers": servers })
        }
        None => json!({ "state": worst, "models": models, "providers": providers }),
    }
}

fn lines(is_all: bool, report: &ModelsReport) -> Vec<Line> {
    let mut lines = Vec::new();
    for model in &report.models {
        lines.extend(of_model(model));
        lines.push(Line::new());
    }
    if is_all {
        for server in &report.servers {
            lines.extend(of_server(server));
            lines.push(Line::new());
        }
    }
    let rows: Vec<Vec<Cell>> = report.providers.iter().map(of_provider).collect();
    lines.extend(table(&["provider", "speaks", "address", "key"], &rows));
    lines
}

fn of_model(model: &ModelLine) -> Vec<Line> {
    let (tone, word) = doctor::state(model.state);
    let mut lines = vec![
        Line::new()
            .and(tone, &format!("{word}  "))
            .and(Tone::Name, &model.slot)
            .and(Tone::Plain, &format!(" is {}, by {}", model.name, model.origin)),
    ];
    let cell = |name: &str, text: String| vec![(Tone::Dim, format!("      {name}")), (Tone::Plain, text)];
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    if let Some(address) = &model.address {
        let known =
            |number: Option<u32>| number.map_or_else(|| "not known".to_owned(), |n| format!("{n} tokens"));
        rows.push(cell("address", address.clone()));
        rows.push(cell("key", key(model.key_env.as_deref(), model.is_key_set, false)));
        rows.push(cell("window", known(model.window_tokens)));
        rows.push(cell("answer", known(model.tokens_out_max)));
        rows.push(cell("rank", model.rank.map_or_else(|| "not known".to_owned(), |rank| rank.to_string())));
        let price = model.price.as_ref().map(|price| {
            format!(
                "{} in, {} out, {} cached, per million tokens",
                price.million_in, price.million_out, price.million_cached
            )
        });
        rows.push(cell("price", price.unwrap_or_else(|| "not known".to_owned())));
    }
    rows.push(cell("seen", model.finding.clone()));
    lines.extend(table(&[], &rows));
    lines.extend(model.hint.as_deref().map(doctor::hint));
    lines
}

fn of_server(server: &ServerLine) -> Vec<Line> {
    let head =
        Line::new().and(Tone::Name, &server.provider).and(Tone::Plain, &format!(" at {}", server.address));
    if let Some(problem) = &server.problem {
        return vec![head.and(Tone::Plain, &format!(": {problem}"))];
    }
    let count = server.models.len();
    let words = match (count, server.is_whole) {
        (1, true) => "1 model".to_owned(),
        (_, true) => format!("{count} models"),
        (_, false) => format!("{count} models or more"),
    };
    let mut lines = vec![head.and(Tone::Dim, &format!(": {words}"))];
    let names = server.models.iter().take(LISTED_MAX);
    lines.extend(
        names.map(|name| Line::plain("      ").and(Tone::Plain, &format!("{}/{name}", server.provider))),
    );
    if count > LISTED_MAX {
        let more = format!("      … {} more; `--json` lists all", count - LISTED_MAX);
        lines.push(Line::new().and(Tone::Dim, &more));
    }
    lines
}

fn of_provider(provider: &ProviderLine) -> Vec<Cell> {
    let address = provider.address.clone().or_else(|| provider.problem.clone()).unwrap_or_default();
    vec![
        (Tone::Name, provider.name.clone()),
        (Tone::Plain, provider.api.to_owned()),
        (Tone::Plain, address),
        (Tone::Plain, key(provider.key_env.as_deref(), provider.is_key_set, provider.is_key_needed)),
    ]
}

fn key(variable: Option<&str>, is_set: bool, is_needed: bool) -> String {
    match (variable, is_set, is_needed) {
        (None, _, _) => "none needed".to_owned(),
        (Some(variable), true, _) => format!("{variable} is set"),
        (Some(variable), false, true) => format!("{variable} must be set"),
        (Some(variable), false, false) => format!("{variable} is not set"),
    }
}
