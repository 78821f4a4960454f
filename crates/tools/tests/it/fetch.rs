//! `http_fetch` with consent, on a server of this machine.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use secrecy::SecretString;
use serde_json::{Value, json};
use setpoint_fetch::{Fetcher, Resolver, address};
use setpoint_protocol::tool::{ErrorKind, SideEffect, Source, ToolAnswer};
use setpoint_scrub::Scrub;
use setpoint_tools::Registry;
use setpoint_tools::approval_file::{ApprovalFile, Decision, Denials};
use setpoint_tools::secrets::{Secret, Secrets, server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{World, host};

const KEY: &str = "sk-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5";

const PAGE: &str = "<title>The page</title><h1>Head</h1><p>Some <a href=/more>text</a>.<script>no()</script>";

/// The names that were looked up; all of them are this machine.
#[derive(Default)]
struct Names(Mutex<Vec<String>>);

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.0.lock().unwrap().push(name.to_owned());
        Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)])
    }
}

/// A task's place, and a server that answers a path by what it says: `/404` with that status, `/to?URL` with a redirect.
struct Web {
    world: World,
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    /// The headers of each request.
    headers: Arc<Mutex<Vec<String>>>,
    names: Arc<Names>,
}

impl Web {
    async fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let headers: Arc<Mutex<Vec<String>>> = Arc::default();
        let (seen, all) = (Arc::clone(&requests), Arc::clone(&headers));
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (mut request, mut block) = (Vec::new(), [0; 4_096]);
                while !request.ends_with(b"\r\n\r\n") {
                    match stream.read(&mut block).await {
                        Ok(got) if got > 0 => request.extend(&block[..got]),
                        _ => break,
                    }
                }
                let request = String::from_utf8_lossy(&request).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                seen.lock().unwrap().push(path.clone());
                all.lock().unwrap().push(request.clone());
                let said = if path == "/echo" { echo(&request) } else { answer(&path) };
                // A client that went away needs no answer.
                let _ = stream.write_all(said.as_bytes()).await;
            }
        });
        let mut web = Web { world: World::new(), port, requests, headers, names: Arc::default() };
        web.allow(address::is_public_or_private);
        web
    }

    fn allow(&mut self, is_allowed: fn(IpAddr) -> bool) {
        let keys = Scrub::named(&[("WEB_KEY".to_owned(), SecretString::from(KEY))]);
        let fetcher = Fetcher::new(self.names.clone(), is_allowed);
        self.world.registry = Registry::built_in(&host().without_keys(keys).with_fetcher(fetcher));
    }

    fn url(&self, path: &str) -> String {
        format!("http://site.test:{}{path}", self.port)
    }

    async fn get(&self, path: &str) -> ToolAnswer {
        self.world.run_allowed("http_fetch", json!({ "url": self.url(path) })).await
    }

    /// Returns the answer to a call that must be refused without a question, and that nothing was sent or looked up.
    async fn refused(&self, url: &str) -> ToolAnswer {
        let answer = self.world.run("http_fetch", json!({ "url": url })).await;
        assert!(!answer.ok && answer.approval.is_none(), "{url}: {}", answer.text);
        self.is_untouched();
        answer
    }

    fn is_untouched(&self) {
        assert!(self.requests.lock().unwrap().is_empty() && self.names.0.lock().unwrap().is_empty());
    }
}

/// Returns an answer that repeats the request, also reversed.
fn echo(request: &str) -> String {
    let body = format!("{request}\n{}", request.chars().rev().collect::<String>());
    let head = "200 OK\r\ncontent-type: text/plain\r\nconnection: close";
    format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn answer(path: &str) -> String {
    let (head, body) = match path.split_once('?').unwrap_or((path, "")) {
        ("/to", to) => (format!("302 Found\r\nlocation: {to}"), String::new()),
        ("/page", _) => ("200 OK\r\ncontent-type: text/html".to_owned(), PAGE.to_owned()),
        ("/long", _) => ("200 OK\r\ncontent-type: text/plain".to_owned(), "ü".repeat(30_000)),
        ("/key", _) => ("200 OK\r\ncontent-type: text/plain".to_owned(), format!("it is {KEY}.")),
        ("/image", _) => ("200 OK\r\ncontent-type: image/png".to_owned(), "x".repeat(1_536)),
        (path, _) => (format!("{} Status", path.trim_start_matches('/')), "told why".to_owned()),
    };
    format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn facts(answer: &ToolAnswer) -> &Value {
    assert!(answer.ok, "{}", answer.text);
    &answer.facts.as_ref().unwrap().0
}

#[tokio::test]
async fn a_denied_address_is_refused_under_any_name() {
    for (lines, is_denied) in
        [("deny host 127.0.0.1", true), ("# no\ndeny host localhost", true), ("deny host 127.0.0.2", false)]
    {
        let mut web = Web::new().await;
        let denials = Denials::default();
        denials.set(ApprovalFile::parse(lines, "approve.txt", &web.world.surroundings()).unwrap());
        web.world.registry = web.world.registry.clone().denying(denials);
        let answer = web.get("/page").await;
        assert_eq!(answer.error_kind == Some(ErrorKind::Consent), is_denied, "{lines}: {}", answer.text);
        assert_eq!(web.requests.lock().unwrap().is_empty(), is_denied, "{lines}");
        assert!(!is_denied || answer.text.contains("denies its address 127.0.0.1"), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_fetch_asks_first_and_names_its_host() {
    let web = Web::new().await;
    let url = web.url("/page?q=1");
    let need =
        web.world.need("http_fetch", json!({ "url": url.to_uppercase().replace("PAGE?Q", "page?q") })).await;
    assert_eq!(need.command, format!("GET {url}"));
    assert_eq!(need.hosts, ["site.test"]);
    assert_eq!(need.reason, "it would connect to site.test");
    assert!(need.writes.is_empty() && need.deletes.is_empty() && need.cwd.is_none());
    web.is_untouched();
    for (line, decision) in [
        ("host site.test", Decision::Allow { line: 1 }),
        ("host other.test", Decision::Refuse { line: None }),
        ("host *.test\ndeny host site.test", Decision::Refuse { line: Some(2) }),
    ] {
        let file = ApprovalFile::parse(line, "f", &web.world.surroundings()).unwrap();
        assert_eq!(file.decide(&need), decision, "{line}");
    }
    // The consent is for this URL alone.
    let other = json!({ "url": web.url("/page?q=2") });
    let answer = web.world.run_under("http_fetch", other, Some(need.digest.clone())).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::ApprovalRequired));
    web.is_untouched();
    assert!(web.world.run_under("http_fetch", json!({ "url": url }), Some(need.digest)).await.ok);
    assert_eq!(*web.requests.lock().unwrap(), ["/page?q=1"]);
}

#[tokio::test]
async fn a_page_becomes_markdown_with_its_facts() {
    let web = Web::new().await;
    let url = web.url("/page");
    let answer = web.get("/page").await;
    let more = web.url("/more");
    assert_eq!(
        answer.text,
        format!("{url} (200, text/html, {} characters)\n# Head\n\nSome [text]({more}).", 22 + more.len())
    );
    assert_eq!(answer.side_effect, SideEffect::None);
    assert_eq!(answer.source, Some(Source::Web("site.test".to_owned())));
    let wanted = json!({
        "url": url, "final_url": url, "status": 200, "content_type": "text/html", "title": "The page",
        "bytes": PAGE.len(), "complete": true,
    });
    assert_eq!(*facts(&answer), wanted);

    let raw = web.world.run_allowed("http_fetch", json!({ "url": url, "raw": true })).await;
    assert_eq!(raw.text.split_once('\n').unwrap().1, PAGE);
    assert!(facts(&raw).get("title").is_none());
}

#[tokio::test]
async fn long_text_is_cut_and_says_so() {
    let web = Web::new().await;
    let answer = web.get("/long").await;
    assert!(
        answer.text.contains("(200, text/plain, the first 20000 of 30000 characters)\n"),
        "{:.90}",
        answer.text
    );
    assert_eq!(answer.text.chars().filter(|c| *c == 'ü').count(), 20_000);
    assert_eq!((&facts(&answer)["complete"], &facts(&answer)["bytes"]), (&json!(false), &json!(60_000)));
    let input = json!({ "url": web.url("/long"), "max_chars": 30_000 });
    let whole = web.world.run_allowed("http_fetch", input).await;
    assert_eq!(facts(&whole)["complete"], json!(true));
    for max in [0, 200_001] {
        let input = json!({ "url": web.url("/long"), "max_chars": max });
        assert_eq!(
            web.world.run("http_fetch", input).await.error_kind,
            Some(ErrorKind::InvalidInput),
            "{max}"
        );
    }
}

#[tokio::test]
async fn what_is_no_text_is_only_named() {
    let web = Web::new().await;
    let answer = web.get("/image").await;
    assert!(
        answer.text.ends_with("/image (200, image/png, 1.5 KiB): it is no text, so its content is not given")
    );
    assert_eq!((&facts(&answer)["complete"], &facts(&answer)["bytes"]), (&json!(false), &json!(1_536)));
}

#[tokio::test]
async fn another_host_needs_a_consent_of_its_own() {
    let web = Web::new().await;
    let to = format!("http://other.test:{}/page", web.port);
    let answer = web.get(&format!("/to?{to}")).await;
    assert!(answer.text.contains(&format!("answered 302 and leads to {to}.")), "{}", answer.text);
    assert_eq!((&facts(&answer)["redirect"], &facts(&answer)["complete"]), (&json!(to), &json!(false)));
    assert_eq!(*web.names.0.lock().unwrap(), ["site.test"]);
    assert_eq!(web.requests.lock().unwrap().len(), 1);
    assert_eq!(web.world.need("http_fetch", json!({ "url": to })).await.hosts, ["other.test"]);

    // Within the host it is followed.
    let answer = web.get("/to?/page").await;
    assert_eq!(facts(&answer)["final_url"], json!(web.url("/page")));
}

#[tokio::test]
async fn a_failed_fetch_has_its_kind() {
    let web = Web::new().await;
    for (path, kind) in [
        ("/404", ErrorKind::NotFound),
        ("/410", ErrorKind::NotFound),
        ("/401", ErrorKind::Permission),
        ("/403", ErrorKind::Permission),
        ("/429", ErrorKind::RateLimit),
        ("/408", ErrorKind::Network),
        ("/500", ErrorKind::Network),
        ("/503", ErrorKind::Network),
        ("/400", ErrorKind::InvalidInput),
        ("/to?file:///etc/passwd", ErrorKind::InvalidData),
    ] {
        let answer = web.get(path).await;
        assert_eq!(answer.error_kind, Some(kind), "{path}: {}", answer.text);
        assert!(answer.text.starts_with(&format!("failed to fetch {}", web.url(path))), "{}", answer.text);
    }
    // Nothing listens there.
    let free = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let input = json!({ "url": format!("http://site.test:{free}/") });
    let answer = web.world.run_allowed("http_fetch", input).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::Network), "{}", answer.text);
}

#[tokio::test]
async fn private_addresses_stay_closed_with_consent() {
    let mut web = Web::new().await;
    web.allow(address::is_public);
    // An address is refused before a person is asked; a name is looked up only with consent.
    for host in ["127.0.0.1", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1"] {
        let answer = web.refused(&format!("http://{host}:{}/page", web.port)).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::Permission), "{host}");
    }
    let answer = web.get("/page").await;
    assert_eq!(answer.error_kind, Some(ErrorKind::Permission));
    assert!(answer.text.contains("`tools.fetch_private`"), "{}", answer.text);
    assert!(web.requests.lock().unwrap().is_empty());
    web.allow(address::is_public_or_private);
    assert!(web.get("/page").await.ok);
}

#[tokio::test]
async fn a_key_is_not_sent_in_any_form() {
    let web = Web::new().await;
    let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = KEY.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let mixed: String = KEY
        .chars()
        .enumerate()
        .map(|(at, c)| if at % 3 == 0 { format!("%{:02x}", u32::from(c)) } else { c.into() })
        .collect();
    let base64 = "c2stWm05dlltRnlZbUY2Y1hWNE1USXpORFUyTnpnNQ";
    for form in [KEY, &hex, &percent, &mixed, base64, &KEY.chars().rev().collect::<String>()] {
        for url in [
            web.url(&format!("/page?q={form}")),
            web.url(&format!("/{form}/x")),
            web.url(&format!("/#{form}")),
        ] {
            let answer = web.refused(&url).await;
            assert_eq!(answer.error_kind, Some(ErrorKind::Permission), "{form}");
            assert!(answer.text.contains("contains a key") && !answer.text.contains(form), "{}", answer.text);
        }
    }
    web.refused(&format!("http://{KEY}.site.test/")).await;
    // What comes back is cleaned as every answer is.
    let answer = web.get("/key").await;
    assert!(answer.text.ends_with("it is [key WEB_KEY]."), "{}", answer.text);
}

/// A secret for this machine's server at that port, beside another one that is bound elsewhere.
async fn with_secrets() -> Web {
    let mut web = Web::new().await;
    let bound = |place: String| Secret { value: Ok(KEY.into()), servers: vec![server(&place).unwrap()] };
    let here = bound(format!("127.0.0.1:{}", web.port));
    let there = bound("api.example.org".to_owned());
    let named = bound(format!("site.test:{}", web.port));
    let secrets = Secrets::new(
        [("here", here), ("there", there), ("named", named)].map(|(name, one)| (name.to_owned(), one)).into(),
    );
    let keys = Scrub::named(&[("secrets.here".to_owned(), SecretString::from(KEY))]);
    let fetcher = Fetcher::new(web.names.clone(), address::is_public_or_private);
    let host = host().without_keys(keys).with_fetcher(fetcher).with_secrets(secrets);
    web.world.registry = Registry::built_in(&host);
    web
}

#[tokio::test]
async fn a_secret_is_in_the_request_alone() {
    let web = with_secrets().await;
    let url = format!("http://127.0.0.1:{}/echo", web.port);
    let headers = json!({ "Authorization": "Bearer secret://here", "Accept": "application/json" });
    let input = json!({ "url": url, "headers": headers });
    let need = web.world.need("http_fetch", input.clone()).await;
    assert_eq!(
        need.command,
        format!("GET {url}\nAccept: application/json\nAuthorization: Bearer secret://here")
    );
    assert_eq!(need.reason, "it would connect to 127.0.0.1 and send the secret here");
    web.is_untouched();
    // The consent is for these headers alone.
    let other = json!({ "url": url, "headers": { "X-Key": "secret://here" } });
    let answer = web.world.run_under("http_fetch", other, Some(need.digest.clone())).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::ApprovalRequired));
    let answer = web.world.run_under("http_fetch", input, Some(need.digest)).await;
    let sent = web.headers.lock().unwrap().concat();
    assert!(sent.contains(&format!("authorization: Bearer {KEY}\r\n")), "{sent}");
    assert!(sent.contains("accept: application/json\r\n") && !sent.contains("text/html"), "{sent}");
    // The server repeats it, and nothing of that comes back.
    let told = format!("{answer:?}");
    let reversed: String = KEY.chars().rev().collect();
    assert!(answer.ok && told.matches("[key secrets.here]").count() == 2, "{told}");
    assert!(!told.contains(KEY) && !told.contains(&reversed), "{told}");
}

#[tokio::test]
async fn a_page_that_is_cut_holds_no_part_of_a_key() {
    let web = with_secrets().await;
    let url = format!("http://127.0.0.1:{}/echo", web.port);
    let input =
        |chars: usize| json!({ "url": url, "headers": { "X-Key": "secret://here" }, "max_chars": chars });
    let whole = web.world.run_allowed("http_fetch", input(100_000)).await.text;
    let at = whole.find("[key secrets.here]").unwrap();
    let begins = whole.find('\n').unwrap() + 1;
    let begin: String = KEY.chars().take(3).collect();
    // Within the first key, wherever the page is cut.
    for chars in (at - begins..at - begins + KEY.len()).step_by(3) {
        let answer = web.world.run_allowed("http_fetch", input(chars)).await;
        let (_, given) = answer.text.split_once('\n').unwrap();
        assert!(!given.contains(&begin), "{given}");
    }
}

#[tokio::test]
async fn a_secret_does_not_follow_a_redirect() {
    let web = with_secrets().await;
    let to = format!("http://other.test:{}/page", web.port);
    let url = format!("http://127.0.0.1:{}/to?{to}", web.port);
    let input = json!({ "url": url, "headers": { "X-Key": "secret://here" } });
    let answer = web.world.run_allowed("http_fetch", input).await;
    assert_eq!(facts(&answer)["redirect"], json!(to));
    assert_eq!(web.headers.lock().unwrap().iter().filter(|one| one.contains(KEY)).count(), 1);
    // Within the same place it goes along.
    let input = json!({ "url": format!("http://127.0.0.1:{}/to?/page", web.port), "headers": { "X-Key": "secret://here" } });
    assert!(web.world.run_allowed("http_fetch", input).await.ok);
    assert_eq!(web.headers.lock().unwrap().iter().filter(|one| one.contains(KEY)).count(), 3);
}

#[tokio::test]
async fn a_header_that_may_not_be_sent_is_refused_unasked() {
    let web = with_secrets().await;
    let here = format!("http://127.0.0.1:{}/page", web.port);
    let named = web.url("/page");
    for (url, header, value, told) in [
        (&here, "X-Key", "secret://there", "may not be sent to 127.0.0.1"),
        (&here, "X-Key", "secret://none", "no secret is called none"),
        (&here, "X-Key", "secret://here and more", "write the reference at the end"),
        // A name is looked up again by the connection, and the connection is open.
        (&named, "X-Key", "secret://named", "over https or within this machine"),
        (&here, "Host", "evil.test", "the header host is set by the client"),
        (&here, "Cookie", "secret://here", "the header cookie is set by the client"),
        // A part of an answer could hold a part of a key.
        (&here, "Range", "bytes=2-10", "the header range is set by the client"),
        (&here, "X-Key", "a\r\nHost: evil.test", "has line breaks"),
        (&here, "X-Key\r\nHost", "a", "as its name"),
        (&here, "X-Key", KEY, "contains a key of this machine"),
    ] {
        let answer = web.world.run("http_fetch", json!({ "url": url, "headers": { header: value } })).await;
        assert!(!answer.ok && answer.approval.is_none(), "{header}: {value}: {}", answer.text);
        assert!(answer.text.contains(told) && !answer.text.contains(KEY), "{}", answer.text);
        web.is_untouched();
    }
}

#[tokio::test]
async fn headers_are_offered_where_a_secret_is_bound() {
    let spec = |world: &World| world.registry.tool("http_fetch").unwrap().spec();
    let with = spec(&with_secrets().await.world);
    assert!(
        with.description.contains("here (127.0.0.1:") && with.description.contains("there (api.example.org)")
    );
    assert!(with.input_schema.0["properties"]["headers"].is_object());
    let web = Web::new().await;
    assert!(spec(&web.world).input_schema.0["properties"].get("headers").is_none());
    let input = json!({ "url": web.url("/page"), "headers": { "X-Key": "a" } });
    let answer = web.world.run("http_fetch", input).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput), "{}", answer.text);
    web.is_untouched();
}

#[tokio::test]
async fn a_url_that_is_none_is_a_fault_of_the_call() {
    let web = Web::new().await;
    for url in [
        "",
        "site.test",
        "file:///etc/passwd",
        "http://me:secret@site.test/",
        "http://site.test:22/",
        "http://a b/",
    ] {
        let answer = web.refused(url).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput), "{url}: {}", answer.text);
        assert!(answer.text.starts_with("failed to use the parameter `url`: "), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_fetch_is_no_probe() {
    let mut web = Web::new().await;
    web.world.probe = true;
    let answer = web.refused(&web.url("/page")).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::Blocked));
}

#[tokio::test]
async fn a_cancelled_fetch_is_reported() {
    let web = Web::new().await;
    let need = web.world.need("http_fetch", json!({ "url": web.url("/page") })).await;
    web.world.cancel.cancel();
    // A resolver that never answers leaves only the cancellation.
    struct Silent;
    #[async_trait]
    impl Resolver for Silent {
        async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            std::future::pending().await
        }
    }
    let mut world = web.world;
    let fetcher = Fetcher::new(Arc::new(Silent), address::is_public);
    world.registry = Registry::built_in(&host().with_fetcher(fetcher));
    let url = format!("http://site.test:{}/page", web.port);
    let answer = world.run_under("http_fetch", json!({ "url": url }), Some(need.digest)).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::Interrupted), "{}", answer.text);
}
