//! Files that a task wrote after it had read from elsewhere: what the notes for an undo say of them, with the sources. A
//! later task whose working directory holds such a file, unchanged, has read from there too.
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
use setpoint_protocol::tool::Source;

use super::note::{Place, State};
use crate::halt::Halt;

/// The list of a task, below its folder.
const LIST: &str = "written_after.jsonl";
/// Longest line of a list, in bytes. The longest that is written has a path of 4,096 bytes, in hexadecimal.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// Maximum sources that a line names. Two decide all that more would.
const SOURCES_MAX: usize = 16;
/// Maximum lists that are read, the newest first.
const LISTS_MAX: usize = 512;
/// Maximum lines that are read, of all lists.
const LINES_MAX: usize = 50_000;

/// A file that was written.
#[derive(Debug, Serialize, Deserialize)]
struct Label {
    path: Place,
    /// BLAKE3 of what was written, in hexadecimal.
    hash: String,
    after: Vec<Source>,
}

/// Adds files to the list of a task. Must be on the disk before they are.
///
/// # Errors
/// The error of the system.
pub(super) fn add<'w>(
    folder: &Path,
    written: impl Iterator<Item = (&'w Path, &'w State)>,
    after: &BTreeSet<Source>,
) -> io::Result<()> {
    let mut lines = Vec::new();
    for (path, state) in written {
        let State::File { hash, .. } = state else { continue };
        let after = after.iter().take(SOURCES_MAX).cloned().collect();
        serde_json::to_writer(
            &mut lines,
            &Label { path: Place(path.to_path_buf()), hash: hash.clone(), after },
        )?;
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

/// Returns where the tasks below `kept`, but for one, had read from that wrote files at or below one of `places`, as far
/// as these are unchanged.
pub(crate) fn written_below(
    kept: &Path,
    but: Option<&TaskId>,
    places: &[PathBuf],
    halt: &Halt,
) -> BTreeSet<Source> {
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
    let mut sources = BTreeSet::new();
    let mut room = LINES_MAX;
    let mut is_complete = lists.len() <= LISTS_MAX;
    for (_, list) in lists.iter().take(LISTS_MAX) {
        is_complete &= read(list, places, halt, &mut room, &mut sources).is_ok();
        if halt.reached() || room == 0 {
            is_complete = false;
            break;
        }
    }
    if !is_complete {
        sources.insert(Source::Unknown);
    }
    sources.iter().map(Source::written).collect()
}

/// Adds the sources of one list. Fails if it cannot be read to its end.
fn read(
    list: &Path,
    places: &[PathBuf],
    halt: &Halt,
    room: &mut usize,
    sources: &mut BTreeSet<Source>,
) -> io::Result<()> {
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
        let Label { path, hash, after } = serde_json::from_slice(&line)?;
        let is_meant = places.iter().any(|place| path.0.starts_with(place));
        let is_known = after.iter().all(|source| sources.contains(source));
        if is_meant && !is_known && is_unchanged(&path.0, &hash) {
            sources.extend(after);
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
            let after = BTreeSet::from([Source::Web(host.to_owned())]);
            add(&self.at("kept").join(task), std::iter::once((path.as_path(), &is)), &after).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn below(&self, place: &str) -> Vec<String> {
            let found = written_below(&self.at("kept"), None, &[self.at(place)], &Halt::default());
            found.iter().map(ToString::to_string).collect()
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
    fn a_task_does_not_count_its_own_files() {
        let (world, task) = (world(), TaskId::mint("count", 1));
        world.write(task.as_str(), "one/notes", "x", "a.example");
        world.write("t2", "one/more", "x", "b.example");
        let found = written_below(&world.at("kept"), Some(&task), &[world.at("one")], &Halt::default());
        assert_eq!(found, [Source::Web("b.example".to_owned()).written()].into());
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
        assert_eq!(world.below("one"), [unknown]);
        std::fs::write(&list, whole.repeat(LINES_MAX)).unwrap();
        assert!(world.below("other").contains(&unknown.to_owned()));
    }
}
