//! The interface to the binary: the program's desk, the organisation on demand, and approval policies.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use setpoint_app::approvals::Policy;
use setpoint_app::{Audit, Desk, Error, Memory, Organisation};
use setpoint_protocol::{TaskId, Timestamp};

/// Everything that a command may need and this crate does not build.
#[async_trait]
pub trait Host: Send + Sync {
    /// Returns the program's desk.
    fn desk(&self) -> &dyn Desk;

    /// Returns the current time; nothing else in this crate reads a clock.
    fn now(&self) -> Timestamp;

    /// Opens the organisation, which is the first access to a data directory. Called at most once, and only
    /// by commands that need it.
    ///
    /// # Errors
    /// If the configuration or the data directory is invalid.
    async fn open(&self) -> Result<Arc<dyn Organisation>, Error>;

    /// Opens the organisation for commands that drive no task: it works even if the models are misconfigured.
    ///
    /// # Errors
    /// If the data directory is invalid.
    async fn open_without_models(&self) -> Result<Arc<dyn Organisation>, Error>;

    /// Allows a task to go on although an older journal was restored; every unfinished task if none is named.
    /// Called before the organisation is opened.
    ///
    /// # Errors
    /// If the task does not exist, or the audit log cannot be written.
    async fn force(&self, task: Option<&str>) -> Result<(), Error>;

    /// Opens a file that `tasks export` wrote, as an organisation that holds this one task and drives
    /// nothing. Touches no data directory.
    ///
    /// # Errors
    /// If the file cannot be read, or was changed since it was written.
    async fn open_exported(&self, file: &Path) -> Result<(Arc<dyn Organisation>, TaskId), Error>;

    /// Opens memory, without an organisation.
    ///
    /// # Errors
    /// If the configuration, the data directory or the memory is invalid.
    async fn memory(&self) -> Result<Arc<dyn Memory>, Error>;

    /// Opens the Auditor, without an organisation.
    ///
    /// # Errors
    /// If the configuration is invalid.
    async fn audit(&self) -> Result<Arc<dyn Audit>, Error>;

    /// Returns what decides about approvals before a person is asked: the file, if one is named, and the level of the run.
    ///
    /// # Errors
    /// If the file is invalid, with the line at fault, or the level is not for this machine.
    fn approvals(&self, file: Option<&Path>) -> Result<Option<Policy>, Error>;
}
