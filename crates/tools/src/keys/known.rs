//! The values in the key files of a task's working directory, so that they are known wherever they occur.
//!
//! Values are in memory alone, and are dropped when the task ends. A task looks through its directory before its first
//! call, and again at the files that it found, and at those that a call names or creates, around each further call. What
//! a file held once stays known: it may be elsewhere by then.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{FileType, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use secrecy::{ExposeSecret, SecretString};
use setpoint_protocol::TaskId;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::Secret;
use setpoint_scrub::{SECRETS_MAX, Scrub};

use super::names::{is_key_file, is_settings, may_be_key};
use super::{PATH_CHARS_MAX, forms, values};
use crate::caches;
use crate::files::open;
use crate::halt::Halt;
use crate::show;

/// Maximum files and folders that a look through a directory visits, the upper ones first.
const ENTRIES_MAX: usize = 50_000;
/// Maximum folders that one is deep.
const DEPTH_MAX: usize = 24;
/// Maximum files whose values are known.
const FILES_MAX: usize = 256;
/// Maximum bytes that are read of one.
const FILE_BYTES_MAX: usize = 256 * 1024;
/// A file counts as text with at most one unreadable byte among this many.
const UNREADABLE_SHARE: usize = 20;
/// As many more may be unreadable: UTF-16 begins with two.
const UNREADABLE_MIN: usize = 2;
/// Folders that are not entered: what Git keeps there is compressed.
const CLOSED: &[&str] = &[".git"];
/// What is looked at in them.
const IN_CLOSED: &str = "config";
/// The name of folders that hold packages of others.
const PACKAGES: &str = "node_modules";
/// Folders of the system, into which no link is followed.
const SYSTEM: &[&str] = &["/bin", "/dev", "/lib", "/lib64", "/nix", "/proc", "/sbin", "/sys", "/usr"];

/// What is known of the keys that a text may hold. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownKeys {
    files: Arc<FileValues>,
    /// The keys of this machine, by name.
    pub(super) own: Scrub,
}

/// Values by the files that hold them.
#[derive(Debug, Default)]
struct FileValues {
    /// A path for each value.
    paths: Vec<String>,
    values: Vec<SecretString>,
    search: Scrub,
    /// Searches for them in lower case, as they are in the name of a host.
    lower: Scrub,
    /// A limit was reached, so more files may hold keys.
    is_cut: bool,
}

impl KnownKeys {
    /// Returns what is known without a look at files: the keys of this machine.
    pub(crate) fn of_machine(own: Scrub) -> Self {
        KnownKeys { own, ..KnownKeys::default() }
    }

    /// Returns what is known from files that a text holds.
    pub(super) fn of_files_in(&self, text: &str) -> BTreeSet<Secret> {
        self.of_places(self.files.search.places_in(text.as_bytes()))
    }

    /// Returns whether values of files are known.
    pub(crate) fn has_files(&self) -> bool {
        !self.files.paths.is_empty()
    }

    /// Returns what is known from files that a content holds.
    pub(crate) fn of_files_in_content(&self, content: &[u8]) -> BTreeSet<Secret> {
        self.of_places(self.files.search.places_in(content))
    }

    fn of_places(&self, found: BTreeSet<usize>) -> BTreeSet<Secret> {
        let path = |place: usize| Some(Secret::File(self.files.paths.get(place)?.clone()));
        found.into_iter().filter_map(path).collect()
    }

    /// Returns whether a limit was reached, so that more files may hold keys.
    pub(crate) fn is_cut(&self) -> bool {
        self.files.is_cut
    }

    /// Returns every key that a text which is sent seems to hold: of a file, in lower case too, of this machine, or by its form.
    pub(crate) fn all_in(&self, text: &str) -> Vec<Secret> {
        let mut found = self.of_files_in(text);
        found.extend(self.of_places(self.files.lower.places_in(text.to_lowercase().as_bytes())));
        found.extend(self.own.names_in(text).into_iter().map(Secret::Key));
        found.extend(forms::in_text(text).into_iter().map(|kind| Secret::Form(kind.to_owned())));
        found.into_iter().collect()
    }
}

/// What each task has found.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyFiles(Arc<Mutex<BTreeMap<TaskId, Arc<Mutex<Found>>>>>);

#[derive(Debug, Default)]
struct Found {
    has_walked: bool,
    is_cut: bool,
    /// The files, with how they were when they were read.
    files: BTreeMap<PathBuf, Stamp>,
    known: Arc<FileValues>,
}

/// Changes whenever the file does: device, inode, size, and time of change.
type Stamp = Option<(u64, u64, u64, i64, i64)>;

impl KeyFiles {
    /// Looks at the files, at those of `named` too, and returns what is known now. A task without an id
    /// starts with nothing.
    pub(crate) fn look(
        &self,
        task: Option<&TaskId>,
        cwd: &Path,
        named: &BTreeSet<PathBuf>,
        own: &Scrub,
        halt: &Halt,
    ) -> KnownKeys {
        let found = match task {
            Some(task) => {
                let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(tasks.entry(task.clone()).or_default())
            }
            None => Arc::default(),
        };
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        found.look(cwd, named, halt);
        KnownKeys { files: Arc::clone(&found.known), own: own.clone() }
    }

    /// Drops what was found for a task.
    pub(crate) fn forget(&self, task: &TaskId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(task);
    }
}

impl Found {
    fn look(&mut self, cwd: &Path, named: &BTreeSet<PathBuf>, halt: &Halt) {
        let mut paths: Vec<PathBuf> = self.files.keys().cloned().collect();
        if !self.has_walked {
            let walked = walk(cwd, halt);
            // A look that was stopped, such as that of a survey, is made again.
            (self.has_walked, self.is_cut) = (!halt.reached(), walked.is_cut);
            paths.extend(walked.files);
        }
        paths.extend(named.iter().filter(|path| !self.files.contains_key(*path)).cloned());
        let mut new = Vec::new();
        for path in paths {
            let is_room = self.files.len() < FILES_MAX || self.files.contains_key(&path);
            let now = path.metadata().ok().filter(Metadata::is_file).map(|found| stamp(&found));
            self.is_cut |= !is_room;
            if !is_room || now.is_none() || self.files.get(&path) == Some(&now) {
                continue;
            }
            let shown = clip(&show::path(path.strip_prefix(cwd).unwrap_or(&path)), PATH_CHARS_MAX);
            let (values, is_whole) = read(&path, halt);
            self.is_cut |= !is_whole;
            new.extend(values.into_iter().map(|value| (shown.clone(), value)));
            self.files.insert(path, now);
        }
        if !new.is_empty() || self.is_cut != self.known.is_cut {
            self.add(new);
        }
    }

    fn add(&mut self, new: Vec<(String, SecretString)>) {
        let (mut paths, mut values) = (self.known.paths.clone(), self.known.values.clone());
        let mut seen: BTreeSet<String> =
            values.iter().map(|value| value.expose_secret().to_owned()).collect();
        for (path, value) in new {
            if !seen.insert(value.expose_secret().to_owned()) {
                continue;
            }
            if values.len() >= SECRETS_MAX {
                self.is_cut = true;
                break;
            }
            paths.push(path);
            values.push(value);
        }
        let is_same = values.len() == self.known.values.len();
        let (search, lower) = if is_same {
            (self.known.search.clone(), self.known.lower.clone())
        } else {
            let lower = values.iter().map(|value| value.expose_secret().to_lowercase().into());
            (Scrub::of(&values), Scrub::of(&lower.collect::<Vec<SecretString>>()))
        };
        self.known = Arc::new(FileValues { paths, values, search, lower, is_cut: self.is_cut });
    }
}

fn stamp(found: &Metadata) -> (u64, u64, u64, i64, i64) {
    (found.dev(), found.ino(), found.len(), found.ctime(), found.ctime_nsec())
}

/// Returns the values of a file, and whether they are of all of it; none of one that is not text.
fn read(path: &Path, halt: &Halt) -> (Vec<SecretString>, bool) {
    let mut bytes = Vec::new();
    let name = path.to_string_lossy();
    let opened = open::regular(path, halt);
    let read = opened.and_then(|file| file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes));
    if read.is_err() {
        return (Vec::new(), true);
    }
    let is_key_file = is_key_file(&name);
    // Settings hold much else, and are often long; a key file that is not read to its end hides keys.
    let is_whole = bytes.len() <= FILE_BYTES_MAX || !is_key_file;
    bytes.truncate(FILE_BYTES_MAX);
    let has_words = is_key_file || may_be_key(&name);
    let values = text_of(&bytes).map(|text| values::in_text(&text, has_words)).unwrap_or_default();
    (values, is_whole)
}

/// Returns the text of a file. Zeros are left out: UTF-16 has one beside each letter of ASCII, and programs such as `grep -a` print
/// what is around one. `None` for what is not text.
fn text_of(bytes: &[u8]) -> Option<String> {
    let size = bytes.len();
    let text = String::from_utf8_lossy(bytes).replace('\0', "");
    let unreadable = text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
    (unreadable <= size / UNREADABLE_SHARE + UNREADABLE_MIN).then_some(text)
}

/// The files below a folder whose values count.
#[derive(Debug, Default)]
struct Walked {
    files: Vec<PathBuf>,
    is_cut: bool,
}

/// Finds the files below a folder that hold keys by their names, the upper ones first. Nothing is skipped because it is
/// hidden or ignored. Links to folders are followed later, so that what they lead to takes no room from the folder itself; not
/// those into folders of the system. Last come folders of packages and caches: they are large, and what a person keeps is not
/// there, so a limit that is reached in them leaves nothing out that matters.
fn walk(root: &Path, halt: &Halt) -> Walked {
    let mut walked = Walked::default();
    let mut entries = 0;
    let mut folders = VecDeque::from([(root.to_path_buf(), 0, false)]);
    let (mut linked, mut made, mut seen) = (VecDeque::new(), VecDeque::new(), BTreeSet::new());
    while let Some((folder, depth, is_made)) =
        folders.pop_front().or_else(|| linked.pop_front()).or_else(|| made.pop_front())
    {
        let Ok(found) = folder.metadata() else { continue };
        if halt.rooms().is_closed(&found) || !seen.insert((found.dev(), found.ino())) {
            continue;
        }
        let Ok(list) = std::fs::read_dir(&folder) else { continue };
        let mut list: Vec<_> = list.flatten().take(ENTRIES_MAX).collect();
        // The same order everywhere, so that the same files count where there are too many.
        list.sort_unstable_by_key(std::fs::DirEntry::file_name);
        for entry in list {
            entries += 1;
            if entries > ENTRIES_MAX || walked.files.len() >= FILES_MAX || halt.reached() {
                walked.is_cut |= !is_made;
                return walked;
            }
            let path = entry.path();
            let name = path.to_string_lossy();
            let is_link = entry.file_type().as_ref().is_ok_and(FileType::is_symlink);
            if is_link && path.is_dir() {
                match depth < DEPTH_MAX {
                    true if is_of_system(&path) => {}
                    true => linked.push_back((path, depth + 1, is_made)),
                    false => walked.is_cut |= !is_made,
                }
            } else if entry.file_type().as_ref().is_ok_and(FileType::is_dir) {
                let is_made = is_made || entry.file_name() == PACKAGES || caches::is_cache(&path);
                match CLOSED.iter().any(|closed| entry.file_name() == *closed) {
                    true => walked.files.push(path.join(IN_CLOSED)),
                    false if depth < DEPTH_MAX && is_made => made.push_back((path, depth + 1, true)),
                    false if depth < DEPTH_MAX => folders.push_back((path, depth + 1, false)),
                    false => walked.is_cut |= !is_made,
                }
            } else if is_key_file(&name) || is_settings(&name) || may_be_key(&name) {
                walked.files.push(path);
            }
        }
    }
    walked
}

/// Returns whether a link leads into a folder of the system, where programs and libraries are.
fn is_of_system(link: &Path) -> bool {
    let target = link.canonicalize();
    target.is_ok_and(|target| SYSTEM.iter().any(|folder| target.starts_with(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(keys: &KeyFiles, task: &TaskId, cwd: &Path, named: &[&str]) -> KnownKeys {
        let named = named.iter().map(|name| cwd.join(name)).collect();
        keys.look(Some(task), cwd, &named, &Scrub::default(), &Halt::default())
    }

    fn files(known: &KnownKeys, text: &str) -> Vec<String> {
        known.of_files_in(text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn values_are_known_wherever_their_file_is() {
        let (folder, task) = (tempfile::tempdir().unwrap(), TaskId::mint("keys", 1));
        let at = |name: &str| folder.path().join(name);
        for dir in ["a/b/.hidden", ".git", "node_modules/x"] {
            std::fs::create_dir_all(at(dir)).unwrap();
        }
        for (name, text) in [
            (".env", "API_KEY=hunter2secret99\n"),
            (".gitignore", ".env\n"),
            ("a/b/.hidden/x.tfvars", "db_password = \"tr0ub4dor&3xy\"\n"),
            (".git/config", "[remote \"o\"]\nurl = https://ada:0token99xyz@git.example\n"),
            ("node_modules/x/.npmrc", "_authToken=np0m1a2b3c4\n"),
            ("application.properties", "spring.password=pr0pertypw\nbuild=4f9c02be71d38a65e0\n"),
            ("notes.txt", "KEY=notakeyfile99\n"),
        ] {
            std::fs::write(at(name), text).unwrap();
        }
        let keys = KeyFiles::default();
        let known_now = known(&keys, &task, folder.path(), &[]);
        for (text, file) in [
            ("x hunter2secret99 y", ".env"),
            ("99terces2retnuh", ".env"),
            ("aHVudGVyMnNlY3JldDk5", ".env"),
            ("tr0ub4dor&3xy", "a/b/.hidden/x.tfvars"),
            ("0token99xyz", ".git/config"),
            ("np0m1a2b3c4", "node_modules/x/.npmrc"),
            ("pr0pertypw", "application.properties"),
        ] {
            assert_eq!(files(&known_now, text), [format!("keys in {file}")], "{text}");
        }
        assert_eq!(files(&known_now, "notakeyfile99 4f9c02be71d38a65e0 API_KEY"), [""; 0]);
    }

    #[test]
    fn a_file_with_zeros_is_read_and_a_long_one_is_cut() {
        let utf16: Vec<u8> = std::iter::once(0xfeff)
            .chain("API_KEY=hunter2secret99\n".encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        let long = format!("{}API_KEY=hunter2secret99\n", "# padding\n".repeat(30_000));
        let noise: Vec<u8> = (0..4_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        for (name, bytes, is_known, is_cut) in [
            (".env", utf16, true, false),
            (".env", b"\0A=1\nAPI_KEY=hunter2\0secret99\n".to_vec(), true, false),
            (".env", long.clone().into_bytes(), false, true),
            ("config.json", long.into_bytes(), false, false),
            ("store.jks", noise, false, false),
        ] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), bytes).unwrap();
            let known = known(&KeyFiles::default(), &TaskId::mint("keys", 1), folder.path(), &[]);
            assert_eq!(
                (!files(&known, "hunter2secret99").is_empty(), known.is_cut()),
                (is_known, is_cut),
                "{name}"
            );
        }
    }

    #[test]
    fn links_to_folders_are_followed_once_and_last() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(other.path().join("conf")).unwrap();
        std::fs::write(other.path().join("conf/.env"), "API_KEY=hunter2secret99\n").unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a/b.env"), "").unwrap();
        for (target, link) in
            [(other.path(), "0"), (other.path(), "1"), (folder.path(), "up"), (Path::new("/usr"), "usr")]
        {
            std::os::unix::fs::symlink(target, folder.path().join(link)).unwrap();
        }
        let walked = walk(folder.path(), &Halt::default());
        assert_eq!(walked.files, ["a/b.env", "0/conf/.env"].map(|name| folder.path().join(name)));
        let known = known(&KeyFiles::default(), &TaskId::mint("keys", 1), folder.path(), &[]);
        assert_eq!(files(&known, "hunter2secret99"), ["keys in 0/conf/.env"]);
    }

    #[test]
    fn a_limit_that_is_reached_among_packages_cuts_nothing() {
        for (name, is_cut) in [("node_modules", false), ("__pycache__", false), ("src", true)] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::create_dir(folder.path().join("z")).unwrap();
            std::fs::write(folder.path().join("z/.env"), "").unwrap();
            for n in 0..=FILES_MAX {
                std::fs::write(folder.path().join(name).join(format!("{n}.env")), "").unwrap();
            }
            let walked = walk(folder.path(), &Halt::default());
            assert_eq!((walked.is_cut, walked.files.len()), (is_cut, FILES_MAX), "{name}");
            assert_eq!(walked.files.contains(&folder.path().join("z/.env")), !is_cut, "{name}");
        }
    }

    #[test]
    fn a_value_is_known_in_lower_case_where_it_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), "API_KEY=Hunter2Secret99\n").unwrap();
        let known = known(&KeyFiles::default(), &TaskId::mint("keys", 1), folder.path(), &[]);
        assert_eq!(known.all_in("GET https://hunter2secret99.example.org/"), [Secret::File(".env".into())]);
        assert_eq!(known.all_in("GET https://hunter.example.org/"), []);
    }

    #[test]
    fn what_changes_or_is_named_later_is_known_from_then_on() {
        let (folder, task) = (tempfile::tempdir().unwrap(), TaskId::mint("keys", 1));
        let env = folder.path().join(".env");
        std::fs::write(&env, "API_KEY=hunter2secret99\n").unwrap();
        let keys = KeyFiles::default();
        known(&keys, &task, folder.path(), &[]);
        std::fs::write(&env, "API_KEY=an0ther0value\n").unwrap();
        std::fs::write(folder.path().join("new.env"), "API_KEY=n3wer0value\n").unwrap();
        let later = known(&keys, &task, folder.path(), &[]);
        assert_eq!(files(&later, "hunter2secret99"), ["keys in .env"], "it was read before");
        assert_eq!(files(&later, "an0ther0value"), ["keys in .env"]);
        assert_eq!(files(&later, "n3wer0value"), [""; 0]);
        std::fs::remove_file(&env).unwrap();
        let last = known(&keys, &task, folder.path(), &["new.env"]);
        assert_eq!(files(&last, "n3wer0value an0ther0value"), ["keys in .env", "keys in new.env"]);
        // Another task starts with what is there, and this one too once it is forgotten.
        assert_eq!(
            files(&known(&keys, &TaskId::mint("keys", 2), folder.path(), &[]), "an0ther0value"),
            [""; 0]
        );
        keys.forget(&task);
        assert_eq!(files(&known(&keys, &task, folder.path(), &[]), "an0ther0value"), [""; 0]);
    }

    #[test]
    fn a_look_is_bounded_and_knows_when_it_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..=FILES_MAX {
            std::fs::write(folder.path().join(format!("{n:03}.env")), "").unwrap();
        }
        let walked = walk(folder.path(), &Halt::default());
        assert_eq!((walked.files.len(), walked.is_cut), (FILES_MAX, true));
        std::fs::remove_file(folder.path().join("000.env")).unwrap();
        let walked = walk(folder.path(), &Halt::default());
        assert_eq!((walked.files.len(), walked.is_cut), (FILES_MAX, false));
    }
}
