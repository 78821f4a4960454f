//! Round by round: what was planned, what memory gave to the plan, what was decided and why, what was blocked.

use setpoint_protocol::message::{DirectiveClass, MacroState, Urgency};
use setpoint_protocol::text::clip;

use super::{chart, limit, markup::Html};
use crate::state::ViewState;
use crate::state::plans::{Part, Plan};
use crate::state::recall::{Given, Recall};
use crate::state::rounds::Round;
use crate::view::words;

/// The decisions.
pub(super) fn decisions(html: &mut Html, state: &ViewState) {
    if state.rounds.over() == 0 {
        let text = match state.result {
            Some(_) => "No direction was given: the task ended before a second plan.",
            None => "No round is over yet.",
        };
        html.leaf("p", &[("class", "none")], text);
        return;
    }
    let all: Vec<&Round> = state.rounds.iter().collect();
    let (earlier, rounds) = limit::latest(&all, limit::ROUNDS_MAX);
    let mut left_out = 0;
    html.tag("ol", &[("class", "decisions")], |html| {
        left_out = limit::each(html, rounds, limit::ROUNDS_MAX, |html, round| {
            html.tag("li", &[], |html| decision(html, round));
        });
    });
    limit::tell(html, earlier, "earlier decisions are");
    limit::tell(html, left_out, "decisions are");
}

fn decision(html: &mut Html, round: &Round) {
    html.tag("p", &[], |html| {
        html.leaf("span", &[("class", "when")], &format!("Round {}", round.round));
        html.text(" → ");
        html.leaf("strong", &[], MacroState::from(round.directive).name());
        html.text(" ");
        html.said(&clip(&round.reason, limit::FIELD_CHARS_MAX));
    });
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
    let budget = words::share(round.grad_l_budget);
    let text = format!(
        "∇L {}, of it budget alone {budget}; failures lean to: {class}; urgency: {urgency}.",
        chart::slope(round.grad_l)
    );
    html.leaf("p", &[("class", "dim")], &text);
    if !round.blocked.is_empty() {
        html.leaf("p", &[], "The next plan may not use:");
        list(html, "blocked", &round.blocked);
    }
}

/// What each plan consisted of.
pub(super) fn plans(html: &mut Html, state: &ViewState) {
    let all: Vec<&Plan> = state.plans.iter().collect();
    let (earlier, plans) = limit::latest(&all, limit::ROUNDS_MAX);
    if plans.is_empty() {
        html.leaf("p", &[("class", "none")], "No plan was dispatched.");
        return;
    }
    limit::tell(html, earlier, "earlier plans are");
    let left_out = limit::each(html, plans, limit::ROUNDS_MAX, |html, plan| {
        html.tag("details", &[], |html| {
            let parts = words::count(plan.parts.len() as u64, "sub-task");
            html.leaf("summary", &[], &format!("Plan of round {}: {parts}", plan.round));
            parts_of(html, plan);
        });
    });
    limit::tell(html, left_out, "plans are");
}

fn parts_of(html: &mut Html, plan: &Plan) {
    let mut left_out = 0;
    html.tag("ol", &[("class", "parts")], |html| {
        left_out = limit::each(html, &plan.parts, limit::PARTS_MAX, |html, part| {
            html.tag("li", &[], |html| part_of(html, part));
        });
    });
    limit::tell(html, left_out, "sub-tasks are");
}

fn part_of(html: &mut Html, part: &Part) {
    html.leaf("span", &[("class", "when")], &format!("group {}", part.sequence));
    html.text(" ");
    html.said(&clip(&part.intent, limit::FIELD_CHARS_MAX));
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
    if !more.is_empty() {
        let more = clip(&more.join("; "), limit::FIELD_CHARS_MAX);
        html.leaf("p", &[("class", "dim"), ("dir", "auto")], &more);
    }
}

/// What memory gave to each plan.
pub(super) fn memory(html: &mut Html, state: &ViewState) {
    let all: Vec<(u32, &Recall)> =
        state.plans.iter().filter_map(|plan| Some((plan.round, plan.recall.as_ref()?))).collect();
    let (earlier, given) = limit::latest(&all, limit::ROUNDS_MAX);
    match (given.first(), &state.recall) {
        (None, None) => html.leaf("p", &[("class", "none")], "Memory was not asked."),
        // It has answered, and the plan is not made yet.
        (None, Some(recall)) => recalled(html, "For the plan that is being made", recall),
        (Some(_), _) => {
            limit::tell(html, earlier, "earlier rounds are");
            let left_out = limit::each(html, given, limit::ROUNDS_MAX, |html, (round, recall)| {
                recalled(html, &format!("For the plan of round {round}"), recall);
            });
            limit::tell(html, left_out, "rounds are");
        }
    }
}

fn recalled(html: &mut Html, title: &str, recall: &Recall) {
    html.leaf("h3", &[], title);
    if let Some(reason) = &recall.unavailable {
        let reason = clip(reason, limit::FIELD_CHARS_MAX);
        html.tag("p", &[], |html| {
            html.text("It was made without memory: ");
            html.said(&reason);
        });
        return;
    }
    let (_, action) = words::action(recall.potentials.action);
    let (attention, decision) =
        (words::share(recall.potentials.attention), words::share(recall.potentials.decision));
    let given = words::count(recall.given.len() as u64, "thing");
    let text = format!("{given} given; what is known says {action} (M_att {attention}, M_dec {decision}).");
    html.leaf("p", &[("class", "dim")], &text);
    let mut left_out = 0;
    html.tag("ul", &[], |html| {
        left_out = limit::each(html, &recall.given, limit::GIVEN_MAX, |html, given| one(html, recall, given));
    });
    limit::tell(html, left_out, "things that memory gave are");
}

fn one(html: &mut Html, recall: &Recall, given: &Given) {
    html.tag("li", &[], |html| {
        html.leaf("strong", &[], given.what.words());
        html.text(": ");
        html.said(&clip(&given.text, limit::FIELD_CHARS_MAX));
        html.text(" ");
        html.leaf("code", &[("class", "dim")], &given.id.to_string());
        if recall.overridden.contains(&given.id) {
            html.text(" overridden: no plan could be made otherwise");
        }
        if recall.applied.contains(&given.id) {
            html.text(" applied");
        }
    });
}

/// Texts of others, one a line.
pub(super) fn list(html: &mut Html, class: &'static str, texts: &[String]) {
    let mut left_out = 0;
    html.tag("ul", &[("class", class)], |html| {
        left_out = limit::each(html, texts, limit::LINES_MAX, |html, text| {
            html.leaf("li", &[("dir", "auto")], &clip(text, limit::FIELD_CHARS_MAX));
        });
    });
    limit::tell(html, left_out, "are");
}
