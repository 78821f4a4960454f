//! Runs the controller's vectors: decisions, losses, whole tasks, and figures derived from the settings.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use setpoint_control::law::Cell;
use setpoint_control::loss::{self, Tally};
use setpoint_control::measurement::Event;
use setpoint_control::{
    Decision, Gains, Gradient, Loss, Measurement, Ruling, Subject, Trajectory, Trend, compare as threshold,
};
use setpoint_mkct::{State, quantize};

use super::format::{CellInput, FlatRound, Round, Sequence, Vector, read, unread};
use super::{Summary, VectorFault, array, compare, object};

pub(super) fn run(
    group: &Map<String, Value>,
    gains: &Gains,
    summary: &mut Summary,
) -> Result<(), VectorFault> {
    for (name, vectors) in group {
        let at = format!("ggs.{name}");
        match name.as_str() {
            "decision" => each(&at, vectors, summary, |at, vector| decision(at, vector, gains))?,
            "components" => each(&at, vectors, summary, |at, vector| component(at, vector, gains))?,
            "sequences" => each(&at, vectors, summary, |at, vector| sequence(at, vector, gains))?,
            "derived" => derived(object(&at, vectors)?, gains, summary)?,
            unknown => summary.add("ggs", unknown, vec!["a group that is not known here".to_owned()]),
        }
    }
    Ok(())
}

/// Runs each vector of a sub-group; `run` returns its id and the differences.
fn each(
    group: &str,
    vectors: &Value,
    summary: &mut Summary,
    run: impl Fn(&str, &Value) -> Result<(String, Vec<String>), VectorFault>,
) -> Result<(), VectorFault> {
    for (index, vector) in array(group, vectors)?.iter().enumerate() {
        let (id, differences) = run(&format!("{group}[{index}]"), vector)?;
        summary.add(group, &id, differences);
    }
    Ok(())
}

fn decision(at: &str, vector: &Value, gains: &Gains) -> Result<(String, Vec<String>), VectorFault> {
    let Vector::<CellInput> { id, input, expect, unread: other } = read(at, vector)?;
    let mut differences: Vec<String> = unread("", &other).chain(unread("in.", &input.unread)).collect();
    match Cell::new(input.grad_l, input.d, input.p, input.omega) {
        Ok(cell) => {
            let ruling = cell.in_round(input.worsening_count, input.replan_count, false).rule(gains);
            let got = fields(json!({ "directive": ruling.state().name(), "decided_by": decided_by(ruling) }));
            differences.extend(compare::fields(at, object(at, &expect)?, &got)?);
        }
        Err(error) => differences.push(format!("refused: failed to {error}")),
    }
    Ok((id, differences))
}

fn component(at: &str, vector: &Value, gains: &Gains) -> Result<(String, Vec<String>), VectorFault> {
    let Vector::<Round> { id, input, expect, unread: other } = read(at, vector)?;
    let rounds = input.replan_count.ok_or_else(|| VectorFault::shape(at, "missing field `replan_count`"))?;
    let mut differences: Vec<String> = unread("", &other).chain(input.unread()).collect();
    match measurement(at, &input)? {
        Some(measurement) => match measurement.validate() {
            Ok(()) => {
                let loss = Loss::of(&measurement.event, rounds, measurement.elapsed_ms, gains);
                let got = fields(loss_fields(&measurement.event, &loss, gains));
                differences.extend(compare::fields(at, object(at, &expect)?, &got)?);
            }
            Err(error) => differences.push(format!("refused: failed to {error}")),
        },
        None => differences.push(unknown_kind(&input)),
    }
    Ok((id, differences))
}

/// Keeps tasks apart by their ids, and forgets one that has ended or was aborted.
fn sequence(at: &str, vector: &Value, gains: &Gains) -> Result<(String, Vec<String>), VectorFault> {
    let Sequence { id, rounds, unread: other } = read(at, vector)?;
    let mut tasks: BTreeMap<String, Trajectory> = BTreeMap::new();
    let mut differences: Vec<String> = unread("", &other).collect();
    for (number, round) in (1..).zip(&rounds) {
        let at = format!("{at}.rounds[{}]", number - 1);
        if round.replan_count.is_some() {
            differences.push(format!("round {number}: replan_count: an input that is counted here"));
        }
        let found = if round.kind == "abort" {
            tasks.remove(&round.task_id);
            Vec::new()
        } else {
            run_round(&at, round, &mut tasks, gains)?
        };
        differences
            .extend(round.unread().into_iter().chain(found).map(|text| format!("round {number}: {text}")));
    }
    if rounds.is_empty() {
        return Err(VectorFault::shape(at, "it has no rounds"));
    }
    Ok((id, differences))
}

fn run_round(
    at: &str,
    round: &Round,
    tasks: &mut BTreeMap<String, Trajectory>,
    gains: &Gains,
) -> Result<Vec<String>, VectorFault> {
    let expect = round.expect.as_ref().ok_or_else(|| VectorFault::shape(at, "missing field `expect`"))?;
    let Some(measurement) = measurement(at, round)? else { return Ok(vec![unknown_kind(round)]) };
    let mut trajectory = match tasks.remove(&round.task_id) {
        Some(trajectory) => trajectory,
        None => Trajectory::new(gains.clone()).map_err(VectorFault::Settings)?,
    };
    let decision = match trajectory.advance(&measurement) {
        Ok(decision) => decision,
        Err(error) => return Ok(vec![format!("refused: failed to {error}")]),
    };
    if decision.ended_by().is_none() {
        tasks.insert(round.task_id.clone(), trajectory);
    }
    let mut expect = object(at, expect)?.clone();
    if let Some(Value::Array(megrams)) = expect.get_mut("megrams") {
        sort_megrams(megrams);
    }
    compare::fields(at, &expect, &decision_fields(&measurement.event, &decision, gains))
}

fn measurement(at: &str, round: &Round) -> Result<Option<Measurement>, VectorFault> {
    let elapsed_ms = round.elapsed_ms.ok_or_else(|| VectorFault::shape(at, "missing field `elapsed_ms`"))?;
    Ok(round.event().map(|event| Measurement { elapsed_ms, event }))
}

fn unknown_kind(round: &Round) -> String {
    format!("kind: {:?} is not known here", round.kind)
}

fn decision_fields(event: &Event, decision: &Decision, gains: &Gains) -> Map<String, Value> {
    let mut got = fields(loss_fields(event, &decision.loss, gains));
    let message = if decision.ended_by().is_some() { "FinalResult" } else { "PlanDirective" };
    let targets: Vec<String> = decision.blocked_targets.iter().map(ToString::to_string).collect();
    got.extend(fields(json!({
        "replan_count": decision.rounds,
        "grad_l": decision.gradient.grad_l,
        "grad_l_budget": decision.gradient.grad_l_budget,
        "trend": decision.trend.name(),
        "worsening_count": decision.worsening_count,
        "directive": decision.directive().name(),
        "decided_by": decided_by(decision.ruling),
        "ended_by": decision.ended_by().map(|by| by.name()),
        "prev_directive": decision.prev_directive.name(),
        "message": message,
        "replans": decision.replans,
        "failure_class": decision.failure_class.name(),
        "urgency": decision.urgency.name(),
        "blocked_tools": decision.blocked_tools,
        "blocked_targets": targets,
        "megrams": megrams(decision),
    })));
    got
}

/// Returns a loss and its parts.
fn loss_fields(event: &Event, loss: &Loss, gains: &Gains) -> Value {
    let tally = Tally::of(event);
    json!({
        "D": loss.d,
        "P": loss.p,
        "Omega": loss.omega,
        "beta_eff": loss::beta_eff(loss.omega, gains),
        "L": loss.l,
        "weighted_failures": tally.weighted_failures(),
        "total_criteria": tally.total(),
        "logical": tally.logical(),
        "environmental": tally.environmental(),
    })
}

/// Returns the Megrams of a decision's lessons, sorted on both sides because they are a set. These vectors have no
/// slug.
fn megrams(decision: &Decision) -> Value {
    let of_lesson = |lesson: &setpoint_control::Lesson| {
        let (space, entity) = match &lesson.subject {
            Subject::Intent => ("intent:<slug>".to_owned(), "env:local".to_owned()),
            Subject::Pair(pair) => (format!("tool:{}", pair.tool), format!("path:{}", pair.target)),
        };
        let state = lesson.state.name();
        // The state `init` has no row and no numbers, so no vector can expect any.
        let quantum = state.parse::<State>().ok().map(quantize);
        json!({
            "space": space,
            "entity": entity,
            "state": state,
            "f": quantum.map(|q| q.f),
            "sigma": quantum.map(|q| q.sigma),
            "k": quantum.map(|q| q.k),
        })
    };
    let mut megrams: Vec<Value> = decision.lessons.iter().map(of_lesson).collect();
    sort_megrams(&mut megrams);
    Value::Array(megrams)
}

fn sort_megrams(megrams: &mut [Value]) {
    let key =
        |megram: &Value| ["space", "entity", "state"].map(|name| megram.get(name).map(Value::to_string));
    megrams.sort_by_key(key);
}

/// Returns the rule as the vectors name it: `accept` for the rule whose `ended_by` is `criteria_met`.
fn decided_by(ruling: Ruling) -> &'static str {
    match ruling.decided_by() {
        "criteria_met" => "accept",
        rule => rule,
    }
}

/// Checks figures that follow from the settings alone, by using each as input of the controller.
fn derived(figures: &Map<String, Value>, gains: &Gains, summary: &mut Summary) -> Result<(), VectorFault> {
    for (name, figure) in figures {
        let at = format!("ggs.derived.{name}");
        match name.as_str() {
            "elapsed_ms_at_which_omega_reaches_theta_by_replan_count" => {
                for (count, elapsed_ms) in object(&at, figure)? {
                    let rounds: u32 = count.parse().map_err(|error| VectorFault::shape(&at, error))?;
                    let differences = reaches_theta(rounds, read(&at, elapsed_ms)?, gains);
                    summary.add(&at, count, differences);
                }
            }
            "grad_l_of_a_round_in_which_nothing_changed_but_budget" => {
                for row in array(&at, figure)? {
                    let row: FlatRound = read(&at, row)?;
                    let id = format!("P {}, {} s", row.p, row.seconds_between_rounds);
                    summary.add(&at, &id, flat_round_differences(&row, gains));
                }
            }
            "seconds_between_rounds_from_which_a_flat_environmental_failure_reads_as_worsening" => {
                let seconds: f64 = read(&at, figure)?;
                summary.add(&at, &format!("{seconds} s"), starts_to_worsen(seconds, gains));
            }
            unknown => {
                summary.add("ggs.derived", unknown, vec!["a figure that is not known here".to_owned()]);
            }
        }
    }
    Ok(())
}

/// Checks that Ω equals θ at that time; at time 0 it may be larger.
fn reaches_theta(rounds: u32, elapsed_ms: f64, gains: &Gains) -> Vec<String> {
    let omega = loss::omega(rounds, elapsed_ms, gains);
    let reached = threshold::at_least(omega, gains.theta);
    let not_before = elapsed_ms == 0.0 || threshold::at_most(omega, gains.theta);
    if reached && not_before {
        return Vec::new();
    }
    vec![format!("Omega at {elapsed_ms} ms: expected {}, got {omega}", gains.theta)]
}

fn flat_round_differences(row: &FlatRound, gains: &Gains) -> Vec<String> {
    let Gradient { grad_l, grad_l_budget } = flat_round(row.p, row.seconds_between_rounds, gains);
    let differing = [("grad_l", grad_l), ("grad_l_budget", grad_l_budget)]
        .into_iter()
        .filter(|(_, got)| (got - row.grad_l).abs() > threshold::TOLERANCE)
        .map(|(name, got)| format!("{name}: expected {}, got {got}", row.grad_l));
    unread("", &row.unread).chain(differing).collect()
}

fn starts_to_worsen(seconds: f64, gains: &Gains) -> Vec<String> {
    let trend_at = |seconds| flat_round(0.0, seconds, gains).trend(gains);
    let (before, then) = (trend_at(seconds - 0.001), trend_at(seconds));
    if (before, then) == (Trend::Plateau, Trend::Worsening) {
        return Vec::new();
    }
    vec![format!("trend before and at {seconds} s: expected plateau, worsening, got {before}, {then}")]
}

/// Returns the gradient of a second round with D = 1 and P of the first one.
fn flat_round(p: f64, seconds_between: f64, gains: &Gains) -> Gradient {
    let unmeasured = Loss::unmeasured(0.0, gains);
    let round = |rounds, seconds: f64| {
        Loss { p, ..unmeasured }.under(loss::omega(rounds, seconds * 1_000.0, gains), gains)
    };
    Gradient::between(Some(&round(1, 0.0)), &round(2, seconds_between), gains)
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
