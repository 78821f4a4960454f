//! The built-in tools, one file each.
//!
//! In facts, paths are absolute, unless the call names the folder, archive or manifest that they belong to; lists are
//! sorted; `complete` is false if a limit cut something, and `unreadable` counts what could not be read.

mod archive;
mod broken_links;
mod compare_dirs;
mod count_lines;
mod disk_usage;
mod edit_file;
mod file_facts;
mod find_files;
mod git;
mod git_changes;
mod git_report;
mod git_repository;
mod glob;
mod grep;
mod hash_files;
mod http_fetch;
mod languages;
mod list_dir;
mod macos;
mod manifest;
mod overwrite;
mod patch;
mod pattern;
mod prelude;
mod read_document;
mod read_file;
pub(crate) mod rename;
mod shell;
mod table;
mod task_changes;
mod web_search;
mod write_file;

use std::sync::Arc;

/// The tools that run commands.
pub(crate) const COMMANDS: [&str; 3] = [
    <shell::Shell as crate::typed::Typed>::NAME,
    <shell::RunCode as crate::typed::Typed>::NAME,
    <shell::BackgroundTool as crate::typed::Typed>::NAME,
];

use crate::host::Host;
use crate::tool::Tool;
use crate::typed::tool;

pub use archive::ARCHIVE_BYTES_MAX;
pub use disk_usage::{USAGE_DEPTH_DEFAULT, USAGE_LIMIT_DEFAULT, USAGE_LIMIT_MAX};
pub use edit_file::EDIT_BYTES_MAX;
pub use find_files::{FIND_LIMIT_DEFAULT, FIND_LIMIT_MAX};
pub use glob::{GLOB_LIMIT_DEFAULT, GLOB_LIMIT_MAX};
pub use grep::{GREP_LIMIT_DEFAULT, GREP_LIMIT_MAX, GREP_LINE_BYTES_MAX, GREP_LINE_CHARS_MAX};
pub use hash_files::HASH_PATHS_MAX;
pub use http_fetch::{FETCH_CHARS_DEFAULT, FETCH_CHARS_MAX};
pub use patch::{PATCH_BYTES_MAX, PATCH_FILES_MAX};
pub use read_file::{READ_BYTES_MAX, READ_LINES_DEFAULT};
pub use shell::{CODE_BYTES_MAX, DEADLINE_S_DEFAULT, DEADLINE_S_MAX, TIMEOUT_S_DEFAULT, TIMEOUT_S_MAX};
pub use web_search::SEARCH_RESULTS_DEFAULT;

/// Returns the tools that work on this machine.
pub(crate) fn tools(host: &Host) -> Vec<Arc<dyn Tool>> {
    let mut tools = vec![
        tool(patch::ApplyPatch),
        tool(archive::ArchiveCreate),
        tool(archive::ArchiveList),
        tool(shell::BackgroundTool::new(host)),
        tool(broken_links::BrokenLinks),
        tool(compare_dirs::CompareDirs),
        tool(count_lines::CountLines),
        tool(disk_usage::DiskUsage),
        tool(edit_file::EditFile),
        tool(file_facts::FileFacts),
        tool(find_files::FindFiles::new(host)),
        tool(glob::Glob),
        tool(grep::Grep),
        tool(hash_files::HashFiles),
        tool(http_fetch::HttpFetch::new(host)),
        tool(list_dir::ListDir),
        tool(manifest::ManifestCreate),
        tool(manifest::ManifestVerify),
        tool(read_document::ReadDocument::new(host)),
        tool(read_file::ReadFile),
        tool(rename::RenameFiles),
        tool(rename::RenamePreview),
        tool(shell::RunCode::new(host)),
        tool(shell::Shell::new(host)),
        tool(table::TableSummary),
        tool(task_changes::TaskChanges::new(host)),
        tool(write_file::WriteFile),
    ];
    tools.extend(git_report::GitReport::new(host).map(tool));
    tools.extend(web_search::WebSearch::new(host).map(tool));
    tools.extend(macos::AppleScript::new(host).map(tool));
    tools.extend(macos::Shortcuts::new(host).map(tool));
    tools
}
