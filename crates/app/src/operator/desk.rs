//! What the program says about itself: configuration, playbooks, health, its controller alone.

use std::io::{BufRead, Write};
use std::path::Path;

use async_trait::async_trait;
use setpoint_protocol::text::error_chain;

use crate::config::ConfigLine;
use crate::desk::{Diagnosis, examine};
use crate::error::{Error, ErrorKind};
use crate::ggs::{self, Summary};
use crate::init::{self, InitWishes, Initialised};
use crate::models::survey::{ModelsReport, survey};
use crate::models::trial::{Trial, try_out};
use crate::program::{PlaybookProblem, PlaybookSummary, Program};

/// The program's own desk. What is not `async` answers at once; nothing here touches a data directory but `doctor`.
#[async_trait]
pub trait Desk: Send + Sync {
    /// Every configuration value with its origin.
    ///
    /// # Errors
    /// A configuration that cannot be used.
    fn config(&self) -> Result<Vec<ConfigLine>, Error>;

    /// The configuration files that are read, weakest first, and whether each is there.
    fn config_files(&self) -> Vec<(String, bool)>;

    /// What a person should know before a task is driven, a line each.
    fn notices(&self) -> Vec<String>;

    /// The playbooks, and what is broken.
    fn playbooks(&self) -> (Vec<PlaybookSummary>, Vec<PlaybookProblem>);

    /// One playbook's own text.
    ///
    /// # Errors
    /// When there is none of this name.
    fn playbook(&self, name: &str) -> Result<String, Error>;

    /// Checks one file, or every playbook.
    ///
    /// # Errors
    /// When the file cannot be read at all.
    fn check_playbooks(&self, file: Option<&Path>) -> Result<Vec<PlaybookProblem>, Error>;

    /// How everything stands; never fails.
    fn doctor(&self) -> Vec<Diagnosis>;

    /// Which models are chosen, and whether they are there: servers are asked for their lists, models nothing.
    async fn models(&self) -> ModelsReport;

    /// Asks every chosen model a few questions. Never fails; a choice that cannot be used is the doctor's to tell.
    async fn try_models(&self) -> Trial;

    /// Looks for keys and servers of this machine, and writes a first configuration.
    ///
    /// # Errors
    /// A file that is there, or that cannot be written; an address that cannot be looked at.
    async fn initialise(&self, wishes: &InitWishes) -> Result<Initialised, Error>;

    /// The controller alone, on JSON lines.
    ///
    /// # Errors
    /// When the output cannot be written.
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

    fn playbooks(&self) -> (Vec<PlaybookSummary>, Vec<PlaybookProblem>) {
        Program::playbooks(self)
    }

    fn playbook(&self, name: &str) -> Result<String, Error> {
        Program::playbook(self, name).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("there is no playbook called {name:?}"))
                .hint("`setpoint playbooks` lists them")
        })
    }

    fn check_playbooks(&self, file: Option<&Path>) -> Result<Vec<PlaybookProblem>, Error> {
        Ok(Program::check_playbooks(self, file))
    }

    fn doctor(&self) -> Vec<Diagnosis> {
        examine(self)
    }

    async fn models(&self) -> ModelsReport {
        survey(self).await
    }

    async fn try_models(&self) -> Trial {
        try_out(self).await
    }

    async fn initialise(&self, wishes: &InitWishes) -> Result<Initialised, Error> {
        init::initialise(self, wishes).await.map_err(|error| {
            let kind = if error.is_usage() { ErrorKind::Usage } else { ErrorKind::Configuration };
            Error::new(kind, error_chain(&error)).hint(error.hint())
        })
    }

    fn controller(&self, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<Summary, Error> {
        let settings = self.config.controller().clone();
        ggs::run(input, output, settings).map_err(|error| {
            Error::new(ErrorKind::Internal, error_chain(&error))
                .hint("see that the input can be read and that there is room where the output goes")
        })
    }
}
