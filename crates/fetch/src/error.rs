//! Why a page could not be fetched.

use std::io;
use std::net::IpAddr;

use crate::address::{self, AddressUse};
use crate::{ADDRESSES_MAX, HEADER_BYTES_MAX, HEADERS_MAX, REDIRECTS_MAX, TargetError};

/// Why a page could not be fetched. Nothing was sent to an address that is refused.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The name could not be looked up.
    #[error("look up {host}: check the name and the network")]
    Lookup {
        /// The host.
        host: String,
        #[source]
        source: io::Error,
    },
    /// The host has no address, or more than [`ADDRESSES_MAX`].
    #[error(
        "connect to {host}: it has {count} addresses, and 1 to {ADDRESSES_MAX} can be checked; try another server"
    )]
    Addresses {
        /// The host.
        host: String,
        /// How many it has.
        count: usize,
    },
    /// An address of the host may not be connected to.
    #[error("connect to {host}: its address {address} is {}", refusal(*address))]
    Address {
        /// The host.
        host: String,
        /// The first such address.
        address: IpAddr,
    },
    /// The person denies an address of the host.
    #[error("connect to {host}: {line} denies its address {address}; only the person can change that line")]
    Denied {
        /// The host.
        host: String,
        /// The first such address.
        address: IpAddr,
        /// The line that denies it.
        line: String,
    },
    /// HTTPS cannot be set up on this machine.
    #[error("set up HTTPS: install the system's certificate authorities (the package `ca-certificates`)")]
    Client(#[source] reqwest::Error),
    /// The server could not be reached, or did not speak HTTP.
    #[error("reach {host}: check the URL, or try again later")]
    Unreachable {
        /// The host.
        host: String,
        #[source]
        source: reqwest::Error,
    },
    /// The time was over.
    #[error("read all of it within {ms} ms: try again later, or another page")]
    TimedOut {
        /// The limit.
        ms: u128,
    },
    /// The server refused, or does not have this page.
    #[error("read it: the server answered {status}")]
    Status {
        /// The status of HTTP, which is not a success.
        status: u16,
    },
    /// The headers are larger than [`HEADER_BYTES_MAX`]. (A client reads at most [`HEADERS_MAX`] of them.)
    #[error(
        "read its headers: they have more than {HEADER_BYTES_MAX} bytes (or {HEADERS_MAX} lines); try another page"
    )]
    Headers,
    /// The content is compressed, although the request did not allow it.
    #[error("read it: the server compressed it unasked; try another page")]
    Compressed,
    /// More than [`REDIRECTS_MAX`] redirects.
    #[error("follow more than {REDIRECTS_MAX} redirects: fetch the page that they lead to")]
    Redirects,
    /// A redirect without a place, or to one that cannot be fetched.
    #[error("follow its redirect")]
    Redirect(#[source] TargetError),
    /// A redirect says nothing about where it leads.
    #[error("follow its redirect: it names no place; try another page")]
    NoLocation,
    /// A redirect leads from an encrypted to an open connection.
    #[error("follow its redirect to {to}: it would give up encryption; fetch that URL itself if it is right")]
    Downgrade {
        /// The URL that it leads to.
        to: String,
    },
}

fn refusal(refused: IpAddr) -> &'static str {
    match address::address_use(refused) {
        AddressUse::Private => {
            "in a private network or on this machine; a person can allow such addresses with the setting \
             `tools.fetch_private`"
        }
        AddressUse::Special | AddressUse::Public => {
            "not one of a public server, and no setting allows it; use another server"
        }
    }
}
