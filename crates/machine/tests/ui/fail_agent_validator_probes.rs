use setpoint_machine::Effects;
use setpoint_protocol::tool::{Phase, ToolCall};
use setpoint_protocol::topology::party;

fn forbidden(fx: &mut Effects<'_, party::AgentValidator>, call: ToolCall) {
    fx.probe(call, Phase::After);
}

fn main() {}
