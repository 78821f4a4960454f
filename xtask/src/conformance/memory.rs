//! Runs the memory's vectors.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use setpoint_mkct::consolidation::{self, DEMOTED_K, GC_ATTENTION, is_bankrupt, is_forgotten, standing};
use setpoint_mkct::decay::{DAY_US, days_until, half_life_days};
use setpoint_mkct::policy::{ATTENTION_GATE, DECISION_BAND};
use setpoint_mkct::{
    Accumulators, Action, Level, Moments, Potentials, Quantum, Rule, State, Thresholds, Trace, intent_space,
    quantize,
};

use super::format::{UnreadFields, Vector, read, unread};
use super::recall;
use super::{Summary, VectorFault, array, compare, object};

/// The moment of every query; ages count back from it.
const NOW_US: i64 = 20_000 * DAY_US;
/// Maximum equal records that are tried to reach a rule.
const RECORDS_MAX: usize = 10_000;

pub(super) fn run(group: &Map<String, Value>, summary: &mut Summary) -> Result<(), VectorFault> {
    for (name, vectors) in group {
        let at = format!("memory.{name}");
        match name.as_str() {
            "quantization" => quantization(&at, array(&at, vectors)?, summary)?,
            "slug" => slug(&at, array(&at, vectors)?, summary)?,
            "potentials" => each(&at, vectors, summary, potentials)?,
            "gc" => each(&at, vectors, summary, forgetting)?,
            "promotion" => each(&at, vectors, summary, promotion)?,
            "bankruptcy" => each(&at, vectors, summary, bankruptcy)?,
            "feedback" => each(&at, vectors, summary, feedback)?,
            "recall" => recall::run(&at, array(&at, vectors)?, summary)?,
            "lifetime_tables" => lifetimes(&at, object(&at, vectors)?, summary)?,
            _ => summary.skipped.push(format!("{at} ({})", count(vectors))),
        }
    }
    Ok(())
}

/// Returns a setting of the memory, which is built in: any other value in the file is a failure.
pub(super) fn setting(name: &str) -> Option<f64> {
    Some(match name {
        "attention_gate" => ATTENTION_GATE,
        "decision_band" => DECISION_BAND,
        "promote_attention" => Thresholds::USUAL.attention,
        "promote_decision" => Thresholds::USUAL.decision,
        "gc_attention" => GC_ATTENTION,
        "demoted_k" => DEMOTED_K,
        _ => return None,
    })
}

/// Fields that do not describe a row's numbers.
const ABOUT: &[&str] = &["id", "state", "why", "conventions", "alt"];

#[derive(Debug, Deserialize)]
struct Row {
    id: String,
    state: String,
}

fn quantization(at: &str, rows: &[Value], summary: &mut Summary) -> Result<(), VectorFault> {
    for (index, row) in rows.iter().enumerate() {
        let at_row = format!("{at}[{index}]");
        let Row { id, state } = read(&at_row, row)?;
        let mut expected = object(&at_row, row)?.clone();
        expected.retain(|name, _| !ABOUT.contains(&name.as_str()));
        let differences = match state.parse::<State>() {
            Ok(state) => compare::fields(&at_row, &expected, object(&at_row, &row_of(quantize(state)))?)?,
            Err(error) => vec![format!("failed to {error}")],
        };
        summary.add(at, &id, differences);
    }
    Ok(())
}

fn row_of(quantum: Quantum) -> Value {
    let Quantum { f, sigma, k } = quantum;
    let fresh = Trace { level: Level::M, quantum, moments: Moments::created(NOW_US), is_consolidated: false };
    json!({
        "f": f,
        "sigma": sigma,
        "k": k,
        "half_life_days": half_life_days(k).map(rounded),
        "fresh_attention": fresh.attention(NOW_US),
        "fresh_decision": fresh.decision(NOW_US),
        "days_until_gc": days_until(f, k, GC_ATTENTION).map(rounded),
    })
}

/// Rounds days to six decimals, as in the tables.
fn rounded(days: f64) -> f64 {
    (days * 1e6).round() / 1e6
}

fn slug(at: &str, vectors: &[Value], summary: &mut Summary) -> Result<(), VectorFault> {
    for (index, vector) in vectors.iter().enumerate() {
        let at_vector = format!("{at}[{index}]");
        let Vector::<String> { id, input, expect, unread: other } = read(&at_vector, vector)?;
        let expect: String = read(&at_vector, &expect)?;
        let got = intent_space(&input);
        let mut differences: Vec<String> = unread("", &other).collect();
        if got != expect {
            differences.push(format!("expected {expect:?}, got {got:?}"));
        }
        summary.add(at, &id, differences);
    }
    Ok(())
}

/// A vector about records.
#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    #[serde(default)]
    megrams: Vec<Record>,
    /// The record that is asked about, if any.
    #[serde(alias = "megram")]
    rule: Option<Record>,
    times: Option<usize>,
    expect: Value,
    #[serde(flatten)]
    unread: UnreadFields,
}

/// A record with its age in days.
#[derive(Debug, Deserialize)]
struct Record {
    id: String,
    level: LevelInput,
    /// The numbers already determine it.
    #[serde(rename = "state")]
    _state: Option<String>,
    f: f64,
    sigma: f64,
    k: f64,
    age_days: f64,
    recalled_days_ago: Option<f64>,
    demoted_days_ago: Option<f64>,
    #[serde(default)]
    consolidated: bool,
    #[serde(flatten)]
    unread: UnreadFields,
}

#[derive(Debug, Clone, Copy, Deserialize)]
enum LevelInput {
    M,
    K,
    C,
    T,
}

impl Record {
    fn quantum(&self) -> Quantum {
        Quantum { f: self.f, sigma: self.sigma, k: self.k }
    }

    fn trace(&self) -> Trace {
        let ago = |days: f64| NOW_US - (days * DAY_US as f64).round() as i64;
        let level = match self.level {
            LevelInput::M => Level::M,
            LevelInput::K => Level::K,
            LevelInput::C => Level::C,
            LevelInput::T => Level::T,
        };
        let moments = Moments {
            created_us: ago(self.age_days),
            recalled_us: self.recalled_days_ago.map(ago),
            demoted_us: self.demoted_days_ago.map(ago),
        };
        Trace { level, quantum: self.quantum(), moments, is_consolidated: self.consolidated }
    }
}

impl Case {
    fn traces(&self) -> Vec<Trace> {
        self.megrams.iter().map(Record::trace).collect()
    }

    fn rule(&self, at: &str) -> Result<&Record, VectorFault> {
        self.rule.as_ref().ok_or_else(|| VectorFault::shape(at, "it has no record to ask about"))
    }
}

/// Runs `got` on every vector and compares.
fn each(
    at: &str,
    vectors: &Value,
    summary: &mut Summary,
    got: fn(&str, &Case) -> Result<Value, VectorFault>,
) -> Result<(), VectorFault> {
    for (index, vector) in array(at, vectors)?.iter().enumerate() {
        let at_vector = format!("{at}[{index}]");
        let case: Case = read(&at_vector, vector)?;
        let mut differences: Vec<String> = unread("", &case.unread).collect();
        for record in case.megrams.iter().chain(&case.rule) {
            differences.extend(unread(&format!("{}.", record.id), &record.unread));
        }
        let got = got(&at_vector, &case)?;
        let expect = object(&at_vector, &case.expect)?;
        differences.extend(compare::fields(&at_vector, expect, object(&at_vector, &got)?)?);
        summary.add(at, &case.id, differences);
    }
    Ok(())
}

/// Computes the plain sums. Where the running sums are defined, they must agree.
fn sums(traces: &[Trace]) -> Potentials {
    let plain = Potentials::of(traces, NOW_US);
    let mut running = Accumulators::default();
    for trace in traces.iter().filter(|trace| trace.is_summed()) {
        running.add(trace.quantum, trace.moments.origin_us());
    }
    match running.potentials(NOW_US) {
        Some(kept) if (kept.attention - plain.attention).abs() > 1e-12 => kept,
        Some(kept) if (kept.decision - plain.decision).abs() > 1e-12 => kept,
        _ => plain,
    }
}

fn potentials(_: &str, case: &Case) -> Result<Value, VectorFault> {
    let sums = sums(&case.traces());
    Ok(json!({
        "M_attention": sums.attention,
        "M_decision": sums.decision,
        "action": Action::of(sums).name(),
    }))
}

fn forgetting(at: &str, case: &Case) -> Result<Value, VectorFault> {
    let trace = case.rule(at)?.trace();
    Ok(json!({ "own_attention": trace.attention(NOW_US), "deleted": is_forgotten(&trace, NOW_US) }))
}

fn promotion(_: &str, case: &Case) -> Result<Value, VectorFault> {
    let sums = sums(&case.traces());
    let promoted = Thresholds::USUAL.promotion(sums);
    let new = promoted.map(|rule| {
        let Quantum { f, sigma, k } = rule.quantum();
        json!({ "level": "C", "f": f, "sigma": sigma, "k": k })
    });
    let sources = case.megrams.iter().filter(|record| record.trace().is_summed());
    Ok(json!({
        "M_attention": sums.attention,
        "M_decision": sums.decision,
        "promoted": promoted.map(Rule::name),
        "new": new,
        "consolidated_ids": sources.map(|record| &*record.id).collect::<Vec<_>>(),
    }))
}

fn bankruptcy(at: &str, case: &Case) -> Result<Value, VectorFault> {
    let rule = case.rule(at)?.quantum();
    let evidence = sums(&case.traces()).decision;
    let own = rule.sigma * rule.f;
    Ok(json!({
        "own": own,
        "evidence": evidence,
        "M_decision": own + evidence,
        "aligned": standing(rule, evidence),
        "demoted": is_bankrupt(rule, evidence),
        "after": { "level": "K", "k": consolidation::demoted(rule).k },
    }))
}

fn feedback(at: &str, case: &Case) -> Result<Value, VectorFault> {
    let rule = case.rule(at)?.quantum();
    let written = vec![consolidation::feedback(rule); case.times.unwrap_or(1)];
    let evidence: f64 = written.iter().map(|against| against.sigma * against.f).sum();
    let record =
        |against: &Quantum| json!({ "level": "M", "f": against.f, "sigma": against.sigma, "k": against.k });
    Ok(json!({
        "written": written.iter().map(record).collect::<Vec<_>>(),
        "M_decision_fresh": rule.sigma * rule.f + evidence,
        "demoted_next_cycle": is_bankrupt(rule, evidence),
    }))
}

/// Checks what follows from the tables together: counts, rates and durations.
fn lifetimes(at: &str, tables: &Map<String, Value>, summary: &mut Summary) -> Result<(), VectorFault> {
    for (name, table) in tables {
        let at_table = format!("{at}.{name}");
        let (expected, got) = match name.as_str() {
            "accepts_needed_for_promotion_by_interval_days" => {
                let expected = object(&at_table, table)?;
                let needed =
                    expected.keys().map(|days| Ok((days.clone(), json!(accepts_every(&at_table, days)?))));
                (expected.clone(), needed.collect::<Result<_, VectorFault>>()?)
            }
            "days_a_single_entry_stays_above_attention_gate_0_5" => {
                let stays = |state: State| {
                    let Quantum { f, k, .. } = quantize(state);
                    (state.name().to_owned(), json!(days_until(f, k, ATTENTION_GATE).map(rounded)))
                };
                (object(&at_table, table)?.clone(), State::ALL.into_iter().map(stays).collect())
            }
            "largest_interval_days_that_can_ever_promote_accepts" => {
                let days = Value::from(rounded(longest_interval_of_accepts()));
                (Map::from_iter([(name.clone(), table.clone())]), Map::from_iter([(name.clone(), days)]))
            }
            unknown => {
                summary.add(at, unknown, vec!["a table that is not known here".to_owned()]);
                continue;
            }
        };
        let differences = compare::fields(&at_table, &expected, &got)?;
        summary.add(at, name, differences);
    }
    Ok(())
}

/// Returns how many accepts at this interval in days make a rule; `None` if no number does.
fn accepts_every(at: &str, days: &str) -> Result<Option<usize>, VectorFault> {
    let days: f64 =
        days.parse().map_err(|_| VectorFault::shape(at, format!("{days:?} is no number of days")))?;
    let interval_us = (days * DAY_US as f64) as i64;
    let mut sums = Accumulators::default();
    let mut now_us = 0;
    for count in 1..=RECORDS_MAX {
        sums.add(quantize(State::Accept), now_us);
        if sums.potentials(now_us).and_then(|sums| Thresholds::USUAL.promotion(sums)).is_some() {
            return Ok(Some(count));
        }
        now_us += interval_us;
    }
    Ok(None)
}

/// Returns the longest interval d of accepts that reaches the threshold: their sum is at most f / (1 − e^(−k·d)).
fn longest_interval_of_accepts() -> f64 {
    let Quantum { f, k, .. } = quantize(State::Accept);
    -(1.0 - f / Thresholds::USUAL.attention).ln() / k
}

fn count(vectors: &Value) -> usize {
    match vectors {
        Value::Array(vectors) => vectors.len(),
        Value::Object(tables) => tables.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}
