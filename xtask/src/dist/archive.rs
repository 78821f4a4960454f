//! Writes a `.tar.gz` of files that are in memory.

use std::collections::BTreeSet;
use std::io;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

/// A file of a package.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Path from the top of the package, with `/`.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) mode: u32,
}

impl Entry {
    pub(super) fn file(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self { path: path.into(), bytes: bytes.to_vec(), mode: 0o644 }
    }

    pub(super) fn program(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self { mode: 0o755, ..Self::file(path, bytes) }
    }
}

/// Packs the files and their folders, owned by root and dated `seconds` after 1970.
pub(super) fn tar_gz(entries: &[Entry], seconds: u64) -> io::Result<Vec<u8>> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    let mut append = |path: &str, kind: EntryType, mode: u32, bytes: &[u8]| {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_mtime(seconds);
        header.set_size(bytes.len() as u64);
        header.set_uid(0);
        header.set_gid(0);
        builder.append_data(&mut header, path, bytes)
    };
    // `dpkg` creates only the folders that the archive lists.
    let mut folders = BTreeSet::new();
    for Entry { path, .. } in entries {
        folders.extend(path.match_indices('/').filter_map(|(end, _)| path.get(..=end)));
    }
    for folder in folders {
        append(folder, EntryType::Directory, 0o755, &[])?;
    }
    for Entry { path, bytes, mode } in entries {
        append(path, EntryType::Regular, *mode, bytes)?;
    }
    builder.into_inner()?.finish()
}

/// Lists the entries of an archive: mode, path, text.
#[cfg(test)]
pub(super) fn listed(archive: &[u8]) -> String {
    use std::io::Read as _;

    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    let mut lines = String::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        let (mode, path) = (entry.header().mode().unwrap(), entry.path().unwrap().display().to_string());
        lines += &format!("{mode:o} {path}|{}\n", String::from_utf8_lossy(&bytes).escape_debug());
    }
    lines
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn folders_come_before_their_files_and_programs_run() {
        let entries =
            [Entry::program("a/b/run", b"1"), Entry::file("a/c/text", b"2"), Entry::file("top", b"3")];
        expect![[r#"
            755 a/|
            755 a/b/|
            755 a/c/|
            755 a/b/run|1
            644 a/c/text|2
            644 top|3
        "#]]
        .assert_eq(&listed(&tar_gz(&entries, 7).unwrap()));
    }

    #[test]
    fn the_same_files_give_the_same_bytes() {
        let made = |seconds| tar_gz(&[Entry::file("a", b"1")], seconds).unwrap();
        assert_eq!(made(7), made(7));
        assert_ne!(made(7), made(8));
    }
}
