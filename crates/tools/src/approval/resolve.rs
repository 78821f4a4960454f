//! Resolves paths as the kernel does: follows links and `..` up to the first missing name.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Maximum links that are followed; more count as a cycle, as on Linux.
const LINKS_MAX: usize = 40;

/// A path resolved as the kernel does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RealPath {
    /// The existing part, with links resolved.
    pub(crate) there: PathBuf,
    /// The missing names below it.
    pub(crate) missing: Vec<OsString>,
    /// The dangling link that the path ends in; `missing` then holds the names of its target.
    pub(crate) dangling: Option<PathBuf>,
}

impl RealPath {
    /// Returns the existing part joined with the missing names.
    pub(crate) fn path(&self) -> PathBuf {
        self.missing.iter().fold(self.there.clone(), |path, name| path.join(name))
    }
}

/// Returns the place that writing `path` changes: all links are followed, except that a dangling link is itself the
/// place. A path that does not exist yet is placed below the real path of its existing part.
///
/// A path that the kernel could not follow is returned unchanged; the gate then cannot place it and says so.
#[must_use]
pub(crate) fn fully(path: &Path) -> PathBuf {
    match real(path, true) {
        Ok(RealPath { dangling: Some(link), .. }) => link,
        Ok(real) => real.path(),
        Err(_) => path.to_path_buf(),
    }
}

/// Returns the place that deleting `path` removes: all links but the last are followed.
#[must_use]
pub(crate) fn parent_only(path: &Path) -> PathBuf {
    real(path, false).map_or_else(|_| path.to_path_buf(), |real| real.path())
}

/// Where a path leads, whether or not anything is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// Every place that it passes, links and the end among them: if one is exchanged, the path leads elsewhere.
    pub(crate) passed: Vec<PathBuf>,
    /// Where it ends. Links are followed, those to nothing too.
    pub(crate) end: PathBuf,
}

impl Way {
    /// Returns whether exchanging what is at a path without links would make the way lead elsewhere.
    pub(crate) fn is_led_by(&self, path: &Path) -> bool {
        self.passed.iter().any(|passed| passed.starts_with(path))
    }
}

/// Follows an absolute path to its end. A missing name counts as a folder that may be made later.
#[must_use]
pub(crate) fn way(path: &Path) -> Way {
    let mut way = Way { passed: Vec::new(), end: PathBuf::from("/") };
    let mut pending = parts(path);
    let mut links = 0;
    // Below a missing name nothing is there.
    let mut is_missing = false;
    while let Some(name) = pending.pop() {
        if name == ".." {
            way.end.pop();
            is_missing = false;
            continue;
        }
        let next = way.end.join(&name);
        way.passed.push(next.clone());
        let link = if is_missing { Err(io::ErrorKind::NotFound.into()) } else { std::fs::read_link(&next) };
        is_missing = link.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        match link {
            Ok(target) if links < LINKS_MAX => {
                links += 1;
                if target.is_absolute() {
                    way.end = PathBuf::from("/");
                }
                pending.extend(parts(&target));
            }
            _ => way.end = next,
        }
    }
    way
}

/// Resolves an absolute path. If `is_last_followed`, a link at its end is followed too.
///
/// # Errors
/// What the kernel would return: a name below a file, a `..` or a name below a dangling link, a cycle of links, or a
/// folder without search permission.
pub(crate) fn real(path: &Path, is_last_followed: bool) -> io::Result<RealPath> {
    walk(path, is_last_followed, &mut |_| {})
}

/// Returns whether `path`, or any place on the way to it with links resolved, satisfies `is_meant`.
pub(crate) fn leads_over(path: &Path, is_meant: impl Fn(&Path) -> bool) -> bool {
    let mut is_found = false;
    // An error ends the walk, but the places before it still count.
    drop(walk(path, true, &mut |place| is_found |= is_meant(place)));
    is_found
}

fn walk(path: &Path, is_last_followed: bool, visit: &mut dyn FnMut(&Path)) -> io::Result<RealPath> {
    if !path.is_absolute() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let mut there = PathBuf::from("/");
    let mut pending = parts(path);
    // Each link that was followed, with how many names were left to walk after it.
    let mut followed: Vec<(PathBuf, usize)> = Vec::new();
    while let Some(name) = pending.pop() {
        if name == ".." {
            there.pop();
            continue;
        }
        let next = there.join(&name);
        let meta = match std::fs::symlink_metadata(&next) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let dangling = followed.into_iter().find(|(_, left)| pending.len() >= *left);
                let is_final = dangling.as_ref().is_none_or(|(_, left)| *left == 0);
                if !is_final || pending.iter().any(|name| name == "..") {
                    return Err(error);
                }
                let missing = std::iter::once(name).chain(pending.into_iter().rev()).collect();
                return Ok(RealPath { there, missing, dangling: dangling.map(|(link, _)| link) });
            }
            Err(error) => return Err(error),
        };
        if meta.is_symlink() && (is_last_followed || !pending.is_empty()) {
            if followed.len() >= LINKS_MAX {
                return Err(rustix::io::Errno::LOOP.into());
            }
            let target = std::fs::read_link(&next)?;
            if target.is_absolute() {
                there = PathBuf::from("/");
            }
            followed.push((next, pending.len()));
            pending.extend(parts(&target));
        } else if !pending.is_empty() && !meta.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        } else {
            there = next;
            visit(&there);
        }
    }
    Ok(RealPath { there, missing: Vec::new(), dangling: None })
}

/// Returns the names of a path, last first.
fn parts(path: &Path) -> Vec<OsString> {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    names.map(|part| part.as_os_str().to_owned()).rev().collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::create_dir_all(root.join("real/sub")).unwrap();
        std::fs::create_dir(root.join("p")).unwrap();
        std::fs::write(root.join("real/file"), "").unwrap();
        for (target, link) in [
            ("real", "alias"),
            ("real/file", "link"),
            ("nowhere", "dangling"),
            ("real/none/deep", "deep"),
            ("dangling", "to dangling"),
            ("loop", "loop"),
            ("../real/sub", "p/sub"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        symlink(root.join("real/sub"), root.join("p/absolute")).unwrap();
        (folder, root)
    }

    #[test]
    fn links_are_followed_up_to_the_first_missing_name() {
        let (_folder, root) = tree();
        for (path, written, deleted) in [
            ("alias/file", "real/file", "real/file"),
            ("alias/new/deep", "real/new/deep", "real/new/deep"),
            ("link", "real/file", "link"),
            ("dangling", "dangling", "dangling"),
            ("deep", "deep", "deep"),
            ("to dangling", "to dangling", "to dangling"),
            ("new", "new", "new"),
        ] {
            assert_eq!(fully(&root.join(path)), root.join(written), "{path}");
            assert_eq!(parent_only(&root.join(path)), root.join(deleted), "{path}");
        }
        assert_eq!(fully(Path::new("/")), Path::new("/"));
    }

    #[test]
    fn the_parent_of_a_link_is_the_parent_of_its_target() {
        let (_folder, root) = tree();
        for (path, real) in [
            ("p/sub/../file", "real/file"),
            ("p/absolute/../new", "real/new"),
            ("p/sub/..", "real"),
            ("p/sub/../../p/x", "p/x"),
            ("p/../p/./x", "p/x"),
            ("alias/sub/../../new", "new"),
        ] {
            assert_eq!(fully(&root.join(path)), root.join(real), "{path}");
        }
    }

    #[test]
    fn a_way_leads_on_where_nothing_is_yet() {
        let (_folder, root) = tree();
        for (path, end, passed) in [
            ("alias/file", "real/file", &["alias", "real", "real/file"][..]),
            ("new/deep", "new/deep", &["new", "new/deep"]),
            ("new/../real", "real", &["new", "real"]),
            ("dangling", "nowhere", &["dangling", "nowhere"]),
            ("dangling/x", "nowhere/x", &["dangling", "nowhere", "nowhere/x"]),
            ("p/sub/../x", "real/x", &["p", "p/sub", "real", "real/sub", "real/x"]),
        ] {
            let way = way(&root.join(path));
            assert_eq!(way.end, root.join(end), "{path}");
            let below = way.passed.iter().filter_map(|place| place.strip_prefix(&root).ok());
            let below: Vec<_> = below.filter(|place| !place.as_os_str().is_empty()).collect();
            assert_eq!(below, passed.iter().map(Path::new).collect::<Vec<_>>(), "{path}");
        }
        assert!(way(&root.join("loop/x")).passed.len() > LINKS_MAX, "a cycle ends");
    }

    #[test]
    fn paths_the_kernel_cannot_follow_stay_unchanged() {
        let (_folder, root) = tree();
        for path in
            ["dangling/x", "deep/x", "new/../x", "link/x", "link/..", "loop", "loop/x", "to dangling/.."]
        {
            assert!(real(&root.join(path), true).is_err(), "{path}");
            assert_eq!(fully(&root.join(path)), root.join(path), "{path}");
        }
        assert!(real(Path::new("a"), true).is_err());
    }
}
