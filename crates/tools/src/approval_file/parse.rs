//! Parses the text of an approval file into rules.

use std::io;
use std::net::Ipv4Addr;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use setpoint_command_line::simple_command;
use setpoint_own_files::named;
use setpoint_protocol::record::Surroundings;

use super::denied::DeniedPath;
use super::rule::{About, Rule, Word};
use super::{APPROVAL_FILE_BYTES_MAX, APPROVAL_RULES_MAX, ApprovalFile};
use crate::approval::resolve;
use crate::paths::{self, PathError, literal_path};

const DIGEST_DIGITS: usize = 64;
/// Hex digits from which a word of only hex digits is read as a truncated digest, not as a command.
const SHORT_DIGEST_DIGITS: usize = 8;

/// Why an approval file was rejected.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalFileError {
    /// The file could not be read.
    #[error("read the approval file {name}")]
    Read {
        /// The name of the file.
        name: String,
        #[source]
        source: io::Error,
    },
    /// It is larger than [`APPROVAL_FILE_BYTES_MAX`](super::APPROVAL_FILE_BYTES_MAX).
    #[error("read the approval file {name}: it is larger than {APPROVAL_FILE_BYTES_MAX} bytes")]
    TooLarge {
        /// The name of the file.
        name: String,
    },
    /// It has more than [`APPROVAL_RULES_MAX`](super::APPROVAL_RULES_MAX) rules.
    #[error("read the approval file {name}: it has more than {APPROVAL_RULES_MAX} rules")]
    TooMany {
        /// The name of the file.
        name: String,
    },
    /// It is not UTF-8 text.
    #[error("read the approval file {name}: it is not UTF-8")]
    NoText {
        /// The name of the file.
        name: String,
    },
    /// A line is not a valid rule.
    #[error("read {name}:{line}")]
    Line {
        /// The name of the file.
        name: String,
        /// The line number, from 1.
        line: usize,
        /// Why the line was rejected.
        #[source]
        source: LineError,
    },
}

/// Why a line was rejected.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It begins with an unknown word.
    #[error(
        "understand {0:?}: a line begins with `path`, `command` or `host`, or with `deny` and one of these"
    )]
    Word(String),
    /// Nothing follows the word.
    #[error("find a path, command or host after `{0}`")]
    Empty(&'static str),
    /// The path is quoted; the quotes would be part of it.
    #[error("use a path in quotes: write it without them, also when it holds blanks")]
    Quoted,
    /// The digest of a command is truncated.
    #[error("use a digest of {0} digits: write all of its {DIGEST_DIGITS}")]
    ShortDigest(usize),
    /// It names no valid path.
    #[error("find the path")]
    Path(#[source] PathError),
    /// It names no host.
    #[error(
        "use {0:?} as a host: write a name or an address alone, such as example.org, or *.example.org for all below it"
    )]
    Host(String),
    /// It means all hosts below an address.
    #[error(
        "use `*.` before {0}, which is an address: name each address in a line of its own, in full, such as 192.0.2.1"
    )]
    BelowAddress(String),
    /// It has `..` after a name that does not exist, or after a pattern.
    #[error("follow `..` after a name that does not exist or a pattern: write the path without it")]
    Parent,
    /// It seems to end with a comment, which would be part of the path.
    #[error("use a comment after a path: put it into a line of its own, before this one")]
    Comment,
    /// Another line says the opposite of the very same.
    #[error("follow both this line and line {0}: one allows what the other forbids; remove one of them")]
    Contradiction(usize),
    /// Its pattern is malformed.
    #[error("read the pattern")]
    Glob(#[source] Box<globset::Error>),
}

impl LineError {
    fn glob(error: globset::Error) -> Self {
        LineError::Glob(Box::new(error))
    }
}

pub(super) fn read(path: &Path, surroundings: &Surroundings) -> Result<ApprovalFile, ApprovalFileError> {
    let name = crate::show::path(path);
    let failed = |source| ApprovalFileError::Read { name: name.clone(), source };
    let bytes = named::read(path, APPROVAL_FILE_BYTES_MAX).map_err(failed)?;
    if bytes.len() as u64 > APPROVAL_FILE_BYTES_MAX {
        return Err(ApprovalFileError::TooLarge { name });
    }
    match String::from_utf8(bytes) {
        Ok(text) => parse(&text, &name, surroundings),
        Err(_) => Err(ApprovalFileError::NoText { name }),
    }
}

pub(super) fn parse(
    text: &str,
    name: &str,
    surroundings: &Surroundings,
) -> Result<ApprovalFile, ApprovalFileError> {
    let place = place(surroundings);
    let mut rules: Vec<Rule> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if rules.len() >= APPROVAL_RULES_MAX {
            return Err(ApprovalFileError::TooMany { name: name.to_owned() });
        }
        let failed = |source| ApprovalFileError::Line { name: name.to_owned(), line, source };
        let rule = self::line(text, line, &place).map_err(failed)?;
        if let Some(other) =
            rules.iter().find(|other| other.word != rule.word && other.about.is_same(&rule.about))
        {
            return Err(failed(LineError::Contradiction(other.line)));
        }
        rules.push(rule);
    }
    Ok(ApprovalFile { name: name.to_owned(), rules, place })
}

fn line(text: &str, line: usize, place: &paths::Surroundings) -> Result<Rule, LineError> {
    let (first, rest) = split_word(text);
    let (word, subject, rest) = match first {
        "deny" => {
            let (subject, rest) = split_word(rest);
            (Word::Deny, subject, rest)
        }
        subject => (Word::Allow, subject, rest),
    };
    let mut denied = None;
    let about = match subject {
        "path" if rest.is_empty() => return Err(LineError::Empty("path")),
        "path" => {
            let (folder, pattern) = path(rest, place)?;
            let about = below(&folder, &pattern).map_err(LineError::glob)?;
            if word == Word::Deny {
                denied = Some(DeniedPath::new(folder, pattern).map_err(LineError::glob)?);
            }
            about
        }
        "command" if rest.is_empty() => return Err(LineError::Empty("command")),
        "command" => command(rest)?,
        "host" if rest.is_empty() => return Err(LineError::Empty("host")),
        "host" => host(rest)?,
        other => return Err(LineError::Word(other.chars().take(40).collect())),
    };
    let simple = match &about {
        About::Command(text) if word == Word::Deny => simple_command(text),
        _ => None,
    };
    Ok(Rule { line, word, about, denied, simple })
}

fn command(text: &str) -> Result<About, LineError> {
    let is_digest =
        |text: &str| text.len() >= SHORT_DIGEST_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if text.len() != DIGEST_DIGITS && is_digest(text) {
        return Err(LineError::ShortDigest(text.len()));
    }
    Ok(About::Command(text.to_owned()))
}

/// Reads the name of a host, or `*.` and the name above those that are meant.
fn host(text: &str) -> Result<About, LineError> {
    let (name, is_below) = text.strip_prefix("*.").map_or((text, false), |name| (name, true));
    let failed = || LineError::Host(text.chars().take(80).collect());
    let name = setpoint_fetch::host_name(name).filter(|name| !name.contains('*')).ok_or_else(failed)?;
    // Nothing is below an address: `0.0.1` is one too.
    if is_below && (name.starts_with('[') || name.parse::<Ipv4Addr>().is_ok()) {
        return Err(LineError::BelowAddress(name));
    }
    Ok(About::Host { name, is_below })
}

fn split_word(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (text, ""),
    }
}

fn place(surroundings: &Surroundings) -> paths::Surroundings {
    paths::Surroundings {
        cwd: PathBuf::from(&surroundings.cwd),
        home: PathBuf::from(&surroundings.home),
        vars: surroundings.vars.clone(),
    }
}

/// Reads a folder, a file or a pattern, as the literal folders before a pattern and the pattern.
fn path(text: &str, place: &paths::Surroundings) -> Result<(PathBuf, PathBuf), LineError> {
    if ['"', '\''].iter().any(|quote| text.len() > 1 && text.starts_with(*quote) && text.ends_with(*quote)) {
        return Err(LineError::Quoted);
    }
    let path = literal_path(text, place).map_err(LineError::Path)?;
    if text.contains(" #") && path.symlink_metadata().is_err() {
        return Err(LineError::Comment);
    }
    let is_plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let folder: PathBuf = path.components().take_while(is_plain).collect();
    let pattern = path.strip_prefix(&folder).map(Path::to_path_buf).unwrap_or_default();
    let is_up = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    if is_up(&pattern) || (is_up(&folder) && resolve::real(&folder, true).is_err()) {
        return Err(LineError::Parent);
    }
    Ok((folder, pattern))
}

/// Returns what such a line covers. The literal folders are resolved, so that a line about `/tmp` covers the folder that
/// `/tmp` links to.
fn below(folder: &Path, pattern: &Path) -> Result<About, globset::Error> {
    let folder = resolve::fully(folder);
    if pattern.as_os_str().is_empty() {
        return Ok(About::Below(folder));
    }
    Ok(About::Matching(matcher(&folder, pattern)?))
}

/// Returns what finds the paths below a folder that match a pattern.
pub(super) fn matcher(folder: &Path, pattern: &Path) -> Result<GlobMatcher, globset::Error> {
    let escaped = globset::escape(&folder.to_string_lossy());
    let whole = format!("{}/{}", escaped.trim_end_matches('/'), pattern.to_string_lossy());
    Ok(GlobBuilder::new(&whole).literal_separator(true).build()?.compile_matcher())
}
