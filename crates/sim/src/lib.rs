//! Simulation: whole organisations in one thread, under a virtual clock, from a seed.
//!
//! The cell and the roles are the real ones; the model, the tools, the person and the crashes are generated from the
//! seed. The same seed gives the same records, byte for byte, and [`check`] reports which invariant a run violated.
//!
//! Reading order: [`world`] (the driver), [`brain`] (a model that is sometimes right), [`plant`] (tools that sometimes
//! work), [`check`] (the invariants of every run).

pub mod brain;
pub mod chance;
pub mod check;
pub mod plant;
pub mod world;

pub use chance::Chance;
pub use world::{Crashes, Run, Scenario, run};
