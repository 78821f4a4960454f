//! A server with its own runtime, for tests without one: those that run a program and wait for it.

use std::io;
use std::ops::Deref;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

use crate::delay::Gate;
use crate::script::Script;
use crate::server::ModelServer;

/// A [`ModelServer`] on its own thread. Dropping it stops the server.
pub struct Hosted {
    server: ModelServer,
    runtime: Option<Runtime>,
}

impl Hosted {
    /// Starts on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// If no port or thread is available.
    pub fn start(script: Arc<dyn Script>) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let server = runtime.block_on(ModelServer::start(script))?;
        Ok(Self { server, runtime: Some(runtime) })
    }

    /// Waits until this many answers have reached a gate. Must not be called inside another runtime.
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
        // Does not wait: it may be dropped inside another runtime, where waiting is not allowed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
