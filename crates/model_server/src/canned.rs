//! A server with answers from the test, for what no model server sends: unusual lists of models, a collector.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub struct CannedRequest {
    /// The path that it asks for.
    pub path: String,
    /// Its first line and its headers.
    pub head: String,
    /// Its body, lossily decoded.
    pub body: String,
}

/// Starts a server on a free port of 127.0.0.1 and returns its address. `answer` maps a request to a status and a
/// body. It serves as long as the process lives.
///
/// # Errors
///
/// If no port is available.
pub fn canned(answer: impl Fn(CannedRequest) -> (u16, String) + Send + Sync + 'static) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            // A client that closes its connection does not fail the test.
            thread::spawn(move || drop(serve(stream, &*answer)));
        }
    });
    Ok(address)
}

fn serve(stream: TcpStream, answer: &dyn Fn(CannedRequest) -> (u16, String)) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? <= 2 {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let body = String::from_utf8_lossy(&body).into_owned();
    let (status, text) = answer(CannedRequest { path, head, body });
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", text.len());
    stream.get_mut().write_all(head.as_bytes())?;
    stream.get_mut().write_all(text.as_bytes())
}
