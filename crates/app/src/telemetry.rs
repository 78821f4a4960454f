//! Telemetry of the tasks that run here: sent to a collector over OTLP if the configuration names one.
//!
//! The keys `telemetry.*` configure it, and the variables that every OpenTelemetry SDK reads. The words of a task (its
//! content) are sent only if `telemetry.content` is set.

use std::collections::BTreeMap;
use std::time::Duration;

use setpoint_telemetry::otlp::{self, EndpointError, Exporter, OtlpError, Settings, Signal};
use setpoint_telemetry::task::Content;

use crate::config::Config;
use setpoint_runtime::clock;

/// Configuration key of the collector's address.
pub(crate) const ENDPOINT_KEY: &str = "telemetry.otlp_endpoint";
/// Maximum milliseconds that a collector may take to answer a probe.
pub const REACH_MS_MAX: u64 = 3_000;
/// Configuration key that allows content.
const CONTENT_KEY: &str = "telemetry.content";

/// Why telemetry cannot be sent as configured.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// An address is not valid.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The exporter failed.
    #[error(transparent)]
    Otlp(#[from] OtlpError),
}

/// Where telemetry goes and what it contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Receiver and sender.
    pub settings: Settings,
    /// Whether content is sent.
    pub content: Content,
}

impl Plan {
    /// Reads configuration and environment; `None` if nothing is sent.
    ///
    /// # Errors
    /// If an address is not valid.
    pub fn of(config: &Config, env: &BTreeMap<String, String>) -> Result<Option<Plan>, EndpointError> {
        let said = |name: &str| env.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
        let is = |name: &str, word: &str| said(name).is_some_and(|value| value.eq_ignore_ascii_case(word));
        if is("OTEL_SDK_DISABLED", "true") {
            return Ok(None);
        }
        let base = config.text(ENDPOINT_KEY).filter(|base| !base.trim().is_empty());
        let to = |signal, own: &str, exporter: &str| {
            if is(exporter, "none") {
                return Ok(None);
            }
            // A signal's own address is used unchanged.
            match (said(own), base) {
                (Some(own), _) => otlp::endpoint(own, None).map(Some),
                (None, Some(base)) => otlp::endpoint(base, Some(signal)).map(Some),
                (None, None) => Ok(None),
            }
        };
        let traces = to(Signal::Traces, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER")?;
        let metrics = to(Signal::Metrics, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_METRICS_EXPORTER")?;
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        let settings = Settings {
            traces,
            metrics,
            service: said("OTEL_SERVICE_NAME").unwrap_or("setpoint").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instance: instance(),
        };
        let content = if config.is_on(CONTENT_KEY) { Content::Exported } else { Content::Omitted };
        Ok(Some(Plan { settings, content }))
    }

    /// Returns where telemetry goes, without secrets.
    #[must_use]
    pub fn shown(&self) -> String {
        let to = |what: &str, address: &Option<String>| {
            address.as_deref().map(|address| format!("{what} go to {}", otlp::redacted(address)))
        };
        let ways = [to("spans", &self.settings.traces), to("metrics", &self.settings.metrics)];
        ways.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Checks that the collector accepts an empty message. Blocks for at most [`REACH_MS_MAX`].
    ///
    /// # Errors
    /// If the collector does not accept it.
    pub fn reach(&self) -> Result<(), OtlpError> {
        let settings = self.settings.clone();
        let asked = async move {
            let limit = Duration::from_millis(REACH_MS_MAX);
            let reason = format!("no answer within {REACH_MS_MAX} ms");
            let late = |_| OtlpError::Send { what: "an empty message", reason };
            tokio::time::timeout(limit, otlp::reach(&settings)).await.map_err(late)?
        };
        // The caller may be inside a runtime, in which another one cannot block.
        let asking = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map_err(|error| OtlpError::Client { reason: error.to_string() })?.block_on(asked)
        });
        let ended = || OtlpError::Client { reason: "the thread that asked has panicked".to_owned() };
        asking.join().unwrap_or_else(|_| Err(ended()))
    }

    /// Creates an exporter.
    ///
    /// # Errors
    /// If the system or the environment does not allow it.
    pub fn exporter(&self) -> Result<Exporter, OtlpError> {
        Exporter::start(&self.settings)
    }
}

/// Returns a unique id of this process, in the form of the conventions: a UUID.
fn instance() -> String {
    let task = setpoint_protocol::TaskId::mint("process", std::process::id().into());
    let now = clock::now();
    setpoint_protocol::id::derive(&task, now.as_micros().unsigned_abs(), 0, now).to_string()
}

#[cfg(test)]
mod tests;
