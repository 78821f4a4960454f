use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::*;

async fn served() -> (SocketAddr, CancellationToken, JoinHandle<()>) {
    let listener = bind("127.0.0.1:0".parse().unwrap(), Reach::ThisMachine).await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(listener, || "# EOF\n".to_owned(), stop.clone()));
    (address, stop, serving)
}

fn client() -> reqwest::Client {
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap()
}

/// Sends these bytes, and returns the answer up to the end of the connection.
async fn raw(address: SocketAddr, sent: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may close the connection before all of it is sent.
    drop(stream.write_all(sent).await);
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer).await);
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn only_one_page_is_served_and_it_is_read_only() {
    let (address, stop, serving) = served().await;
    let client = client();
    let page = client.get(format!("http://{address}/metrics")).send().await.unwrap();
    assert_eq!(
        (page.status().as_u16(), page.headers()["content-type"].to_str().unwrap()),
        (200, prometheus::CONTENT_TYPE)
    );
    assert_eq!(page.text().await.unwrap(), "# EOF\n");
    for path in ["/", "/metrics/", "/x/metrics", "/metricsx"] {
        let url = format!("http://{address}{path}");
        let status = client.get(url).send().await.unwrap().status().as_u16();
        assert_eq!(status, 404, "{path}");
    }
    let posted = client.post(format!("http://{address}/metrics")).body("x").send().await.unwrap();
    assert_eq!((posted.status().as_u16(), posted.headers()["allow"].to_str().unwrap()), (405, "GET, HEAD"));
    stop.cancel();
    serving.await.unwrap();
    assert!(client.get(format!("http://{address}/metrics")).send().await.is_err(), "it goes on");
}

#[tokio::test]
async fn address_others_can_reach_is_refused_unless_allowed() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let refused = bind(address.parse().unwrap(), Reach::ThisMachine).await;
        assert!(matches!(refused, Err(ServeError::NotLoopback { .. })), "{address}");
    }
    bind("0.0.0.0:0".parse().unwrap(), Reach::Anybody).await.unwrap();
    let taken = bind("127.0.0.1:0".parse().unwrap(), Reach::ThisMachine).await.unwrap();
    let again = bind(taken.local_addr().unwrap(), Reach::ThisMachine).await;
    assert!(matches!(again, Err(ServeError::Bind { .. })));
}

#[tokio::test]
async fn request_under_a_foreign_host_name_is_refused() {
    let (address, ..) = served().await;
    for (host, status) in [
        ("evil.example", "403"),
        ("127.0.0.1.evil.example", "403"),
        ("evil.example:80", "403"),
        ("localhost:9", "200"),
        ("127.0.0.1:9", "200"),
        ("[::1]:9", "200"),
    ] {
        let answer = raw(address, format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{host}: {answer}");
    }
}

#[tokio::test]
async fn oversized_or_invalid_requests_do_not_stop_the_next_one() {
    let (address, ..) = served().await;
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(2 * REQUEST_BYTES_MAX));
    let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(HEADERS_MAX + 1));
    for bad in [long.as_bytes(), many.as_bytes(), b"\x16\x03\x01\x00\xff\x00\x00", b"\r\n\r\n\0\0\0"] {
        let answer = raw(address, bad).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let answer = raw(address, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Silent clients take all places; they are dropped when their time is up, and the waiting client is served.
#[tokio::test(start_paused = true)]
async fn silent_clients_block_others_only_briefly() {
    let (address, ..) = served().await;
    let begun = tokio::time::Instant::now();
    let mut silent = Vec::new();
    for _ in 0..CONNECTIONS_MAX + 8 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let answer = raw(address, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // On the test's own clock; Prometheus gives up after ten seconds.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}
