//! Creating files: those that take effect by existing need consent, ordinary files do not.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use setpoint_protocol::tool::ErrorKind;
use setpoint_tools::{Host, Registry};

use crate::support::{World, output};

/// Files that take effect by existing, in the home directory.
const HOME: [&str; 79] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".inputrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".pam_environment",
    ".selected_editor",
    ".vimrc",
    ".vim/plugin/x.vim",
    ".emacs",
    ".emacs.d/init.el",
    ".nanorc",
    ".gitconfig",
    ".gitignore",
    ".editorconfig",
    ".prettierignore",
    ".env.example",
    ".git-templates/hooks/post-checkout",
    ".netrc",
    ".npmrc",
    ".yarnrc",
    ".pypirc",
    ".pythonrc.py",
    ".pdbrc",
    ".irbrc",
    ".gemrc",
    ".Rprofile",
    ".cargo/config.toml",
    ".cargo/bin/ls",
    ".m2/settings.xml",
    ".gradle/init.gradle",
    ".docker/config.json",
    ".kube/config",
    ".aws/credentials",
    ".ssh/authorized_keys",
    ".ssh/config",
    ".ssh/rc",
    ".gnupg/gpg.conf",
    ".tmux.conf",
    ".screenrc",
    ".gdbinit",
    ".lldbinit",
    ".psqlrc",
    ".sqliterc",
    ".wgetrc",
    ".curlrc",
    ".direnvrc",
    ".claude/settings.json",
    ".codex/config.toml",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".vscode/extensions/x/package.json",
    ".config/autostart/x.desktop",
    ".config/systemd/user/x.service",
    ".config/git/config",
    ".config/fish/config.fish",
    ".config/pip/pip.conf",
    ".config/environment.d/x.conf",
    ".config/nvim/init.lua",
    ".config/setpoint/setpoint.toml",
    ".local/bin/ls",
    ".local/share/applications/x.desktop",
    ".local/share/systemd/user/x.timer",
    ".local/lib/python3.12/site-packages/x.pth",
    "bin/ls",
    "Desktop/x.desktop",
    "Library/LaunchAgents/x.plist",
    "Documents/PowerShell/Microsoft.PowerShell_profile.ps1",
    "AGENTS.md",
];

/// Files that take effect by existing, in a project.
const PROJECT: [&str; 103] = [
    ".git",
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/info/attributes",
    ".GIT/config",
    "sub/.git/config",
    "vendor/x/.git",
    ".gitmodules",
    ".gitattributes",
    "sub/.gitattributes",
    ".envrc",
    "sub/.envrc",
    ".env",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    ".circleci/config.yml",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "appveyor.yml",
    "cloudbuild.yaml",
    "buildspec.yml",
    "Jenkinsfile",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    "x.code-workspace",
    ".nvim.lua",
    ".exrc",
    ".dir-locals.el",
    "AGENTS.md",
    "sub/CLAUDE.md",
    "GEMINI.md",
    ".cursorrules",
    ".claude/settings.json",
    ".husky/pre-commit",
    "lefthook.yml",
    ".pre-commit-config.yaml",
    "hooks/post-merge",
    ".npmrc",
    ".cargo/config.toml",
    "rust-toolchain.toml",
    "rust-toolchain",
    "sitecustomize.py",
    "lib/x.pth",
    "mise.toml",
    "renovate.json",
    "CODEOWNERS",
    "setpoint.toml",
    ".GITIGNORE",
    ".gitignore.",
    ".gitignore/x",
    ".github/.gitignore",
    ".git/.gitkeep",
    "sub/.husky/.gitignore",
    ".config/.editorconfig",
    ".cursorignore",
    ".aiderignore",
    ".ignore",
    ".git-blame-ignore-revs",
    ".env.local",
    ".env.production",
    ".env.schema",
    ".tool-versions",
    ".sdkmanrc",
    ".nvmrc",
    ".node-version",
    ".python-version",
    ".ruby-version",
    ".prettierrc",
    ".prettierrc.json",
    ".prettierrc.js",
    ".prettierrc.toml",
    ".prettierrc.yaml",
    ".eslintrc",
    ".eslintrc.json",
    "packages/a/.eslintrc.js",
    ".babelrc",
    ".swcrc",
    ".stylelintrc",
    ".stylelintrc.json",
    ".storybook/main.js",
    ".lintstagedrc",
    ".flake8",
    ".coveragerc",
    ".pylintrc",
    ".mypy.ini",
    ".bandit",
    ".golangci.yml",
    ".goreleaser.yaml",
    ".rubocop.yml",
    ".vale.ini",
    ".markdownlint.cjs",
    ".markdownlint.yaml",
    ".markdownlint-cli2.jsonc",
    ".clang-tidy",
    ".clangd",
    ".well-known/assetlinks.json",
    ".cache/x",
    "docs/.nav.yml",
    ".hidden",
    "site-packages/.gitignore",
];

/// Files outside the working directory and the workspace.
const OUTSIDE: [&str; 14] = [
    "../x",
    "../other/x.txt",
    "../project2/src/main.rs",
    "../space2/x",
    "~/notes.txt",
    "~/public_html/index.html",
    "/etc/cron.d/setpoint-test",
    "/etc/profile.d/setpoint-test.sh",
    "/etc/systemd/system/setpoint-test.service",
    "/etc/ld.so.preload-setpoint-test",
    "/usr/local/bin/setpoint-test",
    "/var/spool/cron/crontabs/setpoint-test",
    "/dev/shm/setpoint-test",
    "/setpoint-test",
];

/// Files that people create every day.
const ORDINARY: [&str; 67] = [
    "src/new.rs",
    "src/main.py",
    "src/deep/er/x.ts",
    "docs/x.md",
    "docs/README.md",
    "docs/agents.txt",
    "data/out.csv",
    "data/a b/ü.json",
    "sub/Makefile",
    "sub/Cargo.toml",
    "sub/package.json",
    "sub/build.rs",
    "sub/setup.py",
    "sub/conftest.py",
    "sub/Dockerfile",
    "sub/compose.yaml",
    "sub/requirements.txt",
    "sub/tsconfig.json",
    "sub/go.mod",
    "sub/index.html",
    "sub/style.css",
    "sub/LICENSE",
    "sub/CHANGELOG.md",
    "scripts/run.sh",
    "scripts/git-report.py",
    "tests/test_x.py",
    "tests/git.rs",
    "reports/2026-01.md",
    "images/x.svg",
    "migrations/001.sql",
    "config/settings.toml",
    "config/systemd.md",
    "bin/tool",
    "hooks/use-thing.ts",
    "objects/ball.obj",
    "data/refs/bibliography.bib",
    "notes/HEAD",
    "a.b.c/d.e",
    "x/profile.yaml",
    "x/desktop.txt",
    "x/pipelines.yml",
    "x/renovate.md",
    "git/config",
    "ssh/authorized_keys.txt",
    ".gitignore",
    "sub/.gitignore",
    ".containerignore",
    ".dockerignore",
    ".eslintignore",
    ".helmignore",
    ".markdownlintignore",
    ".npmignore",
    ".prettierignore",
    ".stylelintignore",
    "packages/a/.gitkeep",
    "log/.keep",
    ".editorconfig",
    ".env.example",
    ".env.sample",
    ".env.template",
    ".clang-format",
    ".markdownlint.json",
    ".markdownlint.jsonc",
    ".yamllint",
    ".yamllint.yaml",
    ".yamllint.yml",
    "public/.well-known/security.txt",
];

fn world(cwd: &'static str) -> World {
    let mut world = World::new();
    world.cwd = cwd;
    let path =
        std::env::join_paths([world.root().join("home/bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
    world.registry = Registry::built_in(&Host::new("linux", [("PATH".into(), path)]));
    world
}

/// A person who works in the project runs what is there by its name.
#[tokio::test]
async fn files_in_a_relative_folder_of_path_ask() {
    let mut world = World::new();
    let cases = [("./bin", "bin/x"), ("b", "b/x"), (".", "x"), ("", "x"), ("../project/c", "c/x")];
    for (n, (entry, file)) in cases.into_iter().enumerate() {
        let path = format!("{entry}:/usr/bin:/bin");
        world.registry = Registry::built_in(&Host::new("linux", [("PATH".into(), path.into())]));
        let write = |name: &str| json!({"path": world.at(name), "content": "x"});
        asks(&world, "write_file", &write(file)).await;
        let answer = world.run("write_file", write(&format!("d{n}/x"))).await;
        assert!(answer.ok, "{entry}: {}", answer.text);
    }
}

fn state(world: &World) -> String {
    output(&world.root(), "find . -printf '%p %y %s\\n' | sort")
}

/// Returns every call that would create a file there. `from` is a file beside it that the task created.
fn calls(place: &str, from: Option<&str>) -> Vec<(&'static str, Value)> {
    let (folder, name) = place.rsplit_once('/').unwrap_or((".", place));
    let at = |name: &str| format!("{folder}/{name}");
    let mut calls = vec![
        // A bare name would refer to the workspace.
        ("write_file", json!({"path": format!("$CWD/{place}"), "content": "x"})),
        ("write_file", json!({"path": format!("$CWD/x/../{place}"), "content": "x"})),
        ("manifest_create", json!({"root": ".", "manifest": format!("$CWD/{place}")})),
    ];
    if let Some(from) = from {
        calls.push(("rename_files", json!({"dir": at(""), "find": from, "replace": name})));
    }
    calls
}

async fn asks(world: &World, tool: &str, input: &Value) {
    let answer = world.run(tool, input.clone()).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::ApprovalRequired), "{tool} {input}: {}", answer.text);
    let need = answer.approval.unwrap();
    assert!(need.reason.starts_with("it would c"), "{}", need.reason);
}

/// Fills in the working directory's path.
fn here(input: Value, world: &World) -> Value {
    let cwd = world.root().join(world.cwd);
    serde_json::from_str(&input.to_string().replace("$CWD", cwd.to_str().unwrap())).unwrap()
}

#[tokio::test]
async fn self_acting_files_need_consent() {
    let mut tried = 0;
    for (cwd, places) in [("home", &HOME[..]), ("project", &PROJECT[..])] {
        let mut world = world(cwd);
        for place in places {
            let path = world.root().join(cwd).join(place);
            let folder = path.parent().unwrap();
            std::fs::create_dir_all(folder).unwrap();
            std::fs::create_dir_all(world.root().join(cwd).join("x")).unwrap();
            let from = folder.join("unnamed");
            std::fs::write(&from, "x").unwrap();
            world.created.insert(from.clone());
            let before = state(&world);
            for (tool, input) in calls(place, Some("unnamed")) {
                asks(&world, tool, &here(input, &world)).await;
            }
            assert_eq!(state(&world), before, "{place}");
            std::fs::remove_file(from).unwrap();
            tried += 1;
        }
    }
    let world = world("project");
    for place in OUTSIDE {
        let before = state(&world);
        for tool in ["write_file", "manifest_create", "archive_create"] {
            let input = match tool {
                "write_file" => json!({"path": place, "content": "x"}),
                "manifest_create" => json!({"root": ".", "manifest": place}),
                _ => json!({"source": ".", "archive": format!("{place}.tar")}),
            };
            asks(&world, tool, &input).await;
        }
        assert_eq!(state(&world), before, "{place}");
        if place.starts_with('/') {
            assert!(!Path::new(place).exists());
        }
        tried += 1;
    }
    assert!(tried >= 180, "{tried}");
}

#[tokio::test]
async fn ordinary_files_need_no_consent() {
    let world = world("project");
    for place in ORDINARY {
        let input = here(json!({"path": format!("$CWD/{place}"), "content": "x"}), &world);
        let answer = world.run("write_file", input).await;
        assert!(answer.ok, "{place}: {}", answer.text);
    }
    let mut world = world;
    world.created.insert(world.at("src/new.rs"));
    let input = json!({"dir": "src", "find": "new.rs", "replace": "newer.rs"});
    assert!(world.run("rename_files", input).await.ok);
    assert!(world.run("manifest_create", json!({"root": ".", "manifest": "SHA256SUMS"})).await.ok);
    assert!(world.run("archive_create", json!({"source": "src", "archive": "src.tgz"})).await.ok);
}

/// Names of settings that may name code, with a content that does not, and one that does.
const JUDGED: [(&str, &str, &str); 7] = [
    (".nvmrc", "v20.1.0\n", "/srv/x\n"),
    ("sub/.node-version", "lts/iron\n", "../../x\n"),
    (".python-version", "3.12\n", "venv/bin/python3\n"),
    (".python-version", "3\n", "venv\n"),
    (".ruby-version", "3.3.0\n", "path:/srv/x\n"),
    (".prettierrc", "{\"semi\": false}\n", "{\"plugins\": [\"./x.js\"]}\n"),
    ("sub/.prettierrc.json", "{}\n", "\"./x.js\"\n"),
];

#[tokio::test]
async fn settings_that_may_name_code_are_judged_by_their_content() {
    for (place, plain, other) in JUDGED {
        let world = world("project");
        let write = |content: &str| json!({"path": world.at(place), "content": content, "overwrite": true});
        asks(&world, "write_file", &write(other)).await;
        let answer = world.run("write_file", write(plain)).await;
        assert!(answer.ok, "{place}: {}", answer.text);

        let mut world = self::world("project").keeping();
        world.file(place, plain);
        let edit = |from: &str, to: &str| json!({"path": place, "find": from, "replace": to});
        let patch = |to: &str| {
            let from = plain.trim_end();
            json!({"patch": format!("--- a/{place}\n+++ b/{place}\n@@ -1 +1 @@\n-{from}\n+{}\n", to.trim_end())})
        };
        asks(&world, "edit_file", &edit(plain, other)).await;
        asks(&world, "apply_patch", &patch(other)).await;
        // What a rename brings was not looked at.
        world.file("unnamed", plain);
        asks(&world, "rename_files", &json!({"dir": ".", "find": "unnamed", "replace": ".tool-versions"}))
            .await;
        let answer = world.run("edit_file", edit(plain, &format!("{plain}{plain}"))).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::ApprovalRequired), "{place}: {}", answer.text);
        let answer = world.run("edit_file", edit("\n", "")).await;
        assert!(answer.ok, "{place}: {}", answer.text);
        // The task's own file: the first content was harmless, this one is not.
        world.created.insert(world.at(place));
        asks(&world, "edit_file", &edit(plain.trim_end(), other)).await;
        assert_eq!(std::fs::read_to_string(world.at(place)).unwrap(), plain.trim_end());
    }
}

#[tokio::test]
async fn ordinary_hidden_files_of_a_project_below_home_are_free() {
    let world = world("home");
    let answer = world.run("write_file", json!({"path": "work/.gitignore", "content": "x"})).await;
    assert!(answer.ok, "{}", answer.text);
}

#[tokio::test]
async fn ordinary_hidden_files_of_a_command_need_no_consent() {
    let Some(world) = crate::sandbox::world() else { return };
    let mut world = world.keeping();
    world.probe = false;
    world.file("old/.nvmrc", "18\n");
    for command in [
        "echo dist >> .npmignore && touch .gitkeep && printf 'root = true\\n' > .editorconfig",
        "mkdir -p public/.well-known && echo x > public/.well-known/security.txt",
        "echo 20 > .nvmrc; printf '{\"semi\": false}' > .prettierrc",
        "sed -i s/18/20/ old/.nvmrc",
    ] {
        let answer = world.run("shell", json!({"command": command})).await;
        assert!(answer.ok, "{command}: {}", answer.text);
    }
    assert_eq!(std::fs::read_to_string(world.at("old/.nvmrc")).unwrap(), "20\n");
    let project = || output(&world.at("."), "find . -printf '%p %y %s\\n' | sort");
    let before = project();
    for command in [
        "echo ./x > .nvmrc",
        "echo 20 > x; ln -s x .python-version",
        "mkdir .node-version",
        "echo 'plugins: [./x.js]' > .prettierrc",
        "mkdir -p .gitignored && touch .gitignored/.keep",
        "echo x > .tool-versions",
    ] {
        let answer = world.run("shell", json!({"command": command})).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::ApprovalRequired), "{command}: {}", answer.text);
    }
    assert_eq!(project(), before);
}

#[tokio::test]
async fn a_repository_is_recognised_by_its_content() {
    let world = world("project");
    world.file("bare/objects/x", "");
    world.file("half/HEAD", "ref: refs/heads/main\n");
    let before = state(&world);
    for (tool, input) in [
        ("write_file", json!({"path": "bare/HEAD", "content": "ref: refs/heads/main\n"})),
        ("write_file", json!({"path": "bare/refs/heads/main", "content": "x"})),
        ("write_file", json!({"path": "half/objects/info/x", "content": "x"})),
        ("write_file", json!({"path": "half/refs/x", "content": "x"})),
        ("write_file", json!({"path": "any/commondir", "content": "x"})),
        ("write_file", json!({"path": "any/gitdir", "content": "x"})),
        ("manifest_create", json!({"root": ".", "manifest": "bare/HEAD"})),
    ] {
        asks(&world, tool, &input).await;
    }
    for path in ["sub/x", "x"] {
        let input = json!({"path": path, "content": "gitdir: ../elsewhere\n"});
        let need = world.need("write_file", input).await;
        assert!(need.reason.contains("gitdir:"), "{}", need.reason);
    }
    // The workspace is checked too: commands run there, and Git searches it.
    for path in [".git/config", "deep/.git", "any/commondir"] {
        let path = world.in_space(path);
        let answer = world.run("write_file", json!({"path": path, "content": "x"})).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::ApprovalRequired), "{path:?}: {}", answer.text);
    }
    assert_eq!(state(&world), before);
    for path in [".hidden/x", "AGENTS.md"] {
        let path = world.in_space(path);
        assert!(world.run("write_file", json!({"path": path, "content": "x"})).await.ok, "{path:?}");
    }
}

#[tokio::test]
async fn changing_obeyed_files_needs_consent() {
    let mut world = world("project");
    let places: Vec<PathBuf> =
        [".envrc", ".git/config", "AGENTS.md", "setpoint.toml"].map(|name| world.file(name, "old")).into();
    world.created.extend(places.iter().cloned());
    for path in places {
        for (tool, input) in [
            ("edit_file", json!({"path": path, "find": "old", "replace": "new"})),
            ("write_file", json!({"path": path, "content": "new"})),
        ] {
            let need = world.need(tool, input).await;
            assert!(need.reason.contains("it would change "), "{}", need.reason);
        }
        assert_eq!(std::fs::read(path).unwrap(), b"old");
    }
}

#[tokio::test]
async fn a_too_wide_working_directory_needs_consent() {
    let world = world(".");
    let before = state(&world);
    let input = json!({"path": "sub/notes.txt", "content": "x"});
    let need = world.need("write_file", input).await;
    assert!(need.reason.contains("holds the home directory"), "{}", need.reason);
    assert_eq!(state(&world), before);
    // The workspace itself stays free.
    let notes = world.in_space("notes.txt");
    assert!(world.run("write_file", json!({"path": notes, "content": "x"})).await.ok);
}
