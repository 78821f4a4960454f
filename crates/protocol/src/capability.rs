//! The capabilities of roles to act on the world. Only [`crate::topology`] grants them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A capability as data, for tables and checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Ask a language model (or the embedded brain).
    CallModel,
    /// Run any tool of the catalogue, side effects included.
    RunTool,
    /// Run a provably read-only call: reading is measuring, not acting.
    RunProbe,
    /// Have the runtime look around where the task works, by code and read-only.
    Survey,
}

/// May ask a model.
#[derive(Debug)]
pub enum CallModel {}
/// May run tools.
#[derive(Debug)]
pub enum RunTool {}
/// May run read-only probes.
#[derive(Debug)]
pub enum RunProbe {}
/// May have the runtime survey the working directory.
#[derive(Debug)]
pub enum Survey {}

/// A capability as a type, so that a missing one does not compile.
pub trait CapabilityType: sealed::Sealed {
    /// The same capability as a value.
    const CAPABILITY: Capability;
}

impl CapabilityType for CallModel {
    const CAPABILITY: Capability = Capability::CallModel;
}
impl CapabilityType for RunTool {
    const CAPABILITY: Capability = Capability::RunTool;
}
impl CapabilityType for RunProbe {
    const CAPABILITY: Capability = Capability::RunProbe;
}
impl CapabilityType for Survey {
    const CAPABILITY: Capability = Capability::Survey;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::CallModel {}
    impl Sealed for super::RunTool {}
    impl Sealed for super::RunProbe {}
    impl Sealed for super::Survey {}
}
