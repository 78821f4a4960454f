//! What was learned, in words: templates over typed facts.
//!
//! No tool output goes into a lesson for later tasks: the text of a page or file is not what this task learned, and
//! may have been written in order to be remembered.

use std::collections::BTreeSet;
use std::sync::Arc;

use setpoint_control::{Decision, EndedBy, Pair, Ruling};
use setpoint_machine::Ctx;
use setpoint_mkct::State;
use setpoint_protocol::ToolId;
use setpoint_protocol::message::{
    Approach, ApproachName, Insight, InsightCategory, OutcomeStatus, SubTaskOutcome,
};
use setpoint_protocol::tool::{Phase, ToolRecord};

use super::round::Round;
use super::summary::named;
use crate::line::one_line;

/// Maximum length of a lesson in characters; a longer one is cut with a mark.
const LESSON_CHARS_MAX: usize = 400;
/// Maximum length, in characters, of a matched sub-task's output in the K Megram for the task's later rounds.
const OUTPUT_CHARS_MAX: usize = 1_000;
/// At most this many tools, targets, criteria and tags per insight; the first are kept.
const ITEMS_MAX: usize = 10;
/// Maximum length, in characters, of a target or criterion of an insight; a longer one is cut with a mark.
const ITEM_CHARS_MAX: usize = 200;

/// Returns the lesson of a decision about one call.
pub(super) fn of_pair(state: State, pair: &Pair, round: Option<&Round>, ctx: &Ctx<'_>) -> Insight {
    let call = format!("`{}` on `{}`", pair.tool, one_line(&pair.target, ITEM_CHARS_MAX));
    let how = round.map(|round| how_it_went(pair, round)).unwrap_or_default();
    let lesson = match state {
        State::ChangePath => format!("{call} did not lead to the goal{how}; another path was looked for."),
        State::Refine => {
            format!("{call} did not lead to the goal yet{how}; the approach was kept and mended.")
        }
        State::ChangeApproach => format!("{call} led to a wrong result{how}; the approach was given up."),
        State::BreakSymmetry => format!("{call} was part of what worked after other ways had failed{how}."),
        State::Accept | State::Success => format!("{call} was part of what worked{how}."),
        State::Abandon => format!("{call} was part of what was given up{how}."),
    };
    Insight {
        tags: tags(ctx, std::iter::once(pair.tool.as_str())),
        tools: pair.tool.parse().into_iter().collect(),
        targets: vec![one_line(&pair.target, ITEM_CHARS_MAX)],
        ..with_unmet(&lesson, category(state), round)
    }
}

/// Returns the lesson of the task's end about its approach.
pub(super) fn of_ending(decision: &Decision, round: Option<&Round>, ctx: &Ctx<'_>) -> Insight {
    let state = match decision.ruling {
        Ruling::End(EndedBy::CriteriaMet) => State::Accept,
        Ruling::End(EndedBy::Unproven | EndedBy::Distance) => State::Success,
        Ruling::End(_) | Ruling::Replan(_) => State::Abandon,
    };
    // An end with gaps was reached by what matched; an abandon without a failing sub-task concerns all of it.
    let has = |status| round.is_some_and(|round| round.outcomes.iter().any(|one| one.status == status));
    let blamed = match state {
        State::Abandon => has(OutcomeStatus::Failed),
        // It came close by work that did not match as a whole.
        _ => !has(OutcomeStatus::Matched) && has(OutcomeStatus::Failed),
    };
    let decisive = |outcome: &&SubTaskOutcome| (outcome.status == OutcomeStatus::Failed) == blamed;
    // For a success the successful calls count; for an abandon everything that was tried.
    let counts = |call: &&ToolRecord| call.ok || state == State::Abandon;
    let outcomes = round.iter().flat_map(|round| &round.outcomes).filter(decisive);
    let calls: Vec<&ToolRecord> = outcomes.flat_map(work).filter(counts).collect();
    let tools = tools(&calls);
    let with = match tools.is_empty() {
        true => " without any tool".to_owned(),
        false => format!(" with {}", named(tools.iter().map(ToolId::as_str), ITEMS_MAX)),
    };
    let rounds = match decision.replans {
        0 => String::new(),
        1 => " after 1 replan".to_owned(),
        replans => format!(" after {replans} replans"),
    };
    let by = decision.ruling.decided_by();
    let lesson = match state {
        State::Accept => format!("This way met every criterion{with}{rounds}."),
        State::Success => format!("This way came close{with}{rounds}."),
        _ => format!("This way was given up (rule {by}){with}{rounds}."),
    };
    Insight {
        tags: tags(ctx, tools.iter().map(ToolId::as_str)),
        targets: targets(&calls),
        tools,
        approaches: approaches(round, |outcome| (outcome.status == OutcomeStatus::Failed) == blamed),
        ..with_unmet(&lesson, category(state), round)
    }
}

/// Returns the output of a matched sub-task, kept for the task's later rounds.
pub(super) fn of_matched(outcome: &SubTaskOutcome, round: &Round, ctx: &Ctx<'_>) -> Insight {
    let calls: Vec<&ToolRecord> = work(outcome).filter(|call| call.ok).collect();
    let tools = tools(&calls);
    let output = one_line(&outcome.output.to_text(), OUTPUT_CHARS_MAX);
    Insight {
        lesson: format!("Matched: {}", if output.is_empty() { "no output" } else { &output }),
        category: InsightCategory::Fact,
        tags: tags(ctx, tools.iter().map(ToolId::as_str)),
        targets: targets(&calls),
        tools,
        approaches: approaches(Some(round), |one| one.subtask_id == outcome.subtask_id),
        plan_fingerprint: fingerprint(Some(round)),
        failed_criteria: Vec::new(),
    }
}

/// Returns the lesson of the task's end about a rule that shaped it, or was overridden for it.
pub(super) fn of_feedback(decision: &Decision, round: Option<&Round>, ctx: &Ctx<'_>) -> Insight {
    let by = decision.ruling.decided_by();
    let (lesson, category) = match decision.ruling {
        Ruling::End(EndedBy::CriteriaMet) => (
            "Every criterion was met although this rule was overridden.".to_owned(),
            InsightCategory::Procedure,
        ),
        Ruling::End(_) | Ruling::Replan(_) => {
            (format!("A task that applied this rule was given up (rule {by})."), InsightCategory::Constraint)
        }
    };
    Insight { tags: tags(ctx, std::iter::empty()), ..with_unmet(&lesson, category, round) }
}

/// Returns the distinct playbook approaches of some outcomes of the round.
fn approaches(round: Option<&Round>, counts: impl Fn(&SubTaskOutcome) -> bool) -> Vec<ApproachName> {
    let outcomes = round.iter().flat_map(|round| &round.outcomes).filter(|outcome| counts(outcome));
    let names: BTreeSet<ApproachName> =
        outcomes.filter_map(|outcome| outcome.approach.as_ref()).map(Approach::name).collect();
    names.into_iter().take(ITEMS_MAX).collect()
}

/// Returns `Procedure` for a clearly positive valence, `Constraint` for a negative one, and `Fact` otherwise.
fn category(state: State) -> InsightCategory {
    match state {
        State::Abandon | State::ChangeApproach => InsightCategory::Constraint,
        State::Accept | State::Success | State::BreakSymmetry => InsightCategory::Procedure,
        State::ChangePath | State::Refine => InsightCategory::Fact,
    }
}

/// Returns how the pair's last call ended, by its typed error.
fn how_it_went(pair: &Pair, round: &Round) -> String {
    let is_pair = |call: &&ToolRecord| {
        call.target == pair.target && call.tool_ids().any(|tool| tool.as_str() == pair.tool)
    };
    let Some(call) = round.outcomes.iter().flat_map(work).filter(is_pair).last() else {
        return String::new();
    };
    let kind = call.error_kind.and_then(|kind| serde_json::to_value(kind).ok());
    match (kind.as_ref().and_then(serde_json::Value::as_str), call.exit_code) {
        (Some(kind), Some(code)) => format!(" ({kind}, exit code {code})"),
        (Some(kind), None) => format!(" ({kind})"),
        (None, Some(code)) if code != 0 => format!(" (exit code {code})"),
        (None, Some(_) | None) => String::new(),
    }
}

/// Returns a lesson with the criteria that the evidence refutes.
fn with_unmet(lesson: &str, category: InsightCategory, round: Option<&Round>) -> Insight {
    let refuted = round.map(Round::refuted).unwrap_or_default();
    let unmet: Vec<String> =
        refuted.iter().take(ITEMS_MAX).map(|name| one_line(name, ITEM_CHARS_MAX)).collect();
    let text = match unmet.is_empty() {
        true => lesson.to_owned(),
        false => format!("{lesson} Not met: {}.", named(unmet.iter().map(String::as_str), ITEMS_MAX)),
    };
    Insight {
        lesson: one_line(&text, LESSON_CHARS_MAX),
        category,
        tags: Vec::new(),
        tools: Vec::new(),
        targets: Vec::new(),
        approaches: Vec::new(),
        plan_fingerprint: fingerprint(round),
        failed_criteria: unmet,
    }
}

fn fingerprint(round: Option<&Round>) -> Option<String> {
    round.map(|round| round.plan_fingerprint.clone()).filter(|fingerprint| !fingerprint.is_empty())
}

/// Returns the words of the slug and the tools' names.
fn tags<'a>(ctx: &Ctx<'a>, tools: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let words = ctx.slug.split('_').filter(|word| !word.is_empty());
    let mut seen = BTreeSet::new();
    let tags = words.chain(tools).filter(|tag| seen.insert(*tag));
    tags.take(ITEMS_MAX).map(str::to_owned).collect()
}

fn work(outcome: &SubTaskOutcome) -> impl Iterator<Item = &ToolRecord> {
    outcome.tool_calls.iter().map(Arc::as_ref).filter(|call| call.phase == Phase::Work)
}

fn tools(calls: &[&ToolRecord]) -> Vec<ToolId> {
    let mut seen = BTreeSet::new();
    let tools = calls.iter().flat_map(|call| call.tool_ids());
    tools.filter(|tool| seen.insert(*tool)).take(ITEMS_MAX).cloned().collect()
}

fn targets(calls: &[&ToolRecord]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let targets = calls.iter().map(|call| call.target.as_str());
    targets
        .filter(|target| seen.insert(*target))
        .take(ITEMS_MAX)
        .map(|one| one_line(one, ITEM_CHARS_MAX))
        .collect()
}
