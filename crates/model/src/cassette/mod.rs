//! Cassettes: the traffic of models, recorded in one run and played back in another without a model.
//!
//! A [`Recorder`] wraps a model and writes every question with its answer to a tape; a [`Player`] answers from a tape.
//! A question is found by the hash of its canonical form ([`canonical`]), which excludes what differs between runs. The
//! excluded values are put back into the answer, so that a tape recorded in one folder plays in another.
//!
//! Guarantees: a secret that the writer knows is never written, in any encoding ([`setpoint_scrub`]); a recorded answer
//! is never given twice, nor to another question than its own; an existing file is never overwritten; a paid answer is
//! never lost because it could not be recorded; no error quotes an answer.
//!
//! Reading order: [`canonical`] with `places` (the form of a question), [`tape`] (the file), [`writer`], [`recorder`],
//! [`player`] with `miss` (the error for a question that was not recorded).

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
