//! Memory's arithmetic: how strong, how good and how lasting a memory is, and under which key it lies.
//!
//! The crate never does I/O, never reads a clock and never depends on another crate of ours: it takes
//! plain numbers and text, and the same inputs give the same result.
//!
//! Reading order: [`quantization`] turns the state a task was in into the numbers of its Megram (SPEC 6.4), [`mod@slug`] an
//! intent into the key that tasks of the same kind share (SPEC 3), [`tags`] names the other keys, and [`mod@terms`] are the words that a text is found by. The rest is SPEC 7: [`megram`] (what a record is in
//! numbers), [`decay`] (how it fades), [`potential`] (what a pair's records sum to) and [`accumulator`] (the same sums
//! without the records), [`policy`] (what follows for a plan), [`consolidation`] (rules, and what is forgotten).
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
