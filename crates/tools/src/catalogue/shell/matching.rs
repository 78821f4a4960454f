//! Expands a command's wildcards: to everything that bash would match, and sometimes more.

use std::path::{Path, PathBuf};

use crate::halt::Halt;

/// Maximum names that a pattern is compared with.
const NAMES_MAX: usize = 100_000;
/// Maximum paths that a pattern expands to.
const PATHS_MAX: usize = 10_000;

/// One character of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Char(char),
    /// Any one character: `?` or a bracket expression.
    One,
    Any,
}

/// Returns the paths that a pattern may match and the folders that are searched for them; `None` if there are too many.
pub(super) fn paths(pattern: &str, cwd: &Path, halt: &Halt) -> Option<Vec<PathBuf>> {
    let start = if pattern.starts_with('/') { PathBuf::from("/") } else { cwd.to_path_buf() };
    let mut found = vec![start];
    let mut searched = Vec::new();
    let mut names = 0;
    for part in parts(pattern) {
        let mut next = Vec::new();
        match literal(&part) {
            // Bash keeps only existing paths after a wildcard; extra ones do no harm here.
            Some(name) => next.extend(found.iter().map(|path| path.join(&name))),
            None => {
                for folder in &found {
                    searched.push(folder.clone());
                    let Ok(entries) = std::fs::read_dir(folder) else { continue };
                    for name in entries.filter_map(|entry| Some(entry.ok()?.file_name())) {
                        names += 1;
                        if names > NAMES_MAX || halt.reached() {
                            return None;
                        }
                        let text: Vec<char> = name.to_string_lossy().chars().collect();
                        let is_shown = text.first() != Some(&'.') || part.first() == Some(&Piece::Char('.'));
                        if is_shown && is_match(&part, &text) {
                            next.push(folder.join(&name));
                        }
                    }
                }
            }
        }
        if next.len() > PATHS_MAX {
            return None;
        }
        found = next;
    }
    found.extend(searched);
    Some(found)
}

/// Splits a pattern at its slashes.
fn parts(pattern: &str) -> Vec<Vec<Piece>> {
    let mut parts = vec![Vec::new()];
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let piece = match c {
            '/' => {
                parts.push(Vec::new());
                continue;
            }
            '\\' => Piece::Char(chars.next().unwrap_or('\\')),
            '*' => Piece::Any,
            '?' => Piece::One,
            '[' => {
                // A bracket right after the opening one is literal.
                let mut is_first = true;
                for c in chars.by_ref() {
                    if c == ']' && !is_first {
                        break;
                    }
                    is_first &= c == '!' || c == '^';
                }
                Piece::One
            }
            c => Piece::Char(c),
        };
        if let Some(part) = parts.last_mut() {
            part.push(piece);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn literal(part: &[Piece]) -> Option<String> {
    let chars = part.iter().map(|piece| match piece {
        Piece::Char(c) => Some(*c),
        Piece::One | Piece::Any => None,
    });
    chars.collect()
}

/// Returns whether the whole name matches. Backtracks to the last `*` on a mismatch.
fn is_match(part: &[Piece], name: &[char]) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while next < name.len() {
        match part.get(at) {
            Some(Piece::Any) => {
                back = Some((at + 1, next));
                at += 1;
                continue;
            }
            Some(Piece::One) => {}
            Some(Piece::Char(c)) if name.get(next) == Some(c) => {}
            _ => match &mut back {
                Some((behind, start)) => {
                    *start += 1;
                    (at, next) = (*behind, *start);
                    continue;
                }
                None => return false,
            },
        }
        at += 1;
        next += 1;
    }
    part.iter().skip(at).all(|piece| *piece == Piece::Any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_what_bash_matches() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.rs", "b.rs", ".hidden.rs", "c.txt", "sub/d.rs", "sub/[x]", "other/d.rs"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        for (pattern, expected) in [
            ("*.rs", "a.rs b.rs"),
            ("?.rs", "a.rs b.rs"),
            ("[ab].rs", "a.rs b.rs"),
            (".*.rs", ".hidden.rs"),
            ("*/d.rs", "a.rs/d.rs b.rs/d.rs c.txt/d.rs other/d.rs sub/d.rs"),
            ("sub/\\[x\\]", "sub/[x]"),
            ("s*b/*", "sub/[x] sub/d.rs"),
            ("*x*", "c.txt"),
            ("none*", ""),
        ] {
            let mut found: Vec<String> = paths(pattern, folder.path(), &Halt::default())
                .unwrap()
                .iter()
                .filter(|path| !path.is_dir())
                .map(|path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned())
                .collect();
            found.sort();
            assert_eq!(found.join(" "), expected, "{pattern}");
        }
    }
}
