//! Logs of versions that also signed the root of a Merkle tree: they are read, verified and continued, and a new
//! log cannot be given their form to hide something.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use expect_test::{Expect, expect};
use setpoint_audit::log::{DamageKind, LogFile, TrustAnchors, verify};

use crate::common::{Made, append, copy_dir, told};

const KEY: &str = "secret 0707070707070707070707070707070707070707070707070707070707070707\n\
                   public ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c\n";
const LOG: &str = r#"1 ed0384b5b226fda6134c705c6bf4e6b3d6e7efa18d42b5fb1e84696b4a68fc9c {"kind":"start"}
2 415cff4b80567b7a954c298b3c654a0312ae9b43292142c33ec3537d9c98b9ce "grüße"
3 b666dc96bdf4121eda9accde11ab39353d9e24f9e35003089a24d9749a1c85d6 [3]
"#;
const CHECKPOINTS: &str = r#"{"size":2,"root":"9b3cf11109c6217f041b4097cfba55011045f15855ff23ec6b50d2f72806db5b","chain":"415cff4b80567b7a954c298b3c654a0312ae9b43292142c33ec3537d9c98b9ce","at_us":1790000000000000,"key":"ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c","previous":"0000000000000000000000000000000000000000000000000000000000000000","signature":"7155f45f3b3ac0216b0eadb63e8cf3d198e86bffa5292836b5b809e47741d6a8f76bb4461bb54c150cb1af6e7b6092257431ccba1c83518e10a5dffc2ce7ec05"}
{"size":3,"root":"d30d1e691c2372cad72cbbf223830f65e82f6b229ef00f684fba807bc7b58441","chain":"b666dc96bdf4121eda9accde11ab39353d9e24f9e35003089a24d9749a1c85d6","at_us":1790000060000000,"key":"ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c","previous":"df659f862b043407c7550ac2aa8b6237be0ce274f813fb997c6d86a58f415f34","signature":"f409921cbef370560ed54b3c99d30bdba26ffdce2e710db7bdaf6202489f2ae6b0d38e6cddaae592ede497ef3392441ade0b0b4a8775432629d4b39091f24909"}
"#;

/// The log of an older version, with an export.
fn old() -> Made {
    let made = Made::new();
    std::fs::create_dir(made.dir()).unwrap();
    for (name, text) in [("key", KEY), ("log", LOG), ("checkpoints", CHECKPOINTS)] {
        made.write(name, text);
    }
    keep_private(&made);
    std::fs::write(made.export(), CHECKPOINTS).unwrap();
    made
}

/// The same log, continued by this version.
fn continued() -> Made {
    let made = old();
    let mut log = made.open();
    append(&mut log, 4);
    log.seal(1_790_000_120_000_000).unwrap();
    made
}

fn keep_private(made: &Made) {
    std::fs::set_permissions(made.file("key"), std::fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn an_old_log_is_verified_and_continued() {
    let made = old();
    let seen = made.verify_with_export();
    assert!(seen.is_sound(), "{seen:?}");
    assert_eq!((seen.sealed, seen.sealed_by_export, seen.checkpoints), (3, 3, 2));
    let made = continued();
    let list = String::from_utf8(made.read("checkpoints")).unwrap();
    let added = list.strip_prefix(CHECKPOINTS).unwrap();
    assert!(added.starts_with(r#"{"size":7,"chain":""#), "{added}");
    assert_eq!(std::fs::read_to_string(made.export()).unwrap(), list);
    let seen = made.verify_with_export();
    assert!(seen.is_sound(), "{seen:?}");
    assert_eq!((seen.sealed, seen.sealed_by_export, seen.checkpoints), (7, 7, 3));
    assert_eq!(made.open().size(), 7);
}

/// Data directories of the previous version, as kept for the tests of the whole program.
#[test]
fn the_logs_of_the_net_are_verified_and_continued() {
    for name in ["learnt", "pruned"] {
        let made = Made::new();
        let net = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/net").join(name).join("audit");
        copy_dir(&net, &made.dir());
        keep_private(&made);
        let before = made.verify();
        assert!(before.is_sound() && before.sealed == before.entries && before.entries > 5, "{before:?}");
        let mut log = made.open();
        append(&mut log, 10);
        log.seal(0).unwrap();
        let against = TrustAnchors { key: before.key, export: Some(made.export()) };
        let after = verify(&made.dir(), &against).unwrap();
        assert!(after.is_sound(), "{after:?}");
        assert_eq!((after.sealed, after.checkpoints), (before.entries + 10, before.checkpoints + 1));
    }
}

fn attack(edit: impl FnOnce(&Made), own: Expect, exported: Expect) {
    let made = continued();
    edit(&made);
    own.assert_eq(&told(&made.verify()));
    exported.assert_eq(&told(&made.verify_with_export()));
}

/// Of an old checkpoint only the chain is compared, and finds what the root found.
#[test]
fn attacks_on_old_entries_are_found() {
    let edited = |made: &Made| {
        made.edit("log", |lines| {
            lines[0] = String::from_utf8(lines[0].clone()).unwrap().replace("start", "stort").into_bytes();
        });
    };
    attack(
        edited,
        expect![[r#"
        log, line 1: its hash does not fit: the entry, its hash or the hash before it was changed
    "#]],
        expect![[r#"
        log, line 1: its hash does not fit: the entry, its hash or the hash before it was changed
    "#]],
    );
    let cut = |made: &Made| made.edit("log", |lines| lines.truncate(2));
    attack(
        cut,
        expect![[r#"
        checkpoints, line 3: it covers 7 entries, and the log ends after 2: the tail was cut off
    "#]],
        expect![[r#"
        checkpoints, line 3: it covers 7 entries, and the log ends after 2: the tail was cut off
    "#]],
    );
    // Chained again, without the key.
    let rewritten = |made: &Made| {
        let forger = Made::new();
        let mut log = forger.open();
        append(&mut log, 7);
        made.write("log", forger.read("log"));
    };
    attack(
        rewritten,
        expect![[r#"
        checkpoints, line 1: the first 2 entries of the log are not those that it covers: they were rewritten, or this is a fork (and 2 later checkpoints)
    "#]],
        expect![[r#"
        checkpoints, line 1: the first 2 entries of the log are not those that it covers: they were rewritten, or this is a fork (and 2 later checkpoints)
    "#]],
    );
    // Back to the older signed head and everything that belongs to it.
    let put_back = |made: &Made| {
        made.write("log", LOG);
        made.write("checkpoints", CHECKPOINTS);
    };
    attack(
        put_back,
        expect![""],
        expect![[r#"
            export, line 3: it has 1 more checkpoints than the log: an older state of the log was restored
            export, line 3: it covers 7 entries, and the log ends after 3: the tail was cut off
        "#]],
    );
}

/// The root is signed, though it is compared with nothing: it can be neither changed, removed nor added.
#[test]
fn a_checkpoint_cannot_be_given_the_other_form() {
    let root = r#""root":"9b3cf11109c6217f041b4097cfba55011045f15855ff23ec6b50d2f72806db5b","#;
    let list = String::from_utf8(continued().read("checkpoints")).unwrap();
    for (changed, line) in [
        (list.replace("9b3cf111", "9b3cf112"), 1),
        (list.replace(root, ""), 1),
        (list.replace(r#"{"size":7,"#, &format!(r#"{{"size":7,{root}"#)), 3),
    ] {
        assert_ne!(changed, list);
        let made = continued();
        made.write("checkpoints", &changed);
        let seen = made.verify();
        let found = &seen.findings[0];
        assert_eq!(
            (found.file, found.line, found.kind),
            (LogFile::Checkpoints, Some(line), DamageKind::Changed)
        );
        assert_eq!(found.what, "its signature does not match it");
        // The newest one covers all entries, too.
        assert_eq!(seen.sealed, if line == 3 { 3 } else { 7 });
    }
}

/// An old checkpoint in place of a new one covers less, and does not continue the one before it.
#[test]
fn an_old_checkpoint_in_the_place_of_a_new_one_is_found() {
    let replaced = |made: &Made| made.edit("checkpoints", |lines| lines[2] = lines[1].clone());
    attack(
        replaced,
        expect![[r#"
        checkpoints, line 3: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
        checkpoints, line 3: it covers 3 entries, and the checkpoint before it 3
    "#]],
        expect![[r#"
        checkpoints, line 3: it does not continue the checkpoint before it: one was removed, inserted, moved or changed
        checkpoints, line 3: it covers 3 entries, and the checkpoint before it 3
        export, line 3: it is not the checkpoint that the log has there: the log is a fork, was signed again, or is another one
    "#]],
    );
}
