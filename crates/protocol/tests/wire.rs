//! The wire format: messages as bytes, their schemas, and the bus as an AsyncAPI document.

// Marked as test modules so that lints treat their helpers as test code.
#[cfg(test)]
#[path = "wire/asyncapi.rs"]
mod asyncapi;
#[cfg(test)]
#[path = "wire/messages.rs"]
mod messages;
