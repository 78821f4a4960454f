//! A record in a line: what was said, asked or answered, in as few words as tell it.

use serde::de::DeserializeOwned;
use setpoint_protocol::message::{Availability, BASELINE_GROUP, ExecutionStatus, MacroState, OutcomeStatus};
use setpoint_protocol::record::{Answer, Answered, Ask, Asked, Poisoned, Reasked, Record, RecordKind};
use setpoint_protocol::text::clip;
use setpoint_protocol::topology::Payload;

use super::limit::GIST_CHARS_MAX;
use crate::view::words;

/// The gist, clipped; empty where the kind says it all, or the body cannot be read.
pub(super) fn of(record: &Record) -> String {
    let gist = match record.kind {
        RecordKind::Message(_) => record.message().map(message),
        RecordKind::Opened => Some("the task was opened".to_owned()),
        RecordKind::Asked => read(record).map(asked),
        RecordKind::Reasked => read(record)
            .map(|Reasked { call, attempt, reason, .. }| format!("{call}, attempt {attempt}: {reason}")),
        RecordKind::Answered => read(record).map(answered),
        RecordKind::Quiesced => Some("everything that was stopped has come back".to_owned()),
        RecordKind::Poisoned => {
            read(record).map(|Poisoned { kind, panic, .. }| format!("a machine failed on {kind}: {panic}"))
        }
    };
    clip(&gist.unwrap_or_default(), GIST_CHARS_MAX)
}

fn read<T: DeserializeOwned>(record: &Record) -> Option<T> {
    serde_json::from_slice(&record.body).ok()
}

fn asked(Asked { call, ask, .. }: Asked) -> String {
    match ask {
        Ask::Model { purpose, .. } => format!("{call}: a model, to {}", purpose.name()),
        Ask::Tool { call: tool, .. } => format!("{call}: {} {}", tool.tool, tool.input.to_text()),
        Ask::Timer { ms } => format!("{call}: a timer of {}", words::duration(ms)),
        Ask::Survey { .. } => format!("{call}: a look around"),
    }
}

fn answered(Answered { call, answer, .. }: Answered) -> String {
    match answer {
        Answer::Model(reply) => {
            let (tokens_in, tokens_out) =
                (words::thousands(reply.usage.tokens_in), words::thousands(reply.usage.tokens_out));
            let said = reply.text();
            let wishes: Vec<String> = reply.tool_calls().map(|call| call.tool).collect();
            let wishes =
                if wishes.is_empty() { String::new() } else { format!("calls {} ", wishes.join(", ")) };
            format!("{call}: {tokens_in} tokens in, {tokens_out} out: {wishes}{said}")
        }
        Answer::ModelFailed(failure) => format!("{call}: no answer: {}", failure.reason),
        Answer::Tool(answer) => {
            let ended = match (answer.exit_code, answer.error_kind) {
                (Some(code), _) => format!("exit {code}"),
                (None, Some(kind)) => crate::state::calls::error_words(kind).to_owned(),
                (None, None) if answer.ok => "done".to_owned(),
                (None, None) => "failed".to_owned(),
            };
            format!("{call}: {ended}, {}: {}", words::duration(answer.duration_ms), answer.text)
        }
        Answer::Timer => format!("{call}: the timer went off"),
        Answer::Survey(survey) => {
            format!(
                "{call}: {} below the working directory",
                words::count(survey.entries.len() as u64, "name")
            )
        }
        Answer::Interrupted => format!("{call}: interrupted"),
    }
}

fn message(message: Payload) -> String {
    match message {
        Payload::UserInput(input) => input.raw_input,
        Payload::ClarificationRequest(request) => request.questions.join(" / "),
        Payload::ClarificationAnswer(answer) => answer.answers.join(" / "),
        Payload::DirectAnswer(answer) => answer.text,
        Payload::TaskSpec(spec) => spec.intent,
        Payload::MemoryQuery(query) => format!("{} {}", query.space, query.entity),
        Payload::MemoryReply(reply) => match reply.availability {
            Availability::Available => {
                let rules = words::count(reply.rules.len() as u64, "rule");
                let records = words::count(reply.records.len() as u64, "record");
                let avoided = words::count(reply.avoided.len() as u64, "call");
                format!("{rules}, {records}, {avoided} to avoid")
            }
            Availability::Unavailable => reply.reason.unwrap_or_else(|| "memory was away".to_owned()),
        },
        Payload::PlanProposal(proposal) => {
            format!("round {}: {}", proposal.round, words::count(proposal.subtasks.len() as u64, "sub-task"))
        }
        Payload::PlanDecision(decision) => {
            if decision.approved {
                "the plan is approved".to_owned()
            } else {
                decision.note.unwrap_or_default()
            }
        }
        Payload::DispatchManifest(manifest) => format!(
            "round {}: {}, criteria of the whole: {}",
            manifest.round,
            words::count(manifest.subtasks.len() as u64, "sub-task"),
            manifest.task_criteria.len(),
        ),
        Payload::SubTask(subtask) => subtask.intent,
        Payload::ExecutionResult(result) => {
            let status = match result.status {
                ExecutionStatus::Completed => "completed",
                ExecutionStatus::Uncertain => "completed with a doubt",
                ExecutionStatus::Failed => "not possible",
            };
            format!("attempt {}: {status}: {}", result.attempt, result.output.to_text())
        }
        Payload::CorrectionSignal(signal) => format!(
            "attempt {} falls short: {}: {}",
            signal.attempt_number, signal.failed_criterion, signal.what_was_wrong
        ),
        Payload::SubTaskOutcome(outcome) => match outcome.status {
            OutcomeStatus::Matched => {
                format!("matched: {}", words::count(outcome.criteria_verdicts.len() as u64, "verdict"))
            }
            OutcomeStatus::Failed => format!("failed: {}", outcome.failure_reason.unwrap_or_default()),
        },
        Payload::GroupMatched(group) if group.sequence == BASELINE_GROUP => format!(
            "round {}: measured before the work: {}",
            group.round,
            words::count(group.baseline.len() as u64, "probe")
        ),
        Payload::GroupMatched(group) => format!("round {}: group {} matched", group.round, group.sequence),
        Payload::OutcomeSummary(summary) => summary.summary,
        Payload::ReplanRequest(request) => format!("round {}: {}", request.round, request.gap_summary),
        Payload::PlanDirective(directive) => {
            format!("{}: {}", MacroState::from(directive.directive).name(), directive.rationale)
        }
        Payload::TaskFault(fault) => format!("{}: {}", fault.role.label(), fault.reason),
        Payload::CancelRequest(request) => request.reason.unwrap_or_else(|| "cancel".to_owned()),
        Payload::ApprovalRequest(request) => crate::text::sanitise::exact(&request.need.command),
        Payload::ApprovalDecision(decision) => format!("by {}", decision.by),
        Payload::AbandonNotice(notice) => format!("{}: {}", notice.ended_by.name(), notice.reason),
        Payload::PartialReport(report) => report.achieved,
        Payload::FinalResult(result) => {
            let end = MacroState::from(result.directive).name();
            format!("{end}, by {}: {}", result.ended_by.name(), result.summary)
        }
        Payload::Megram(megram) => megram.content.lesson,
        Payload::NegativeFeedback(feedback) => feedback.content.lesson,
        Payload::MemoryCommand(_)
        | Payload::MemoryListing(_)
        | Payload::AuditQuery(_)
        | Payload::AuditReport(_) => String::new(),
    }
}
