//! Fetches one page over HTTP, or asks a search engine, for a model that is not trusted with the network.
//!
//! A [`Target`] is a URL in its one normal form. A [`Fetcher`] looks its host up once, refuses unless every address is
//! one that it may connect to ([`address`]), and connects to exactly those. A redirect within the same place is
//! followed; one to another place is returned ([`Answer::Elsewhere`]), because consent for a host is consent for that
//! host. [`markdown`] turns HTML into text for a model.
//!
//! A [`Searcher`] asks one search engine, at an address that a person configured, by the same rules.
//!
//! Nothing here asks for consent, uses a proxy or a cookie, sends a page's server anything but the URL and the headers that
//! the caller adds ([`Headers`]) or a key to anything but its own search engine, or decompresses.

pub mod address;
mod content;
mod error;
mod fetcher;
mod headers;
pub mod markdown;
mod resolve;
mod search;
mod target;

pub use content::Body;
pub use error::FetchError;
pub use fetcher::{Answer, Fetcher, HEADER_BYTES_MAX, HEADERS_MAX, Limits, Page, REDIRECTS_MAX};
pub use headers::{
    HEADER_NAME_BYTES_MAX, HEADER_VALUE_BYTES_MAX, HeaderError, Headers, REQUEST_HEADERS_MAX, is_header_value,
};
pub use resolve::{ADDRESSES_MAX, Resolver, SystemResolver};
pub use search::{
    Hit, Hits, KeyError, Provider, QUERY_CHARS_MAX, RESULTS_MAX, SNIPPET_CHARS_MAX, SearchError, Searcher,
};
pub use target::{Target, TargetError, URL_BYTES_MAX, host_name};
