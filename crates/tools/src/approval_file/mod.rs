//! Consent given in advance, for runs that nobody watches: a file that says which changes are allowed.
//!
//! It can only answer what the gate asks; it never makes the gate ask less. What no line allows is refused, and a line that
//! denies beats every line that allows. The form is described in `docs/approvals.md`.

mod parse;
mod rule;

use std::path::{Path, PathBuf};

use setpoint_command_line::mentions;
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::ApprovalNeed;

use crate::approval::resolve;
use crate::paths;

pub use parse::{ApprovalFileError, LineError};
use rule::{Rule, Word};

/// Largest approval file, in bytes.
pub const APPROVAL_FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Most lines with a rule in it.
pub const APPROVAL_RULES_MAX: usize = 10_000;

/// An approval file that was read.
#[derive(Clone, Debug)]
pub struct ApprovalFile {
    name: String,
    rules: Vec<Rule>,
    place: paths::Surroundings,
}

/// What a file says to a need. Line numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "what was decided has to be told, with its line"]
pub enum Decision {
    /// It is allowed; this line is the first of those that allow it.
    Allow {
        /// The line.
        line: usize,
    },
    /// It is not allowed.
    Refuse {
        /// The line that denies it; none when no line allows it.
        line: Option<usize>,
    },
}

impl ApprovalFile {
    /// Reads a file. Relative paths in it start from the working directory; links in them are followed now.
    ///
    /// # Errors
    /// The file cannot be read, or the first line that says nothing the file can mean.
    pub fn read(path: &Path, surroundings: &Surroundings) -> Result<Self, ApprovalFileError> {
        parse::read(path, surroundings)
    }

    /// Reads the text of a file that is called `name`.
    ///
    /// # Errors
    /// The first line that says nothing the file can mean.
    pub fn parse(text: &str, name: &str, surroundings: &Surroundings) -> Result<Self, ApprovalFileError> {
        parse::parse(text, name, surroundings)
    }

    /// What the file says to this need.
    ///
    /// A `command` line allows exactly that command; `path` lines allow a need that names at least one path and no path that
    /// they do not cover. So what cannot say what it touches is never allowed by a path. A line that denies a path counts for
    /// what is touched, and for what the command's text mentions.
    pub fn decide(&self, need: &ApprovalNeed) -> Decision {
        let touched: Vec<PathBuf> = need.writes.iter().chain(&need.deletes).map(PathBuf::from).collect();
        let mentioned = self.mentioned(need);
        let denying = self.rules.iter().find(|rule| {
            let is_touched = || touched.iter().any(|path| rule.touches(path));
            let is_mentioned = || mentioned.iter().any(|path| rule.holds(path));
            rule.word == Word::Deny && (rule.names(need) || is_touched() || is_mentioned())
        });
        if let Some(rule) = denying {
            return Decision::Refuse { line: Some(rule.line) };
        }
        let allowing = || self.rules.iter().filter(|rule| rule.word == Word::Allow);
        if let Some(rule) = allowing().find(|rule| rule.names(need)) {
            return Decision::Allow { line: rule.line };
        }
        let covering: Option<Vec<usize>> = touched
            .iter()
            .map(|path| allowing().find(|rule| rule.covers(path)).map(|rule| rule.line))
            .collect();
        match covering.and_then(|lines| lines.into_iter().min()) {
            Some(line) => Decision::Allow { line },
            None => Decision::Refuse { line: None },
        }
    }

    /// The paths that the command's text mentions, as the kernel follows them. Only a file with a `deny` line has use for them.
    fn mentioned(&self, need: &ApprovalNeed) -> Vec<PathBuf> {
        if self.rules.iter().all(|rule| rule.word != Word::Deny) {
            return Vec::new();
        }
        let texts = mentions(&need.command, &self.place.home, &self.place.vars);
        texts.iter().map(|text| resolve::fully(&self.place.cwd.join(text))).collect()
    }

    /// How a decision is signed: `file:<name>:<line>`, or `headless` where no line spoke.
    #[must_use]
    pub fn signature(&self, decision: Decision) -> String {
        match decision {
            Decision::Allow { line } | Decision::Refuse { line: Some(line) } => {
                format!("file:{}:{line}", self.name)
            }
            Decision::Refuse { line: None } => "headless".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
