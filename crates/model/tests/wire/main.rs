//! What goes over the wire: recorded answers in every dialect, whole, in pieces, and cut.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod conversations;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod support;
