//! A list in a prompt whose entries have a head that stays and a body that may be left out, the oldest first.

/// Stands for a body that had no room.
const LEFT_OUT: &str = "  [output left out: the list is full]\n";

/// The entries, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    entries: Vec<Entry>,
}

/// One entry of a [`Listing`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// What stays: lines with their ends.
    pub head: String,
    /// What may be left out: lines with their ends.
    pub body: Option<String>,
}

impl Listing {
    /// The entries in at most `chars_max` characters and one line.
    ///
    /// When they take more, the oldest bodies go first and the head stays for each; when the heads alone take more
    /// than half, the oldest heads go too and their number is told. No more entries are made than have room.
    pub fn bounded(newest_first: impl ExactSizeIterator<Item = Entry>, chars_max: usize) -> Self {
        let count = newest_first.len();
        let mut left = chars_max / 2;
        let mut shown: Vec<Entry> = Vec::new();
        for entry in newest_first {
            let length = entry.head.chars().count() + LEFT_OUT.chars().count();
            if length > left {
                break;
            }
            left -= length;
            shown.push(entry);
        }
        left += chars_max - chars_max / 2;
        let mut full = true;
        for entry in &mut shown {
            let length = entry.body.as_ref().map_or(0, |body| body.chars().count());
            full = full && length <= left;
            if full {
                left -= length;
            } else if entry.body.is_some() {
                entry.leave_out();
            }
        }
        match count - shown.len() {
            0 => {}
            left_out => {
                shown.push(Entry { head: format!("[{left_out} earlier calls left out]\n"), body: None });
            }
        }
        shown.reverse();
        Listing { entries: shown }
    }

    /// Adds lines that stay.
    pub fn push(&mut self, head: String) {
        self.entries.push(Entry { head, body: None });
    }

    /// Adds the entries of another one.
    pub fn append(&mut self, other: Listing) {
        self.entries.extend(other.entries);
    }

    /// The whole text.
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

    /// Leaves out the oldest body that is there, and gives it back with what stands for it; `None` when there is none.
    pub(crate) fn leave_out_oldest(&mut self) -> Option<(String, &'static str)> {
        let entry = self.entries.iter_mut().find(|entry| {
            // A body that is no longer than the line that would stand for it frees nothing.
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
