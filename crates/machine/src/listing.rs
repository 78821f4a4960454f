//! A list in a prompt. Each entry has a head that is kept and a body that may be left out, oldest first.

/// Stand-in for a body without room.
const LEFT_OUT: &str = "  [output left out: the list is full]\n";

/// Characters to which an older body is shortened before it is left out.
const SHORTENED_CHARS: usize = 1_500;
/// Maximum characters of a cut's mark.
const MARK_CHARS: usize = 120;

/// A list of entries, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    entries: Vec<Entry>,
}

/// An entry of a [`Listing`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    /// Lines that are kept, with their line ends.
    head: String,
    /// Lines that may be left out, with their line ends.
    body: Option<String>,
}

/// The parts of an entry, which is made only if it has room.
#[derive(Clone, Debug)]
pub struct Candidate<F> {
    /// Lines that are kept, with their line ends.
    pub head: String,
    /// Characters of the whole body; 0 if there is none.
    pub body_chars: usize,
    /// Makes the body in at most this many characters, plus the mark of a cut.
    pub body: F,
}

impl Listing {
    /// Makes a listing in at most `chars_max` characters plus one line.
    ///
    /// If the entries take more, the newest bodies stay whole and older ones are shortened, as many as have room;
    /// then the oldest bodies are left out and each head is kept. If the heads alone take more than half, the oldest
    /// heads are left out too and counted. Entries without room are never made.
    pub fn bounded<F: Fn(usize) -> String>(
        newest_first: impl ExactSizeIterator<Item = Candidate<F>>,
        chars_max: usize,
    ) -> Self {
        let count = newest_first.len();
        let mut left = chars_max / 2;
        let mut shown: Vec<Candidate<F>> = Vec::new();
        for candidate in newest_first {
            let length = candidate.head.chars().count() + LEFT_OUT.chars().count();
            if length > left {
                break;
            }
            left -= length;
            shown.push(candidate);
        }
        let room = left + chars_max - chars_max / 2;
        let shortened = |candidate: &Candidate<F>| candidate.body_chars.min(SHORTENED_CHARS);
        let mut of_the_older: usize = shown.iter().map(shortened).sum();
        let mut left = room;
        let mut full = true;
        let mut entries = Vec::new();
        let left_out = count - shown.len();
        for candidate in shown {
            of_the_older -= shortened(&candidate);
            let Candidate { head, body_chars, body } = candidate;
            // At least half of the room is for whole bodies; the rest is kept so that older ones can be shown at all.
            let free = left.saturating_sub(of_the_older.min(room / 2)).max(SHORTENED_CHARS);
            let granted = body_chars.min(free);
            full = full && granted <= left;
            let body = match body_chars {
                0 => None,
                _ if !full => Some(LEFT_OUT.to_owned()),
                _ if granted < body_chars => Some(body(granted - MARK_CHARS)),
                _ => Some(body(body_chars)),
            };
            if full {
                left -= granted;
            }
            entries.push(Entry { head, body });
        }
        if left_out > 0 {
            entries.push(Entry { head: format!("[{left_out} earlier calls left out]\n"), body: None });
        }
        entries.reverse();
        Listing { entries }
    }

    /// Adds lines that are kept.
    pub fn push(&mut self, head: String) {
        self.entries.push(Entry { head, body: None });
    }

    /// Appends the entries of another listing.
    pub fn append(&mut self, other: Listing) {
        self.entries.extend(other.entries);
    }

    /// Returns the whole text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let length =
            self.entries.iter().map(|entry| entry.head.len() + entry.body.as_ref().map_or(0, String::len));
        let mut out = String::with_capacity(length.sum());
        for entry in &self.entries {
            out.push_str(&entry.head);
            out.push_str(entry.body.as_deref().unwrap_or_default());
        }
        out
    }

    /// Leaves out the oldest remaining body, and returns it with its stand-in; `None` if there is none.
    pub(crate) fn leave_out_oldest(&mut self) -> Option<(String, &'static str)> {
        let entry = self.entries.iter_mut().find(|entry| {
            // Leaving out a body no longer than its stand-in frees nothing.
            entry.body.as_ref().is_some_and(|body| body.len() > LEFT_OUT.len())
        })?;
        entry.leave_out().map(|body| (body, LEFT_OUT))
    }
}

impl Entry {
    fn leave_out(&mut self) -> Option<String> {
        self.body.replace(LEFT_OUT.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the shown lengths of bodies with these lengths, newest first.
    fn shown(bodies: &[usize], chars_max: usize) -> Vec<usize> {
        let candidates = bodies.iter().enumerate().map(|(n, chars)| Candidate {
            head: format!("{n}\n"),
            body_chars: *chars,
            body: |chars| "x".repeat(chars),
        });
        let listing = Listing::bounded(candidates, chars_max);
        let length = listing.to_text().chars().count();
        assert!(length <= chars_max + 60, "{length} of {chars_max}");
        listing.entries.iter().rev().map(|entry| entry.body.as_ref().map_or(0, String::len)).collect()
    }

    #[test]
    fn newest_bodies_stay_whole_and_older_ones_are_shortened() {
        let (short, out) = (SHORTENED_CHARS - MARK_CHARS, LEFT_OUT.len());
        assert_eq!(shown(&[24_000, 0, 12_000], 40_000), [24_000, 0, 12_000]);
        let ten = shown(&[24_000; 10], 40_000);
        assert_eq!(ten[0], 24_000);
        assert!(ten[1] > short && ten[2..].iter().all(|chars| *chars == short), "{ten:?}");
        // A body longer than the list is shortened to the list.
        let alone = shown(&[50_000], 16_000);
        assert!((15_000..16_000).contains(&alone[0]), "{alone:?}");
        // With many bodies, half of the room goes to whole ones and half to shortened ones.
        let many = shown(&[4_000; 60], 42_000);
        assert_eq!(many[..4], [4_000; 4], "{many:?}");
        assert!(many[5..15].iter().all(|chars| *chars == short), "{many:?}");
        assert!(many[30..].iter().all(|chars| *chars == out), "{many:?}");
        assert!(many.is_sorted_by(|newer, older| newer >= older), "{many:?}");
    }
}
