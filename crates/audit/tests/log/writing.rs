//! Appending and sealing.

use setpoint_audit::log::limits::{BATCH_BYTES_MAX, BATCH_ENTRIES_MAX, CHECKPOINT_ENTRIES, ENTRY_BYTES_MAX};
use setpoint_audit::log::{Hash, LogError, Sealing};

use crate::common::{Made, append, entry};

#[test]
fn entries_are_appended_in_order_and_sealed_when_it_is_asked_for() {
    let made = Made::new();
    let mut log = made.open();
    assert_eq!((log.size(), log.unsealed(), log.checkpoint()), (0, 0, None));
    let empty = log.seal(5).unwrap();
    assert_eq!((empty.checkpoint, empty.is_new), (None, false));
    let appended = log.append(&["{}", "[1]"], 5).unwrap();
    assert_eq!((appended.seq, appended.hash), (2, log.hash()));
    assert!(matches!(appended.sealing, Sealing::NotDue));
    let sealed = log.seal(7).unwrap();
    let checkpoint = sealed.checkpoint.unwrap();
    assert!(sealed.is_new && checkpoint.is_signed());
    assert_eq!((checkpoint.size, checkpoint.at_us, checkpoint.previous), (2, 7, Hash::NONE));
    assert_eq!((checkpoint.chain, checkpoint.key), (log.hash(), log.key()));
    // Nothing has come since: nothing is signed.
    assert!(!log.seal(8).unwrap().is_new);
    append(&mut log, 1);
    let next = log.seal(9).unwrap().checkpoint.unwrap();
    assert_eq!((next.size, next.previous), (3, checkpoint.hash()));
    assert_eq!(made.entries(), ["{}".to_owned(), "[1]".to_owned(), entry(3)]);
    assert_eq!(made.verify().sealed, 3);
}

#[test]
fn a_checkpoint_is_due_after_so_many_entries() {
    let made = Made::new();
    let mut log = made.open();
    let batch: Vec<String> = (1..CHECKPOINT_ENTRIES).map(entry).collect();
    assert!(matches!(log.append(&batch, 0).unwrap().sealing, Sealing::NotDue));
    let Sealing::Sealed(sealed) = log.append(&["1", "2"], 3).unwrap().sealing else {
        panic!("none was made")
    };
    assert_eq!(sealed.checkpoint.unwrap().size, CHECKPOINT_ENTRIES + 1);
    assert!(matches!(log.append(&batch, 0).unwrap().sealing, Sealing::NotDue));
    assert!(matches!(log.append(&["1"], 0).unwrap().sealing, Sealing::Sealed(_)));
}

#[test]
fn an_entry_is_one_json_value_on_one_line_and_not_too_long() {
    let made = Made::new();
    let mut log = made.open();
    let long = format!("\"{}\"", "x".repeat(ENTRY_BYTES_MAX - 1));
    for bad in ["", " ", "{", "{} {}", "{\n}", "1\n", "\"\u{1}\"", &long] {
        let error = log.append(&["{}", bad], 0).unwrap_err();
        assert!(matches!(error, LogError::BadEntry { index: 1, .. }), "{bad:?}: {error}");
    }
    assert_eq!(log.size(), 0);
    assert!(made.read("log").is_empty());
    let longest = format!("\"{}\"", "x".repeat(ENTRY_BYTES_MAX - 2));
    let _appended = log.append(&[longest.as_str(), " {} ", "\"\u{2028}\""], 0).unwrap();
    log.seal(0).unwrap();
    assert!(made.verify().is_sound());
    assert_eq!(made.entries(), [longest.as_str(), " {} ", "\"\u{2028}\""]);
}

#[test]
fn a_batch_is_bounded_and_may_be_empty() {
    let made = Made::new();
    let mut log = made.open();
    let error = log.append(&vec!["1"; BATCH_ENTRIES_MAX + 1], 0).unwrap_err();
    assert!(matches!(error, LogError::Limit { what: "entries", .. }), "{error}");
    let large = format!("\"{}\"", "x".repeat(ENTRY_BYTES_MAX - 2));
    let error = log.append(&vec![large; BATCH_BYTES_MAX / ENTRY_BYTES_MAX + 1], 0).unwrap_err();
    assert!(matches!(error, LogError::Limit { what: "bytes", .. }), "{error}");
    let appended = log.append::<&str>(&[], 0).unwrap();
    assert_eq!(appended.seq, 0);
    assert!(made.read("log").is_empty());
}

/// Two writers are the caller's mistake; what the second one would spoil is refused.
#[test]
fn a_second_writer_is_noticed() {
    let made = Made::with(&[3]);
    let (mut first, mut second) = (made.open(), made.open());
    append(&mut second, 1);
    let error = first.append(&["1"], 0).unwrap_err();
    assert!(matches!(error, LogError::Changed { .. }), "{error}");
    append(&mut second, 1);
    assert_eq!(made.entries().len(), 5);
    assert!(made.verify().is_sound());
}

#[cfg(unix)]
#[test]
fn nobody_but_the_owner_may_look() {
    use std::os::unix::fs::PermissionsExt;
    let made = Made::with(&[3]);
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(made.dir()), 0o700);
    for name in ["log", "checkpoints", "key", "state"] {
        assert_eq!(mode(made.file(name)), 0o600, "{name}");
    }
    assert_eq!(mode(made.export()), 0o600);
}

#[test]
fn the_secret_half_of_the_key_is_in_its_file_alone() {
    let made = Made::with(&[3]);
    let key = String::from_utf8(made.read("key")).unwrap();
    let secret = key.lines().next().unwrap().strip_prefix("secret ").unwrap();
    assert_eq!(secret.len(), 64);
    for name in ["log", "checkpoints", "state"] {
        assert!(!String::from_utf8(made.read(name)).unwrap().contains(secret), "{name}");
    }
    let bytes: Vec<u8> = secret
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    let shown = format!("{:?}", made.open());
    assert!(!shown.contains(secret) && !shown.contains(&format!("{bytes:?}")), "{shown}");
}

/// Stored logs outlive the program: a change of the form must be seen here first.
#[test]
fn the_form_of_the_files_is_pinned() {
    let made = Made::new();
    std::fs::create_dir(made.dir()).unwrap();
    let key = "secret 0707070707070707070707070707070707070707070707070707070707070707\n\
               public ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c\n";
    made.write("key", key);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(made.file("key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let mut log = made.open();
    let _appended = log.append(&[r#"{"kind":"start"}"#, r#""grüße""#], 0).unwrap();
    log.seal(1_790_000_000_000_000).unwrap();
    let _appended = log.append(&["[3]"], 0).unwrap();
    log.seal(1_790_000_060_000_000).unwrap();
    let text = |name| String::from_utf8(made.read(name)).unwrap();
    let files = format!("{}\n{}\n{}", text("log"), text("checkpoints"), text("state"));
    expect_test::expect![[r#"
        1 ed0384b5b226fda6134c705c6bf4e6b3d6e7efa18d42b5fb1e84696b4a68fc9c {"kind":"start"}
        2 415cff4b80567b7a954c298b3c654a0312ae9b43292142c33ec3537d9c98b9ce "grüße"
        3 b666dc96bdf4121eda9accde11ab39353d9e24f9e35003089a24d9749a1c85d6 [3]

        {"size":2,"root":"9b3cf11109c6217f041b4097cfba55011045f15855ff23ec6b50d2f72806db5b","chain":"415cff4b80567b7a954c298b3c654a0312ae9b43292142c33ec3537d9c98b9ce","at_us":1790000000000000,"key":"ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c","previous":"0000000000000000000000000000000000000000000000000000000000000000","signature":"7155f45f3b3ac0216b0eadb63e8cf3d198e86bffa5292836b5b809e47741d6a8f76bb4461bb54c150cb1af6e7b6092257431ccba1c83518e10a5dffc2ce7ec05"}
        {"size":3,"root":"d30d1e691c2372cad72cbbf223830f65e82f6b229ef00f684fba807bc7b58441","chain":"b666dc96bdf4121eda9accde11ab39353d9e24f9e35003089a24d9749a1c85d6","at_us":1790000060000000,"key":"ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c","previous":"df659f862b043407c7550ac2aa8b6237be0ce274f813fb997c6d86a58f415f34","signature":"f409921cbef370560ed54b3c99d30bdba26ffdce2e710db7bdaf6202489f2ae6b0d38e6cddaae592ede497ef3392441ade0b0b4a8775432629d4b39091f24909"}

        setpoint audit log state 1
        3 232
        9b3cf11109c6217f041b4097cfba55011045f15855ff23ec6b50d2f72806db5b
        b666dc96bdf4121eda9accde11ab39353d9e24f9e35003089a24d9749a1c85d6
    "#]].assert_eq(&files);
}
