use std::sync::Mutex;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::measure::{Instrument, Measure};

/// Starts a collector with these answers to its first messages, which takes all later ones. Returns its address, and the
/// answers that it gave.
async fn collector(answers: &'static [u16]) -> (String, Arc<Mutex<Vec<u16>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1/metrics", listener.local_addr().unwrap());
    let given: Arc<Mutex<Vec<u16>>> = Arc::default();
    let giving = Arc::clone(&given);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let status = answers.get(giving.lock().unwrap().len()).copied().unwrap_or(200);
            giving.lock().unwrap().push(status);
            answer(stream, status).await;
        }
    });
    (address, given)
}

async fn answer(mut stream: TcpStream, status: u16) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let (_, length) = head.split_once("content-length: ").unwrap();
    let mut body = vec![0; length.lines().next().unwrap().parse().unwrap()];
    stream.read_exact(&mut body).await.unwrap();
    assert!(!body.is_empty());
    let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.unwrap();
}

fn worker(metrics: String) -> Worker {
    drop(rustls::crypto::ring::default_provider().install_default());
    let settings = Settings {
        traces: None,
        metrics: Some(metrics),
        service: "setpoint".to_owned(),
        version: "0".to_owned(),
        instance: "test".to_owned(),
    };
    Worker::new(&settings, Arc::default()).unwrap()
}

fn told() -> RecordTelemetry {
    let measure = Measure { instrument: Instrument::Tasks, value: 1.0, attributes: Vec::new() };
    RecordTelemetry { measures: vec![measure], ..RecordTelemetry::default() }
}

/// A task ended while the collector was away, and no other ends after it came back.
#[tokio::test]
async fn metrics_not_taken_are_sent_with_the_next_message() {
    let (address, given) = collector(&[400, 400]).await;
    let mut worker = worker(address);
    worker.take(told()).await;
    for _ in 0..5 {
        worker.send_metrics().await;
    }
    assert_eq!(*given.lock().unwrap(), [400, 400, 200], "until they are taken, and once");
}

#[tokio::test(start_paused = true)]
async fn time_limit_of_a_message_includes_its_retries() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut worker = worker(format!("http://{}/v1/metrics", listener.local_addr().unwrap()));
    worker.take(told()).await;
    let begun = Instant::now();
    worker.send_metrics().await;
    assert_eq!(begun.elapsed().as_millis(), u128::from(EXPORT_MS_MAX));
    assert!(worker.has_new_measures);
}
