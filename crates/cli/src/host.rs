//! What the binary hands in: the program's desk, the organisation when one is needed, and approval policies.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use setpoint_app::{Audit, Desk, Error, Memory, Organisation};
use setpoint_protocol::tool::ApprovalNeed;
use setpoint_protocol::{TaskId, Timestamp};

/// Everything that a command may need and this crate does not build.
#[async_trait]
pub trait Host: Send + Sync {
    /// The program's own desk.
    fn desk(&self) -> &dyn Desk;

    /// The time of day, which nothing in this crate reads by itself.
    fn now(&self) -> Timestamp;

    /// Opens the organisation: the first time that a data directory is touched. Called at most once, and only by
    /// commands that need it.
    ///
    /// # Errors
    /// A configuration or a data directory that cannot be used.
    async fn open(&self) -> Result<Arc<dyn Organisation>, Error>;

    /// The same for commands that drive no task: they work whatever is wrong with the models.
    ///
    /// # Errors
    /// A data directory that cannot be used.
    async fn open_without_models(&self) -> Result<Arc<dyn Organisation>, Error>;

    /// Lets a task go on although an older journal was put back, or every unfinished one if none is named. Called before the
    /// organisation is opened.
    ///
    /// # Errors
    /// A task that is not there, or an audit log that cannot be written.
    async fn force(&self, task: Option<&str>) -> Result<(), Error>;

    /// Opens a file that `tasks export` wrote as an organisation that holds this one task and drives nothing. No data
    /// directory is touched.
    ///
    /// # Errors
    /// A file that cannot be read, or that is not what was written.
    async fn open_exported(&self, file: &Path) -> Result<(Arc<dyn Organisation>, TaskId), Error>;

    /// Opens memory, without an organisation.
    ///
    /// # Errors
    /// A configuration, a data directory or a memory that cannot be used.
    async fn memory(&self) -> Result<Arc<dyn Memory>, Error>;

    /// The Auditor, without an organisation.
    ///
    /// # Errors
    /// A configuration that cannot be used.
    async fn audit(&self) -> Result<Arc<dyn Audit>, Error>;

    /// Reads an approval policy.
    ///
    /// # Errors
    /// A file that cannot be used, named with its line.
    fn approvals(&self, file: &Path) -> Result<Box<dyn ApprovalPolicy>, Error>;
}

/// Decides about approvals in a person's stead.
pub trait ApprovalPolicy: Send + Sync {
    /// What it says to exactly this.
    fn decide(&self, need: &ApprovalNeed) -> Allowance;
}

/// What a policy says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a decision that is not acted on allows or refuses nothing"]
pub enum Allowance {
    /// It may be done, once.
    Allow {
        /// Who says so: `file:<path>:<line>`.
        by: String,
    },
    /// It may not be done, whoever could be asked.
    Deny {
        /// Who says so: `file:<path>:<line>`.
        by: String,
    },
    /// The policy says nothing about it.
    Silent,
}
