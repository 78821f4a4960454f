//! Measures, aggregated by the OpenTelemetry SDK until they are read.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use opentelemetry::InstrumentationScope;
use opentelemetry::metrics::{Counter, Histogram, MeterProvider as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::reader::MetricReader;
use opentelemetry_sdk::metrics::{InstrumentKind, ManualReader, Pipeline, SdkMeterProvider, Temporality};

use super::convert::key_values;
use crate::measure::{Instrument, Measure};

/// All instruments of the process.
#[derive(Debug)]
pub(super) struct Meters {
    reader: Reader,
    /// Keeps the pipeline of the reader alive.
    _provider: SdkMeterProvider,
    histograms: BTreeMap<Instrument, Histogram<f64>>,
    counters: BTreeMap<Instrument, Counter<u64>>,
}

impl Meters {
    pub(super) fn new(resource: Resource, scope: InstrumentationScope, temporality: Temporality) -> Self {
        let reader = Reader(Arc::new(ManualReader::builder().with_temporality(temporality).build()));
        let provider =
            SdkMeterProvider::builder().with_resource(resource).with_reader(reader.clone()).build();
        let meter = provider.meter_with_scope(scope);
        let (mut histograms, mut counters) = (BTreeMap::new(), BTreeMap::new());
        for instrument in Instrument::ALL {
            let (name, about, unit) = (instrument.name(), instrument.about(), instrument.unit());
            match instrument.bounds() {
                Some(bounds) => {
                    let histogram = meter.f64_histogram(name).with_description(about).with_unit(unit);
                    histograms.insert(instrument, histogram.with_boundaries(bounds.to_vec()).build());
                }
                None => {
                    let counter = meter.u64_counter(name).with_description(about).with_unit(unit);
                    counters.insert(instrument, counter.build());
                }
            }
        }
        Meters { reader, _provider: provider, histograms, counters }
    }

    /// Adds a measure to its instrument.
    pub(super) fn record(&self, measure: Measure) {
        let attributes = key_values(measure.attributes);
        if let Some(histogram) = self.histograms.get(&measure.instrument) {
            histogram.record(measure.value, &attributes);
        } else if let Some(counter) = self.counters.get(&measure.instrument) {
            // Measures of counters are whole numbers.
            counter.add(measure.value as u64, &attributes);
        }
    }

    /// Returns the aggregated metrics.
    pub(super) fn read(&self) -> Result<ResourceMetrics, opentelemetry_sdk::error::OTelSdkError> {
        let mut metrics = ResourceMetrics::default();
        self.reader.collect(&mut metrics)?;
        Ok(metrics)
    }
}

/// A reader that the exporter's task reads, instead of a thread of the SDK.
#[derive(Clone, Debug)]
struct Reader(Arc<ManualReader>);

impl MetricReader for Reader {
    fn register_pipeline(&self, pipeline: Weak<Pipeline>) {
        self.0.register_pipeline(pipeline);
    }

    fn collect(&self, metrics: &mut ResourceMetrics) -> OTelSdkResult {
        self.0.collect(metrics)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn temporality(&self, kind: InstrumentKind) -> Temporality {
        self.0.temporality(kind)
    }
}
