//! What is told to others of the tasks that run here: to a collector, over OTLP, where the configuration names one.
//!
//! The keys `telemetry.*` say it, and the variables that every OpenTelemetry SDK reads. What the words of a task are
//! (content) is told only where `telemetry.content` says so.

use std::collections::BTreeMap;
use std::time::Duration;

use setpoint_telemetry::otlp::{self, EndpointError, Exporter, OtlpError, Settings, Signal};
use setpoint_telemetry::task::Content;

use crate::config::Config;
use setpoint_runtime::clock;

/// The key that names the collector.
pub(crate) const ENDPOINT_KEY: &str = "telemetry.otlp_endpoint";
/// Milliseconds that a collector has to answer whoever only asks whether it is there.
pub const REACH_MS_MAX: u64 = 3_000;
/// The key that lets content out.
const CONTENT_KEY: &str = "telemetry.content";

/// Telemetry cannot be sent as it is configured.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// An address.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The exporter.
    #[error(transparent)]
    Otlp(#[from] OtlpError),
}

/// Where telemetry goes and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Where to, and as whom.
    pub settings: Settings,
    /// Whether content goes there, too.
    pub content: Content,
}

impl Plan {
    /// What configuration and environment say; `None` where nothing is sent.
    ///
    /// # Errors
    /// What is no address of a collector.
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
            // A signal's own address is taken as it is.
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
        let content = if config.yes(CONTENT_KEY) { Content::Told } else { Content::Left };
        Ok(Some(Plan { settings, content }))
    }

    /// Where telemetry goes, as it may be seen.
    #[must_use]
    pub fn shown(&self) -> String {
        let to = |what: &str, address: &Option<String>| {
            address.as_deref().map(|address| format!("{what} go to {}", otlp::seen(address)))
        };
        let ways = [to("spans", &self.settings.traces), to("metrics", &self.settings.metrics)];
        ways.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Asks the collector whether it takes a message without anything in it. Blocks, for [`REACH_MS_MAX`] at most.
    ///
    /// # Errors
    /// Why it does not.
    pub fn reach(&self) -> Result<(), OtlpError> {
        let settings = self.settings.clone();
        let asked = async move {
            let limit = Duration::from_millis(REACH_MS_MAX);
            let reason = format!("no answer within {REACH_MS_MAX} ms");
            let late = |_| OtlpError::Send { what: "an empty message", reason };
            tokio::time::timeout(limit, otlp::reach(&settings)).await.map_err(late)?
        };
        // Whoever asks may be inside a runtime already, where another one cannot be waited for.
        let asking = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map_err(|error| OtlpError::Client { reason: error.to_string() })?.block_on(asked)
        });
        let ended = || OtlpError::Client { reason: "the thread that asked has panicked".to_owned() };
        asking.join().unwrap_or_else(|_| Err(ended()))
    }

    /// An exporter for it.
    ///
    /// # Errors
    /// Where the system or the environment do not allow it.
    pub fn exporter(&self) -> Result<Exporter, OtlpError> {
        Exporter::start(&self.settings)
    }
}

/// What tells this process from every other, in the form of the conventions: a UUID.
fn instance() -> String {
    let task = setpoint_protocol::TaskId::mint("process", std::process::id().into());
    let now = clock::now();
    setpoint_protocol::id::derive(&task, now.as_micros().unsigned_abs(), 0, now).to_string()
}

#[cfg(test)]
mod tests;
