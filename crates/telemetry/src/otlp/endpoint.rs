//! Addresses of collectors.

use setpoint_protocol::text::clip;
use url::{Host, Position, Url};

/// Maximum characters of an address.
pub const ENDPOINT_CHARS_MAX: usize = 2_048;
/// Maximum characters of an address in an error.
const SHOWN_CHARS_MAX: usize = 200;

/// A kind of telemetry with a path of its own at the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Spans.
    Traces,
    /// Metrics.
    Metrics,
}

/// The text is not the address of a collector.
#[derive(Debug, thiserror::Error)]
#[error("use {shown:?} as the address of a collector: {reason}")]
pub struct EndpointError {
    shown: String,
    reason: &'static str,
}

/// Returns the address of a signal below a collector's address, as the specification of the OTLP exporter defines it.
///
/// # Errors
/// If the text is not an HTTP address.
pub fn endpoint(base: &str, signal: Option<Signal>) -> Result<String, EndpointError> {
    let base = base.trim();
    let wrong = |reason| EndpointError { shown: clip(&redacted(base), SHOWN_CHARS_MAX), reason };
    if base.len() > ENDPOINT_CHARS_MAX {
        return Err(wrong("it is too long"));
    }
    let mut url = Url::parse(base).map_err(|_| wrong("it is not a URL"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("it must begin with http:// or https://"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("it has no host"));
    }
    let path = match signal {
        Some(Signal::Traces) => "v1/traces",
        Some(Signal::Metrics) => "v1/metrics",
        None => return Ok(url.to_string()),
    };
    let below = format!("{}/{path}", url.path().trim_end_matches('/'));
    url.set_path(&below);
    Ok(url.to_string())
}

/// Returns an address without anything that may be a key: scheme, host and port, and `…` for each other part that is
/// present.
#[must_use]
pub fn redacted(address: &str) -> String {
    let url = Url::parse(address).ok();
    let host = url.as_ref().and_then(|url| Some((url, url.host_str().filter(|host| !host.is_empty())?)));
    // An `@` after the host means that a password holds a `/`, `?` or `#`: the apparent host is a part of the password.
    let is_meant = |url: &Url| !url[Position::BeforePath..].contains('@');
    let Some((url, host)) = host.filter(|(url, _)| is_meant(url)) else {
        let is_scheme = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let scheme = address.split_once("://").map(|(scheme, _)| scheme).filter(|scheme| is_scheme(scheme));
        return scheme.map_or_else(|| "…".to_owned(), |scheme| format!("{scheme}://…"));
    };
    let user = if url.username().is_empty() && url.password().is_none() { "" } else { "…@" };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = if matches!(url.path(), "" | "/") { "" } else { "/…" };
    let rest = if url.query().or(url.fragment()).is_some() { "?…" } else { "" };
    format!("{}://{user}{host}{port}{path}{rest}", url.scheme())
}

/// Returns whether the address is on this machine, so that it needs no proxy.
pub(super) fn is_local(address: &str) -> bool {
    let url = Url::parse(address).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => name.trim_end_matches('.') == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signal_path_is_appended_to_the_collectors_address() {
        let traces = |base| endpoint(base, Some(Signal::Traces)).unwrap();
        assert_eq!(traces("http://127.0.0.1:4318"), "http://127.0.0.1:4318/v1/traces");
        assert_eq!(traces(" http://127.0.0.1:4318/ "), "http://127.0.0.1:4318/v1/traces");
        assert_eq!(traces("https://c.example/otlp/?k=1"), "https://c.example/otlp/v1/traces?k=1");
        let metrics = endpoint("http://[::1]:4318", Some(Signal::Metrics)).unwrap();
        assert_eq!(metrics, "http://[::1]:4318/v1/metrics");
        // An address given for one signal is used unchanged.
        assert_eq!(endpoint("http://c.example/t", None).unwrap(), "http://c.example/t");
    }

    #[test]
    fn invalid_address_is_refused_without_its_password() {
        let long = format!("http://{}", "a".repeat(ENDPOINT_CHARS_MAX));
        for bad in ["", "collector:4318", "ftp://c.example", "localhost", "http://", "unix:///x", &long] {
            assert!(endpoint(bad, Some(Signal::Traces)).is_err(), "{bad}");
        }
        let error = endpoint("ftp://ada:secret@c.example?key=secret", None).unwrap_err().to_string();
        assert!(!error.contains("secret") && error.contains("…@c.example?…"), "{error}");
    }

    #[test]
    fn shown_address_hides_everything_that_may_be_a_key() {
        for (address, expected) in [
            ("http://c.example", "http://c.example"),
            ("https://c.example:4318/", "https://c.example:4318"),
            ("http://[::1]:4318/v1/traces", "http://[::1]:4318/…"),
            ("https://c.example/KEY?k=KEY", "https://c.example/…?…"),
            ("https://c.example#KEY", "https://c.example?…"),
            ("http://ada:PASSWD@c/x", "http://…@c/…"),
            ("http://PASSWD@c", "http://…@c"),
            ("http://ada:PA@SSWD@c", "http://…@c"),
            // In none of these is the parsed host the intended one.
            ("http://ada:PA?SSWD@c", "http://…"),
            ("http://ada:PA#SSWD@c", "http://…"),
            ("http://ada:PA/SSWD@c", "http://…"),
            ("http://ada:12?SSWD@c", "http://…"),
            ("http://ada:12#SSWD@c", "http://…"),
            ("http://ada:12/SSWD@c", "http://…"),
            ("http://ada:12\\SSWD@c", "http://…"),
            ("ada:PASSWD@c", "…"),
            ("ada:PA://SSWD@c", "…"),
            ("PASSWD", "…"),
        ] {
            assert_eq!(redacted(address), expected, "{address}");
        }
    }

    #[test]
    fn localhost_is_recognised_by_the_host_alone() {
        for address in ["http://127.0.0.1:4318", "http://localhost:1", "http://[::1]/x", "http://127.1"] {
            assert!(is_local(address), "{address}");
        }
        for address in ["http://127.0.0.1.evil.example", "http://c.example/127.0.0.1", "x"] {
            assert!(!is_local(address), "{address}");
        }
    }
}
