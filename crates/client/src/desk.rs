//! What the program says about itself: configuration, playbooks, health, its controller alone.

use std::io::{BufRead, Write};

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;

use crate::error::ClientError;
use crate::models::{InitWishes, Initialised, ModelsReport, Trial};

/// One configuration value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfigLine {
    /// Dotted key.
    pub key: String,
    /// Value; null when it is not set.
    pub value: Value,
    /// Where it comes from.
    pub origin: String,
    /// What it means.
    pub about: String,
}

/// One playbook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaybookLine {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub title: String,
    /// A goal that it knows.
    pub example: String,
    /// Its approaches, in order.
    pub approaches: Vec<String>,
    /// `built in`, or the file.
    pub origin: String,
}

/// A playbook, or a part of one, that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaybookProblem {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 when the file as a whole is meant.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

/// How one thing stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// What was looked at.
    pub subject: String,
    /// How it stands.
    pub state: Health,
    /// What was seen.
    pub finding: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How a thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Good,
    /// Works, with something to know.
    Note,
    /// Does not work.
    Bad,
}

/// What the controller did with its input lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ControllerSummary {
    /// Lines read.
    pub lines: u64,
    /// Lines that were no usable message; each was answered with an error line.
    pub refused: u64,
}

/// The program's own desk. What is not `async` answers at once; nothing here touches a data directory but `doctor`.
#[async_trait]
pub trait Desk: Send + Sync {
    /// Every configuration value with its origin.
    ///
    /// # Errors
    /// A configuration that cannot be used.
    fn config(&self) -> Result<Vec<ConfigLine>, ClientError>;

    /// The configuration files that are read, weakest first, and whether each is there.
    fn config_files(&self) -> Vec<(String, bool)>;

    /// What a person should know before a task is driven, a line each.
    fn notices(&self) -> Vec<String>;

    /// The playbooks, and what is broken.
    fn playbooks(&self) -> (Vec<PlaybookLine>, Vec<PlaybookProblem>);

    /// One playbook's own text.
    ///
    /// # Errors
    /// When there is none of this name.
    fn playbook(&self, name: &str) -> Result<String, ClientError>;

    /// Checks one file, or every playbook.
    ///
    /// # Errors
    /// When the file cannot be read at all.
    fn check_playbooks(&self, file: Option<&std::path::Path>) -> Result<Vec<PlaybookProblem>, ClientError>;

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
    async fn initialise(&self, wishes: &InitWishes) -> Result<Initialised, ClientError>;

    /// The controller alone, on JSON lines.
    ///
    /// # Errors
    /// When the output cannot be written.
    fn controller(
        &self,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> Result<ControllerSummary, ClientError>;
}
