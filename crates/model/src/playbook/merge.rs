//! R4b's question: whose outputs form the result. Of several approaches, those of the last planned one.

use serde_json::Value;
use setpoint_extract::draft::MergeDraft;
use setpoint_machine::brief::MergeBrief;
use setpoint_protocol::Any;
use setpoint_protocol::message::Approach;

use super::judge::not_judged;
use super::library::Library;

pub(crate) fn merge(library: &Library, brief: &MergeBrief) -> MergeDraft {
    let last = brief.approaches.iter().rev().flatten().next();
    let book = last.and_then(|last| library.book(&last.playbook));
    let wanted = book
        .zip(last)
        .and_then(|(book, last)| book.approach(&last.approach))
        .map(|form| form.result.as_slice());
    let output_of = match last {
        Some(last) => (1..)
            .zip(&brief.approaches)
            .filter(|(_, approach)| {
                approach.as_ref().is_some_and(|approach| {
                    is_of(approach, last)
                        && wanted.is_none_or(|wanted| {
                            wanted.is_empty() || step_of(approach).is_some_and(|step| wanted.contains(&step))
                        })
                })
            })
            .map(|(place, _)| place)
            .collect(),
        None => Vec::new(),
    };
    MergeDraft {
        verdicts: brief.criteria.iter().map(|criterion| not_judged(&criterion.id)).collect(),
        summary: book.map(|book| book.title.clone()),
        output_of,
        at_fault: Vec::new(),
    }
}

fn is_of(approach: &Approach, last: &Approach) -> bool {
    approach.playbook == last.playbook && approach.approach == last.approach
}

fn step_of(approach: &Approach) -> Option<u32> {
    let Any(params) = &approach.params;
    params.get("step").and_then(Value::as_u64).and_then(|step| u32::try_from(step).ok())
}
