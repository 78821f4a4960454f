//! Opening files: those that Setpoint keeps for itself, and those that a person names; and writing whole ones.
//!
//! A file of Setpoint's own ([`own`]) is a regular file with one name that belongs to this user, in a directory that is
//! no link. Anything else with its name is refused: a link would be written through, a FIFO would be waited for, and
//! a second name would belong to another program. The data directory itself may be a link, which the caller resolves.
//! A named input ([`named`]) is a regular file, reached through links if a person made them.
//! A file that is written whole ([`whole`]) is there with all of its content or not at all.
//!
//! Nothing here waits for a writer, follows a link of an own file, or truncates a file.

pub mod named;
pub mod own;
mod refusal;
pub mod whole;

pub use refusal::{Kind, Refusal, is_refusal};
