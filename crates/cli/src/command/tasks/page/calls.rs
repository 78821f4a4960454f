//! Tool calls with their outcomes, and the calls that needed consent.

use jiff::tz::TimeZone;
use maud::{Markup, html};
use setpoint_protocol::CallId;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::Phase;

use super::parts::{isolated, none};
use super::{limit, parts, rounds};
use crate::state::ViewState;
use crate::state::calls::Call;
use crate::state::consents::Consent;
use crate::text::sanitise::exact;
use crate::view::words;

const HEAD: [&str; 6] = ["Call", "At", "Took", "Phase", "Ended", "What"];

pub(super) fn calls(state: &ViewState, zone: &TimeZone) -> Markup {
    if state.calls.iter().next().is_none() {
        return none("No tool was called.");
    }
    let (rows, left_out) =
        limit::each(state.calls.iter(), limit::CALLS_MAX, |(id, call)| row(*id, call, zone));
    html! {
        (parts::table("Tool calls; open a call to see what it printed or found", &HEAD, &rows))
        (limit::left_out_note(left_out, "calls are"))
    }
}

fn row(id: CallId, call: &Call, zone: &TimeZone) -> Markup {
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
    let what = html! { code dir="auto" { (call.words()) } };
    html! {
        tr {
            th.short scope="row" { (id) }
            td.number { (words::time_of_day(call.at, zone)) }
            td.number { (words::duration(call.duration_ms)) }
            td.short { (phase) }
            td.short { span class=(class) aria-hidden="true" { (sign) } " " (ended) }
            td.what {
                @if call.output.is_empty() {
                    (what)
                } @else {
                    details {
                        summary { (what) }
                        pre dir="auto" { (call.output) }
                    }
                }
            }
        }
    }
}

/// Lists the calls that needed consent.
pub(super) fn approvals(state: &ViewState) -> Markup {
    if state.consents.iter().next().is_none() {
        return none("Nothing needed consent.");
    }
    let (shown, left_out) = limit::each(state.consents.iter(), limit::APPROVALS_MAX, approval);
    html! { ul.approvals { (shown) } (limit::left_out_note(left_out, "approvals are")) }
}

fn approval(Consent { request, decision }: &Consent) -> Markup {
    let need = &request.need;
    let word = match decision {
        None => "waits for an answer".to_owned(),
        Some(decision) => clip(&words::decided(decision).1, limit::GIST_CHARS_MAX),
    };
    let folder: Vec<String> = need.cwd.iter().cloned().collect();
    let read = need.read();
    let paths = [
        ("In the folder:", &folder),
        ("It connects to:", &need.hosts),
        ("It writes:", &need.writes),
        ("It deletes:", &need.deletes),
        ("The task has read:", &read),
    ];
    let exactly = |texts: &[String]| texts.iter().map(|text| exact(text)).collect::<Vec<_>>();
    html! {
        li {
            strong { (word) } ": "
            code dir="auto" { (clip(&exact(&need.command), limit::FIELD_CHARS_MAX)) }
            p.dim {
                (request.for_call) ": " (isolated(&clip(&need.why(), limit::FIELD_CHARS_MAX)))
                "; digest " (clip(&exact(&need.digest), limit::GIST_CHARS_MAX))
            }
            @if let Some(preview) = &need.preview {
                pre dir="ltr" { (preview.lines().map(exact).collect::<Vec<_>>().join("\n")) }
            }
            @for (title, paths) in paths.into_iter().filter(|(_, paths)| !paths.is_empty()) {
                p { (title) }
                (rounds::list("paths", &exactly(paths)))
            }
        }
    }
}
