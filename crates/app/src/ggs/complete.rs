//! Fills in the parts of a message that it may omit: everything that the controller does not read.
//!
//! A complete message is used as it is. In a shorter one, sub-tasks and criteria may have any names, criteria may be
//! plain strings, and the rest has defaults. Fields that the controller measures have no default: `outcomes`,
//! `elapsed_ms`, an outcome's `status`, a verdict's `verdict`, a call's `tool`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use setpoint_protocol::id::derive;
use setpoint_protocol::message::OutcomeStatus;
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{CriterionId, SubTaskId, TaskId, Timestamp};

use super::Refusal;
use super::line::Message;

/// The names of a task's sub-tasks that are not ids.
#[derive(Debug, Default)]
pub(super) struct Names {
    ids: BTreeMap<String, SubTaskId>,
    names: BTreeMap<String, String>,
}

/// Maximum names of one task; further ones are rejected.
const NAMES_MAX: usize = 16_384;

/// Returns the complete message. `round` and `elapsed_ms` are its defaults.
pub(super) fn payload(
    message: &Message,
    round: u32,
    elapsed_ms: u64,
    names: &mut Names,
) -> Result<Payload, Refusal> {
    if let Ok(payload) = decode(message.kind, &message.payload) {
        return Ok(payload);
    }
    let mut value = message.payload.clone();
    complete(message.kind, &mut value, round, elapsed_ms, names)
        .and_then(|()| decode(message.kind, &value))
        .map_err(|error| Refusal {
            error: format!("failed to read a {}: {error}", message.kind),
            hint: format!("`setpoint schema` shows a {} in full", message.kind),
            task_id: None,
        })
}

fn decode(kind: Kind, value: &Value) -> Result<Payload, String> {
    let bytes = serde_json::to_vec(value).map_err(|error| error.to_string())?;
    Payload::decode(kind, &bytes).map_err(|error| {
        // The position is one in the completed message, which the user has not seen.
        let text = error.source.to_string();
        text.rsplit_once(" at line ").map_or(text.clone(), |(text, _)| text.to_owned())
    })
}

fn complete(
    kind: Kind,
    value: &mut Value,
    round: u32,
    elapsed_ms: u64,
    names: &mut Names,
) -> Result<(), String> {
    let fields = object(value, "the payload")?;
    if let Some(number) = fields.get("elapsed_ms").and_then(whole) {
        fields.insert("elapsed_ms".to_owned(), number);
    }
    match kind {
        Kind::ReplanRequest => {
            let defaults = json!({
                "round": round, "gap_summary": "", "failed_subtasks": [], "correction_count": 0,
                "partial_output": null, "plan_fingerprint": "", "recommendation": "replan",
            });
            fill(fields, defaults);
            names.take(fields.get_mut("failed_subtasks"))?;
        }
        Kind::OutcomeSummary => fill(
            fields,
            json!({
                "merged_output": null, "summary": "", "task_criteria_verdicts": [], "plan_fingerprint": "",
            }),
        ),
        Kind::TaskFault => fill(
            fields,
            json!({
                "role": "runtime", "kind": "fault", "reason": "", "retryable": false, "elapsed_ms": elapsed_ms,
            }),
        ),
        _ => {}
    }
    if let Some(verdicts) = fields.get_mut("task_criteria_verdicts") {
        complete_verdicts(verdicts, &mut Criteria::default())?;
    }
    for outcome in items(fields.get_mut("outcomes")) {
        complete_outcome(outcome, names)?;
    }
    Ok(())
}

fn complete_outcome(outcome: &mut Value, names: &mut Names) -> Result<(), String> {
    let fields = object(outcome, "an outcome")?;
    let place = names.ids.len() + 1;
    fill(
        fields,
        json!({
            "subtask_id": format!("subtask-{place}"), "success_criteria": [], "output": null,
            "criteria_verdicts": [], "gap_trajectory": [], "tool_calls": [],
        }),
    );
    let name = fields.get("subtask_id").cloned().unwrap_or_default();
    fill(fields, json!({ "fingerprint": name }));
    names.take_one(fields.get_mut("subtask_id"))?;
    let mut criteria = Criteria::default();
    for criterion in items(fields.get_mut("success_criteria")) {
        complete_criterion(criterion, &mut criteria)?;
    }
    if let Some(verdicts) = fields.get_mut("criteria_verdicts") {
        complete_verdicts(verdicts, &mut criteria)?;
    }
    for (place, point) in (1..).zip(items(fields.get_mut("gap_trajectory"))) {
        complete_attempt(point, place, &mut criteria)?;
    }
    let failed = fields.get("status") == Some(&json!(OutcomeStatus::Failed));
    for (place, call) in (1..).zip(items(fields.get_mut("tool_calls"))) {
        // A call without a status has that of its sub-task.
        let defaults = json!({
            "call_id": format!("r3/{place}"), "attempt": 1, "phase": "work", "input": null, "target": "",
            "ok": !failed, "evidence": "", "duration_ms": 0,
        });
        fill(object(call, "a tool call")?, defaults);
    }
    Ok(())
}

fn complete_criterion(criterion: &mut Value, criteria: &mut Criteria) -> Result<(), String> {
    if let Some(text) = criterion.as_str() {
        *criterion = json!({ "criterion": text });
    }
    let fields = object(criterion, "a criterion")?;
    fill(fields, json!({ "mode": "verifiable" }));
    criteria.name(fields, "id");
    Ok(())
}

fn complete_verdicts(verdicts: &mut Value, criteria: &mut Criteria) -> Result<(), String> {
    for verdict in items(Some(verdicts)) {
        let fields = object(verdict, "a verdict")?;
        criteria.name(fields, "criterion_id");
        let mode = fields.get("criterion_id").and_then(Value::as_str).and_then(|id| criteria.modes.get(id));
        let mode = mode.cloned().unwrap_or_else(|| json!("verifiable"));
        fill(fields, json!({ "mode": mode, "evidence": "", "cites": [], "judged_by": "check" }));
    }
    Ok(())
}

fn complete_attempt(point: &mut Value, place: u32, criteria: &mut Criteria) -> Result<(), String> {
    let fields = object(point, "an attempt")?;
    fill(fields, json!({ "attempt": place, "failed_criteria": [] }));
    for failed in items(fields.get_mut("failed_criteria")) {
        if let Some(name) = failed.as_str() {
            *failed = json!({ "criterion_id": name });
        }
        criteria.name(object(failed, "a failed criterion")?, "criterion_id");
    }
    Ok(())
}

/// The names of the criteria of one sub-task, or of the task.
#[derive(Debug, Default)]
struct Criteria {
    ids: BTreeMap<String, String>,
    modes: BTreeMap<String, Value>,
}

impl Criteria {
    /// Fills in a criterion's id and text, each from the other.
    fn name(&mut self, fields: &mut Map<String, Value>, id_field: &str) {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let (id, words) = (text(id_field), text("criterion"));
        let Some(name) = id.or_else(|| words.clone()) else { return };
        let id = match name.parse::<CriterionId>() {
            Ok(id) => id.to_string(),
            Err(_) => {
                let next = self.ids.len() + 1;
                self.ids.entry(name.clone()).or_insert_with(|| format!("named.{next}")).clone()
            }
        };
        if let Some(mode) = fields.get("mode") {
            self.modes.entry(id.clone()).or_insert_with(|| mode.clone());
        }
        fields.insert(id_field.to_owned(), json!(id));
        fields.insert("criterion".to_owned(), json!(words.unwrap_or(name)));
    }
}

impl Names {
    /// Replaces names by ids.
    fn take(&mut self, list: Option<&mut Value>) -> Result<(), String> {
        items(list).iter_mut().try_for_each(|name| self.take_one(Some(name)))
    }

    fn take_one(&mut self, name: Option<&mut Value>) -> Result<(), String> {
        let Some(value) = name else { return Ok(()) };
        let Some(name) = value.as_str().map(str::to_owned) else { return Ok(()) };
        if name.parse::<SubTaskId>().is_err() {
            if !self.ids.contains_key(&name) && self.ids.len() >= NAMES_MAX {
                return Err(format!("the task has more than {NAMES_MAX} sub-tasks"));
            }
            let next = u64::try_from(self.ids.len()).unwrap_or(u64::MAX);
            let id = self.ids.entry(name.clone()).or_insert_with(|| named_id(&name, next));
            self.names.insert(id.to_string(), name);
            *value = json!(id);
        }
        Ok(())
    }

    /// Replaces ids of sub-tasks by their names.
    pub(super) fn give_back(&self, payload: &mut Value) {
        let Some(fields) = payload.as_object_mut().filter(|_| !self.names.is_empty()) else { return };
        for id in items(fields.get_mut("failed_subtasks")) {
            self.give_one_back(Some(id));
        }
        for outcome in items(fields.get_mut("matched")) {
            self.give_one_back(outcome.get_mut("subtask_id"));
        }
    }

    fn give_one_back(&self, id: Option<&mut Value>) {
        if let Some(value) = id
            && let Some(name) = value.as_str().and_then(|id| self.names.get(id))
        {
            *value = json!(name);
        }
    }
}

/// Returns the id of the `n`-th named sub-task.
fn named_id(name: &str, n: u64) -> SubTaskId {
    SubTaskId::from_uuid(derive(&TaskId::mint(name, n), n, 0, Timestamp::default()))
}

/// Rounds milliseconds that have a fraction to a whole number.
fn whole(number: &Value) -> Option<Value> {
    let number = number.as_f64().filter(|_| number.is_f64())?;
    // A cast saturates; the reader rejects negative values.
    (number >= 0.0).then(|| json!(number.round() as u64))
}

fn object<'a>(value: &'a mut Value, what: &str) -> Result<&'a mut Map<String, Value>, String> {
    value.as_object_mut().ok_or_else(|| format!("{what} is not an object"))
}

fn items(list: Option<&mut Value>) -> &mut [Value] {
    list.and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default()
}

fn fill(fields: &mut Map<String, Value>, defaults: Value) {
    if let Value::Object(defaults) = defaults {
        for (name, value) in defaults {
            fields.entry(name).or_insert(value);
        }
    }
}
