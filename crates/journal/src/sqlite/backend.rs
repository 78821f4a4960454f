//! The journal on disk as its handle uses it: one writer, and readers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::connect::Db;
use super::pruning;
use super::readers::Readers;
use super::writer::Writer;
use crate::error::{JournalError, Result};
use crate::head::{HeadFile, Slots};
use crate::job::Job;
use crate::options::JournalOptions;
use crate::store::View;
use crate::watch::Watch;

/// An open journal directory.
pub(crate) struct SqliteJournal {
    dir: PathBuf,
    options: JournalOptions,
    writer: Writer,
    readers: Readers,
}

impl SqliteJournal {
    pub(crate) fn start(
        dir: &Path,
        options: &JournalOptions,
        db: Db,
        head: HeadFile,
        watch: Arc<Watch>,
    ) -> Result<Self> {
        let readers = Readers::new(dir, options);
        Ok(Self {
            dir: dir.to_owned(),
            options: options.clone(),
            writer: Writer::start(db, head, watch)?,
            readers,
        })
    }

    pub(crate) fn execute(&self, job: Box<dyn Job>) {
        self.writer.send(job);
    }

    pub(crate) fn try_execute(&self, job: Box<dyn Job>) -> std::result::Result<(), Box<dyn Job>> {
        self.writer.try_send(job)
    }

    pub(crate) fn read<T>(&self, work: impl FnOnce(&dyn View) -> Result<T>) -> Result<T> {
        self.readers.read(work)
    }

    /// Rewrites the database without its free pages; returns how many bytes that freed.
    pub(crate) fn compact(&self) -> Result<u64> {
        if self.writer.is_closed() {
            return Err(JournalError::Closed);
        }
        pruning::compact(&self.dir, &self.options)
    }

    /// Reads the current marks of the head file.
    pub(crate) fn head(&self) -> Result<Slots> {
        HeadFile::open(&self.dir)?.read()
    }

    /// Closes the readers first: the writer's connection must be the last to close, because it moves the log into the
    /// database.
    pub(crate) fn close(&self) {
        self.readers.close();
        self.writer.close();
    }

    pub(crate) fn called_from_ack(&self) -> bool {
        self.writer.is_current_thread()
    }

    pub(crate) fn poisoned_by(&self) -> Option<Arc<JournalError>> {
        self.writer.poisoned_by()
    }
}
