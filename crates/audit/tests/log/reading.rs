//! Reads beside a writer.

use setpoint_audit::log::{Entries, LogError, ReverseEntries};

use crate::common::{Made, append, entry};

fn numbers(entries: &mut Entries) -> Vec<u64> {
    entries.map(|entry| entry.unwrap().seq).collect()
}

#[test]
fn entries_are_read_from_any_number_on() {
    let made = Made::with(&[1_200]);
    for after in [0, 1, 2, 3, 600, 998, 1_198, 1_199] {
        let mut entries = Entries::after(&made.dir(), after).unwrap();
        let first = entries.next().unwrap().unwrap();
        assert_eq!((first.seq, &*first.json), (after + 1, entry(after + 1).as_str()));
        assert_eq!(entries.count() as u64, 1_200 - after - 1);
    }
    assert!(Entries::after(&made.dir(), 1_200).unwrap().next().is_none());
    let backwards = ReverseEntries::of(&made.dir()).unwrap().map(|entry| entry.unwrap());
    assert!(
        backwards
            .map(|entry| (entry.seq, entry.json.to_string()))
            .eq((1..=1_200).rev().map(|n| (n, self::entry(n))))
    );
}

#[test]
fn lines_of_any_length_are_found() {
    let made = Made::new();
    let mut log = made.open();
    let batch: Vec<String> =
        (0..400u32).map(|n| format!("\"{}\"", "y".repeat((n % 9 * n * 20) as usize % 65_000))).collect();
    let _appended = log.append(&batch, 0).unwrap();
    for after in 0..400 {
        let first = Entries::after(&made.dir(), after).unwrap().next().unwrap().unwrap();
        assert_eq!(first.seq, after + 1);
    }
}

#[test]
fn a_reader_follows_the_writer() {
    let made = Made::new();
    let mut log = made.open();
    let mut entries = Entries::after(&made.dir(), 2).unwrap();
    assert!(entries.next().is_none());
    append(&mut log, 2);
    assert!(entries.next().is_none(), "it waits for what comes after 2");
    append(&mut log, 2);
    assert_eq!(numbers(&mut entries), [3, 4]);
    append(&mut log, 1_500);
    assert_eq!(numbers(&mut entries).len(), 1_500);
    assert!(entries.next().is_none());
}

/// A writer whose disk is full takes the beginning of a line back and writes another one in its place.
#[test]
fn a_torn_end_is_neither_read_nor_kept() {
    let made = Made::with(&[2]);
    let whole = made.read("log");
    let mut entries = Entries::after(&made.dir(), 0).unwrap();
    made.write("log", [whole.as_slice(), b"3 0123456789abcdef"].concat());
    assert_eq!(numbers(&mut entries), [1, 2]);
    made.write("log", &whole);
    append(&mut made.open(), 1);
    assert_eq!(numbers(&mut entries), [3]);
    let backwards = ReverseEntries::of(&made.dir()).unwrap().map(|entry| entry.unwrap().seq);
    made.write("log", [made.read("log"), b"4 0123".to_vec()].concat());
    assert_eq!(backwards.collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(ReverseEntries::of(&made.dir()).unwrap().next().unwrap().unwrap().seq, 3);
}

#[test]
fn damage_is_reported_by_line_and_ends_the_reading() {
    let made = Made::with(&[500]);
    made.edit("log", |lines| lines[299][100] ^= 1);
    let mut entries = Entries::after(&made.dir(), 290).unwrap();
    assert_eq!(entries.by_ref().take_while(Result::is_ok).count(), 9);
    assert!(entries.next().is_none());
    let mut entries = Entries::after(&made.dir(), 290).unwrap();
    let error = entries.by_ref().find_map(Result::err).unwrap();
    assert!(matches!(&error, LogError::Damaged { damage, .. } if damage.line == Some(300)), "{error}");
    // After the damage it can be read again.
    assert_eq!(numbers(&mut Entries::after(&made.dir(), 300).unwrap()).len(), 200);
}

/// A change to the lines of a log.
type Change = fn(&mut Vec<Vec<u8>>);

/// Newest first, each is checked against the one before it.
#[test]
fn damage_is_reported_when_reading_backwards() {
    let changes: [(Change, u64); 6] = [
        (|lines| lines[299][80] ^= 1, 300),
        (|lines| lines[299][5] = if lines[299][5] == b'0' { b'1' } else { b'0' }, 301),
        (|lines| lines[299][0] = b'x', 300),
        (|lines| lines[299][..70].fill(0xff), 300),
        (|lines| drop(lines.remove(299)), 300),
        (|lines| lines.swap(298, 299), 300),
    ];
    for (n, (change, line)) in changes.into_iter().enumerate() {
        let made = Made::with(&[500]);
        made.edit("log", change);
        let mut entries = ReverseEntries::of(&made.dir()).unwrap();
        let read = entries.by_ref().take_while(Result::is_ok).count() as u64;
        assert!((198..=201).contains(&read), "{n}: {read}");
        assert!(entries.next().is_none());
        let error = ReverseEntries::of(&made.dir()).unwrap().find_map(Result::err).unwrap();
        let LogError::Damaged { damage, .. } = &error else { panic!("{n}: {error}") };
        assert!(damage.line.unwrap().abs_diff(line) < 2, "{n}: {error}");
    }
}

#[test]
fn no_bytes_make_a_reader_panic_or_run_for_ever() {
    let made = Made::with(&[20]);
    for bytes in [
        b"\n\n\n\n".to_vec(),
        b"1".to_vec(),
        vec![0; 300_000],
        b"9 9 9\n8 8 8\n".to_vec(),
        vec![b'\n'; 9_000],
    ] {
        made.write("log", bytes);
        for after in [0, 1, 9, u64::MAX] {
            assert!(Entries::after(&made.dir(), after).unwrap().count() < 3);
        }
        assert!(ReverseEntries::of(&made.dir()).unwrap().count() < 2);
        let has_line = made.read("log").contains(&b'\n');
        assert_eq!(ReverseEntries::of(&made.dir()).unwrap().any(|entry| entry.is_err()), has_line);
    }
    std::fs::remove_file(made.file("log")).unwrap();
    assert!(matches!(Entries::after(&made.dir(), 0), Err(LogError::Io { .. })));
}

/// At every moment, what a reader sees of a writer's log is sound.
#[test]
fn a_writer_at_work_does_not_look_like_damage() {
    let made = Made::with(&[1]);
    let mut log = made.open();
    let mut entries = Entries::after(&made.dir(), 0).unwrap();
    let mut seen = 0;
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..400).for_each(|_| append(&mut log, 37)));
        loop {
            // Asked before the look: the last look then sees everything.
            let is_done = writer.is_finished();
            let verified = made.verify_with_export();
            assert!(verified.is_sound(), "{verified:?}");
            seen += numbers(&mut entries).len() as u64;
            if is_done {
                break;
            }
        }
    });
    assert_eq!(seen, 1 + 400 * 37);
}

#[cfg(unix)]
#[test]
fn a_reader_knows_when_its_log_was_put_aside() {
    let made = Made::with(&[2]);
    let entries = Entries::after(&made.dir(), 0).unwrap();
    assert!(!entries.is_replaced().unwrap());
    std::fs::rename(made.file("log"), made.file("log.aside-1")).unwrap();
    assert!(entries.is_replaced().unwrap());
    std::fs::copy(made.file("log.aside-1"), made.file("log")).unwrap();
    assert!(entries.is_replaced().unwrap());
}
