use setpoint_machine::Effects;
use setpoint_protocol::message::MemoryQuery;
use setpoint_protocol::topology::party;

fn forbidden(fx: &mut Effects<'_, party::Executor>, query: MemoryQuery) {
    fx.publish(query);
}

fn main() {}
