use setpoint_machine::Effects;
use setpoint_protocol::message::FinalResult;
use setpoint_protocol::topology::party;

fn forbidden(fx: &mut Effects<'_, party::MetaValidator>, result: FinalResult) {
    fx.publish(result);
}

fn main() {}
