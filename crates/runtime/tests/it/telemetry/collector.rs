//! A collector on loopback: receives OTLP over HTTP, keeps what it was sent, and misbehaves on request.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;

/// How it treats a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Accepts it.
    Takes,
    /// Answers that it is broken.
    Broken,
    /// Never answers.
    Hangs,
    /// Accepts it, and answers something that is not protobuf.
    Babbles,
    /// Closes the connection instead of answering.
    HangsUp,
}

/// A running collector.
pub(super) struct Collector {
    pub(super) address: SocketAddr,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    traces: Vec<ExportTraceServiceRequest>,
    metrics: Vec<ExportMetricsServiceRequest>,
    requests: usize,
}

impl Collector {
    pub(super) async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let kept: Arc<Mutex<Kept>> = Arc::default();
        let keeping = Arc::clone(&kept);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = Arc::clone(&keeping);
                let service = service_fn(move |request| answer(request, manner, Arc::clone(&kept)));
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Collector { address, kept }
    }

    /// Returns the number of requests received.
    pub(super) fn requests(&self) -> usize {
        self.kept.lock().unwrap().requests
    }

    /// Returns every span, in order of arrival.
    pub(super) fn spans(&self) -> Vec<Span> {
        let kept = self.kept.lock().unwrap();
        let scopes = kept.traces.iter().flat_map(|sent| &sent.resource_spans).flat_map(|r| &r.scope_spans);
        scopes.flat_map(|scope| scope.spans.clone()).collect()
    }

    /// Returns the sender of the spans.
    pub(super) fn resource(&self) -> Resource {
        let kept = self.kept.lock().unwrap();
        kept.traces[0].resource_spans[0].resource.clone().unwrap()
    }

    /// Returns the metrics of the last request that had any.
    pub(super) fn metrics(&self) -> Vec<Metric> {
        let kept = self.kept.lock().unwrap();
        let last = kept.metrics.last();
        let scopes = last.iter().flat_map(|sent| &sent.resource_metrics).flat_map(|r| &r.scope_metrics);
        scopes.flat_map(|scope| scope.metrics.clone()).collect()
    }
}

/// Returns a metric's name with the number of its data points and their sum.
pub(super) fn totals(metric: &Metric) -> (String, usize, f64) {
    let (points, sum) = match metric.data.as_ref().unwrap() {
        metric::Data::Histogram(data) => {
            (data.data_points.len(), data.data_points.iter().filter_map(|point| point.sum).sum())
        }
        metric::Data::Sum(data) => (data.data_points.len(), data.data_points.len() as f64),
        other => panic!("{other:?}"),
    };
    (metric.name.clone(), points, sum)
}

async fn answer(
    request: Request<Incoming>,
    manner: Manner,
    kept: Arc<Mutex<Kept>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    assert_eq!(request.headers()["content-type"], "application/x-protobuf");
    let body = request.into_body().collect().await.unwrap().to_bytes();
    {
        let mut kept = kept.lock().unwrap();
        kept.requests += 1;
        match path.as_str() {
            "/v1/traces" => kept.traces.push(ExportTraceServiceRequest::decode(body).unwrap()),
            "/v1/metrics" => kept.metrics.push(ExportMetricsServiceRequest::decode(body).unwrap()),
            other => panic!("{other}"),
        }
    }
    let (status, body) = match manner {
        Manner::Takes => (StatusCode::OK, ""),
        Manner::Broken => (StatusCode::INTERNAL_SERVER_ERROR, "it is broken"),
        Manner::Babbles => (StatusCode::OK, "\u{feff}<html>what is this?"),
        Manner::Hangs => std::future::pending().await,
        Manner::HangsUp => panic!("hangs up"),
    };
    Ok(Response::builder().status(status).body(Full::from(body)).unwrap())
}
