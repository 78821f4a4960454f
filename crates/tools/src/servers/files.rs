//! Files that an MCP server runs outside the sandbox, with all rights of the person.
//!
//! A task that could change such a file would run what it likes there, so every change of one asks.

use std::path::{Path, PathBuf};

use super::{Reach, ServerPlace, ServerPlan};
use crate::approval::named::{self, Places};
use crate::approval::resolve::way;

/// Why a change of such a file asks.
const RUN_OUTSIDE: &str = "an MCP server of your configuration runs outside the sandbox with what is there";

/// Programs that run what the project in the working directory says.
const RUNNERS: &[&str] = &[
    "bun", "bundle", "cargo", "deno", "dotnet", "go", "gradle", "just", "make", "mvn", "npm", "pdm",
    "pipenv", "pnpm", "poetry", "rake", "rye", "task", "uv", "yarn",
];
/// What `npx` and `bunx` look at in the working directory before they load a package.
const OF_NPX: &[&str] = &["node_modules", "package.json"];
/// The files and folders that servers outside the sandbox run or load. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct ServedFiles(Places);

impl ServedFiles {
    /// Looks at what the servers of these plans run now.
    #[must_use]
    pub fn of(plans: &[ServerPlan]) -> Self {
        let places = plans.iter().flat_map(|plan| match &plan.place {
            ServerPlace::Program { command, cwd, reach: Reach::Outside, .. } => places(command, cwd),
            ServerPlace::Program { .. } | ServerPlace::Http { .. } => Vec::new(),
        });
        ServedFiles(Places::new(places))
    }

    /// Returns why changing a path without links would change what a server runs, or `None`: it is one of its files or in
    /// one of its folders, or leads there.
    #[must_use]
    pub fn reason(&self, path: &Path) -> Option<&'static str> {
        self.0.has(path).then_some(RUN_OUTSIDE)
    }
}

/// Returns the files and folders below the working directory that a command runs or loads, as far as its words tell.
fn places(command: &[String], cwd: &Path) -> Vec<PathBuf> {
    let Some((program, args)) = command.split_first() else { return Vec::new() };
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    let mut places = Vec::new();
    if RUNNERS.contains(&&*name) {
        places.push(cwd.to_path_buf());
    }
    if matches!(&*name, "npx" | "bunx") {
        places.extend(OF_NPX.iter().map(|name| cwd.join(name)));
    }
    let own = program.contains('/').then_some(program);
    places.extend(named::places(own.into_iter().chain(args).map(String::as_str), cwd));
    // Elsewhere every change asks, and a folder around the working directory is not what a server looks through.
    let real = way(cwd).end;
    places.retain(|place| way(place).end.starts_with(&real) || place.is_file());
    places
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;

    #[test]
    fn what_a_server_runs_asks_and_the_rest_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        for name in ["tools/srv.py", "tools/lib/x.py", "pkg/__main__.py", "data/cfg.toml", "real/deep.js"] {
            fs::create_dir_all(cwd.join(name).parent().unwrap()).unwrap();
            fs::write(cwd.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("real", cwd.join("link")).unwrap();
        for (command, asked, free) in [
            (
                &["python3", "tools/srv.py"][..],
                &["tools/srv.py", "tools/json.py", "tools/lib/x.py", "tools"][..],
                "a",
            ),
            (&["./tools/srv.py"], &["tools/srv.py", "tools/new"], "data/a"),
            (&["sh", "-c", "cd . && exec python3 tools/srv.py"], &["tools/srv.py"], "a"),
            (&["node", "link/deep.js"], &["link", "real", "real/deep.js", "real/other.js"], "tools/srv.py"),
            (&["python3", "pkg"], &["pkg/__main__.py", "pkg/new.py"], "a"),
            (&["python3", "-m", "tools.srv"], &["tools/srv.py", "json.py"], ""),
            (&["python3", "-m", "installed"], &["installed.py", "installed/a.py"], "json.py"),
            (&["srv", "--config=data/cfg.toml"], &["data/cfg.toml", "data"], "data/a"),
            (&["uv", "run", "srv"], &["src/srv.py"], ""),
            (&["npx", "-y", "server", "."], &["node_modules/server/index.js", "package.json"], "a"),
            (&["/usr/bin/env", "server"], &[], "a"),
        ] {
            let plan = |reach| ServerPlan {
                name: "x".to_owned(),
                place: ServerPlace::Program {
                    command: command.iter().map(|word| (*word).to_owned()).collect(),
                    env: BTreeMap::new(),
                    cwd: cwd.clone(),
                    reach,
                },
                is_trusted: false,
            };
            let served = ServedFiles::of(&[plan(Reach::Outside)]);
            for path in asked {
                assert!(served.reason(&cwd.join(path)).is_some(), "{command:?}: {path}");
            }
            assert!(free.is_empty() || served.reason(&cwd.join(free)).is_none(), "{command:?}: {free}");
            let inside = ServedFiles::of(&[plan(Reach::Sandbox { reads: vec![], writes: vec![] })]);
            assert!(asked.iter().all(|path| inside.reason(&cwd.join(path)).is_none()), "{command:?}");
        }
    }
}
