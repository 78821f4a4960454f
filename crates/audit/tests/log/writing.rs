//! Appends and seals.

use setpoint_audit::log::limits::{BATCH_BYTES_MAX, BATCH_ENTRIES_MAX, CHECKPOINT_ENTRIES, ENTRY_BYTES_MAX};
use setpoint_audit::log::{Hash, LogError};

use crate::common::{Made, append, entry};

#[test]
fn entries_are_appended_in_order_and_sealed_on_request() {
    let made = Made::new();
    let mut log = made.open();
    assert_eq!((log.size(), log.unsealed(), log.checkpoint()), (0, 0, None));
    let empty = log.seal(5).unwrap();
    assert_eq!((log.checkpoint(), empty.is_new), (None, false));
    let appended = log.append(&["{}", "[1]"], 5).unwrap();
    assert_eq!((appended.seq, log.size()), (2, 2));
    assert!(appended.sealing.is_none());
    let sealed = log.seal(7).unwrap();
    let checkpoint = log.checkpoint().unwrap().clone();
    assert!(sealed.is_new && checkpoint.is_signed());
    assert_eq!((checkpoint.size, checkpoint.at_us, checkpoint.previous), (2, 7, Hash::NONE));
    assert_eq!((checkpoint.chain, checkpoint.key), (log.hash(), log.key()));
    // Nothing was appended since, so nothing is signed.
    assert!(!log.seal(8).unwrap().is_new);
    append(&mut log, 1);
    assert!(log.seal(9).unwrap().is_new);
    let next = log.checkpoint().unwrap();
    assert_eq!((next.size, next.previous), (3, checkpoint.hash()));
    assert_eq!(made.entries(), ["{}".to_owned(), "[1]".to_owned(), entry(3)]);
    assert_eq!(made.verify().sealed, 3);
}

#[test]
fn a_checkpoint_is_due_after_so_many_entries() {
    let made = Made::new();
    let mut log = made.open();
    let batch: Vec<String> = (1..CHECKPOINT_ENTRIES).map(entry).collect();
    assert!(log.append(&batch, 0).unwrap().sealing.is_none());
    assert!(log.append(&["1", "2"], 3).unwrap().sealing.unwrap().unwrap().is_new);
    assert_eq!(log.checkpoint().unwrap().size, CHECKPOINT_ENTRIES + 1);
    assert!(log.append(&batch, 0).unwrap().sealing.is_none());
    assert!(log.append(&["1"], 0).unwrap().sealing.unwrap().unwrap().is_new);
}

#[test]
fn an_entry_is_one_json_value_on_one_line_and_not_too_long() {
    let made = Made::new();
    let mut log = made.open();
    let long = format!("\"{}\"", "x".repeat(ENTRY_BYTES_MAX - 1));
    for bad in ["", " ", "{", "{} {}", "{\n}", "1\n", "\"\u{1}\"", &long] {
        let error = log.append(&["{}", bad], 0).unwrap_err();
        let LogError::Refused { why } = &error else { panic!("{bad:?}: {error}") };
        assert!(why.starts_with("entry 1 of the batch: "), "{bad:?}: {why}");
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
    assert_eq!(error.to_string(), "append a batch of 4097 entries: at most 4096 are taken at once");
    let large = format!("\"{}\"", "x".repeat(ENTRY_BYTES_MAX - 2));
    let error = log.append(&vec![large; BATCH_BYTES_MAX / ENTRY_BYTES_MAX + 1], 0).unwrap_err();
    assert_eq!(error.to_string(), "append a batch of 16842752 bytes: at most 16777216 are taken at once");
    let appended = log.append::<&str>(&[], 0).unwrap();
    assert_eq!(appended.seq, 0);
    assert!(made.read("log").is_empty());
}

/// Two writers are the caller's mistake. The second one is refused before it damages the log.
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
fn only_the_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let made = Made::with(&[3]);
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(made.dir()), 0o700);
    for name in ["log", "checkpoints", "key"] {
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
    for name in ["log", "checkpoints"] {
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

/// Stored logs outlive the program: a change of the format must fail here first.
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
    let files = format!("{}\n{}", text("log"), text("checkpoints"));
    expect_test::expect![[r#"
        1 ed0384b5b226fda6134c705c6bf4e6b3d6e7efa18d42b5fb1e84696b4a68fc9c {"kind":"start"}
        2 415cff4b80567b7a954c298b3c654a0312ae9b43292142c33ec3537d9c98b9ce "grüße"
        3 b666dc96bdf4121eda9accde11ab39353d9e24f9e35003089a24d9749a1c85d6 [3]

        {"size":2,"chain":"415cff4b80567b7a954c298b3c654a0312ae9b43292142c33ec3537d9c98b9ce","at_us":1790000000000000,"key":"ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c","previous":"0000000000000000000000000000000000000000000000000000000000000000","signature":"b7ef0d470bcb2beb73473d281540ab02acc4e230f0dae998919c4346ecc5069e253a3c48ab625375314355c4df477113c5d6bf37a42a4e68509e31eda06af408"}
        {"size":3,"chain":"b666dc96bdf4121eda9accde11ab39353d9e24f9e35003089a24d9749a1c85d6","at_us":1790000060000000,"key":"ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c","previous":"231b3069264eb9fb73c121cbdaead06ea700185811fd6db04b52d56e79bd90df","signature":"47c4d4a0ed461ecabd3ecd7015a8e95546c0b8e5403ca3446ca63ecab4562c2f8569e95543737b242495263fc4bc0b5bc44b5e8519fcfe1bb7fda283b423750c"}
    "#]].assert_eq(&files);
}
