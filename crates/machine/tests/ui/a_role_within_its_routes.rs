//! A role that sends and asks only what the topology allows.

use setpoint_machine::{Effects, Input, Machine, ModelCall};
use setpoint_protocol::message::{ApprovalRequest, ExecutionResult};
use setpoint_protocol::tool::{Phase, ToolCall};
use setpoint_protocol::topology::{inbox, party};

struct Quiet;

impl Machine for Quiet {
    type Role = party::Executor;

    fn handle(&mut self, input: Input<party::Executor>, _: &mut Effects<'_, party::Executor>) {
        match input {
            Input::Message(
                inbox::Executor::SubTask(_)
                | inbox::Executor::CorrectionSignal(_)
                | inbox::Executor::ApprovalDecision(_),
            )
            | Input::Answer { .. }
            | Input::Quiesced => {}
        }
    }
}

fn everything_that_the_executor_may(
    fx: &mut Effects<'_, party::Executor>,
    result: ExecutionResult,
    request: ApprovalRequest,
    ask: ModelCall,
    tool: ToolCall,
) {
    fx.publish(result);
    fx.request(|call_id| ApprovalRequest { call_id, ..request });
    fx.ask_model(ask);
    fx.run_tool(tool.clone(), None, false);
    fx.probe(tool, Phase::After);
}
