//! Parses the text of an approval file into rules.

use std::io;
use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;
use setpoint_own_files::named;
use setpoint_protocol::record::Surroundings;

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
    /// Another line says the opposite of the very same.
    #[error("follow both this line and line {0}: one allows what the other forbids; remove one of them")]
    Contradiction(usize),
    /// Its pattern is malformed.
    #[error("read the pattern")]
    Glob(#[source] Box<globset::Error>),
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
        let (word, about) = self::line(text, surroundings).map_err(failed)?;
        if let Some(other) = rules.iter().find(|rule| rule.word != word && rule.about.is_same(&about)) {
            return Err(failed(LineError::Contradiction(other.line)));
        }
        if word == Word::Deny
            && let Some(about) = link_itself(text, surroundings)
        {
            rules.push(Rule { line, word, about });
        }
        rules.push(Rule { line, word, about });
    }
    let place = place(surroundings);
    Ok(ApprovalFile { name: name.to_owned(), rules, place })
}

fn line(text: &str, surroundings: &Surroundings) -> Result<(Word, About), LineError> {
    let (first, rest) = split_word(text);
    let (word, subject, rest) = match first {
        "deny" => {
            let (subject, rest) = split_word(rest);
            (Word::Deny, subject, rest)
        }
        subject => (Word::Allow, subject, rest),
    };
    let about = match subject {
        "path" if rest.is_empty() => return Err(LineError::Empty("path")),
        "path" => path(rest, surroundings)?,
        "command" if rest.is_empty() => return Err(LineError::Empty("command")),
        "command" => command(rest)?,
        "host" if rest.is_empty() => return Err(LineError::Empty("host")),
        "host" => host(rest)?,
        other => return Err(LineError::Word(other.chars().take(40).collect())),
    };
    Ok((word, about))
}

/// Returns what a line `deny path LINK` is about beside what the link leads to: the link, which could be replaced.
fn link_itself(text: &str, surroundings: &Surroundings) -> Option<About> {
    let (subject, path) = split_word(split_word(text).1);
    let path = literal_path(path, &place(surroundings)).ok().filter(|_| subject == "path")?;
    path.is_symlink().then(|| About::Below(resolve::parent_only(&path)))
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
    match setpoint_fetch::host_name(name) {
        Some(name) if !name.contains('*') => Ok(About::Host { name, is_below }),
        _ => Err(LineError::Host(text.chars().take(80).collect())),
    }
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

/// Reads a folder, a file or a pattern. The literal folders before a pattern are resolved, so that a line about `/tmp`
/// covers the folder that `/tmp` links to.
fn path(text: &str, surroundings: &Surroundings) -> Result<About, LineError> {
    if ['"', '\''].iter().any(|quote| text.len() > 1 && text.starts_with(*quote) && text.ends_with(*quote)) {
        return Err(LineError::Quoted);
    }
    let path = literal_path(text, &place(surroundings)).map_err(LineError::Path)?;
    let is_plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let folder: PathBuf = path.components().take_while(is_plain).collect();
    let Ok(pattern) = path.strip_prefix(&folder) else { return Ok(About::Below(resolve::fully(&path))) };
    let folder = resolve::fully(&folder);
    if pattern.as_os_str().is_empty() {
        return Ok(About::Below(folder));
    }
    let escaped = globset::escape(&folder.to_string_lossy());
    let whole = format!("{}/{}", escaped.trim_end_matches('/'), pattern.to_string_lossy());
    let glob = GlobBuilder::new(&whole).literal_separator(true).build();
    let glob = glob.map_err(|error| LineError::Glob(Box::new(error)))?.compile_matcher();
    Ok(About::Matching { folder, glob })
}
