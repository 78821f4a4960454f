//! The role accountable for an end that is not an accept: the map of the sources, read off the ending and its
//! evidence.
//!
//! | ending | evidence | accountable |
//! |---|---|---|
//! | `unproven` | the plan's criteria held without the work | R2: wrong criteria |
//! | `cancelled`, `consent` | the person decided | User |
//! | `infeasible` | what the goal rests on is not there | User |
//! | any | a criterion is shown to be impossible here, and nothing is refuted | User: the premise |
//! | any | the last round was closed by a fault | the role that the fault names |
//! | any | the merged result was rejected, or could not be judged | R4b: bad merge |
//! | `law2` | two consecutive rounds were made worse | R7: wrong direction |
//! | other | a failing sub-task was refused what its limits block | R2: ignored directive |
//! | other | every classified failure is environmental | R2: its paths led into what is not there |
//! | other | a failing sub-task was corrected and still failed | R4a: gap unresolved |
//! | other | a failing sub-task failed at its first attempt | R3: failed though feasible |
//! | other | none of the above | R2: the goal is its path |
//!
//! R1 (wrong intent) and R5 (wrong recall) cannot be identified from measurements; the Auditor and people name them.

use setpoint_control::EndedBy;
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{FailureClass, SubTaskOutcome};
use setpoint_protocol::tool::ErrorKind;

use super::round::{Cause, OverallJudgement, Round};

/// Returns the accountable role; `None` for an accept.
pub(super) fn accountable(by: EndedBy, cause: &Cause<'_>) -> Option<RoleId> {
    if by == EndedBy::CriteriaMet {
        return None;
    }
    Some(match cause {
        // The person decided, whichever role reports the refusal.
        _ if matches!(by, EndedBy::Consent | EndedBy::Infeasible) => RoleId::User,
        _ if by == EndedBy::Unproven => RoleId::Planner,
        Cause::Cancel(_) => RoleId::User,
        Cause::Fault(fault) => fault.role,
        // Its premise is missing, so no role could have met it.
        Cause::Round(round) if round.lacks_a_premise() => RoleId::User,
        Cause::Round(round) => of_round(by, round),
    })
}

fn of_round(by: EndedBy, round: &Round) -> RoleId {
    match round.whole {
        OverallJudgement::Rejected(_) | OverallJudgement::Unjudged => return RoleId::MetaValidator,
        OverallJudgement::Accepted(_) | OverallJudgement::Missing => {}
    }
    if by == EndedBy::Law2 {
        return RoleId::GoalGradientSolver;
    }
    let ran: Vec<&SubTaskOutcome> = round.failed().filter(|outcome| has_run(outcome)).collect();
    if ran.iter().any(|outcome| was_blocked(outcome)) || all_environmental(round) {
        return RoleId::Planner;
    }
    match ran.iter().map(|outcome| outcome.gap_trajectory.len()).max() {
        None => RoleId::Planner,
        Some(attempts) if attempts > 1 => RoleId::AgentValidator,
        Some(_) => RoleId::Executor,
    }
}

/// Returns whether the sub-task was executed at all; a skipped one has no verdicts, calls or attempts.
fn has_run(outcome: &SubTaskOutcome) -> bool {
    !(outcome.criteria_verdicts.is_empty()
        && outcome.tool_calls.is_empty()
        && outcome.gap_trajectory.is_empty())
}

fn was_blocked(outcome: &SubTaskOutcome) -> bool {
    outcome.tool_calls.iter().any(|call| call.error_kind == Some(ErrorKind::Blocked))
}

fn all_environmental(round: &Round) -> bool {
    let classes: Vec<FailureClass> =
        round.failed_verdicts().filter_map(|verdict| verdict.failure_class).collect();
    !classes.is_empty() && classes.iter().all(|class| *class == FailureClass::Environmental)
}
