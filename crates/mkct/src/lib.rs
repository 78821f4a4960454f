//! Memory's arithmetic: how strong, how good and how lasting a memory is, and under which key it lies.
//!
//! The crate never does I/O, never reads a clock and never depends on another crate of ours: it takes
//! plain numbers and text, and the same inputs give the same result.
//!
//! [`quantization`] turns the state a task was in into the numbers of its Megram (SPEC 6.4); [`mod@slug`] turns
//! an intent into the key that tasks of the same kind share (SPEC 3).

pub mod quantization;
pub mod slug;

pub use quantization::{Quantum, State, quantize};
pub use slug::{intent_space, slug};
