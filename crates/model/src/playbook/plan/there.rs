//! Checks, before a plan is made, that the paths of a goal exist and are of the kind that the playbook handles.

use std::collections::BTreeMap;

use serde_json::Value;
use setpoint_machine::brief::PlanBrief;
use setpoint_protocol::record::NamedPath;
use setpoint_protocol::text::clip;

use crate::playbook::book::Book;
use crate::playbook::goal::{ParamKind, PathRequirement};

/// Maximum characters of a path that are shown.
const PATH_CHARS_MAX: usize = 200;

/// Returns what is wrong with the first path in the goal, on one line.
pub(super) fn refusal(book: &Book, given: &BTreeMap<String, Value>, brief: &PlanBrief) -> Option<String> {
    let looked_up = &brief.survey.as_ref()?.named;
    given.iter().find_map(|(name, value)| {
        let ParamKind::Path(wanted) = book.params.get(name)?.kind else { return None };
        let path = value.as_str()?;
        let found = looked_up.iter().find(|named| named.path == path)?;
        let wrong = wrong(wanted, found, &brief.surroundings.cwd)?;
        Some(format!("{} {wrong}", clip(path, PATH_CHARS_MAX)))
    })
}

fn wrong(wanted: PathRequirement, found: &NamedPath, cwd: &str) -> Option<String> {
    let Some(kind) = found.kind.as_deref() else {
        let is_relative = !found.path.starts_with(['/', '~', '$']);
        let place = if is_relative { format!(" in {cwd}") } else { String::new() };
        let variable =
            if found.path.contains('$') { "; `$` begins the name of a variable there" } else { "" };
        return (wanted != PathRequirement::Anything).then(|| format!("does not exist{place}{variable}"));
    };
    let is_directory = matches!(kind, "directory" | "link to a directory");
    let is_file = matches!(kind, "file" | "link to a file");
    match wanted {
        PathRequirement::Anything => None,
        PathRequirement::File if is_file => None,
        PathRequirement::Directory if is_directory => None,
        PathRequirement::FileOrDirectory if is_file || is_directory => None,
        PathRequirement::File if is_directory => Some("is a directory, not a file".to_owned()),
        PathRequirement::Directory if is_file => Some("is a file, not a directory".to_owned()),
        PathRequirement::File | PathRequirement::Directory | PathRequirement::FileOrDirectory
            if kind == "other" =>
        {
            Some("is neither a file nor a directory".to_owned())
        }
        PathRequirement::File | PathRequirement::Directory | PathRequirement::FileOrDirectory => {
            Some(format!("is a {kind}"))
        }
    }
}
