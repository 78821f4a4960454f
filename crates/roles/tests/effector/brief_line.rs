//! Tests of the one-line description of a model call.

use std::sync::Arc;

use setpoint_machine::brief::{Brief, Repair};
use setpoint_machine::model_call::ModelCall;
use setpoint_machine::prompt::FragmentKind;
use setpoint_protocol::CriterionId;
use setpoint_protocol::message::{Approach, Criterion};
use setpoint_protocol::tool::ToolRecord;

pub(crate) fn describe(call: &ModelCall) -> String {
    match &call.brief {
        Brief::Execute(brief) => {
            let tools: Vec<&str> = brief.tools.iter().map(|tool| tool.name.as_str()).collect();
            let mut line = format!(
                "attempt {} rounds left {} tools [{}] calls [{}]",
                brief.attempt,
                brief.rounds_left,
                tools.join(" "),
                calls(&brief.calls)
            );
            let said = brief.turns.iter().rposition(|turn| turn.kind() == FragmentKind::Said);
            let since = brief.turns.iter().skip(said.map_or(0, |at| at + 1));
            for told in since.filter(|turn| turn.kind() == FragmentKind::Task) {
                line.push_str(&format!(" told {:?}", told.text()));
            }
            for notice in &brief.notices {
                line.push_str(&format!(" notice {notice:?}"));
            }
            line
        }
        Brief::Judge(brief) => {
            let mut line = format!(
                "criteria [{}] calls [{}] output {:?}",
                ids(&brief.criteria),
                calls(&brief.calls),
                brief.output.to_text()
            );
            if let Some(doubt) = &brief.uncertainty {
                line.push_str(&format!(" doubt {doubt:?}"));
            }
            for claim in &brief.claims {
                line.push_str(&format!(" impossible {} {:?}", claim.criterion_id, claim.why));
            }
            if !brief.classify.is_empty() {
                let ids: Vec<&str> = brief.classify.iter().map(CriterionId::as_str).collect();
                line.push_str(&format!(" classify [{}]", ids.join(" ")));
            }
            line + &repair(brief.repair.as_ref())
        }
        Brief::Merge(brief) => {
            let mut line = format!("criteria [{}] of {:?}", ids(&brief.criteria), brief.intents);
            if brief.approaches.iter().any(Option::is_some) {
                let name = |approach: &Option<Approach>| approach.as_ref().map_or("-".to_owned(), named);
                let names: Vec<String> = brief.approaches.iter().map(name).collect();
                line.push_str(&format!(" approaches [{}]", names.join(" ")));
            }
            line + &repair(brief.repair.as_ref())
        }
        Brief::Perceive(_) | Brief::Plan(_) | Brief::Report(_) | Brief::Distil(_) | Brief::Reflect(_) => {
            "not asked by these roles".to_owned()
        }
    }
}

fn named(approach: &Approach) -> String {
    format!("{}/{} {}", approach.playbook, approach.approach, approach.params.to_text())
}

fn ids(criteria: &[Criterion]) -> String {
    criteria.iter().map(|criterion| criterion.id.as_str()).collect::<Vec<_>>().join(" ")
}

fn calls(calls: &[Arc<ToolRecord>]) -> String {
    calls.iter().map(|call| call.call_id.to_string()).collect::<Vec<_>>().join(" ")
}

fn repair(repair: Option<&Repair>) -> String {
    repair.map(|repair| format!(" repair {:?}", repair.error)).unwrap_or_default()
}
