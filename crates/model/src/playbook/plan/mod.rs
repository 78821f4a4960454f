//! R2's answers: which approach to take, at first and after each directive, and the resulting plan.

mod holding;
mod order;
pub(crate) mod render;
mod there;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use setpoint_extract::draft::PlanDraft;
use setpoint_machine::brief::PlanBrief;
use setpoint_protocol::record::ModelFailure;

use super::book::Book;
use super::library::{BookMatch, Library};
use super::template::Scope;
use super::{unable, values};
use order::Candidate;

/// Returns the plan for a brief, or why there is none.
pub(crate) fn plan(library: &Library, brief: &PlanBrief) -> Result<PlanDraft, ModelFailure> {
    let found = library.look_up(&brief.spec.raw_input).or_else(|| library.look_up(&brief.spec.intent));
    let Some(found) = found else {
        return Err(unable::no_playbook(library, brief));
    };
    if let Some((typed, text)) = found.unclear_text() {
        return Err(unable::unclear(found.book, typed, text));
    }
    let BookMatch { book, values: given, other_readings } = found;
    let values =
        values::complete(book, &given, &brief.surroundings).map_err(|error| unable::values(book, &error))?;
    let unclear = || there::path_or_word(book, &given, brief);
    if let Some(reason) = there::refusal(book, &given, &other_readings, brief).or_else(unclear) {
        return Err(unable::path(reason, book));
    }
    let candidates = order::candidates(book, &values, brief);
    let untried: Vec<Candidate<'_>> =
        candidates.into_iter().filter(|candidate| !order::failed_before(candidate, brief)).collect();
    let chosen = choose(book, &untried, &values, brief)
        .ok_or_else(|| unable::no_approach(book, brief, &Scope::new(&values, &brief.surroundings)))?;
    let left_out = render::LeftOut {
        steps: render::kept_steps(book, &chosen.candidate, &chosen.values, brief),
        criteria: chosen.out_of_reach,
    };
    let Candidate { approach, variant } = chosen.candidate;
    let mut draft = render::plan(book, approach, variant, &chosen.values, &brief.surroundings, &left_out)
        .map_err(|error| unable::template(book, &error))?;
    if brief.task_criteria.is_empty() {
        draft.task_criteria =
            render::task_criteria(book, &chosen.values, &brief.surroundings, &left_out.criteria)
                .map_err(|error| unable::template(book, &error))?;
    }
    Ok(draft)
}

/// A candidate that may be planned.
struct ChosenCandidate<'b> {
    candidate: Candidate<'b>,
    values: BTreeMap<String, Value>,
    /// Criteria whose probes the plan may not make.
    out_of_reach: BTreeSet<String>,
}

/// Chooses the first candidate that fits, or another one after a refusal in this round.
///
/// Plans that only contradict memory come after the others: R2 relaxes memory's part after the third refusal, and until
/// then such a plan is refused like any other.
fn choose<'b>(
    book: &Book,
    untried: &[Candidate<'b>],
    values: &BTreeMap<String, Value>,
    brief: &PlanBrief,
) -> Option<ChosenCandidate<'b>> {
    let mut fitting = Vec::new();
    let mut against_memory = Vec::new();
    for candidate in untried {
        let varied = match candidate.variant {
            Some(variant) => values::varied(book, values, variant, &brief.surroundings),
            None => Ok(values.clone()),
        };
        let Ok(values) = varied else { continue };
        let out_of_reach = holding::out_of_reach(book, &values, brief);
        let held = holding::hold(candidate, &values, &out_of_reach, brief);
        let chosen = ChosenCandidate { candidate: candidate.clone(), values, out_of_reach };
        match held {
            holding::CandidateCheck::Free => fitting.push(chosen),
            holding::CandidateCheck::ByMemory => against_memory.push(chosen),
            holding::CandidateCheck::Blocked => {}
        }
    }
    fitting.extend(against_memory);
    let place = place(fitting.len(), brief)?;
    fitting.into_iter().nth(place)
}

/// Returns which of `count` candidates is planned. A refused plan has one or more reasons, so their number does not
/// tell how many plans were refused. It only tells that the first one was, and selects one of the others.
fn place(count: usize, brief: &PlanBrief) -> Option<usize> {
    let reasons = brief.refusals.len();
    match (&brief.note, count) {
        (_, 0) => None,
        // A plan that a person declined is not shown again.
        (Some(_), 1) => None,
        (Some(_), _) => Some(1 + reasons % (count - 1)),
        (None, 1) => Some(0),
        (None, _) if reasons == 0 => Some(0),
        (None, _) => Some(1 + (reasons - 1) % (count - 1)),
    }
}

/// Returns distinct names of tools, in order.
fn distinct<'t>(tools: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    tools.filter(|tool| seen.insert(*tool)).map(str::to_owned).collect()
}
