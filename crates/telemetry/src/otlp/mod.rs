//! Spans and measures to a collector, as OTLP over HTTP.
//!
//! Nobody waits for it: what is told goes into a bounded queue, and one task of its own sends it on. What the collector
//! does not take is tried again for as long as [`EXPORT_MS_MAX`] and then lost; that is counted and said, once.

mod client;
mod convert;
mod endpoint;
mod meters;
mod worker;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

pub use self::endpoint::{ENDPOINT_CHARS_MAX, EndpointError, Signal, endpoint, seen};
use self::worker::Worker;
use crate::task::Told;

/// Records whose spans and measures wait to be sent; what comes beyond it is dropped.
pub const QUEUE_MAX: usize = 4_096;
/// Spans in one message to the collector.
pub const BATCH_SPANS_MAX: usize = 512;
/// Milliseconds that spans wait for company.
pub const FLUSH_MS: u64 = 1_000;
/// Milliseconds between messages with metrics.
pub const METRICS_MS: u64 = 60_000;
/// Milliseconds for one message, further tries included.
pub const EXPORT_MS_MAX: u64 = 5_000;
/// Milliseconds for what is left when the process ends.
pub const FINISH_MS_MAX: u64 = 2_000;

/// Where to, and as whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where spans go, the path included; none: nowhere.
    pub traces: Option<String>,
    /// Where metrics go, the path included; none: nowhere.
    pub metrics: Option<String>,
    /// `service.name`.
    pub service: String,
    /// `service.version`.
    pub version: String,
    /// `service.instance.id`: what tells this process from others that run at the same time.
    pub instance: String,
}

/// Telemetry cannot be sent as it is configured.
#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    /// There is no HTTP client on this machine.
    #[error("set up HTTPS for telemetry: {reason}")]
    Client {
        /// Why.
        reason: String,
    },
    /// The exporter refuses what the environment says of it.
    #[error("set up the export of telemetry")]
    Exporter(#[source] opentelemetry_otlp::ExporterBuildError),
    /// The collector did not take what it was sent.
    #[error("send {what}: {reason}")]
    Send {
        /// Which of it.
        what: &'static str,
        /// Why.
        reason: String,
    },
}

/// Sends to a collector. What it is given last is sent by [`Exporter::finish`].
#[derive(Debug)]
pub struct Exporter {
    queue: Mutex<Option<mpsc::Sender<Told>>>,
    sending: Mutex<Option<JoinHandle<()>>>,
    counts: Arc<Counts>,
    has_traces: bool,
    has_metrics: bool,
}

/// How many spans there were.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    given: AtomicU64,
    taken: AtomicU64,
}

impl Counts {
    /// The collector has taken so many.
    pub(crate) fn taken(&self, spans: usize) {
        self.taken.fetch_add(spans as u64, Ordering::Relaxed);
    }
}

impl Exporter {
    /// Begins to send, on the runtime that this is called in. Nothing is connected yet.
    ///
    /// # Errors
    /// Where the system or the environment do not allow it.
    pub fn start(settings: &Settings) -> Result<Self, OtlpError> {
        let counts = Arc::new(Counts::default());
        let worker = Worker::new(settings, Arc::clone(&counts))?;
        let (sender, receiver) = mpsc::channel(QUEUE_MAX);
        let sending = tokio::spawn(worker.run(receiver));
        Ok(Exporter {
            queue: Mutex::new(Some(sender)),
            sending: Mutex::new(Some(sending)),
            counts,
            has_traces: settings.traces.is_some(),
            has_metrics: settings.metrics.is_some(),
        })
    }

    /// Sends this on some time soon. Never waits: what does not fit into the queue is dropped, and missing in the end.
    pub fn send(&self, mut told: Told) {
        // What goes nowhere takes no place in the queue, and cannot be lost.
        if !self.has_traces {
            told.spans.clear();
        }
        if !self.has_metrics {
            told.measures.clear();
        }
        if told.spans.is_empty() && told.measures.is_empty() {
            return;
        }
        self.counts.given.fetch_add(told.spans.len() as u64, Ordering::Relaxed);
        if let Some(queue) = &*self.queue.lock().unwrap_or_else(PoisonError::into_inner) {
            drop(queue.try_send(told));
        }
    }

    /// Spans that it was given and the collector has not taken: lost, once it has finished.
    #[must_use]
    pub fn spans_missing(&self) -> u64 {
        let taken = self.counts.taken.load(Ordering::Relaxed);
        self.counts.given.load(Ordering::Relaxed).saturating_sub(taken)
    }

    /// Sends what is left, for [`FINISH_MS_MAX`] at most, and says what was lost.
    pub async fn finish(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let sending = self.sending.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut sending) = sending else { return };
        let limit = Duration::from_millis(FINISH_MS_MAX);
        let is_late = tokio::time::timeout(limit, &mut sending).await.is_err();
        if is_late {
            sending.abort();
        }
        let spans_lost = self.spans_missing();
        if is_late || spans_lost > 0 {
            tracing::warn!(spans_lost, is_late, "telemetry was lost; the journal has everything");
        }
    }
}

/// Whether a collector answers at these addresses: each is sent a message without anything in it.
///
/// # Errors
/// The first that does not take it, and why.
pub async fn reach(settings: &Settings) -> Result<(), OtlpError> {
    Worker::new(settings, Arc::default())?.reach().await
}
