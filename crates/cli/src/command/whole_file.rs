//! A file that other processes see complete or not at all.

use std::fs::{self, Metadata};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use setpoint_app::{Error, ErrorKind};
use setpoint_own_files::whole::Draft;
use setpoint_scrub::{Scrub, Stream};

/// The hint for an `--output` that is not a file.
pub(super) const OR_STANDARD_OUTPUT: &str = "name a new file or one that may be replaced, or omit `--output` and \
                                             redirect standard output";
/// The hint for an `--html` that is not a file.
pub(super) const NAME_A_PAGE: &str =
    "name a new file or one that may be replaced, such as `--html task.html`";

/// The mode of a new file: only its owner can read the content of a task or of memory, and can loosen it.
const NEW_MODE: u32 = 0o600;
/// The part of a replaced file's mode that is kept: who may read, write and run it.
const KEPT_MODE: u32 = 0o777;

/// A file being written: it gets its name when it is complete, and is removed if it is dropped before.
pub(super) struct WholeFile<'p> {
    path: &'p Path,
    draft: BufWriter<Draft>,
    keys: Stream,
}

impl<'p> WholeFile<'p> {
    /// Starts a file for `path`, which gets none of these keys. `hint` says what to do if there is something other than a
    /// file at `path`.
    pub(super) fn create(path: &'p Path, hint: &str, keys: &Scrub) -> Result<Self, Error> {
        let place = Place::of(path, hint)?;
        let draft = Draft::with_mode(&place.path, place.mode).map_err(|error| failed(path, &error))?;
        Ok(WholeFile { path, draft: BufWriter::new(draft), keys: Stream::new(keys.clone()) })
    }

    pub(super) fn line(&mut self, line: &str) -> Result<(), Error> {
        self.text(line).and_then(|()| self.text("\n"))
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), Error> {
        let clean = self.keys.push(text.as_bytes());
        self.draft.write_all(&clean).map_err(|error| failed(self.path, &error))
    }

    pub(super) fn finish(mut self) -> Result<(), Error> {
        let held = self.keys.release();
        self.draft.write_all(&held).map_err(|error| failed(self.path, &error))?;
        let draft = self.draft.into_inner().map_err(io::IntoInnerError::into_error);
        draft.and_then(Draft::finish).map_err(|error| failed(self.path, &error))
    }
}

struct Place {
    /// The named path, or the target of the link that is named.
    path: PathBuf,
    mode: u32,
}

impl Place {
    /// Only a file is replaced. A device, a pipe or a folder is refused, and a link is followed, not
    /// replaced.
    fn of(path: &Path, hint: &str) -> Result<Self, Error> {
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Place { path: path.to_owned(), mode: NEW_MODE });
            }
            Err(error) => return Err(failed(path, &error)),
        };
        let (path, found) = match found.is_symlink() {
            false => (path.to_owned(), found),
            true => {
                let whole = fs::canonicalize(path).and_then(|whole| Ok((fs::metadata(&whole)?, whole)));
                let (found, whole) = whole.map_err(|error| match error.kind() {
                    io::ErrorKind::NotFound => refused(path, "it is a broken link", hint),
                    _ => failed(path, &error),
                })?;
                (whole, found)
            }
        };
        if !found.is_file() {
            return Err(refused(&path, &format!("it is {}", kind_of(&found)), hint));
        }
        Ok(Place { path, mode: found.permissions().mode() & KEPT_MODE })
    }
}

fn kind_of(found: &Metadata) -> &'static str {
    let kind = found.file_type();
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "no file"
    }
}

fn refused(path: &Path, why: &str, hint: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("failed to write {}: {why}", path.display())).hint(hint)
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::new(ErrorKind::Usage, format!("failed to write {}: {error}", path.display()))
        .hint("name a file in a folder that exists, is writable and has free space")
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::symlink;

    use super::*;

    const HINT: &str = "name another";

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn write(path: &Path, lines: &[&str]) -> Result<(), Error> {
        let mut file = WholeFile::create(path, HINT, &Scrub::default())?;
        for line in lines {
            file.line(line)?;
        }
        file.finish()
    }

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("task.jsonl");
        fs::write(&path, "before").unwrap();
        write(&path, &["{}", "[]"]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}\n[]\n");
        // A file cannot replace a folder: the draft is removed.
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        fs::write(taken.join("x"), "").unwrap();
        assert!(write(&taken, &["{}"]).is_err());
        assert!(write(&folder.path().join("none/task.jsonl"), &[]).is_err());
        assert_eq!(names(folder.path()), ["taken", "task.jsonl"]);
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_new_file_is_its_owners_and_a_replaced_one_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("task.jsonl");
        write(&path, &["{}"]).unwrap();
        assert_eq!(mode(&path), 0o600);
        for kept in [0o640, 0o604, 0o400] {
            fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
            // No other user can read it before it is complete.
            let file = WholeFile::create(&path, HINT, &Scrub::default()).unwrap();
            let drafts = names(folder.path()).into_iter().filter(|name| name != "task.jsonl");
            let modes: Vec<u32> = drafts.map(|draft| mode(&folder.path().join(draft))).collect();
            assert_eq!(modes, [0o600]);
            file.finish().unwrap();
            assert_eq!(mode(&path), kept);
        }
    }

    #[test]
    fn a_link_is_kept_and_its_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("there/task.jsonl"), folder.path().join("link"));
        fs::create_dir(folder.path().join("there")).unwrap();
        fs::write(&path, "before").unwrap();
        symlink("there/task.jsonl", &link).unwrap();
        let second = folder.path().join("second");
        symlink(&link, &second).unwrap();
        write(&second, &["{}"]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}\n");
        assert!(link.is_symlink() && second.is_symlink());
        assert_eq!(names(folder.path()), ["link", "second", "there"]);
        assert_eq!(names(&folder.path().join("there")), ["task.jsonl"]);
    }

    #[test]
    fn only_a_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("folder")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        symlink("gone", at("nowhere")).unwrap();
        symlink("pipe", at("to the pipe")).unwrap();
        symlink("/dev/null", at("to a device")).unwrap();
        let before = names(folder.path());
        for (name, why) in [
            ("folder", "it is a folder"),
            ("socket", "it is a socket"),
            ("pipe", "it is a pipe"),
            ("nowhere", "it is a broken link"),
            ("to the pipe", "it is a pipe"),
            ("to a device", "it is a device"),
        ] {
            let error = write(&at(name), &["{}"]).unwrap_err();
            assert!(error.message.ends_with(why) && error.hints == [HINT], "{name}: {error:?}");
            assert_eq!((error.kind, names(folder.path())), (ErrorKind::Usage, before.clone()), "{name}");
        }
        assert!(fs::metadata(at("pipe")).unwrap().file_type().is_fifo());
        drop(socket);
    }

    #[test]
    fn a_key_is_not_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("task.html");
        let keys = Scrub::named(&[("K".to_owned(), "sk-proj-Zq81LmXv0TtR5bNc".into())]);
        let mut file = WholeFile::create(&path, HINT, &keys).unwrap();
        file.text("<p>it is sk-proj-Zq8").unwrap();
        file.text("1LmXv0TtR5bNc, and sk-").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "<p>it is [key K], and sk-");
    }

    #[test]
    fn an_abandoned_write_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        let mut file = WholeFile::create(&path, HINT, &Scrub::default()).unwrap();
        file.line("{}").unwrap();
        assert_eq!(names(folder.path()).len(), 1);
        drop(file);
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
