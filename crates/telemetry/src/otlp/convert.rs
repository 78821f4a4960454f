//! Converts spans to the types of the OpenTelemetry SDK.

use std::time::{Duration, SystemTime};

use opentelemetry::trace::{Event, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use setpoint_protocol::Timestamp;

use crate::attribute::{self, Attribute, ERROR_TYPE, SCHEMA_URL};
use crate::span;

/// Converts a span for the exporter.
pub(super) fn span_data(span: span::Span, scope: &InstrumentationScope) -> SpanData {
    let mut attributes = key_values(span.attributes);
    let status = match span.error {
        None => Status::Unset,
        Some(error) => {
            attributes.push(KeyValue::new(ERROR_TYPE, error.clone()));
            Status::error(error)
        }
    };
    let mut events = SpanEvents::default();
    events.events = span.events.into_iter().map(event).collect();
    events.dropped_count = span.events_dropped;
    SpanData {
        span_context: SpanContext::new(
            TraceId::from_bytes(span.trace.0),
            SpanId::from_bytes(span.id.0),
            TraceFlags::SAMPLED,
            false,
            TraceState::default(),
        ),
        parent_span_id: span.parent.map_or(SpanId::INVALID, |parent| SpanId::from_bytes(parent.0)),
        parent_span_is_remote: false,
        span_kind: match span.kind {
            span::SpanKind::Internal => SpanKind::Internal,
            span::SpanKind::Client => SpanKind::Client,
        },
        name: span.name.into(),
        start_time: time(span.start),
        end_time: time(span.end),
        attributes,
        dropped_attributes_count: 0,
        events,
        links: SpanLinks::default(),
        status,
        instrumentation_scope: scope.clone(),
    }
}

/// Returns the scope: the program that made the spans, and the schema of their names.
pub(super) fn scope(version: &str) -> InstrumentationScope {
    InstrumentationScope::builder("setpoint")
        .with_version(version.to_owned())
        .with_schema_url(SCHEMA_URL)
        .build()
}

fn event(event: span::Event) -> Event {
    Event::new(event.name, time(event.at), key_values(event.attributes), 0)
}

/// Converts attributes to the SDK's type.
pub(super) fn key_values(attributes: Vec<Attribute>) -> Vec<KeyValue> {
    attributes.into_iter().map(|(name, held)| KeyValue::new(name, value(held))).collect()
}

fn value(value: attribute::Value) -> Value {
    match value {
        attribute::Value::Bool(value) => Value::Bool(value),
        attribute::Value::Int(value) => Value::I64(value),
        attribute::Value::Float(value) => Value::F64(value),
        attribute::Value::Text(value) => Value::String(value.into()),
        attribute::Value::Texts(values) => {
            Value::Array(Array::String(values.into_iter().map(StringValue::from).collect()))
        }
    }
}

/// Converts a time; one before 1970 becomes 1970, because OTLP has no earlier ones.
fn time(at: Timestamp) -> SystemTime {
    let micros = u64::try_from(at.as_micros()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_micros(micros)
}
