//! Which files are opened and which are refused: every kind of directory entry.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode};
use setpoint_own_files::own::{self, Access};
use setpoint_own_files::{is_refusal, named};
use tempfile::TempDir;

/// Creates a directory with one entry of each kind, and a file outside it.
fn zoo() -> (TempDir, TempDir) {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at = |name: &str| inside.path().join(name);
    let mine = outside.path().join("mine");
    fs::write(&mine, "mine").unwrap();
    fs::create_dir(outside.path().join("folder")).unwrap();
    fs::write(outside.path().join("folder/file"), "mine").unwrap();
    fs::write(at("file"), "ours").unwrap();
    fs::hard_link(&mine, at("second-name")).unwrap();
    symlink(&mine, at("link")).unwrap();
    symlink(outside.path().join("folder"), at("link-to-folder")).unwrap();
    symlink(outside.path().join("none"), at("dangling")).unwrap();
    symlink("/dev/zero", at("device")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    drop(UnixListener::bind(at("socket")).unwrap());
    (inside, outside)
}

/// Returns the error's text, or `opened`.
fn said<T>(opened: io::Result<T>) -> String {
    opened.err().map_or_else(|| "opened".to_owned(), |error| error.to_string())
}

const OWN: [(&str, &str); 8] = [
    ("file", "opened"),
    ("link", "it is a symbolic link, and it must be a regular file; move it away"),
    ("link-to-folder", "it is a symbolic link, and it must be a regular file; move it away"),
    ("dangling", "it is a symbolic link, and it must be a regular file; move it away"),
    ("device", "it is a symbolic link, and it must be a regular file; move it away"),
    ("folder", "it is a directory, and it must be a regular file; move it away"),
    ("pipe", "it is a pipe, and it must be a regular file; move it away"),
    ("socket", "it is a socket, and it must be a regular file; move it away"),
];

#[test]
fn own_files_are_regular_files_with_one_name() {
    let (inside, outside) = zoo();
    let linked =
        "it has 2 names (hard links), and writing to it would change the others; put a copy in its place";
    for (name, expected) in OWN.into_iter().chain([("second-name", linked)]) {
        let path = inside.path().join(name);
        for access in [Access::Read, Access::Append, Access::Write] {
            assert_eq!(said(own::open(&path, access)), expected, "{name} {access:?}");
            assert_eq!(said(own::open_or_create(&path, access)), expected, "{name} {access:?}");
        }
        assert_eq!(said(own::check(&path)), expected, "{name}");
        assert_eq!(own::create_new(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists, "{name}");
    }
    assert_eq!(fs::read_to_string(outside.path().join("mine")).unwrap(), "mine");
    assert!(!outside.path().join("none").exists());
}

#[test]
fn missing_file_is_created_for_its_owner_only() {
    let (inside, _outside) = zoo();
    let path = inside.path().join("new");
    assert_eq!(own::open(&path, Access::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert!(own::check(&path).unwrap().is_none());
    own::open_or_create(&path, Access::Append).unwrap().write_all(b"one").unwrap();
    own::open_or_create(&path, Access::Append).unwrap().write_all(b"two").unwrap();
    own::open(&path, Access::Write).unwrap().write_all(b"O").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "Onetwo");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_directory_that_is_a_link_is_refused() {
    let (inside, outside) = zoo();
    let refused = "it is a symbolic link, and it must be a directory; move it away";
    let link = inside.path().join("link-to-folder");
    assert_eq!(said(own::open(&link.join("file"), Access::Read)), refused);
    assert_eq!(said(own::open_or_create(&link.join("new"), Access::Write)), refused);
    assert_eq!(said(own::create_new(&link.join("new"))), refused);
    assert_eq!(said(own::create_dir(&link)), refused);
    assert_eq!(said(own::create_dir(&inside.path().join("dangling"))), refused);
    assert_eq!(
        said(own::check_dir(&inside.path().join("file"))),
        refused.replace("symbolic link", "regular file")
    );
    assert!(own::create_dir(&inside.path().join("a/b")).unwrap());
    assert!(!own::create_dir(&inside.path().join("a/b")).unwrap());
    assert!(!own::check_dir(&inside.path().join("none")).unwrap());
    assert!(!outside.path().join("folder/new").exists());
}

#[test]
fn a_link_above_the_directory_is_followed() {
    let (inside, outside) = zoo();
    fs::create_dir(outside.path().join("folder/journal")).unwrap();
    let below = inside.path().join("link-to-folder/journal/head");
    own::open_or_create(&below, Access::Write).unwrap();
    assert!(outside.path().join("folder/journal/head").exists());
}

#[test]
fn named_files_are_regular_and_links_to_them_are_followed() {
    let (inside, _outside) = zoo();
    let cases = [
        ("file", "opened"),
        ("second-name", "opened"),
        ("link", "opened"),
        ("link-to-folder", "it is a directory, and only regular files are used"),
        ("device", "it is a device, and only regular files are used"),
        ("folder", "it is a directory, and only regular files are used"),
        ("pipe", "it is a pipe, and only regular files are used"),
        ("socket", "it is a socket, and only regular files are used"),
    ];
    for (name, expected) in cases {
        let path = inside.path().join(name);
        assert_eq!(said(named::open(&path)), expected, "{name}");
        assert_eq!(said(named::open_append(&path)), expected, "{name}");
        let refused = named::open(&path).err();
        assert_eq!(refused.is_some_and(|error| is_refusal(&error)), expected != "opened", "{name}");
    }
    let missing = named::open(&inside.path().join("dangling")).unwrap_err();
    assert!(missing.kind() == io::ErrorKind::NotFound && !is_refusal(&missing));
}

#[test]
fn reading_a_named_file_is_bounded() {
    let (inside, _outside) = zoo();
    let path = inside.path().join("file");
    assert_eq!(named::read(&path, 4).unwrap(), b"ours");
    assert_eq!(named::read(&path, 2).unwrap(), b"our");
    assert_eq!(named::read(&path, u64::MAX).unwrap(), b"ours");
}

#[test]
fn unreadable_file_returns_the_error_of_the_system() {
    let (inside, _outside) = zoo();
    let path = inside.path().join("file");
    fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
    // Root may read every file.
    if let Err(error) = own::open(Path::new(&path), Access::Read) {
        assert!(error.kind() == io::ErrorKind::PermissionDenied && !is_refusal(&error));
    }
}

#[test]
fn every_file_of_a_database_is_checked_by_name() {
    let (inside, outside) = zoo();
    let database = inside.path().join("journal.db");
    let whole = inside.path().canonicalize().unwrap().join("journal.db");
    assert_eq!(own::check_database(&database).unwrap(), whole);
    for ending in ["", "-wal", "-shm", "-journal"] {
        let file = inside.path().join(format!("journal.db{ending}"));
        symlink(outside.path().join("mine"), &file).unwrap();
        let refused = own::check_database(&database).unwrap_err();
        assert!(refused.path == file && is_refusal(&refused.source), "{refused:?}");
        fs::remove_file(&file).unwrap();
    }
    let linked = inside.path().join("link-to-folder");
    assert_eq!(own::check_database(&linked.join("journal.db")).unwrap_err().path, linked);
}
