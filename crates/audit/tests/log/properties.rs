//! Any random change to a log is found, or leaves the log as it was.

use std::sync::OnceLock;

use proptest::prelude::*;
use setpoint_audit::log::{Verification, verify_streams};

use crate::common::Made;

/// The bytes of a small log: its lines, and its checkpoints after 3, 5, 9, 10 and 20 entries, which is the last
/// one.
fn original() -> &'static (Vec<u8>, Vec<u8>) {
    static ORIGINAL: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    ORIGINAL.get_or_init(|| {
        let made = Made::with(&[3, 2, 4, 1, 10]);
        (made.read("log"), made.read("checkpoints"))
    })
}

fn verified(log: &[u8], checkpoints: &[u8], export: Option<&[u8]>) -> Verification {
    verify_streams(log, checkpoints, export, None).unwrap()
}

#[derive(Debug, Clone)]
enum Edit {
    Replace(usize, u8),
    Insert(usize, u8),
    Remove(usize),
    RemoveLine(usize),
    RepeatLine(usize, usize),
    SwapLines(usize, usize),
}

impl Edit {
    fn any() -> impl Strategy<Value = Edit> {
        let n = any::<usize>;
        // Bytes with a meaning in the format are drawn often.
        let byte = || prop_oneof![any::<u8>(), proptest::sample::select(b"\n 0123456789abcdef\"{}".to_vec())];
        prop_oneof![
            (n(), byte()).prop_map(|(at, byte)| Edit::Replace(at, byte)),
            (n(), byte()).prop_map(|(at, byte)| Edit::Insert(at, byte)),
            n().prop_map(Edit::Remove),
            n().prop_map(Edit::RemoveLine),
            (n(), n()).prop_map(|(line, to)| Edit::RepeatLine(line, to)),
            (n(), n()).prop_map(|(one, other)| Edit::SwapLines(one, other)),
        ]
    }

    fn of(&self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let (length, count) = (bytes.len(), lines.len());
        match self {
            Edit::Replace(at, byte) => bytes[at % length] = *byte,
            Edit::Insert(at, byte) => bytes.insert(at % (length + 1), *byte),
            Edit::Remove(at) => drop(bytes.remove(at % length)),
            Edit::RemoveLine(line) => drop(lines.remove(line % count)),
            Edit::RepeatLine(line, to) => lines.insert(to % (count + 1), lines[line % count].clone()),
            Edit::SwapLines(one, other) => lines.swap(one % count, other % count),
        }
        match self {
            Edit::Replace(..) | Edit::Insert(..) | Edit::Remove(_) => bytes,
            Edit::RemoveLine(_) | Edit::RepeatLine(..) | Edit::SwapLines(..) => lines.concat(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn an_edit_of_the_log_is_found(edit in Edit::any()) {
        let (log, checkpoints) = original();
        let edited = edit.of(log);
        prop_assert_eq!(verified(&edited, checkpoints, None).is_sound(), &edited == log);
    }

    /// Except the last checkpoint: without it, the log looks like an older state, and only the export can tell.
    #[test]
    fn an_edit_of_the_checkpoints_is_found(edit in Edit::any()) {
        let (log, checkpoints) = original();
        let edited = edit.of(checkpoints);
        let seen = verified(log, &edited, None);
        let is_older = checkpoints.starts_with(&edited) && edited.ends_with(b"\n");
        prop_assert_eq!(seen.is_sound(), &edited == checkpoints || is_older, "{:?}", seen);
        let seen = verified(log, &edited, Some(checkpoints));
        prop_assert_eq!(seen.is_sound(), &edited == checkpoints, "{:?}", seen);
    }

    #[test]
    fn an_edit_of_the_export_is_found_unless_it_only_cuts_it(edit in Edit::any()) {
        let (log, checkpoints) = original();
        let edited = edit.of(checkpoints);
        let seen = verified(log, checkpoints, Some(&edited));
        let is_behind = checkpoints.starts_with(&edited) && edited.ends_with(b"\n");
        prop_assert_eq!(seen.is_sound(), &edited == checkpoints || is_behind, "{:?}", seen);
    }

    /// Log and checkpoints are cut together, so that they fit. Found by the export if and only if it holds a
    /// checkpoint that is gone, or one that covers an entry that is gone.
    #[test]
    fn a_cut_is_found_where_a_checkpoint_covers_it(kept in 0usize..=20, own in 0usize..=5, exported in 0usize..=5) {
        let sizes = [0, 3, 5, 9, 10, 20];
        let (log, checkpoints) = original();
        let first = |bytes: &[u8], count: usize| -> Vec<u8> {
            bytes.split_inclusive(|byte| *byte == b'\n').take(count).flatten().copied().collect()
        };
        let (log, checkpoints, export) = (first(log, kept), first(checkpoints, own), first(checkpoints, exported));
        let is_covered = sizes[own] > kept;
        prop_assert_eq!(verified(&log, &checkpoints, None).is_sound(), !is_covered);
        let is_seen = is_covered || exported > own;
        let seen = verified(&log, &checkpoints, Some(&export));
        prop_assert_eq!(seen.is_sound(), !is_seen, "{:?}", seen);
        prop_assert_eq!(seen.sealed, sizes[..=own].iter().copied().filter(|size| *size <= kept).max().unwrap_or(0).max(
            if exported > own { sizes[..=exported].iter().copied().filter(|size| *size <= kept).max().unwrap_or(0) } else { 0 }
        ) as u64);
    }

    /// No content of the files makes the verification panic, run for ever or find nothing.
    #[test]
    fn any_bytes_are_verified(
        log in proptest::collection::vec(any::<u8>(), 0..300),
        checkpoints in proptest::collection::vec(any::<u8>(), 0..300),
        export in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..300)),
    ) {
        let seen = verified(&log, &checkpoints, export.as_deref());
        let is_empty = log.is_empty() && checkpoints.is_empty() && export.is_none_or(|export| export.is_empty());
        prop_assert_eq!(seen.is_sound(), is_empty);
    }
}
