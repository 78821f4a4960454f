//! Text for a terminal: sanitised, measured in columns, and given a tone.
//!
//! Only [`style`] writes escape sequences. Data cannot contain one, because a [`Line`] accepts only text from
//! [`sanitise`].

pub mod columns;
pub mod sanitise;
pub mod style;
pub mod table;

pub use self::style::{Line, Tone};
