//! Approval files, which decide when no person can be asked.

use std::path::Path;

use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::ApprovalNeed;
use setpoint_tools::approval_file::{ApprovalFile, ApprovalFileError, Decision};

/// Decides about a call instead of a person.
pub type Policy = Box<dyn Fn(&ApprovalNeed) -> Word + Send + Sync>;

/// The decision of a file, signed `file:<path>:<line>`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a decision must be applied to have an effect"]
pub enum Word {
    /// A line allows the call.
    Allow(String),
    /// A line denies the call.
    Deny(String),
    /// No line matches.
    Silent,
}

/// Reads an approval file.
///
/// # Errors
/// If the file cannot be read, or a line is invalid.
pub fn read(file: &Path, surroundings: &Surroundings) -> Result<Policy, ApprovalFileError> {
    let file = ApprovalFile::read(file, surroundings)?;
    Ok(Box::new(move |need| {
        let decision = file.decide(need);
        match decision {
            Decision::Allow { .. } => Word::Allow(file.signature(decision)),
            Decision::Refuse { line: Some(_) } => Word::Deny(file.signature(decision)),
            Decision::Refuse { line: None } => Word::Silent,
        }
    }))
}
