//! R1, R2, R3, R4a, R4b and R7 as machines without I/O, what R5 asks of a model, and the Auditor's (R6's) rules over
//! records.
//!
//! Each role has a folder: `mod.rs` says what it does and what it never does, `machine.rs` only dispatches and applies
//! what handlers return, and there is one file for each thing it handles (ARCHITECTURE.md, "How a role is written").
//! No role module names another; code shared by two roles is at the top level ([`blocking`], [`evidence`],
//! [`judging`], [`fingerprint`], [`left`], and how an answer, a fault or a repair is read and made). [`factory`] makes
//! the machine of an address.

mod answer;
pub mod blocking;
pub mod evidence;
pub mod factory;
mod fault;
pub mod fingerprint;
pub mod judging;
pub mod left;
pub mod line;
mod programs;
pub mod r1_perceiver;
pub mod r2_planner;
pub mod r3_executor;
pub mod r4a_agent_validator;
pub mod r4b_meta_validator;
pub mod r5_memory;
pub mod r6_auditor;
pub mod r7_goal_gradient_solver;
mod repair;
mod report_time;
mod schema;
mod words;
