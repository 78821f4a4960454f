//! The errors of a call, and the kind of failure that each is for the judge.

use std::error::Error as _;
use std::io;
use std::path::Path;

use setpoint_documents::{DocumentError, Refusal};
use setpoint_fetch::{FetchError, SearchError};
use setpoint_mcp::McpError;
use setpoint_protocol::tool::{ApprovalNeed, ErrorKind, ToolAnswer};

use crate::house::Refusal as HouseRefusal;
use crate::paths::PathError;
use crate::secrets::SecretError;
use crate::show;

/// Why a call did nothing, or less than it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// A parameter is missing, has the wrong type or is out of range.
    #[error("use the parameter `{field}`: {reason}")]
    Parameter {
        /// The parameter's name, with its path if it is nested.
        field: String,
        /// Why it was rejected.
        reason: String,
    },
    /// A parameter is not a valid path.
    #[error("use the parameter `{field}`")]
    Path {
        field: String,
        /// Why the path was rejected.
        #[source]
        source: PathError,
    },
    /// An operation of the system failed.
    #[error("{doing} {path}")]
    File {
        /// The attempted operation: `read`, `write`, …
        doing: &'static str,
        /// The path, escaped for display.
        path: String,
        #[source]
        source: io::Error,
    },
    /// The path is not of the kind that the tool reads.
    #[error("read {path}: {reason}")]
    Unfit {
        /// The path, escaped for display.
        path: String,
        /// Why it cannot be read.
        reason: String,
    },
    /// The existing state forbids the operation.
    #[error("{doing} {path}: {reason}")]
    InTheWay {
        /// The attempted operation.
        doing: &'static str,
        /// The path, escaped for display.
        path: String,
        /// What is in the way, and what to do about it.
        reason: String,
    },
    /// The tool or program does not exist.
    #[error("find {name}: it is not available here{hint}")]
    Missing {
        name: String,
        /// A suggestion, or empty.
        hint: String,
    },
    /// A program that a native tool uses failed.
    #[error("run {program}: {said}")]
    Program {
        program: String,
        /// What it printed, truncated.
        said: String,
    },
    /// The call was a probe but may change something.
    #[error("run {tool} as a probe: {reason}")]
    NoProbe {
        tool: String,
        /// Why it would need consent, which a probe cannot have.
        reason: String,
    },
    /// A person has to allow the call first. It did nothing.
    #[error("go on without consent: {}", .0.reason)]
    Approval(Box<ApprovalNeed>),
    /// A line of the approval file denies the call. It did nothing, and no approval changes that.
    #[error(
        "do it: {line} denies it, and only the person can change that line; do not try it in another way"
    )]
    Denied {
        /// The file and the number of the line.
        line: String,
    },
    /// The call would enter Setpoint's own house. It did nothing, and no approval changes that.
    #[error(
        "use {path}: it belongs to Setpoint itself, and no tool may read or change it; `setpoint tasks`, `setpoint memory` \
         and `setpoint audit` show what is kept there"
    )]
    House {
        /// The place with links resolved, escaped for display.
        path: String,
    },
    /// The call would change a file that says what tasks may do, or exchange what leads to it. It did nothing, and no approval
    /// changes that.
    #[error(
        "change {path}: the approval file of this run is there, and only the person may change what is allowed; write to \
         another file, and say in the answer what the approval file would need"
    )]
    Guarded {
        /// The place, escaped for display.
        path: String,
    },
    /// The call would read or change everything below a folder that contains Setpoint's own house. No approval changes
    /// that.
    #[error(
        "use everything below {path}: the files of Setpoint itself are there, and no tool may read or change them; name a \
         folder that does not hold them"
    )]
    HouseBelow {
        /// The folder with links resolved, escaped for display.
        path: String,
    },
    /// A page could not be fetched.
    #[error("fetch {url}")]
    Fetch {
        url: String,
        /// Why.
        #[source]
        source: Box<FetchError>,
    },
    /// A document could not be read.
    #[error("read {path}")]
    Document {
        /// The path, escaped for display.
        path: String,
        /// Why.
        #[source]
        source: Box<DocumentError>,
    },
    /// A URL contains a key of this machine. Nothing was sent.
    #[error("fetch it: the URL contains a key of this machine, which would be sent; leave the key out")]
    KeyInUrl,
    /// A header contains a key of this machine. Nothing was sent.
    #[error(
        "fetch it: the header {name} contains a key of this machine; refer to a secret as `secret://NAME`, or leave it out"
    )]
    KeyInHeader {
        /// The name of the header.
        name: String,
    },
    /// A secret may not be sent. Nothing was.
    #[error("send the headers")]
    Secret(#[source] SecretError),
    /// A search engine told nothing about what there is.
    #[error("search the web with {engine}, so what it would find is unknown")]
    Search {
        engine: &'static str,
        /// Why.
        #[source]
        source: Box<SearchError>,
    },
    /// A query contains a key of this machine. Nothing was sent.
    #[error(
        "search for it: the query contains a key of this machine, which would be sent; leave the key out"
    )]
    KeyInQuery,
    /// An MCP server could not be used.
    #[error(transparent)]
    Server(#[from] McpError),
    /// The call exceeded its time limit.
    #[error("finish within {ms} ms")]
    TimedOut {
        /// The time limit in milliseconds.
        ms: u64,
    },
    /// The call was cancelled.
    #[error("finish: it was cancelled")]
    Cancelled,
    /// The tool's thread panicked.
    #[error("finish: the tool broke down")]
    Broken,
}

impl ToolError {
    /// Returns the error for a failed operation on the file at `path`.
    pub(crate) fn file(doing: &'static str, path: &Path, source: io::Error) -> Self {
        if let Some(HouseRefusal(real)) = HouseRefusal::of(&source) {
            return ToolError::House { path: show::path(real) };
        }
        ToolError::File { doing, path: show::path(path), source }
    }

    /// Returns the error for a parameter that is out of range.
    pub(crate) fn parameter(field: &str, reason: impl Into<String>) -> Self {
        ToolError::Parameter { field: field.to_owned(), reason: reason.into() }
    }

    /// Returns the error for a path that is not of the kind that the tool reads.
    pub(crate) fn unfit(path: &Path, reason: impl Into<String>) -> Self {
        ToolError::Unfit { path: show::path(path), reason: reason.into() }
    }

    /// Returns the error for a state at `path` that forbids the operation.
    pub(crate) fn blocked_by_state(doing: &'static str, path: &Path, reason: impl Into<String>) -> Self {
        ToolError::InTheWay { doing, path: show::path(path), reason: reason.into() }
    }

    /// Adds a preview for the person if this error asks for approval.
    pub(crate) fn with_preview(self, preview: impl FnOnce() -> String) -> Self {
        match self {
            ToolError::Approval(need) => {
                ToolError::Approval(Box::new(ApprovalNeed { preview: Some(preview()), ..*need }))
            }
            other => other,
        }
    }

    /// Returns the kind of failure, by which the judge and the planner decide.
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
            ToolError::House { .. }
            | ToolError::Guarded { .. }
            | ToolError::HouseBelow { .. }
            | ToolError::KeyInUrl
            | ToolError::KeyInHeader { .. }
            | ToolError::Secret(_)
            | ToolError::KeyInQuery => ErrorKind::Permission,
            ToolError::Search { source, .. } => search_kind(source),
            ToolError::Fetch { source, .. } => fetch_kind(source),
            ToolError::Document { source, .. } => document_kind(source),
            ToolError::NoProbe { .. } => ErrorKind::Blocked,
            ToolError::Approval(_) => ErrorKind::ApprovalRequired,
            ToolError::Denied { .. } => ErrorKind::Consent,
            ToolError::Server(error) => server_kind(error),
            ToolError::TimedOut { .. } => ErrorKind::Timeout,
            ToolError::Cancelled => ErrorKind::Interrupted,
            ToolError::Broken => ErrorKind::Other,
        }
    }

    /// Converts the error into an answer: "failed to …", with the whole chain of causes.
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

/// Returns the kind of failure for a page that could not be fetched.
fn fetch_kind(error: &FetchError) -> ErrorKind {
    match error {
        FetchError::Address { .. } | FetchError::Downgrade { .. } => ErrorKind::Permission,
        FetchError::Denied { .. } => ErrorKind::Consent,
        FetchError::TimedOut { .. } => ErrorKind::Timeout,
        FetchError::Status { status } => match status {
            404 | 410 => ErrorKind::NotFound,
            401 | 403 | 407 | 451 => ErrorKind::Permission,
            429 => ErrorKind::RateLimit,
            408 | 500.. => ErrorKind::Network,
            _ => ErrorKind::InvalidInput,
        },
        FetchError::Headers
        | FetchError::Compressed
        | FetchError::Redirects
        | FetchError::Redirect(_)
        | FetchError::NoLocation => ErrorKind::InvalidData,
        FetchError::Lookup { .. }
        | FetchError::Addresses { .. }
        | FetchError::Client(_)
        | FetchError::Unreachable { .. } => ErrorKind::Network,
    }
}

/// Returns the kind of failure for a document that could not be read.
fn document_kind(error: &DocumentError) -> ErrorKind {
    match error {
        DocumentError::NotStarted(_) => ErrorKind::MissingTool,
        DocumentError::TimedOut { .. } => ErrorKind::Timeout,
        DocumentError::Refused(Refusal::NoSheet { .. } | Refusal::NoPage { .. } | Refusal::NoRow { .. }) => {
            ErrorKind::InvalidInput
        }
        DocumentError::Refused(Refusal::NotConfined { .. }) => ErrorKind::Other,
        DocumentError::Refused(_)
        | DocumentError::TooLarge
        | DocumentError::Memory { .. }
        | DocumentError::Broken => ErrorKind::InvalidData,
    }
}

/// Returns the kind of failure for a search: always one of the environment, because the call itself was right.
fn search_kind(error: &SearchError) -> ErrorKind {
    match error {
        SearchError::NoKey => ErrorKind::MissingTool,
        SearchError::Refused => ErrorKind::Permission,
        SearchError::Busy | SearchError::Robot => ErrorKind::RateLimit,
        SearchError::Address(_) => ErrorKind::InvalidInput,
        SearchError::Fetch(FetchError::TimedOut { .. }) => ErrorKind::Timeout,
        SearchError::Fetch(FetchError::Address { .. }) => ErrorKind::Permission,
        SearchError::Fetch(_) | SearchError::Engines { .. } | SearchError::Unfit => ErrorKind::Network,
    }
}

fn server_kind(error: &McpError) -> ErrorKind {
    match error {
        McpError::NotStarted { .. } | McpError::Gone { .. } => ErrorKind::MissingTool,
        McpError::Address { .. }
        | McpError::Client { .. }
        | McpError::NotConnected { .. }
        | McpError::GivenUp { .. } => ErrorKind::Network,
        McpError::TimedOut { .. } => ErrorKind::Timeout,
        // What it had done by then is unknown.
        McpError::Died { .. } | McpError::Cancelled { .. } => ErrorKind::Interrupted,
        McpError::Refused { .. } => ErrorKind::Exit,
        McpError::Flooded { .. } | McpError::Unfit { .. } | McpError::TooMany { .. } => {
            ErrorKind::InvalidData
        }
        McpError::Changed { .. } => ErrorKind::Permission,
    }
}

/// Returns the kind of failure for an error of the system.
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
    fn every_file_system_errno_has_a_kind() {
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
    fn the_answer_contains_the_whole_error_chain() {
        let source = io::Error::from(rustix::io::Errno::NOENT);
        let answer = ToolError::file("read", Path::new("/x/y"), source).into_answer();
        assert!(!answer.ok);
        assert_eq!(answer.error_kind, Some(ErrorKind::NotFound));
        assert_eq!(answer.text, "failed to read /x/y: No such file or directory (os error 2)");
    }
}
