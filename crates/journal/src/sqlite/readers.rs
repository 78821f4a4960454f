//! Connections that read. Each has its own snapshot, and none of them ever blocks the writer.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::connect::Db;
use crate::error::{JournalError, Result};
use crate::limits::READERS_IDLE_MAX;
use crate::options::JournalOptions;
use crate::store::View;

/// The idle connections.
pub(crate) struct Readers {
    dir: PathBuf,
    options: JournalOptions,
    idle: Mutex<IdleConnections>,
}

#[derive(Default)]
struct IdleConnections {
    connections: Vec<Db>,
    closed: bool,
}

impl Readers {
    pub(crate) fn new(dir: &Path, options: &JournalOptions) -> Self {
        Self { dir: dir.to_owned(), options: options.clone(), idle: Mutex::default() }
    }

    /// Reads in one snapshot.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&dyn View) -> Result<T>) -> Result<T> {
        let db = self.take()?;
        db.execute("BEGIN")?;
        let result = work(&db);
        // Keep the connection only if its snapshot has certainly ended.
        if db.execute("COMMIT").is_ok() {
            self.give_back(db);
        }
        result
    }

    /// Closes the idle connections; those in use are closed when they are returned.
    pub(crate) fn close(&self) {
        let mut idle = self.lock();
        idle.closed = true;
        let connections = std::mem::take(&mut idle.connections);
        drop(idle);
        drop(connections);
    }

    fn take(&self) -> Result<Db> {
        let mut idle = self.lock();
        if idle.closed {
            return Err(JournalError::Closed);
        }
        match idle.connections.pop() {
            Some(db) => Ok(db),
            None => {
                drop(idle);
                Db::reader(&self.dir, &self.options)
            }
        }
    }

    fn give_back(&self, db: Db) {
        let mut idle = self.lock();
        if !idle.closed && idle.connections.len() < READERS_IDLE_MAX {
            idle.connections.push(db);
        }
    }

    fn lock(&self) -> MutexGuard<'_, IdleConnections> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
