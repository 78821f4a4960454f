//! The machine that tools run on, as far as they need to know it.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::process::env::{self, Environment};

/// Programs that a plan may want to know the presence of.
const NOTABLE: &[&str] = &[
    "awk", "bash", "bat", "brew", "cargo", "clang", "cmake", "curl", "delta", "docker", "fd", "ffmpeg",
    "gcc", "gh", "git", "go", "gzip", "java", "jq", "just", "kubectl", "make", "mdfind", "node", "npm",
    "pandoc", "perl", "pip", "plocate", "pnpm", "podman", "python3", "rg", "rsync", "ruby", "rustc", "sed",
    "sqlite3", "ssh", "tar", "tokei", "tree", "unzip", "uv", "wget", "xz", "yarn", "yq", "zip", "zstd",
];

/// What of a machine decides on the catalogue and on what programs get.
#[derive(Clone, Debug)]
pub struct Host {
    os: String,
    env: Environment,
}

impl Host {
    /// This machine, with this process's environment.
    #[must_use]
    pub fn this() -> Self {
        Host::new(std::env::consts::OS, std::env::vars_os())
    }

    /// A machine with this operating system (`linux`, `macos`) and environment.
    #[must_use]
    pub fn new(os: &str, env: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Host { os: os.to_owned(), env: env::inherited(env) }
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
