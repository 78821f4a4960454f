//! Cassettes: the traffic of models, recorded in one run and played back in another without any model.
//!
//! A [`Recorder`] stands before a model and writes every question with its answer to a tape; a [`Player`] answers from
//! a tape. A question is found by the hash of its canonical form ([`canonical`]), which leaves out what differs from
//! run to run; what was left out is put back into the answer, so that a tape made in one folder plays in another.
//!
//! What is never done: a secret that the writer knows is never written, in any encoding ([`setpoint_scrub`]); a
//! recorded answer is never given twice, and none is given to another question than its own; a file that exists is
//! never overwritten; an answer that was paid for is never lost because it could not be recorded; no error quotes an
//! answer.
//!
//! Reading order: [`canonical`] with `places` (what a question means), [`tape`] (the file), [`writer`], [`recorder`],
//! [`player`] with `miss` (what is said where nothing was recorded).

pub mod canonical;
mod miss;
mod places;
pub mod player;
pub mod recorder;
pub mod tape;
#[cfg(test)]
mod tests;
pub mod writer;

pub use player::Player;
pub use recorder::Recorder;
pub use tape::{EXCHANGES_MAX, LINE_BYTES_MAX, TAPE_BYTES_MAX, Tape, TapeError};
pub use writer::TapeWriter;
