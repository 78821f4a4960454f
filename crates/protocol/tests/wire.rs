//! What other programs see: messages as bytes, their schemas, and the bus as an AsyncAPI document.

// Marked as tests so that the lints know the helpers in them for test code.
#[cfg(test)]
#[path = "wire/asyncapi.rs"]
mod asyncapi;
#[cfg(test)]
#[path = "wire/messages.rs"]
mod messages;
