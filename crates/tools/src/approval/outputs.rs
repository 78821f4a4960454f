//! Hidden names of what builds and test runs leave, and that need no question: only the program that wrote them reads them,
//! as data.
//!
//! The list is closed, as that of [`super::ordinary`]; decision 0036 says what is known of each reader. `.next`, `.gradle`,
//! `.terraform`, `.venv` and `node_modules/.bin` hold programs, and `.m.d` is a part of a Makefile: they are missing on purpose.

use std::path::Path;

use super::watched::is_hidden;

/// Files that hold data wherever they are.
const FILES: &[&str] = &[
    // A hash of Sphinx's settings, by which it builds all pages again.
    ".buildinfo",
    // A database of executed lines, which `coverage` counts.
    ".coverage",
    // The last result of SimpleCov, a number in JSON.
    ".last_run.json",
    // What Ninja ran, as hashes and times, and which headers that read: by these it builds a file again or not.
    ".ninja_deps",
    ".ninja_log",
    // Hashes and messages of the last run of `tsc`, in JSON.
    ".tsbuildinfo",
];
/// Folders that hold nothing else: counts of executed lines of `nyc`, in JSON.
const FOLDERS: &[&str] = &[".nyc_output"];
/// The packages that npm has put into a folder, so that it need not read all of them. They are beside it.
const LOCK_OF_PACKAGES: &str = "node_modules/.package-lock.json";
/// What Cargo leaves in its folder of outputs, which it marks as a cache: what the compiler said of itself, locks, and hashes
/// by which it builds a file again or not. The programs that it runs are beside them, with ordinary names.
const FILES_OF_CARGO: &[&str] = &[
    ".cargo-artifact-lock",
    ".cargo-build-lock",
    ".cargo-lock",
    ".lock",
    ".rustc_info.json",
    ".rustdoc_fingerprint.json",
];
const FOLDERS_OF_CARGO: &[&str] = &[".fingerprint"];

/// Returns all these names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let lists = [FILES, FOLDERS, FILES_OF_CARGO, FOLDERS_OF_CARGO];
    lists.into_iter().flatten().copied().chain([LOCK_OF_PACKAGES])
}

/// Returns whether a path below the working directory is such an output; `is_cache` tells whether a folder below the working
/// directory is marked as a cache.
pub(super) fn is_one(below: &Path, is_cache: impl Fn(&Path) -> bool) -> bool {
    let mut hidden = below.ancestors().filter(|path| path.file_name().is_some_and(is_hidden));
    let (Some(at), None) = (hidden.next(), hidden.next()) else { return false };
    let is_folder = at != below;
    // Exactly these bytes: another spelling is another file to most readers.
    let is_among = |names: &[&str]| at.file_name().is_some_and(|name| names.iter().any(|one| name == *one));
    let has = |files: &[&str], folders: &[&str]| is_among(folders) || (!is_folder && is_among(files));
    let is_cached =
        || at.ancestors().skip(1).any(|folder| !folder.as_os_str().is_empty() && is_cache(folder));
    has(FILES, FOLDERS)
        || (!is_folder && at.ends_with(LOCK_OF_PACKAGES))
        || (has(FILES_OF_CARGO, FOLDERS_OF_CARGO) && is_cached())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_counts_at_its_place_and_exactly() {
        let is_output = |path: &str| is_one(Path::new(path), |folder| folder == Path::new("target"));
        for path in [
            "dist/.buildinfo",
            ".coverage",
            "build/.ninja_log",
            ".tsbuildinfo",
            ".nyc_output",
            "web/.nyc_output/processinfo/index.json",
            "node_modules/.package-lock.json",
            "target/.rustc_info.json",
            "target/debug/.cargo-lock",
            "target/debug/.fingerprint",
            "target/debug/.fingerprint/x-0/lib-x.json",
        ] {
            assert!(is_output(path), "{path}");
        }
        for path in [
            ".COVERAGE",
            ".coverage/x",
            ".coveragerc",
            "build/.ninja_log/x",
            ".package-lock.json",
            "node_modules/.bin/x",
            ".git/.coverage",
            ".nyc_output/.envrc",
            ".nyc_output/.git/config",
            ".rustc_info.json",
            "other/.fingerprint/x",
            "target/.envrc",
            "target/.fingerprint/.vscode/tasks.json",
            "target/.vscode/.fingerprint",
            "target/.cargo-lock/x",
            "target/.cargo/config.toml",
            ".next/x",
            ".m.d",
        ] {
            assert!(!is_output(path), "{path}");
        }
    }
}
