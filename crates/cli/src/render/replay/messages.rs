//! Messages: the gist of each, and what a person would look at below it.

use setpoint_protocol::message::{
    BASELINE_GROUP, Criterion, DispatchManifest, ExecutionStatus, FinalResult, JudgedBy, Loss, MacroState,
    Megram, OutcomeStatus, PlanDirective, SubTask, SubTaskOutcome, Verdict,
};
use setpoint_protocol::record::Record;
use setpoint_protocol::topology::Payload;

use super::{excerpt, value_excerpt};
use crate::render::result;
use crate::state::ViewState;
use crate::state::board::Cell;
use crate::text::{Line, Tone, sanitise};
use crate::view::{self, recall, words};

/// Columns of one verdict.
const VERDICT_COLUMNS_MAX: usize = 200;

/// The gist of a message that `state` has just taken in, and what stands below it.
pub(super) fn lines(state: &ViewState, record: &Record) -> (Line, Vec<Line>) {
    let Some(message) = record.message() else {
        return (Line::new().and(Tone::Bad, "its body cannot be read"), Vec::new());
    };
    let alone = |text: &str| (Line::plain(text), Vec::new());
    match message {
        Payload::UserInput(input) => (Line::new(), excerpt(Tone::Strong, &input.raw_input, true)),
        Payload::TaskSpec(spec) => {
            let has_title = !spec.title.is_empty() && spec.title != spec.intent;
            let title = has_title.then(|| format!("title: {}", spec.title));
            let limits = spec.constraints.scope.map(|scope| format!("scope: {scope}"));
            let deadline = spec.constraints.deadline.map(|at| format!("deadline: {at}"));
            let details =
                title.into_iter().chain(limits).chain(deadline).map(|text| Line::plain(&text)).collect();
            (Line::plain(&spec.intent), details)
        }
        Payload::ClarificationRequest(request) => list("asks the person", request.questions),
        Payload::ClarificationAnswer(answer) => list("answers", answer.answers),
        Payload::DirectAnswer(answer) => (Line::new(), excerpt(Tone::Plain, &answer.text, true)),
        Payload::MemoryQuery(query) => alone(&format!("{} {}", query.space, query.entity)),
        Payload::MemoryReply(_) => {
            let lines = state.recall.as_ref().map(recall::lines).unwrap_or_default();
            if lines.is_empty() { alone("nothing is remembered") } else { (Line::new(), lines) }
        }
        Payload::PlanProposal(proposal) => {
            let details = proposal.subtasks.iter().map(|one| Line::plain(&one.intent)).collect();
            (Line::plain(&format!("round {}: {}", proposal.round, proposal.reason)), details)
        }
        Payload::PlanDecision(decision) => {
            let word = if decision.approved { "approved" } else { "refused" };
            alone(&decision.note.map_or(word.to_owned(), |note| format!("{word}: {note}")))
        }
        Payload::DispatchManifest(manifest) => plan(&manifest),
        Payload::SubTask(subtask) => of_subtask(&subtask),
        Payload::ExecutionResult(result) => {
            let status = match result.status {
                ExecutionStatus::Completed => "completed",
                ExecutionStatus::Uncertain => "uncertain",
                ExecutionStatus::Failed => "failed",
            };
            let doubt = result.uncertainty.map(|doubt| format!(", doubts: {doubt}")).unwrap_or_default();
            let gist = format!("attempt {}: {status}{doubt}", result.attempt);
            (Line::plain(&gist), value_excerpt(Tone::Plain, &result.output))
        }
        Payload::CorrectionSignal(signal) => {
            let class = words::failed(signal.failure_class);
            let gist = format!("attempt {} {class} {}", signal.attempt_number, signal.failed_criterion);
            let seen = Line::new().and(Tone::Dim, "seen: ").and(Tone::Plain, &signal.what_was_wrong);
            let to_do = Line::new().and(Tone::Dim, "to do: ").and(Tone::Plain, &signal.what_to_do);
            (Line::new().and(Tone::Care, &gist), vec![seen, to_do])
        }
        Payload::SubTaskOutcome(outcome) => of_outcome(&outcome),
        Payload::GroupMatched(group) if group.sequence == BASELINE_GROUP => alone(&format!(
            "measured before the work of round {}: {}",
            group.round,
            words::count(group.baseline.len() as u64, "probe")
        )),
        Payload::GroupMatched(group) => {
            alone(&format!("group {} of round {} is done", group.sequence, group.round))
        }
        Payload::ReplanRequest(request) => {
            let mut details: Vec<Line> = request.outcomes.iter().flat_map(verdicts).collect();
            details.extend(request.task_criteria_verdicts.iter().flatten().map(verdict));
            let gist = format!("round {} fell short: {}", request.round, request.gap_summary);
            (Line::new().and(Tone::Care, &gist), details)
        }
        Payload::OutcomeSummary(summary) => {
            (Line::plain(&summary.summary), summary.task_criteria_verdicts.iter().map(verdict).collect())
        }
        Payload::TaskFault(fault) => {
            let hints = fault.hints.iter().map(|hint| Line::new().and(Tone::Dim, hint)).collect();
            (Line::new().and(Tone::Bad, &format!("{}: {}", fault.role.label(), fault.reason)), hints)
        }
        Payload::CancelRequest(cancel) => alone(&cancel.reason.unwrap_or_default()),
        Payload::PlanDirective(directive) => of_directive(&directive),
        Payload::AbandonNotice(notice) => {
            (Line::new().and(Tone::Bad, notice.ended_by.name()), vec![Line::plain(&notice.reason)])
        }
        Payload::PartialReport(report) => {
            let blocked = Line::new().and(Tone::Dim, "blocked by: ").and(Tone::Plain, &report.blocked_by);
            (Line::plain(&report.achieved), vec![blocked])
        }
        Payload::Megram(megram) => alone(&of_megram(&megram)),
        Payload::NegativeFeedback(feedback) => alone(&format!("against {}", feedback.rule_id)),
        Payload::FinalResult(result) => of_result(state, &result),
        Payload::ApprovalRequest(request) => {
            let command = sanitise::exact(&request.need.command);
            let mut details = vec![Line::new().and(Tone::Strong, &command)];
            details.extend(crate::session::dialogue::preview(&request.need));
            (Line::plain(&request.need.reason), details)
        }
        Payload::ApprovalDecision(decision) => {
            let word = serde_json::to_value(decision.decision).unwrap_or_default();
            alone(&format!("{} by {}", word.as_str().unwrap_or_default(), decision.by))
        }
        // These go on the stream of the system, which is no task.
        Payload::MemoryCommand(_)
        | Payload::MemoryListing(_)
        | Payload::AuditQuery(_)
        | Payload::AuditReport(_) => (Line::new(), Vec::new()),
    }
}

fn list(gist: &str, texts: Vec<String>) -> (Line, Vec<Line>) {
    (Line::plain(gist), texts.iter().map(|text| Line::plain("- ").and(Tone::Plain, text)).collect())
}

fn plan(manifest: &DispatchManifest) -> (Line, Vec<Line>) {
    let count = words::count(manifest.subtasks.len() as u64, "sub-task");
    let mut details = Vec::new();
    for entry in &manifest.subtasks {
        let carried = if entry.carried.is_some() { " (kept from an earlier round)" } else { "" };
        details.push(
            Line::new()
                .and(Tone::Dim, &format!("group {}: ", entry.sequence))
                .and(Tone::Plain, &entry.intent)
                .and(Tone::Dim, carried),
        );
        details.extend(entry.success_criteria.iter().map(criterion));
    }
    if !manifest.task_criteria.is_empty() {
        details.push(Line::new().and(Tone::Dim, "the whole:"));
        details.extend(manifest.task_criteria.iter().map(criterion));
    }
    for rule in &manifest.overridden_rules {
        details.push(Line::new().and(Tone::Care, &format!("against rule {}", rule.id)));
    }
    (Line::plain(&format!("round {}: {count}", manifest.round)), details)
}

fn criterion(criterion: &Criterion) -> Line {
    let by = if criterion.check.is_some() { "by a check" } else { "by a model" };
    Line::plain("  ")
        .and(Tone::Name, criterion.id.as_str())
        .and(Tone::Plain, &format!(" {}", criterion.criterion))
        .and(Tone::Dim, &format!("  {by}"))
}

fn of_subtask(subtask: &SubTask) -> (Line, Vec<Line>) {
    let mut details = Vec::new();
    let mut field = |name: &str, texts: Vec<String>| {
        if !texts.is_empty() {
            details.push(Line::new().and(Tone::Dim, name).and(Tone::Plain, &texts.join(", ")));
        }
    };
    field("tools: ", subtask.tools.iter().map(ToString::to_string).collect());
    field("blocked tools: ", subtask.limits.blocked_tools.iter().map(ToString::to_string).collect());
    field("blocked targets: ", subtask.limits.blocked_targets.clone());
    field("with care: ", subtask.limits.caution_tools.iter().map(ToString::to_string).collect());
    (Line::plain(&subtask.intent), details)
}

fn of_outcome(outcome: &SubTaskOutcome) -> (Line, Vec<Line>) {
    let gist = match outcome.status {
        OutcomeStatus::Matched => Line::new().and(Tone::Good, "matched"),
        OutcomeStatus::Failed => Line::new().and(Tone::Bad, "failed").and(
            Tone::Plain,
            &outcome.failure_reason.as_ref().map_or(String::new(), |why| format!(": {why}")),
        ),
    };
    (gist, verdicts(outcome))
}

fn verdicts(outcome: &SubTaskOutcome) -> Vec<Line> {
    outcome.criteria_verdicts.iter().map(verdict).collect()
}

fn verdict(verdict: &Verdict) -> Line {
    let (tone, sign) = view::cell(Cell::of(verdict));
    let by = match verdict.judged_by {
        JudgedBy::Check => "check",
        JudgedBy::Model => "model",
    };
    let shown = verdict.shown.map(|shown| format!(", {}", shown.words())).unwrap_or_default();
    let vacuous = if verdict.vacuous { ", green before the work" } else { "" };
    let own = if verdict.self_made { format!(", {}", words::SELF_MADE) } else { String::new() };
    Line::new()
        .and(tone, sign)
        .and(Tone::Plain, " ")
        .and(Tone::Name, verdict.criterion_id.as_str())
        .and(Tone::Plain, &format!(" {}", verdict.criterion))
        .and(Tone::Dim, &format!("  {by}{vacuous}{own}{shown}: "))
        .and(Tone::Plain, &verdict.evidence)
        .clip(VERDICT_COLUMNS_MAX)
}

fn of_directive(directive: &PlanDirective) -> (Line, Vec<Line>) {
    let state = MacroState::from(directive.directive).name();
    let gist = Line::new()
        .and(Tone::Dim, &format!("{} → ", directive.prev_directive.name()))
        .and(Tone::Strong, state)
        .and(Tone::Plain, &format!("  {}", numbers(&directive.loss, directive.grad_l)));
    let mut details = vec![Line::plain(&directive.rationale)];
    let tools = directive.blocked_tools.iter().map(ToString::to_string);
    let blocked: Vec<String> = tools.chain(directive.blocked_targets.iter().cloned()).collect();
    if !blocked.is_empty() {
        details.push(Line::new().and(Tone::Dim, "blocked: ").and(Tone::Plain, &blocked.join(", ")));
    }
    (gist, details)
}

/// The loss and its parts.
fn numbers(loss: &Loss, grad_l: f64) -> String {
    let share = words::share;
    format!(
        "L {}  D {} P {} Ω {}  ∇L {}",
        share(loss.l),
        share(loss.d),
        share(loss.p),
        share(loss.omega),
        share(grad_l)
    )
}

fn of_megram(megram: &Megram) -> String {
    let level = serde_json::to_value(megram.level).unwrap_or_default();
    format!(
        "{} {} {} f {} σ {}: {}",
        level.as_str().unwrap_or_default(),
        megram.space,
        megram.entity,
        words::share(megram.f),
        words::share(megram.sigma),
        megram.content.lesson
    )
}

fn of_result(state: &ViewState, result: &FinalResult) -> (Line, Vec<Line>) {
    (Line::plain(&numbers(&result.loss, result.grad_l)), result::lines(state))
}
