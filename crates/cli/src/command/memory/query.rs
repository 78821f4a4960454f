//! `memory query`: what memory says about pairs, and what follows for a plan.

use serde_json::json;
use setpoint_client::memory::{Answer, PairQuestion};
use setpoint_client::{ClientError, Memory};
use setpoint_protocol::Timestamp;

use super::note;
use crate::exit::Exit;
use crate::invocation::{AskedPairs, GlobalOptions};
use crate::io::Io;
use crate::render::memory::{Look, pair, pairs};

pub(super) async fn query(
    memory: &dyn Memory,
    asked: AskedPairs,
    at: Option<Timestamp>,
    look: &Look,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let is_everything = asked.space.is_none();
    let question = PairQuestion { space: asked.space, entity: asked.entity, at };
    let answer = memory.query(&question).await?;
    if options.is_json {
        io.out.json(&json!(answer))?;
        return Ok(Exit::DONE);
    }
    match answer {
        Answer::Pair(report) => io.out.lines(&pair(&report, look))?,
        Answer::Pairs(found) if found.is_empty() && is_everything => {
            note("nothing is remembered yet", options, io);
        }
        Answer::Pairs(found) if found.is_empty() => {
            note("nothing is remembered of this space; `setpoint memory query` lists all", options, io);
        }
        Answer::Pairs(found) => io.out.lines(&pairs(&found, look))?,
    }
    Ok(Exit::DONE)
}
