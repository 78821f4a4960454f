//! One GET: look up once, check, connect to exactly that, follow redirects that stay, and stop at the limits.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION,
};
use reqwest::{Client, Response};
use url::Host;

use crate::content::{Body, Media};
use crate::resolve::{ADDRESSES_MAX, Pinned, Resolver};
use crate::{FetchError, Headers, Target};

/// Maximum redirects that one call follows.
pub const REDIRECTS_MAX: usize = 5;
/// Maximum bytes of an answer's headers.
pub const HEADER_BYTES_MAX: usize = 64 * 1024;
/// Maximum lines of an answer's headers.
pub const HEADERS_MAX: usize = 100;

/// What the server learns of the client.
const USER_AGENT: &str = "Setpoint";
const ACCEPTED: &str =
    "text/html, text/plain, text/*;q=0.9, application/json;q=0.9, application/xml;q=0.8, */*;q=0.1";

/// The limits of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body; the rest is not read.
    pub body_bytes_max: usize,
    /// Time from the look-up to the last byte.
    pub time_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { body_bytes_max: 4 * 1024 * 1024, time_max: Duration::from_secs(30) }
    }
}

/// Fetches pages. Cheap to clone.
#[derive(Clone)]
pub struct Fetcher {
    resolver: Arc<dyn Resolver>,
    is_allowed: fn(IpAddr) -> bool,
    denies: Option<Denies>,
    limits: Limits,
}

/// Returns the line by which a person denies an address.
type Denies = Arc<dyn Fn(IpAddr) -> Option<String> + Send + Sync>;

/// What is sent to an interface for programs, beside its URL.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call<'c> {
    /// The header that holds a key.
    pub(crate) key: Option<(&'static str, HeaderValue)>,
    /// JSON to send; otherwise it is a GET.
    pub(crate) json: Option<&'c str>,
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A page.
    Page(Page),
    /// A redirect to another host, scheme or port, which was not followed.
    Elsewhere {
        /// The status of HTTP.
        status: u16,
        /// Where it leads.
        to: Target,
    },
}

/// A page that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where it is, after redirects.
    pub url: Target,
    /// The status of HTTP, 200 to 299.
    pub status: u16,
    /// Its media type in lower case, without parameters; empty if the server names none.
    pub media_type: String,
    pub body: Body,
}

impl Fetcher {
    /// Creates a fetcher that connects only to addresses that are allowed, usually
    /// [`is_public`](crate::address::is_public).
    #[must_use]
    pub fn new(resolver: Arc<dyn Resolver>, is_allowed: fn(IpAddr) -> bool) -> Self {
        Fetcher { resolver, is_allowed, denies: None, limits: Limits::default() }
    }

    /// Sets what a person denies: it returns the line that denies an address. A host is refused if one of its addresses is.
    #[must_use]
    pub fn denying(self, denies: impl Fn(IpAddr) -> Option<String> + Send + Sync + 'static) -> Self {
        Fetcher { denies: Some(Arc::new(denies)), ..self }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Fetcher { limits, ..self }
    }

    /// Fetches a page.
    ///
    /// # Errors
    /// Why a page could not be read: its address was refused, the network failed, its status is not a success, or it is
    /// beyond a limit.
    pub async fn get(&self, target: &Target) -> Result<Answer, FetchError> {
        self.get_with(target, &Headers::default()).await
    }

    /// Does the same with these headers. They go to the target's host, scheme and port, and to the one other place to which
    /// a redirect is followed: from port 80 to HTTPS of the same host.
    ///
    /// # Errors
    /// As [`Fetcher::get`].
    pub async fn get_with(&self, target: &Target, headers: &Headers) -> Result<Answer, FetchError> {
        let time = self.limits.time_max;
        let timed = tokio::time::timeout(time, self.follow(target, headers)).await;
        timed.unwrap_or(Err(FetchError::TimedOut { ms: time.as_millis() }))
    }

    /// Returns why a target whose host is an address cannot be fetched. A name has to be looked up first, which tells others
    /// of it.
    #[must_use]
    pub fn refusal(&self, target: &Target) -> Option<FetchError> {
        let address = literal(target)?;
        let host = target.host().to_owned();
        (!(self.is_allowed)(address)).then_some(FetchError::Address { host, address })
    }

    /// Looks a target's host up and returns its addresses if every one of them is allowed.
    ///
    /// # Errors
    /// If the host cannot be looked up, or an address is refused.
    pub async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, FetchError> {
        let host = target.host().to_owned();
        let found = match literal(target) {
            Some(address) => vec![address],
            None => match self.resolver.resolve(&host).await {
                Ok(found) => found,
                Err(source) => return Err(FetchError::Lookup { host, source }),
            },
        };
        if !(1..=ADDRESSES_MAX).contains(&found.len()) {
            return Err(FetchError::Addresses { host, count: found.len() });
        }
        let denied = |address: &IpAddr| Some((*address, self.denies.as_ref()?(*address)?));
        if let Some((address, line)) = found.iter().find_map(denied) {
            return Err(FetchError::Denied { host, address, line });
        }
        match found.iter().find(|address| !(self.is_allowed)(**address)) {
            Some(address) => Err(FetchError::Address { host, address: *address }),
            None => Ok(found.into_iter().map(|address| SocketAddr::new(address, target.port())).collect()),
        }
    }

    /// Asks an interface for programs, and returns its status and text. No redirect is followed, because a key may be sent.
    ///
    /// # Errors
    /// As [`Fetcher::get`], and for a redirect as for any status that is not a success.
    pub(crate) async fn call(&self, target: &Target, call: &Call<'_>) -> Result<(u16, Body), FetchError> {
        let answer = async {
            let addresses = self.addresses(target).await?;
            let response = ask(target, &addresses, &Headers::default(), Some(call)).await?;
            let status = response.status().as_u16();
            match self.read(target.clone(), response).await? {
                Answer::Page(page) => Ok((status, page.body)),
                Answer::Elsewhere { status, .. } => Err(FetchError::Status { status }),
            }
        };
        let time = self.limits.time_max;
        let timed = tokio::time::timeout(time, answer).await;
        timed.unwrap_or(Err(FetchError::TimedOut { ms: time.as_millis() }))
    }

    async fn follow(&self, target: &Target, headers: &Headers) -> Result<Answer, FetchError> {
        let addresses = self.addresses(target).await?;
        let mut at = target.clone();
        for _ in 0..=REDIRECTS_MAX {
            let response = ask(&at, &addresses, headers, None).await?;
            let status = response.status();
            let Some(to) = redirect(&at, status.as_u16(), response.headers())? else {
                return self.read(at, response).await;
            };
            if !at.is_same_place(&to) {
                return Ok(Answer::Elsewhere { status: status.as_u16(), to });
            }
            at = to;
        }
        Err(FetchError::Redirects)
    }

    async fn read(&self, url: Target, mut response: Response) -> Result<Answer, FetchError> {
        let status = response.status();
        if !status.is_success() {
            return Err(FetchError::Status { status: status.as_u16() });
        }
        let headers = response.headers();
        let media = Media::of(text(headers, CONTENT_TYPE.as_str()));
        if !media.is_text() {
            let bytes = text(headers, CONTENT_LENGTH.as_str()).parse().ok();
            return Ok(Answer::Page(page(url, status.as_u16(), media, Body::Other { bytes })));
        }
        if !matches!(text(headers, CONTENT_ENCODING.as_str()), "" | "identity") {
            return Err(FetchError::Compressed);
        }
        let (mut bytes, mut is_complete) = (Vec::new(), true);
        while let Some(chunk) = response.chunk().await.map_err(|source| unreachable(&url, source))? {
            let room = self.limits.body_bytes_max - bytes.len();
            bytes.extend(chunk.iter().take(room));
            if chunk.len() > room {
                is_complete = false;
                break;
            }
        }
        let body = media.decoded(&bytes, is_complete);
        Ok(Answer::Page(page(url, status.as_u16(), media, body)))
    }
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Returns the host if it is an address.
fn literal(target: &Target) -> Option<IpAddr> {
    match target.url().host()? {
        Host::Ipv4(address) => Some(IpAddr::V4(address)),
        Host::Ipv6(address) => Some(IpAddr::V6(address)),
        Host::Domain(_) => None,
    }
}

fn page(url: Target, status: u16, media: Media, body: Body) -> Page {
    Page { url, status, media_type: media.essence, body }
}

/// Sends one request to one of these addresses, and waits for the headers of its answer.
async fn ask(
    at: &Target,
    addresses: &[SocketAddr],
    added: &Headers,
    call: Option<&Call<'_>>,
) -> Result<Response, FetchError> {
    // An error means that the same provider is installed already: it is the only one built in.
    drop(rustls::crypto::ring::default_provider().install_default());
    // A redirect to HTTPS changes the port.
    let pinned = addresses.iter().map(|address| SocketAddr::new(address.ip(), at.port())).collect();
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .dns_resolver(Pinned(pinned))
        // A proxy would look the host up itself.
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .pool_max_idle_per_host(0)
        .http1_max_headers(HEADERS_MAX)
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate();
    // Without a certificate authority a machine can still read open pages.
    let builder = if at.is_https() { builder } else { builder.tls_certs_only([]) };
    let client = builder.build().map_err(FetchError::Client)?;
    let url = at.url().clone();
    let request = match call.and_then(|call| call.json) {
        Some(json) => client.post(url).header(CONTENT_TYPE, "application/json").body(json.to_owned()),
        None => client.get(url),
    };
    let request = request.header(ACCEPT, ACCEPTED).header(ACCEPT_ENCODING, "identity");
    let request = match call.and_then(|call| call.key.as_ref()) {
        Some((name, key)) => request.header(*name, key),
        None => request,
    };
    let request = request.headers(added.map().clone());
    let response = request.send().await.map_err(|source| unreachable(at, source))?;
    let headers = response.headers().iter();
    let size: usize = headers.map(|(name, value)| name.as_str().len() + value.len()).sum();
    if size > HEADER_BYTES_MAX { Err(FetchError::Headers) } else { Ok(response) }
}

/// Returns where an answer leads, if it is a redirect.
fn redirect(at: &Target, status: u16, headers: &HeaderMap) -> Result<Option<Target>, FetchError> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = headers.get(LOCATION).ok_or(FetchError::NoLocation)?;
    let location = String::from_utf8_lossy(location.as_bytes());
    let to = at.joined(&location).map_err(FetchError::Redirect)?;
    if at.is_https() && !to.is_https() {
        return Err(FetchError::Downgrade { to: to.as_str().to_owned() });
    }
    Ok(Some(to))
}

fn unreachable(at: &Target, source: reqwest::Error) -> FetchError {
    // The caller names the URL.
    FetchError::Unreachable { host: at.host().to_owned(), source: source.without_url() }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_redirect_gives_up_encryption() {
        let lead = |from: &str, to: &'static str| {
            let headers = [(LOCATION, HeaderValue::from_static(to))].into_iter().collect();
            redirect(&Target::parse(from).unwrap(), 302, &headers)
        };
        for to in ["http://a.test/", "http://a.test:443/", "http://b.test/x"] {
            let error = lead("https://a.test/", to).unwrap_err();
            assert!(matches!(&error, FetchError::Downgrade { to: found } if found == to), "{error}");
        }
        for (from, to) in [
            ("https://a.test/", "https://b.test/"),
            ("https://a.test/", "//a.test/x"),
            ("https://a.test/", "x"),
            ("http://a.test/", "http://b.test/"),
            ("http://a.test/", "https://a.test/"),
        ] {
            assert!(matches!(lead(from, to), Ok(Some(_))), "{from} {to}");
        }
    }
}
