//! Sends spans and measures to a collector, as OTLP over HTTP.
//!
//! No caller waits for it: spans and measures go into a bounded queue, and a tokio task of its own sends them. A message
//! that the collector does not take is retried for at most [`EXPORT_MS_MAX`] and then lost; the loss is counted and
//! reported once.

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

pub use self::endpoint::{ENDPOINT_CHARS_MAX, EndpointError, Signal, endpoint, redacted};
use self::worker::Worker;
use crate::task::RecordTelemetry;

/// Maximum records whose spans and measures wait to be sent; further ones are dropped.
pub const QUEUE_MAX: usize = 4_096;
/// Maximum spans in one message to the collector.
pub const BATCH_SPANS_MAX: usize = 512;
/// Longest time in milliseconds that spans wait for a batch to fill.
pub const FLUSH_MS: u64 = 1_000;
/// Time in milliseconds between messages with metrics.
pub const METRICS_MS: u64 = 60_000;
/// Time limit in milliseconds for one message, retries included.
pub const EXPORT_MS_MAX: u64 = 5_000;
/// Time limit in milliseconds for the rest when the process ends.
pub const FINISH_MS_MAX: u64 = 2_000;

/// Addresses of the collector, and the identity of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Address for spans, with its path; `None` to send no spans.
    pub traces: Option<String>,
    /// Address for metrics, with its path; `None` to send no metrics.
    pub metrics: Option<String>,
    /// `service.name`.
    pub service: String,
    /// `service.version`.
    pub version: String,
    /// `service.instance.id`: distinguishes this process from others that run at the same time.
    pub instance: String,
}

/// Why telemetry cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    /// The HTTP client cannot be set up.
    #[error("set up HTTPS for telemetry: {reason}")]
    Client {
        /// Reason, as text.
        reason: String,
    },
    /// The exporter refuses its configuration, such as an environment variable.
    #[error("set up the export of telemetry")]
    Exporter(#[source] opentelemetry_otlp::ExporterBuildError),
    /// The collector did not take a message.
    #[error("send {what}: {reason}")]
    Send {
        /// Kind of the message: spans or metrics.
        what: &'static str,
        /// Reason, as text.
        reason: String,
    },
}

/// Sends telemetry to a collector. [`Exporter::finish`] sends what is still queued.
#[derive(Debug)]
pub struct Exporter {
    queue: Mutex<Option<mpsc::Sender<RecordTelemetry>>>,
    sending: Mutex<Option<JoinHandle<()>>>,
    counts: Arc<Counts>,
    has_traces: bool,
    has_metrics: bool,
}

/// Counts of spans given to the exporter and taken by the collector.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    given: AtomicU64,
    taken: AtomicU64,
}

impl Counts {
    /// Counts spans that the collector has taken.
    pub(crate) fn count_accepted(&self, spans: usize) {
        self.taken.fetch_add(spans as u64, Ordering::Relaxed);
    }
}

impl Exporter {
    /// Starts sending, on the runtime in which this is called. Does not connect yet.
    ///
    /// # Errors
    /// If the HTTP client or an exporter cannot be set up.
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

    /// Queues spans and measures. Never waits: if the queue is full they are dropped, and counted as missing.
    pub fn send(&self, mut told: RecordTelemetry) {
        // Telemetry without an address takes no place in the queue, and does not count as lost.
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

    /// Returns how many given spans the collector has not taken; after [`Self::finish`] these are lost.
    #[must_use]
    pub fn spans_missing(&self) -> u64 {
        let taken = self.counts.taken.load(Ordering::Relaxed);
        self.counts.given.load(Ordering::Relaxed).saturating_sub(taken)
    }

    /// Sends the rest for at most [`FINISH_MS_MAX`], and warns of losses.
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

/// Checks that a collector answers at these addresses, by sending each an empty message.
///
/// # Errors
/// The first address whose message is not taken, and why.
pub async fn reach(settings: &Settings) -> Result<(), OtlpError> {
    Worker::new(settings, Arc::default())?.reach().await
}
