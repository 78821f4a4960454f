//! Names below the working directory that other programs execute or obey on their own, and what makes a folder a Git
//! repository. These are rules, not locations: a list of locations would never be complete.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// Files that agents, editors, commit hooks, shells, remote environments and services read on their own; lower case.
///
/// Hidden ones need no entry, since every hidden name counts ([`reason`]) that [`super::ordinary`] does not list. Left out is what acts only when somebody
/// builds, tests, starts or deploys the project (`Makefile`, `package.json`, `Procfile`, `Tiltfile`, `Vagrantfile`,
/// `Dockerfile`, `default.nix`), and what nothing reads at this place (`devcontainer.json` outside `.devcontainer`):
/// people who are asked about everything say yes to everything.
const NAMES: &[&str] = &[
    "_exrc",
    "_gvimrc",
    "_vimrc",
    "activate",
    "activate.bat",
    "activate.csh",
    "activate.fish",
    "activate.nu",
    "activate.ps1",
    "activate_this.py",
    "agent.md",
    "agents.md",
    "agents.override.md",
    "amplify.yml",
    "ansible.cfg",
    "appspec.yaml",
    "appspec.yml",
    "appveyor.yaml",
    "appveyor.yml",
    "atlantis.yaml",
    "autorun.inf",
    "bitrise.yml",
    "buddy.yml",
    "buildspec.yaml",
    "buildspec.yml",
    "captainhook.json",
    "claude.local.md",
    "claude.md",
    "codebuddy.md",
    "codefresh.yml",
    "codemagic.yaml",
    "codeowners",
    "compose.override.yaml",
    "compose.override.yml",
    "conventions.md",
    "copilot-instructions.md",
    "crush.json",
    "crush.md",
    "desktop.ini",
    "devfile.yaml",
    "devfile.yml",
    "docker-compose.override.yaml",
    "docker-compose.override.yml",
    "exrc",
    "flake.lock",
    "flake.nix",
    "gemini.md",
    "grumphp.yaml",
    "grumphp.yml",
    "hk.local.pkl",
    "hk.pkl",
    "iflow.md",
    "models.toml",
    "netlify.toml",
    "nuget.config",
    "opencode.json",
    "opencode.jsonc",
    "pip.conf",
    "pip.ini",
    "prek.toml",
    "pyvenv.cfg",
    "qwen.md",
    "render.yaml",
    "renovate.json",
    "renovate.json5",
    "replit.md",
    "replit.nix",
    "rust-toolchain",
    "rust-toolchain.toml",
    "screwdriver.yaml",
    "setpoint.toml",
    "shell.nix",
    "skill.md",
    "vercel.json",
    "warp.md",
    "wercker.yml",
];

/// Prefixes of such names.
const BEGINNINGS: &[&str] = &[
    "cloudbuild.",
    "commitlint.config.",
    "devbox.",
    "devenv.",
    "jenkinsfile",
    "lefthook-local.",
    "lefthook.",
    "lint-staged.config.",
    "mise.",
    "sitecustomize.",
    "usercustomize.",
];

/// Suffixes of such names.
const ENDS: &[&str] = &[
    "-pipelines.yaml",
    "-pipelines.yml",
    ".code-workspace",
    ".crontab",
    ".desktop",
    ".pth",
    ".sublime-project",
    "profile.ps1",
];

/// Folders whose files take effect by being there.
const FOLDERS: &[&str] = &[
    "autostart",
    "cron.d",
    "dist-packages",
    "launchagents",
    "launchdaemons",
    "profile.d",
    "site-packages",
    "sitecustomize",
    "startupitems",
    "usercustomize",
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
    reason_unless(below, false)
}

/// Like [`reason`], where a hidden name may be ordinary ([`super::ordinary`]).
pub(super) fn reason_unless(below: &Path, is_ordinary: bool) -> Option<&'static str> {
    let names: Vec<String> = below.components().map(|part| plain(part.as_os_str())).collect();
    if !is_ordinary && names.iter().any(|name| name.starts_with('.')) {
        return Some("hidden files and folders hold what other programs obey");
    }
    // `mise` reads `mise/config.toml` and `mise/conf.d/*.toml` as it reads `mise.toml`.
    let is_of_mise = |pair: &[String]| matches!(pair, [folder, name] if folder == "mise" && (name == "conf.d" || name.starts_with("config")));
    if names.iter().any(|name| FOLDERS.contains(&name.as_str())) || names.windows(2).any(is_of_mise) {
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
        if is_repository(&folder) && folder != base {
            return Some("it is in a Git repository's own folder");
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
    fn what_acts_by_itself_asks_and_what_somebody_starts_does_not() {
        let asks = [
            // Editors.
            ".vscode/tasks.json .vscode/settings.json .idea/workspace.xml .nvim.lua .exrc .vim/x.vim .dir-locals.el",
            ".zed/settings.json x.sublime-project app.code-workspace",
            // Git and what runs at a commit.
            ".gitattributes .gitmodules .husky/pre-commit .pre-commit-config.yaml lefthook.yml .lefthook/pre-push/x",
            "captainhook.json grumphp.yml hk.pkl prek.toml lint-staged.config.mjs web/commitlint.config.js .lintstagedrc",
            // What a shell obeys that enters the folder.
            ".envrc .mise.toml mise.toml mise.local.toml mise.production.toml .tool-versions flake.nix shell.nix",
            "devenv.nix devenv.local.yaml devenv.lock devbox.json devbox.lock flake.lock mise/config.toml",
            "mise/conf.d/a.toml sub/mise/config.local.toml venv/bin/activate venv/bin/activate.fish",
            // Python, as it starts.
            "sitecustomize.so usercustomize/__init__.py",
            // Services.
            ".github/workflows/ci.yml .gitlab-ci.yml .circleci/config.yml Jenkinsfile .travis.yml azure-pipelines.yml",
            ".drone.yml .woodpecker/x.yml bitbucket-pipelines.yml amplify.yml appspec.yml atlantis.yaml bitrise.yml",
            "buddy.yml codefresh.yml screwdriver.yaml",
            // Where packages come from.
            ".npmrc .yarnrc.yml .cargo/config.toml .pypirc venv/pip.conf pip.ini src/NuGet.Config",
            // Agents.
            ".mcp.json .claude/settings.json .cursor/rules/x.mdc AGENTS.md GEMINI.md IFLOW.md replit.md",
            // Remote environments.
            ".devcontainer/devcontainer.json .devcontainer.json .gitpod.yml .replit replit.nix devfile.yaml",
        ];
        let does_not = [
            "Makefile package.json build.rs conftest.py Dockerfile compose.yaml Procfile Tiltfile Vagrantfile Justfile",
            "devcontainer.json default.nix eslint.config.js vite.config.ts tsconfig.json pyproject.toml Cargo.toml",
            "CMakeLists.txt build.gradle app.yaml heroku.yml railway.toml main.tf mcp.json bunfig.toml deno.json misery.toml mise-tasks/a",
            "mise/a.rs src/activate.ts activate.py hk.json",
        ];
        for path in asks.iter().flat_map(|line| line.split(' ')) {
            assert!(reason(Path::new(path)).is_some(), "{path}");
        }
        for path in does_not.iter().flat_map(|line| line.split(' ')) {
            assert!(reason(Path::new(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn a_repository_is_recognised_by_its_entries() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        for folder in ["has/objects", "own/objects", "own/refs"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        std::fs::write(base.join("HEAD"), "x").unwrap();
        let makes = |path: &str, planned: &[&str]| {
            let planned: Vec<_> = planned.iter().map(|path| base.join(path)).collect();
            repository(base, &base.join(path), planned.iter().map(|path| path.as_path())).is_some()
        };
        for path in [
            "has/HEAD",
            "has/refs/heads/main",
            "refs/x",
            "objects",
            "a/commondir",
            "gitdir",
            "x/.git",
            "own/new",
        ] {
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
