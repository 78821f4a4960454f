//! A URL that may be fetched, in its one normal form.

use std::fmt;

use url::{Host, Url};

/// Longest URL, in bytes.
pub const URL_BYTES_MAX: usize = 4_096;

/// Ports from here up are open to everybody's servers; below, only those of the web are used.
const OPEN_PORTS_FROM: u16 = 1_024;
/// Higher ports that other protocols use: those that the Fetch standard closes to browsers.
const CLOSED_PORTS: &[u16] = &[
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679,
    6697, 10080,
];

/// Why a text is not a URL that may be fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It is longer than [`URL_BYTES_MAX`].
    #[error("it is longer than {URL_BYTES_MAX} bytes: use a shorter one")]
    TooLong,
    /// It contains a character that programs read differently.
    #[error("it contains {0:?}, which programs read differently: write it percent-encoded, or leave it out")]
    Character(char),
    /// It is not an absolute URL.
    #[error("it is not a whole URL ({0}): write one such as https://example.org/page")]
    NoUrl(url::ParseError),
    /// Its scheme is neither `http` nor `https`.
    #[error("only http and https can be fetched: read a file with `read_file`, and leave other schemes")]
    Scheme,
    /// It contains a user or a password.
    #[error("it contains a user or a password, which would be sent: leave out what comes before the `@`")]
    User,
    /// Its host is neither a name nor an address.
    #[error("its host is not the name of a server: check the part after `//`")]
    Host,
    /// Its port belongs to another protocol than the web's.
    #[error("port {0} is not one of web servers: 80, 443 and most from {OPEN_PORTS_FROM} up can be used")]
    Port(u16),
}

/// A URL that may be fetched: `http` or `https`, no user, no fragment, a host in lower case, ASCII, without a dot at its
/// end, numbers for addresses in their usual form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: String,
    port: u16,
}

impl Target {
    /// Reads a URL as browsers do, and refuses what programs read differently.
    ///
    /// # Errors
    /// Why the text cannot be fetched.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        if text.len() > URL_BYTES_MAX {
            return Err(TargetError::TooLong);
        }
        let text = text.trim_matches(' ');
        let is_ambiguous = |c: &char| c.is_control() || c.is_whitespace() || *c == '\\';
        if let Some(c) = text.chars().find(is_ambiguous) {
            return Err(TargetError::Character(c));
        }
        let url = Url::parse(text).map_err(TargetError::NoUrl)?;
        Target::of(url)
    }

    /// Returns where a redirect from here leads.
    ///
    /// # Errors
    /// As [`Target::parse`].
    pub fn joined(&self, location: &str) -> Result<Self, TargetError> {
        if location.len() > URL_BYTES_MAX {
            return Err(TargetError::TooLong);
        }
        let url = self.url.join(location).map_err(TargetError::NoUrl)?;
        Target::parse(url.as_str())
    }

    fn of(mut url: Url) -> Result<Self, TargetError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(TargetError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TargetError::User);
        }
        let host = match url.host() {
            Some(Host::Domain(name)) => {
                let name = plain_name(name).ok_or(TargetError::Host)?.to_owned();
                url.set_host(Some(&name)).map_err(|_| TargetError::Host)?;
                name
            }
            Some(address) => address.to_string(),
            None => return Err(TargetError::Host),
        };
        let port = url.port_or_known_default().ok_or(TargetError::Host)?;
        if !(matches!(port, 80 | 443) || port >= OPEN_PORTS_FROM && !CLOSED_PORTS.contains(&port)) {
            return Err(TargetError::Port(port));
        }
        url.set_fragment(None);
        if url.as_str().len() > URL_BYTES_MAX {
            return Err(TargetError::TooLong);
        }
        Ok(Target { url, host, port })
    }

    /// Returns the host: a name, an IPv4 address, or an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the whole URL, in ASCII.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// Returns the URL as the client takes it.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Whether the host is an address of this machine's loopback, which no other machine sees. A name never is: who
    /// answers for it is not known yet.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self.url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(_)) | None => false,
        }
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether consent to this covers `other`: the same host, scheme and port, or the usual step from port
    /// 80 to HTTPS.
    pub(crate) fn is_same_place(&self, other: &Target) -> bool {
        let is_same = self.port == other.port && self.is_https() == other.is_https();
        let is_step = !self.is_https() && self.port == 80 && other.is_https() && other.port == 443;
        self.host == other.host && (is_same || is_step)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns a host as [`Target::host`] does: a name or an address alone, without scheme, port or path.
#[must_use]
pub fn host_name(text: &str) -> Option<String> {
    match Host::parse(text).ok()? {
        Host::Domain(name) => plain_name(&name).map(str::to_owned),
        address => Some(address.to_string()),
    }
}

/// Returns a name without the dot at its end, or `None` if a part of it is empty.
fn plain_name(name: &str) -> Option<&str> {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.split('.').all(|part| !part.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_one_form() {
        for (text, form) in [
            ("HTTP://Example.ORG", "http://example.org/"),
            (" https://example.org:443/a/../b?q=1#part ", "https://example.org/b?q=1"),
            ("https://example.org./x", "https://example.org/x"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://2130706433/", "http://127.0.0.1/"),
            ("http://0177.0.0.01:8080/", "http://127.0.0.1:8080/"),
            ("http://127.0.0.1./", "http://127.0.0.1/"),
            ("http://１２７.0.0.1/", "http://127.0.0.1/"),
            ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/"),
            ("http://127。0。0。1/", "http://127.0.0.1/"),
            ("http://%31%32%37.0.0.1/", "http://127.0.0.1/"),
            ("http://[0:0::1]/", "http://[::1]/"),
            ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
            ("https:example.org", "https://example.org/"),
        ] {
            assert_eq!(Target::parse(text).as_ref().map(Target::as_str), Ok(form), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_fetched_is_refused_with_its_reason() {
        use TargetError as E;
        let long = format!("https://example.org/{}", "x".repeat(URL_BYTES_MAX));
        for (text, error) in [
            (long.as_str(), E::TooLong),
            ("https://example.org/\r\nx", E::Character('\r')),
            ("https://exa\tmple.org/", E::Character('\t')),
            ("https://example.org\\@evil.test/", E::Character('\\')),
            ("https://example.org/a b", E::Character(' ')),
            ("example.org", E::NoUrl(url::ParseError::RelativeUrlWithoutBase)),
            ("file:///etc/passwd", E::Scheme),
            ("ftp://example.org/", E::Scheme),
            ("https://user@example.org/", E::User),
            ("https://:secret@example.org/", E::User),
            ("https://a..example.org/", E::Host),
            ("https://example.org../", E::Host),
            ("http://example.org:22/", E::Port(22)),
            ("http://example.org:6667/", E::Port(6667)),
        ] {
            assert_eq!(Target::parse(text), Err(error), "{text}");
        }
        assert!(matches!(Target::parse("http://[fe80::1%25eth0]/"), Err(E::NoUrl(_))));
        assert!(matches!(Target::parse("http://1.2.3.4.5/"), Err(E::NoUrl(_))));
    }

    #[test]
    fn only_the_same_host_scheme_and_port_are_the_same_place() {
        let at = |text: &str| Target::parse(text).unwrap();
        let is_same = |one: &str, other: &str| at(one).is_same_place(&at(other));
        assert!(is_same("https://a.test/x", "https://a.test/y?z"));
        assert!(is_same("http://a.test/x", "https://a.test/x"));
        assert!(!is_same("https://a.test/x", "http://a.test/x"));
        assert!(!is_same("https://a.test/", "https://b.test/"));
        assert!(!is_same("https://a.test/", "https://www.a.test/"));
        assert!(!is_same("http://a.test/", "http://a.test:8080/"));
        assert!(!is_same("http://a.test:8080/", "https://a.test:8443/"));
    }

    #[test]
    fn a_host_is_named_alone() {
        assert_eq!(host_name("Docs.Example.org.").as_deref(), Some("docs.example.org"));
        assert_eq!(host_name("0x7f.1").as_deref(), Some("127.0.0.1"));
        assert_eq!(host_name("[::1]").as_deref(), Some("[::1]"));
        for text in ["", "https://example.org", "example.org/x", "example.org:80", "a b", "a..b", "."] {
            assert_eq!(host_name(text), None, "{text:?}");
        }
    }
}
