//! The guide's worked example does what the guide says, and its reference leaves nothing out.

use std::fs;
use std::sync::Arc;

use setpoint_model::playbook::{Library, Playbook};
use setpoint_protocol::message::ActionState;

use crate::support::{after_failure, catalogue, plan, plan_brief};

const GUIDE: &str = include_str!("../../../../docs/playbooks.md");

#[test]
fn the_worked_example_works() {
    let (_, rest) = GUIDE.split_once("```toml\n").unwrap();
    let (example, rest) = rest.split_once("```\n").unwrap();
    assert!(!rest.contains("```toml"), "an example that nothing checks");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("count-files.toml");
    fs::write(&file, example).unwrap();
    let library = Library::load(Some(dir.path()));
    let problems: Vec<String> = library.check(None, &catalogue()).iter().map(ToString::to_string).collect();
    assert_eq!(problems, [""; 0]);
    let brain = Playbook::new(Arc::new(library));
    let brief = plan_brief("how many '*.txt' files are in this directory?");
    let draft = plan(&brain, &brief).unwrap();
    let approach = |draft: &setpoint_extract::draft::PlanDraft| {
        let approach = draft.subtasks[0].approach.as_ref().unwrap();
        (approach.approach.clone(), approach.params.get("variant").cloned())
    };
    assert_eq!(approach(&draft), ("find".to_owned(), None));
    let wrong = after_failure(&brief, &draft, ActionState::BreakSymmetry, &["shell/find", "shell/wc"], &[]);
    assert_eq!(approach(&plan(&brain, &wrong).unwrap()).0, "search");
    let missing = after_failure(&brief, &draft, ActionState::ChangePath, &[], &[]);
    assert_eq!(approach(&plan(&brain, &missing).unwrap()).1, Some("near".into()));
}

#[test]
fn the_reference_names_every_key_that_shipped_playbooks_use() {
    let library = Library::load(None);
    let prose: Vec<&str> =
        GUIDE.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).collect();
    for summary in library.list() {
        let (_, source) = library.show(&summary.name).unwrap();
        let mut section = "";
        let mut is_command = false;
        for line in source.lines() {
            // A command is a program of its own; its placeholders are seen elsewhere.
            if line.matches("'''").count() == 1 {
                is_command = !is_command;
                continue;
            }
            if is_command || line.contains("'''") {
                continue;
            }
            if line.starts_with('[') {
                section = line;
            }
            // The author names what is in these tables.
            let own = matches!(section, "[words]" | "[approach.step.output]");
            if let Some((key, _)) = line.split_once(" = ")
                && !own
            {
                assert!(prose.contains(&key.trim()) || key.contains('{'), "{}: {key}", summary.name);
            }
            for filter in line.split('|').skip(1).filter_map(|rest| rest.split([' ', '}', '|']).next()) {
                let is_filter =
                    line.contains(&format!("|{filter}}}")) && filter.chars().all(|c| c.is_ascii_lowercase());
                assert!(!is_filter || prose.contains(&filter), "{}: the filter {filter}", summary.name);
            }
        }
    }
}
