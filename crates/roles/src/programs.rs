//! The tools that run programs, and those that write files.

use std::sync::Arc;

use setpoint_protocol::tool::ToolSpec;

/// The tool that runs command lines.
pub(crate) const SHELL: &str = "shell";
/// The tool that runs a program given as text.
pub(crate) const RUN_CODE: &str = "run_code";
/// The tool that keeps commands running.
pub(crate) const BACKGROUND: &str = "background";

/// The tools whose parameters hold what becomes of a file.
pub(crate) const WRITE: [&str; 3] = ["apply_patch", "edit_file", "write_file"];

/// Tools that do nothing that a command cannot: who may run commands may use them too. So a plan names the shell alone,
/// and is not told of them.
const WITH_SHELL: [&str; 2] = [RUN_CODE, BACKGROUND];

/// Returns whether a tool comes with the shell.
pub(crate) fn is_with_shell(name: &str) -> bool {
    WITH_SHELL.contains(&name)
}

/// Returns the tools that a plan chooses from.
pub(crate) fn to_plan_with(tools: &[Arc<ToolSpec>]) -> Vec<&Arc<ToolSpec>> {
    let has_shell = tools.iter().any(|tool| tool.name == SHELL);
    tools.iter().filter(|tool| !(has_shell && is_with_shell(&tool.name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_chooses_the_shell_and_not_what_comes_with_it() {
        let tools = |names: &[&str]| -> Vec<Arc<ToolSpec>> {
            let spec = |name: &&str| {
                let spec = serde_json::json!({
                    "name": name, "description": "", "input_schema": {}, "class": "run",
                });
                Arc::new(serde_json::from_value(spec).unwrap())
            };
            names.iter().map(spec).collect()
        };
        let names = |tools: &[Arc<ToolSpec>]| -> Vec<String> {
            to_plan_with(tools).into_iter().map(|tool| tool.name.clone()).collect()
        };
        assert_eq!(names(&tools(&["background", "grep", "run_code", "shell"])), ["grep", "shell"]);
        assert_eq!(names(&tools(&["grep", "run_code"])), ["grep", "run_code"]);
    }
}
