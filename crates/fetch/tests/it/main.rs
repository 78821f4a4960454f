//! The fetcher on real sockets of this machine, with a scripted resolver.

#[cfg(test)]
#[cfg(target_os = "linux")]
mod corpus;
#[cfg(test)]
mod http;
#[cfg(test)]
mod search;
#[cfg(test)]
mod support;
