//! Removes from the blocked sets what must not be blocked (SPEC 6.2).
//!
//! | removed | tool | target |
//! |---|---|---|
//! | a command that the person, a criterion or its check names | yes | yes |
//! | whose only failed calls were read-only | yes | yes |
//! | a program none of whose calls failed | yes | yes |
//! | whose only failed calls were cut off by a model's outage | yes | yes |
//! | after whose last failed call something was changed | no | yes |
//!
//! A tool that is not in the catalogue stays blocked, because its effect is unknown.

use std::fmt;
use std::sync::Arc;

use setpoint_control::Pair;
use setpoint_protocol::ToolId;
use setpoint_protocol::tool::ToolSpec;

use super::attempts::{Attempt, Attempts, is_program};
use super::naming::Naming;

/// At most this many removed things are named in a rationale; the rest are counted.
const NAMED_MAX: usize = 8;

/// The reason for not blocking something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// The person, a criterion or its check names it.
    Named,
    /// Its calls only read.
    OnlyRead,
    /// It is a program none of whose calls failed.
    NeverFailed,
    /// A model's outage interrupted its calls.
    CutOff,
    /// A later call changed something, which may have fixed the cause.
    Changed,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Named => "named by the person or a criterion",
            Reason::OnlyRead => "it only read",
            Reason::NeverFailed => "none of its calls failed",
            Reason::CutOff => "cut off by a model's outage",
            Reason::Changed => "something was changed since",
        })
    }
}

/// The inputs of the rules.
pub(super) struct Exemptions<'a> {
    pub(super) attempts: &'a Attempts,
    pub(super) naming: &'a Naming,
    pub(super) catalogue: &'a [Arc<ToolSpec>],
}

impl Exemptions<'_> {
    /// Removes from both sets what must not be blocked, and returns a sentence that names it with the reason; an
    /// empty one if nothing was removed.
    ///
    /// A target is named by its call's id: the rationale is an instruction to R2, and a target may contain any text.
    #[must_use]
    pub(super) fn take_out(&self, tools: &mut Vec<ToolId>, targets: &mut Vec<Pair>) -> String {
        let mut taken = Vec::new();
        tools.retain(|tool| match self.of_tool(tool) {
            Some(reason) => {
                taken.push(format!("{tool} ({reason})"));
                false
            }
            None => true,
        });
        targets.retain(|pair| match self.of_pair(pair) {
            Some((attempt, reason)) => {
                taken.push(format!("call {} of {} ({reason})", attempt.call, pair.tool));
                false
            }
            None => true,
        });
        match (taken.len(), taken.len().saturating_sub(NAMED_MAX)) {
            (0, _) => String::new(),
            (_, 0) => format!(" Not blocked: {}.", taken.join(", ")),
            (_, more) => {
                taken.truncate(NAMED_MAX);
                format!(" Not blocked: {}, and {more} more.", taken.join(", "))
            }
        }
    }

    fn of_tool(&self, tool: &ToolId) -> Option<Reason> {
        let attempts = self.attempts.of_tool(tool)?;
        let is_named = |(target, attempt): (&String, &Attempt)| self.is_named(tool, target, attempt);
        if self.naming.names_tool(tool) || attempts.iter().any(is_named) {
            Some(Reason::Named)
        } else if attempts.values().any(|attempt| attempt.failed_at.is_some()) {
            None
        } else if attempts.values().any(|attempt| attempt.worked_at.is_some()) {
            is_program(tool, self.catalogue).then_some(Reason::NeverFailed)
        } else if attempts.values().any(|attempt| attempt.was_cut_off) {
            Some(Reason::CutOff)
        } else {
            Some(Reason::OnlyRead)
        }
    }

    fn of_pair(&self, pair: &Pair) -> Option<(&Attempt, Reason)> {
        let tool: ToolId = pair.tool.parse().ok()?;
        let attempts = self.attempts.of_tool(&tool)?;
        let attempt = attempts.get(&pair.target)?;
        let reason = if self.is_named(&tool, &pair.target, attempt) {
            Reason::Named
        } else if let Some(at) = attempt.failed_at.or(attempt.worked_at) {
            let has_failed = attempts.values().any(|attempt| attempt.failed_at.is_some());
            if !has_failed && is_program(&tool, self.catalogue) {
                Reason::NeverFailed
            } else if self.attempts.has_changed_since(at) {
                Reason::Changed
            } else {
                return None;
            }
        } else if attempt.was_cut_off {
            Reason::CutOff
        } else {
            Reason::OnlyRead
        };
        Some((attempt, reason))
    }

    /// Returns whether the call is named. Only programs are named by their text: a path in the person's words is not
    /// a command.
    fn is_named(&self, tool: &ToolId, target: &str, attempt: &Attempt) -> bool {
        self.naming.names_probe(tool, target)
            || (is_program(tool, self.catalogue) && self.naming.names_command(target, attempt))
    }
}
