//! Names below the working directory that other programs execute or obey on their own, and what makes a folder a Git
//! repository. These are rules, not locations: a list of locations would never be complete.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// Files that agents, editors, builds and services read on their own; lower case.
const NAMES: &[&str] = &[
    "_exrc",
    "_gvimrc",
    "_vimrc",
    "agent.md",
    "agents.md",
    "agents.override.md",
    "ansible.cfg",
    "appveyor.yaml",
    "appveyor.yml",
    "autorun.inf",
    "buildspec.yaml",
    "buildspec.yml",
    "claude.local.md",
    "claude.md",
    "codemagic.yaml",
    "codeowners",
    "compose.override.yaml",
    "compose.override.yml",
    "conventions.md",
    "copilot-instructions.md",
    "crush.json",
    "crush.md",
    "desktop.ini",
    "docker-compose.override.yaml",
    "docker-compose.override.yml",
    "exrc",
    "gemini.md",
    "mise.local.toml",
    "mise.toml",
    "models.toml",
    "netlify.toml",
    "opencode.json",
    "opencode.jsonc",
    "pyvenv.cfg",
    "qwen.md",
    "render.yaml",
    "renovate.json",
    "renovate.json5",
    "rust-toolchain",
    "rust-toolchain.toml",
    "setpoint.toml",
    "sitecustomize.py",
    "skill.md",
    "usercustomize.py",
    "vercel.json",
    "warp.md",
    "wercker.yml",
];

/// Prefixes of such names.
const BEGINNINGS: &[&str] = &["cloudbuild.", "jenkinsfile", "lefthook.", "lefthook-local."];

/// Suffixes of such names.
const ENDS: &[&str] =
    &["-pipelines.yaml", "-pipelines.yml", ".code-workspace", ".crontab", ".desktop", ".pth", "profile.ps1"];

/// Folders whose files take effect by being there.
const FOLDERS: &[&str] = &[
    "autostart",
    "cron.d",
    "dist-packages",
    "launchagents",
    "launchdaemons",
    "profile.d",
    "site-packages",
    "startupitems",
];

/// Names that Git runs in a folder of hooks.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
];

/// The entries of a Git directory; two of them in one folder are enough to take it for one.
const REPOSITORY: &[&str] = &["HEAD", "objects", "refs"];

/// Files that make Git look for a repository elsewhere.
const REDIRECTIONS: &[&str] = &["commondir", "gitdir"];

/// The first bytes of a `.git` file, which points to a repository elsewhere.
pub(crate) const GIT_FILE: &str = "gitdir:";

/// Returns why a file at this path below the working directory needs consent, by its name alone.
pub(crate) fn reason(below: &Path) -> Option<&'static str> {
    let names: Vec<String> = below.components().map(|part| plain(part.as_os_str())).collect();
    if names.iter().any(|name| name.starts_with('.')) {
        return Some("hidden files and folders hold what other programs obey");
    }
    if names.iter().any(|name| FOLDERS.contains(&name.as_str())) {
        return Some("files in that folder take effect by being there");
    }
    let name = names.last()?;
    let is_obeyed = NAMES.contains(&name.as_str())
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDS.iter().any(|end| name.ends_with(end));
    if is_obeyed {
        return Some("other programs read a file of that name by themselves and obey it");
    }
    HOOKS.contains(&name.as_str()).then_some("Git runs a hook of that name by itself")
}

/// Returns why a file at `path` would make `base`, or a folder below it, look like a Git repository. `planned` holds
/// what the same call creates.
pub(super) fn repository<'a>(
    base: &Path,
    path: &Path,
    planned: impl Iterator<Item = &'a Path> + Clone,
) -> Option<&'static str> {
    let mut folder = base.to_path_buf();
    for part in path.strip_prefix(base).ok()?.components() {
        let name = plain(part.as_os_str());
        if name == ".git" || name == "git~1" {
            return Some("Git obeys what is in it");
        }
        let is_there = |other: &&&str| {
            let is_planned =
                |path: &Path| first_below(path, &folder).is_some_and(|name| is_part(&name, other));
            std::fs::symlink_metadata(folder.join(other)).is_ok() || planned.clone().any(is_planned)
        };
        let is_one = REPOSITORY.iter().any(|own| is_part(&name, own));
        let others = REPOSITORY.iter().filter(|other| !is_part(&name, other));
        if REDIRECTIONS.contains(&name.as_str()) || (is_one && { others }.any(|other| is_there(&other))) {
            return Some("it would make the folder a Git repository, whose settings Git obeys");
        }
        folder.push(part);
    }
    None
}

/// Returns whether a folder looks like a Git directory.
pub(super) fn is_repository(folder: &Path) -> bool {
    REPOSITORY.iter().filter(|name| std::fs::symlink_metadata(folder.join(name)).is_ok()).count() > 1
}

/// Returns whether a name is hidden on this or another system.
pub(super) fn is_hidden(name: &OsStr) -> bool {
    plain(name).starts_with('.')
}

fn is_part(name: &str, part: &str) -> bool {
    name.eq_ignore_ascii_case(part)
}

/// Returns the first name of `path` below `folder`.
fn first_below(path: &Path, folder: &Path) -> Option<String> {
    match path.strip_prefix(folder).ok()?.components().next()? {
        Component::Normal(name) => Some(plain(name)),
        _ => None,
    }
}

/// Normalises a name for the least discriminating file systems: lower case, without ignored characters and without
/// trailing dots and spaces.
fn plain(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    let kept = name.chars().filter(|c| !is_passed_over(*c)).flat_map(char::to_lowercase).collect::<String>();
    let trimmed = kept.trim_end_matches(['.', ' ']);
    if trimmed.is_empty() { kept } else { trimmed.to_owned() }
}

/// Returns whether HFS+ ignores the character in names.
fn is_passed_over(c: char) -> bool {
    matches!(u32::from(c), 0x200C..=0x200F | 0x202A..=0x202E | 0x206A..=0x206F | 0xFEFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watched_names_are_recognised_in_every_spelling() {
        for path in [
            ".git",
            "sub/.git/config",
            ".GIT/x",
            "\u{200c}.git/x",
            ".git./x",
            "a/.envrc",
            "AGENTS.md",
            "sub/claude.MD",
            "CLAUDE.md ",
            "skills/deploy/SKILL.md",
            "_vimrc",
            "Jenkinsfile.release",
            "azure-pipelines.yml",
            "deploy/docker-compose.override.yml",
            "opencode.json",
            "x.code-workspace",
            "Library/LaunchAgents/x.plist",
            "hooks/pre-commit",
            "lib/sitecustomize.py",
            "lib/python3/site-packages/sitecustomize/__init__.py",
            "...",
        ] {
            assert!(reason(Path::new(path)).is_some(), "{path}");
        }
        for path in ["git/x", "src/agents.rs", "my.git/x", "docs/hooks.md", "desktop/x", "pre-commit.md"] {
            assert!(reason(Path::new(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn a_repository_is_recognised_by_its_entries() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        std::fs::create_dir_all(base.join("has/objects")).unwrap();
        std::fs::write(base.join("HEAD"), "x").unwrap();
        let makes = |path: &str, planned: &[&str]| {
            let planned: Vec<_> = planned.iter().map(|path| base.join(path)).collect();
            repository(base, &base.join(path), planned.iter().map(|path| path.as_path())).is_some()
        };
        for path in
            ["has/HEAD", "has/refs/heads/main", "refs/x", "objects", "a/commondir", "gitdir", "x/.git"]
        {
            assert!(makes(path, &[]), "{path}");
        }
        assert!(
            makes("new/HEAD", &["new/HEAD", "new/refs/heads/x"]) && makes("new/head", &["new/Objects/x"])
        );
        for path in ["has/objects/x", "new/HEAD", "new/refs/x", "HEADER", "has/head.txt", "sub/x"] {
            assert!(!makes(path, &[]), "{path}");
        }
    }
}
