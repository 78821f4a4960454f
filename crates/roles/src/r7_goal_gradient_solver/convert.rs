//! Between the vocabulary's types and the controller's. Names only: nothing is computed here.

use setpoint_control as control;
use setpoint_control::Replan;
use setpoint_control::decision::DominantClass;
use setpoint_mkct::State;
use setpoint_protocol::message::{
    ActionState, DirectiveClass, EndState, EndedBy, FailureClass, FaultKind, Loss, MacroState, Mode, Urgency,
};

pub(super) fn loss(loss: &control::Loss) -> Loss {
    Loss { d: loss.d, p: loss.p, omega: loss.omega, l: loss.l }
}

pub(super) fn state(state: control::MacroState) -> MacroState {
    match state {
        control::MacroState::Init => MacroState::Init,
        control::MacroState::Refine => MacroState::Refine,
        control::MacroState::ChangePath => MacroState::ChangePath,
        control::MacroState::ChangeApproach => MacroState::ChangeApproach,
        control::MacroState::BreakSymmetry => MacroState::BreakSymmetry,
        control::MacroState::Accept => MacroState::Accept,
        control::MacroState::Success => MacroState::Success,
        control::MacroState::Abandon => MacroState::Abandon,
    }
}

/// The state's row in memory's table; none before the first decision.
pub(super) fn quantized(state: control::MacroState) -> Option<State> {
    Some(match state {
        control::MacroState::Init => return None,
        control::MacroState::Refine => State::Refine,
        control::MacroState::ChangePath => State::ChangePath,
        control::MacroState::ChangeApproach => State::ChangeApproach,
        control::MacroState::BreakSymmetry => State::BreakSymmetry,
        control::MacroState::Accept => State::Accept,
        control::MacroState::Success => State::Success,
        control::MacroState::Abandon => State::Abandon,
    })
}

pub(super) fn action(replan: Replan) -> ActionState {
    match replan {
        Replan::Refine => ActionState::Refine,
        Replan::ChangePath => ActionState::ChangePath,
        Replan::ChangeApproach => ActionState::ChangeApproach,
        Replan::BreakSymmetry => ActionState::BreakSymmetry,
    }
}

pub(super) fn ended_by(by: control::EndedBy) -> EndedBy {
    match by {
        control::EndedBy::CriteriaMet => EndedBy::CriteriaMet,
        control::EndedBy::Unproven => EndedBy::Unproven,
        control::EndedBy::Distance => EndedBy::Distance,
        control::EndedBy::Omega => EndedBy::Omega,
        control::EndedBy::Law2 => EndedBy::Law2,
        control::EndedBy::Rounds => EndedBy::Rounds,
        control::EndedBy::Infeasible => EndedBy::Infeasible,
        control::EndedBy::Fault => EndedBy::Fault,
        control::EndedBy::Consent => EndedBy::Consent,
        control::EndedBy::Budget => EndedBy::Budget,
        control::EndedBy::Deadline => EndedBy::Deadline,
        control::EndedBy::Cancelled => EndedBy::Cancelled,
    }
}

/// Which of the three ends a rule leads to.
pub(super) fn end_state(by: EndedBy) -> EndState {
    match by {
        EndedBy::CriteriaMet => EndState::Accept,
        EndedBy::Unproven | EndedBy::Distance => EndState::Success,
        EndedBy::Omega
        | EndedBy::Law2
        | EndedBy::Rounds
        | EndedBy::Infeasible
        | EndedBy::Fault
        | EndedBy::Consent
        | EndedBy::Budget
        | EndedBy::Deadline
        | EndedBy::Cancelled => EndState::Abandon,
    }
}

pub(super) fn dominant(class: DominantClass) -> DirectiveClass {
    match class {
        DominantClass::Logical => DirectiveClass::Logical,
        DominantClass::Environmental => DirectiveClass::Environmental,
        DominantClass::Mixed => DirectiveClass::Mixed,
    }
}

pub(super) fn urgency(urgency: control::Urgency) -> Urgency {
    match urgency {
        control::Urgency::Low => Urgency::Low,
        control::Urgency::Normal => Urgency::Normal,
        control::Urgency::High => Urgency::High,
    }
}

pub(super) fn failure_class(class: FailureClass) -> control::measurement::FailureClass {
    match class {
        FailureClass::Logical => control::measurement::FailureClass::Logical,
        FailureClass::Environmental => control::measurement::FailureClass::Environmental,
    }
}

pub(super) fn mode(mode: Mode) -> control::measurement::Mode {
    match mode {
        Mode::Verifiable => control::measurement::Mode::Verifiable,
        Mode::Plausible => control::measurement::Mode::Plausible,
    }
}

pub(super) fn fault_kind(kind: FaultKind) -> control::measurement::FaultKind {
    match kind {
        FaultKind::Fault => control::measurement::FaultKind::Fault,
        FaultKind::Budget => control::measurement::FaultKind::Budget,
        FaultKind::Deadline => control::measurement::FaultKind::Deadline,
        FaultKind::Consent => control::measurement::FaultKind::Consent,
        FaultKind::Infeasible => control::measurement::FaultKind::Infeasible,
    }
}
