//! Starts the program of a server, in the sandbox unless the person says otherwise.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use setpoint_mcp::{Launch, Launched, Process};
use setpoint_protocol::record::Surroundings;
use setpoint_sandbox::{Access, Folder};

use super::Reach;
use crate::approval::named::module;
use crate::host::Host;
use crate::process::env::{Environment, Programs, SystemProgram, find_program, search_path};
use crate::process::{Job, ServerProgram, serve};

/// Bytes of standard error that are kept.
const STDERR_BYTES_MAX: usize = 8 * 1024;
/// Variables that every server gets.
const ALWAYS: &[&str] = &["PATH", "TMPDIR"];

/// The program of a server.
pub(super) struct Program {
    pub(super) command: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: PathBuf,
    pub(super) reach: Reach,
    pub(super) host: Host,
}

#[async_trait]
impl Process for ServerProgram {
    async fn last_words(&self) -> String {
        self.printed(STDERR_BYTES_MAX).await
    }
}

#[async_trait]
impl Launch for Program {
    async fn launch(&self) -> io::Result<Launched> {
        let (stream, program) = serve(&self.job()?, &self.host)?;
        Ok(Launched { stream: Box::new(stream), process: Box::new(program) })
    }
}

impl Program {
    fn job(&self) -> io::Result<Job> {
        let mut env: Environment = ALWAYS
            .iter()
            .filter_map(|name| Some((OsString::from(name), self.host.env().get(OsStr::new(name))?.clone())))
            .collect();
        env.extend(self.env.iter().map(|(name, value)| (name.into(), value.into())));
        let Some((program, args)) = self.command.split_first() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "its command is empty"));
        };
        if let Some(module) = module(args.iter().map(String::as_str))
            && !self.cwd.join(module).exists()
            && !self.cwd.join(format!("{module}.py")).exists()
        {
            // Python would look for all modules in the working directory first, where a task may make one.
            env.insert("PYTHONSAFEPATH".into(), "1".into());
        }
        let surroundings = Surroundings { cwd: self.cwd.display().to_string(), ..Surroundings::default() };
        let programs = match &self.reach {
            // Nothing confines it, and a task writes in the working directory without a question.
            Reach::Outside => Programs::System,
            Reach::Sandbox { .. } => Programs::TaskToo,
        };
        if let Some(path) = env.get_mut(OsStr::new("PATH")) {
            *path = search_path(path, &surroundings, programs);
        }
        let program = self.found(program, &env, &surroundings)?;
        let job = Job {
            program,
            args: args.iter().map(OsString::from).collect(),
            cwd: self.cwd.clone(),
            env,
            ms_max: 0,
            output_bytes_max: STDERR_BYTES_MAX,
            is_bounded: false,
            watch: None,
        };
        match &self.reach {
            Reach::Outside => Ok(job),
            Reach::Sandbox { reads, writes } => self.in_sandbox(job, reads, writes),
        }
    }

    fn found(&self, program: &str, env: &Environment, surroundings: &Surroundings) -> io::Result<PathBuf> {
        if program.contains('/') {
            return Ok(self.cwd.join(program));
        }
        let (found, other) = match &self.reach {
            Reach::Outside => {
                let found = SystemProgram::find(program, env, surroundings);
                let other =
                    "; the working directory's own are started outside the sandbox only by their path";
                (found.map(|found| found.path().to_path_buf()), other)
            }
            Reach::Sandbox { .. } => (find_program(program, env), ""),
        };
        found.ok_or_else(|| {
            let said = format!("there is no program {program:?} in PATH{other}");
            io::Error::new(io::ErrorKind::NotFound, said)
        })
    }

    fn in_sandbox(&self, job: Job, reads: &[PathBuf], writes: &[PathBuf]) -> io::Result<Job> {
        let Some(sandbox) = self.host.sandbox() else {
            return Err(io::Error::other(
                "it would run in the sandbox, which does not hold on this machine or is switched off; a server that may do \
                 whatever you may is started with `outside = true` in your own configuration",
            ));
        };
        let is_written = |path: &Path| writes.iter().any(|one| one == path);
        let folder = |path: &PathBuf, access: Access| Folder { path: path.clone(), access };
        let mut folders: Vec<Folder> = writes.iter().map(|path| folder(path, Access::Write)).collect();
        folders.extend(reads.iter().filter(|path| !is_written(path)).map(|path| folder(path, Access::Read)));
        if let Some(absent) = folders.iter().find(|one| !one.path.is_dir()) {
            let reason = format!("{} is not a folder", absent.path.display());
            return Err(io::Error::new(io::ErrorKind::NotADirectory, reason));
        }
        // It starts in the working directory if it sees that, and otherwise in its first folder.
        let start = folders.iter().position(|one| job.cwd.starts_with(&one.path));
        let Some(first) = folders.get(start.unwrap_or(0)).cloned() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no folder to work in"));
        };
        let cwd = if start.is_some() { job.cwd.clone() } else { first.path.clone() };
        let job = Job { cwd, ..job };
        folders.retain(|one| one.path != first.path);
        folders.insert(0, first);
        sandbox.serving(job, &folders).map_err(|error| io::Error::other(error.into_answer().text))
    }
}
