//! Simulation: whole organisations in one thread, under a virtual clock, from a seed.
//!
//! The cell and the roles are the real ones; the model, the tools, the person and the crashes are made up from the
//! seed. The same seed gives the same records, byte for byte, and [`check`] says which promise a run broke.
//!
//! Reading order: [`world`] (the driver), [`brain`] (a model that is sometimes right), [`plant`] (tools that
//! sometimes work), [`check`] (what must hold of every run).

pub mod brain;
pub mod chance;
pub mod check;
pub mod plant;
pub mod world;

pub use chance::Chance;
pub use world::{Crashes, Run, Scenario, run};
