use setpoint_protocol::topology::inbox;

fn handle(message: inbox::Planner) -> &'static str {
    match message {
        inbox::Planner::TaskSpec(_) => "plan",
        inbox::Planner::MemoryReply(_) => "calibrate",
        inbox::Planner::PlanDecision(_) => "dispatch",
        inbox::Planner::GroupMatched(_) => "next group",
        inbox::Planner::PlanDirective(_) => "replan",
    }
}

fn main() {}
