//! `memory list` and `memory show`: records, and one of them in full.

use serde_json::json;
use setpoint_client::memory::RecordFilter;
use setpoint_client::{ClientError, Memory};
use setpoint_protocol::Timestamp;

use super::note;
use crate::exit::Exit;
use crate::invocation::{AskedRecords, GlobalOptions};
use crate::io::Io;
use crate::render::memory::{Look, records, report};

pub(super) async fn list(
    memory: &dyn Memory,
    asked: AskedRecords,
    at: Option<Timestamp>,
    look: &Look,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let AskedRecords { space, entity, level, limit, at: _ } = asked;
    let is_everything = space.is_none() && entity.is_none() && level.is_none();
    let found = memory.list(&RecordFilter { space, entity, level, limit, at }).await?;
    if options.is_json {
        io.out.json(&json!(found))?;
    } else if !found.is_empty() {
        io.out.lines(&records(&found, look))?;
    } else if is_everything {
        note("nothing is remembered yet", options, io);
    } else {
        note("no record is like that", options, io);
    }
    Ok(Exit::DONE)
}

pub(super) async fn show(
    memory: &dyn Memory,
    id: &str,
    at: Option<Timestamp>,
    look: &Look,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let found = memory.show(id, at).await?;
    if options.is_json {
        io.out.json(&json!(found))?;
    } else {
        io.out.lines(&report(&found, look))?;
    }
    Ok(Exit::DONE)
}
