//! Language models behind a wire, against a server that misbehaves on request.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod listing;
#[cfg(test)]
mod meter;
#[cfg(test)]
mod odd_servers;
#[cfg(test)]
mod probe;
#[cfg(test)]
mod support;
