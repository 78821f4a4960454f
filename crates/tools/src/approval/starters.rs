//! Files of the working directory that hidden files make other programs start by themselves: hooks of a commit, what a
//! shell reads that enters the folder, servers and hooks of an agent, tasks of an editor.
//!
//! No format is read. A file is one of these by its name, or by a word in it, and every word of it that is a path of the
//! tree counts, unless it names a document. What acts when somebody builds, starts or pushes is left out, or ordinary sources would ask.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::named::{self, Meant, Places};
use super::ordinary::{self, Mentioned};
use super::outputs;
use super::resolve::fully;
use crate::caches;

/// Maximum files that are read for one folder, scripts that others name among them.
const FILES_MAX: usize = 100;
/// Maximum entries that are looked at for one folder, the upper ones first.
const ENTRIES_MAX: usize = 2_000;
/// Maximum hidden files of one folder that are searched for marks, and bytes of one; settings are short.
const SEARCHED_MAX: usize = 200;
const SEARCHED_BYTES_MAX: u64 = 64 * 1024;
/// Levels of hidden folders in which such files are looked for.
const LEVELS: usize = 2;

/// Beginnings of the names of files that start, or read, what they name; lower case.
const BEGINNINGS: &[&str] = &[
    ".envrc",
    ".exrc",
    ".lefthook",
    ".lintstagedrc",
    ".mise.",
    ".nvim",
    ".overcommit.",
    ".rprofile",
    ".simple-git-hooks",
    "captainhook.json",
    "commitlint.config.",
    "crush.json",
    "devbox.json",
    "devenv.",
    "flake.nix",
    "grumphp.",
    "hk.local.pkl",
    "hk.pkl",
    "lefthook",
    "lint-staged.config.",
    "mise.",
    "opencode.json",
    "prek.toml",
    "shell.nix",
];
/// Those of a shell, which reads further files of any name.
const SHELLS: &[&str] = &[".envrc", ".mise.", ".rprofile", "mise."];
/// Settings of agents and editors, which start helpers, servers, language servers and interpreters; lower case.
const SETTINGS: &[&str] = &[
    ".claude/settings",
    ".codex/config.toml",
    ".cursor/environment.json",
    ".gemini/settings.json",
    ".vscode/mcp.json",
    ".vscode/settings.json",
    ".zed/settings.json",
];
const WORKSPACE: &str = ".code-workspace";
/// Hidden folders whose files are hooks.
const HOOKS: &[&str] = &[".githooks", ".husky", "hooks"];
/// Words of hidden files that start what they name.
const MARKS: &[&str] = &["folderOpen", "hooks", "mcpServers", "mcp_servers"];
/// Beginnings of the names of hidden files and folders that act when somebody builds, starts or pushes, or do not hold settings.
const LATER: &[&str] = &[
    ".buildkite",
    ".cache",
    ".circleci",
    ".devcontainer",
    ".git-",
    ".git/",
    ".gitea",
    ".github",
    ".gitlab",
    ".gradle",
    ".idea",
    ".next",
    ".nuxt",
    ".terraform",
    ".tox",
    ".venv",
    ".woodpecker",
    ".yarn",
];
/// Ends of the names of files that hold text for people and agents.
const PROSE: &[&str] = &[".md", ".mdc", ".txt"];

/// Why a change of such a file asks.
const STARTED: &str =
    "a hook or another hidden file names it, and programs start what that names by themselves";

/// What the hidden files of each folder start. Clones share what was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Starters {
    cwd: PathBuf,
    home: PathBuf,
    read: Arc<Mutex<BTreeMap<PathBuf, Started>>>,
}

/// What the hidden files of one folder start.
#[derive(Clone, Debug)]
struct Started {
    places: Places,
    /// Names that are ordinary otherwise, and that these files or what they start mention.
    mentioned: Mentioned,
}

impl Starters {
    pub(super) fn new(cwd: &Path, home: &Path) -> Self {
        Starters { cwd: cwd.to_path_buf(), home: home.to_path_buf(), read: Arc::default() }
    }

    /// Returns why other programs would start what is at `path`, a path without links in the working directory, or `None`.
    pub(super) fn reason(&self, path: &Path) -> Option<&'static str> {
        let mut folders = path.ancestors().skip(1).filter(|folder| self.counts(folder));
        folders.any(|folder| self.of_folder(folder).places.has(path)).then_some(STARTED)
    }

    /// Returns whether what starts by itself mentions a file of the name of `path`, in whatever words.
    pub(super) fn mention(&self, path: &Path) -> bool {
        let mut folders = path.ancestors().skip(1).filter(|folder| self.counts(folder));
        folders.any(|folder| self.of_folder(folder).mentioned.has(path))
    }

    /// Returns whether hidden files of a folder act on the working directory: it is in there, or around it and no further
    /// up than the repository goes.
    fn counts(&self, folder: &Path) -> bool {
        let top = || self.cwd.ancestors().find(|folder| folder.join(".git").exists());
        folder.starts_with(&self.cwd) || top().is_some_and(|top| folder.starts_with(top) && top != self.home)
    }

    fn of_folder(&self, folder: &Path) -> Started {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = read.get(folder) {
            return started.clone();
        }
        let found = started(folder, &self.home);
        let started = Started { mentioned: Mentioned::by(&found), places: Places::new(found) };
        read.insert(folder.to_path_buf(), started.clone());
        started
    }
}

/// Returns what the hidden files at and below `top` start.
fn started(top: &Path, home: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut seen = 0;
    let mut pending = VecDeque::from([(top.to_path_buf(), 0)]);
    while let Some((folder, level)) = pending.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(below) = path.strip_prefix(top) else { continue };
            seen += 1;
            if seen > ENTRIES_MAX {
                break;
            }
            // They start nothing, and are written without a question: many of them must not use up the limits.
            if ordinary::is_one(below, false) || outputs::is_one(below, |_| true) {
                continue;
            }
            let name = below.to_string_lossy().to_lowercase();
            let is_hidden = name.starts_with('.');
            if LATER.iter().any(|later| name.starts_with(later)) || name == ".git" {
                continue;
            }
            if is_hidden && path.is_dir() {
                if level < LEVELS && !caches::is_tagged(&path) {
                    pending.push_back((path, level + 1));
                }
            } else if is_hidden || begins(&name, BEGINNINGS) || name.ends_with(WORKSPACE) {
                files.push(path);
            }
        }
    }
    let mut searched = 0;
    files.retain(|file| {
        searched += 1;
        is_starter(file, top, searched <= SEARCHED_MAX)
    });
    let meant = |file: &Path| if begins(&name_of(file), SHELLS) { Meant::Files } else { Meant::Programs };
    named_by(files.into_iter().map(|file| (meant(&file), file)).collect(), top, home)
}

/// Returns the files, and what they and the shell scripts among that name. It runs at `top`.
pub(super) fn named_by(mut files: Vec<(Meant, PathBuf)>, top: &Path, home: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = files.iter().map(|(_, file)| file.clone()).collect();
    let mut next = 0;
    while let Some((meant, file)) = files.get(next).filter(|_| next < FILES_MAX).cloned() {
        next += 1;
        for place in named::in_file(&file, top, home, meant) {
            if found.len() >= named::PLACES_MAX {
                break;
            }
            let is_shell = place.extension().is_none_or(|ending| ending == "sh" || ending == "bash");
            let is_new = || !files.iter().any(|(_, other)| *other == place);
            if is_shell && place.starts_with(top) && place.is_file() && is_new() {
                files.push((Meant::Programs, place.clone()));
            }
            found.push(place);
        }
    }
    let mut seen = BTreeSet::new();
    let is_around = |place: &Path| place.is_dir() && top.starts_with(fully(place));
    found.retain(|place| seen.insert(place.clone()) && !is_around(place));
    found
}

fn is_starter(file: &Path, top: &Path, is_searched: bool) -> bool {
    let name = name_of(file);
    let is_settings = || {
        let below = file.strip_prefix(top).unwrap_or(file).to_string_lossy().to_lowercase();
        begins(&below, SETTINGS) || name.ends_with(WORKSPACE)
    };
    let is_hook = || {
        let folder = file.parent().filter(|folder| *folder != top).and_then(Path::file_name);
        folder.is_some_and(|folder| HOOKS.iter().any(|hooks| folder == *hooks))
    };
    if PROSE.iter().any(|end| name.ends_with(end)) {
        return false;
    }
    let is_short = || file.metadata().is_ok_and(|found| found.len() <= SEARCHED_BYTES_MAX);
    let has_mark = || {
        let text = Some(file).filter(|_| is_searched && is_short()).and_then(named::text);
        text.is_some_and(|text| MARKS.iter().any(|mark| text.contains(mark)))
    };
    begins(&name, BEGINNINGS) || is_settings() || is_hook() || has_mark()
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn begins(name: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::super::git_files::GitFiles;
    use super::*;

    /// A project, with files that ask and files that do not.
    struct Project {
        name: &'static str,
        files: &'static [(&'static str, &'static str)],
        asks: &'static str,
        free: &'static str,
    }

    const PROJECTS: &[Project] = &[
        Project {
            name: "a crate",
            files: &[
                (".gitignore", "/target\n"),
                (".cargo/config.toml", "[target.x86_64-unknown-linux-gnu]\nrunner = \"scripts/run.sh\"\n"),
                (".github/workflows/ci.yml", "jobs:\n  test:\n    steps:\n    - run: ./scripts/ci.sh\n"),
                (".git/hooks/pre-push", "#!/bin/sh\nset -e\ncargo fmt --check\ncargo test --workspace\n"),
                ("scripts/ci.sh", "#!/bin/sh\ncargo test\n"),
                ("scripts/run.sh", ""),
                ("src/main.rs", "fn main() {}\n"),
                ("tests/it.rs", ""),
            ],
            asks: "",
            free: "scripts/ci.sh scripts/run.sh scripts/new.sh src/main.rs src/lib.rs tests/it.rs Cargo.toml build.rs",
        },
        Project {
            name: "an application with husky and lint-staged",
            files: &[
                (".git/config", "[core]\n\thooksPath = .husky/_\n"),
                (".husky/_/pre-commit", "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"\n"),
                (".husky/pre-commit", "npx lint-staged\nnode ./scripts/check-env.mjs\n"),
                (".lintstagedrc.json", "{\"*.{js,ts}\": [\"eslint --fix\", \"prettier --write\"]}"),
                (".eslintrc.cjs", "module.exports = { parserOptions: { project: './tsconfig.json' } }"),
                (
                    ".vscode/launch.json",
                    "{\"configurations\": [{\"program\": \"${workspaceFolder}/src/index.js\"}]}",
                ),
                (".vscode/tasks.json", "{\"tasks\": [{\"command\": \"./tools/build.sh\"}]}"),
                ("package.json", "{\"scripts\": {\"test\": \"jest\"}, \"lint-staged\": {}}"),
                ("scripts/check-env.mjs", ""),
                ("src/index.js", "require('./hooks/x')"),
                ("tools/build.sh", ""),
                ("tsconfig.json", "{}"),
            ],
            asks: "scripts/check-env.mjs scripts/new.mjs",
            free: "package.json src/index.js src/hooks/useThing.js tools/build.sh tsconfig.json webpack.config.js tests/a.js",
        },
        Project {
            name: "a package with pre-commit",
            files: &[
                (
                    ".pre-commit-config.yaml",
                    "repos:\n- repo: https://github.com/psf/black\n  hooks:\n  - id: black\n    files: ^src/.*\\.py$\n\
                     - repo: local\n  hooks:\n  - id: own\n    entry: ./tools/check_headers.py\n    exclude: ^docs/conf\\.py$\n",
                ),
                (
                    ".git/hooks/pre-commit",
                    "#!/bin/sh\nexec /usr/bin/python3 -mpre_commit hook-impl --config=.pre-commit-config.yaml\n",
                ),
                (".flake8", "[flake8]\nper-file-ignores = src/pkg/__init__.py:F401\n"),
                (".coveragerc", "[run]\nomit = src/pkg/cli.py\n"),
                ("docs/conf.py", ""),
                ("pyproject.toml", ""),
                ("src/pkg/__init__.py", ""),
                ("src/pkg/cli.py", ""),
                ("tools/check_headers.py", "import json\nopen('src/pkg/cli.py')\n"),
            ],
            asks: "tools/check_headers.py tools/json.py",
            free: "src/pkg/__init__.py src/pkg/cli.py pyproject.toml tests/test_a.py setup.py",
        },
        Project {
            name: "a repository whose workflows call scripts",
            files: &[
                (
                    ".github/workflows/deploy.yml",
                    "on: push\njobs:\n  d:\n    steps:\n    - run: ./scripts/deploy.sh\n# webhooks\n",
                ),
                (".gitlab-ci.yml", "hooks:\n  pre_get_sources_script: scripts/deploy.sh\n"),
                (".circleci/config.yml", "run: bash scripts/deploy.sh # hooks\n"),
                (".devcontainer/devcontainer.json", "{\"postCreateCommand\": \"./scripts/setup.sh\"}"),
                ("scripts/deploy.sh", ""),
                ("scripts/setup.sh", ""),
            ],
            asks: "",
            free: "scripts/deploy.sh scripts/setup.sh scripts/new.sh src/a.go README.md",
        },
        Project {
            name: "a shell that enters the folder, with an agent",
            files: &[
                (
                    ".envrc",
                    "use flake\nsource_env config/env\nPATH_add bin\n[ -f scripts/local.sh ] && . ./scripts/local.sh\n",
                ),
                (
                    ".mcp.json",
                    "{\"mcpServers\": {\"db\": {\"command\": \"python3\", \"args\": [\"mcp/server.py\"]}}}",
                ),
                (
                    ".claude/settings.json",
                    "{\"hooks\": {\"Stop\": [{\"command\": \"\\\"$CLAUDE_PROJECT_DIR\\\"/ci/stop.sh\"}]}}",
                ),
                (".claude/commands/fix.md", "Run the hooks, then change src/app.py.\n"),
                (
                    ".vscode/tasks.json",
                    "{\"tasks\": [{\"command\": \"${workspaceFolder}/tools/open.sh\", \"runOptions\": {\"runOn\": \"folderOpen\"}}]}",
                ),
                (".Rprofile", "source(\"renv/activate.R\")\n"),
                ("ci/stop.sh", "#!/bin/sh\n. lib/common.sh\n"),
                ("config/env", ""),
                ("lib/common.sh", ""),
                ("lib/data.json", ""),
                ("mcp/server.py", ""),
                ("renv/activate.R", ""),
                ("src/app.py", ""),
                ("tools/open.sh", ""),
            ],
            asks: "config/env scripts/local.sh mcp/server.py mcp/json.py ci/stop.sh lib/common.sh tools/open.sh renv/activate.R",
            free: "src/app.py config/other src/new.py data/x.csv README.md",
        },
        Project {
            name: "hooks that are links or run scripts",
            files: &[
                (
                    ".git/hooks/pre-push",
                    "#!/bin/sh\nroot=$(git rev-parse --show-toplevel)\nexec \"$root/push.sh\" \"$@\"\n",
                ),
                (".git/hooks/pre-rebase.sample", "exec ./sample.sh\n"),
                ("link -> .git/hooks/pre-commit", "../../scripts/lint"),
                ("scripts/lint", "#!/bin/sh\n./other/inner.sh\n"),
                ("other/inner.sh", ""),
                ("push.sh", ""),
                ("sample.sh", ""),
            ],
            asks: "scripts/lint other/inner.sh push.sh",
            free: "sample.sh a.sh scripts/other src/main.c Makefile",
        },
        Project {
            name: "a hook that runs files of any name, there or not",
            files: &[
                (
                    ".git/hooks/pre-commit",
                    "#!/bin/sh\n. ./envfile\nbash conf/x && bash notes.txt\n[ -f ci/local ] && . ci/local\nnode scripts/check\n\
                     node ./lint\n./run.txt\npython3 -m checks.run\npython3 -c \"import mylib.hook\"\npython3 tools --all\nmake -f ci.mk lint\n",
                ),
                ("conf/x", ". ./inner/env\n"),
                ("run.txt", "#!/bin/sh\n"),
                ("scripts/check.js", ""),
                ("lint/index.js", ""),
                ("checks/run.py", ""),
                ("mylib/hook.py", ""),
                ("tools/__main__.py", ""),
                ("ci.mk", ""),
                ("inner/env", ""),
            ],
            asks: "envfile conf/x notes.txt run.txt ci/local inner/env scripts/check.js scripts/check.cjs lint/index.js lint/x.js checks/run.py \
                   checks.py mylib/hook.py mylib/__init__.py tools/__main__.py tools/json.py ci.mk",
            free: "conf/y ci/other src/a.js README.md new.py Makefile inner/other",
        },
        Project {
            name: "a hook that looks at documents and sources",
            files: &[
                (
                    ".git/hooks/pre-commit",
                    "#!/bin/sh\nset -e\ngrep -q TODO README.md docs/guide.md LICENSE && exit 1\neslint src --ext .js,.ts\nmypy src/pkg\n\
                     npm run lint\nnpx tsc -p web/tsconfig.json\nruff check . tests\ngo vet ./...\ngit diff --exit-code go.mod origin/main\n\
                     cargo fmt --check\npython3 -m pytest tests/unit\nls src/*.js assets/*.css\ngit commit --amend -m 'docs'\n",
                ),
                ("README.md", ""),
                ("docs/guide.md", ""),
                ("LICENSE", ""),
                ("go.mod", ""),
                ("lint/index.js", ""),
                ("src/index.js", ""),
                ("src/pkg/__init__.py", ""),
                ("tests/__init__.py", ""),
                ("tests/unit/__init__.py", ""),
                ("web/tsconfig.json", ""),
            ],
            asks: "",
            free: "README.md docs/guide.md docs/new.md LICENSE go.mod lint/index.js src/index.js src/pkg/__init__.py src/pkg/new.py \
                   tests/__init__.py tests/test_a.py tests/unit/__init__.py tests/unit/test_b.py web/tsconfig.json web/a.ts \
                   assets/a.css src/new.js Makefile package.json",
        },
        Project {
            name: "a shell that adds folders to PATH",
            files: &[
                (
                    ".envrc",
                    "PATH_add bin\nexport PATH=$PWD/bin2:$PATH\nexport PYTHONPATH=$PWD/src\nsource lib/e1\nsource_env_if_exists local\n",
                ),
                ("mise.toml", "[env]\n_.path = [\"mbin\"]\n"),
                ("bin2/tool", "#!/bin/sh\n"),
                ("src/a.py", ""),
            ],
            asks: "bin/ls bin2/ls bin2/tool lib/e1 local mbin/ls",
            free: "src/a.py src/json.py lib/e2 bin3/ls README.md",
        },
        Project {
            name: "settings of agents and editors",
            files: &[
                (
                    ".claude/settings.json",
                    "{\"statusLine\": {\"command\": \"cl/s\"}, \"apiKeyHelper\": \"cl2/k.sh\", \"permissions\": {\"allow\": [\"Edit(src/**)\"]}}",
                ),
                (
                    ".vscode/mcp.json",
                    "{\"servers\": {\"x\": {\n\"command\": \"node\",\n\"args\": [\"./vs\"]}}}",
                ),
                (
                    ".vscode/settings.json",
                    "{\"python.defaultInterpreterPath\": \"${workspaceFolder}/env/bin/python\", \"files.exclude\": {\"**/out\": true}, \
                     \"eslint.workingDirectories\": [\"./client\"], \"python.analysis.extraPaths\": [\"./src\"]}",
                ),
                (".codex/config.toml", "notify = [\"python3\", \"cx/n.py\"]\n"),
                ("opencode.json", "{\"mcp\": {\"a\": {\"command\": [\"python3\", \"oc/s.py\"]}}}"),
                ("crush.json", "{\"mcp\": {\"a\": {\"command\": \"cr/s.py\"}}}"),
                (
                    "commitlint.config.js",
                    "import own from './cm/own.js'; export default { extends: ['@commitlint/config-conventional'] }",
                ),
                (
                    "a.code-workspace",
                    "{\"folders\": [{\"path\": \"client\"}], \"tasks\": {\"tasks\": [{\"command\": \"./cw/t\", \"runOn\": \"folderOpen\"}]}}",
                ),
                ("b.code-workspace", "{\"settings\": {\"python.defaultInterpreterPath\": \"py/python\"}}"),
                ("client/index.js", ""),
                ("cl/s", "#!/bin/sh\n"),
                ("vs/index.js", ""),
                ("cr/s.py", ""),
                ("src/index.js", ""),
            ],
            asks: "cl/s cl/new cl2/k.sh vs/index.js vs/x.js env/bin/python cx/n.py oc/s.py cr/s.py cr/json.py cw/t cm/own.js py/python",
            free: "client/index.js client/a.js src/index.js src/a.py out/x README.md cw/other",
        },
    ];

    #[test]
    fn what_starts_by_itself_makes_an_ordinary_name_ask() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join(".husky")).unwrap();
        fs::write(top.join(".husky/pre-commit"), "cd sub && sh '.keep'\n. tools.sh\n").unwrap();
        fs::write(top.join("tools.sh"), ". ./.editorconfig\n").unwrap();
        let server = "{\"mcpServers\": {\"x\": {\"command\": \"sh\", \"args\": [\"./.env.sample\"]}}}";
        fs::write(top.join(".mcp.json"), server).unwrap();
        let starters = Starters::new(&top, &top.join("home"));
        for name in [".keep", "sub/.keep", ".editorconfig", ".env.sample"] {
            assert!(starters.mention(&top.join(name)), "{name}");
        }
        for name in [".gitignore", ".env.example", "sub/.gitkeep"] {
            assert!(!starters.mention(&top.join(name)), "{name}");
        }
    }

    #[test]
    fn ordinary_hidden_files_do_not_use_up_the_limits() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join(".husky")).unwrap();
        fs::create_dir_all(top.join("ci")).unwrap();
        fs::write(top.join(".husky/pre-commit"), "sh ci/check.sh\n").unwrap();
        fs::write(top.join("ci/check.sh"), "node scripts/x.js\n").unwrap();
        let mut text = "hooks\n".to_owned();
        for n in 0..FILES_MAX {
            fs::write(top.join(format!("{n}.sh")), "").unwrap();
            text.push_str(&format!("./{n}.sh\n"));
        }
        fs::write(top.join(".gitignore"), text).unwrap();
        let starters = Starters::new(&top, &top.join("home"));
        assert!(starters.reason(&top.join("scripts/x.js")).is_some());
        assert_eq!(starters.reason(&top.join("1.sh")), None);
    }

    #[test]
    fn what_hidden_files_start_asks_and_ordinary_files_do_not() {
        for project in PROJECTS {
            let folder = tempfile::tempdir().unwrap();
            let base = folder.path().canonicalize().unwrap();
            let (top, home) = (base.join("work"), base.join("home"));
            for (name, text) in project.files {
                let link = name.strip_prefix("link -> ");
                let path = top.join(link.unwrap_or(name));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                if link.is_some() {
                    symlink(text, path).unwrap();
                    continue;
                }
                fs::write(&path, text).unwrap();
                let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
            let (git, starters) = (GitFiles::new(&top, &home), Starters::new(&top, &home));
            let asks = |name: &str| {
                let path = top.join(name);
                git.reason(&path).or_else(|| starters.reason(&path)).is_some()
            };
            for name in project.asks.split_whitespace() {
                assert!(asks(name), "{}: {name}", project.name);
            }
            for name in project.free.split_whitespace() {
                assert!(!asks(name), "{}: {name}", project.name);
            }
        }
    }
}
