//! Refuses calls before they run.

use std::sync::Arc;

use setpoint_protocol::message::SubTask;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{ErrorKind, ToolSpec};

use super::offer;
use crate::blocking::refusal;
use crate::evidence::ExaminedCall;
use serde_json::Value;

/// Maximum length of a refusal in characters.
const WHY_CHARS_MAX: usize = 600;

/// Returns why this call may not run, with the kind of error.
pub(super) fn refuse(
    subtask: &SubTask,
    called: &ExaminedCall,
    catalogue: &[Arc<ToolSpec>],
) -> Option<(ErrorKind, String)> {
    let name = &called.call.tool;
    let offered = offer::allowed(subtask, catalogue);
    let why = |why: &str| {
        let names: Vec<&str> = offered.iter().map(|spec| spec.name.as_str()).collect();
        clip(&format!("{why}; tools that may be called: {}", names.join(", ")), WHY_CHARS_MAX)
    };
    if !catalogue.iter().any(|spec| spec.name == *name) {
        return Some((ErrorKind::MissingTool, why(&format!("there is no tool {:?}", clip(name, 80)))));
    }
    if let Some(refusal) = refusal(&subtask.limits, &called.reading) {
        return Some((ErrorKind::Blocked, why(&refusal)));
    }
    let is_offered = offered.iter().any(|spec| spec.name == *name);
    if !is_offered || !called.reading.tools.iter().all(|id| offer::names(subtask, id)) {
        return Some((
            ErrorKind::Blocked,
            why(&format!("the sub-task does not name {}", unnamed(subtask, called))),
        ));
    }
    match &called.call.input.0 {
        Value::Object(_) | Value::Null => None,
        _ => Some((ErrorKind::InvalidInput, "the input of a tool is one JSON object".to_owned())),
    }
}

fn unnamed(subtask: &SubTask, called: &ExaminedCall) -> String {
    let unnamed = called.reading.tools.iter().filter(|id| !offer::names(subtask, id));
    let ids: Vec<&str> = unnamed.map(|id| id.as_str()).collect();
    clip(&ids.join(", "), 200)
}
