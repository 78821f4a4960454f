//! The task that sends: spans in batches as they come, metrics periodically.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{
    MetricExporter, Protocol, RetryPolicy, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter as _;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::client::Client;
use super::convert::{scope, span_data};
use super::meters::Meters;
use super::{BATCH_SPANS_MAX, Counts, EXPORT_MS_MAX, FLUSH_MS, METRICS_MS, OtlpError, Settings, redacted};
use crate::task::RecordTelemetry;

/// Maximum retries of a message that a collector did not take.
const RETRIES_MAX: usize = 1;

/// The state of the sending task.
pub(super) struct Worker {
    traces: Option<SignalExporter<SpanExporter>>,
    metrics: Option<SignalExporter<MetricExporter>>,
    meters: Option<Meters>,
    scope: InstrumentationScope,
    spans: Vec<SpanData>,
    has_new_measures: bool,
    counts: Arc<Counts>,
}

/// An exporter, with its address and whether its failure was reported.
struct SignalExporter<E> {
    exporter: E,
    client: Client,
    address: String,
    has_warned: bool,
}

impl<E> SignalExporter<E> {
    /// Reports why messages fail, as a warning only the first time.
    fn failed(&mut self, error: &dyn std::error::Error) {
        let reason = self.reason(error);
        if std::mem::replace(&mut self.has_warned, true) {
            tracing::debug!(
                collector = self.address,
                reason,
                "the collector still does not accept telemetry"
            );
        } else {
            tracing::warn!(
                collector = self.address,
                reason,
                "the collector does not accept telemetry; tasks run without it, and further failures are not logged"
            );
        }
    }

    fn reason(&self, error: &dyn std::error::Error) -> String {
        self.client.failure().unwrap_or_else(|| error.to_string())
    }
}

impl Worker {
    pub(super) fn new(settings: &Settings, counts: Arc<Counts>) -> Result<Self, OtlpError> {
        let resource = Resource::builder()
            .with_service_name(settings.service.clone())
            .with_attributes([
                KeyValue::new("service.version", settings.version.clone()),
                KeyValue::new("service.instance.id", settings.instance.clone()),
            ])
            .build();
        let scope = scope(&settings.version);
        let traces = settings.traces.as_deref().map(|address| spans_to(address, &resource)).transpose()?;
        let metrics = settings.metrics.as_deref().map(metrics_to).transpose()?;
        let meters = metrics.as_ref().map(|way| {
            let temporality = way.exporter.temporality();
            Meters::new(resource.clone(), scope.clone(), temporality)
        });
        Ok(Worker { traces, metrics, meters, scope, spans: Vec::new(), has_new_measures: false, counts })
    }

    /// Runs until the queue is closed and everything is sent.
    pub(super) async fn run(mut self, mut queue: mpsc::Receiver<RecordTelemetry>) {
        let every = |ms| {
            let period = Duration::from_millis(ms);
            let mut ticks = interval_at(Instant::now() + period, period);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ticks
        };
        let (mut flush, mut measure) = (every(FLUSH_MS), every(METRICS_MS));
        loop {
            tokio::select! {
                told = queue.recv() => match told {
                    Some(told) => self.take(told).await,
                    None => break,
                },
                _ = flush.tick() => self.send_spans().await,
                _ = measure.tick() => self.send_metrics().await,
            }
        }
        self.send_spans().await;
        self.send_metrics().await;
    }

    async fn take(&mut self, told: RecordTelemetry) {
        if let Some(meters) = &self.meters {
            for measure in told.measures {
                meters.record(measure);
                self.has_new_measures = true;
            }
        }
        if self.traces.is_some() {
            for span in told.spans {
                self.spans.push(span_data(span, &self.scope));
                if self.spans.len() >= BATCH_SPANS_MAX {
                    self.send_spans().await;
                }
            }
        }
    }

    async fn send_spans(&mut self) {
        let Some(way) = &mut self.traces else { return };
        if self.spans.is_empty() {
            return;
        }
        let batch = std::mem::take(&mut self.spans);
        let count = batch.len();
        match within_time(way.exporter.export(batch)).await {
            Ok(()) => self.counts.count_accepted(count),
            Err(error) => way.failed(&error),
        }
    }

    async fn send_metrics(&mut self) {
        let (Some(way), Some(meters)) = (&mut self.metrics, &self.meters) else { return };
        if !std::mem::take(&mut self.has_new_measures) {
            return;
        }
        let sent = match meters.read() {
            Ok(metrics) => within_time(way.exporter.export(&metrics)).await,
            Err(error) => Err(error),
        };
        if let Err(error) = sent {
            // The next message includes these metrics. Ensure that there is one even if nothing more is measured.
            self.has_new_measures = true;
            way.failed(&error);
        }
    }

    /// Sends empty messages, and checks that they are taken.
    pub(super) async fn reach(&self) -> Result<(), OtlpError> {
        if let Some(way) = &self.traces {
            let sent = within_time(way.exporter.export(Vec::new())).await;
            sent.map_err(|error| OtlpError::Send { what: "spans", reason: way.reason(&error) })?;
        }
        if let Some(way) = &self.metrics {
            let sent = within_time(way.exporter.export(&ResourceMetrics::default())).await;
            sent.map_err(|error| OtlpError::Send { what: "metrics", reason: way.reason(&error) })?;
        }
        Ok(())
    }
}

/// Limits the time of a message with all its retries: the exporter's own limit applies to one try.
async fn within_time(sent: impl Future<Output = OTelSdkResult>) -> OTelSdkResult {
    let limit = Duration::from_millis(EXPORT_MS_MAX);
    tokio::time::timeout(limit, sent).await.unwrap_or(Err(OTelSdkError::Timeout(limit)))
}

/// Returns the retry policy: one retry, because an absent collector must not delay the end of a process.
fn retries() -> RetryPolicy {
    RetryPolicy::recommended().with_max_retries(RETRIES_MAX)
}

fn spans_to(address: &str, resource: &Resource) -> Result<SignalExporter<SpanExporter>, OtlpError> {
    let client = Client::new(address)?;
    let mut exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(client.clone())
        .with_endpoint(address)
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(Duration::from_millis(EXPORT_MS_MAX))
        .with_retry_policy(retries())
        .build()
        .map_err(OtlpError::Exporter)?;
    exporter.set_resource(resource);
    Ok(SignalExporter { exporter, client, address: redacted(address), has_warned: false })
}

fn metrics_to(address: &str) -> Result<SignalExporter<MetricExporter>, OtlpError> {
    let client = Client::new(address)?;
    let exporter = MetricExporter::builder()
        .with_http()
        .with_http_client(client.clone())
        .with_endpoint(address)
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(Duration::from_millis(EXPORT_MS_MAX))
        .with_retry_policy(retries())
        .build()
        .map_err(OtlpError::Exporter)?;
    Ok(SignalExporter { exporter, client, address: redacted(address), has_warned: false })
}

#[cfg(test)]
mod tests;
