//! HTTP/1.1, as little as model clients need and as much as it takes to break it: a bounded reader of requests
//! ([`request`]), the responses ([`response`]), and their conversion into bytes and waits ([`steps`]).
//!
//! It knows no model and no wire.

pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod steps;
