//! A server and a resolver that do what a test says.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use setpoint_fetch::Resolver;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Longest request that the server reads, in bytes.
const REQUEST_BYTES_MAX: usize = 64 * 1024;

/// A connection that the server accepted.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The address that the client connected to.
    pub(crate) to: IpAddr,
    pub(crate) request: String,
}

/// What is sent for a request to an address, and whether the connection stays open after it.
type Script = dyn Fn(&Seen) -> (Vec<u8>, bool) + Send + Sync;

/// A server on all addresses of this machine.
pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    pub(crate) async fn start(script: impl Fn(&Seen) -> (Vec<u8>, bool) + Send + Sync + 'static) -> Self {
        // On Linux such a socket takes connections to IPv4 addresses too.
        let both = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).await;
        let listener = match both {
            Ok(listener) => listener,
            Err(_) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).await.unwrap(),
        };
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::default();
        let (all, script): (Arc<Mutex<Vec<Seen>>>, Arc<Script>) = (Arc::clone(&seen), Arc::new(script));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let number = {
                    let mut all = all.lock().unwrap();
                    let to = stream.local_addr().map(|at| at.ip().to_canonical());
                    all.push(Seen { to: to.unwrap(), request: String::new() });
                    all.len() - 1
                };
                tokio::spawn(serve(stream, number, Arc::clone(&all), Arc::clone(&script)));
            }
        });
        Server { port, seen }
    }

    /// Returns the connections so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn forget(&self) {
        self.seen.lock().unwrap().clear();
    }
}

async fn serve(mut stream: TcpStream, number: usize, all: Arc<Mutex<Vec<Seen>>>, script: Arc<Script>) {
    let (mut request, mut block) = (Vec::new(), [0; 4_096]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < REQUEST_BYTES_MAX {
        // A greeting of TLS is not a request.
        match stream.read(&mut block).await {
            Ok(got) if got > 0 && block[0] != 0x16 => request.extend(&block[..got]),
            _ => return,
        }
    }
    while !has_body(&request) && request.len() < REQUEST_BYTES_MAX {
        match stream.read(&mut block).await {
            Ok(got) if got > 0 => request.extend(&block[..got]),
            _ => return,
        }
    }
    let seen = {
        let mut all = all.lock().unwrap();
        let Some(seen) = all.get_mut(number) else { return };
        seen.request = String::from_utf8_lossy(&request).into_owned();
        seen.clone()
    };
    let (answer, stays_open) = script(&seen);
    let is_sent = stream.write_all(&answer).await.is_ok();
    if is_sent && stays_open {
        std::future::pending::<()>().await;
    }
    // The client may have stopped reading.
    let _ = stream.shutdown().await;
}

/// Returns whether a request has as much of a body as it says.
fn has_body(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    length.is_none_or(|length| body.len() >= length.trim().parse().unwrap())
}

/// Returns an answer with this head and body.
pub(crate) fn answer(head: &str, body: &[u8]) -> (Vec<u8>, bool) {
    let head = head.trim_end().replace('\n', "\r\n");
    let mut bytes = format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n").into_bytes();
    bytes.extend(body);
    (bytes, false)
}

/// Answers each name with its lists of addresses in turn; the last one stays.
#[derive(Default)]
pub(crate) struct Names {
    answers: Mutex<BTreeMap<String, Vec<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub(crate) fn add(&self, name: &str, answers: Vec<Vec<IpAddr>>) {
        self.answers.lock().unwrap().insert(name.to_owned(), answers);
    }

    /// Returns the names that were asked for.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(name.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let left = answers.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        if left.len() > 1 { Ok(left.remove(0)) } else { Ok(left.first().cloned().unwrap_or_default()) }
    }
}

/// The same resolver as the client's own, which asks at every connection.
pub(crate) struct Unpinned(pub(crate) Arc<Names>);

impl reqwest::dns::Resolve for Unpinned {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let names = Arc::clone(&self.0);
        Box::pin(async move {
            let found = Resolver::resolve(&*names, name.as_str()).await?;
            let addresses = found.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as reqwest::dns::Addrs)
        })
    }
}
