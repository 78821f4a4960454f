//! A task as one file of CloudEvents: [`export`] writes it, [`import`] reads it back to the same bytes.

pub mod export;
pub mod import;
