//! Keeps one tool of each capability class available, because otherwise nothing could be done at all.

use std::sync::Arc;

use setpoint_protocol::ToolId;
use setpoint_protocol::tool::{CapabilityClass, ToolSpec};

/// The classes of which one tool must stay available.
const CLASSES: [CapabilityClass; 6] = [
    CapabilityClass::Read,
    CapabilityClass::Search,
    CapabilityClass::Write,
    CapabilityClass::Run,
    CapabilityClass::Fetch,
    CapabilityClass::Server,
];

/// Removes from `blocked` one tool of each class that would be blocked completely, and returns what was removed.
///
/// The tool removed is the one first tried last: of those in the class, the one whose first use in a failing sub-task
/// is the latest in `tried`; if none was used, the later one of the catalogue. Blocking a program (`shell/curl`)
/// never blocks the shell, so programs are not considered.
pub(super) fn give_back(
    blocked: &mut Vec<ToolId>,
    catalogue: &[Arc<ToolSpec>],
    tried: &[ToolId],
) -> Vec<ToolId> {
    let mut given = Vec::new();
    for class in CLASSES {
        // A name that is not a valid tool id can be in no call and in no blocked set.
        let tools: Vec<Option<ToolId>> =
            catalogue.iter().filter(|spec| spec.class == class).map(|spec| spec.name.parse().ok()).collect();
        let is_blocked = |tool: &Option<ToolId>| tool.as_ref().is_some_and(|tool| covers(blocked, tool));
        if !tools.iter().all(is_blocked) {
            continue;
        }
        let first_use = |tool: &ToolId| tried.iter().position(|tried| tried.covers(tool));
        if let Some(last) = tools.into_iter().flatten().max_by_key(first_use) {
            blocked.retain(|blocked| !blocked.covers(&last));
            given.push(last);
        }
    }
    given
}

fn covers(blocked: &[ToolId], tool: &ToolId) -> bool {
    blocked.iter().any(|blocked| blocked.covers(tool))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use setpoint_protocol::Any;

    #[test]
    fn the_last_tool_of_a_class_stays_available() {
        check(
            "read_file:read, search:search, glob:search, shell:run",
            "glob read_file search",
            "search read_file glob",
            &expect!["blocked: search; given back: read_file glob"],
        );
    }

    #[test]
    fn nothing_is_given_back_while_a_class_has_another_tool() {
        check("a:fetch, b:fetch", "a", "a", &expect!["blocked: a; given back: "]);
    }

    #[test]
    fn blocking_a_program_does_not_block_the_shell() {
        check(
            "shell:run",
            "shell/curl shell/wget",
            "shell/curl shell/wget",
            &expect!["blocked: shell/curl shell/wget; given back: "],
        );
        check(
            "shell:run",
            "shell shell/curl",
            "shell/curl shell",
            &expect!["blocked: shell/curl; given back: shell"],
        );
    }

    #[test]
    fn catalogue_order_decides_between_unused_tools() {
        check("a:write, b:write, c:write", "a b c", "", &expect!["blocked: a b; given back: c"]);
        check("a:write, b:write, c:write", "a b c", "c b a", &expect!["blocked: b c; given back: a"]);
    }

    #[test]
    fn a_tool_outside_the_catalogue_stays_blocked() {
        check("", "gone", "gone", &expect!["blocked: gone; given back: "]);
        check("not an id:run", "gone", "gone", &expect!["blocked: gone; given back: "]);
    }

    fn check(catalogue: &str, blocked: &str, tried: &str, expected: &Expect) {
        let entries = catalogue.split(',').filter_map(|entry| entry.trim().split_once(':'));
        let catalogue: Vec<Arc<ToolSpec>> = entries.map(|(name, class)| spec(name, class).into()).collect();
        let ids =
            |names: &str| names.split_whitespace().map(|name| name.parse().unwrap()).collect::<Vec<ToolId>>();
        let mut blocked = ids(blocked);
        let given = give_back(&mut blocked, &catalogue, &ids(tried));
        let shown = |ids: &[ToolId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        expected.assert_eq(&format!("blocked: {}; given back: {}", shown(&blocked), shown(&given)));
    }

    fn spec(name: &str, class: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            gives: String::new(),
            input_schema: Any::NULL,
            class: serde_json::from_value(class.into()).unwrap(),
            volatile: false,
            core: false,
        }
    }
}
