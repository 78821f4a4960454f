//! Selects the tools that the model is offered: a few from the start, and others on request.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use setpoint_protocol::message::SubTask;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{CapabilityClass, ToolCall, ToolSpec};
use setpoint_protocol::{Any, ToolId};

use crate::programs::{SHELL, is_with_shell};

/// The tool that loads others. It touches nothing, so R3 answers it itself.
const LOADER: &str = "load_tools";
/// Maximum characters of a name that is quoted.
const NAME_CHARS_MAX: usize = 160;

static LOADER_SPEC: LazyLock<Arc<ToolSpec>> = LazyLock::new(|| {
    Arc::new(ToolSpec {
        name: LOADER.to_owned(),
        description: "Makes further tools callable, by the names in the list of tools that can be loaded."
            .to_owned(),
        input_schema: Any(json!({
            "type": "object",
            "properties": {"names": {"type": "array", "items": {"type": "string"}}},
            "required": ["names"],
        })),
        class: CapabilityClass::Read,
        gives: String::new(),
        volatile: false,
        core: true,
    })
});

/// Returns the tools that may be called: those that the sub-task names (none named: all) and what comes with the shell, if
/// it names that, except those blocked as a whole. Blocking one program does not remove the tool that runs programs.
pub(super) fn allowed(subtask: &SubTask, catalogue: &[Arc<ToolSpec>]) -> Vec<Arc<ToolSpec>> {
    let is_allowed = |spec: &&Arc<ToolSpec>| {
        let id = ToolId::of_name(&spec.name);
        let named = subtask.tools.is_empty()
            || subtask.tools.iter().any(|tool| *tool == id || tool.tool() == spec.name)
            || comes_with_shell(subtask, &id);
        named && !subtask.limits.blocked_tools.contains(&id)
    };
    catalogue.iter().filter(is_allowed).cloned().collect()
}

/// Returns the tools offered with their schemas: all that the sub-task names, otherwise the core, and the loaded ones, with
/// the loader if there are more.
pub(super) fn offered(
    subtask: &SubTask,
    loaded: &BTreeSet<String>,
    catalogue: &[Arc<ToolSpec>],
) -> Vec<Arc<ToolSpec>> {
    let mut tools = allowed(subtask, catalogue);
    let is_first = |spec: &Arc<ToolSpec>| is_offered_at_first(subtask, spec);
    if tools.iter().any(is_first) && !tools.iter().all(is_first) {
        // The first ones stay first, so that loading a tool only changes the end of the list.
        tools.retain(|spec| is_first(spec) || loaded.contains(&spec.name));
        tools.sort_by_key(|spec| !is_first(spec));
        tools.push(Arc::clone(&LOADER_SPEC));
    }
    tools
}

/// Returns whether a tool is offered from the start: one that the sub-task names, or one of the core if it names none.
fn is_offered_at_first(subtask: &SubTask, spec: &ToolSpec) -> bool {
    if subtask.tools.is_empty() {
        return spec.core;
    }
    let id = ToolId::of_name(&spec.name);
    !comes_with_shell(subtask, &id) || subtask.tools.iter().any(|named| named.covers(&id))
}

/// Returns the names of the tools that can be loaded; their descriptions follow when they are.
pub(super) fn loadable(subtask: &SubTask, catalogue: &[Arc<ToolSpec>]) -> Vec<String> {
    let offered = offered(subtask, &BTreeSet::new(), catalogue);
    if !offered.iter().any(|spec| spec.name == LOADER) {
        return Vec::new();
    }
    let rest = allowed(subtask, catalogue).into_iter().filter(|spec| !is_offered_at_first(subtask, spec));
    rest.map(|spec| spec.name.clone()).collect()
}

/// Returns whether the sub-task lets a call run under this id.
pub(super) fn names(subtask: &SubTask, id: &ToolId) -> bool {
    subtask.tools.is_empty()
        || subtask.tools.iter().any(|named| named.covers(id))
        || comes_with_shell(subtask, id)
}

/// Returns whether the sub-task names the shell as a whole, and this tool comes with it.
fn comes_with_shell(subtask: &SubTask, id: &ToolId) -> bool {
    is_with_shell(id.tool()) && subtask.tools.iter().any(|named| named.as_str() == SHELL)
}

/// Answers a call of the loader with the schemas of what it loads. `None` for a call of another tool.
pub(super) fn load(
    subtask: &SubTask,
    loaded: &mut BTreeSet<String>,
    call: &ToolCall,
    catalogue: &[Arc<ToolSpec>],
) -> Option<(bool, String)> {
    if call.tool != LOADER || catalogue.iter().any(|spec| spec.name == LOADER) {
        return None;
    }
    let named: Vec<&str> = match call.input.get("names") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(name)) => vec![name],
        _ => Vec::new(),
    };
    let allowed = allowed(subtask, catalogue);
    let (mut text, mut unknown) = (String::new(), Vec::new());
    for name in named {
        match allowed.iter().find(|spec| spec.name == name) {
            Some(spec) => {
                loaded.insert(spec.name.clone());
                text.push_str(&format!(
                    "{}: {}\n  input: {}\n",
                    spec.name,
                    spec.description,
                    spec.input_schema.to_text()
                ));
            }
            None => unknown.push(clip(name, NAME_CHARS_MAX)),
        }
    }
    if !unknown.is_empty() {
        text.push_str(&format!("there is no such tool to load: {}\n", unknown.join(", ")));
    }
    if text.is_empty() {
        text.push_str("give `names`, a list of tools out of those that can be loaded\n");
    }
    Some((unknown.is_empty(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_the_shell_is_loaded_on_demand() {
        let spec = |name: &&str| {
            let core = ["read_file", "shell"].contains(name);
            let spec =
                json!({ "name": name, "description": "", "input_schema": {}, "class": "run", "core": core });
            Arc::new(serde_json::from_value(spec).unwrap())
        };
        let catalogue: Vec<Arc<ToolSpec>> =
            ["background", "glob", "read_file", "run_code", "shell"].iter().map(spec).collect();
        let offers = |tools: &[&str], loaded: &[&str]| {
            let subtask: SubTask = serde_json::from_value(json!({
                "subtask_id": "00000000-0000-7000-8000-000000000001", "intent": "x", "success_criteria": [],
                "context": "", "sequence": 1, "fingerprint": "f", "tools": tools, "limits": {},
            }))
            .unwrap();
            let loaded = loaded.iter().map(|name| (*name).to_owned()).collect();
            let names: Vec<String> =
                offered(&subtask, &loaded, &catalogue).iter().map(|spec| spec.name.clone()).collect();
            format!("{}; {}", names.join(" "), loadable(&subtask, &catalogue).join(" "))
        };
        assert_eq!(offers(&["glob", "shell"], &[]), "glob shell load_tools; background run_code");
        assert_eq!(
            offers(&["glob", "shell"], &["run_code"]),
            "glob shell run_code load_tools; background run_code"
        );
        assert_eq!(offers(&["run_code", "shell"], &[]), "run_code shell load_tools; background");
        assert_eq!(offers(&["glob"], &[]), "glob; ");
        assert_eq!(offers(&[], &[]), "read_file shell load_tools; background glob run_code");
    }

    #[test]
    fn who_may_run_commands_may_run_programs() {
        let may = |tools: &[&str], blocked: &[&str], id: &str| {
            let subtask: SubTask = serde_json::from_value(json!({
                "subtask_id": "00000000-0000-7000-8000-000000000001", "intent": "x", "success_criteria": [],
                "context": "", "sequence": 1, "fingerprint": "f", "tools": tools,
                "limits": { "blocked_tools": blocked },
            }))
            .unwrap();
            let spec = json!({ "name": id, "description": "", "input_schema": {}, "class": "run" });
            let catalogue = [Arc::new(serde_json::from_value(spec).unwrap())];
            (names(&subtask, &ToolId::of_name(id)), allowed(&subtask, &catalogue).len() == 1)
        };
        assert_eq!(may(&["shell"], &[], "run_code"), (true, true));
        assert_eq!(may(&["shell"], &["run_code"], "run_code"), (true, false));
        assert_eq!(may(&["background"], &[], "background"), (true, true));
        assert_eq!(may(&["shell/make", "read_file"], &[], "background"), (false, false));
        assert_eq!(may(&["shell"], &[], "write_file"), (false, false));
    }
}
