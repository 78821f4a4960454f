//! What the program reports about itself: configuration, playbooks, health, its controller alone.

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use setpoint_model::playbook::Problem;
use setpoint_protocol::text::error_chain;
use setpoint_tools::{Host, Registry};

use crate::config::ConfigLine;
use crate::desk::{Diagnosis, examine};
use crate::error::{Error, ErrorKind};
use crate::ggs::{self, Summary};
use crate::import::ImportOrigin;
use crate::init::{self, InitOptions, InitResult};
use crate::models::survey::{ModelsReport, survey};
use crate::models::trial::{Trial, try_out};
use crate::program::{PlaybookProblem, PlaybookSummary, Program};
use crate::sandbox::{SandboxReport, Tried};
use crate::servers::ServerReport;

/// The program's own desk. Methods that are not `async` answer at once; only `doctor` uses a data directory.
#[async_trait]
pub trait Desk: Send + Sync {
    /// Returns every configuration value with its origin.
    ///
    /// # Errors
    /// If a configuration cannot be used.
    fn config(&self) -> Result<Vec<ConfigLine>, Error>;

    /// Returns the configuration files, weakest first, and whether each exists.
    fn config_files(&self) -> Vec<(String, bool)>;

    /// Returns notices for a person before a task is driven, one line each.
    fn notices(&self) -> Vec<String>;

    /// Returns which MCP servers and tools the organisation does without, one line each; known once it is open.
    fn server_notices(&self) -> Vec<String>;

    /// Returns the playbooks, and the problems in them.
    fn playbooks(&self) -> (Vec<PlaybookSummary>, Vec<PlaybookProblem>);

    /// Returns the text of a playbook.
    ///
    /// # Errors
    /// If no playbook has this name.
    fn playbook(&self, name: &str) -> Result<String, Error>;

    /// Checks one file, or every playbook.
    ///
    /// # Errors
    /// If the file cannot be read at all.
    fn check_playbooks(&self, file: Option<&Path>) -> Result<Vec<PlaybookProblem>, Error>;

    /// Runs all checks; never fails.
    fn doctor(&self) -> Vec<Diagnosis>;

    /// Returns what the sandbox of this machine holds, and what a command in the working directory would see.
    ///
    /// # Errors
    /// If it cannot be tried out.
    fn sandbox(&self) -> Result<SandboxReport, Error>;

    /// Runs a command in the sandbox and discards what it changed; with `is_output_aside` all that it prints goes to
    /// standard error.
    ///
    /// # Errors
    /// If changes cannot be kept apart here, or the command cannot be started.
    fn try_command(&self, words: &[OsString], is_output_aside: bool) -> Result<Tried, Error>;

    /// Returns the chosen models, and whether they are there: asks servers for their lists, and models nothing.
    async fn models(&self) -> ModelsReport;

    /// Connects to every configured MCP server and lists its tools.
    async fn servers(&self) -> Vec<ServerReport>;

    /// Returns where another program keeps its MCP servers, the place that applies first.
    fn places_of(&self, origin: ImportOrigin) -> Vec<PathBuf>;

    /// Asks every chosen model a few questions. Never fails; `doctor` reports a choice that cannot be used.
    async fn try_models(&self) -> Trial;

    /// Looks for keys and servers of this machine, and writes a first configuration.
    ///
    /// # Errors
    /// If a file exists or cannot be written, or an address is not valid.
    async fn initialise(&self, wishes: &InitOptions) -> Result<InitResult, Error>;

    /// Runs the controller alone, on JSON lines.
    ///
    /// # Errors
    /// If the output cannot be written.
    fn controller(&self, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<Summary, Error>;
}

#[async_trait]
impl Desk for Program {
    fn config(&self) -> Result<Vec<ConfigLine>, Error> {
        Ok(self.config.lines())
    }

    fn config_files(&self) -> Vec<(String, bool)> {
        let files = Program::config_files(self).iter();
        files.map(|path| (path.display().to_string(), path.exists())).collect()
    }

    fn notices(&self) -> Vec<String> {
        Program::notices(self)
    }

    fn server_notices(&self) -> Vec<String> {
        self.servers.get().map(|servers| servers.notices.clone()).unwrap_or_default()
    }

    fn playbooks(&self) -> (Vec<PlaybookSummary>, Vec<PlaybookProblem>) {
        Program::playbooks(self)
    }

    fn playbook(&self, name: &str) -> Result<String, Error> {
        self.library().show(name).map(|(_, text)| text.to_owned()).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("there is no playbook called {name:?}"))
                .hint("`setpoint playbooks` lists them")
        })
    }

    fn check_playbooks(&self, file: Option<&Path>) -> Result<Vec<PlaybookProblem>, Error> {
        let library = self.library();
        let tools = Registry::built_in(&Host::this()).specs();
        let problems = match file {
            Some(file) => library.check_file(file, &tools),
            None => library.check(None, &tools),
        };
        let shown = |Problem { file, line, reason, .. }| PlaybookProblem { file, line, reason };
        Ok(problems.into_iter().map(shown).collect())
    }

    fn doctor(&self) -> Vec<Diagnosis> {
        examine(self)
    }

    fn sandbox(&self) -> Result<SandboxReport, Error> {
        Program::sandbox(self)
    }

    fn try_command(&self, words: &[OsString], is_output_aside: bool) -> Result<Tried, Error> {
        Program::try_command(self, words, is_output_aside)
    }

    async fn models(&self) -> ModelsReport {
        survey(self).await
    }

    async fn servers(&self) -> Vec<ServerReport> {
        self.survey_servers().await
    }

    fn places_of(&self, origin: ImportOrigin) -> Vec<PathBuf> {
        let home = PathBuf::from(self.surroundings().home);
        let config = self.variable("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty());
        origin.places(self.cwd(), &home, &config.map_or_else(|| home.join(".config"), PathBuf::from))
    }

    async fn try_models(&self) -> Trial {
        try_out(self).await
    }

    async fn initialise(&self, wishes: &InitOptions) -> Result<InitResult, Error> {
        init::initialise(self, wishes).await.map_err(|error| {
            let kind = if error.is_usage() { ErrorKind::Usage } else { ErrorKind::Configuration };
            Error::new(kind, error_chain(&error)).hint(error.hint())
        })
    }

    fn controller(&self, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<Summary, Error> {
        let settings = self.config.controller().clone();
        ggs::run(input, output, settings).map_err(|error| {
            Error::new(ErrorKind::Internal, error_chain(&error))
                .hint("check that the input can be read and that the output has room")
        })
    }
}
