//! Each round: what was planned, what memory gave to the plan, what was decided and why, what was blocked.

use maud::{Markup, html};
use setpoint_protocol::message::{DirectiveClass, MacroState, Urgency};
use setpoint_protocol::text::clip;

use super::parts::{isolated, none};
use super::{chart, limit};
use crate::state::ViewState;
use crate::state::plans::{Part, Plan};
use crate::state::recall::{Recall, RecalledItem};
use crate::state::rounds::Round;
use crate::view::words;

pub(super) fn decisions(state: &ViewState) -> Markup {
    if state.rounds.over() == 0 {
        return none(match state.result {
            Some(_) => "No direction was given: the task ended before a second plan.",
            None => "No round is over yet.",
        });
    }
    let all: Vec<&Round> = state.rounds.iter().collect();
    let (earlier, rounds) = limit::latest(&all, limit::ROUNDS_MAX);
    let (decisions, left_out) = limit::each(rounds, limit::ROUNDS_MAX, |round| decision(round));
    html! {
        ol.decisions { (decisions) }
        (limit::left_out_note(earlier, "earlier decisions are"))
        (limit::left_out_note(left_out, "decisions are"))
    }
}

fn decision(round: &Round) -> Markup {
    let urgency = match round.urgency {
        Urgency::Low => "low",
        Urgency::Normal => "normal",
        Urgency::High => "high",
    };
    let class = match round.failure_class {
        DirectiveClass::Logical => "wrong results",
        DirectiveClass::Environmental => "the environment",
        DirectiveClass::Mixed => "both alike",
        DirectiveClass::Unknown => "not known",
    };
    html! {
        li {
            p {
                span.when { "Round " (round.round) } " → "
                strong { (MacroState::from(round.directive).name()) } " "
                (isolated(&clip(&round.reason, limit::FIELD_CHARS_MAX)))
            }
            p.dim {
                "∇L " (chart::slope(round.grad_l)) ", of it budget alone " (words::share(round.grad_l_budget))
                "; failures lean to: " (class) "; urgency: " (urgency) "."
            }
            @if !round.blocked.is_empty() {
                p { "The next plan may not use:" }
                (list("blocked", &round.blocked))
            }
        }
    }
}

/// Returns the sub-tasks of each plan.
pub(super) fn plans(state: &ViewState) -> Markup {
    let all: Vec<&Plan> = state.plans.iter().collect();
    let (earlier, plans) = limit::latest(&all, limit::ROUNDS_MAX);
    if plans.is_empty() {
        return none("No plan was dispatched.");
    }
    let (plans, left_out) = limit::each(plans, limit::ROUNDS_MAX, |plan| {
        let (parts, left_out) = limit::each(&plan.parts, limit::PARTS_MAX, part);
        html! {
            details {
                summary {
                    "Plan of round " (plan.round) ": " (words::count(plan.parts.len() as u64, "sub-task"))
                }
                ol.parts { (parts) }
                (limit::left_out_note(left_out, "sub-tasks are"))
            }
        }
    });
    html! {
        (limit::left_out_note(earlier, "earlier plans are"))
        (plans)
        (limit::left_out_note(left_out, "plans are"))
    }
}

fn part(part: &Part) -> Markup {
    let mut more = Vec::new();
    if part.is_kept {
        more.push("its outcome of an earlier round is kept".to_owned());
    }
    if let Some(approach) = &part.approach {
        more.push(format!("approach {approach}"));
    }
    if !part.tools.is_empty() {
        more.push(format!("with {}", part.tools.join(", ")));
    }
    html! {
        li {
            span.when { "group " (part.sequence) } " " (isolated(&clip(&part.intent, limit::FIELD_CHARS_MAX)))
            @if !more.is_empty() {
                p.dim dir="auto" { (clip(&more.join("; "), limit::FIELD_CHARS_MAX)) }
            }
        }
    }
}

/// Returns what memory gave to each plan.
pub(super) fn memory(state: &ViewState) -> Markup {
    let all: Vec<(u32, &Recall)> =
        state.plans.iter().filter_map(|plan| Some((plan.round, plan.recall.as_ref()?))).collect();
    let (earlier, given) = limit::latest(&all, limit::ROUNDS_MAX);
    match (given.first(), &state.recall) {
        (None, None) => none("Memory was not asked."),
        // Memory has answered, but the plan is not made yet.
        (None, Some(recall)) => recalled("For the plan that is being made", recall),
        (Some(_), _) => {
            let (given, left_out) = limit::each(given, limit::ROUNDS_MAX, |(round, recall)| {
                recalled(&format!("For the plan of round {round}"), recall)
            });
            html! {
                (limit::left_out_note(earlier, "earlier rounds are"))
                (given)
                (limit::left_out_note(left_out, "rounds are"))
            }
        }
    }
}

fn recalled(title: &str, recall: &Recall) -> Markup {
    if let Some(reason) = &recall.unavailable {
        return html! {
            h3 { (title) }
            p { "It was made without memory: " (isolated(&clip(reason, limit::FIELD_CHARS_MAX))) }
        };
    }
    let potentials = &recall.potentials;
    let (_, action) = words::action(potentials.action);
    let (given, left_out) = limit::each(&recall.given, limit::GIVEN_MAX, |given| one(recall, given));
    html! {
        h3 { (title) }
        p.dim {
            (words::count(recall.given.len() as u64, "thing")) " given; memory's advice: " (action)
            " (M_att " (words::share(potentials.attention)) ", M_dec " (words::share(potentials.decision)) ")."
        }
        ul { (given) }
        (limit::left_out_note(left_out, "things that memory gave are"))
    }
}

fn one(recall: &Recall, given: &RecalledItem) -> Markup {
    html! {
        li {
            strong { (given.what.words()) } ": " (isolated(&clip(&given.text, limit::FIELD_CHARS_MAX)))
            " " code.dim { (given.id) }
            @if recall.overridden.contains(&given.id) { " overridden: no plan could be made otherwise" }
            @if recall.applied.contains(&given.id) { " applied" }
        }
    }
}

/// Returns texts from outside, one per line.
pub(super) fn list(class: &str, texts: &[String]) -> Markup {
    let (lines, left_out) = limit::each(texts, limit::LINES_MAX, |text| {
        html! { li dir="auto" { (clip(text, limit::FIELD_CHARS_MAX)) } }
    });
    html! { ul class=(class) { (lines) } (limit::left_out_note(left_out, "are")) }
}
