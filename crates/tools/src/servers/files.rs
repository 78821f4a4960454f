//! Files that an MCP server runs outside the sandbox, with all rights of the person.
//!
//! A task that could change such a file would run what it likes there, so every change of one asks.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Reach, ServerPlace, ServerPlan};
use crate::approval::named::{self, Meant, Places};
use crate::approval::resolve::way;

/// Why a change of such a file asks.
const RUN_OUTSIDE: &str = "an MCP server of your configuration runs outside the sandbox with what is there";

/// Programs that run what the project in the working directory says.
const RUNNERS: &[&str] = &[
    "bun", "bundle", "cargo", "deno", "dotnet", "go", "gradle", "just", "make", "mvn", "hatch", "npm", "pdm",
    "mix", "pipenv", "pnpm", "poetry", "rake", "rye", "swift", "task", "uv", "yarn",
];
/// Programs that run another one of their words.
const LEADERS: &[&str] =
    &["bash", "dash", "env", "ksh", "nice", "setsid", "sh", "stdbuf", "time", "timeout", "zsh"];
/// Programs that load packages of the working directory for any script, and where those are. `npx` and `bunx` look there
/// before they load a package from elsewhere.
const OF_NODE: &[&str] = &["bunx", "node", "npx", "ts-node", "tsx"];
const PACKAGES: &[&str] = &["node_modules", "package.json"];

/// The files and folders that servers outside the sandbox run or load. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct ServedFiles(Places);

impl ServedFiles {
    /// Looks at what the servers of these plans run now.
    #[must_use]
    pub fn of(plans: &[ServerPlan]) -> Self {
        let places = plans.iter().flat_map(|plan| match &plan.place {
            ServerPlace::Program { command, cwd, env, reach: Reach::Outside } => {
                let path = env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH"));
                places(command, cwd, &path.unwrap_or_default())
            }
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

/// Returns the files and folders below the working directory that a command runs or loads, as far as its words, and those of
/// a script in the place of its program, tell.
fn places(command: &[String], cwd: &Path, path: &OsStr) -> Vec<PathBuf> {
    let Some((program, args)) = command.split_first() else { return Vec::new() };
    let real = way(cwd).end;
    let is_word_end = |c: char| c.is_whitespace() || "'\";&|()".contains(c);
    let words: Vec<&str> = command.iter().flat_map(|word| word.split(is_word_end)).collect();
    let own = program.contains('/').then_some(program);
    let given = own.into_iter().chain(args).map(String::as_str);
    let mut places = named::places(given.clone(), cwd);
    // `cd sub && ./run.sh`
    let inner = words.iter().map(|word| cwd.join(word)).filter(|folder| folder.is_dir());
    for folder in inner.filter(|folder| way(folder).end.starts_with(&real) && way(folder).end != real) {
        places.extend(named::places(given.clone(), &folder));
    }
    let names = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word));
    let is_led = LEADERS.contains(&names.clone().next().unwrap_or_default());
    for name in names.take(if is_led { usize::MAX } else { 1 }) {
        if RUNNERS.contains(&name) {
            places.push(cwd.to_path_buf());
        } else if OF_NODE.contains(&name) {
            places.extend(PACKAGES.iter().map(|name| cwd.join(name)));
        } else if name == "java" {
            let entries = words.iter().flat_map(|word| word.split(':')).filter(|entry| !entry.is_empty());
            let of_classes = |entry: &&str| entry.ends_with(".jar") || cwd.join(entry).is_dir();
            places.extend(entries.filter(of_classes).map(|entry| cwd.join(entry)));
        }
    }
    let found = std::env::split_paths(path).map(|folder| folder.join(program)).find(|file| file.is_file());
    let script = found.map(|file| named::in_file(&file, cwd, cwd, Meant::Programs)).unwrap_or_default();
    // The whole work is not what a script names.
    places.extend(script.into_iter().filter(|place| way(place).end != real));
    // Elsewhere every change asks, and a folder around the working directory is not what a server looks through.
    places.retain(|place| way(place).end.starts_with(&real) || place.is_file());
    places
}

#[cfg(test)]
mod tests {
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
        let outside = tempfile::tempdir().unwrap();
        let wrapped = format!("#!/bin/sh\nexec python3 {}/tools/srv.py\n", cwd.display());
        fs::write(outside.path().join("wrapper"), wrapped).unwrap();
        let bin = outside.path().to_str().unwrap().to_owned();
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
            (&["bash", "-lc", "cd real && ./run.sh"], &["real/run.sh"], "a"),
            (&["bash", "-c", "npm start"], &["package.json", "src/x.js"], ""),
            (&["srv", "make"], &[], "Makefile"),
            (&["node", "real/deep.js"], &["node_modules/dep/index.js", "real/x.js"], "src/x.js"),
            (&["timeout", "9", "node", "real/deep.js"], &["package.json"], "src/x.js"),
            (&["java", "-cp", "data:lib/a.jar", "Main"], &["data/Main.class", "lib/a.jar"], "src/Main.java"),
            (&["wrapper"], &["tools/srv.py", "tools/json.py"], "a"),
        ] {
            let plan = |reach| ServerPlan {
                name: "x".to_owned(),
                place: ServerPlace::Program {
                    command: command.iter().map(|word| (*word).to_owned()).collect(),
                    env: [("PATH".to_owned(), bin.clone())].into(),
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
