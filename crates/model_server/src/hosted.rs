//! A server with a runtime of its own, for tests that have none: those that run a program and wait for it.

use std::io;
use std::ops::Deref;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

use crate::delay::Gate;
use crate::script::Script;
use crate::server::ModelServer;

/// A [`ModelServer`] on a thread of its own. It stops when it is dropped.
#[derive(Debug)]
pub struct Hosted {
    server: ModelServer,
    runtime: Option<Runtime>,
}

impl Hosted {
    /// Starts on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// When no port or no thread can be had.
    pub fn start(script: Arc<dyn Script>) -> io::Result<Self> {
        Self::start_on(0, script)
    }

    /// Starts on this port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// When the port or a thread cannot be had.
    pub fn start_on(port: u16, script: Arc<dyn Script>) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let server = runtime.block_on(ModelServer::start_on(port, script))?;
        Ok(Self { server, runtime: Some(runtime) })
    }

    /// Waits until this many answers have come to a gate. Not to be called inside another runtime.
    pub fn wait_for(&self, gate: &Gate, arrivals: usize) {
        if let Some(runtime) = &self.runtime {
            runtime.block_on(gate.arrivals(arrivals));
        }
    }
}

impl Deref for Hosted {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        &self.server
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        // Not waiting: it may be dropped inside another runtime, where waiting is not allowed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
