use setpoint_machine::{Effects, ModelCall};
use setpoint_protocol::topology::party;

fn forbidden(fx: &mut Effects<'_, party::Auditor>, ask: ModelCall) {
    fx.ask_model(ask);
}

fn main() {}
