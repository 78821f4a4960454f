//! A local port that counts connections.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc::{Receiver, channel};

/// Longest datagram that is read.
const DATAGRAM_BYTES: usize = 2048;

/// Listens on the same loopback port with TCP and UDP. Connections are closed at once.
pub(crate) struct Listener {
    address: SocketAddr,
    accepted: Receiver<SocketAddr>,
    datagrams: UdpSocket,
}

impl Listener {
    pub(crate) fn new() -> Self {
        let (tcp, datagrams) = loop {
            let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
            // Another program may use the same port number for UDP.
            if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()) {
                break (tcp, udp);
            }
        };
        datagrams.set_nonblocking(true).unwrap();
        let address = tcp.local_addr().unwrap();
        let (sender, accepted) = channel();
        std::thread::spawn(move || {
            while let Ok((stream, peer)) = tcp.accept() {
                drop(stream);
                if sender.send(peer).is_err() {
                    return;
                }
            }
        });
        Listener { address, accepted, datagrams }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the number of connections and datagrams since the last call. A connection of its own marks the end of
    /// the queue, so that it need not wait.
    pub(crate) fn count(&self) -> usize {
        let own = TcpStream::connect(self.address).unwrap();
        let end = own.local_addr().unwrap();
        let connected = self.accepted.iter().take_while(|peer| *peer != end).count();
        let mut buffer = [0; DATAGRAM_BYTES];
        let sent = std::iter::from_fn(|| match self.datagrams.recv_from(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => None,
            _ => Some(()),
        });
        connected + sent.count()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Without a receiver the thread ends at the next connection.
        self.accepted = channel().1;
        drop(TcpStream::connect(self.address));
    }
}

#[test]
fn connections_and_datagrams_are_counted() {
    let listener = Listener::new();
    assert_eq!(listener.count(), 0);
    drop(TcpStream::connect(("127.0.0.1", listener.port())).unwrap());
    assert_eq!(listener.count(), 1);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(b"x", ("127.0.0.1", listener.port())).unwrap();
    assert_eq!(listener.count(), 1);
    assert_eq!(listener.count(), 0);
}
