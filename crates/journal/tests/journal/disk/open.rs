//! What an opening refuses, and with which error.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use expect_test::expect;
use setpoint_journal::{Fragment, HeadState, Journal, JournalError, JournalOptions, Submission};
use tempfile::TempDir;

use super::child;
use crate::common::{all_rows, first_rows, open, open_task, row, rows_behind, text};

fn refused(dir: &Path) -> JournalError {
    Journal::open(dir, &JournalOptions::default()).unwrap_err()
}

/// Changes the database as another program would.
fn tamper(dir: &TempDir, sql: &str) {
    let conn = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    conn.execute_batch(sql).unwrap();
}

fn small_journal() -> TempDir {
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    open_task(&journal, "t", 3);
    journal.close().unwrap();
    dir
}

#[test]
fn a_new_journal_is_private_and_leaves_no_log_behind() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a/b");
    let journal = Journal::open(&path, &JournalOptions::default()).unwrap();
    assert!(journal.open_report().created);
    open_task(&journal, "t", 1);
    for (name, mode) in [("", 0o700), ("journal.db", 0o600), ("journal.db-wal", 0o600), ("head", 0o600)] {
        assert_eq!(fs::metadata(path.join(name)).unwrap().permissions().mode() & 0o777, mode, "{name}");
    }
    journal.close().unwrap();
    let mut names: Vec<_> =
        fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["head", "journal.db"]);
    let again = Journal::open(&path, &JournalOptions::default()).unwrap().open_report();
    assert_eq!((again.created, again.head, again.loss), (false, HeadState::Current, None));
}

#[test]
fn a_newer_journal_is_refused() {
    let dir = small_journal();
    tamper(&dir, "PRAGMA user_version = 4");
    let error = refused(dir.path());
    assert!(matches!(error, JournalError::FormatTooNew { found: 4, known: 3, .. }), "{error:?}");
    tamper(&dir, "PRAGMA user_version = 3");
    open(&dir);
}

/// Without the upgrade, an older program would report deflated bodies as damage.
#[test]
fn opening_raises_the_number_of_an_older_format() {
    let dir = small_journal();
    tamper(&dir, "DROP TABLE pruning; PRAGMA user_version = 1");
    let journal = open(&dir);
    let mut next = Submission::new(&journal.head("t").unwrap());
    next.push(row(4, "k", &[b'a'; 9_000])).unwrap();
    journal.append(next).unwrap();
    assert_eq!(all_rows(&journal).unwrap().last().unwrap().body, [b'a'; 9_000]);
    assert!(journal.verify().unwrap().is_sound());
    journal.close().unwrap();
    let conn = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    let format: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(format, 3);
}

#[test]
fn long_bodies_and_fragments_are_stored_deflated() {
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    let text: String = (0..2_000).map(|n| format!("{{\"line\":{n}}},")).collect();
    let fragment = Fragment::new(text.clone().into_bytes()).unwrap();
    let mut first = first_rows("t", 1);
    first.push(row(2, "k", text.as_bytes())).unwrap().attach(fragment.clone()).unwrap();
    first.attach(fragment.clone()).unwrap();
    journal.append(first).unwrap();
    assert_eq!(journal.read_rows("t", 2, 1).unwrap()[0].body, text.as_bytes());
    assert_eq!(journal.fragment(fragment.hash()).unwrap().unwrap(), text.as_bytes());
    assert!(journal.verify().unwrap().is_sound());
    journal.close().unwrap();
    let conn = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    for sql in ["SELECT length(body) FROM record WHERE seq = 2", "SELECT length(body) FROM fragment"] {
        let stored: i64 = conn.query_row(sql, [], |row| row.get(0)).unwrap();
        assert!(stored < 10_000, "{stored} of {}", text.len());
    }
}

#[test]
fn foreign_file_is_refused_and_left_unchanged() {
    let text_file = TempDir::new().unwrap();
    fs::write(
        text_file.path().join("journal.db"),
        "notes, not a database, and long enough to be one\n".repeat(100),
    )
    .unwrap();
    let foreign = TempDir::new().unwrap();
    tamper(&foreign, "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
    for dir in [text_file, foreign] {
        let before = fs::read(dir.path().join("journal.db")).unwrap();
        let error = refused(dir.path());
        assert!(matches!(error, JournalError::NotAJournal { .. }), "{error:?}");
        assert_eq!(fs::read(dir.path().join("journal.db")).unwrap(), before);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("journal.db")).unwrap();
    let error = refused(folder.path());
    assert!(matches!(&error, JournalError::Io { path, .. } if path.ends_with("journal.db")), "{error:?}");
}

#[test]
fn a_journal_with_foreign_tables_or_triggers_is_damaged() {
    for sql in [
        "CREATE TRIGGER evil AFTER INSERT ON record BEGIN DELETE FROM record; END",
        "CREATE VIEW evil AS SELECT 1",
        "CREATE TABLE more (x)",
        "DROP INDEX record_seq",
        "ALTER TABLE record ADD COLUMN extra TEXT",
    ] {
        let dir = small_journal();
        tamper(&dir, sql);
        let error = refused(dir.path());
        assert!(matches!(error, JournalError::Damaged { .. }), "{sql}: {error:?}");
    }
}

#[test]
fn lock_held_too_long_is_reported() {
    let dir = small_journal();
    let journal =
        Journal::open(dir.path(), &JournalOptions { lock_wait_ms: 20, ..JournalOptions::default() }).unwrap();
    let other = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let head = journal.head("t").unwrap();
    let error = journal.append(rows_behind(&head, 1)).unwrap_err();
    assert!(matches!(*error, JournalError::Locked { waited_ms: 20, .. }), "{error:?}");
    assert_eq!(journal.rows("t", 1).count(), 3);
    other.execute_batch("ROLLBACK").unwrap();
    journal.append(rows_behind(&head, 1)).unwrap();

    journal.close().unwrap();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let options = JournalOptions { lock_wait_ms: 20, ..JournalOptions::default() };
    let error = Journal::open(dir.path(), &options).unwrap_err();
    assert!(matches!(error, JournalError::Locked { .. }), "{error:?}");
}

#[test]
fn impossible_paths_are_reported() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("file"), "x").unwrap();
    symlink(dir.path().join("gone"), dir.path().join("dangling")).unwrap();
    let shown =
        |path: &str| text(&refused(&dir.path().join(path))).replace(dir.path().to_str().unwrap(), "<dir>");
    expect![[r#"
        failed to create the journal directory <dir>/file: it is a regular file, and it must be a directory; move it away
        failed to create the journal directory <dir>/file/below: Not a directory (os error 20)
        failed to create the journal directory <dir>/dangling: it is a symbolic link, and it must be a directory; move it away"#]]
    .assert_eq(&["file", "file/below", "dangling"].map(shown).join("\n"));
}

/// User id of a user other than root.
const OTHER: u32 = 65_534;

/// Root may write anywhere, so the child process runs as another user.
#[test]
fn unwritable_directory_is_reported_as_read_only() {
    let dir = small_journal();
    let exe = dir.path().join("test-binary");
    fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    let journal = dir.path().join("journal");
    fs::create_dir(&journal).unwrap();
    for name in ["journal.db", "head"] {
        fs::rename(dir.path().join(name), journal.join(name)).unwrap();
    }
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(dir.path(), 0o755);
    mode(&exe, 0o755);
    let cases: [(&str, u32, u32, u32); 4] = [
        ("everything", 0o555, 0o444, 0o444),
        ("the head file", 0o777, 0o666, 0o444),
        ("the database", 0o777, 0o444, 0o666),
        ("the directory", 0o555, 0o666, 0o666),
    ];
    for (case, on_dir, on_database, on_head) in cases {
        mode(&journal.join("journal.db"), on_database);
        mode(&journal.join("head"), on_head);
        mode(&journal, on_dir);
        let mut command = std::process::Command::new(&exe);
        child::arrange(&mut command, "disk::open::opens_read_only_in_a_child", &journal);
        if fs::metadata(dir.path()).unwrap().uid() == 0 {
            std::os::unix::process::CommandExt::uid(&mut command, OTHER);
            for name in ["journal.db", "head"] {
                std::os::unix::fs::chown(journal.join(name), Some(OTHER), None).unwrap();
            }
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stdout));
        mode(&journal, 0o755);
    }
    assert!(fs::read_dir(&journal).unwrap().all(|entry| entry.unwrap().file_name() != ".probe"));
}

#[test]
fn opens_read_only_in_a_child() {
    let Some(dir) = child::dir() else { return };
    let error = match Journal::open(&dir, &JournalOptions::default()) {
        Err(error) => error,
        // Opening only reads the database, so the first append must fail.
        Ok(journal) => {
            let head = journal.head("t").unwrap();
            (*journal.append(rows_behind(&head, 1)).unwrap_err()).clone()
        }
    };
    assert!(matches!(error, JournalError::ReadOnly { .. }), "{error:?}");
}

/// A link with the name of a journal file must not make the journal read or write a file elsewhere.
#[test]
fn link_in_place_of_a_file_is_not_followed() {
    for name in ["journal.db", "journal.db-wal", "journal.db-shm", "journal.db-journal", "head"] {
        let (dir, outside) = (small_journal(), TempDir::new().unwrap());
        let (path, twin) = (dir.path().join(name), outside.path().join("twin"));
        fs::rename(&path, &twin).or_else(|_| fs::write(&twin, "mine")).unwrap();
        symlink(&twin, &path).unwrap();
        let before = fs::read(&twin).unwrap();
        let error = refused(dir.path());
        assert!(matches!(&error, JournalError::Io { path: told, .. } if *told == path), "{error:?}");
        assert_eq!(fs::read(&twin).unwrap(), before, "{name}");
    }
}

/// A person may keep the data directory elsewhere, and put a link in its place.
#[test]
fn a_link_above_the_journals_folder_is_followed() {
    let (data, links) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    symlink(data.path(), links.path().join("data")).unwrap();
    let dir = links.path().join("data/journal");
    drop(Journal::open(&dir, &JournalOptions::default()).unwrap());
    assert!(data.path().join("journal/head").exists());
}
