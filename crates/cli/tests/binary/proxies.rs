//! Proxies: a server that only the proxy reaches, one that bypasses it, and localhost, for which none is
//! asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;
use setpoint_model_server::canned;

use crate::support::{Came, Home};

const KEY: &str = "sk-through-the-proxy-0123456789";
/// A host name that does not resolve.
const MODEL: &str = "http://model.invalid/v1";
/// An address to which the system refuses a connection at once.
const UNREACHABLE: &str = "http://255.255.255.255:9/v1";

/// A local proxy. It sends every request to this one server, and opens no tunnels.
struct Proxy {
    address: String,
    /// First lines of the requests.
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
    let list = json!({ "data": [{ "id": "m" }] }).to_string();
    canned(move |asked| if asked.path == "/v1/models" { (200, list.clone()) } else { (404, String::new()) })
        .unwrap()
}

#[test]
fn every_server_but_those_of_this_machine_is_asked_by_proxy() {
    let home = Home::new();
    let address = server();
    let proxy = Proxy::start(&address);
    let through = proxy.address.as_str();
    let port = address.rsplit(':').next().unwrap();
    // A host name that only begins like localhost is another machine's.
    let evil = format!("http://127.0.0.1.evil.invalid:{port}/v1");
    let by_name = "GET http://model.invalid/v1/models HTTP/1.1";
    let direct = "http://255.255.255.255:9/v1/models";
    let nobody = "http://127.0.0.1:1";
    for (base, env, code, seen) in [
        (MODEL, [("HTTP_PROXY", through), ("", "")], 0, by_name),
        (MODEL, [("http_proxy", through), ("", "")], 0, by_name),
        (MODEL, [("ALL_PROXY", through), ("", "")], 0, by_name),
        (&evil, [("HTTP_PROXY", through), ("", "")], 0, &format!("GET {evil}/models HTTP/1.1")),
        (UNREACHABLE, [("HTTP_PROXY", through), ("", "")], 0, &format!("GET {direct} HTTP/1.1")),
        (UNREACHABLE, [("HTTP_PROXY", through), ("NO_PROXY", "example.org,255.255.255.255")], 1, ""),
        (UNREACHABLE, [("HTTP_PROXY", through), ("no_proxy", "example.org,255.255.255.255")], 1, ""),
        // A tunnel, of which the proxy sees the host and no key.
        (
            "https://model.invalid/v1",
            [("HTTPS_PROXY", through), ("HTTP_PROXY", nobody)],
            1,
            "CONNECT model.invalid:443 HTTP/1.1",
        ),
        (&address, [("HTTP_PROXY", nobody), ("ALL_PROXY", nobody)], 0, ""),
    ] {
        let set = format!("providers.mine.base_url={base}");
        let mut command = home.command(&["models", "--json", "--model", "mine/m", "--set", &set]);
        command.args(["--set", "providers.mine.key_env=MINE"]).env("MINE", KEY);
        let came = Came::of(command.envs(env.into_iter().filter(|(name, _)| !name.is_empty())));
        assert_eq!(came.code, code, "{base} {env:?}: {came:#?}");
        assert!(!(came.out.clone() + &came.err).contains(KEY), "{came:#?}");
        assert!(code == 0 || came.out.contains("could not connect"), "{came:#?}");
        let lines = std::mem::take(&mut *proxy.seen.lock().unwrap());
        assert_eq!(lines.concat(), seen, "{base} {env:?}");
    }
    // `init` finds the same as every other command.
    let mut init = home.command(&["init", "--look-at", &address]);
    assert_eq!(Came::of(init.envs([("HTTP_PROXY", nobody), ("ALL_PROXY", nobody)])).code, 0);
    assert_eq!(home.run(&["models"]).code, 0);
}
