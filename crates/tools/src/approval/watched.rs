//! Places where a new file is more than a new file: some other program will act on it by itself.

use std::path::Path;

/// Files that shells, editors and tools read by themselves when they start.
const START_FILES: &[&str] = &[
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".envrc",
    ".gitconfig",
    ".inputrc",
    ".kshrc",
    ".netrc",
    ".npmrc",
    ".pam_environment",
    ".profile",
    ".pypirc",
    ".tcshrc",
    ".vimrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// Folders whose files are hooks, keys or settings that take effect by being there.
const FOLDERS: &[&[&str]] = &[
    &[".config", "autostart"],
    &[".config", "systemd"],
    &[".git"],
    &[".github", "workflows"],
    &[".gnupg"],
    &[".idea"],
    &[".ssh"],
    &[".vscode"],
    &["Library", "LaunchAgents"],
    &["Library", "LaunchDaemons"],
    &["etc", "cron.d"],
    &["etc", "profile.d"],
    &["etc", "systemd"],
    &["spool", "cron"],
];

/// Why creating this file needs consent although creating does not.
pub(super) fn reason(path: &Path) -> Option<&'static str> {
    let names: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    if names.last().is_some_and(|name| START_FILES.contains(&name.as_ref())) {
        return Some("a program reads it by itself when it starts");
    }
    let folders = names.split_last().map(|(_, folders)| folders).unwrap_or_default();
    let is_watched = FOLDERS.iter().any(|watched| {
        folders.windows(watched.len()).any(|part| part.iter().zip(*watched).all(|(name, want)| name == want))
    });
    is_watched.then_some("files in that folder take effect by being there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_act_by_being_there_are_watched() {
        for path in [
            "/h/.bashrc",
            "/p/.git/hooks/pre-commit",
            "/p/.git/config",
            "/h/.ssh/authorized_keys",
            "/p/.envrc",
        ] {
            assert!(reason(Path::new(path)).is_some(), "{path}");
        }
        for path in [
            "/h/bashrc",
            "/p/.gitignore",
            "/p/git/x",
            "/p/src/.config/x",
            "/p/config/systemd/x",
            "/p/report.md",
        ] {
            assert!(reason(Path::new(path)).is_none(), "{path}");
        }
    }
}
