//! Opens Setpoint's own files and files that a person names, and writes whole files.
//!
//! A file of Setpoint's own ([`own`]) is a regular file with one name that belongs to this user, in a directory that is
//! not a link. Anything else with its name is refused: a link would be written through, a FIFO would block, and
//! a second name would belong to another program. The data directory itself may be a link, which the caller resolves.
//! A named input ([`named`]) is a regular file, reached through links if a person made them.
//! A file that is written whole ([`whole`]) has all of its content or does not exist.
//!
//! Nothing here waits for a writer, follows a link in place of an own file, or truncates a file.

pub mod named;
pub mod own;
mod refusal;
pub mod whole;

pub use refusal::{Kind, Refusal, is_refusal};
