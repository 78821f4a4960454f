//! Who says yes when nobody is there: approval files, as the edge needs them.

use std::path::Path;

use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::ApprovalNeed;
use setpoint_tools::approval_file::{ApprovalFile, ApprovalFileError, Decision};

/// An approval file that was read.
#[derive(Clone, Debug)]
pub struct Policy(ApprovalFile);

/// Reads an approval file.
///
/// # Errors
/// A file that cannot be read, or a line of it that says nothing usable.
pub fn read(file: &Path, surroundings: &Surroundings) -> Result<Policy, ApprovalFileError> {
    ApprovalFile::read(file, surroundings).map(Policy)
}

impl Policy {
    /// Who allows this need (`file:<path>:<line>`), or `None` when the file does not cover it.
    #[must_use]
    pub fn decide(&self, need: &ApprovalNeed) -> Option<String> {
        let decision = self.0.decide(need);
        matches!(decision, Decision::Allow { .. }).then(|| self.0.signature(decision))
    }
}
