//! A handler that names every message of its inbox.

use setpoint_protocol::topology::{DeliveredTo, Receives, SentBy, inbox, party};

fn handle(message: inbox::Planner) -> &'static str {
    match message {
        inbox::Planner::TaskSpec(_) => "plan",
        inbox::Planner::MemoryReply(_) => "calibrate",
        inbox::Planner::PlanDecision(_) => "dispatch",
        inbox::Planner::GroupMatched(_) => "next group",
        inbox::Planner::PlanDirective(_) => "replan",
        inbox::Planner::AbandonNotice(_) => "report",
    }
}

fn from_to<From: Receives, To: Receives, M: SentBy<From> + DeliveredTo<To>>() {}

fn its_message() {
    from_to::<party::Planner, party::Executor, setpoint_protocol::message::SubTask>();
}
