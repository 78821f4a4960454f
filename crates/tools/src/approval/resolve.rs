//! Which file a path really is: links followed and `..` taken as the kernel does, up to the first missing name.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Links that are followed on the way; more count as a circle, as Linux has it.
const LINKS_MAX: usize = 40;

/// A path as the kernel walks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Real {
    /// What is there, without a link on the way.
    pub(crate) there: PathBuf,
    /// The names below it that are not there.
    pub(crate) missing: Vec<OsString>,
    /// The path ends in a link that leads nowhere: this is the link, and the names are those of what it leads to.
    pub(crate) dangling: Option<PathBuf>,
}

impl Real {
    /// The whole path.
    pub(crate) fn path(&self) -> PathBuf {
        self.missing.iter().fold(self.there.clone(), |path, name| path.join(name))
    }
}

/// The place that is changed when `path` is written: links followed, the last one too; but a link that leads nowhere is
/// itself what is there. What does not exist yet is below the real place of what does.
///
/// A path that leads nowhere the kernel could follow stays as it is; the gate then cannot tell its place and says so.
#[must_use]
pub(crate) fn fully(path: &Path) -> PathBuf {
    match real(path, true) {
        Ok(Real { dangling: Some(link), .. }) => link,
        Ok(real) => real.path(),
        Err(_) => path.to_path_buf(),
    }
}

/// The place that disappears when `path` is deleted: links followed but for the last one.
#[must_use]
pub(crate) fn parent_only(path: &Path) -> PathBuf {
    real(path, false).map_or_else(|_| path.to_path_buf(), |real| real.path())
}

/// Walks an absolute path. With `is_last_followed` a link at its end is followed too.
///
/// # Errors
/// What the kernel would say: a name below a file, a `..` or a name below a link that leads nowhere, a circle of links, a
/// folder that may not be looked into.
pub(crate) fn real(path: &Path, is_last_followed: bool) -> io::Result<Real> {
    walk(path, is_last_followed, &mut |_| {})
}

/// Whether the way to a path, or the path itself, leads over a place that `is_meant`, links followed.
pub(crate) fn leads_over(path: &Path, is_meant: impl Fn(&Path) -> bool) -> bool {
    let mut is_found = false;
    // After an error, the part of the way that was walked counts.
    drop(walk(path, true, &mut |place| is_found |= is_meant(place)));
    is_found
}

fn walk(path: &Path, is_last_followed: bool, visit: &mut dyn FnMut(&Path)) -> io::Result<Real> {
    if !path.is_absolute() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let mut there = PathBuf::from("/");
    let mut pending = parts(path);
    // Each link that was followed, with how many names were left behind it.
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
                return Ok(Real { there, missing, dangling: dangling.map(|(link, _)| link) });
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
    Ok(Real { there, missing: Vec::new(), dangling: None })
}

/// The names of a path, the last one first.
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
    fn links_are_followed_as_far_as_there_is_anything() {
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
    fn what_the_kernel_does_not_follow_stays_as_it_is() {
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
