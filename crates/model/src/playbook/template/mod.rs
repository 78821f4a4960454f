//! Texts and values with placeholders: `{dir}`, `{dir|sh}`, `{result.1/stdout|lines|len}`.
//!
//! A template only inserts values and passes them through named filters; it computes nothing else, so a playbook's
//! file shows what it does.

mod filter;
mod rows;
mod scope;
mod text;
mod value;

pub(crate) use filter::{Filter, shell_word};
pub(crate) use scope::{PLACES, Scope};
pub use text::TemplateError;
pub(crate) use text::{Piece, Slot, Source, TextTemplate};
pub(crate) use value::ValueTemplate;
