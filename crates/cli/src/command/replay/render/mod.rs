//! A replayed task: its steps with all messages, questions and answers, and the result of the replay.

pub(crate) mod rerun;

use serde_json::{Value, json};
use setpoint_protocol::record::{Record, RecordKind};
use setpoint_protocol::replay::ReplayReport;
use setpoint_protocol::topology::Payload;

use crate::render::gist::{Gist, gist};
use crate::render::record::{self, RecordStyle};
use crate::render::result;
use crate::state::ViewState;
use crate::text::{Line, Tone};
use crate::view::{Look, words};

/// The indent of details below their record.
const INDENT: &str = "         ";

/// Returns the line above a step: one input and all that it caused.
pub(crate) fn step_head(number: u64, step: &[Record], look: &Look) -> Option<Line> {
    let (first, last) = (step.first()?, step.last()?);
    let records = match step.len() {
        1 => format!("record {}", first.seq),
        _ => format!("records {} to {}", first.seq, last.seq),
    };
    let times = format!("  {}  {}", words::clock(first.clock_ms), words::date_and_time(first.at, &look.zone));
    Some(
        Line::new()
            .and(Tone::Strong, &format!("step {number}"))
            .and(Tone::Dim, &format!("{times}  {records}")),
    )
}

/// Returns the lines of a record that `state` has just applied.
pub(crate) fn record(state: &ViewState, record: &Record, manner: &RecordStyle<'_>) -> Vec<Line> {
    let who = |address: &setpoint_protocol::Address| words::role_label(address.role, address.instance);
    let mut route = who(&record.from);
    if !record.to.is_empty() {
        let to: Vec<String> = record.to.iter().map(who).collect();
        route.push_str(&format!(" → {}", to.join(", ")));
    }
    let mut head = Line::new().and(Tone::Dim, &format!("{:>6}  ", record.seq));
    head.push(Tone::Name, &route);
    head.push(Tone::Plain, "  ");
    head.push(Tone::Strong, record.kind.name());
    let (gist, details) = match record.kind {
        RecordKind::Message(_) => message(state, record),
        _ => record::lines(record, Some(manner)),
    };
    if !gist.is_empty() {
        head.push(Tone::Plain, "  ");
        head.append(gist);
    }
    let mut lines = vec![head];
    let indented = |line: Line| if line.is_empty() { line } else { Line::plain(INDENT).then(line) };
    lines.extend(details.into_iter().map(indented));
    lines
}

/// Returns the headline and the details of a message.
fn message(state: &ViewState, record: &Record) -> (Line, Vec<Line>) {
    let Some(message) = record.message() else {
        return (Line::new().and(Tone::Bad, "its body cannot be read"), Vec::new());
    };
    let Gist { tone, headline, aside, mut details, .. } = gist(&message);
    if let Payload::FinalResult(_) = message {
        // The first line of the result is the headline already.
        details = result::lines(state).into_iter().skip(1).collect();
    }
    if headline.trim_end().contains('\n') {
        details.splice(..0, Line::block(tone, &headline));
        return (Line::new().and(Tone::Dim, &aside), details);
    }
    let head = Line::new().and(tone, &headline);
    (if aside.is_empty() { head } else { head.and(Tone::Dim, &format!("  {aside}")) }, details)
}

/// Returns a record as a JSON value: its columns, its body, and the pieces of the prompt if they are wanted.
pub(crate) fn record_value(number: u64, record: &Record, manner: &RecordStyle<'_>) -> Value {
    let body: Value = serde_json::from_slice(&record.body).unwrap_or(Value::Null);
    let mut value = json!({
        "step": number,
        "record": record.seq,
        "at": record.at,
        "clock_ms": record.clock_ms,
        "from": record.from.to_string(),
        "to": record.to.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "kind": record.kind.name(),
        "cause": record.cause,
        "body": body,
    });
    let call = body.get("call").and_then(Value::as_str).and_then(|call| call.parse().ok());
    let hashes = match call.filter(|_| manner.has_prompts && record.kind == RecordKind::Asked) {
        Some(call) => manner.prompts.of(call),
        None => &[],
    };
    if !hashes.is_empty()
        && let Some(object) = value.as_object_mut()
    {
        let pieces: Vec<&Option<String>> =
            hashes.iter().map(|hash| manner.fragments.get(hash).unwrap_or(&None)).collect();
        object.insert("prompt".to_owned(), json!(pieces));
    }
    value
}

/// Returns the result of the replay, in a line or two.
pub(crate) fn summary(report: &ReplayReport) -> Vec<Line> {
    let mut counts = format!(
        "{}, {}, {}",
        words::count(report.replayed, "record"),
        words::count(report.steps, "step"),
        words::count(report.asks, "ask")
    );
    if report.rules > 0 {
        counts.push_str(&format!(", {}", words::count(report.rules, "rule")));
    }
    let end = if report.is_closed { "" } else { "; the task has not ended" };
    let missing = (report.fragments_missing > 0).then(|| {
        let pieces = words::count(report.fragments_missing, "piece");
        let are = if report.fragments_missing == 1 { "is" } else { "are" };
        Line::new().and(Tone::Bad, &format!("{pieces} of prompts {are} missing")).and(
            Tone::Plain,
            ": the journal was damaged or changed; what the models were asked cannot be shown in full",
        )
    });
    let mut lines = match &report.divergence {
        None if report.is_exact => {
            vec![Line::new().and(Tone::Good, "replayed exactly").and(Tone::Plain, &format!(": {counts}{end}"))]
        }
        None => vec![
            Line::new()
                .and(Tone::Care, "replayed by kind and addressee")
                .and(Tone::Plain, &format!(": {counts}{end}")),
            Line::new().and(
                Tone::Dim,
                &format!(
                    "recorded by version {} of the machines' logic, not this one, so contents are not compared",
                    report.logic_version
                ),
            ),
        ],
        Some(place) => vec![
            Line::new().and(Tone::Bad, &format!("does not replay: at record {}", place.seq)).and(
                Tone::Plain,
                &format!(": {}", place.reason),
            ),
            Line::new().and(Tone::Dim, &format!("all before it is as recorded: {counts}")),
        ],
    };
    lines.extend(missing);
    lines
}
