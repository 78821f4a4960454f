//! Text for a terminal: made safe, measured in columns, and given a tone.
//!
//! Nothing outside [`style`] writes an escape sequence, and nothing that came from data can be one: a [`Line`]
//! only takes text that went through [`sanitise`].

pub mod columns;
pub mod sanitise;
pub mod style;
pub mod table;

pub use self::style::{Line, Tone};
