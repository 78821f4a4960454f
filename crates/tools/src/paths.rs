//! Resolves written paths by their text alone.
//!
//! Never asks the file system and follows no links, so the answer is the same on every machine and in a replay. Code
//! that opens the path afterwards must still check what it found.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Longest path that is parsed, in bytes (`PATH_MAX` of Linux).
pub const PATH_BYTES_MAX: usize = 4096;

/// The context in which paths are read; reading them looks nothing up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// The directory that relative paths are resolved against; absolute.
    pub cwd: PathBuf,
    /// What `~` and `$HOME` stand for; absolute.
    pub home: PathBuf,
    /// Every variable that the process will be started with, by name. A missing name means unknown, not empty.
    pub vars: BTreeMap<String, String>,
}

/// Why a text is not a valid path.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
pub enum PathError {
    /// The text is empty.
    #[error("read an empty path")]
    Empty,
    /// The text is longer than [`PATH_BYTES_MAX`].
    #[error("read a path of {bytes} bytes: at most {PATH_BYTES_MAX} are allowed")]
    TooLong {
        /// Length of the text, or of what it expands to.
        bytes: usize,
    },
    /// It contains a control character; NUL and line ends count.
    #[error("read a path with the control character {code:#06x}")]
    ControlCharacter {
        /// The character's code point.
        code: u32,
    },
    /// It uses a variable that [`Surroundings::vars`] does not contain.
    #[error(
        "expand the variable {name}: only HOME, USER, TMPDIR, PWD and XDG directories are known here, where they are set"
    )]
    UnknownVariable {
        /// Its name, without `$`.
        name: String,
    },
    /// It uses `~somebody` or another tilde form that only the system can resolve.
    #[error("expand {prefix}: only ~ and ~+ are known")]
    UnknownHome {
        /// The tilde and what follows it up to the first slash.
        prefix: String,
    },
    /// It contains a `${` without its `}`, or with an invalid name.
    #[error("expand a variable: `${{` is not followed by a name and `}}`")]
    MalformedVariable,
    /// The base directory of a relative path is not absolute.
    #[error("resolve a relative path: the directory {base} is not absolute")]
    BaseNotAbsolute {
        /// The base directory.
        base: PathBuf,
    },
}

/// Returns the absolute path that `text` names: expands `~`, `~+`, `$NAME` and `${NAME}`, resolves it against the
/// current directory, and folds `.` and `..`. A `$` that no name follows is literal.
///
/// # Errors
/// If the text is empty, too long, contains a control character, or needs something that `surroundings` does not have.
pub fn normal_path(text: &str, surroundings: &Surroundings) -> Result<PathBuf, PathError> {
    check_text(text)?;
    let expanded = expand_tilde(&expand_variables(text, surroundings)?, text, surroundings)?;
    check_text(&expanded)?;
    absolute_in(Path::new(&expanded), &surroundings.cwd)
}

/// Returns the absolute path that `text` names, for the file system to resolve: expanded as by [`normal_path`], but
/// keeping every `..` after a name, because only the kernel knows where it leads: the name may be a link.
///
/// # Errors
/// As for [`normal_path`].
pub fn literal_path(text: &str, surroundings: &Surroundings) -> Result<PathBuf, PathError> {
    check_text(text)?;
    let expanded = expand_tilde(&expand_variables(text, surroundings)?, text, surroundings)?;
    check_text(&expanded)?;
    let mut path = absolute_in(Path::new("."), &surroundings.cwd)?;
    let mut is_after_name = false;
    for component in Path::new(&expanded).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if is_after_name => path.push(".."),
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => {
                is_after_name = true;
                path.push(name);
            }
            Component::RootDir | Component::Prefix(_) => path = PathBuf::from("/"),
        }
    }
    Ok(path)
}

/// Resolves `path` against `base` and folds it.
///
/// # Errors
/// [`PathError::BaseNotAbsolute`] if both are relative.
pub fn absolute_in(path: &Path, base: &Path) -> Result<PathBuf, PathError> {
    let joined = base.join(path);
    if !joined.is_absolute() {
        return Err(PathError::BaseNotAbsolute { base: base.to_path_buf() });
    }
    Ok(folded(&joined))
}

/// Returns `path` without `.` and `..`, as far as the text allows: `..` at the root stays at the root.
#[must_use]
pub fn folded(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                Some(Component::CurDir | Component::ParentDir) | None => out.push(component),
            },
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => out.push(component),
        }
    }
    out
}

fn check_text(text: &str) -> Result<(), PathError> {
    if text.is_empty() {
        return Err(PathError::Empty);
    }
    if text.len() > PATH_BYTES_MAX {
        return Err(PathError::TooLong { bytes: text.len() });
    }
    match text.chars().find(|c| c.is_control()) {
        Some(c) => Err(PathError::ControlCharacter { code: u32::from(c) }),
        None => Ok(()),
    }
}

fn expand_variables(text: &str, surroundings: &Surroundings) -> Result<String, PathError> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (name, remainder) = if let Some(inner) = after.strip_prefix('{') {
            let (name, remainder) = inner.split_once('}').ok_or(PathError::MalformedVariable)?;
            if !is_name(name) {
                return Err(PathError::MalformedVariable);
            }
            (name, remainder)
        } else {
            split_name(after)
        };
        if name.is_empty() {
            out.push('$');
        } else {
            out.push_str(&variable(name, surroundings)?);
        }
        rest = remainder;
    }
    out.push_str(rest);
    Ok(out)
}

fn variable(name: &str, surroundings: &Surroundings) -> Result<String, PathError> {
    match name {
        "HOME" => Ok(surroundings.home.to_string_lossy().into_owned()),
        "PWD" => Ok(surroundings.cwd.to_string_lossy().into_owned()),
        _ => surroundings
            .vars
            .get(name)
            .cloned()
            .ok_or_else(|| PathError::UnknownVariable { name: name.to_owned() }),
    }
}

/// Expands a leading tilde, unless it came out of a variable.
fn expand_tilde(expanded: &str, written: &str, surroundings: &Surroundings) -> Result<String, PathError> {
    if !written.starts_with('~') {
        return Ok(expanded.to_owned());
    }
    let (prefix, rest) = match expanded.split_once('/') {
        Some((prefix, rest)) => (prefix, format!("/{rest}")),
        None => (expanded, String::new()),
    };
    let base = match prefix {
        "~" => &surroundings.home,
        "~+" => &surroundings.cwd,
        _ => return Err(PathError::UnknownHome { prefix: prefix.to_owned() }),
    };
    Ok(format!("{}{rest}", base.to_string_lossy()))
}

/// Splits off the longest variable name at the beginning of `text`.
fn split_name(text: &str) -> (&str, &str) {
    let starts = text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
    let end = if starts {
        text.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(text.len())
    } else {
        0
    };
    text.split_at_checked(end).unwrap_or(("", text))
}

/// Returns whether `text` is a variable's name.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && split_name(text).1.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, PathError>) {
        let surroundings = Surroundings {
            cwd: PathBuf::from("/w/project"),
            home: PathBuf::from("/home/ada"),
            vars: BTreeMap::from([
                ("OUT".to_owned(), "build/out".to_owned()),
                ("TILDE".to_owned(), "~/x".to_owned()),
            ]),
        };
        assert_eq!(normal_path(text, &surroundings), expected.map(PathBuf::from), "{text:?}");
    }

    #[test]
    fn paths_become_absolute_and_folded() {
        check("src/lib.rs", Ok("/w/project/src/lib.rs"));
        check("./a/./b//c/", Ok("/w/project/a/b/c"));
        check("../other/../third", Ok("/w/third"));
        check("/etc/../../..", Ok("/"));
        check("a file", Ok("/w/project/a file"));
        check(".", Ok("/w/project"));
    }

    #[test]
    fn tilde_and_variables_expand() {
        check("~", Ok("/home/ada"));
        check("~/x", Ok("/home/ada/x"));
        check("~+/x", Ok("/w/project/x"));
        check("a/~", Ok("/w/project/a/~"));
        check("$HOME/x", Ok("/home/ada/x"));
        check("${OUT}s/$OUT", Ok("/w/project/build/outs/build/out"));
        check("$PWD", Ok("/w/project"));
        check("price$", Ok("/w/project/price$"));
        check("$1", Ok("/w/project/$1"));
        check("$TILDE", Ok("/w/project/~/x"));
    }

    #[test]
    fn a_literal_path_keeps_parents_of_names() {
        let surroundings = Surroundings {
            cwd: PathBuf::from("/w/project"),
            home: PathBuf::from("/home/ada"),
            vars: BTreeMap::new(),
        };
        for (text, path) in [
            ("a/../b", "/w/project/a/../b"),
            ("./a/./b//c/", "/w/project/a/b/c"),
            (".././../x", "/x"),
            ("../../../x/..", "/x/.."),
            ("/etc/../x", "/etc/../x"),
            ("/../x", "/x"),
            ("~/../x", "/home/ada/../x"),
            (".", "/w/project"),
        ] {
            assert_eq!(literal_path(text, &surroundings), Ok(PathBuf::from(path)), "{text}");
        }
        assert_eq!(literal_path("a\nb", &surroundings), Err(PathError::ControlCharacter { code: 10 }));
    }

    #[test]
    fn invalid_paths_are_rejected() {
        check("", Err(PathError::Empty));
        check("a\0b", Err(PathError::ControlCharacter { code: 0 }));
        check("a\nb", Err(PathError::ControlCharacter { code: 10 }));
        check("$NOPE/x", Err(PathError::UnknownVariable { name: "NOPE".to_owned() }));
        check("${OUT", Err(PathError::MalformedVariable));
        check("${O-x}", Err(PathError::MalformedVariable));
        check("~root/x", Err(PathError::UnknownHome { prefix: "~root".to_owned() }));
        check("~-", Err(PathError::UnknownHome { prefix: "~-".to_owned() }));
        let long = "x".repeat(PATH_BYTES_MAX + 1);
        check(&long, Err(PathError::TooLong { bytes: PATH_BYTES_MAX + 1 }));
    }

    #[test]
    fn a_relative_base_is_refused() {
        let base = PathBuf::from("w");
        assert_eq!(absolute_in(Path::new("x"), &base), Err(PathError::BaseNotAbsolute { base }));
    }
}
