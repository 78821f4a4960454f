//! Asks the model for a plan and handles its answer.

use std::sync::Arc;

use setpoint_extract::draft::PlanDraft;
use setpoint_extract::extract;
use setpoint_machine::brief::{PlanBrief, Repair};
use setpoint_machine::{Brief, Ctx, ModelCall};
use setpoint_protocol::limits::PLAN_CALLS_MAX;
use setpoint_protocol::message::{FailureClass, FaultKind, TaskFault};
use setpoint_protocol::record::{Answer, ModelFailure};

use super::fault::{fault, infeasible};
use super::history::Task;
use super::phase::{Attempts, Fx, Next, Phase};
use super::prompt;
use super::validate::{self, Refusal, Rules, ValidPlan, annotated, validate};
use crate::answer::reply_of;
use crate::left::left;

/// Plan calls of a round after which memory's part of what a plan must not do may be dropped: otherwise one bad
/// memory could make a kind of task impossible for weeks.
const CALLS_BEFORE_RELAXING: u32 = 3;
/// At most this many refusals of a round are shown to the model; the newest are kept.
const REFUSALS_MAX: usize = 24;
/// What a person can do if no plan was valid.
const HINTS: [&str; 2] = [
    "say the goal more precisely: which things, where, and how one would see that it is reached",
    "use a stronger model for planning",
];

/// Asks for a plan, or raises a fault if the round's calls are used up.
pub(super) fn ask(task: &Task, mut attempts: Attempts, repair: Option<Repair>, fx: &mut Fx<'_>) -> Next {
    if attempts.calls >= PLAN_CALLS_MAX {
        return give_up(attempts, repair, fx);
    }
    attempts.calls += 1;
    let is_repair = repair.is_some();
    let brief = brief(task, &attempts, repair, fx.ctx);
    let (prompt, schema) = (prompt::plan(&brief), prompt::plan_schema(&brief));
    let call = fx.ask_model(ModelCall::new(Brief::Plan(Box::new(brief)), prompt, Some(schema)));
    Next::Wait(Phase::Planning { call, is_repair, attempts })
}

/// Handles the model's answer.
pub(super) fn on_answer(
    task: &mut Task,
    answer: &Answer,
    is_repair: bool,
    attempts: Attempts,
    fx: &Fx<'_>,
) -> Next {
    let text = match reply_of(answer) {
        Ok(reply) => reply.text(),
        Err(failure) => return Next::Raise(unanswered(failure, fx.ctx)),
    };
    let draft: PlanDraft = match extract(&text) {
        Ok(draft) => draft,
        Err(error) if !is_repair => {
            let error = format!("failed to {error}");
            return Next::Plan(attempts, Some(Repair { error, previous: text }));
        }
        Err(error) => {
            let refusal = Refusal::new("the answer", &no_plan(&format!("failed to {error}")));
            return refuse(attempts, &[refusal], None);
        }
    };
    if let Some(cannot) = draft.cannot.as_ref().filter(|_| draft.subtasks.is_empty()) {
        return match validate::infeasible(cannot, task) {
            Ok(shown) => Next::Raise(infeasible(shown, fx.ctx)),
            Err(reason) => refuse(attempts, &[reason], None),
        };
    }
    let limits = task.limits();
    let mut validated = validate(&draft, &Rules::new(task, &limits, fx.ctx));
    if validated.is_err() && attempts.calls >= CALLS_BEFORE_RELAXING {
        validated = relaxed(task, &draft, fx.ctx).unwrap_or(validated);
    }
    match validated {
        Ok(plan) => Next::Assemble(plan, attempts),
        Err(reasons) => refuse(attempts, &reasons, Some(&draft)),
    }
}

/// Validates a draft again without memory's part. If it is then valid, memory is overridden for the rest of the
/// round, and the manifest says so. `None` if memory has no part in the refusal.
fn relaxed(task: &mut Task, draft: &PlanDraft, ctx: &Ctx<'_>) -> Option<Result<ValidPlan, Vec<Refusal>>> {
    let must_not = task.without_memory()?;
    let limits = task.limits();
    let validated = validate(draft, &Rules::new(task, &limits, ctx));
    match &validated {
        Ok(_) => task.overridden = must_not.rules(),
        Err(_) => task.calibration.must_not = must_not,
    }
    Some(validated)
}

/// Asks again, with the reasons and, if there was one, the plan.
fn refuse(mut attempts: Attempts, refusals: &[Refusal], draft: Option<&PlanDraft>) -> Next {
    attempts.refused = draft.map(|draft| annotated(draft, refusals));
    let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    for reason in &reasons {
        attempts.refusals.retain(|earlier| earlier != reason);
        attempts.refusals.push(reason.clone());
    }
    let surplus = attempts.refusals.len().saturating_sub(REFUSALS_MAX);
    attempts.refusals.drain(..surplus);
    attempts.last = reasons;
    Next::Plan(attempts, None)
}

fn give_up(mut attempts: Attempts, repair: Option<Repair>, fx: &Fx<'_>) -> Next {
    if let Some(repair) = repair {
        attempts.last = vec![format!("the answer {}", no_plan(&repair.error))];
    }
    let reason = format!("no valid plan in {} plan calls: {}", attempts.calls, attempts.last.join("; "));
    Next::Raise(TaskFault {
        failure_class: Some(FailureClass::Logical),
        hints: HINTS.map(str::to_owned).into(),
        ..fault(FaultKind::Fault, &reason, fx.ctx)
    })
}

/// Returns the fault of a model that did not answer. After an interruption another round may help.
fn unanswered(failure: Option<&ModelFailure>, ctx: &Ctx<'_>) -> TaskFault {
    let retryable = failure.is_none_or(|failure| failure.kind.retryable());
    let reason = failure.map_or("the model call was cut short", |failure| failure.reason.as_str());
    TaskFault {
        failure_class: retryable.then_some(FailureClass::Environmental),
        hints: failure.map(|failure| failure.hints.clone()).unwrap_or_default(),
        retryable,
        ..fault(FaultKind::Fault, reason, ctx)
    }
}

fn no_plan(error: &str) -> String {
    format!("was no plan: {error}")
}

fn brief(task: &Task, attempts: &Attempts, repair: Option<Repair>, ctx: &Ctx<'_>) -> PlanBrief {
    let limits = task.limits();
    let is_blocked = |name: &str| limits.blocked_tools.iter().any(|blocked| blocked.as_str() == name);
    PlanBrief {
        spec: task.spec.clone(),
        round: task.round,
        directive: task.directive.clone(),
        alternatives: task.alternatives(),
        calibration: task.calibration.lines.clone(),
        preferred: task.calibration.preferred.clone(),
        tools: ctx.opened.tools.iter().filter(|tool| !is_blocked(&tool.name)).cloned().collect(),
        limits,
        previous: task.previous(),
        kept: task.kept.iter().map(|kept| kept.outcome.clone()).collect(),
        task_criteria: task.criteria.clone(),
        refusals: attempts.refusals.clone(),
        refused: attempts.refused.clone(),
        left: format!("Round {} of at most {}. {}", task.round, most_rounds(ctx), left(ctx))
            .trim_end()
            .to_owned(),
        note: attempts.note.clone(),
        survey: task.survey.clone(),
        surroundings: Arc::clone(&ctx.opened.surroundings),
        repair,
    }
}

/// Returns how many rounds a task may have: the first, and one per replan.
fn most_rounds(ctx: &Ctx<'_>) -> u32 {
    ctx.opened.controller.max_replans.saturating_add(1)
}
