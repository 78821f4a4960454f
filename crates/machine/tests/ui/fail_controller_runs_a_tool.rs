use setpoint_machine::Effects;
use setpoint_protocol::tool::ToolCall;
use setpoint_protocol::topology::party;

fn forbidden(fx: &mut Effects<'_, party::GoalGradientSolver>, call: ToolCall) {
    fx.run_tool(call, None, false);
}

fn main() {}
