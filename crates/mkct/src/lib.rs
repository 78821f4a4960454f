//! Memory's arithmetic: how strong, how good and how lasting a memory is, and the key under which it is stored.
//!
//! The crate never does I/O, never reads a clock and never depends on another crate of ours: it takes
//! plain numbers and text, and the same inputs give the same result.
//!
//! Reading order: [`quantization`] maps a task's state to the numbers of its Megram (SPEC 6.4), [`mod@slug`] an
//! intent to the key that tasks of the same kind share (SPEC 3), [`tags`] names the other keys, and [`mod@terms`] extracts
//! the words by which a text is found. The rest is SPEC 7: [`megram`] (the numbers of a record), [`decay`] (how it fades),
//! [`potential`] (the sums of a pair's records), [`accumulator`] (the same sums without the records), [`policy`] (what
//! they imply for a plan), [`consolidation`] (rules and forgetting).
//!
//! ```
//! use setpoint_mkct::decay::DAY_US;
//! use setpoint_mkct::{Accumulators, Action, State, quantize};
//!
//! let mut sums = Accumulators::default();
//! sums.add(quantize(State::Abandon), 0);
//! sums.add(quantize(State::Accept), 20 * DAY_US);
//! let potentials = sums.potentials(20 * DAY_US);
//! assert_eq!(potentials.map(Action::of), Some(Action::Exploit));
//! ```

#![warn(missing_docs)]

pub mod accumulator;
pub mod consolidation;
pub mod decay;
pub mod megram;
pub mod policy;
pub mod potential;
pub mod quantization;
pub mod slug;
mod sum;
pub mod tags;
pub mod terms;
mod threshold;

pub use accumulator::{AccumulatorError, Accumulators, Cell};
pub use consolidation::{Rule, Thresholds};
pub use decay::Moments;
pub use megram::{Level, Trace};
pub use policy::Action;
pub use potential::Potentials;
pub use quantization::{Quantum, QuantumError, State, quantize};
pub use slug::{intent_space, slug};
pub use sum::Sum;
pub use terms::terms;
