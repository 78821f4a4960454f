//! What is sent, what is followed, and where a fetch stops.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use setpoint_fetch::{
    ADDRESSES_MAX, Answer, Body, FetchError, Fetcher, HEADER_BYTES_MAX, Limits, Page, REDIRECTS_MAX, Target,
    address,
};

use crate::support::{Names, Seen, Server, answer};

const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A server that is reached as `site.test`.
struct World {
    server: Server,
    names: Arc<Names>,
    limits: Limits,
}

impl World {
    async fn new(script: impl Fn(&Seen) -> (Vec<u8>, bool) + Send + Sync + 'static) -> Self {
        let names = Arc::new(Names::default());
        names.add("site.test", vec![vec![HOST]]);
        World { server: Server::start(script).await, names, limits: Limits::default() }
    }

    /// A server that says the same to everybody.
    async fn saying(head: &'static str, body: &'static [u8]) -> Self {
        World::new(move |_| answer(head, body)).await
    }

    fn target(&self, path: &str) -> Target {
        Target::parse(&format!("http://site.test:{}{path}", self.server.port)).unwrap()
    }

    async fn get(&self, path: &str) -> Result<Answer, FetchError> {
        let fetcher = Fetcher::new(self.names.clone(), address::is_public_or_private);
        fetcher.with_limits(self.limits).get(&self.target(path)).await
    }

    async fn page(&self, path: &str) -> Page {
        match self.get(path).await.unwrap() {
            Answer::Page(page) => page,
            Answer::Elsewhere { to, .. } => panic!("it leads to {to}"),
        }
    }

    async fn error(&self, path: &str) -> String {
        let error = self.get(path).await.unwrap_err();
        let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
        format!("{error}{}", source.unwrap_or_default())
    }
}

fn path(seen: &Seen) -> &str {
    seen.request.split(' ').nth(1).unwrap_or_default()
}

#[tokio::test]
async fn one_plain_get_is_sent() {
    let world =
        World::saying("200 OK\ncontent-type: Text/Plain; charset=utf-8\nset-cookie: a=b", b"hello").await;
    let page = world.page("/a%20b?q=1&r=%C3%BC").await;
    assert_eq!((page.status, page.media_type.as_str()), (200, "text/plain"));
    let text = "hello".to_owned();
    let body = Body::Text { text, is_html: false, bytes: 5, is_complete: true, is_lossy: false };
    assert_eq!(page.body, body);
    world.page("/").await;
    let seen = world.server.seen();
    let mut lines: Vec<&str> = seen[0].request.trim_end().lines().collect();
    assert_eq!(lines.remove(0), "GET /a%20b?q=1&r=%C3%BC HTTP/1.1");
    let mut names: Vec<&str> = lines.iter().filter_map(|line| line.split(':').next()).collect();
    names.sort_unstable();
    assert_eq!(names, ["accept", "accept-encoding", "host", "user-agent"]);
    assert!(
        lines.contains(&"accept-encoding: identity") && lines.contains(&"user-agent: Setpoint"),
        "{lines:?}"
    );
    // No cookie came back, and no connection was kept.
    assert!(!seen[1].request.contains("cookie"), "{}", seen[1].request);
    assert_eq!(seen.len(), 2);
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_all_redirects() {
    let world = World::new(|seen| {
        match path(seen).strip_prefix("/hop/").and_then(|left| left.parse::<usize>().ok()) {
            Some(0) | None => answer("200 OK\ncontent-type: text/plain", b"there"),
            Some(left) => answer(&format!("302 Found\nlocation: /hop/{}#part", left - 1), b""),
        }
    })
    .await;
    // A second answer would lead to an address that is refused.
    world.names.add("site.test", vec![vec![HOST], vec!["169.254.169.254".parse().unwrap()]]);
    let page = world.page(&format!("/hop/{REDIRECTS_MAX}")).await;
    assert_eq!(page.url, world.target("/hop/0"));
    assert_eq!(world.names.asked(), ["site.test"]);
    assert_eq!(world.server.seen().len(), REDIRECTS_MAX + 1);

    world.names.add("site.test", vec![vec![HOST]]);
    let error = world.error(&format!("/hop/{}", REDIRECTS_MAX + 1)).await;
    assert!(error.starts_with("follow more than 5 redirects"), "{error}");
    assert_eq!(world.server.seen().len(), 2 * (REDIRECTS_MAX + 1));
}

#[tokio::test]
async fn a_redirect_to_another_place_is_named_and_not_followed() {
    let world = World::new(|seen| {
        let to = path(seen).split_once('?').map(|(_, to)| to).unwrap_or_default();
        answer(&format!("301 Moved\nlocation: {to}"), b"<a href=x>moved</a>")
    })
    .await;
    world.names.add("other.test", vec![vec![HOST]]);
    let port = world.server.port;
    for (location, to) in [
        (format!("http://other.test:{port}/x"), format!("http://other.test:{port}/x")),
        ("//other.test/x".to_owned(), "http://other.test/x".to_owned()),
        (format!("https://site.test:{port}/"), format!("https://site.test:{port}/")),
        ("http://site.test/".to_owned(), "http://site.test/".to_owned()),
        (format!("http://www.site.test:{port}/"), format!("http://www.site.test:{port}/")),
    ] {
        world.server.forget();
        let Answer::Elsewhere { status, to: found } = world.get(&format!("/?{location}")).await.unwrap()
        else {
            panic!("it was followed")
        };
        assert_eq!((status, found.as_str()), (301, to.as_str()));
        assert_eq!(world.server.seen().len(), 1, "{location}");
    }
    assert!(!world.names.asked().contains(&"other.test".to_owned()));
    for (location, said) in [
        ("file:///etc/passwd", "follow its redirect: only http and https"),
        ("javascript:alert(1)", "follow its redirect: only http and https"),
        ("http://me:secret@site.test/", "follow its redirect: it contains a user"),
        ("http://other.test:22/", "follow its redirect: port 22"),
        ("http://[::1", "follow its redirect: it is not a whole URL"),
    ] {
        let error = world.error(&format!("/?{location}")).await;
        assert!(error.starts_with(said), "{location}: {error}");
    }
    let nowhere = World::saying("302 Found", b"").await;
    assert!(nowhere.error("/").await.contains("it names no place"));
}

#[tokio::test]
async fn every_address_of_a_name_must_be_allowed() {
    let world = World::saying("200 OK\ncontent-type: text/plain", b"x").await;
    let good = "127.0.0.1".parse().unwrap();
    for bad in ["169.254.169.254", "0.0.0.0", "::ffff:127.0.0.1", "224.0.0.1"] {
        world.names.add("site.test", vec![vec![good, bad.parse().unwrap()]]);
        let error = world.error("/").await;
        assert!(error.starts_with("connect to site.test: its address") && error.contains(bad), "{error}");
    }
    for count in [0, ADDRESSES_MAX + 1] {
        world.names.add("site.test", vec![vec![good; count]]);
        let error = world.error("/").await;
        assert!(error.contains(&format!("it has {count} addresses")), "{error}");
    }
    assert!(world.server.seen().is_empty());
    world.names.add("site.test", vec![vec![good; ADDRESSES_MAX]]);
    assert!(world.get("/").await.is_ok());
}

#[tokio::test]
async fn a_private_address_is_refused_with_what_allows_it() {
    let world = World::saying("200 OK\ncontent-type: text/plain", b"x").await;
    let public_only = Fetcher::new(world.names.clone(), address::is_public);
    let error = public_only.get(&world.target("/")).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "connect to site.test: its address 127.0.0.1 is in a private network or on this machine; a person can allow such \
         addresses with the setting `tools.fetch_private`"
    );
    assert!(world.server.seen().is_empty());
    let literal = Target::parse("http://10.0.0.1/").unwrap();
    assert!(matches!(public_only.refusal(&literal), Some(FetchError::Address { .. })));
    assert!(public_only.refusal(&world.target("/")).is_none());
}

#[tokio::test]
async fn a_status_that_is_no_success_is_an_error() {
    for (status, said) in
        [("404 Not Found", 404), ("500 Oops", 500), ("304 Not Modified", 304), ("300 Choose", 300)]
    {
        let world = World::new(move |_| answer(status, b"text")).await;
        assert_eq!(world.error("/").await, format!("read it: the server answered {said}"));
    }
}

#[tokio::test]
async fn a_body_is_cut_at_its_limit() {
    let mut world = World::new(|_| {
        // It never ends.
        (
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n{}", "é".repeat(5_000)).into_bytes(),
            true,
        )
    })
    .await;
    world.limits.body_bytes_max = 1_001;
    let Body::Text { text, bytes, is_complete, is_lossy, .. } = world.page("/").await.body else {
        panic!("no text")
    };
    assert_eq!((text, bytes, is_complete, is_lossy), ("é".repeat(500), 1_001, false, false));
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_complete() {
    let mut world = World::saying("200 OK\ncontent-type: text/plain", b"0123456789").await;
    world.limits.body_bytes_max = 10;
    assert!(matches!(world.page("/").await.body, Body::Text { is_complete: true, bytes: 10, .. }));
}

#[tokio::test]
async fn silence_ends_with_the_time() {
    for beginning in ["", "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nx"] {
        let mut world = World::new(|_| (beginning.as_bytes().to_vec(), true)).await;
        world.limits.time_max = Duration::from_millis(50);
        assert!(world.error("/").await.starts_with("read all of it within 50 ms"));
    }
}

#[tokio::test]
async fn large_headers_and_garbage_are_errors() {
    let large = "x".repeat(HEADER_BYTES_MAX / 4);
    let head = format!("200 OK\ncontent-type: text/plain\na: {large}\nb: {large}\nc: {large}\nd: {large}");
    let world = World::new(move |_| answer(&head, b"x")).await;
    assert!(world.error("/").await.starts_with("read its headers"));
    let many: String = (0..150).map(|number| format!("\na{number}: x")).collect();
    let head = format!("200 OK\ncontent-type: text/plain{many}");
    let world = World::new(move |_| answer(&head, b"x")).await;
    assert!(world.error("/").await.starts_with("reach site.test"));
    let world = World::new(|_| (b"SSH-2.0-OpenSSH\r\n".to_vec(), false)).await;
    assert!(world.error("/").await.starts_with("reach site.test"));
}

#[tokio::test]
async fn compressed_text_is_not_unpacked() {
    let world = World::saying("200 OK\ncontent-type: text/html\ncontent-encoding: gzip", b"\x1f\x8b").await;
    assert!(world.error("/").await.contains("compressed it unasked"));
}

#[tokio::test]
async fn what_is_no_text_is_named_and_not_read() {
    let world = World::new(|_| {
        // The body never comes.
        (b"HTTP/1.1 200 OK\r\ncontent-type: image/PNG\r\ncontent-length: 1000000\r\n\r\n".to_vec(), true)
    })
    .await;
    let page = world.page("/").await;
    assert_eq!((page.media_type.as_str(), page.body), ("image/png", Body::Other { bytes: Some(1_000_000) }));
    let world = World::saying("200 OK", b"who knows").await;
    assert_eq!(world.page("/").await.body, Body::Other { bytes: None });
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_reported() {
    let world = World::saying("200 OK", b"").await;
    let fetcher = Fetcher::new(world.names.clone(), address::is_public_or_private);
    let error = fetcher.get(&Target::parse("http://unknown.test/").unwrap()).await.unwrap_err();
    assert!(error.to_string().starts_with("look up unknown.test"), "{error}");
}
