//! Asks the model for a plan and handles its answer.

use std::sync::Arc;

use setpoint_machine::brief::{PlanBrief, Repair};
use setpoint_machine::draft::PlanDraft;
use setpoint_machine::extract::extract;
use setpoint_machine::model_call::ModelLimits;
use setpoint_machine::{Brief, Ctx, ModelCall};
use setpoint_protocol::CallId;
use setpoint_protocol::limits::PLAN_CALLS_MAX;
use setpoint_protocol::message::{FailureClass, FaultKind};
use setpoint_protocol::record::{Answer, ModelFailure, ModelFailureKind};

use super::fault::Fault;
use super::history::Task;
use super::machine::{Fx, Phase, Planner};
use super::prompt;
use super::validate::{Refusal, Rules, ValidPlan, annotated, infeasible, validate};
use crate::left::left;

/// Plan calls of a round after which memory's part of what a plan must not do may be dropped: otherwise one bad
/// memory could make a kind of task impossible for weeks.
const CALLS_BEFORE_RELAXING: u32 = 3;
/// At most so many refusals of a round are shown to the model; the newest are kept.
const REFUSALS_MAX: usize = 24;

/// A pending plan call.
#[derive(Debug)]
pub(super) struct Planning {
    pub(super) call: CallId,
    /// Whether it repairs an answer that was not a plan.
    pub(super) repair: bool,
    pub(super) attempts: Attempts,
}

/// The results of a round's plan calls so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempts {
    /// Plan calls made, repairs included.
    pub(super) calls: u32,
    /// Reasons for refusals, oldest first.
    pub(super) refusals: Vec<String>,
    /// Reasons for refusing the last plan.
    pub(super) last: Vec<String>,
    /// Last refused plan, with each reason beside the part that it concerns.
    pub(super) refused: Option<String>,
    /// The person's note on a plan that was shown.
    pub(super) note: Option<String>,
}

impl Planner {
    /// Asks for a plan, or raises a fault if the round's calls are used up.
    pub(super) fn ask_plan(&mut self, mut attempts: Attempts, repair: Option<Repair>, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        let Some(task) = &self.task else { return };
        if attempts.calls >= PLAN_CALLS_MAX {
            self.give_up_planning(attempts, repair, fx);
            return;
        }
        attempts.calls += 1;
        let is_repair = repair.is_some();
        let brief = brief(task, &attempts, repair, ctx);
        let (prompt, schema) = (prompt::plan(&brief), prompt::plan_schema(&brief));
        let call = fx.ask_model(ModelCall {
            brief: Brief::Plan(Box::new(brief)),
            prompt,
            schema: Some(schema),
            limits: ModelLimits::default(),
        });
        self.phase = Phase::Planning(Planning { call, repair: is_repair, attempts });
    }

    /// Handles the answer to the pending plan call.
    pub(super) fn on_plan_answer(&mut self, answer: &Answer, fx: &mut Fx<'_>) {
        let Phase::Planning(planning) = std::mem::take(&mut self.phase) else { return };
        match answer {
            Answer::Model(reply) => self.on_plan_reply(planning, &reply.text(), fx),
            Answer::ModelFailed(failure) => self.on_plan_failure(failure, fx),
            Answer::Interrupted | Answer::Tool(_) | Answer::Timer | Answer::Survey(_) => {
                let failure = ModelFailure {
                    kind: ModelFailureKind::Unavailable,
                    reason: "the model call was cut short".to_owned(),
                    hints: Vec::new(),
                };
                self.on_plan_failure(&failure, fx);
            }
        }
    }

    fn on_plan_reply(&mut self, planning: Planning, text: &str, fx: &mut Fx<'_>) {
        let ctx = fx.ctx;
        let Some(task) = &self.task else { return };
        let attempts = planning.attempts;
        let draft: PlanDraft = match extract(text) {
            Ok(draft) => draft,
            Err(error) if !planning.repair => {
                let repair = Repair { error: format!("failed to {error}"), previous: text.to_owned() };
                self.ask_plan(attempts, Some(repair), fx);
                return;
            }
            Err(error) => {
                let refusal = Refusal::new("the answer", &no_plan(&format!("failed to {error}")));
                self.refuse(attempts, &[refusal], None, fx);
                return;
            }
        };
        if let Some(cannot) = draft.cannot.as_ref().filter(|_| draft.subtasks.is_empty()) {
            match infeasible(cannot, task) {
                Ok(shown) => self.raise(Fault::infeasible(shown), fx),
                Err(reason) => self.refuse(attempts, &[reason], None, fx),
            }
            return;
        }
        let limits = task.limits();
        let mut validated = validate(&draft, &Rules::new(task, &limits, ctx));
        if validated.is_err() && attempts.calls >= CALLS_BEFORE_RELAXING {
            validated = self.relaxed(&draft, ctx).unwrap_or(validated);
        }
        match validated {
            Ok(plan) => self.settle(plan, attempts, fx),
            Err(reasons) => self.refuse(attempts, &reasons, Some(&draft), fx),
        }
    }

    /// Validates a draft again without memory's part. If it is then valid, memory is overridden for the rest of the
    /// round, and the manifest says so. `None` if memory has no part in the refusal.
    fn relaxed(&mut self, draft: &PlanDraft, ctx: &Ctx<'_>) -> Option<Result<ValidPlan, Vec<Refusal>>> {
        let task = self.task.as_mut()?;
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
    fn refuse(
        &mut self,
        mut attempts: Attempts,
        refusals: &[Refusal],
        draft: Option<&PlanDraft>,
        fx: &mut Fx<'_>,
    ) {
        attempts.refused = draft.map(|draft| annotated(draft, refusals));
        let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        for reason in &reasons {
            attempts.refusals.retain(|earlier| earlier != reason);
            attempts.refusals.push(reason.clone());
        }
        let surplus = attempts.refusals.len().saturating_sub(REFUSALS_MAX);
        attempts.refusals.drain(..surplus);
        attempts.last = reasons;
        self.ask_plan(attempts, None, fx);
    }

    fn give_up_planning(&mut self, mut attempts: Attempts, repair: Option<Repair>, fx: &mut Fx<'_>) {
        if let Some(repair) = repair {
            attempts.last = vec![format!("the answer {}", no_plan(&repair.error))];
        }
        let reasons = attempts.last.join("; ");
        let fault = Fault {
            failure_class: Some(FailureClass::Logical),
            hints: vec![
                "say the goal more precisely: which things, where, and how one would see that it is reached"
                    .to_owned(),
                "use a stronger model for planning".to_owned(),
            ],
            ..Fault::new(
                FaultKind::Fault,
                format!("no valid plan in {} plan calls: {reasons}", attempts.calls),
            )
        };
        self.raise(fault, fx);
    }

    fn on_plan_failure(&mut self, failure: &ModelFailure, fx: &mut Fx<'_>) {
        let retryable = failure.kind.retryable();
        let fault = Fault {
            failure_class: retryable.then_some(FailureClass::Environmental),
            hints: failure.hints.clone(),
            retryable,
            ..Fault::new(FaultKind::Fault, failure.reason.clone())
        };
        self.raise(fault, fx);
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
