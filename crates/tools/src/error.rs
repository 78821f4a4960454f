//! What can go wrong in a call, and which kind of failure each is for the judge.

use std::error::Error as _;
use std::io;
use std::path::Path;

use setpoint_protocol::tool::{ApprovalNeed, ErrorKind, ToolAnswer};

use crate::house::Refusal;
use crate::paths::PathError;
use crate::show;

/// Why a call did nothing, or not all it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// A parameter is missing, of the wrong type or out of its range.
    #[error("use the parameter `{field}`: {reason}")]
    Parameter {
        /// Its name, with the path to it where it is nested.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A parameter is no path.
    #[error("use the parameter `{field}`")]
    Path {
        /// Its name.
        field: String,
        /// What is wrong with it.
        #[source]
        source: PathError,
    },
    /// The system refused.
    #[error("{doing} {path}")]
    File {
        /// What was tried: `read`, `write`, …
        doing: &'static str,
        /// On what, as it is shown.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It is there, but not of the kind that the tool reads.
    #[error("read {path}: {reason}")]
    Unfit {
        /// What was read, as it is shown.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What is there forbids what was asked.
    #[error("{doing} {path}: {reason}")]
    InTheWay {
        /// What was tried.
        doing: &'static str,
        /// On what, as it is shown.
        path: String,
        /// What stands in the way, and what to do about it.
        reason: String,
    },
    /// There is no such tool, or no such program.
    #[error("find {name}: it is not available here{hint}")]
    Missing {
        /// Its name.
        name: String,
        /// Empty, or what may have been meant.
        hint: String,
    },
    /// A program that a native tool uses said no.
    #[error("run {program}: {said}")]
    Program {
        /// The program.
        program: String,
        /// What it printed, clipped.
        said: String,
    },
    /// The call was to be a probe, and nothing proves that it changes nothing.
    #[error("run {tool} as a probe: {reason}")]
    NoProbe {
        /// The tool.
        tool: String,
        /// Why it would need consent, which a probe cannot have.
        reason: String,
    },
    /// A person has to allow it first. Nothing was done.
    #[error("go on without consent: {}", .0.reason)]
    Approval(Box<ApprovalNeed>),
    /// It would enter Setpoint's own house. Nothing was done, and no approval changes that.
    #[error(
        "use {path}: it belongs to Setpoint itself, and no tool may read or change it; `setpoint tasks`, `setpoint memory` \
         and `setpoint audit` show what is kept there"
    )]
    House {
        /// The place, links followed, as it is shown.
        path: String,
    },
    /// It would read or change everything below a folder, and Setpoint's own house is there. No approval changes that.
    #[error(
        "use everything below {path}: the files of Setpoint itself are there, and no tool may read or change them; name a \
         folder that does not hold them"
    )]
    HouseBelow {
        /// The folder, as it is shown.
        path: String,
    },
    /// It took too long and was given up.
    #[error("finish within {ms} ms")]
    TimedOut {
        /// The time it had.
        ms: u64,
    },
    /// It was stopped from outside.
    #[error("finish: it was cancelled")]
    Cancelled,
    /// The tool itself broke.
    #[error("finish: the tool broke down")]
    Broken,
}

impl ToolError {
    /// `doing` something with the file at `path` failed with `source`.
    pub(crate) fn file(doing: &'static str, path: &Path, source: io::Error) -> Self {
        if let Some(Refusal(real)) = Refusal::of(&source) {
            return ToolError::House { path: show::path(real) };
        }
        ToolError::File { doing, path: show::path(path), source }
    }

    /// A parameter is out of its range.
    pub(crate) fn parameter(field: &str, reason: impl Into<String>) -> Self {
        ToolError::Parameter { field: field.to_owned(), reason: reason.into() }
    }

    /// What is at `path` is not of the kind that the tool reads.
    pub(crate) fn unfit(path: &Path, reason: impl Into<String>) -> Self {
        ToolError::Unfit { path: show::path(path), reason: reason.into() }
    }

    /// What is at `path` forbids what was asked.
    pub(crate) fn in_the_way(doing: &'static str, path: &Path, reason: impl Into<String>) -> Self {
        ToolError::InTheWay { doing, path: show::path(path), reason: reason.into() }
    }

    /// The same with what a person would allow, where this is what asks.
    pub(crate) fn with_preview(self, preview: impl FnOnce() -> String) -> Self {
        match self {
            ToolError::Approval(need) => {
                ToolError::Approval(Box::new(ApprovalNeed { preview: Some(preview()), ..*need }))
            }
            other => other,
        }
    }

    /// The kind that the judge and the planner go by.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            ToolError::Parameter { .. } | ToolError::Path { .. } | ToolError::InTheWay { .. } => {
                ErrorKind::InvalidInput
            }
            ToolError::File { source, .. } => io_kind(source),
            ToolError::Unfit { .. } => ErrorKind::InvalidData,
            ToolError::Missing { .. } => ErrorKind::MissingTool,
            ToolError::Program { .. } => ErrorKind::Exit,
            ToolError::House { .. } | ToolError::HouseBelow { .. } => ErrorKind::Permission,
            ToolError::NoProbe { .. } => ErrorKind::Blocked,
            ToolError::Approval(_) => ErrorKind::ApprovalRequired,
            ToolError::TimedOut { .. } => ErrorKind::Timeout,
            ToolError::Cancelled => ErrorKind::Interrupted,
            ToolError::Broken => ErrorKind::Other,
        }
    }

    /// The answer that says so: "failed to …", with the whole chain of causes.
    #[must_use]
    pub fn into_answer(self) -> ToolAnswer {
        let mut text = format!("failed to {self}");
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(&format!(": {error}"));
            cause = error.source();
        }
        let error_kind = Some(self.kind());
        let approval = match self {
            ToolError::Approval(need) => Some(*need),
            _ => None,
        };
        ToolAnswer { ok: false, error_kind, text, approval, ..ToolAnswer::default() }
    }
}

/// The kind of failure that an error of the system is.
pub(crate) fn io_kind(error: &io::Error) -> ErrorKind {
    use io::ErrorKind as Io;
    match error.kind() {
        Io::NotFound => ErrorKind::NotFound,
        Io::PermissionDenied | Io::ReadOnlyFilesystem => ErrorKind::Permission,
        Io::StorageFull | Io::QuotaExceeded | Io::FileTooLarge => ErrorKind::Storage,
        Io::TimedOut => ErrorKind::Timeout,
        Io::ConnectionRefused
        | Io::ConnectionReset
        | Io::HostUnreachable
        | Io::NetworkUnreachable
        | Io::NetworkDown
        | Io::StaleNetworkFileHandle => ErrorKind::Network,
        Io::InvalidData | Io::UnexpectedEof => ErrorKind::InvalidData,
        Io::InvalidInput
        | Io::InvalidFilename
        | Io::NotADirectory
        | Io::IsADirectory
        | Io::AlreadyExists
        | Io::DirectoryNotEmpty
        | Io::CrossesDevices => ErrorKind::InvalidInput,
        _ => ErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_errno_of_the_file_system_has_its_kind() {
        use rustix::io::Errno;
        for (errno, kind) in [
            (Errno::NOENT, ErrorKind::NotFound),
            (Errno::ACCESS, ErrorKind::Permission),
            (Errno::PERM, ErrorKind::Permission),
            (Errno::ROFS, ErrorKind::Permission),
            (Errno::NOSPC, ErrorKind::Storage),
            (Errno::DQUOT, ErrorKind::Storage),
            (Errno::FBIG, ErrorKind::Storage),
            (Errno::NOTDIR, ErrorKind::InvalidInput),
            (Errno::ISDIR, ErrorKind::InvalidInput),
            (Errno::NAMETOOLONG, ErrorKind::InvalidInput),
            (Errno::MFILE, ErrorKind::Other),
        ] {
            assert_eq!(io_kind(&io::Error::from(errno)), kind, "{errno:?}");
        }
    }

    #[test]
    fn the_answer_tells_the_whole_chain() {
        let source = io::Error::from(rustix::io::Errno::NOENT);
        let answer = ToolError::file("read", Path::new("/x/y"), source).into_answer();
        assert!(!answer.ok);
        assert_eq!(answer.error_kind, Some(ErrorKind::NotFound));
        assert_eq!(answer.text, "failed to read /x/y: No such file or directory (os error 2)");
    }
}
