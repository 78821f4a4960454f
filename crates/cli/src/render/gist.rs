//! What each message says to a person, shared by all that show it: the plain lines of a run, the replay and
//! the page.

use std::collections::BTreeSet;

use serde_json::Value;
use setpoint_protocol::message::{
    BASELINE_GROUP, Criterion, DispatchManifest, ExecutionStatus, JudgedBy, Loss, MacroState, Megram,
    OutcomeStatus, SubTask, SubTaskOutcome, TaskSpec, Verdict,
};
use setpoint_protocol::topology::Payload;

use crate::session::dialogue;
use crate::state::board::Cell;
use crate::state::recall::{Recall, RecalledKind};
use crate::text::{Line, Tone, sanitise};
use crate::view::{self, recall, words};

/// At most this many lines of a text are shown in an excerpt.
const EXCERPT_LINES_MAX: usize = 4;
/// Maximum characters of one of these lines.
const EXCERPT_CHARS_MAX: usize = 160;
/// Maximum columns of one verdict.
const VERDICT_COLUMNS_MAX: usize = 200;

/// The summary of a message.
#[derive(Debug, Default)]
pub(crate) struct Gist {
    /// The tone of the headline.
    pub(crate) tone: Tone,
    /// The message in a sentence. A person's or a model's text in it can have several lines.
    pub(crate) headline: String,
    /// What is added to the headline for readers who know the roles and the loss.
    pub(crate) aside: String,
    /// Further details, shown on request.
    pub(crate) details: Vec<Line>,
    /// Whether the message is shown while the task runs.
    pub(crate) news: Visibility,
}

/// When a message is shown while the task runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Visibility {
    #[default]
    Never,
    Verbose,
    Always,
}

impl Gist {
    fn new(headline: impl Into<String>) -> Self {
        Gist { headline: headline.into(), ..Gist::default() }
    }

    fn with(self, details: Vec<Line>) -> Self {
        Gist { details, ..self }
    }

    fn toned(self, tone: Tone) -> Self {
        Gist { tone, ..self }
    }

    fn aside(self, aside: String) -> Self {
        Gist { aside, ..self }
    }

    fn told(self, tone: Tone) -> Self {
        Gist { tone, news: Visibility::Always, ..self }
    }
}

/// Returns what the message says.
pub(crate) fn gist(message: &Payload) -> Gist {
    match message {
        Payload::UserInput(input) => Gist::new(format!("goal: {}", input.raw_input)).told(Tone::Strong),
        Payload::TaskSpec(spec) => of_spec(spec),
        Payload::ClarificationRequest(request) => {
            Gist::new("asks the person").with(plain(&request.questions))
        }
        Payload::ClarificationAnswer(answer) => Gist::new("answers").with(plain(&answer.answers)),
        Payload::DirectAnswer(answer) => Gist::new(&answer.text),
        Payload::MemoryQuery(query) => Gist::new(format!("{} {}", query.space, query.entity)),
        Payload::MemoryReply(reply) => of_recall(&Recall::of(reply.clone())),
        Payload::PlanProposal(proposal) => {
            let intents = proposal.subtasks.iter().map(|one| Line::plain(&one.intent)).collect();
            Gist::new(format!("{}: {}", plan(proposal.round), proposal.reason)).with(intents)
        }
        Payload::PlanDecision(decision) => {
            let word = if decision.approved { "approved" } else { "refused" };
            let allows = allows(&decision.allows);
            Gist::new(
                decision.note.as_ref().map_or(format!("{word}{allows}"), |note| format!("{word}: {note}")),
            )
        }
        Payload::DispatchManifest(manifest) => of_manifest(manifest),
        Payload::SubTask(subtask) => of_subtask(subtask),
        Payload::ExecutionResult(result) => {
            let status = match result.status {
                ExecutionStatus::Completed => "completed",
                ExecutionStatus::Uncertain => "completed with a doubt",
                ExecutionStatus::Failed => "not possible",
            };
            let doubt = result.uncertainty.as_ref().map(|doubt| format!(": {doubt}")).unwrap_or_default();
            let output = match &*result.output {
                Value::Null => Vec::new(),
                Value::String(text) => excerpt(Tone::Plain, text),
                other => excerpt(Tone::Plain, &other.to_string()),
            };
            Gist::new(format!("attempt {}: {status}{doubt}", result.attempt)).with(output)
        }
        Payload::CorrectionSignal(signal) => {
            // `what_was_wrong` usually begins with the criterion, which must not appear twice.
            let criterion = format!("{}: ", signal.failed_criterion);
            let seen = signal.what_was_wrong.strip_prefix(&criterion).unwrap_or(&signal.what_was_wrong);
            let seen = words::without_pointers(seen);
            Gist::new(format!("attempt {} failed: {criterion}{seen}", signal.attempt_number))
                .told(Tone::Care)
                .aside(words::failed(signal.failure_class).to_owned())
                .with(vec![field("to do", &signal.what_to_do)])
        }
        Payload::SubTaskOutcome(outcome) => of_outcome(outcome),
        Payload::GroupMatched(group) if group.sequence == BASELINE_GROUP => {
            let probes = words::count(group.baseline.len() as u64, "probe");
            Gist::new(format!("measured before the work of round {}: {probes}", group.round))
        }
        Payload::GroupMatched(group) => {
            Gist::new(format!("group {} of round {} is done", group.sequence, group.round))
        }
        Payload::ReplanRequest(request) => {
            let of_subtasks = request.outcomes.iter().flat_map(|outcome| &outcome.criteria_verdicts);
            let all = of_subtasks.chain(request.task_criteria_verdicts.iter().flatten());
            Gist::new(format!("round {} fell short: {}", request.round, request.gap_summary))
                .toned(Tone::Care)
                .with(all.map(verdict).collect())
        }
        Payload::OutcomeSummary(summary) => {
            Gist::new(&summary.summary).with(summary.task_criteria_verdicts.iter().map(verdict).collect())
        }
        Payload::TaskFault(fault) => Gist::new(format!("cannot go on: {}", fault.reason))
            .told(Tone::Bad)
            .aside(fault.role.label().to_owned())
            .with(fault.hints.iter().map(|hint| Line::new().and(Tone::Dim, hint)).collect()),
        Payload::CancelRequest(request) => Gist::new(request.reason.as_deref().unwrap_or("cancel")),
        Payload::PlanDirective(directive) => {
            let state = MacroState::from(directive.directive);
            let way = format!("{} → {}", directive.prev_directive.name(), state.name());
            let mut details = vec![Line::plain(&directive.rationale)];
            let tools = directive.blocked_tools.iter().map(ToString::to_string);
            let blocked: Vec<String> = tools.chain(directive.blocked_targets.iter().cloned()).collect();
            if !blocked.is_empty() {
                details.push(field("blocked", &blocked.join(", ")));
            }
            Gist::new(format!("the plan failed; next: {}", words::direction(state)))
                .told(Tone::Name)
                .aside(format!("{way}  {}", numbers(&directive.loss, directive.grad_l)))
                .with(details)
        }
        Payload::AbandonNotice(notice) => {
            Gist::new(format!("{}: {}", notice.ended_by.name(), notice.reason)).toned(Tone::Bad)
        }
        Payload::PartialReport(report) => {
            Gist::new(&report.achieved).with(vec![field("blocked by", &report.blocked_by)])
        }
        Payload::Megram(megram) => Gist::new(&megram.content.lesson).aside(place(megram)),
        Payload::NegativeFeedback(feedback) => {
            Gist::new(&feedback.content.lesson).with(vec![field("against", &feedback.rule_id.to_string())])
        }
        Payload::FinalResult(result) => Gist::new(words::end(result).to_text())
            .told(Tone::Strong)
            .aside(numbers(&result.loss, result.grad_l))
            .with(Line::block(Tone::Plain, &result.summary)),
        Payload::ApprovalRequest(request) => {
            let reason = field("because", &request.need.why());
            let details = std::iter::once(reason).chain(dialogue::preview(&request.need)).collect();
            Gist::new(format!("asks to do this: {}", sanitise::exact(&request.need.command))).with(details)
        }
        Payload::ApprovalDecision(decision) if decision.by == "headless" => {
            let why = "it needs your approval, and there is no terminal; `--approve FILE` can allow it";
            Gist::new(format!("refused: {why}")).told(Tone::Care)
        }
        Payload::ApprovalDecision(decision) => Gist::new(words::decided(decision).1).told(Tone::Plain),
        // These messages are in the system's stream, which is not a task's.
        Payload::MemoryCommand(_)
        | Payload::MemoryListing(_)
        | Payload::AuditQuery(_)
        | Payload::AuditReport(_) => Gist::default(),
    }
}

/// Returns the first lines of a text.
pub(crate) fn excerpt(tone: Tone, text: &str) -> Vec<Line> {
    let lines = Line::block(tone, text);
    let more = lines.len().saturating_sub(EXCERPT_LINES_MAX);
    let mut shown: Vec<Line> =
        lines.into_iter().take(EXCERPT_LINES_MAX).map(|line| line.clip(EXCERPT_CHARS_MAX)).collect();
    if more > 0 {
        shown.push(Line::new().and(Tone::Dim, &format!("… and {}", words::count(more as u64, "more line"))));
    }
    shown
}

fn plain(texts: &[String]) -> Vec<Line> {
    texts.iter().map(|text| Line::plain(text)).collect()
}

fn field(name: &str, text: &str) -> Line {
    Line::new().and(Tone::Dim, &format!("{name}: ")).and(Tone::Plain, text)
}

fn plan(round: u32) -> String {
    if round == 1 { "plan".to_owned() } else { format!("plan {round}") }
}

fn of_spec(spec: &TaskSpec) -> Gist {
    let has_title = !spec.title.is_empty() && spec.title != spec.intent;
    let title = has_title.then(|| field("title", &spec.title));
    let scope = spec.constraints.scope.as_ref().map(|scope| field("scope", scope));
    let deadline = spec.constraints.deadline.map(|at| field("deadline", &at.to_string()));
    let gist = Gist::new(format!("read as: {}", spec.intent))
        .told(Tone::Name)
        .with(title.into_iter().chain(scope).chain(deadline).collect());
    // The line of the goal says the same.
    let is_the_goal = spec.intent.split_whitespace().eq(spec.raw_input.split_whitespace());
    if is_the_goal { Gist { news: Visibility::Never, ..gist } } else { gist }
}

fn of_recall(recall: &Recall) -> Gist {
    let Some(brief) = recall::brief(recall) else { return Gist::new("memory: nothing is remembered") };
    let tone = if recall.unavailable.is_some() { Tone::Care } else { Tone::Plain };
    let gist = Gist::new(format!("memory: {}", brief.to_text())).told(tone).with(recall::lines(recall));
    // A record that is only related does not tell what the plan will do.
    match recall.given.first().is_some_and(|first| first.what == RecalledKind::Related) {
        true => Gist { news: Visibility::Verbose, ..gist },
        false => gist,
    }
}

fn of_manifest(manifest: &DispatchManifest) -> Gist {
    let subtasks = words::count(manifest.subtasks.len() as u64, "sub-task");
    let of_subtasks = manifest.subtasks.iter().flat_map(|entry| &entry.success_criteria);
    // A criterion that a sub-task shares with the whole task counts once.
    let all: BTreeSet<&str> =
        of_subtasks.chain(&manifest.task_criteria).map(|criterion| &*criterion.criterion).collect();
    let mut details = Vec::new();
    for entry in &manifest.subtasks {
        let carried = if entry.carried.is_some() { " (kept from an earlier round)" } else { "" };
        let group = format!("group {}", entry.sequence);
        details.push(field(&group, &entry.intent).and(Tone::Dim, carried));
        details.extend(entry.success_criteria.iter().map(criterion));
    }
    if !manifest.task_criteria.is_empty() {
        details.push(Line::new().and(Tone::Dim, "the whole:"));
        details.extend(manifest.task_criteria.iter().map(criterion));
    }
    let against = manifest.overridden_rules.iter().map(|rule| format!("against rule {}", rule.id));
    details.extend(against.map(|text| Line::new().and(Tone::Care, &text)));
    Gist::new(format!("{}: {subtasks}, {}", plan(manifest.round), words::criteria(all.len())))
        .told(Tone::Name)
        .with(details)
}

fn criterion(criterion: &Criterion) -> Line {
    let by = if criterion.check.is_some() { "by a check" } else { "by a model" };
    Line::plain("  ")
        .and(Tone::Name, criterion.id.as_str())
        .and(Tone::Plain, &format!(" {}", criterion.criterion))
        .and(Tone::Dim, &format!("  {by}"))
}

fn of_subtask(subtask: &SubTask) -> Gist {
    let names = |tools: &[setpoint_protocol::ToolId]| tools.iter().map(ToString::to_string).collect();
    let fields: [(&str, Vec<String>); 4] = [
        ("tools", names(&subtask.tools)),
        ("blocked tools", names(&subtask.limits.blocked_tools)),
        ("blocked targets", subtask.limits.blocked_targets.clone()),
        ("with care", names(&subtask.limits.caution_tools)),
    ];
    let given = fields.iter().filter(|(_, texts)| !texts.is_empty());
    Gist::new(&subtask.intent).with(given.map(|(name, texts)| field(name, &texts.join(", "))).collect())
}

fn of_outcome(outcome: &SubTaskOutcome) -> Gist {
    let gist = match outcome.status {
        OutcomeStatus::Matched => Gist::new("met").told(Tone::Good),
        OutcomeStatus::Failed => {
            let failures = words::failures(&outcome.criteria_verdicts);
            let failures = if failures.is_empty() { failures } else { format!(" ({failures})") };
            let reason = words::without_pointers(outcome.failure_reason.as_deref().unwrap_or_default());
            let reason = reason.strip_prefix("not met: ").unwrap_or(&reason);
            Gist::new(format!("not met{failures}: {reason}")).told(Tone::Bad)
        }
    };
    gist.with(outcome.criteria_verdicts.iter().map(verdict).collect())
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

/// Returns what a person allowed for the rest of the task.
fn allows(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!(", and for the task: {}", lines.join(", ")) }
}

/// Returns the loss and its parts.
fn numbers(loss: &Loss, grad_l: f64) -> String {
    let [l, d, p, omega, grad_l] = [loss.l, loss.d, loss.p, loss.omega, grad_l].map(words::share);
    format!("L {l}  D {d} P {p} Ω {omega}  ∇L {grad_l}")
}

fn place(megram: &Megram) -> String {
    let level = serde_json::to_value(megram.level).unwrap_or_default();
    let level = level.as_str().unwrap_or_default();
    let [f, sigma] = [megram.f, megram.sigma].map(words::share);
    format!("{level} {} {} f {f} σ {sigma}", megram.space, megram.entity)
}
