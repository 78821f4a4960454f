//! The time line: one lane per role, calls to models and tools as spans, messages from lane to lane.
//!
//! Time runs to the right. Where much happens at once it is stretched, so that nothing overlaps.

use std::collections::BTreeMap;

use maud::{Markup, html};
use setpoint_protocol::record::{Answered, Ask, Asked, Purpose, Record, RecordKind};
use setpoint_protocol::text::clip;
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{CallId, RoleId};

use super::parts::{keys, none};
use super::{gist, limit, svg};
use crate::state::calls::TOOL_CHARS_MAX;
use crate::view::words;

/// Pixels of width: of the lanes' names, of the right margin, per record, of the picture at least and at
/// most.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const RECORD: f64 = 8.0;
const WIDTH_MIN: f64 = 960.0;
const WIDTH_MAX: f64 = 6_000.0;
/// Pixels of height: above the lanes, of one row of a lane, of a span in it.
const TOP: f64 = 24.0;
const ROW: f64 = 20.0;
const SPAN: f64 = 16.0;
/// Pixels that a span needs to show its duration.
const TOOK: f64 = 58.0;
const BOTTOM: f64 = 26.0;
/// Pixels between two lanes.
const GAP: f64 = 6.0;
/// At most this many rows per lane; further spans overlap in the last one.
const ROWS_MAX: usize = 8;
/// The share of the width that time divides; the number of records divides the rest.
const TIME_SHARE: f64 = 0.6;
/// Pixels of the name of a time or a round, and between two times.
const NAME: f64 = 64.0;
const TICK: f64 = 120.0;

/// The lanes that may be shown, from top to bottom.
const LANES: [RoleId; 11] = [
    RoleId::User,
    RoleId::Perceiver,
    RoleId::Planner,
    RoleId::Executor,
    RoleId::AgentValidator,
    RoleId::MetaValidator,
    RoleId::GoalGradientSolver,
    RoleId::Memory,
    RoleId::Auditor,
    RoleId::Operator,
    RoleId::Runtime,
];

pub(super) fn timeline(records: &[Record]) -> Markup {
    let left_out = records.len().saturating_sub(limit::DRAWN_MAX);
    let (spans, spans_left_out) = spans(records, limit::DRAWN_MAX);
    let shown = records.get(..limit::DRAWN_MAX).unwrap_or(records);
    if shown.is_empty() {
        return none("There are no records.");
    }
    let scale = Scale::of(shown);
    let lanes = Lanes::of(shown, spans);
    let described = format!(
        "{} over {}; the table below lists them",
        words::count(shown.len() as u64, "record"),
        words::clock(scale.end_ms)
    );
    let inner = html! {
        @for lane in lanes.by_role.values() {
            (svg::rectangle("lane", (LEFT, lane.top), (scale.width - LEFT - RIGHT, lane.height), None))
            (svg::label("start name", (0.0, lane.top + lane.height / 2.0 + 4.0), lane.name))
        }
        (rounds(&scale, &lanes, shown))
        @for (n, record) in shown.iter().enumerate() { (message((n, record), &scale, &lanes)) }
        @for shown in &lanes.spans { (span(shown, &scale, &lanes)) }
        (ticks(&scale, shown, lanes.height))
    };
    let names = ("timeline", "Time line of the roles", &*described);
    let meanings = [("model", "a model is asked"), ("tool", "a tool runs"), ("message", "a message")];
    html! {
        div.wide { (svg::picture(names, (scale.width, lanes.height + BOTTOM), &inner)) }
        ul.legend {
            (keys(&meanings))
            li { "Time is stretched where much happens at once." }
        }
        (limit::left_out_note(left_out, "records are"))
        (limit::left_out_note(spans_left_out, "calls of models and tools are"))
    }
}

fn span(span: &Span, scale: &Scale, lanes: &Lanes) -> Markup {
    let Some(lane) = lanes.by_role.get(&span.call.role) else { return Markup::default() };
    let (from, to) = (scale.x(span.from), scale.x(span.to));
    let y = lane.top + ROW * span.row as f64 + (ROW - SPAN) / 2.0;
    let took = match span.is_open {
        true => "has not returned".to_owned(),
        false => words::duration(span.ms),
    };
    let (class, what) = match &span.what {
        LaneEvent::Model(purpose) => ("model", format!("model, to {}", purpose.name())),
        LaneEvent::Tool(tool) => ("tool", format!("tool {tool}")),
    };
    let tip = format!("{}: {what}, {took}", span.call);
    let length = (to - from).max(3.0);
    let is_covered = span.row + 1 == ROWS_MAX;
    html! {
        (svg::rectangle(class, (from, y), (length, SPAN), Some(&tip)))
        @if length >= TOOK && !span.is_open && !is_covered {
            (svg::label(&format!("middle took {class}"), (from + length / 2.0, y + 12.0), &took))
        }
    }
}

/// Marks where each round was dispatched.
fn rounds(scale: &Scale, lanes: &Lanes, records: &[Record]) -> Markup {
    let mut named_to = 0.0;
    let dispatched = records.iter().enumerate().filter_map(|(n, record)| match record.kind {
        RecordKind::Message(Kind::DispatchManifest) => match record.message() {
            Some(Payload::DispatchManifest(manifest)) => Some((n, manifest.round)),
            _ => None,
        },
        _ => None,
    });
    let places = dispatched.map(|(n, round)| {
        let x = scale.x(n);
        let named = x.min(scale.width - NAME);
        let has_room = named >= named_to;
        if has_room {
            named_to = named + NAME;
        }
        (x, has_room.then(|| (named, format!("round {round}"))))
    });
    html! {
        @for (x, name) in places {
            (svg::line("round", (x, TOP - 6.0), (x, lanes.height)))
            @if let Some((named, name)) = name { (svg::label("start", (named, 12.0), &name)) }
        }
    }
}

fn message((n, record): (usize, &Record), scale: &Scale, lanes: &Lanes) -> Markup {
    let RecordKind::Message(kind) = record.kind else { return Markup::default() };
    let Some(from) = lanes.middle(record.from.role) else { return Markup::default() };
    let x = scale.x(n);
    let to: Vec<f64> = record.to.iter().filter_map(|to| lanes.middle(to.role)).collect();
    let who = words::role_label(record.from.role, record.from.instance);
    let (top, end) = to.iter().fold((from, from), |(top, end), y| (top.min(*y), end.max(*y)));
    html! {
        g {
            title { (record.seq) " " (who) ": " (kind.name()) ": " (gist::of(record)) }
            (svg::line("message", (x, top), (x, end)))
            (svg::circle("message", (x, from), 3.5, None))
            @for y in to { (svg::circle("to", (x, y), 2.5, None)) }
        }
    }
}

/// Shows the task's clock wherever there is room.
fn ticks(scale: &Scale, records: &[Record], bottom: f64) -> Markup {
    let mut named_to = 0.0;
    let mut named = None;
    let places = records.iter().enumerate().filter_map(|(n, record)| {
        let x = scale.x(n);
        let has_room = x >= named_to && x + NAME <= scale.width && named != Some(record.clock_ms);
        if has_room {
            (named, named_to) = (Some(record.clock_ms), x + TICK);
        }
        has_room.then_some((x, record.clock_ms))
    });
    html! {
        @for (x, ms) in places {
            (svg::line("rule", (x, TOP), (x, bottom)))
            (svg::label("start", (x, bottom + 16.0), &words::duration(ms)))
        }
    }
}

/// The place of each record on the time line.
struct Scale {
    width: f64,
    end_ms: u64,
    places: Vec<f64>,
}

impl Scale {
    fn of(records: &[Record]) -> Self {
        let clocks = || records.iter().map(|record| record.clock_ms);
        let (start_ms, end_ms) = (clocks().min().unwrap_or(0), clocks().max().unwrap_or(0));
        let width = (LEFT + RIGHT + RECORD * records.len() as f64).clamp(WIDTH_MIN, WIDTH_MAX);
        let room = width - LEFT - RIGHT - 8.0;
        let span_ms = end_ms.saturating_sub(start_ms) as f64;
        let last = records.len().saturating_sub(1).max(1) as f64;
        let place = |(n, clock_ms): (usize, u64)| {
            let by_order = n as f64 / last;
            let by_time = match span_ms > 0.0 {
                true => clock_ms.saturating_sub(start_ms) as f64 / span_ms,
                false => by_order,
            };
            LEFT + 4.0 + room * (TIME_SHARE * by_time + (1.0 - TIME_SHARE) * by_order)
        };
        Scale { width, end_ms, places: clocks().enumerate().map(place).collect() }
    }

    fn x(&self, n: usize) -> f64 {
        self.places.get(n).or(self.places.last()).copied().unwrap_or(LEFT)
    }
}

enum LaneEvent {
    Model(Purpose),
    Tool(String),
}

/// A call to a model or a tool, from the record that asked to the one that answered.
struct Span {
    call: CallId,
    what: LaneEvent,
    from: usize,
    to: usize,
    ms: u64,
    is_open: bool,
    row: usize,
}

struct Lane {
    name: &'static str,
    top: f64,
    height: f64,
}

struct Lanes {
    by_role: BTreeMap<RoleId, Lane>,
    spans: Vec<Span>,
    height: f64,
}

impl Lanes {
    fn of(records: &[Record], mut spans: Vec<Span>) -> Self {
        let mut by_role = BTreeMap::new();
        let mut top = TOP;
        let speaks = |role: RoleId| {
            let is_message = |one: &&Record| matches!(one.kind, RecordKind::Message(_));
            let mut messages = records.iter().filter(is_message);
            messages.any(|one| one.from.role == role || one.to.iter().any(|to| to.role == role))
        };
        for role in LANES {
            let rows = stacked(spans.iter_mut().filter(|span| span.call.role == role));
            if rows == 0 && !speaks(role) {
                continue;
            }
            let height = ROW * rows.max(1) as f64;
            by_role.insert(role, Lane { name: role.label(), top, height });
            top += height + GAP;
        }
        Lanes { by_role, spans, height: top }
    }

    fn middle(&self, role: RoleId) -> Option<f64> {
        self.by_role.get(&role).map(|lane| lane.top + lane.height / 2.0)
    }
}

/// Gives each span a row that is free at its start; returns the number of rows.
fn stacked<'s>(spans: impl Iterator<Item = &'s mut Span>) -> usize {
    let mut free_from: Vec<usize> = Vec::new();
    for span in spans {
        let free = free_from.iter().position(|from| *from <= span.from);
        let row = free.unwrap_or(free_from.len()).min(ROWS_MAX - 1);
        span.row = row;
        match free_from.get_mut(row) {
            Some(from) => *from = (*from).max(span.to),
            None => free_from.push(span.to),
        }
    }
    free_from.len()
}

/// Returns the calls that start in the first `drawn` records, in order, and the number of later ones. A call
/// whose answer comes later ends at the last drawn record.
fn spans(records: &[Record], drawn: usize) -> (Vec<Span>, usize) {
    let last = records.len().min(drawn).saturating_sub(1);
    let mut left_out = 0;
    let mut spans: Vec<Span> = Vec::new();
    let mut open: BTreeMap<CallId, (usize, u64)> = BTreeMap::new();
    for (n, record) in records.iter().enumerate() {
        match record.kind {
            RecordKind::Asked => {
                let Ok(Asked { call, ask, .. }) = serde_json::from_slice(&record.body) else { continue };
                let what = match ask {
                    Ask::Model { purpose, .. } => LaneEvent::Model(purpose),
                    Ask::Tool { call, .. } => LaneEvent::Tool(clip(&call.tool, TOOL_CHARS_MAX)),
                    Ask::Timer { .. } | Ask::Survey { .. } => continue,
                };
                if n > last {
                    left_out += 1;
                    continue;
                }
                open.insert(call, (spans.len(), record.clock_ms));
                spans.push(Span { call, what, from: n, to: last, ms: 0, is_open: true, row: 0 });
            }
            RecordKind::Answered => {
                let Ok(Answered { call, .. }) = serde_json::from_slice::<Answered>(&record.body) else {
                    continue;
                };
                let Some((at, since_ms)) = open.remove(&call) else { continue };
                if let Some(span) = spans.get_mut(at) {
                    (span.to, span.is_open) = (n.min(last), false);
                    span.ms = record.clock_ms.saturating_sub(since_ms);
                }
            }
            RecordKind::Message(_)
            | RecordKind::Opened
            | RecordKind::Reasked
            | RecordKind::Quiesced
            | RecordKind::Poisoned => {}
        }
    }
    (spans, left_out)
}
