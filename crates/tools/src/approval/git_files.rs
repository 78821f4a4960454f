//! Files of the working directory that a configuration of Git makes Git run or read as settings.
//!
//! Git runs what `core.fsmonitor`, a filter or a pager names, at a person's next `git status`, runs hooks, which may be
//! links or name scripts, and obeys what `include.path` names. The configuration is read as text, word by word, and not as
//! Git does: a word too many asks once too often.

use std::path::{Path, PathBuf};

use super::named::{self, Meant, Places};
use super::ordinary::Mentioned;
use super::resolve::fully;
use super::starters::named_by;

/// Maximum files that a configuration includes, one by another.
const FILES_MAX: usize = 50;
/// Maximum files of a folder of hooks that are read.
const HOOKS_MAX: usize = 100;

/// The person's own configuration, in the home folder.
const OF_PERSON: &[&str] = &[".gitconfig", ".config/git/config"];
/// Files of a repository's own folder with settings.
const OF_REPOSITORY: &[&str] = &["config", "config.worktree"];

/// Sections that name no file which acts by itself: branches and people, places of repositories, and commands that only a
/// person starts.
const SECTIONS: &[&str] = &["alias", "branch", "maintenance", "safe", "user"];

/// Why a change of such a file asks.
const NAMED: &str = "a configuration or a hook of Git names the file, and Git runs or obeys it";

/// What Git's configurations name, for the repositories around the working directory.
#[derive(Clone, Debug, Default)]
pub(super) struct GitFiles {
    around: Places,
    /// Names that are ordinary otherwise, and that a configuration or a hook mentions.
    mentioned: Mentioned,
    home: PathBuf,
    cwd: PathBuf,
}

impl GitFiles {
    /// Reads the configurations of the person, and of the repositories at and around `cwd`.
    pub(super) fn new(cwd: &Path, home: &Path) -> Self {
        let mut around = Vec::new();
        for name in OF_PERSON {
            read(home.join(name), cwd, home, &mut around);
        }
        for folder in cwd.ancestors() {
            of_repository(folder, home, &mut around);
        }
        let mentioned = Mentioned::by(&around);
        let around = Places::new(around);
        GitFiles { around, mentioned, home: home.to_path_buf(), cwd: cwd.to_path_buf() }
    }

    /// Returns why Git would run or obey what is at `path`, a path without links in the working directory, or `None`.
    pub(super) fn reason(&self, path: &Path) -> Option<&'static str> {
        (self.around.has(path) || Places::new(self.nested(path)).has(path)).then_some(NAMED)
    }

    /// Returns whether Git, or a hook, mentions a file of the name of `path`, in whatever words.
    pub(super) fn mention(&self, path: &Path) -> bool {
        self.mentioned.has(path) || Mentioned::by(&self.nested(path)).has(path)
    }

    fn nested(&self, path: &Path) -> Vec<PathBuf> {
        let mut nested = Vec::new();
        for folder in path.ancestors().skip(1).take_while(|folder| *folder != self.cwd) {
            of_repository(folder, &self.home, &mut nested);
        }
        nested
    }
}

/// Adds what the configuration of the repository at `top` names, if there is one.
fn of_repository(top: &Path, home: &Path, found: &mut Vec<PathBuf>) {
    let at = top.join(".git");
    let Ok(meta) = at.symlink_metadata() else { return };
    let own = if meta.is_file() { pointed(&at) } else { Some(at) };
    let Some(own) = own else { return };
    let common = pointed(&own.join("commondir"));
    for folder in std::iter::once(own).chain(common) {
        hooks(&folder.join("hooks"), top, home, found);
        for name in OF_REPOSITORY {
            read(folder.join(name), top, home, found);
        }
    }
}

/// Returns the folder that a file such as `.git` or `commondir` points to.
fn pointed(file: &Path) -> Option<PathBuf> {
    let text = named::text(file)?;
    let to = text.trim_end();
    Some(file.parent()?.join(to.strip_prefix("gitdir:").unwrap_or(to).trim_start()))
}

/// Adds what a configuration names, and those that it includes. Commands run at `top`.
fn read(config: PathBuf, top: &Path, home: &Path, found: &mut Vec<PathBuf>) {
    let mut pending = vec![config];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(config) = pending.pop() {
        let real = fully(&config);
        if files.len() >= FILES_MAX || files.contains(&real) {
            continue;
        }
        files.push(real);
        let Some(text) = named::text(&config) else { continue };
        let beside = config.parent().unwrap_or(top);
        let mut section = String::new();
        for line in text.lines() {
            let line = line.trim();
            let rest = line.strip_prefix('[').and_then(|line| {
                let (name, rest) = line.split_once(']')?;
                section = name.split([' ', '.']).next().unwrap_or_default().to_ascii_lowercase();
                Some(rest)
            });
            if SECTIONS.contains(&&*section) {
                continue;
            }
            // The value may go on at the next line, which then has a word without a key.
            let (key, value) = rest.unwrap_or(line).split_once('=').unwrap_or(("", rest.unwrap_or(line)));
            let key = key.trim().to_ascii_lowercase();
            let value = value.trim().trim_matches('"').trim_start_matches('!');
            if section.starts_with("include") && key == "path" {
                let included = from(beside, value, home);
                pending.push(included.clone());
                found.push(included);
            } else if key == "attributesfile" {
                found.push(from(top, value, home));
            } else if key == "hookspath" {
                hooks(&from(top, value, home), top, home, found);
            } else if value.contains(|c: char| c == '/' || c == '.' || c.is_whitespace()) {
                // A word alone is a program of `PATH`, or a value (`input`, `main`).
                found.extend(named::places(std::iter::once(value), top));
            }
        }
    }
    // A folder with the whole work in it names no file (`core.worktree`).
    found.retain(|place| !top.starts_with(fully(place)));
}

/// Adds a folder of hooks, and what the hooks lead to and name.
fn hooks(folder: &Path, top: &Path, home: &Path, found: &mut Vec<PathBuf>) {
    found.push(folder.to_path_buf());
    // Husky has Git run `.husky/_/pre-commit`, which runs `.husky/pre-commit`.
    let outer = folder.parent().filter(|_| folder.ends_with("_"));
    let entries = std::iter::once(folder).chain(outer).flat_map(std::fs::read_dir).flatten().flatten();
    let files =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_none_or(|end| end != "sample"));
    let files = files.filter(|path| path.is_file()).take(HOOKS_MAX).map(|path| (Meant::Programs, path));
    found.extend(named_by(files.collect(), top, home));
}

/// Returns the path that a setting names.
fn from(folder: &Path, value: &str, home: &Path) -> PathBuf {
    value.strip_prefix("~/").map_or_else(|| folder.join(value), |below| home.join(below))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Writes files below a folder.
    fn write(base: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            fs::create_dir_all(base.join(name).parent().unwrap()).unwrap();
            fs::write(base.join(name), text).unwrap();
        }
    }

    #[test]
    fn an_ordinary_name_that_a_hook_mentions_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let hook = ("top/.git/hooks/pre-commit", "sh .keep; . ./.editorconfig\n");
        write(&base, &[hook, ("top/sub/.git/hooks/pre-push", "cd x && . '.env.sample'\n")]);
        let git = GitFiles::new(&base.join("top"), &base.join("home"));
        for (name, is_mentioned) in [
            (".keep", true),
            ("x/.editorconfig", true),
            ("sub/.env.sample", true),
            (".env.sample", false),
            (".gitignore", false),
        ] {
            assert_eq!(git.mention(&base.join("top").join(name)), is_mentioned, "{name}");
        }
    }

    #[test]
    fn what_a_configuration_names_asks_and_the_rest_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (top, home) = (base.join("home/dots"), base.join("home"));
        write(
            &base,
            &[
                (
                    "home/.gitconfig",
                    "[include]\n\tpath = ~/dots/mine\n[user]\n\tname = a/b\n[safe]\n\tdirectory = /\n[core]\n\tautocrlf = input",
                ),
                (
                    "home/dots/.git/config",
                    "[core]\n\tworktree = ../\n\thooksPath = ci\n[include]\n\tpath = ../dev.gitconfig\n\
                     [filter \"x\"]\n\tclean = python3 \\\"tools/clean.py\\\" %f\n[alias] go = !sh tools2/go.sh\n\
                     [remote \"origin\"]\n\turl = https://example.org/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                     [branch \"main\"]\n\tmerge = refs/heads/main",
                ),
                ("home/dots/dev.gitconfig", "[core] fsmonitor = watch.sh\n[pager] log = \\\n  bin/show"),
                ("home/dots/tools/clean.py", ""),
                ("home/dots/input", ""),
                ("home/dots/nested/.git", "gitdir: ../own/nested\n"),
                ("home/dots/own/nested/commondir", ".."),
                ("home/dots/own/config", "[diff \"y\"]\n\ttextconv = ./text.pl"),
                ("home/dots/refs/heads/main", ""),
            ],
        );
        let git = GitFiles::new(&top, &home);
        for path in [
            "mine",
            "dev.gitconfig",
            "watch.sh",
            "bin/show",
            "ci",
            "ci/pre-commit",
            "tools/clean.py",
            "tools/json.py",
            "tools",
            "nested/text.pl",
        ] {
            assert!(git.reason(&top.join(path)).is_some(), "{path}");
        }
        for path in
            ["a", "input", "tools2/go.sh", "text.pl", "refs/heads/x", "nested/a", "toolsmith", "b/mine"]
        {
            assert_eq!(git.reason(&top.join(path)), None, "{path}");
        }
        let inner = GitFiles::new(&top.join("tools"), &home);
        assert!(
            inner.reason(&top.join("tools/clean.py")).is_some(),
            "a repository around the directory counts"
        );
        fs::remove_file(top.join(".git/config")).unwrap();
        fs::remove_file(home.join(".gitconfig")).unwrap();
        assert_eq!(GitFiles::new(&top, &home).reason(&top.join("dev.gitconfig")), None);
    }

    #[test]
    fn includes_that_turn_in_a_circle_end() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        write(
            &top,
            &[(".git/config", "[include]\npath = ../a"), ("a", "[include]\npath = a\npath = .git/config")],
        );
        assert!(GitFiles::new(&top, &top.join("home")).reason(&top.join("a")).is_some());
    }
}
