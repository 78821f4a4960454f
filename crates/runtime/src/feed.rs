//! Sends the records of running tasks to the telemetry exporter.
//!
//! It listens through a tap, so no task waits for it. It reads from the journal what the tap loses, and what another
//! process recorded before.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use setpoint_history::HistoryError;
use setpoint_history::records::record_of;
use setpoint_journal::Journal;
use setpoint_protocol::record::Record;
use setpoint_protocol::text::error_chain;
use setpoint_protocol::{TaskId, Timestamp};
use setpoint_telemetry::otlp::Exporter;
use setpoint_telemetry::task::{Content, TaskTrace};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::clock;
use crate::tap::{Event, Tap, TapItem};

/// The feed of an organisation.
pub(crate) struct Feed {
    exporter: Arc<Exporter>,
    expected: Expected,
    stop: CancellationToken,
    listening: Mutex<Option<JoinHandle<()>>>,
}

/// Tasks that this process drives, each with the time since when: earlier records were exported by the process that
/// drove them then.
type Expected = Arc<Mutex<BTreeMap<TaskId, Timestamp>>>;

impl Feed {
    /// Starts to listen.
    pub(crate) fn start(journal: Journal, tap: Tap, exporter: Exporter, content: Content) -> Self {
        let (exporter, expected) = (Arc::new(exporter), Expected::default());
        let stop = CancellationToken::new();
        let listener = Listener {
            journal,
            exporter: Arc::clone(&exporter),
            expected: Arc::clone(&expected),
            content,
            traces: BTreeMap::new(),
        };
        let listening = tokio::spawn(listener.listen(tap, stop.clone()));
        Feed { exporter, expected, stop, listening: Mutex::new(Some(listening)) }
    }

    /// Exports a task from now on.
    pub(crate) fn expect(&self, task: &TaskId) {
        self.expect_since(task, clock::now());
    }

    /// Exports a task from a moment on.
    pub(crate) fn expect_since(&self, task: &TaskId, since: Timestamp) {
        tasks(&self.expected).entry(task.clone()).or_insert(since);
    }

    /// Returns the number of spans that the collector has not accepted.
    #[cfg(test)]
    pub(crate) fn spans_missing(&self) -> u64 {
        self.exporter.spans_missing()
    }

    /// Exports the remaining records, for as long as the exporter allows.
    pub(crate) async fn finish(&self) {
        self.stop.cancel();
        let listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(listening) = listening {
            drop(listening.await);
        }
        self.exporter.finish().await;
    }
}

fn tasks(expected: &Expected) -> MutexGuard<'_, BTreeMap<TaskId, Timestamp>> {
    expected.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Listener {
    journal: Journal,
    exporter: Arc<Exporter>,
    expected: Expected,
    content: Content,
    traces: BTreeMap<TaskId, TaskTrace>,
}

impl Listener {
    async fn listen(mut self, mut tap: Tap, stop: CancellationToken) {
        loop {
            let tapped = tokio::select! {
                biased;
                tapped = tap.next() => tapped,
                // By then everything that was published has been heard.
                () = stop.cancelled() => return,
            };
            match tapped {
                TapItem::Event(Event::Records { task, records, .. }) => self.hear(&task, &records).await,
                TapItem::Event(Event::Released { task, .. }) => self.forget(&task),
                TapItem::Event(Event::Progress { .. }) => {}
                TapItem::Lagged(events) => self.catch_up(events).await,
                TapItem::Closed => return,
            }
        }
    }

    async fn hear(&mut self, task: &TaskId, records: &[Record]) {
        let Some(first) = records.first() else { return };
        let heard = self.traces.get(task).map_or(0, TaskTrace::last_seq);
        if first.seq > heard.saturating_add(1) {
            // The journal has the missing records.
            self.read(task, heard).await;
        }
        for record in records {
            self.observe(task, record);
        }
    }

    /// Reads lost events from the journal, for all expected tasks.
    async fn catch_up(&mut self, events: u64) {
        tracing::debug!(events, "telemetry has fallen behind, and reads the journal");
        let expected: Vec<TaskId> = tasks(&self.expected).keys().cloned().collect();
        for task in expected {
            let heard = self.traces.get(&task).map_or(0, TaskTrace::last_seq);
            self.read(&task, heard).await;
        }
    }

    async fn read(&mut self, task: &TaskId, heard: u64) {
        let (journal, id) = (self.journal.clone(), task.clone());
        let reading = tokio::task::spawn_blocking(move || {
            let rows = journal.rows(id.as_str(), heard.saturating_add(1));
            rows.map(|row| record_of(row?)).collect::<Result<Vec<Record>, HistoryError>>()
        });
        match reading.await {
            Ok(Ok(records)) => records.iter().for_each(|record| self.observe(task, record)),
            Ok(Err(error)) => {
                let error = error_chain(&error);
                tracing::debug!(%task, error, "a part of a task's telemetry is missing");
            }
            Err(_) => tracing::debug!(%task, "a part of a task's telemetry is missing"),
        }
    }

    fn observe(&mut self, task: &TaskId, record: &Record) {
        // A task that has ended or was released is no longer exported.
        let Some(since) = tasks(&self.expected).get(task).copied() else { return };
        let content = self.content;
        let trace = self.traces.entry(task.clone()).or_insert_with(|| TaskTrace::new(task.clone(), content));
        let told = trace.observe(record);
        if record.at >= since {
            self.exporter.send(told);
        }
        if trace.is_ended() {
            self.forget(task);
        }
    }

    fn forget(&mut self, task: &TaskId) {
        self.traces.remove(task);
        tasks(&self.expected).remove(task);
    }
}

#[cfg(test)]
mod tests;
