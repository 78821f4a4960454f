//! URLs that try to reach what is not public, and URLs that must be fetched: `tests/corpus`.
//!
//! A canary listens on every address of this machine and sees each connection, so a socket reports the outcome and not
//! the fetcher. Then the same URLs are fetched without the check of addresses, and by a client that looks a name up
//! again when it connects: what reaches the canary then is what the checks held back.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use setpoint_fetch::{Answer, Fetcher, Limits, Resolver as _, Target, address};

use crate::support::{Names, Seen, Server, Unpinned, answer};

const BLOCKED: &str = include_str!("../corpus/blocked.txt");
const ALLOWED: &str = include_str!("../corpus/allowed.txt");

const BLOCKED_MIN: usize = 160;
const ALLOWED_MIN: usize = 60;
/// URLs that must reach the canary without the checks.
const EFFECTIVE_MIN: usize = 100;

/// Stands for a public server.
const STAND_IN: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 9, 9, 9));

fn public_or_stand_in(address: IpAddr) -> bool {
    address == STAND_IN || address::is_public(address)
}

/// What the stand-in and the canary answer: a redirect to what the query of `/to` says, or who they are.
fn script(seen: &Seen) -> (Vec<u8>, bool) {
    let path = seen.request.split(' ').nth(1).unwrap_or_default();
    match path.strip_prefix("/to?") {
        Some(to) if seen.to == STAND_IN => answer(&format!("302 Found\nlocation: {to}"), b""),
        _ => answer(
            "200 OK\ncontent-type: text/plain",
            if seen.to == STAND_IN { b"stand-in" } else { b"canary" },
        ),
    }
}

/// A name with its lists of addresses.
type Name = (&'static str, Vec<Vec<IpAddr>>);

struct Case {
    section: &'static str,
    url: String,
}

/// Reads the corpus: the URLs, and the addresses of the names.
fn corpus(port: u16) -> (Vec<Case>, Vec<Name>) {
    let (mut cases, mut names, mut section) = (Vec::new(), Vec::new(), "");
    for line in BLOCKED.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        if let Some(title) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = title;
        } else if let Some(name) = line.strip_prefix("@ ") {
            let (name, answers) = name.split_once(' ').unwrap_or((name, ""));
            let list = |text: &str| text.split(',').filter_map(|one| one.trim().parse().ok()).collect();
            names.push((name.trim(), answers.split('|').map(list).collect()));
        } else {
            cases.push(Case { section, url: unescaped(line).replace("{P}", &port.to_string()) });
        }
    }
    (cases, names)
}

fn unescaped(line: &str) -> String {
    let (mut text, mut rest) = (String::new(), line.chars());
    while let Some(c) = rest.next() {
        let escaped = if c == '\\' { rest.next() } else { None };
        text.push(match escaped {
            None => c,
            Some('r') => '\r',
            Some('n') => '\n',
            Some('t') => '\t',
            Some('0') => '\0',
            Some('u') => {
                let digits: String = rest.by_ref().skip(1).take_while(|digit| *digit != '}').collect();
                u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap()
            }
            Some(other) => other,
        });
    }
    text
}

fn resolver(names: &[Name]) -> Arc<Names> {
    let resolver = Names::default();
    names.iter().for_each(|(name, answers)| resolver.add(name, answers.clone()));
    Arc::new(resolver)
}

/// Fetches a URL as a model would that also fetches what a redirect names. Returns the last text.
async fn fetch(fetcher: &Fetcher, url: &str) -> Option<String> {
    let mut target = Target::parse(url).ok()?;
    for _ in 0..4 {
        match fetcher.get(&target).await.ok()? {
            Answer::Elsewhere { to, .. } => target = to,
            Answer::Page(page) => return Some(format!("{:?}", page.body)),
        }
    }
    None
}

/// Whether all addresses are of this machine, so that a connection leaves it nowhere.
fn is_here(address: &IpAddr) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified()
}

fn canaries(server: &Server) -> usize {
    server.seen().iter().filter(|seen| seen.to != STAND_IN).count()
}

#[tokio::test]
async fn urls_to_what_is_not_public_reach_nothing() {
    let server = Server::start(script).await;
    let (cases, names) = corpus(server.port);
    let mut holes = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for Case { section, url } in &cases {
        let fetcher = Fetcher::new(resolver(&names), public_or_stand_in);
        server.forget();
        let text = fetch(&fetcher, url).await;
        // A name that changes its addresses may give what the public server says.
        let is_blocked = text.is_none_or(|text| *section == "rebinding" && text.contains("stand-in"));
        if canaries(&server) > 0 || !is_blocked {
            holes.push(url);
        }
        *counts.entry(section).or_default() += 1;
    }
    println!("blocked {} of {}: {counts:?}", cases.len() - holes.len(), cases.len());
    assert!(holes.is_empty(), "{holes:#?}");
    assert!(cases.len() >= BLOCKED_MIN, "{}", cases.len());
}

#[tokio::test]
async fn without_the_checks_most_of_them_reach_the_canary() {
    let server = Server::start(script).await;
    let (cases, names) = corpus(server.port);
    let limits = Limits { time_max: Duration::from_secs(5), ..Limits::default() };
    let mut effective: BTreeMap<&str, usize> = BTreeMap::new();
    let mut idle = Vec::new();
    for Case { section, url } in &cases {
        server.forget();
        let unchecked = Fetcher::new(resolver(&names), |_| true).with_limits(limits);
        reach(&unchecked, url).await;
        if canaries(&server) == 0 {
            look_up_twice(&names, url).await;
        }
        if canaries(&server) > 0 {
            *effective.entry(section).or_default() += 1;
        } else {
            idle.push(url);
        }
    }
    let sum: usize = effective.values().sum();
    println!("effective {sum} of {}: {effective:?}; the others: {idle:#?}", cases.len());
    assert!(sum >= EFFECTIVE_MIN, "{sum}: {effective:?}");
}

/// Fetches a URL without the check, as far as it stays on this machine.
async fn reach(unchecked: &Fetcher, url: &str) {
    let Ok(mut target) = Target::parse(url) else { return };
    for _ in 0..4 {
        match unchecked.addresses(&target).await {
            Ok(addresses) if addresses.iter().all(|address| is_here(&address.ip())) => {}
            _ => return,
        }
        match unchecked.get(&target).await {
            Ok(Answer::Elsewhere { to, .. }) => target = to,
            _ => return,
        }
    }
}

/// Checks the addresses of a name, and lets the client look it up again.
async fn look_up_twice(names: &[Name], url: &str) {
    let Ok(target) = Target::parse(url) else { return };
    let names = resolver(names);
    let Ok(found) = names.resolve(target.host()).await else { return };
    if !found.iter().all(|address| public_or_stand_in(*address) && is_here(address)) {
        return;
    }
    let client = reqwest::Client::builder()
        .dns_resolver(Unpinned(names))
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .tls_certs_only([]);
    // An error is as good as an answer: the canary tells who was reached.
    drop(client.build().unwrap().get(target.as_str()).send().await);
}

#[tokio::test]
async fn benign_urls_are_fetched() {
    let server = Server::start(script).await;
    let mut count = 0;
    for line in ALLOWED.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (url, addresses) = line.rsplit_once(' ').unwrap_or((line, ""));
        let addresses: Vec<IpAddr> = addresses.split(',').filter_map(|one| one.parse().ok()).collect();
        let target = Target::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        let names = Arc::new(Names::default());
        names.add(target.host(), vec![addresses.clone()]);
        // Its real addresses are let through by the real check.
        let found = Fetcher::new(names.clone(), address::is_public).addresses(&target).await;
        let found = found.unwrap_or_else(|error| panic!("{url}: {error}"));
        assert!(!found.is_empty() && found.iter().all(|address| address.port() == target.port()), "{url}");
        // The same URL, on a server that can be reached here, is fetched with its path.
        names.add(target.host(), vec![vec![STAND_IN]]);
        let is_name = !addresses.is_empty();
        let host = if is_name { target.host().to_owned() } else { STAND_IN.to_string() };
        let rest = target.as_str().splitn(4, '/').nth(3).unwrap_or_default();
        let here = Target::parse(&format!("http://{host}:{}/{rest}", server.port)).unwrap();
        server.forget();
        let got = Fetcher::new(names, public_or_stand_in).get(&here).await;
        assert!(matches!(got, Ok(Answer::Page(_))), "{url}: {got:?}");
        let seen = server.seen();
        assert!(
            seen.len() == 1 && seen[0].request.starts_with(&format!("GET /{rest} HTTP/1.1\r\n")),
            "{url}: {seen:?}"
        );
        // What another reader of URLs makes of the path is the same.
        let wanted =
            url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
        let wanted = wanted.split('#').next().unwrap_or_default();
        if !wanted.contains("..") && !wanted.contains("%2e") {
            let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
            assert_eq!(plain(rest), plain(wanted), "{url}");
        }
        count += 1;
    }
    println!("allowed {count} of {count}");
    assert!(count >= ALLOWED_MIN, "{count}");
}
