//! Tests what the chosen models can do: asks each a few questions, and reports the cost.

use std::borrow::Cow;

use futures_util::future::join_all;
use serde::Serialize;
use setpoint_model::remote::Remote;
use setpoint_model::remote::probe::{Outcome, ProbeReport, probe};
use setpoint_protocol::money::Money;
use setpoint_protocol::record::Usage;
use setpoint_protocol::text::error_chain;
use setpoint_runtime::clock;

use super::choose::{Answerer, ModelChoice};
use super::error::ChoiceError;
use crate::desk::{Diagnosis, Health, bad, good, note};
use crate::program::Program;

/// The result of a trial.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// Findings, model by model.
    pub found: Vec<Diagnosis>,
    /// Cost of the trial; `None` if no language model is chosen.
    pub cost: Option<TrialCost>,
}

/// The cost of a trial, for other programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialCost {
    /// Questions asked.
    pub calls: u64,
    /// Tokens of the questions.
    pub tokens_in: u64,
    /// Tokens of the answers.
    pub tokens_out: u64,
    /// Money, in the currency of the price table; `None` if a model's price is not known.
    pub money: Option<f64>,
}

/// The cost of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    /// Questions asked.
    calls: u64,
    /// Tokens, as far as answers reported them.
    usage: Usage,
    /// Money; `None` if a model's price is not known.
    money: Option<Money>,
}

/// Tries every chosen model once: servers in parallel, models of one server one after another, because it may have to
/// load them. Skips a choice that cannot be used, which the check of the choices reports.
pub async fn try_out(program: &Program) -> Trial {
    let Ok(chosen) = program.chosen_models() else { return Trial::default() };
    let mut distinct: Vec<&ModelChoice> = Vec::new();
    for one in &chosen {
        if matches!(one.answerer, Answerer::Remote(_)) && !distinct.iter().any(|other| other.name == one.name)
        {
            distinct.push(one);
        }
    }
    if distinct.is_empty() {
        let finding = "no language model is chosen: there is nothing to test";
        let hint = "`setpoint init` looks for language models";
        return Trial { found: vec![note("models", finding, hint)], cost: None };
    }
    let mut servers: Vec<(&str, Vec<&ModelChoice>)> = Vec::new();
    for one in distinct {
        let base = base_of(one);
        match servers.iter_mut().find(|(other, _)| *other == base) {
            Some((_, models)) => models.push(one),
            None => servers.push((base, vec![one])),
        }
    }
    let tried = join_all(servers.into_iter().map(|(_, models)| try_each(models))).await;
    let mut trial = Trial::default();
    let mut cost = Cost { money: Some(Money::ZERO), ..Cost::default() };
    for (found, of_one) in tried.into_iter().flatten() {
        trial.found.extend(found);
        cost.calls = cost.calls.saturating_add(of_one.calls);
        cost.usage.tokens_in = cost.usage.tokens_in.saturating_add(of_one.usage.tokens_in);
        cost.usage.tokens_out = cost.usage.tokens_out.saturating_add(of_one.usage.tokens_out);
        cost.money = cost.money.zip(of_one.money).map(|(sum, money)| sum.plus(money));
    }
    trial.found.push(told(cost));
    trial.cost = Some(TrialCost {
        calls: cost.calls,
        tokens_in: cost.usage.tokens_in,
        tokens_out: cost.usage.tokens_out,
        money: cost.money.map(|money| money.units()),
    });
    trial
}

fn base_of(chosen: &ModelChoice) -> &str {
    match &chosen.answerer {
        Answerer::Playbook => "",
        Answerer::Remote(endpoint) => &endpoint.base,
    }
}

async fn try_each(models: Vec<&ModelChoice>) -> Vec<(Vec<Diagnosis>, Cost)> {
    let mut tried = Vec::new();
    for one in models {
        tried.push(try_one(one).await);
    }
    tried
}

async fn try_one(chosen: &ModelChoice) -> (Vec<Diagnosis>, Cost) {
    let Answerer::Remote(endpoint) = &chosen.answerer else { return (vec![], Cost::default()) };
    let price = endpoint.price;
    let remote = match Remote::new((**endpoint).clone(), clock::now_s) {
        Ok(remote) => remote,
        Err(source) => {
            let error = ChoiceError::Client { model: chosen.name.clone(), source };
            let found = bad(chosen.name.clone(), error_chain(&error), error.hint());
            return (vec![found], Cost { money: Some(Money::ZERO), ..Cost::default() });
        }
    };
    let ProbeReport { findings, calls, usage } = probe(&remote).await;
    let found = findings.into_iter().map(|finding| Diagnosis {
        subject: Cow::Owned(chosen.name.clone()),
        state: match finding.outcome {
            Outcome::Good => Health::Good,
            Outcome::Note => Health::Note,
            Outcome::Bad => Health::Bad,
        },
        finding: finding.text,
        hint: finding.hint,
    });
    (found.collect(), Cost { calls, usage, money: price.map(|price| price.of(usage)) })
}

fn told(cost: Cost) -> Diagnosis {
    let Cost { calls, usage, money } = cost;
    let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
    let money = money.map_or_else(
        || "money not known (a model has no price)".to_owned(),
        |money| format!("{money} in the currency of the price table"),
    );
    let finding = format!("{calls}, {} tokens in, {} out, {money}", usage.tokens_in, usage.tokens_out);
    good("cost of asking", finding)
}
