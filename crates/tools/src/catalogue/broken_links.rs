//! `broken_links`: finds symbolic links that are dangling or cyclic.

use std::path::{Path, PathBuf};

use super::file_facts::is_absent;
use crate::catalogue::prelude::*;
use crate::walk::measure::{Bounds, Step, walk};

/// Maximum lines that are shown to a reader.
const LINES_MAX: usize = 200;

pub(crate) struct BrokenLinks;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The folder.
    path: String,
    /// How many to give; all if not given. All are counted.
    limit: Option<usize>,
}

impl Typed for BrokenLinks {
    type Input = Input;
    const NAME: &'static str = "broken_links";
    const ABOUT: &'static str =
        "Finds the symbolic links below a folder, hidden ones too, whose targets do not exist.";
    const GIVES: &'static str = "PATH -> TARGET; /links /count";
    const CLASS: CapabilityClass = CapabilityClass::Search;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        Ok(Target::new(show::path(&place.path("path", &input.path)?)).with("limit", input.limit))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let path = ctx.existing("path", &input.path)?;
        let limit = input.limit.unwrap_or(usize::MAX);
        ctx.blocking(move |halt| find(&path, limit, halt)).await
    }
}

fn find(root: &Path, limit: usize, halt: &Halt) -> Result<ToolAnswer, ToolError> {
    let mut links: Vec<(PathBuf, PathBuf)> = Vec::new();
    let mut checked: u64 = 0;
    let mut unreadable = 0;
    let tally = walk(root, Bounds::new(halt), halt, |entry| {
        if entry.meta.is_symlink() {
            checked += 1;
            match (std::fs::metadata(entry.path), std::fs::read_link(entry.path)) {
                (Ok(_), _) => {}
                // A target that may not be examined can still exist.
                (Err(error), Ok(target)) if is_absent(&error) => {
                    links.push((entry.path.to_path_buf(), target));
                }
                _ => unreadable += 1,
            }
        }
        Step::On
    });
    let mut tally = tally.map_err(|source| ToolError::file("search", root, source))?;
    tally.unreadable += unreadable;
    links.sort_unstable_by(|one, other| one.0.as_os_str().cmp(other.0.as_os_str()));
    let mut text = format!(
        "{} of {} below {}",
        show::count(links.len() as u64, "broken link", "broken links"),
        show::count(checked, "link", "links"),
        show::path_line(root)
    );
    let lines = links
        .iter()
        .map(|(path, target)| format!("{} -> {}", show::path_line(path), show::path_line(target)));
    text.push_str(&answer::listing(lines, LINES_MAX));
    let facts = json!({
        "links": links.iter().take(limit).map(|(path, target)| {
            json!({ "path": show::path(path), "target": show::path(target) })
        }).collect::<Vec<_>>(),
        "count": links.len(),
        "checked": checked,
        "unreadable": tally.unreadable,
        "complete": tally.complete,
    });
    Ok(answer::walked(text, facts, tally.gaps()))
}
