//! The order in which approaches and variants are tried, from the directive and what was tried before.

use std::collections::BTreeMap;

use serde_json::Value;
use setpoint_machine::brief::PlanBrief;
use setpoint_protocol::Any;
use setpoint_protocol::message::{ActionState, ApproachName};

use crate::playbook::book::{ApproachForm, Book, VariantForm};

/// One way to try: an approach, with or without a variant.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'b> {
    pub(super) approach: &'b ApproachForm,
    pub(super) variant: Option<&'b VariantForm>,
}

impl Candidate<'_> {
    fn is_variant(&self, name: &str) -> bool {
        self.variant.is_some_and(|variant| variant.name == name)
    }
}

/// Returns all candidates for these values, the next one first.
///
/// After an environmental failure the variants of the same approach come first; after a logical one another approach.
/// What the approach itself states for the directive comes before both.
pub(super) fn candidates<'b>(
    book: &'b Book,
    values: &BTreeMap<String, Value>,
    brief: &PlanBrief,
) -> Vec<Candidate<'b>> {
    let meant: Vec<&ApproachForm> =
        book.approaches.iter().filter(|approach| is_meant(approach, values)).collect();
    let plain = |approach| Candidate { approach, variant: None };
    let varied = |approach: &'b ApproachForm| {
        approach.variants.iter().map(move |variant| Candidate { approach, variant: Some(variant) })
    };
    let last = brief.previous.iter().rev().find_map(|plan| plan.approaches.first());
    let last = last.and_then(|last| meant.iter().position(|approach| approach.name == last.approach));
    let directive = brief.directive.as_ref().map(|directive| directive.directive);
    let mut order: Vec<Candidate<'b>> = Vec::new();
    let (before, current, after) = match last {
        Some(at) => (meant.get(..at), meant.get(at).copied(), meant.get(at + 1..)),
        None => (None, None, Some(meant.as_slice())),
    };
    let others: Vec<&ApproachForm> =
        after.into_iter().chain(before).flat_map(|approaches| approaches.iter().copied()).collect();
    if let (Some(current), Some(directive)) = (current, directive) {
        for name in current.next.get(&directive).into_iter().flatten() {
            let all = || std::iter::once(current).chain(others.iter().copied());
            let approach = all().find(|approach| approach.name == *name).map(plain);
            order.extend(approach.or_else(|| all().flat_map(varied).find(|varied| varied.is_variant(name))));
        }
    }
    let stays = matches!(directive, None | Some(ActionState::Refine | ActionState::ChangePath));
    match current {
        Some(current) if stays => {
            order.push(plain(current));
            order.extend(varied(current));
            order.extend(others.iter().copied().map(plain));
            order.extend(others.iter().copied().flat_map(varied));
        }
        current => {
            order.extend(others.iter().copied().map(plain));
            order.extend(others.iter().copied().flat_map(varied));
            order.extend(current.map(plain));
            order.extend(current.into_iter().flat_map(varied));
        }
    }
    let mut order = distinct(order);
    if brief.previous.is_empty() {
        // Later rounds follow the directive, which knows this task better.
        order.sort_by_key(|candidate| preference(book, candidate, brief));
    }
    order
}

/// Returns where memory ranks a candidate: among those that worked, or after all others.
fn preference(book: &Book, candidate: &Candidate<'_>, brief: &PlanBrief) -> usize {
    let is_it = |name: &ApproachName| {
        name.playbook == book.name
            && name.approach == candidate.approach.name
            && name.variant.as_deref() == candidate.variant.map(|variant| variant.name.as_str())
    };
    brief.preferred.iter().position(is_it).unwrap_or(usize::MAX)
}

/// Returns whether a plan of this candidate was judged and failed. One that ended by a fault may be tried again.
pub(super) fn failed_before(candidate: &Candidate<'_>, brief: &PlanBrief) -> bool {
    brief.previous.iter().filter(|plan| plan.judged_failed).any(|plan| {
        plan.approaches.iter().any(|tried| {
            tried.approach == candidate.approach.name
                && tried.variant() == candidate.variant.map(|v| v.name.as_str())
        })
    })
}

fn is_meant(approach: &ApproachForm, values: &BTreeMap<String, Value>) -> bool {
    approach.when.iter().all(|(name, wanted)| match values.get(name) {
        Some(Value::String(text)) => text == wanted,
        Some(other) => Any(other.clone()).to_text() == *wanted,
        None => false,
    })
}

fn distinct(order: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    let mut out: Vec<Candidate<'_>> = Vec::new();
    for candidate in order {
        let known = out.iter().any(|other| {
            other.approach.name == candidate.approach.name
                && other.variant.map(|v| &v.name) == candidate.variant.map(|v| &v.name)
        });
        if !known {
            out.push(candidate);
        }
    }
    out
}
