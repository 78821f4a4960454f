//! Delivery between a task's cell and the parties outside it.
//!
//! The journal is the bus; this crate holds what stands between it and others: [`admission`] (what another
//! process may put in, held against the route table), [`tap`] (what happens, for whoever watches), [`export`]
//! (a task as one file of CloudEvents) and [`import`] (such a file, read back to the same bytes). It never decides what a role does and keeps no state of a task.

pub mod admission;
pub mod export;
pub mod import;
pub mod tap;
