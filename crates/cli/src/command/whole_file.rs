//! A file that somebody else sees whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use setpoint_client::{ClientError, ErrorKind};

/// Names tried for the unfinished file.
const PARTIAL_NAMES_MAX: u32 = 16;

/// The file while it is written: under another name beside its own, which it gets once it is whole. Dropped before
/// that, it leaves nothing behind.
pub(super) struct WholeFile<'p> {
    path: &'p Path,
    partial: PathBuf,
    /// None once it is whole.
    file: Option<BufWriter<File>>,
}

impl<'p> WholeFile<'p> {
    pub(super) fn create(path: &'p Path) -> Result<Self, ClientError> {
        let (partial, file) = create_beside(path).map_err(|error| failed(path, &error))?;
        Ok(WholeFile { path, partial, file: Some(BufWriter::new(file)) })
    }

    pub(super) fn line(&mut self, line: &str) -> Result<(), ClientError> {
        self.text(line).and_then(|()| self.text("\n"))
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), ClientError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(text.as_bytes()).map_err(|error| failed(self.path, &error))
    }

    pub(super) fn finish(mut self) -> Result<(), ClientError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let written = file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.partial, self.path));
        written.map_err(|error| {
            self.clear_away();
            failed(self.path, &error)
        })
    }

    fn clear_away(&self) {
        // The first error says more than that the rest could not be cleared away.
        drop(fs::remove_file(&self.partial));
    }
}

impl Drop for WholeFile<'_> {
    fn drop(&mut self) {
        if self.file.is_some() {
            self.clear_away();
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> ClientError {
    ClientError::new(ErrorKind::Usage, format!("failed to write {}: {error}", path.display()))
        .hint("name a file in a folder that exists, may be written and has room")
}

/// A new file in the same folder. A name that is taken is left alone: somebody else may be writing it.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
    for n in 0..PARTIAL_NAMES_MAX {
        let mut partial = OsString::from(".");
        partial.push(name);
        partial.push(format!(".{}-{n}.part", std::process::id()));
        let partial = path.with_file_name(partial);
        match OpenOptions::new().write(true).create_new(true).open(&partial) {
            Ok(file) => return Ok((partial, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = error,
            Err(error) => return Err(error),
        }
    }
    Err(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn write(path: &Path, lines: &[&str]) -> Result<(), ClientError> {
        let mut file = WholeFile::create(path)?;
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
        // A folder cannot be replaced by a file: nothing is left over.
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        fs::write(taken.join("x"), "").unwrap();
        assert!(write(&taken, &["{}"]).is_err());
        assert!(write(&folder.path().join("none/task.jsonl"), &[]).is_err());
        assert_eq!(names(folder.path()), ["taken", "task.jsonl"]);
    }

    #[test]
    fn what_is_given_up_on_the_way_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.jsonl");
        let mut file = WholeFile::create(&path).unwrap();
        file.line("{}").unwrap();
        assert_eq!(names(folder.path()).len(), 1);
        drop(file);
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
