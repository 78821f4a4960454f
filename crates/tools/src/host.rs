//! The machine that tools run on, as far as they need to know it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use setpoint_command_line::Form;
use setpoint_scrub::Scrub;

use crate::process::env::{self, Environment};
use crate::process::keeper;

/// Programs that a plan may want to know the presence of.
const NOTABLE: &[&str] = &[
    "awk", "bash", "bat", "brew", "cargo", "clang", "cmake", "curl", "delta", "docker", "fd", "ffmpeg",
    "gcc", "gh", "git", "go", "gzip", "java", "jq", "just", "kubectl", "make", "mdfind", "node", "npm",
    "pandoc", "perl", "pip", "plocate", "pnpm", "podman", "python3", "rg", "rsync", "ruby", "rustc", "sed",
    "sqlite3", "ssh", "tar", "tokei", "tree", "unzip", "uv", "wget", "xz", "yarn", "yq", "zip", "zstd",
];

/// A machine: what decides on the catalogue, what programs get, and what their output may not hold.
#[derive(Clone, Debug)]
pub struct Host {
    os: String,
    env: Environment,
    keeper: Option<PathBuf>,
    keys: Scrub,
    forms: fn() -> &'static [Form],
}

impl Host {
    /// This machine, with this process's environment. This executable keeps calls if it can ([`crate::keeper::serve`]).
    #[must_use]
    pub fn this() -> Self {
        Host { keeper: keeper::this_executable(), ..Host::new(std::env::consts::OS, std::env::vars_os()) }
    }

    /// A machine with this operating system (`linux`, `macos`) and environment.
    #[must_use]
    pub fn new(os: &str, env: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Host {
            os: os.to_owned(),
            env: env::inherited(env),
            keeper: None,
            keys: Scrub::default(),
            forms: || &[],
        }
    }

    /// The same machine with this executable as the keeper of calls. Its `main` must begin with
    /// [`crate::keeper::serve`].
    #[must_use]
    pub fn kept_by(self, keeper: impl Into<PathBuf>) -> Self {
        Host { keeper: Some(keeper.into()), ..self }
    }

    /// The same machine with these keys: no answer of a tool holds them, and programs do not inherit them.
    #[must_use]
    pub fn without_keys(mut self, keys: Scrub) -> Self {
        self.env.retain(|_, value| !keys.holds(value.as_encoded_bytes()));
        Host { keys, ..self }
    }

    /// The same machine with these commands, which run without a question as the program's own.
    #[must_use]
    pub fn knowing(self, forms: fn() -> &'static [Form]) -> Self {
        Host { forms, ..self }
    }

    /// The program's own commands.
    pub(crate) fn forms(&self) -> &'static [Form] {
        (self.forms)()
    }

    /// The operating system.
    #[must_use]
    pub fn os(&self) -> &str {
        &self.os
    }

    /// The program of this name, where `PATH` has it.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        env::find_program(name, &self.env)
    }

    /// Which programs worth knowing about are there, sorted.
    #[must_use]
    pub fn notable_programs(&self) -> Vec<String> {
        NOTABLE.iter().filter(|name| self.program(name).is_some()).map(|name| (*name).to_owned()).collect()
    }

    /// The executable that keeps calls. Without one, a call ends its process group alone.
    pub(crate) fn keeper(&self) -> Option<&Path> {
        self.keeper.as_deref()
    }

    /// What answers may not hold.
    pub(crate) fn keys(&self) -> &Scrub {
        &self.keys
    }

    /// What programs may inherit.
    pub(crate) fn env(&self) -> &Environment {
        &self.env
    }

    /// The shell that commands are for, and whether it is bash. Where `PATH` leads nowhere, the one that every system has.
    pub(crate) fn shell(&self) -> (PathBuf, bool) {
        let fixed = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"];
        let fixed = fixed.into_iter().map(PathBuf::from).find(|path| path.is_file());
        match fixed.or_else(|| self.program("bash").filter(|path| path.is_absolute())) {
            Some(bash) => (bash, true),
            None => (PathBuf::from("/bin/sh"), false),
        }
    }
}
