//! Proxies: a server that only the proxy reaches, one that bypasses it, and localhost, for which none is
//! asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;

use crate::support::canned::canned;
use crate::support::{Came, Home};

const KEY: &str = "sk-through-the-proxy-0123456789";
/// A host name that does not resolve.
const MODEL: &str = "http://model.invalid/v1";
/// An address to which the system refuses a connection at once.
const UNREACHABLE: &str = "http://255.255.255.255:9/v1";

/// A local proxy. It sends every request to this one server, and opens no tunnels.
struct Proxy {
    address: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let server = server.trim_start_matches("http://").to_owned();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A client that closes its connection does not fail the test.
                drop(forward(stream, &server, &log));
            }
        });
        Proxy { address, seen }
    }

    /// Returns the first lines of the requests so far.
    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// Forwards one request and its answer.
fn forward(stream: TcpStream, server: &str, log: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut client = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let start = head.len();
        client.read_line(&mut head)?;
        let line = head.get(start..).unwrap_or_default();
        if line.len() <= 2 {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let first = head.lines().next().unwrap_or_default().to_owned();
    log.lock().unwrap().push(first.clone());
    if first.starts_with("CONNECT ") {
        assert!(!head.contains(KEY), "{head}");
        return client.get_mut().write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    }
    let mut body = vec![0; length];
    client.read_exact(&mut body)?;
    // A server expects only the path.
    let whole = first.split(' ').nth(1).unwrap_or_default();
    let path = whole.splitn(4, '/').nth(3).unwrap_or_default();
    let mut upstream = TcpStream::connect(server)?;
    upstream.write_all(head.replacen(whole, &format!("/{path}"), 1).as_bytes())?;
    upstream.write_all(&body)?;
    std::io::copy(&mut upstream, client.get_mut()).map(drop)
}

/// Starts a server with one model.
fn server() -> String {
    canned(|path, _| match path {
        "/v1/models" => (200, json!({ "data": [{ "id": "m" }] }).to_string()),
        _ => (404, String::new()),
    })
}

/// Runs `setpoint models` for a model at this address, in this environment.
fn models(home: &Home, address: &str, env: &[(&str, &str)]) -> Came {
    let base = format!("providers.mine.base_url={address}");
    let mut command = home.command(&["models", "--json", "--model", "mine/m", "--set", &base]);
    command.args(["--set", "providers.mine.key_env=MINE"]).env("MINE", KEY);
    let came = Came::of(command.envs(env.iter().copied()));
    assert!(!(came.out.clone() + &came.err).contains(KEY), "{came:#?}");
    came
}

#[test]
fn a_server_that_only_the_proxy_reaches_is_asked_through_it() {
    let home = Home::new();
    let proxy = Proxy::start(&server());
    for (n, variable) in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"].into_iter().enumerate() {
        let came = models(&home, MODEL, &[(variable, &proxy.address)]);
        assert_eq!(came.code, 0, "{variable}: {came:#?}");
        assert_eq!(proxy.seen().len(), n + 1, "{variable}: {:?}", proxy.seen());
    }
    assert!(
        proxy.seen().iter().all(|line| line == "GET http://model.invalid/v1/models HTTP/1.1"),
        "{:?}",
        proxy.seen()
    );
}

#[test]
fn hosts_in_no_proxy_bypass_the_proxy() {
    let home = Home::new();
    let proxy = Proxy::start(&server());
    let came = models(&home, UNREACHABLE, &[("HTTP_PROXY", &proxy.address)]);
    assert_eq!((came.code, proxy.seen().len()), (0, 1), "{came:#?}");
    for variable in ["NO_PROXY", "no_proxy"] {
        let env = [("HTTP_PROXY", proxy.address.as_str()), (variable, "example.org,255.255.255.255")];
        let came = models(&home, UNREACHABLE, &env);
        assert_eq!((came.code, proxy.seen().len()), (1, 1), "{came:#?}");
        assert!(came.out.contains("could not connect"), "{came:#?}");
    }
}

#[test]
fn https_uses_a_tunnel_and_the_proxy_never_sees_the_key() {
    let home = Home::new();
    let proxy = Proxy::start(&server());
    let env = [("HTTPS_PROXY", proxy.address.as_str()), ("HTTP_PROXY", "http://127.0.0.1:1")];
    let came = models(&home, "https://model.invalid/v1", &env);
    assert_eq!(came.code, 1, "{came:#?}");
    assert_eq!(proxy.seen(), ["CONNECT model.invalid:443 HTTP/1.1"], "{came:#?}");
}

#[test]
fn requests_to_localhost_bypass_the_proxy() {
    let home = Home::new();
    let address = server();
    let port = address.rsplit(':').next().unwrap();
    let env = [("HTTP_PROXY", "http://127.0.0.1:1"), ("ALL_PROXY", "http://127.0.0.1:1")];
    let came = models(&home, &address, &env);
    assert_eq!(came.code, 0, "{came:#?}");
    // `init` finds the same as every other command.
    let mut init = home.command(&["init", "--look-at", &address]);
    assert_eq!(Came::of(init.envs(env)).code, 0);
    let came = Came::of(home.command(&["models"]).envs(env));
    assert_eq!(came.code, 0, "{came:#?}");
    // A host name that only begins like localhost is another machine's.
    let proxy = Proxy::start(&address);
    let evil = format!("http://127.0.0.1.evil.invalid:{port}/v1");
    let came = models(&home, &evil, &[("HTTP_PROXY", &proxy.address)]);
    assert_eq!((came.code, proxy.seen().len()), (0, 1), "{came:#?}");
}
