//! How the index and the files differ from the last commit, which may hold something else than the file on the disk.

use std::path::PathBuf;

use super::{Look, one_line};
use crate::catalogue::git_repository::entries;
use crate::error::ToolError;
use crate::show;

/// Returns a line for each difference, new files last.
pub(super) async fn lines(look: &Look<'_>) -> Result<Vec<String>, ToolError> {
    let git = &look.repository;
    if git.text(&["rev-parse", "--is-bare-repository"]).await?.as_deref() == Some("true") {
        return Ok(Vec::new());
    }
    // A repository's settings may name any folder as the one with its files.
    let top = git.text(&["rev-parse", "--show-toplevel"]).await?.map(PathBuf::from);
    if top.as_deref() != Some(look.folder.as_path()) {
        return Err(ToolError::unfit(&look.own.path, "it takes another folder for its files"));
    }
    let too_many = || ToolError::unfit(&look.folder, "there are too many");
    let status = git.ask(&[
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=normal",
        // Examining a submodule's uncommitted changes would use the submodule's configuration.
        "--ignore-submodules=dirty",
        "--no-renames",
    ]);
    let all = entries(&status.await?, 0).ok_or_else(too_many)?;
    // Lower case or S: Git was told to take it for unchanged.
    let is_unlooked = |entry: &String| entry.starts_with(|c: char| c.is_ascii_lowercase() || c == 'S');
    let marked =
        entries(&git.ask(&["ls-files", "-v", "-z", "--", ":(top)"]).await?, 0).ok_or_else(too_many)?;
    let unlooked: Vec<String> = marked.into_iter().filter(is_unlooked).collect();
    let (new, tracked): (Vec<String>, Vec<String>) =
        all.into_iter().partition(|entry| entry.starts_with("??"));
    let filtered = if tracked.is_empty() { Default::default() } else { git.filtered().await? };
    let house = &git.ctx.house;
    let (rooms, is_near) = (house.rooms(), house.is_below(&look.folder));
    let mut lines = Vec::new();
    for entry in tracked.iter().chain(&new) {
        // Two letters of state, a space and the path.
        let Some((state, path)) = entry.split_at_checked(3) else { continue };
        if is_near && rooms.refuse(&look.folder.join(path)).is_some() {
            continue;
        }
        let filter =
            if filtered.contains(path) { "  (it passes through a filter that is not run)" } else { "" };
        lines.push(one_line(&format!("  {state}{}{filter}", show::line(path))));
    }
    let title = match lines.len() {
        0 => "index and files are as in HEAD",
        _ => "what is not as in HEAD, with the letters of Git's short status:",
    };
    lines.insert(0, title.to_owned());
    lines.extend(unlooked.iter().filter_map(|entry| {
        let path = entry.split_at_checked(2)?.1;
        Some(one_line(&format!("  Git was told to take this for unchanged: {}", show::line(path))))
    }));
    Ok(lines)
}
