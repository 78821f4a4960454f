//! Records of calls: what was asked and what came back, cut to the limits of a message.
//!
//! R3, R4a and R4b make their records here, so that a judge reads the same form regardless of the caller. Nothing
//! here decides what a record proves ([`crate::judging`] does).

mod bounds;
mod called;
pub mod changes;
mod excerpt;
mod listing;
mod probes;

pub use self::bounds::{RECORDS_BYTES_MAX, ROUND_RECORDS_BYTES_MAX, fit};
pub(crate) use self::called::call_ids;
pub use self::called::{ExaminedCall, command_of, name_of};
pub use self::listing::{SANDBOX, has_sandbox, listing, shown};
pub use self::probes::{ProbeAnswer, Probes, baseline_of, is_of, unmeasured};
