//! The goal, the machine and its tools, as text.

use std::sync::Arc;

use setpoint_protocol::message::TaskSpec;
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{CapabilityClass, ToolSpec};

use super::LINE_CHARS_MAX;
use crate::line::one_line;

/// Longest JSON Schema of a tool's input in characters.
const INPUT_SCHEMA_CHARS_MAX: usize = 1_200;

pub(super) fn goal(spec: &TaskSpec) -> String {
    let mut text = format!("The goal: {}", spec.intent);
    if let Some(scope) = &spec.constraints.scope {
        text.push_str(&format!("\nWhere: {scope}"));
    }
    if let Some(deadline) = &spec.constraints.deadline {
        text.push_str(&format!("\nTo be done by: {deadline}"));
    }
    for clarification in spec.clarifications.iter().filter(|clarification| !clarification.answer.is_empty()) {
        text.push_str(&format!(
            "\nAsked \"{}\", the person said: {}",
            one_line(&clarification.question, LINE_CHARS_MAX),
            clarification.answer
        ));
    }
    text
}

pub(super) fn surroundings(place: &Surroundings) -> String {
    let programs = match place.programs.as_slice() {
        [] => "none known".to_owned(),
        programs => programs.join(", "),
    };
    format!(
        "Date and time here: {}\nSystem: {}\nWorking directory: {}\nHome directory: {}\nFolder for generated files: {}\n\
         Programs that are known to be installed: {programs}",
        place.local_time, place.os, place.cwd, place.home, place.workspace
    )
}

pub(super) fn tools(tools: &[Arc<ToolSpec>]) -> String {
    let mut text = String::from("Tools that exist here and may be used:");
    for tool in tools {
        text.push_str(&format!(
            "\n- {} ({}): {}\n  input: {}",
            tool.name,
            class(tool.class),
            one_line(&tool.description, LINE_CHARS_MAX),
            clip(&tool.input_schema.to_text(), INPUT_SCHEMA_CHARS_MAX)
        ));
    }
    if tools.is_empty() {
        text.push_str(" none");
    }
    text
}

const fn class(class: CapabilityClass) -> &'static str {
    match class {
        CapabilityClass::Read => "reads",
        CapabilityClass::Search => "searches",
        CapabilityClass::Write => "writes",
        CapabilityClass::Run => "runs programs",
        CapabilityClass::Fetch => "fetches from the network",
    }
}
