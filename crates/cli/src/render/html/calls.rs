//! What was done to the world: tool calls with what came of them, and what a person was asked to allow.

use jiff::tz::TimeZone;
use setpoint_protocol::CallId;
use setpoint_protocol::message::{ApprovalDecision, ApprovalWord};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::Phase;

use super::{limit, markup::Html, rounds};
use crate::state::ViewState;
use crate::state::calls::Call;
use crate::state::consents::Consent;
use crate::view::words;

const HEAD: [&str; 6] = ["Call", "At", "Took", "Phase", "Ended", "What"];

/// The tool calls.
pub(super) fn put(html: &mut Html, state: &ViewState, zone: &TimeZone) {
    if state.calls.iter().next().is_none() {
        html.leaf("p", &[("class", "none")], "No tool was called.");
        return;
    }
    let mut left_out = 0;
    super::table(html, "Tool calls; a call opens to what it printed or found", &HEAD, |html| {
        left_out = limit::each(html, state.calls.iter(), limit::CALLS_MAX, |html, (id, call)| {
            row(html, *id, call, zone);
        });
    });
    limit::tell(html, left_out, "calls are");
}

fn row(html: &mut Html, id: CallId, call: &Call, zone: &TimeZone) {
    let (class, sign) = match call.ok {
        Some(true) => ("sign verified", "✔"),
        Some(false) => ("sign failed", "✗"),
        None => ("sign running", "◐"),
    };
    let phase = match call.phase {
        Phase::Before => "probe before",
        Phase::Work => "work",
        Phase::After => "probe after",
    };
    let ended = match (call.outcome(), call.ok) {
        (Some(outcome), _) => outcome,
        (None, Some(true)) => "done".to_owned(),
        (None, Some(false)) => "failed".to_owned(),
        (None, None) => "under way".to_owned(),
    };
    html.tag("tr", &[], |html| {
        html.leaf("th", &[("scope", "row"), ("class", "short")], &id.to_string());
        html.leaf("td", &[("class", "number")], &words::time_of_day(call.at, zone));
        html.leaf("td", &[("class", "number")], &words::duration(call.duration_ms));
        html.leaf("td", &[("class", "short")], phase);
        html.tag("td", &[("class", "short")], |html| {
            html.leaf("span", &[("class", class), ("aria-hidden", "true")], sign);
            html.text(&format!(" {ended}"));
        });
        html.tag("td", &[("class", "what")], |html| {
            if call.output.is_empty() {
                html.leaf("code", &[("dir", "auto")], &call.words());
                return;
            }
            html.tag("details", &[], |html| {
                html.tag("summary", &[], |html| html.leaf("code", &[("dir", "auto")], &call.words()));
                html.leaf("pre", &[("dir", "auto")], &call.output);
            });
        });
    });
}

/// What needed consent.
pub(super) fn approvals(html: &mut Html, state: &ViewState) {
    if state.consents.iter().next().is_none() {
        html.leaf("p", &[("class", "none")], "Nothing needed consent.");
        return;
    }
    let mut left_out = 0;
    html.tag("ul", &[("class", "approvals")], |html| {
        left_out = limit::each(html, state.consents.iter(), limit::APPROVALS_MAX, |html, consent| {
            html.tag("li", &[], |html| approval(html, consent));
        });
    });
    limit::tell(html, left_out, "approvals are");
}

fn approval(html: &mut Html, Consent { request, decision }: &Consent) {
    let word = match decision {
        None => "Waits for an answer".to_owned(),
        Some(ApprovalDecision { decision, by, .. }) => {
            let by = clip(by, limit::GIST_CHARS_MAX);
            match decision {
                ApprovalWord::Once => format!("Allowed once by {by}"),
                ApprovalWord::ForTask => format!("Allowed for this task by {by}"),
                ApprovalWord::Never => format!("Refused by {by}"),
            }
        }
    };
    html.leaf("strong", &[], &word);
    html.text(": ");
    let command = crate::text::sanitise::exact(&request.need.command);
    html.leaf("code", &[("dir", "auto")], &clip(&command, limit::FIELD_CHARS_MAX));
    html.tag("p", &[("class", "dim")], |html| {
        html.text(&format!("{}: ", request.for_call));
        html.said(&clip(&request.need.reason, limit::FIELD_CHARS_MAX));
        html.text(&format!(
            "; digest {}",
            clip(&crate::text::sanitise::exact(&request.need.digest), limit::GIST_CHARS_MAX)
        ));
    });
    if let Some(preview) = &request.need.preview {
        let exact: Vec<String> = preview.lines().map(crate::text::sanitise::exact).collect();
        html.leaf("pre", &[("dir", "ltr")], &exact.join("\n"));
    }
    let folder: Vec<String> = request.need.cwd.iter().cloned().collect();
    for (title, paths) in [
        ("In the folder:", &folder),
        ("It writes:", &request.need.writes),
        ("It deletes:", &request.need.deletes),
    ] {
        if !paths.is_empty() {
            html.leaf("p", &[], title);
            let exact: Vec<String> = paths.iter().map(|path| crate::text::sanitise::exact(path)).collect();
            rounds::list(html, "paths", &exact);
        }
    }
}
