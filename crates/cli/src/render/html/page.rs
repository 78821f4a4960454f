//! The page's order, and the sections that are a table or a list.

use jiff::tz::TimeZone;
use setpoint_protocol::record::Record;
use setpoint_protocol::text::clip;

use super::markup::Html;
use super::{
    Report, calls, chart, cost, ending, gist, grid, header, limit, matrix, measured, rounds, timeline,
};
use crate::state::ViewState;
use crate::view::words;

/// Nothing is fetched, nothing is run, nothing is sent: a page that was tampered with cannot do so either.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("style.css");

/// The sections, in order: where each can be reached, and its title.
const SECTIONS: [(&str, &str); 13] = [
    ("output", "Answer"),
    ("next", "What can be done next"),
    ("intent", "Intent and criteria"),
    ("criteria", "Matrix"),
    ("loss", "Loss"),
    ("direction", "Action grid"),
    ("decisions", "Decisions"),
    ("memory", "Memory"),
    ("messages", "Time line"),
    ("calls", "Tool calls"),
    ("approvals", "Approvals"),
    ("cost", "Cost"),
    ("findings", "Findings"),
];

pub(super) fn page(report: &Report<'_>) -> String {
    let state = report.state;
    let title = clip(&state.goal, limit::HEADING_CHARS_MAX);
    let head = |html: &mut Html| {
        html.void("meta", &[("charset", "utf-8")]);
        html.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)]);
        html.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
        html.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
        html.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
        html.leaf("title", &[], &format!("{title} · {}", state.task));
    };
    Html::page(STYLE, head, |html| {
        html.tag("header", &[], |html| header::put(html, report));
        html.tag("nav", &[("aria-label", "Sections")], |html| {
            for (id, title) in SECTIONS {
                html.leaf("a", &[("href", &format!("#{id}"))], title);
            }
        });
        html.tag("main", &[], |html| sections(html, report));
        html.tag("footer", &[], |html| {
            let text = format!("Made from {} by setpoint {}.", records(state), env!("CARGO_PKG_VERSION"));
            html.leaf("p", &[], &text);
        });
    })
}

fn sections(html: &mut Html, report: &Report<'_>) {
    let Report { state, zone, .. } = *report;
    let all = measured::rounds(state);
    for (id, title) in SECTIONS {
        html.tag("section", &[("id", id), ("aria-labelledby", &format!("{id}-title"))], |html| {
            html.leaf("h2", &[("id", &format!("{id}-title"))], title);
            match id {
                "intent" => intent(html, state),
                "criteria" => matrix::put(html, state, zone),
                "loss" => chart::put(html, &all, &state.controller),
                "direction" => grid::put(html, &all, &state.controller),
                "decisions" => rounds::decisions(html, state),
                "memory" => rounds::memory(html, state),
                "messages" => {
                    timeline::put(html, report.records);
                    journal(html, report.records, zone);
                }
                "calls" => calls::put(html, state, zone),
                "approvals" => calls::approvals(html, state),
                "cost" => cost::put(html, report.cost),
                "findings" => ending::findings(html, report.findings, zone),
                "next" => ending::next(html, state),
                _ => ending::output(html, state),
            }
        });
    }
}

fn intent(html: &mut Html, state: &ViewState) {
    match &state.intent {
        Some(intent) => html.tag("p", &[("class", "intent"), ("dir", "auto")], |html| {
            html.said(&clip(intent, limit::FIELD_CHARS_MAX));
        }),
        None => html.leaf("p", &[("class", "none")], "The goal was not turned into an intent."),
    }
    if let Some(scope) = &state.scope {
        html.tag("p", &[], |html| {
            html.text("Where it may act: ");
            html.said(&clip(scope, limit::FIELD_CHARS_MAX));
        });
    }
    if !state.clarifications.is_empty() {
        let mut left_out = 0;
        html.tag("dl", &[("class", "asked")], |html| {
            left_out = limit::each(html, &state.clarifications, limit::LINES_MAX, |html, one| {
                html.leaf("dt", &[("dir", "auto")], &clip(&one.question, limit::FIELD_CHARS_MAX));
                let answer = if one.answer.is_empty() { "(no answer)" } else { &one.answer };
                html.leaf("dd", &[("dir", "auto")], &clip(answer, limit::FIELD_CHARS_MAX));
            });
        });
        limit::tell(html, left_out, "questions are");
    }
    rounds::plans(html, state);
}

const HEAD: [&str; 5] = ["No.", "At", "From → to", "Kind", "Gist"];

/// All records, folded away: the picture shows them, and this is what it is made of.
fn journal(html: &mut Html, records: &[Record], zone: &TimeZone) {
    html.tag("details", &[], |html| {
        html.leaf("summary", &[], &words::count(records.len() as u64, "record"));
        let mut left_out = 0;
        super::table(html, "Everything that was received and said, in order", &HEAD, |html| {
            left_out = limit::each(html, records, limit::RECORDS_MAX, |html, record| {
                html.tag("tr", &[], |html| {
                    html.leaf("th", &[("scope", "row"), ("class", "number")], &record.seq.to_string());
                    html.leaf("td", &[("class", "number")], &words::time_of_day(record.at, zone));
                    html.leaf("td", &[("class", "short")], &way(record));
                    html.leaf("td", &[("class", "short")], record.kind.name());
                    html.leaf("td", &[("class", "what"), ("dir", "auto")], &gist::of(record));
                });
            });
        });
        limit::tell(html, left_out, "records are");
    });
}

fn way(record: &Record) -> String {
    let from = words::who(record.from.role, record.from.instance);
    let to: Vec<String> = record.to.iter().map(|to| words::who(to.role, to.instance)).collect();
    if to.is_empty() { from } else { format!("{from} → {}", to.join(", ")) }
}

fn records(state: &ViewState) -> String {
    words::count(state.seq, "record")
}
