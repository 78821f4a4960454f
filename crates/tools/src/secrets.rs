//! Secrets that a person binds to servers. A model names one as `secret://NAME`; its value is put into the request alone.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use setpoint_fetch::{Target as Url, is_header_value};

/// Longest name of a secret.
pub const SECRET_NAME_CHARS_MAX: usize = 40;
/// Begins a reference to a secret.
pub(crate) const REFERENCE: &str = "secret://";

/// Why a secret is not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// A reference is not the end of the value, or names what no secret is called.
    #[error("write the reference at the end of the value, such as `Bearer {REFERENCE}NAME`")]
    Reference,
    /// No secret of this name is configured.
    #[error("no secret is called {name}; these are configured: {known}")]
    Unknown { name: String, known: String },
    /// It could not be read.
    #[error("the secret {name} cannot be used: {reason}")]
    Unusable { name: String, reason: String },
    /// It is not bound to this server.
    #[error(
        "the secret {name} may not be sent to {place}; a person allows that with `hosts` in its configuration"
    )]
    Elsewhere { name: String, place: String },
    /// The connection would be open to others.
    #[error("the secret {name} is sent over https or within this machine alone; use the https URL")]
    Open { name: String },
    /// Its value cannot be in a header.
    #[error("the secret {name} has characters that a header cannot have, such as a line break")]
    Unfit { name: String },
}

/// A secret of the person's configuration.
#[derive(Clone, Debug)]
pub struct Secret {
    /// Its value, or why it could not be read.
    pub value: Result<SecretString, String>,
    /// The servers that it may be sent to; see [`server`].
    pub servers: Vec<(String, u16)>,
}

/// The secrets by name. Cheap to clone.
#[derive(Clone, Default)]
pub struct Secrets(Arc<BTreeMap<String, Secret>>);

impl Secrets {
    /// Creates the set.
    #[must_use]
    pub fn new(secrets: BTreeMap<String, Secret>) -> Self {
        Secrets(Arc::new(secrets))
    }

    /// Returns the values that could be read, with their names.
    pub fn values(&self) -> impl Iterator<Item = (&str, &SecretString)> {
        self.0.iter().filter_map(|(name, secret)| Some((name.as_str(), secret.value.as_ref().ok()?)))
    }

    /// Returns why others could not be read, with their names.
    pub fn faults(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .filter_map(|(name, secret)| Some((name.as_str(), secret.value.as_ref().err()?.as_str())))
    }

    /// Returns whether a model can refer to any.
    pub(crate) fn is_empty(&self) -> bool {
        self.shown().is_empty()
    }

    /// Returns the names of secrets that are bound to servers, with these: `github (api.github.com)`.
    pub(crate) fn shown(&self) -> String {
        let bound = self.0.iter().filter(|(_, secret)| !secret.servers.is_empty());
        let line = |(name, secret): (&String, &Secret)| {
            let servers: Vec<String> = secret.servers.iter().map(shown_server).collect();
            format!("{name} ({})", servers.join(", "))
        };
        bound.map(line).collect::<Vec<_>>().join("; ")
    }

    /// Returns the name of the secret that a header's value refers to, with the text before the reference.
    ///
    /// # Errors
    /// If the value contains a reference that is not one.
    pub(crate) fn reference(value: &str) -> Result<Option<(&str, &str)>, SecretError> {
        match value.split_once(REFERENCE) {
            None => Ok(None),
            Some((before, name)) if is_secret_name(name) => Ok(Some((before, name))),
            Some(_) => Err(SecretError::Reference),
        }
    }

    /// Returns the value of a secret, if it may be sent to this URL.
    ///
    /// # Errors
    /// Why it may not.
    pub(crate) fn value(&self, name: &str, url: &Url) -> Result<&SecretString, SecretError> {
        let name = name.to_owned();
        let Some(secret) = self.0.get(&name) else {
            return Err(SecretError::Unknown { name, known: self.shown() });
        };
        let place = (url.host().to_owned(), url.port());
        if !secret.servers.contains(&place) {
            return Err(SecretError::Elsewhere { name, place: shown_server(&place) });
        }
        if !url.is_https() && !url.is_loopback() {
            return Err(SecretError::Open { name });
        }
        match &secret.value {
            Ok(value) if is_header_value(value.expose_secret()) => Ok(value),
            Ok(_) => Err(SecretError::Unfit { name }),
            Err(reason) => Err(SecretError::Unusable { name, reason: reason.clone() }),
        }
    }

    /// Returns a header's value with the secret that it refers to, if that may be sent to this URL.
    ///
    /// # Errors
    /// Why it may not be sent.
    pub(crate) fn filled(&self, text: &str, url: &Url) -> Result<SecretString, SecretError> {
        let Some((before, name)) = Secrets::reference(text)? else { return Ok(text.into()) };
        Ok(format!("{before}{}", self.value(name, url)?.expose_secret()).into())
    }
}

/// Shows no value.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

/// Returns whether a secret may have this name: 1 to [`SECRET_NAME_CHARS_MAX`] of the characters a-z, 0-9, `-` and `_`.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    (1..=SECRET_NAME_CHARS_MAX).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_'))
}

/// Reads a server that a secret is bound to: `api.example.org`, which means port 443, or `127.0.0.1:8080`.
#[must_use]
pub fn server(text: &str) -> Option<(String, u16)> {
    let is_bare = !text.contains(['/', '?', '#', '@', '*', ' ', '%']);
    let url = Url::parse(&format!("https://{text}/")).ok().filter(|_| is_bare)?;
    Some((url.host().to_owned(), url.port()))
}

fn shown_server((host, port): &(String, u16)) -> String {
    if *port == 443 { host.clone() } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_exactly() {
        let read = |text: &str| server(text).map(|place| shown_server(&place));
        assert_eq!(read("Api.Example.org").as_deref(), Some("api.example.org"));
        assert_eq!(read("127.0.0.1:8080").as_deref(), Some("127.0.0.1:8080"));
        assert_eq!(read("[::1]:8080").as_deref(), Some("[::1]:8080"));
        for text in ["", "https://a.org", "a.org/x", "*.a.org", "me@a.org", "a.org:22", "a b", "a.org?x"] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_secret_goes_where_it_is_bound_alone() {
        let secret = |value: Result<&str, &str>| Secret {
            value: value.map(SecretString::from).map_err(str::to_owned),
            servers: ["api.test", "api.test:80", "127.0.0.1:8080", "10.0.0.1:8080"]
                .map(|one| server(one).unwrap())
                .into(),
        };
        let secrets = Secrets::new(BTreeMap::from([
            ("good".to_owned(), secret(Ok("the-value-of-it"))),
            ("gone".to_owned(), secret(Err("GONE is not set"))),
            ("lines".to_owned(), secret(Ok("two\nlines-of-it"))),
            ("nowhere".to_owned(), Secret { value: Ok("x".into()), servers: vec![] }),
        ]));
        let sent = |name: &str, url: &str| {
            let value =
                secrets.value(name, &Url::parse(url).unwrap()).map(|value| value.expose_secret().to_owned());
            value.map_err(|error| error.to_string())
        };
        assert_eq!(sent("good", "https://api.test/x?y").as_deref(), Ok("the-value-of-it"));
        assert_eq!(sent("good", "http://127.0.0.1:8080/").as_deref(), Ok("the-value-of-it"));
        for (url, why) in [
            ("https://api.test:8443/", "may not be sent to api.test:8443"),
            ("https://api.test.evil.test/", "may not be sent to api.test.evil.test"),
            ("https://www.api.test/", "may not be sent to www.api.test"),
            ("http://api.test/", "over https or within this machine"),
            ("http://10.0.0.1:8080/", "over https or within this machine"),
            ("http://127.0.0.1:8081/", "may not be sent to 127.0.0.1:8081"),
        ] {
            let told = sent("good", url).unwrap_err();
            assert!(told.contains(why), "{url}: {told}");
        }
        assert!(sent("gone", "https://api.test/").unwrap_err().contains("GONE is not set"));
        assert!(sent("lines", "https://api.test/").unwrap_err().contains("a header cannot have"));
        assert!(sent("other", "https://api.test/").unwrap_err().contains("no secret is called other"));
        assert!(sent("nowhere", "https://api.test/").unwrap_err().contains("may not be sent"));
        assert!(!format!("{secrets:?}").contains("value") && !secrets.shown().contains("nowhere"));
    }

    #[test]
    fn a_reference_ends_its_value() {
        assert_eq!(Secrets::reference("Bearer secret://a-b"), Ok(Some(("Bearer ", "a-b"))));
        assert_eq!(Secrets::reference("plain"), Ok(None));
        for value in ["secret://", "secret://a b", "secret://a, x", "secret://a secret://b", "secret://A"] {
            assert_eq!(Secrets::reference(value), Err(SecretError::Reference), "{value}");
        }
    }
}
