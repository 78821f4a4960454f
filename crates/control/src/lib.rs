//! The controller's arithmetic: a round's measurement goes in, a decision comes out.
//!
//! The crate never does I/O, never reads a clock, never draws a random number and never writes prompt
//! text; it takes plain numbers and names, and the same inputs give the same decision, bit for bit.
//! It does not know the wire contracts, the memory's numbers (a [`Lesson`] names a state, not f, σ, k) or
//! the tool catalogue (unblocking the last tool of a capability class is the role's work, SPEC 6.2).
//!
//! Reading order: [`measurement`] (the input), [`gains`] (the settings), [`loss`], [`gradient`] and [`history`] (SPEC
//! 6.1), [`ruling`] and [`law`] (SPEC 6.2), [`trajectory`] (the state of one task, which combines them) and
//! [`decision`] (the output).
//!
//! The features `serde` and `schemars` add derives to the types that messages also use.
//!
//! ```
//! use setpoint_control::measurement::{Criterion, Event, Merge, Outcome, Verdict};
//! use setpoint_control::{FailureClass, Gains, MacroState, Measurement, Mode, OutcomeStatus, Trajectory};
//!
//! let criterion = Criterion {
//!     id: "c1".into(),
//!     mode: Mode::Verifiable,
//!     verdict: Verdict::Fail(Some(FailureClass::Logical)),
//!     vacuous: false,
//! };
//! let outcome = Outcome { criteria: vec![criterion], ..Outcome::new(OutcomeStatus::Failed) };
//! let mut trajectory = Trajectory::new(Gains::default())?;
//! let decision = trajectory.advance(&Measurement {
//!     elapsed_ms: 20_000.0,
//!     event: Event::Rejected { outcomes: vec![outcome], merge: Merge::NotReached },
//! })?;
//! assert_eq!(decision.directive(), MacroState::BreakSymmetry);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

pub mod blocked;
pub mod compare;
pub mod decision;
pub mod gains;
pub mod gradient;
pub mod history;
pub mod law;
pub mod lesson;
pub mod loss;
pub mod measurement;
mod rationale;
pub mod ruling;
pub mod trajectory;
pub mod urgency;

pub use blocked::Pair;
pub use decision::{Decision, DirectiveClass};
pub use gains::{Gains, GainsError, Law2Gradient, UrgencyMode};
pub use gradient::{Gradient, Trend};
pub use history::{History, Point};
pub use law::Law;
pub use lesson::{Lesson, Subject};
pub use loss::Loss;
pub use measurement::{FailureClass, FaultKind, Measurement, MeasurementError, Mode, OutcomeStatus};
pub use ruling::{ActionState, EndState, EndedBy, MacroState, Ruling};
pub use trajectory::{AdvanceError, Trajectory};
pub use urgency::Urgency;
