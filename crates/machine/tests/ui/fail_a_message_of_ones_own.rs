use setpoint_protocol::message::Message;
use setpoint_protocol::topology::{Kind, Payload};

#[derive(Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Whisper;

impl From<Whisper> for Payload {
    fn from(_: Whisper) -> Payload {
        loop {}
    }
}

impl Message for Whisper {
    const KIND: Kind = Kind::FinalResult;
}

fn main() {}
