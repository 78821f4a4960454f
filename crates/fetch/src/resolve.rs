//! Finding the addresses of a host.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Maximum addresses of a host; one with more is refused, because all of them are checked.
pub const ADDRESSES_MAX: usize = 64;

/// Looks hosts up by name.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// Returns the addresses of a name.
    ///
    /// # Errors
    /// If the name is not known, or no server answers.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // One more than is allowed, so that a longer list is seen to be too long.
        let found = tokio::net::lookup_host((name, 0)).await?;
        Ok(found.map(|address| address.ip()).take(ADDRESSES_MAX + 1).collect())
    }
}

/// The checked addresses: the client's only answer to any name.
#[derive(Clone, Debug)]
pub(crate) struct Pinned(pub(crate) Arc<[SocketAddr]>);

impl Resolve for Pinned {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Vec<SocketAddr> = self.0.to_vec();
        Box::pin(async move { Ok(Box::new(addresses.into_iter()) as Addrs) })
    }
}
