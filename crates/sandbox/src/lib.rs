//! Runs a program so that it sees and changes only what a policy names.
//!
//! [`Policy`] is the wish, as data. On Linux a program is started through this executable: the outer stage
//! (`linux::stage`) makes new user, mount, process, network, IPC and host name namespaces, the inner stage builds a
//! minimal root folder in them, gives up every capability, restricts itself with Landlock and seccomp, starts the
//! program and ends everything that the program left. What a program changes in a folder can be kept apart
//! ([`Access::Keep`]), and looked at before it counts.
//!
//! Without namespaces there is [`Tier::Partial`], which holds less and says so. `linux::probe` runs the whole chain once,
//! with a write that must be refused: a kernel or container that has only parts of it is reported as such, with what is
//! missing. Other systems have no tier yet; [`seatbelt`] writes a policy as text for macOS, under which nothing runs.

pub mod changes;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
pub mod layer;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod policy;
pub mod programs;
pub mod seatbelt;
pub mod tier;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{NOT_MADE, command, command_for_another, is_apart, only_compute, probe, serve};
#[cfg(target_os = "linux")]
pub use linux::beside::is_apart;
#[cfg(target_os = "linux")]
pub use linux::stage::{NOT_MADE, command, command_for_another, serve};
#[cfg(target_os = "linux")]
pub use linux::{only_compute, probe};
pub use policy::{Access, Folder, Limits, Outer, Policy, PolicyError};
pub use tier::{Missing, Probed, Tier};
