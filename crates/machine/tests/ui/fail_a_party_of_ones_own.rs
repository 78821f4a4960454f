use setpoint_protocol::RoleId;
use setpoint_protocol::topology::Party;

enum Backdoor {}

impl Party for Backdoor {
    const ID: RoleId = RoleId::Planner;
}

fn main() {}
