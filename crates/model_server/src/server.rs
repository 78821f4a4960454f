//! The server that a test starts, asks and drops. It listens, keeps the log, and holds what outlives a request.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use crate::connection;
use crate::delay::Delay;
use crate::fault::{Fault, STORM};
use crate::script::Script;
use crate::seen::SeenRequest;
use crate::wire::Wire;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1024;
/// A name that does not resolve; its domain is reserved for that.
const UNKNOWN_HOST: &str = "model-server.invalid";

/// A model server on a local port. Dropping it stops it and leaves nothing behind.
pub struct ModelServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestOutcome {
    /// The request's number ([`SeenRequest::nth`]).
    pub nth: usize,
    /// Its wire.
    pub wire: Wire,
    /// The name of the fault that was really injected.
    pub fault: Option<&'static str>,
    /// The prompt tokens that the answer reports.
    pub input_tokens: Option<i128>,
    /// The output tokens that the answer reports.
    pub output_tokens: Option<i128>,
    /// Whether the connection accepted everything that was to be sent.
    pub is_complete: bool,
}

impl ModelServer {
    /// Starts on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// If no port is available.
    pub async fn start(script: Arc<dyn Script>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (refusals, orders) = mpsc::channel(1);
        let log = watch::Sender::new(Log::default());
        let shared = Arc::new(Shared { script, refusals, next: AtomicUsize::new(0), log });
        let accepting = tokio::spawn(accept(listener, address, Arc::clone(&shared), orders));
        Ok(Self { shared, address, accepting })
    }

    /// Returns the address that it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the base URL for a client of this wire.
    #[must_use]
    pub fn base(&self, wire: Wire) -> String {
        base(self.address, wire)
    }

    /// Returns the base URL with which a client meets this fault: another scheme for [`Fault::TlsGarbage`], an unknown
    /// name for [`Fault::DnsFailure`], the usual one for faults that a turn injects.
    #[must_use]
    pub fn base_with(&self, wire: Wire, fault: &Fault) -> String {
        match fault {
            Fault::TlsGarbage => format!("https://{}{}", self.address, wire.base_path()),
            Fault::DnsFailure => format!("http://{UNKNOWN_HOST}{}", wire.base_path()),
            _ => self.base(wire),
        }
    }

    /// Returns every request so far.
    #[must_use]
    pub fn seen(&self) -> Vec<SeenRequest> {
        self.shared.log.borrow().seen.clone()
    }

    /// Returns the outcome of every request whose answer has ended, in the order in which they ended.
    #[must_use]
    pub fn served(&self) -> Vec<RequestOutcome> {
        self.shared.log.borrow().served.clone()
    }

    /// Returns the number of open connections.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.shared.log.borrow().open
    }

    /// Waits until there were at least this many requests.
    pub async fn until_seen(&self, count: usize) {
        self.until(|log| log.seen.len() >= count).await;
    }

    /// Waits until at least this many answers have ended.
    pub async fn until_served(&self, count: usize) {
        self.until(|log| log.served.len() >= count).await;
    }

    /// Waits until no connection is open.
    pub async fn until_idle(&self) {
        self.until(|log| log.open == 0).await;
    }

    async fn until(&self, is_so: impl Fn(&Log) -> bool) {
        let mut log = self.shared.log.subscribe();
        // The sender is owned by this server, so it cannot be dropped.
        let _reached = log.wait_for(|log| is_so(log)).await;
    }

    /// Stops it and waits until nothing is left; dropping it does the same without waiting.
    pub async fn stop(mut self) {
        self.accepting.abort();
        let _aborted = (&mut self.accepting).await;
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // This task owns the tasks of all connections.
        self.accepting.abort();
    }
}

/// A port that is bound but does not listen: connections to it are refused while this lives.
#[derive(Debug)]
pub struct RefusedAddress {
    _socket: TcpSocket,
    /// The refusing address.
    pub address: SocketAddr,
}

impl RefusedAddress {
    /// Returns the base URL for a client of this wire.
    #[must_use]
    pub fn base(&self, wire: Wire) -> String {
        base(self.address, wire)
    }
}

/// Binds a port without listening.
///
/// # Errors
///
/// If no port is available.
pub fn refused_address() -> io::Result<RefusedAddress> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    let address = socket.local_addr()?;
    Ok(RefusedAddress { _socket: socket, address })
}

fn base(address: SocketAddr, wire: Wire) -> String {
    format!("http://{address}{}", wire.base_path())
}

/// Maximum prompts that are remembered, as in a provider's cache. Comparing with all of them, ten thousand requests took half
/// an hour.
const CACHED_PROMPTS_MAX: usize = 64;

/// The state that connections share.
pub(crate) struct Shared {
    pub(crate) script: Arc<dyn Script>,
    refusals: mpsc::Sender<Refusal>,
    next: AtomicUsize,
    log: watch::Sender<Log>,
}

/// The order to refuse connections for so long, and how to confirm that it has begun.
type Refusal = (Delay, oneshot::Sender<()>);

#[derive(Default)]
struct Log {
    seen: Vec<SeenRequest>,
    served: Vec<RequestOutcome>,
    /// Open connections.
    open: usize,
    storm_ends: Option<Instant>,
}

impl Shared {
    /// Returns the number of the next request.
    pub(crate) fn number(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns how much of a request's prompt, from its beginning, one of the last requests had too.
    pub(crate) fn repeated(&self, seen: &SeenRequest) -> usize {
        let is_like = |earlier: &&SeenRequest| {
            earlier.wire == seen.wire
                && earlier.asked.model == seen.asked.model
                && earlier.problems.is_empty()
        };
        let common = |earlier: &SeenRequest| {
            let pairs = seen.prompt.chars().zip(earlier.prompt.chars());
            pairs.take_while(|(one, other)| one == other).count()
        };
        let log = self.log.borrow();
        let earlier = log.seen.iter().rev().filter(is_like).take(CACHED_PROMPTS_MAX);
        earlier.map(common).max().unwrap_or_default()
    }

    pub(crate) fn record_request(&self, seen: SeenRequest) {
        self.log.send_modify(|log| log.seen.push(seen));
    }

    pub(crate) fn record_outcome(&self, served: RequestOutcome) {
        self.log.send_modify(|log| log.served.push(served));
    }

    /// Returns whether a storm is in progress.
    pub(crate) fn is_stormy(&self) -> bool {
        self.log.borrow().storm_ends.is_some_and(|ends| Instant::now() < ends)
    }

    /// Starts what outlives the request, before anything of its answer is sent.
    pub(crate) async fn prepare(&self, fault: Option<&Fault>) {
        match fault {
            Some(Fault::UnavailableStorm) => {
                self.log.send_modify(|log| log.storm_ends = Instant::now().checked_add(STORM));
            }
            Some(Fault::RefuseConnect(lasting)) => {
                let (begun, waiting) = oneshot::channel();
                if self.refusals.send((lasting.clone(), begun)).await.is_ok() {
                    let _begun = waiting.await;
                }
            }
            _ => {}
        }
    }
}

/// Counts a connection while it is open, however it ends.
struct Open(Arc<Shared>);

impl Open {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.log.send_modify(|log| log.open += 1);
        Self(Arc::clone(shared))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.log.send_modify(|log| log.open -= 1);
    }
}

async fn accept(
    mut listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
    mut orders: mpsc::Receiver<Refusal>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A failed accept (too many open files) only affects that client; the next may work.
                let Ok((stream, _)) = accepted else {
                    tokio::task::yield_now().await;
                    continue;
                };
                let open = Open::new(&shared);
                connections.spawn(async move { connection::serve(stream, &open.0).await });
            }
            Some(order) = orders.recv() => {
                drop(listener);
                match refuse(address, order, &mut orders).await {
                    Ok(again) => listener = again,
                    // Another program took the port meanwhile, so it stays lost; what is open ends by itself.
                    Err(_) => return drop(connections.join_all().await),
                }
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}

/// Holds the port without listening for as long as the order says.
async fn refuse(
    address: SocketAddr,
    (lasting, begun): Refusal,
    orders: &mut mpsc::Receiver<Refusal>,
) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let _told = begun.send(());
    let mut passing = std::pin::pin!(lasting.pass());
    loop {
        tokio::select! {
            () = &mut passing => return socket.listen(BACKLOG),
            // A further order during the refusal is already fulfilled.
            Some((_, begun)) = orders.recv() => drop(begun.send(())),
        }
    }
}
