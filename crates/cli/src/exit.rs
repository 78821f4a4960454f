//! Exit codes.

use setpoint_app::{Error, ErrorKind};
use setpoint_protocol::message::{EndState, EndedBy, FinalResult};

/// The program's exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(u8);

impl Exit {
    /// Every criterion is met, or the command did what it was asked.
    pub const DONE: Exit = Exit(0);
    /// An internal error, or a check that found something bad.
    pub const INTERNAL: Exit = Exit(1);
    /// The command line or the configuration is invalid.
    pub const USAGE: Exit = Exit(2);
    /// The result is accepted, but has gaps.
    pub const GAPS: Exit = Exit(3);
    /// The task was given up.
    pub const ABANDONED: Exit = Exit(4);
    /// The task ended because consent was refused.
    pub const CONSENT: Exit = Exit(5);
    /// The task was cancelled, or the program was interrupted before its end.
    pub const CANCELLED: Exit = Exit(130);

    /// Returns the code for the end of a task, so that code and result always agree.
    #[must_use]
    pub const fn of_result(result: &FinalResult) -> Exit {
        match (result.directive, result.ended_by) {
            (EndState::Accept, _) => Exit::DONE,
            (EndState::Success, _) => Exit::GAPS,
            (EndState::Abandon, EndedBy::Consent) => Exit::CONSENT,
            (EndState::Abandon, EndedBy::Cancelled) => Exit::CANCELLED,
            (EndState::Abandon, _) => Exit::ABANDONED,
        }
    }

    /// Returns the code for an error.
    #[must_use]
    pub const fn of_error(error: &Error) -> Exit {
        Exit(error.kind.exit_code())
    }

    /// Returns the code for a kind of error.
    #[must_use]
    pub const fn of_kind(kind: ErrorKind) -> Exit {
        Exit(kind.exit_code())
    }

    /// Returns the code of a program that was run for a person.
    #[must_use]
    pub const fn of_program(code: u8) -> Exit {
        Exit(code)
    }

    /// Returns the worse of two codes, for a command that runs several tasks to their end. From best to
    /// worst: accepted, gaps, consent refused, given up, cancelled, usage error, internal error.
    #[must_use]
    pub fn worse(self, other: Exit) -> Exit {
        if other.severity() > self.severity() { other } else { self }
    }

    /// Returns the code as a number.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }

    const fn severity(self) -> u8 {
        match self {
            Exit::DONE => 0,
            Exit::GAPS => 1,
            Exit::CONSENT => 2,
            Exit::ABANDONED => 3,
            Exit::CANCELLED => 4,
            Exit::USAGE => 5,
            _ => 6,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        exit.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_code_wins_in_any_order() {
        let rising = [
            Exit::DONE,
            Exit::GAPS,
            Exit::CONSENT,
            Exit::ABANDONED,
            Exit::CANCELLED,
            Exit::USAGE,
            Exit::INTERNAL,
        ];
        for (n, better) in rising.into_iter().enumerate() {
            for worse in rising.into_iter().skip(n) {
                assert_eq!(better.worse(worse), worse);
                assert_eq!(worse.worse(better), worse);
            }
        }
    }
}
