//! The directive: the decision in the terms that R2 plans by.

use setpoint_control::{ActionState, Decision};
use setpoint_machine::Ctx;
use setpoint_protocol::ToolId;
use setpoint_protocol::message::{
    DirectiveClass, DirectiveFinding, FailureClass, PlanDirective, RoundStanding, TaskFault,
};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{Phase, SideEffect};

use super::course::Course;
use super::exempt::Exemptions;
use super::give_back::give_back;
use super::round::{Cause, Gap, Round, gaps, has_failed, is_empty};
use super::summary::sentence;
use crate::blocking::target_name;
use crate::line::one_line;

/// At most this many findings per directive; the rest are counted in the rationale.
const FINDINGS_MAX: usize = 64;
/// At most this many criteria that hold, and calls that changed something; of the calls the newest are kept.
const STANDING_MAX: usize = 32;
/// Maximum length, in characters, of an output quoted in a directive; a longer one is cut with a mark.
const OUTPUT_CHARS_MAX: usize = 1_500;
/// Maximum length, in characters, of a criterion, evidence or reason quoted in a directive; a longer one is cut with
/// a mark.
const PART_CHARS_MAX: usize = 600;

/// Makes the directive of a decision.
pub(super) fn new(
    decision: &Decision,
    replan: ActionState,
    cause: &Cause<'_>,
    course: &Course,
    ctx: &Ctx<'_>,
) -> PlanDirective {
    let directive = common(decision, replan, cause.round(), course, ctx);
    match cause {
        Cause::Round(round) => after_round(directive, round),
        Cause::Fault(fault) => after_fault(directive, fault, course),
        // A cancel asks for no plan.
        Cause::Cancel(_) => directive,
    }
}

fn after_round(mut directive: PlanDirective, round: &Round) -> PlanDirective {
    let mut findings = findings(round);
    let left_out = findings.len().saturating_sub(FINDINGS_MAX);
    findings.truncate(FINDINGS_MAX);
    if left_out > 0 {
        directive.rationale.push_str(&format!(" {left_out} more findings are left out."));
    }
    // P is 0.5 if no class is known, as it is for failures of both kinds.
    let is_known = findings.iter().any(|finding| finding.failure_class.is_some());
    let failure_class = if is_known { directive.failure_class } else { DirectiveClass::Unknown };
    PlanDirective {
        failed_criterion: failed_criterion(round),
        failure_class,
        findings,
        matched: round.matched().cloned().collect(),
        standing: standing(round),
        failed_subtasks: round.failed_ids(),
        ..directive
    }
}

/// Completes the directive after a fault. Nothing was measured, so there are no findings and no failed sub-tasks: a
/// plan that ended with a fault may be tried again. What matched before is kept.
fn after_fault(mut directive: PlanDirective, fault: &TaskFault, course: &Course) -> PlanDirective {
    let reason = one_line(&fault.reason, PART_CHARS_MAX);
    directive.rationale.push_str(&format!(
        " A fault of {} closed the round: {}",
        fault.role.label(),
        sentence(&reason)
    ));
    let failure_class = match fault.failure_class {
        Some(FailureClass::Logical) => DirectiveClass::Logical,
        Some(FailureClass::Environmental) => DirectiveClass::Environmental,
        None => DirectiveClass::Unknown,
    };
    PlanDirective {
        failure_class,
        failed_criterion: format!("the round could not be carried out: {reason}"),
        matched: course.last.iter().flat_map(|round| round.matched()).cloned().collect(),
        ..directive
    }
}

fn common(
    decision: &Decision,
    replan: ActionState,
    round: Option<&Round>,
    course: &Course,
    ctx: &Ctx<'_>,
) -> PlanDirective {
    let mut blocked_tools: Vec<ToolId> =
        decision.blocked_tools.iter().filter_map(|tool| tool.parse().ok()).collect();
    let mut blocked_targets = decision.blocked_targets.clone();
    let naming = course.naming(round.or(course.last.as_deref()), ctx);
    let exemptions = Exemptions { attempts: &course.attempts, naming: &naming, catalogue: &ctx.opened.tools };
    let mut rationale = decision.rationale.clone();
    rationale.push_str(&exemptions.take_out(&mut blocked_tools, &mut blocked_targets));
    let given = give_back(&mut blocked_tools, &ctx.opened.tools, &course.tried);
    for tool in given {
        rationale.push_str(&format!(" {tool} stays available: it is the last of its kind."));
    }
    PlanDirective {
        loss: decision.loss,
        prev_directive: decision.prev_directive,
        directive: replan,
        blocked_tools,
        blocked_targets: blocked_targets.iter().map(|pair| target_name(&pair.tool, &pair.target)).collect(),
        failed_criterion: String::new(),
        failure_class: decision.failure_class,
        findings: Vec::new(),
        budget_pressure: decision.loss.omega,
        matched: Vec::new(),
        standing: RoundStanding::default(),
        failed_subtasks: Vec::new(),
        grad_l: decision.gradient.grad_l,
        grad_l_budget: decision.gradient.grad_l_budget,
        urgency: decision.urgency,
        rationale,
    }
}

/// Returns which criteria of the failed part hold, what was changed, and what the last failed sub-task answered.
fn standing(round: &Round) -> RoundStanding {
    let of_failed = round.failed().flat_map(|outcome| &outcome.criteria_verdicts);
    let passed =
        round.whole_verdicts().iter().chain(of_failed).filter(|one| !has_failed(one) && !one.vacuous);
    let mut holds: Vec<String> = Vec::new();
    for verdict in passed {
        let text = one_line(&verdict.criterion, PART_CHARS_MAX);
        if holds.len() < STANDING_MAX && !holds.contains(&text) {
            holds.push(text);
        }
    }
    let calls = round.outcomes.iter().flat_map(|outcome| &outcome.tool_calls);
    let mut changed: Vec<String> = Vec::new();
    for call in calls.filter(|call| call.phase == Phase::Work && call.side_effect != SideEffect::None) {
        let name = target_name(call.tool.as_str(), &one_line(&call.target, PART_CHARS_MAX));
        if !changed.contains(&name) {
            changed.push(name);
        }
    }
    let surplus = changed.len().saturating_sub(STANDING_MAX);
    changed.drain(..surplus);
    let outputs = round.failed().map(|outcome| &outcome.output).filter(|output| !is_empty(output));
    let output = outputs.last().map(|output| clip(&output.to_text(), OUTPUT_CHARS_MAX)).unwrap_or_default();
    RoundStanding { holds, changed, output }
}

/// Returns the failures and the evidence for them, the whole first.
fn findings(round: &Round) -> Vec<DirectiveFinding> {
    let of_whole = round.whole_verdicts().iter().filter(|verdict| has_failed(verdict)).map(Gap::of_verdict);
    let of_subtasks = round.outcomes.iter().flat_map(gaps);
    let finding = |gap: Gap| DirectiveFinding {
        criterion_id: gap.criterion_id,
        unevaluable: gap.unevaluable,
        criterion: one_line(&gap.criterion, PART_CHARS_MAX),
        failure_class: gap.failure_class,
        shown: gap.shown,
        evidence: one_line(&gap.evidence, PART_CHARS_MAX),
        cites: gap.cites,
    };
    of_whole.chain(of_subtasks).map(finding).collect()
}

/// Returns the first criterion that was not met; without one, R4b's words.
fn failed_criterion(round: &Round) -> String {
    let first = round.unmet().into_iter().next();
    one_line(&first.unwrap_or_else(|| round.words.clone()), PART_CHARS_MAX)
}
