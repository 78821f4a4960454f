//! Files that a task wrote after it had read from elsewhere, or keys: what the notes for an undo say of them, with what was
//! read. A later task whose working directory holds such a file, unchanged, has read that too.
//!
//! Each task has its own list beside its notes, one JSON object per line, and it goes with them. Everything is bounded;
//! where a bound is reached, the origin counts as unknown, never as harmless.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use setpoint_own_files::own::{self, Access};
use setpoint_protocol::TaskId;
use setpoint_protocol::tool::{Secret, Source};

use super::note::{Place, State};
use crate::halt::Halt;

/// The list of a task, below its folder.
const LIST: &str = "written_after.jsonl";
/// Longest line of a list, in bytes. The longest that is written has a path of 4,096 bytes, in hexadecimal.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// Maximum sources, and keys, that a line names. Two decide all that more would.
const READ_MAX: usize = 16;
/// Maximum lists that are read, the newest first.
const LISTS_MAX: usize = 512;
/// Maximum lines that are read, of all lists.
const LINES_MAX: usize = 50_000;

/// What a task has read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct After {
    /// Text that somebody elsewhere wrote.
    pub(crate) sources: BTreeSet<Source>,
    pub(crate) secrets: BTreeSet<Secret>,
}

impl After {
    pub(crate) fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.secrets.is_empty()
    }

    /// Returns what a file was written after whose list cannot be read: it may be anything.
    pub(crate) fn unknown() -> Self {
        After { sources: [Source::Unknown].into(), secrets: [Secret::Unknown].into() }
    }

    /// Returns this, as a task has read it that finds files which were written after it.
    pub(crate) fn written(&self) -> Self {
        After {
            sources: self.sources.iter().map(Source::written).collect(),
            secrets: self.secrets.iter().map(Secret::written).collect(),
        }
    }

    fn add(&mut self, other: After) {
        self.sources.extend(other.sources);
        self.secrets.extend(other.secrets);
    }

    fn has(&self, label: &Label) -> bool {
        label.after.iter().all(|source| self.sources.contains(source))
            && label.secrets.iter().all(|secret| self.secrets.contains(secret))
    }
}

/// A file that was written.
#[derive(Debug, Serialize, Deserialize)]
struct Label {
    path: Place,
    /// BLAKE3 of what was written, in hexadecimal.
    hash: String,
    after: Vec<Source>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    secrets: Vec<Secret>,
}

/// Adds files to the list of a task. Must be on the disk before they are.
///
/// # Errors
/// The error of the system.
pub(super) fn add<'w>(
    folder: &Path,
    written: impl Iterator<Item = (&'w Path, &'w State)>,
    after: &After,
) -> io::Result<()> {
    let mut lines = Vec::new();
    for (path, state) in written {
        let State::File { hash, .. } = state else { continue };
        let label = Label {
            path: Place(path.to_path_buf()),
            hash: hash.clone(),
            after: after.sources.iter().take(READ_MAX).cloned().collect(),
            secrets: after.secrets.iter().take(READ_MAX).cloned().collect(),
        };
        serde_json::to_writer(&mut lines, &label)?;
        lines.push(b'\n');
    }
    if lines.is_empty() {
        return Ok(());
    }
    own::create_dir(folder)?;
    let mut list = own::open_or_create(&folder.join(LIST), Access::Append)?;
    list.write_all(&lines)?;
    list.sync_data()
}

/// Returns what the tasks below `kept`, but for one, had read that wrote files at or below one of `places`, as far as these
/// are unchanged.
pub(crate) fn written_below(kept: &Path, but: Option<&TaskId>, places: &[PathBuf], halt: &Halt) -> After {
    let mut lists = Vec::new();
    for folder in std::fs::read_dir(kept).into_iter().flatten().flatten() {
        if but.is_some_and(|task| folder.file_name() == task.as_str()) {
            continue;
        }
        let list = folder.path().join(LIST);
        if let Ok(found) = std::fs::symlink_metadata(&list) {
            lists.push((found.modified().unwrap_or(SystemTime::UNIX_EPOCH), list));
        }
    }
    lists.sort_unstable_by(|one, other| other.cmp(one));
    let mut after = After::default();
    let mut room = LINES_MAX;
    let mut is_complete = lists.len() <= LISTS_MAX;
    for (_, list) in lists.iter().take(LISTS_MAX) {
        is_complete &= read(list, places, halt, &mut room, &mut after).is_ok();
        if halt.reached() || room == 0 {
            is_complete = false;
            break;
        }
    }
    if !is_complete {
        after.add(After::unknown());
    }
    after.written()
}

/// Adds what one list names. Fails if it cannot be read to its end.
fn read(list: &Path, places: &[PathBuf], halt: &Halt, room: &mut usize, after: &mut After) -> io::Result<()> {
    let mut reader = BufReader::new(own::open(list, Access::Read)?);
    let mut line = Vec::new();
    while *room > 0 && !halt.reached() {
        line.clear();
        // A torn last line announces a file that was not written.
        if (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0
            || line.last() != Some(&b'\n')
        {
            return Ok(());
        }
        *room -= 1;
        let label: Label = serde_json::from_slice(&line)?;
        let is_meant = places.iter().any(|place| label.path.0.starts_with(place));
        if is_meant && !after.has(&label) && is_unchanged(&label.path.0, &label.hash) {
            let (sources, secrets) = (label.after.into_iter().collect(), label.secrets.into_iter().collect());
            after.add(After { sources, secrets });
        }
    }
    Ok(())
}

fn is_unchanged(path: &Path, hash: &str) -> bool {
    match State::at_path(path) {
        State::File { hash: now, .. } => now == hash,
        // It may be the same.
        State::Lost(_) => true,
        State::Nothing | State::Link(_) | State::Folder { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World(tempfile::TempDir);

    impl World {
        fn at(&self, name: &str) -> PathBuf {
            std::fs::canonicalize(self.0.path()).unwrap().join(name)
        }

        /// Writes a file as a task does.
        fn write(&self, task: &str, path: &str, text: &str, host: &str) {
            let path = self.at(path);
            let is = State::File { hash: blake3::hash(text.as_bytes()).to_hex().to_string(), mode: 0o644 };
            let secrets =
                if host.starts_with('.') { [Secret::File(host.to_owned())].into() } else { [].into() };
            let sources =
                if host.starts_with('.') { [].into() } else { [Source::Web(host.to_owned())].into() };
            let after = After { sources, secrets };
            add(&self.at("kept").join(task), std::iter::once((path.as_path(), &is)), &after).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn below(&self, place: &str) -> Vec<String> {
            let found = written_below(&self.at("kept"), None, &[self.at(place)], &Halt::default());
            let secrets = found.secrets.iter().map(ToString::to_string);
            found.sources.iter().map(ToString::to_string).chain(secrets).collect()
        }
    }

    fn world() -> World {
        let world = World(tempfile::tempdir().unwrap());
        ["kept", "one", "other"].iter().for_each(|name| std::fs::create_dir(world.at(name)).unwrap());
        world
    }

    #[test]
    fn a_file_carries_its_sources_while_it_is_unchanged() {
        let world = world();
        world.write("t1", "one/notes", "from a page", "a.example");
        world.write("t2", "other/notes", "from another", "b.example");
        assert_eq!(world.below("one"), ["files written after reading pages of a.example"]);
        assert_eq!(world.below("one/notes").len(), 1);
        assert_eq!(world.below("one/note"), [""; 0]);
        std::fs::write(world.at("one/notes"), "by hand").unwrap();
        assert_eq!(world.below("one"), [""; 0]);
        std::fs::remove_file(world.at("other/notes")).unwrap();
        assert_eq!(world.below("other"), [""; 0]);
        // As it was again.
        std::fs::write(world.at("one/notes"), "from a page").unwrap();
        assert_eq!(world.below("one").len(), 1);
    }

    #[test]
    fn a_file_carries_the_keys_that_were_read_before_it() {
        let world = world();
        world.write("t1", "one/notes", "from a key", ".env");
        assert_eq!(world.below("one"), ["files written after reading keys in .env"]);
        // A list of an earlier version does not name keys.
        let list = world.at("kept/t1").join(LIST);
        let old = std::fs::read_to_string(&list).unwrap().replace(r#","secrets":[{"file":".env"}]"#, "");
        std::fs::write(&list, old).unwrap();
        assert_eq!(world.below("one"), [""; 0]);
    }

    #[test]
    fn a_task_does_not_count_its_own_files() {
        let (world, task) = (world(), TaskId::mint("count", 1));
        world.write(task.as_str(), "one/notes", "x", "a.example");
        world.write("t2", "one/more", "x", "b.example");
        let found = written_below(&world.at("kept"), Some(&task), &[world.at("one")], &Halt::default());
        assert_eq!(found.sources, [Source::Web("b.example".to_owned()).written()].into());
    }

    #[test]
    fn a_damaged_or_too_long_list_is_of_unknown_origin() {
        let world = world();
        world.write("t1", "one/notes", "x", "a.example");
        let list = world.at("kept/t1").join(LIST);
        let whole = std::fs::read(&list).unwrap();
        std::fs::write(&list, [&whole[..], &whole[..9]].concat()).unwrap();
        assert_eq!(world.below("one").len(), 1, "a torn end is not damage");
        std::fs::write(&list, [&b"{}\n"[..], &whole].concat()).unwrap();
        let unknown = "files written after reading text from elsewhere whose origin is no longer known";
        assert_eq!(
            world.below("one"),
            [unknown, "files written after reading keys that are no longer known"]
        );
        std::fs::write(&list, whole.repeat(LINES_MAX)).unwrap();
        assert!(world.below("other").contains(&unknown.to_owned()));
    }
}
