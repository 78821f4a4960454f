//! Language models behind a wire, against a server that misbehaves on request.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod support;
