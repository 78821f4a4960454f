//! Who says yes when nobody is there: approval files, as the edge needs them.

use std::path::Path;

use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::ApprovalNeed;
use setpoint_tools::approval_file::{ApprovalFile, ApprovalFileError, Decision};

/// An approval file that was read.
#[derive(Clone, Debug)]
pub struct Policy(ApprovalFile);

/// What a file says to a need, signed `file:<path>:<line>`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a word that is not acted on allows or refuses nothing"]
pub enum Word {
    /// A line allows it.
    Allow(String),
    /// A line denies it.
    Deny(String),
    /// No line speaks of it.
    Silent,
}

/// Reads an approval file.
///
/// # Errors
/// A file that cannot be read, or a line of it that says nothing usable.
pub fn read(file: &Path, surroundings: &Surroundings) -> Result<Policy, ApprovalFileError> {
    ApprovalFile::read(file, surroundings).map(Policy)
}

impl Policy {
    /// What the file says to this need.
    pub fn decide(&self, need: &ApprovalNeed) -> Word {
        let decision = self.0.decide(need);
        match decision {
            Decision::Allow { .. } => Word::Allow(self.0.signature(decision)),
            Decision::Refuse { line: Some(_) } => Word::Deny(self.0.signature(decision)),
            Decision::Refuse { line: None } => Word::Silent,
        }
    }
}
