//! Attacks by somebody who can write to the log's directory: each on a log of 100,000 entries, each found.

use std::sync::OnceLock;

use expect_test::{Expect, expect};
use setpoint_audit::log::{AuditLog, Options, PublicKey, TrustAnchors, verify};

use crate::common::{Made, append, copy_dir, entry, told};

const ENTRIES: u64 = 100_000;

/// Built once for all tests of this file and never changed: each test works on a copy.
fn original() -> &'static Made {
    static ORIGINAL: OnceLock<Made> = OnceLock::new();
    ORIGINAL.get_or_init(|| {
        let made = Made::new();
        let mut log = made.open();
        append(&mut log, ENTRIES);
        assert_eq!(log.unsealed(), 0);
        made
    })
}

/// Applies the attack to a copy, and returns what the log's own and then the exported checkpoints find.
fn attack(edit: impl FnOnce(&Made), own: Expect, exported: Expect) {
    let made = original().copied();
    edit(&made);
    own.assert_eq(&told(&made.verify()));
    exported.assert_eq(&told(&made.verify_with_export()));
}

fn lines(edit: impl FnOnce(&mut Vec<Vec<u8>>)) -> impl FnOnce(&Made) {
    |made| made.edit("log", edit)
}

#[test]
fn an_untouched_log_is_sound() {
    let seen = original().verify_with_export();
    assert!(seen.is_sound(), "{seen:?}");
    assert_eq!((seen.entries, seen.sealed, seen.sealed_by_export), (ENTRIES, ENTRIES, ENTRIES));
    assert_eq!((seen.checkpoints, seen.exported), (100, Some(100)));
}

#[test]
fn an_edited_entry_is_found() {
    let edit = |lines: &mut Vec<Vec<u8>>| {
        let line = String::from_utf8(lines[54_320].clone()).unwrap();
        lines[54_320] = line.replace("note", "vote").into_bytes();
    };
    attack(
        lines(edit),
        expect![[r#"
        log, line 54321: its hash does not fit: the entry, its hash or the hash before it was changed
    "#]],
        expect![[r#"
        log, line 54321: its hash does not fit: the entry, its hash or the hash before it was changed
    "#]],
    );
}

#[test]
fn a_deleted_entry_is_found() {
    attack(
        lines(|lines| drop(lines.remove(54_320))),
        expect![[r#"
        log, line 54321: it is number 54322, where 54321 comes next: lines before it are missing
    "#]],
        expect![[r#"
        log, line 54321: it is number 54322, where 54321 comes next: lines before it are missing
    "#]],
    );
}

/// With the next number and a fitting hash: only the lines after it show it.
#[test]
fn an_inserted_entry_is_found() {
    let edit = |made: &Made| {
        let forger = original().copied();
        forger.edit("log", |lines| lines.truncate(54_320));
        forger.edit("checkpoints", |lines| lines.truncate(54));
        let (mut forged, _) = AuditLog::open(&forger.dir(), &Options::default()).unwrap();
        let _appended = forged.append(&[r#"{"kind":"forged"}"#], 0).unwrap();
        let log = made.read("log");
        let end = log.split_inclusive(|byte| *byte == b'\n').take(54_320).map(<[u8]>::len).sum();
        made.write("log", [forger.read("log").as_slice(), &log[end..]].concat());
    };
    attack(
        edit,
        expect![[r#"
        log, line 54322: it is number 54321, where 54322 comes next: a line was repeated, inserted or moved
    "#]],
        expect![[r#"
        log, line 54322: it is number 54321, where 54322 comes next: a line was repeated, inserted or moved
    "#]],
    );
}

#[test]
fn reordered_entries_are_found() {
    attack(
        lines(|lines| lines.swap(54_320, 54_321)),
        expect![[r#"
        log, line 54321: it is number 54322, where 54321 comes next: lines before it are missing
        log, line 54322: it is number 54321, where 54323 comes next: a line was repeated, inserted or moved
        log, line 54323: it is number 54323, where 54322 comes next: lines before it are missing
    "#]],
        expect![[r#"
        log, line 54321: it is number 54322, where 54321 comes next: lines before it are missing
        log, line 54322: it is number 54321, where 54323 comes next: a line was repeated, inserted or moved
        log, line 54323: it is number 54323, where 54322 comes next: lines before it are missing
    "#]],
    );
}

#[test]
fn a_repeated_entry_is_found() {
    attack(
        lines(|lines| lines.insert(54_321, lines[54_320].clone())),
        expect![[r#"
        log, line 54322: it is number 54321, where 54322 comes next: a line was repeated, inserted or moved
    "#]],
        expect![[r#"
        log, line 54322: it is number 54321, where 54322 comes next: a line was repeated, inserted or moved
    "#]],
    );
}

/// Cut within what the log's checkpoints cover; and together with them, which only the export shows.
#[test]
fn a_cut_tail_is_found() {
    attack(
        lines(|lines| lines.truncate(54_321)),
        expect![[r#"
        checkpoints, line 100: it covers 100000 entries, and the log ends after 54321: the tail was cut off
    "#]],
        expect![[r#"
        checkpoints, line 100: it covers 100000 entries, and the log ends after 54321: the tail was cut off
    "#]],
    );
    let with_checkpoints = |made: &Made| {
        made.edit("log", |lines| lines.truncate(54_321));
        made.edit("checkpoints", |lines| lines.truncate(54));
    };
    attack(
        with_checkpoints,
        expect![[r#""#]],
        expect![[r#"
            export, line 55: it has 46 more checkpoints than the log: an older state of the log was restored
            export, line 100: it covers 100000 entries, and the log ends after 54321: the tail was cut off
        "#]],
    );
}

/// Two logs that agree up to a point, both signed with the true key: each is sound in itself.
#[test]
fn a_fork_is_found() {
    let fork = |made: &Made| {
        made.edit("log", |lines| lines.truncate(54_000));
        made.edit("checkpoints", |lines| lines.truncate(54));
        let (mut log, _) = AuditLog::open(&made.dir(), &Options::default()).unwrap();
        let other: Vec<String> = (54_001..=56_000).map(|seq| entry(seq).replace("note", "vote")).collect();
        for batch in other.chunks(500) {
            let _appended = log.append(batch, 0).unwrap();
        }
    };
    attack(
        fork,
        expect![[r#""#]],
        expect![[r#"
        export, line 55: it is not the checkpoint that the log has there: the log is a fork, was signed again, or is another one
        export, line 55: the first 55000 entries of the log are not those that it covers: they were rewritten, or this is a fork (and 1 later checkpoints)
        export, line 100: it covers 100000 entries, and the log ends after 56000: the tail was cut off
    "#]],
    );
}

/// An attacker who can write everything but the export signs a rewritten log with another key.
#[test]
fn swapped_keys_are_found() {
    let key = |made: &Made| {
        let file = String::from_utf8(made.read("key")).unwrap();
        PublicKey::parse(file.lines().nth(1).unwrap().strip_prefix("public ").unwrap()).unwrap()
    };
    let made = original().copied();
    let forger = Made::new();
    let mut log = forger.open();
    let forged: Vec<String> = (1..=ENTRIES).map(|seq| entry(seq).replace("note", "vote")).collect();
    for batch in forged.chunks(500) {
        let _appended = log.append(batch, 0).unwrap();
    }
    copy_dir(&forger.dir(), &made.dir());
    let seen = made.verify();
    assert!(seen.is_sound(), "without an export and a key it cannot be told: {seen:?}");
    let told_so = seen.claims().cannot_prove.iter().any(|claim| claim.contains("No key and no exported"));
    assert!(told_so, "and that is said: {:?}", seen.claims());
    let against = |key| TrustAnchors { export: None, key: Some(key) };
    let pinned = key(original());
    let seen = verify(&made.dir(), &against(pinned)).unwrap();
    let forged_key = key(&forger);
    let told_of =
        |seen: &_| told(seen).replace(&pinned.to_string(), "TRUE").replace(&forged_key.to_string(), "FORGED");
    expect![[r#"
        checkpoints, line 1: it is signed with the key FORGED, and not with TRUE
    "#]]
    .assert_eq(&told_of(&seen));
    expect![[r#"
        checkpoints, line 1: it is signed with the key FORGED, and not with TRUE
        export, line 1: it is not the checkpoint that the log has there: the log is a fork, was signed again, or is another one
        export, line 1: the first 1000 entries of the log are not those that it covers: they were rewritten, or this is a fork (and 99 later checkpoints)
    "#]].assert_eq(&told_of(&made.verify_with_export()));
    assert!(verify(&made.dir(), &against(forged_key)).unwrap().is_sound());
}

/// A few entries may lack a checkpoint. If a key is named, at least some must be signed with it.
#[test]
fn unsigned_entries_are_found_if_a_key_is_named() {
    let made = Made::with(&[500]);
    let key = made.verify().key;
    let sealed = |named| {
        let seen = verify(&made.dir(), &TrustAnchors { key: named, ..TrustAnchors::default() }).unwrap();
        (seen.is_sound(), told(&seen))
    };
    assert_eq!(sealed(key), (true, String::new()));
    let forger = Made::new();
    append(&mut forger.open(), 400);
    made.write("log", forger.read("log"));
    made.write("checkpoints", "");
    assert!(sealed(None).0, "this is what a log looks like that was just begun");
    let (is_sound, told) = sealed(key);
    assert!(!is_sound);
    expect![[r#"
        checkpoints: no entry is signed with the key that you named
    "#]]
    .assert_eq(&told);
}

#[test]
fn an_older_state_of_everything_is_found_by_the_export_alone() {
    let put_back = |made: &Made| {
        let older = Made::new();
        std::fs::create_dir(older.dir()).unwrap();
        made.edit("log", |lines| lines.truncate(99_000));
        made.edit("checkpoints", |lines| lines.truncate(99));
    };
    attack(
        put_back,
        expect![[r#""#]],
        expect![[r#"
            export, line 100: it has 1 more checkpoints than the log: an older state of the log was restored
            export, line 100: it covers 100000 entries, and the log ends after 99000: the tail was cut off
        "#]],
    );
}

#[test]
fn changed_checkpoints_are_found() {
    let edited = |made: &Made| {
        made.edit("checkpoints", |lines| {
            let line = String::from_utf8(lines[40].clone()).unwrap();
            lines[40] = line.replace("\"size\":41000", "\"size\":41001").into_bytes();
        });
    };
    attack(
        edited,
        expect![[r#"
        checkpoints, line 41: its signature does not match it
        checkpoints, line 42: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
    "#]],
        expect![[r#"
        checkpoints, line 41: its signature does not match it
        checkpoints, line 42: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
        export, line 41: it is not the checkpoint that the log has there: the log is a fork, was signed again, or is another one
    "#]],
    );
    let deleted = |made: &Made| made.edit("checkpoints", |lines| drop(lines.remove(40)));
    attack(
        deleted,
        expect![[r#"
        checkpoints, line 41: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
    "#]],
        expect![[r#"
        checkpoints, line 41: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
        export, line 41: it is not the checkpoint that the log has there: the log is a fork, was signed again, or is another one
    "#]],
    );
    let reordered = |made: &Made| made.edit("checkpoints", |lines| lines.swap(40, 41));
    attack(
        reordered,
        expect![[r#"
        checkpoints, line 41: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
        checkpoints, line 42: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
        checkpoints, line 42: it covers 41000 entries, and the checkpoint before it 42000
        checkpoints, line 43: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
    "#]],
        expect![[r#"
        checkpoints, line 41: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
        checkpoints, line 42: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
        checkpoints, line 42: it covers 41000 entries, and the checkpoint before it 42000
        checkpoints, line 43: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
        export, line 41: it is not the checkpoint that the log has there: the log is a fork, was signed again, or is another one
    "#]],
    );
    let all = |made: &Made| made.write("checkpoints", "");
    attack(
        all,
        expect![[r#"
            checkpoints: no checkpoint covers the last 100000 entries: checkpoints were removed, or could not be written
        "#]],
        expect![[r#"
            export, line 1: it has 100 more checkpoints than the log: an older state of the log was restored
        "#]],
    );
    let gone = |made: &Made| std::fs::remove_file(made.file("checkpoints")).unwrap();
    attack(
        gone,
        expect![[r#"
            checkpoints: no checkpoint covers the last 100000 entries: checkpoints were removed, or could not be written
        "#]],
        expect![[r#"
            export, line 1: it has 100 more checkpoints than the log: an older state of the log was restored
        "#]],
    );
    // Signed with the true key, over entries of another log.
    let forged = |made: &Made| {
        let other = original().copied();
        other.edit("log", |lines| lines.truncate(40_000));
        other.edit("checkpoints", |lines| lines.truncate(40));
        let (mut log, _) = AuditLog::open(&other.dir(), &Options::default()).unwrap();
        let batch: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
        let _appended = log.append(&batch, 0).unwrap();
        let forged =
            other.read("checkpoints").split_inclusive(|byte| *byte == b'\n').nth(40).unwrap().to_vec();
        made.edit("checkpoints", |lines| lines[40] = forged);
    };
    attack(
        forged,
        expect![[r#"
        checkpoints, line 42: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
        checkpoints, line 41: the first 41000 entries of the log are not those that it covers: they were rewritten, or this is a fork
    "#]],
        expect![[r#"
        checkpoints, line 42: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
        export, line 41: it is not the checkpoint that the log has there: the log is a fork, was signed again, or is another one
        checkpoints, line 41: the first 41000 entries of the log are not those that it covers: they were rewritten, or this is a fork
    "#]],
    );
}

#[test]
fn a_log_that_is_gone_is_found() {
    attack(
        |made| std::fs::remove_file(made.file("log")).unwrap(),
        expect![[r#"
        log: there is none
        checkpoints, line 100: it covers 100000 entries, and the log ends after 0: the tail was cut off
    "#]],
        expect![[r#"
        log: there is none
        checkpoints, line 100: it covers 100000 entries, and the log ends after 0: the tail was cut off
    "#]],
    );
}

/// An export is only as safe as its place; a change to it is found.
#[test]
fn a_changed_export_is_found() {
    let made = original().copied();
    let export = String::from_utf8(std::fs::read(made.export()).unwrap()).unwrap();
    let line = export.lines().nth(40).unwrap();
    let without = export.replace(&format!("{line}\n"), "");
    let torn = export.get(..export.len() - 9).unwrap();
    let tells = [
        (
            without.as_str(),
            expect![[r#"
        export, line 41: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
        export, line 41: it is not the checkpoint that the log has there: the log is a fork, was signed again, or is another one
    "#]],
        ),
        (
            torn,
            expect![[r#"
                export, line 100: the last line has 401 bytes and no end: a crash, a full disk, or a cut
            "#]],
        ),
        (
            "\n",
            expect![[r#"
        export, line 1: it is not a checkpoint
        export, line 1: it is not the checkpoint that the log has there: the log is a fork, was signed again, or is another one
    "#]],
        ),
    ];
    for (changed, expected) in tells {
        std::fs::write(made.export(), changed).unwrap();
        expected.assert_eq(&told(&made.verify_with_export()));
    }
}

/// The claims name what was compared, and nothing else.
#[test]
fn the_claims_say_what_was_proven_and_what_was_not() {
    let made = original().copied();
    let key = made.open().key();
    append(&mut made.open(), 10);
    let say = |against: &TrustAnchors| {
        let claims = verify(&made.dir(), against).unwrap().claims();
        let proves = claims.proves.iter().map(|claim| format!("+ {claim}\n"));
        let cannot = claims.cannot_prove.iter().map(|claim| format!("- {claim}\n"));
        proves.chain(cannot).collect::<String>().replace(&key.to_string(), "KEY")
    };
    expect![[r#"
        + All 100010 entries fit together: to change, remove, insert, repeat or move one takes rewriting all later ones.
        + The first 100000 entries are those that were signed with the key KEY: to change them takes its secret half, or a program that has it.
        - The last 10 entries are covered by no valid checkpoint: a process that can write to the directory could have cut off or rewritten entries there, undetected.
        - No key and no exported checkpoints were given: a log that was rewritten as a whole and signed with another key is not detected.
        - No exported checkpoints were given: a restored older copy of both log and checkpoints is not detected, even if it continued from there.
        - A person with the signing key can rewrite and sign everything: only exported checkpoints out of their reach would show it.
        - That the entries are true: the log shows only that they were not changed after they were written.
    "#]].assert_eq(&say(&TrustAnchors::default()));
    expect![[r#"
        + All 100010 entries fit together: to change, remove, insert, repeat or move one takes rewriting all later ones.
        + The first 100000 entries are those that were signed with the key KEY: to change them takes its secret half, or a program that has it.
        + That is the key that you named.
        + The first 100000 entries match the exported checkpoints: to change them undetected takes changing the export, too.
        - The last 10 entries are covered by no valid checkpoint: a process that can write to the directory could have cut off or rewritten entries there, undetected.
        - A restored older copy of both log and checkpoints with 100000 entries or more is not detected with this export, even if it continued from there.
        - A person with the signing key who can write to every copy of the exported checkpoints can rewrite everything, undetected.
        - That the entries are true: the log shows only that they were not changed after they were written.
    "#]].assert_eq(&say(&TrustAnchors { export: Some(made.export()), key: Some(key) }));
}
