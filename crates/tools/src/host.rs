//! What tools need to know of the machine that they run on.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use setpoint_command_line::Form;
use setpoint_fetch::{Fetcher, Searcher, SystemResolver, address};
use setpoint_scrub::Scrub;

use crate::background::Background;
use crate::error::ToolError;
use crate::process::env::{self, Environment, SystemProgram};
use crate::process::keeper;
use crate::process::script;
use crate::sandbox::Sandbox;
use crate::secrets::Secrets;
use crate::tool::ToolCtx;

/// Programs whose presence may matter to a plan.
const NOTABLE: &[&str] = &[
    "awk", "bash", "bat", "brew", "cargo", "clang", "cmake", "curl", "delta", "docker", "fd", "ffmpeg",
    "gcc", "gh", "git", "go", "gzip", "java", "jq", "just", "kubectl", "make", "mdfind", "node", "npm",
    "pandoc", "perl", "pip", "plocate", "pnpm", "podman", "python3", "rg", "rsync", "ruby", "rustc", "sed",
    "sqlite3", "ssh", "tar", "tokei", "tree", "unzip", "uv", "wget", "xz", "yarn", "yq", "zip", "zstd",
];

/// Where systems have bash.
const BASH: &[&str] = &[
    "/bin/bash",
    "/usr/bin/bash",
    "/usr/local/bin/bash",
    "/opt/homebrew/bin/bash",
    "/run/current-system/sw/bin/bash",
    "/run/current-system/profile/bin/bash",
];

/// A machine: which tools it has, the environment of programs, and the keys to remove from their output.
#[derive(Clone, Debug)]
pub struct Host {
    os: String,
    env: Environment,
    keeper: Option<PathBuf>,
    keys: Scrub,
    forms: fn() -> &'static [Form],
    sandbox: Option<Sandbox>,
    fetcher: Fetcher,
    secrets: Secrets,
    searcher: Option<Result<Searcher, String>>,
    background: Background,
}

impl Host {
    /// This machine, with this process's environment. This executable is the keeper of calls if it can be
    /// ([`crate::keeper::serve`]).
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
            sandbox: None,
            fetcher: Fetcher::new(Arc::new(SystemResolver), address::is_public),
            secrets: Secrets::default(),
            searcher: None,
            background: Background::default(),
        }
    }

    /// Sets the executable that keeps calls and reads documents. Its `main` must begin with [`crate::keeper::serve`] and
    /// [`setpoint_documents::serve`].
    #[must_use]
    pub fn with_keeper(self, keeper: impl Into<PathBuf>) -> Self {
        Host { keeper: Some(keeper.into()), ..self }
    }

    /// Sets the keys that are removed from every answer and not inherited by programs.
    #[must_use]
    pub fn without_keys(mut self, keys: Scrub) -> Self {
        self.env.retain(|_, value| !keys.holds(value.as_encoded_bytes()));
        Host { keys, ..self }
    }

    /// Sets the program's own commands, which run without a question.
    #[must_use]
    pub fn with_own_commands(self, forms: fn() -> &'static [Form]) -> Self {
        Host { forms, ..self }
    }

    /// Sets the sandbox, in which programs of probes run if the task says that this machine has one.
    #[must_use]
    pub fn with_sandbox(self, sandbox: Sandbox) -> Self {
        Host { sandbox: Some(sandbox), ..self }
    }

    /// Sets how pages are fetched; otherwise from public addresses only.
    #[must_use]
    pub fn with_fetcher(self, fetcher: Fetcher) -> Self {
        Host { fetcher, ..self }
    }

    /// Sets the secrets that calls may refer to. Their values must be among the keys of [`Host::without_keys`].
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Host { secrets, ..self }
    }

    /// Returns the secrets that calls may refer to.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Sets the search engine, or why the configured one cannot be asked and what to do about it. Without one there is no
    /// tool that searches.
    #[must_use]
    pub fn with_searcher(self, searcher: Result<Searcher, String>) -> Self {
        Host { searcher: Some(searcher), ..self }
    }

    /// Returns the search engine, or why the configured one cannot be asked.
    pub(crate) fn searcher(&self) -> Option<&Result<Searcher, String>> {
        self.searcher.as_ref()
    }

    /// Returns how pages are fetched.
    pub(crate) fn fetcher(&self) -> &Fetcher {
        &self.fetcher
    }

    /// Returns what tasks keep running.
    pub(crate) fn background(&self) -> &Background {
        &self.background
    }

    /// Returns the sandbox.
    pub(crate) fn sandbox(&self) -> Option<&Sandbox> {
        self.sandbox.as_ref()
    }

    /// Returns the program's own commands.
    pub(crate) fn forms(&self) -> &'static [Form] {
        (self.forms)()
    }

    /// Returns the operating system.
    #[must_use]
    pub fn os(&self) -> &str {
        &self.os
    }

    /// Returns whether `PATH` has a program.
    pub(crate) fn has_program(&self, name: &str) -> bool {
        env::find_program(name, &self.env).is_some()
    }

    /// Returns a program that the runtime starts itself for a task.
    ///
    /// # Errors
    /// [`ToolError::Missing`] if there is none beside those of the task's own folders and those that tasks wrote.
    pub(crate) fn program(&self, name: &str, ctx: &ToolCtx) -> Result<SystemProgram, ToolError> {
        self.program_where(name, ctx, |_, _| true)
    }

    /// Returns a program that the runtime starts without a question: no script that may run something of the task's folders.
    ///
    /// # Errors
    /// As [`Host::program`].
    pub(crate) fn unasked_program(&self, name: &str, ctx: &ToolCtx) -> Result<SystemProgram, ToolError> {
        let home = ctx.place().surroundings.home;
        self.program_where(name, ctx, |file, own| !script::may_run_from(file, own, Some(&home)))
    }

    fn program_where(
        &self,
        name: &str,
        ctx: &ToolCtx,
        accepts: impl Fn(&Path, &[PathBuf]) -> bool,
    ) -> Result<SystemProgram, ToolError> {
        let hint = "; programs in the working directory, or that a task wrote, do not count".to_owned();
        let missing = || ToolError::Missing { name: name.to_owned(), hint };
        let found = SystemProgram::find_where(name, &self.env, &ctx.surroundings, accepts);
        found.filter(|found| !ctx.written().has(found.path())).ok_or_else(missing)
    }

    /// Returns the notable programs that are present, sorted.
    #[must_use]
    pub fn notable_programs(&self) -> Vec<String> {
        NOTABLE.iter().filter(|name| self.has_program(name)).map(|name| (*name).to_owned()).collect()
    }

    /// Returns the executable that keeps calls and reads documents. Without one, a call ends only its process group.
    pub(crate) fn keeper(&self) -> Option<&Path> {
        self.keeper.as_deref()
    }

    /// Returns the keys that answers must not contain.
    pub(crate) fn keys(&self) -> &Scrub {
        &self.keys
    }

    /// Returns the environment that programs may inherit.
    pub fn environment(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.env.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// As [`Host::environment`].
    pub(crate) fn env(&self) -> &Environment {
        &self.env
    }
}

/// Returns the shell for commands, and whether it is bash. `PATH` does not count: it may name folders in which tasks write.
pub(crate) fn shell() -> (PathBuf, bool) {
    match BASH.iter().map(PathBuf::from).find(|path| path.is_file()) {
        Some(bash) => (bash, true),
        None => (PathBuf::from("/bin/sh"), false),
    }
}
