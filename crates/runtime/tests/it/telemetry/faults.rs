//! A collector that is away, slow or broken changes nothing in a task, and is reported once.

use std::io::Write;
use std::sync::{Arc, Mutex};

use setpoint_journal::Journal;
use setpoint_protocol::message::EndState;
use setpoint_protocol::{TaskId, Timestamp};
use setpoint_telemetry::measure::{Instrument, Measure};
use setpoint_telemetry::otlp::{BATCH_SPANS_MAX, Exporter, OtlpError, QUEUE_MAX, Settings, reach};
use setpoint_telemetry::span::{Span, SpanId, SpanKind, TraceId};
use setpoint_telemetry::task::{Content, RecordTelemetry};
use tracing::subscriber::DefaultGuard;

use super::collector::{Collector, Manner};
use super::{base, files, goal, run, settings, told};
use crate::support::organisation_of;

#[tokio::test]
async fn a_task_ends_as_it_would_without_a_collector() {
    let nobody = nobody().await;
    let mut ends = Vec::new();
    for manner in [
        None,
        Some(Manner::Broken),
        Some(Manner::Hangs),
        Some(Manner::Babbles),
        Some(Manner::HangsUp),
        Some(Manner::Takes),
    ] {
        let collector = match manner {
            Some(manner) => Some(Collector::start(manner).await),
            None => None,
        };
        let base = collector.as_ref().map_or_else(|| nobody.clone(), base);
        let (journal, files) = (Journal::in_memory(), files());
        let (log, _guard) = Log::start();
        let organisation = told(&journal, &base, Content::Omitted);
        let task = organisation.start(goal(files.path())).await.unwrap();
        organisation.ended(&task).await;
        let result = organisation.result(&task).unwrap().unwrap();
        let records = organisation.records(&task).unwrap().len();
        organisation.shutdown().await;
        assert!(collector.is_none_or(|collector| collector.requests() > 0), "{manner:?}");
        let warnings = log.lines();
        match manner {
            Some(Manner::Takes | Manner::Babbles) => assert!(warnings.is_empty(), "{warnings:?}"),
            // A collector that hangs is given up before its time limit.
            Some(Manner::Hangs) => {
                assert_eq!(warnings.len(), 1, "{warnings:?}");
                assert!(warnings[0].contains("telemetry was lost") && warnings[0].contains("is_late=true"));
            }
            None | Some(Manner::Broken | Manner::HangsUp) => {
                let refused = |line: &&String| line.contains("the collector does not accept telemetry");
                assert!(warnings.iter().filter(refused).count() <= 2, "one for each way: {warnings:?}");
                assert!(warnings[0].contains("the collector does not accept telemetry"), "{warnings:?}");
                assert!(warnings.iter().any(|line| line.contains("spans_lost=")), "{warnings:?}");
            }
        }
        ends.push((result.directive, records));
    }
    assert!(ends.iter().all(|end| *end == (EndState::Accept, ends[0].1)), "{ends:?}");
}

#[tokio::test]
async fn spans_that_exceed_the_queue_are_dropped_and_counted() {
    let collector = Collector::start(Manner::Takes).await;
    let exporter = Exporter::start(&settings(&base(&collector))).unwrap();
    // Nothing is sent while this test does not await.
    for n in 0..QUEUE_MAX as u64 + 10 {
        exporter.send(RecordTelemetry { spans: vec![span(n)], measures: vec![] });
    }
    exporter.finish().await;
    assert_eq!((exporter.spans_missing(), collector.spans().len()), (10, QUEUE_MAX));
    assert_eq!(collector.requests(), QUEUE_MAX.div_ceil(BATCH_SPANS_MAX));
    // What arrives after the end is lost; a second end has no effect.
    exporter.send(RecordTelemetry { spans: vec![span(1)], measures: vec![] });
    exporter.finish().await;
    assert_eq!(exporter.spans_missing(), 11);
}

#[tokio::test]
async fn disabled_telemetry_counts_no_losses() {
    let collector = Collector::start(Manner::Takes).await;
    let (log, _guard) = Log::start();
    let only_metrics = Settings { traces: None, ..settings(&base(&collector)) };
    let exporter = Exporter::start(&only_metrics).unwrap();
    for n in 0..QUEUE_MAX as u64 + 10 {
        exporter.send(RecordTelemetry { spans: vec![span(n)], measures: vec![] });
    }
    let measure = Measure { instrument: Instrument::Tasks, value: 1.0, attributes: vec![] };
    exporter.send(RecordTelemetry { spans: vec![span(0)], measures: vec![measure] });
    exporter.finish().await;
    assert_eq!((exporter.spans_missing(), log.lines().len()), (0, 0), "{:?}", log.lines());
    assert_eq!(collector.metrics().len(), 1, "what goes nowhere took the place of what is sent");
}

#[tokio::test]
async fn refused_spans_are_reported_once() {
    let (log, _guard) = Log::start();
    let only_spans = Settings { metrics: None, ..settings(&nobody().await) };
    let exporter = Exporter::start(&only_spans).unwrap();
    let spans = 3 * BATCH_SPANS_MAX as u64;
    for n in 0..spans {
        exporter.send(RecordTelemetry { spans: vec![span(n)], measures: vec![] });
    }
    exporter.finish().await;
    assert_eq!(exporter.spans_missing(), spans);
    let warnings = log.lines();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].contains("the collector does not accept telemetry")
            && warnings[0].contains("Connection refused")
    );
    assert!(warnings[1].contains(&format!("spans_lost={spans}")), "{warnings:?}");
}

#[tokio::test]
async fn a_collector_can_be_probed() {
    let takes = Collector::start(Manner::Takes).await;
    reach(&settings(&base(&takes))).await.unwrap();
    assert_eq!((takes.requests(), takes.spans().len()), (2, 0));
    let broken = Collector::start(Manner::Broken).await;
    let error = reach(&settings(&base(&broken))).await.unwrap_err();
    assert!(matches!(&error, OtlpError::Send { what: "spans", reason } if reason.contains("500")), "{error}");
    let error = reach(&settings(&nobody().await)).await.unwrap_err();
    assert!(
        matches!(&error, OtlpError::Send { what: "spans", reason } if reason.contains("refused")),
        "{error}"
    );
}

#[tokio::test]
async fn nothing_is_sent_unless_requested() {
    let collector = Collector::start(Manner::Takes).await;
    let files = files();
    let organisation = organisation_of(&Journal::in_memory(), super::brain());
    run(organisation, goal(files.path())).await;
    assert_eq!(collector.requests(), 0);
}

/// Returns an address without a server.
async fn nobody() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

fn span(n: u64) -> Span {
    let task = TaskId::mint("queue", 1);
    Span {
        trace: TraceId::of(&task),
        id: SpanId::of(&task, n, "x"),
        parent: None,
        name: "x".to_owned(),
        kind: SpanKind::Internal,
        start: Timestamp::from_micros(1),
        end: Timestamp::from_micros(2),
        attributes: vec![],
        events: vec![],
        events_dropped: 0,
        error: None,
    }
}

/// The log of this thread, from `warn` on.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn start() -> (Log, DefaultGuard) {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing::Level::WARN)
            .with_writer(move || writer.clone())
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn lines(&self) -> Vec<String> {
        let bytes = self.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
