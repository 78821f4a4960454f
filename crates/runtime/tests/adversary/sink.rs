//! An HTTP server on the loopback interface: it keeps every request that it receives, and serves the pages of cases.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Bytes of a request that are read and kept.
const REQUEST_BYTES_MAX: usize = 16_384;

/// What all requests contained, and the answers by path.
#[derive(Clone)]
pub(crate) struct Sink {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    pages: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Sink {
    /// Starts the server; it ends with the process.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let sink = Sink { port, requests: Arc::default(), pages: Arc::default() };
        let served = sink.clone();
        std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| served.serve(stream)));
        sink
    }

    /// Returns the URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Sets the whole answer, head and body, to requests of this path.
    pub(crate) fn page(&self, path: &str, answer: String) {
        self.pages.lock().unwrap().insert(path.to_owned(), answer);
    }

    /// Returns the requests since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }

    fn serve(&self, mut stream: TcpStream) {
        let mut request = Vec::new();
        let mut bytes = [0; 4_096];
        while !is_whole(&request) && request.len() < REQUEST_BYTES_MAX {
            match stream.read(&mut bytes) {
                Ok(0) | Err(_) => break,
                Ok(count) => request.extend_from_slice(&bytes[..count]),
            }
        }
        let request = String::from_utf8_lossy(&request).into_owned();
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        // It is kept before the answer, so that a test finds the request of every answer here.
        self.requests.lock().unwrap().push(request);
        let answer = self.pages.lock().unwrap().get(&path).cloned();
        let answer =
            answer.unwrap_or_else(|| answer_of("200 OK", &[("Content-Type", "text/plain")], "thanks"));
        let _ = stream.write_all(answer.as_bytes());
    }
}

/// Returns an answer with these headers.
pub(crate) fn answer_of(status: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

/// Returns whether a request has its head, and the body that the head announces.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok()).flatten()
    });
    body.len() >= length.unwrap_or(0)
}
