//! The files in which two commits differ.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::{Look, one_line};
use crate::error::ToolError;
use crate::show;

/// How Git lists changes: once with modes, once with lines, without programs that a repository names.
const LISTING: &[&str] = &[
    "diff-tree",
    "-r",
    "-z",
    "--no-commit-id",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=dirty",
    // Others would be found by their content, of any size.
    "-M100%",
    "--raw",
    "--numstat",
];

/// A file that a commit changes.
pub(super) struct File {
    pub(super) path: PathBuf,
    was: Option<PathBuf>,
    status: char,
    modes: [String; 2],
    /// Lines added and removed; `-` where they are not counted, as of what is large or another content than text.
    lines: Option<[String; 2]>,
}

/// Returns the files in which a commit differs from another one, or from nothing: what is removed first.
pub(super) async fn between(look: &Look<'_>, old: Option<&str>, new: &str) -> Result<Vec<File>, ToolError> {
    let which = old.map_or_else(|| vec!["--root", new], |old| vec![old, new]);
    let printed = look.repository.bytes(&[LISTING, &which, &["--"]].concat()).await?;
    let mut files = parse(&printed);
    files.sort_by(|one, other| (one.order(), &one.path).cmp(&(other.order(), &other.path)));
    Ok(files)
}

fn parse(printed: &[u8]) -> Vec<File> {
    let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
    let (mut files, mut lines): (Vec<File>, BTreeMap<PathBuf, [String; 2]>) = (Vec::new(), BTreeMap::new());
    let mut parts = printed.split(|byte| *byte == 0);
    while let Some(part) = parts.next() {
        if let Some(raw) = part.strip_prefix(b":") {
            // Two modes, two ids, and a letter, with how alike they are.
            let raw = String::from_utf8_lossy(raw).into_owned();
            let fields: Vec<&str> = raw.split(' ').collect();
            let [old_mode, new_mode, _, _, status] = *fields.as_slice() else { continue };
            let status = status.chars().next().unwrap_or('?');
            let first = parts.next().map(path).unwrap_or_default();
            let second = if matches!(status, 'R' | 'C') { parts.next().map(path) } else { None };
            let (path, was) = match second {
                Some(second) => (second, Some(first)),
                None => (first, None),
            };
            let modes = [old_mode.to_owned(), new_mode.to_owned()];
            files.push(File { path, was, status, modes, lines: None });
        } else {
            let mut counted = part.splitn(3, |byte| *byte == b'\t');
            let (Some(added), Some(removed), Some(name)) = (counted.next(), counted.next(), counted.next())
            else {
                continue;
            };
            // The two names of a renamed file follow.
            let name = if name.is_empty() { parts.nth(1).unwrap_or_default() } else { name };
            lines.insert(path(name), [added, removed].map(show::bytes));
        }
    }
    for file in &mut files {
        file.lines = lines.remove(&file.path);
    }
    files
}

impl File {
    fn order(&self) -> u8 {
        match self.status {
            'D' => 0,
            'R' => 1,
            'A' | 'C' => 3,
            _ => 2,
        }
    }

    pub(super) fn line(&self) -> String {
        let path = show::path_line(&self.path);
        let what = match (self.status, &self.was) {
            ('D', _) => format!("removed {path}"),
            ('A', _) => format!("made {path}"),
            ('R', Some(was)) => format!("renamed {path}, which was {}", show::path_line(was)),
            ('C', Some(was)) => format!("made {path}, a copy of {}", show::path_line(was)),
            _ => format!("changed {path}"),
        };
        let lines = match &self.lines {
            Some([added, _]) if added == "-" => ", lines not counted".to_owned(),
            Some([added, removed]) => format!(" +{added} -{removed}"),
            None => String::new(),
        };
        let [old, new] = &self.modes;
        let mode = match (self.status, new.as_str()) {
            ('D', _) | ('A' | 'C', "100644") => String::new(),
            ('A' | 'C', _) => format!(", mode {}", kind(new)),
            _ if old != new => format!(", mode {} -> {}", kind(old), kind(new)),
            _ => String::new(),
        };
        one_line(&format!("{what}{lines}{mode}"))
    }
}

/// Returns the words for a mode that is none of a plain file.
fn kind(mode: &str) -> &str {
    match mode {
        "120000" => "of a link",
        "160000" => "of another repository",
        mode => mode,
    }
}
