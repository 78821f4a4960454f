//! `config`: every value with its origin, and the files that are read.

use serde_json::json;
use setpoint_client::{ClientError, Desk};

use crate::exit::Exit;
use crate::invocation::GlobalOptions;
use crate::io::Io;
use crate::text::Tone;
use crate::text::table::{Cell, table};

pub(super) fn show(options: &GlobalOptions, desk: &dyn Desk, io: &mut Io) -> Result<Exit, ClientError> {
    let values = desk.config()?;
    if options.is_json {
        io.out.json(&json!(values))?;
        return Ok(Exit::DONE);
    }
    let rows: Vec<Vec<Cell>> = values
        .iter()
        .map(|line| {
            let value = match &line.value {
                serde_json::Value::Null => (Tone::Dim, "not set".to_owned()),
                serde_json::Value::String(text) => (Tone::Strong, text.clone()),
                other => (Tone::Strong, other.to_string()),
            };
            vec![
                (Tone::Name, line.key.clone()),
                value,
                (Tone::Dim, line.origin.clone()),
                (Tone::Plain, line.about.clone()),
            ]
        })
        .collect();
    io.out.lines(&table(&["key", "value", "from", "meaning"], &rows))?;
    Ok(Exit::DONE)
}

pub(super) fn path(options: &GlobalOptions, desk: &dyn Desk, io: &mut Io) -> Result<Exit, ClientError> {
    let files = desk.config_files();
    if options.is_json {
        let files: Vec<_> =
            files.iter().map(|(path, is_there)| json!({ "path": path, "exists": is_there })).collect();
        io.out.json(&json!(files))?;
        return Ok(Exit::DONE);
    }
    let rows: Vec<Vec<Cell>> = files
        .into_iter()
        .map(|(path, is_there)| {
            let state = if is_there { (Tone::Good, "is read") } else { (Tone::Dim, "is not there") };
            vec![(Tone::Plain, path), (state.0, state.1.to_owned())]
        })
        .collect();
    io.out.lines(&table(&[], &rows))?;
    Ok(Exit::DONE)
}
