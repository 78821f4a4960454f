//! The paths that a command touches, as the reading of its text names them, matched with what is there now.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;

use crate::approval::{Touch, resolve};
use crate::command_line::{Target, Verdict};

/// Paths that one pattern may stand for; of more, the folder counts, with everything below it.
const MATCHES_MAX: usize = 1_000;

/// What the command touches; nothing when it only reads, and nothing when it is opaque: then no list would be true.
pub(super) fn touches(verdict: &Verdict) -> Vec<Touch> {
    match verdict {
        Verdict::ReadOnly | Verdict::Opaque { .. } => Vec::new(),
        Verdict::Writes { paths, deletes } => {
            let mut touched = BTreeSet::new();
            paths.iter().for_each(|target| add(target, false, &mut touched));
            deletes.iter().for_each(|target| add(target, true, &mut touched));
            touched.into_iter().collect()
        }
    }
}

fn add(target: &Target, is_delete: bool, touched: &mut BTreeSet<Touch>) {
    let resolve = if is_delete { resolve::parent_only } else { resolve::fully };
    let (paths, is_all) =
        if target.pattern { matches(&target.path) } else { (vec![target.path.clone()], true) };
    let is_recursive = target.recursive || !is_all;
    touched.extend(paths.iter().map(|path| Touch { path: resolve(path), is_delete, is_recursive }));
}

/// What a pattern matches now, hidden names too; itself when it matches nothing. Of too many, the deepest folder above all
/// of them, and false.
fn matches(pattern: &Path) -> (Vec<PathBuf>, bool) {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let text = part.as_os_str().to_string_lossy();
        let is_pattern = matches!(part, Component::Normal(_)) && text.contains(['*', '?', '[']);
        if !is_pattern {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let Ok(glob) = GlobBuilder::new(&text).literal_separator(true).backslash_escape(true).build() else {
            return (found, false);
        };
        let matcher = glob.compile_matcher();
        let mut next = Vec::new();
        for folder in &found {
            for name in
                std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name())
            {
                if !matcher.is_match(Path::new(&name)) {
                    continue;
                }
                if next.len() >= MATCHES_MAX {
                    return (found, false);
                }
                next.push(folder.join(name));
            }
        }
        if next.is_empty() {
            return (vec![pattern.to_path_buf()], true);
        }
        next.sort_unstable();
        found = next;
    }
    (found, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(root: &Path, pattern: &str) -> Vec<String> {
        let (paths, is_all) = matches(&root.join(pattern));
        assert!(is_all);
        paths.iter().map(|path| path.strip_prefix(root).unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn patterns_stand_for_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        for name in ["a/1.o", "a/2.o", "a/.h.o", "b/3.o", "b/x.c", "ä ö.o"] {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        assert_eq!(names(&root, "a/*.o"), ["a/.h.o", "a/1.o", "a/2.o"]);
        assert_eq!(names(&root, "*/[3x].?"), ["b/3.o", "b/x.c"]);
        assert_eq!(names(&root, "*.o"), ["ä ö.o"]);
        assert_eq!(names(&root, "*.none"), ["*.none"]);
        assert_eq!(names(&root, "a/plain"), ["a/plain"]);
    }

    #[test]
    fn too_many_matches_are_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..=MATCHES_MAX {
            std::fs::write(folder.path().join(format!("{n}")), "").unwrap();
        }
        assert_eq!(matches(&folder.path().join("*")), (vec![folder.path().to_path_buf()], false));
    }
}
