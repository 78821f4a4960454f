//! Progress as plain lines, for logs and for terminals that cannot redraw: one line for what a person would want
//! to have seen.

use std::collections::BTreeSet;

use setpoint_protocol::Instance;
use setpoint_protocol::message::{MacroState, OutcomeStatus, TaskSpec};
use setpoint_protocol::record::{Answered, Record, RecordKind};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::Phase;
use setpoint_protocol::topology::Payload;

use crate::state::ViewState;
use crate::state::recall::What;
use crate::text::{Line, Tone};
use crate::view::{recall, words};

/// Columns of what came from outside in one line.
const TEXT_COLUMNS_MAX: usize = 200;
/// Characters of a call in one line; `tasks show` has it whole.
const CALL_CHARS_MAX: usize = 90;

/// Returns the line about a record that `state` has just taken in; `None` if it is not worth one. With `names_roles` it tells
/// the roles by their names and the loss by its parts, without it what is done and what comes next.
pub(crate) fn line(state: &ViewState, record: &Record, names_roles: bool) -> Option<Line> {
    let said = match record.kind {
        RecordKind::Message(_) => message(state, record, names_roles)?,
        RecordKind::Answered => call(state, record, names_roles)?,
        RecordKind::Poisoned => {
            (Tone::Bad, "an input made a role panic; it is kept in the journal".to_owned())
        }
        RecordKind::Opened | RecordKind::Asked | RecordKind::Reasked | RecordKind::Quiesced => return None,
    };
    let (tone, text) = said;
    let line = Line::new().and(Tone::Dim, &words::clock(state.clock_ms)).and(Tone::Plain, "  ");
    Some(line.and(tone, &text).clip(TEXT_COLUMNS_MAX))
}

fn message(state: &ViewState, record: &Record, names_roles: bool) -> Option<(Tone, String)> {
    let who = match names_roles {
        true => words::who(record.from.role, record.from.instance),
        false => numbered(state, "check", record.from.instance),
    };
    Some(match record.message()? {
        Payload::UserInput(input) => (Tone::Strong, format!("goal: {}", input.raw_input)),
        // What stands there already need not be said again.
        Payload::TaskSpec(spec) if is_the_goal(&spec) => return None,
        Payload::TaskSpec(spec) => (Tone::Name, format!("read as: {}", spec.intent)),
        Payload::DispatchManifest(manifest) => {
            let subtasks = words::count(manifest.subtasks.len() as u64, "sub-task");
            // One that a sub-task and the whole have in common is one.
            let of_subtasks = manifest.subtasks.iter().flat_map(|entry| &entry.success_criteria);
            let all = of_subtasks.chain(&manifest.task_criteria).map(|criterion| &criterion.criterion);
            let criteria = all.collect::<BTreeSet<_>>().len() as u64;
            let criteria =
                if criteria == 1 { "1 criterion".to_owned() } else { format!("{criteria} criteria") };
            let plan = match (names_roles, manifest.round) {
                (true, round) => format!("{who} round {round}"),
                (false, 1) => "plan".to_owned(),
                (false, round) => format!("plan {round}"),
            };
            (Tone::Name, format!("{plan}: {subtasks}, {criteria}"))
        }
        Payload::MemoryReply(_) => {
            let recall = state.recall.as_ref()?;
            // What is only near says nothing about what will be done.
            if !names_roles && recall.given.first().is_some_and(|first| first.what == What::Related) {
                return None;
            }
            let tone = if recall.unavailable.is_some() { Tone::Care } else { Tone::Plain };
            (tone, format!("memory: {}", recall::brief(recall)?.to_text()))
        }
        Payload::CorrectionSignal(signal) => {
            let class = words::failed(signal.failure_class);
            // What was wrong usually begins with the criterion itself.
            let told = format!("{}: ", signal.failed_criterion);
            let what = signal.what_was_wrong.strip_prefix(&told).unwrap_or(&signal.what_was_wrong);
            let attempt = signal.attempt_number;
            let failed = match names_roles {
                true => format!("{who} attempt {attempt} {class} "),
                false => format!("{who}: attempt {attempt} failed: "),
            };
            let what = if names_roles { what.to_owned() } else { words::without_pointers(what) };
            (Tone::Care, format!("{failed}{told}{what}"))
        }
        Payload::SubTaskOutcome(outcome) => match outcome.status {
            OutcomeStatus::Matched if names_roles => (Tone::Good, format!("{who} matched")),
            OutcomeStatus::Matched => (Tone::Good, format!("{who}: met")),
            OutcomeStatus::Failed => {
                let told = words::failures(&outcome.criteria_verdicts);
                let told = if told.is_empty() { told } else { format!(" ({told})") };
                let reason = outcome.failure_reason.unwrap_or_default();
                let text = match names_roles {
                    true => format!("{who} failed{told}: {reason}"),
                    false => {
                        let reason = words::without_pointers(&reason);
                        format!(
                            "{who}: not met{told}: {}",
                            reason.strip_prefix("not met: ").unwrap_or(&reason)
                        )
                    }
                };
                (Tone::Bad, text)
            }
        },
        Payload::TaskFault(fault) if names_roles => {
            (Tone::Bad, format!("{} fault: {}", fault.role.label(), fault.reason))
        }
        // Where nothing was begun the line of the end says the same.
        Payload::TaskFault(_) if state.board.round() == 0 => return None,
        Payload::TaskFault(fault) => (Tone::Bad, format!("cannot go on: {}", fault.reason)),
        Payload::PlanDirective(directive) => {
            let round = state.rounds.iter().next_back().map_or(0, |round| round.round);
            let next = MacroState::from(directive.directive);
            if !names_roles {
                return Some((Tone::Name, format!("plan {round} failed; next: {}", words::direction(next))));
            }
            let loss = directive.loss;
            let numbers = format!(
                "L {}  D {} P {} Ω {}",
                words::share(loss.l),
                words::share(loss.d),
                words::share(loss.p),
                words::share(loss.omega)
            );
            (Tone::Name, format!("round {round}  {numbers}  → {}", next.name()))
        }
        Payload::ApprovalDecision(decision) if decision.by == "headless" => (
            Tone::Care,
            "stopped: it needs your approval, and there is no terminal; `--approve FILE` can allow it"
                .to_owned(),
        ),
        Payload::ApprovalDecision(decision) => (Tone::Plain, format!("decided by {}", decision.by)),
        Payload::FinalResult(result) => (Tone::Strong, words::end_of(state, &result).to_text()),
        // Whoever answers a question says what it was.
        Payload::ApprovalRequest(_)
        | Payload::ClarificationRequest(_)
        | Payload::PlanProposal(_)
        | Payload::MemoryQuery(_)
        | Payload::ClarificationAnswer(_)
        | Payload::DirectAnswer(_)
        | Payload::PlanDecision(_)
        | Payload::SubTask(_)
        | Payload::ExecutionResult(_)
        | Payload::GroupMatched(_)
        | Payload::OutcomeSummary(_)
        | Payload::ReplanRequest(_)
        | Payload::AbandonNotice(_)
        | Payload::PartialReport(_)
        | Payload::Megram(_)
        | Payload::NegativeFeedback(_)
        | Payload::CancelRequest(_)
        | Payload::MemoryCommand(_)
        | Payload::MemoryListing(_)
        | Payload::AuditQuery(_)
        | Payload::AuditReport(_) => return None,
    })
}

/// What is done, with the number of the sub-task that it is done for where there are several.
fn numbered(state: &ViewState, doing: &str, instance: Instance) -> String {
    if instance.0 > 0 && state.board.subtasks() > 1 {
        format!("{doing} {}", instance.0)
    } else {
        doing.to_owned()
    }
}

fn call(state: &ViewState, record: &Record, names_roles: bool) -> Option<(Tone, String)> {
    let answered: Answered = serde_json::from_slice(&record.body).ok()?;
    let call = state.calls.get(answered.call)?;
    let who = match (names_roles, call.phase) {
        (true, _) => words::who(answered.call.role, answered.call.instance),
        (false, Phase::Before) => "before:".to_owned(),
        (false, Phase::Work) => numbered(state, "work", answered.call.instance) + ":",
        (false, Phase::After) => numbered(state, "check", answered.call.instance) + ":",
    };
    let outcome = call.outcome().map(|outcome| format!("{outcome}, ")).unwrap_or_default();
    let time = words::duration(call.duration_ms);
    let words = clip(&call.words(), CALL_CHARS_MAX);
    Some((Tone::Dim, format!("{who} {words} ({outcome}{time})")))
}

/// Whether an intent is the person's own words, white space apart.
fn is_the_goal(spec: &TaskSpec) -> bool {
    spec.intent.split_whitespace().eq(spec.raw_input.split_whitespace())
}
