//! `memory rules`: the rules and facts in force, and what still speaks for them.

use serde_json::json;
use setpoint_client::{ClientError, Memory};
use setpoint_protocol::Timestamp;

use super::note;
use crate::exit::Exit;
use crate::invocation::GlobalOptions;
use crate::io::Io;
use crate::render::memory::{self, Look};

pub(super) async fn rules(
    memory: &dyn Memory,
    at: Option<Timestamp>,
    look: &Look,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let rules = memory.rules(at).await?;
    if options.is_json {
        io.out.json(&json!(rules))?;
    } else if rules.is_empty() {
        note("no rule and no fact is in force", options, io);
    } else {
        io.out.lines(&memory::rules(&rules, look))?;
    }
    Ok(Exit::DONE)
}
