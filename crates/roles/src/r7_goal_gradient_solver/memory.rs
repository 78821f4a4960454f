//! R7's messages to memory about a decision (SPEC 6.4). Published before the directive or the result, never waited
//! for.

use std::collections::BTreeSet;

use setpoint_control::{Decision, EndedBy, Lesson, MacroState, Ruling, Subject};
use setpoint_machine::Ctx;
use setpoint_mkct::quantization::MATCHED_OUTPUT;
use setpoint_mkct::tags::{ENV_LOCAL, INTENT_SPACE, TARGET_ENTITY, TASK_SPACE, TOOL_SPACE};
use setpoint_mkct::{Quantum, State, quantize};
use setpoint_protocol::MegramId;
use setpoint_protocol::message::{Insight, Level, Megram, NegativeFeedback, RuleRef, SubTaskOutcome};

use super::course::Course;
use super::insight;
use super::phase::Fx;
use super::round::{Round, is_blameless};

/// Publishes the decision's lessons, the round's newly matched outputs, and feedback on rules, in this order.
///
/// `round` is the decided round; `None` if a fault or a cancel decided.
pub(super) fn write(decision: &Decision, round: Option<&Round>, course: &Course, fx: &mut Fx<'_>) {
    let ctx = fx.ctx;
    let shown = round.or(course.last.as_deref());
    for lesson in decision.lessons.iter().filter(|lesson| teaches(lesson, shown)) {
        write_lesson(lesson, decision, shown, fx);
    }
    if let Some(round) = round {
        write_matched(round, course, fx);
    }
    let intent_is_told = decision.lessons.iter().any(|lesson| lesson.subject == Subject::Intent);
    for rule in contradicted(decision, round, course, intent_is_told) {
        // The ending's own Megram already affects this pair: one failure must not count twice.
        if intent_is_told && rule.space == intent_space(ctx) && rule.entity == ENV_LOCAL {
            continue;
        }
        let content = insight::of_feedback(decision, shown, ctx);
        fx.publish(NegativeFeedback { rule_id: rule.id.clone(), content });
    }
}

/// Returns whether a lesson is worth storing. After a missing premise, or if the work was given up, a bad outcome
/// says nothing about the approach or about the targets of its calls.
fn teaches(lesson: &Lesson, round: Option<&Round>) -> bool {
    let (Some(round), false) = (round, is_praise(lesson.state)) else { return true };
    match &lesson.subject {
        Subject::Intent => !round.lacks_a_premise(),
        Subject::Pair(pair) => {
            let has_it = |outcome: &&SubTaskOutcome| {
                let mut calls = outcome.tool_calls.iter().filter(|call| call.target == pair.target);
                calls.any(|call| call.tool_ids().any(|id| id.as_str() == pair.tool))
            };
            let mut failed = round.failed().filter(has_it).peekable();
            failed.peek().is_none() || failed.any(|outcome| !is_blameless(outcome, &pair.tool, &pair.target))
        }
    }
}

/// Returns whether the state reports a success.
fn is_praise(state: MacroState) -> bool {
    matches!(state, MacroState::Accept | MacroState::Success | MacroState::BreakSymmetry)
}

fn write_lesson(lesson: &Lesson, decision: &Decision, shown: Option<&Round>, fx: &mut Fx<'_>) {
    let ctx = fx.ctx;
    // A state without a row in memory's table is not stored.
    let Some(state) = row(lesson.state) else { return };
    let (space, entity, content) = match &lesson.subject {
        Subject::Intent => {
            (intent_space(ctx), ENV_LOCAL.to_owned(), insight::of_ending(decision, shown, ctx))
        }
        Subject::Pair(pair) => (
            format!("{TOOL_SPACE}{}", pair.tool),
            format!("{TARGET_ENTITY}{}", pair.target),
            insight::of_pair(state, pair, shown, ctx),
        ),
    };
    let key = Key { level: Level::M, space, entity, state: Some(lesson.state) };
    publish(key, quantize(state), content, fx);
}

/// Returns the state's row in memory's table; `None` before the first decision.
fn row(state: MacroState) -> Option<State> {
    Some(match state {
        MacroState::Init => return None,
        MacroState::Refine => State::Refine,
        MacroState::ChangePath => State::ChangePath,
        MacroState::ChangeApproach => State::ChangeApproach,
        MacroState::BreakSymmetry => State::BreakSymmetry,
        MacroState::Accept => State::Accept,
        MacroState::Success => State::Success,
        MacroState::Abandon => State::Abandon,
    })
}

/// Writes one K Megram per sub-task that first matched in this round.
fn write_matched(round: &Round, course: &Course, fx: &mut Fx<'_>) {
    let ctx = fx.ctx;
    let mut seen = BTreeSet::new();
    for outcome in round.matched().filter(|outcome| !course.is_carried(outcome)) {
        if !seen.insert(&outcome.subtask_id) {
            continue;
        }
        let key = Key {
            level: Level::K,
            space: format!("{TASK_SPACE}{}", ctx.task),
            entity: format!("subtask:{}", outcome.fingerprint),
            state: None,
        };
        publish(key, MATCHED_OUTPUT, insight::of_matched(outcome, round, ctx), fx);
    }
}

/// Returns the rules that the ending contradicts: best practices that were applied and led to an end that says
/// something about the approach, and constraints that were overridden and led to an accept.
///
/// A `RuleRef` does not say which kind it is; R2 names best practices as applied and constraints as overridden.
fn contradicted<'a>(
    decision: &Decision,
    round: Option<&'a Round>,
    course: &'a Course,
    is_judged: bool,
) -> Vec<&'a RuleRef> {
    let shown = round.or(course.last.as_deref());
    let says_something = is_judged && !shown.is_some_and(Round::lacks_a_premise);
    let rules: &[RuleRef] = match decision.ruling {
        Ruling::End(EndedBy::Omega | EndedBy::Law2 | EndedBy::Rounds) if says_something => {
            &course.applied_rules
        }
        Ruling::End(EndedBy::CriteriaMet) => round.map_or(&[], |round| round.overridden_rules.as_slice()),
        Ruling::End(_) | Ruling::Replan(_) => &[],
    };
    let mut seen = BTreeSet::new();
    rules.iter().filter(|rule| seen.insert(&rule.id)).collect()
}

fn intent_space(ctx: &Ctx<'_>) -> String {
    format!("{INTENT_SPACE}{}", ctx.slug)
}

/// The address of a Megram.
struct Key {
    level: Level,
    space: String,
    entity: String,
    state: Option<MacroState>,
}

fn publish(key: Key, quantum: Quantum, content: Insight, fx: &mut Fx<'_>) {
    let ctx = fx.ctx;
    let id = MegramId::from_uuid(fx.new_id());
    fx.publish(Megram {
        id,
        level: key.level,
        created_at: ctx.now,
        space: key.space,
        entity: key.entity,
        content,
        state: key.state,
        f: quantum.f,
        sigma: quantum.sigma,
        k: quantum.k,
        known_to: Vec::new(),
        after: Vec::new(),
    });
}
