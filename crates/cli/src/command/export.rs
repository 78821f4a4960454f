//! `tasks export`: a task's records as CloudEvents, one JSON object a line.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use setpoint_client::{ClientError, ErrorKind, Organisation};

use crate::exit::Exit;
use crate::io::Io;

pub(super) async fn export(
    organisation: &dyn Organisation,
    prefix: &str,
    output: Option<&Path>,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let task = organisation.resolve(prefix).await?;
    let lines = organisation.export(&task).await?;
    match output {
        None => {
            for line in &lines {
                io.out.json_line(line)?;
            }
        }
        Some(path) => write_whole(path, &lines).map_err(|error| {
            ClientError::new(ErrorKind::Usage, format!("failed to write {}: {error}", path.display()))
                .hint("name a file in a folder that exists, may be written and has room")
        })?,
    }
    Ok(Exit::DONE)
}

/// Writes the file under another name beside it and renames it once it is whole, so that nobody ever sees a part.
fn write_whole(path: &Path, lines: &[String]) -> io::Result<()> {
    let (partial, file) = create_beside(path)?;
    let written = write_lines(file, lines).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        // The first error says more than that the rest could not be cleared away.
        drop(fs::remove_file(&partial));
    }
    written
}

fn write_lines(file: File, lines: &[String]) -> io::Result<()> {
    let mut file = io::BufWriter::new(file);
    for line in lines {
        file.write_all(line.as_bytes())?;
        file.write_all(b"\n")?;
    }
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
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

/// Names tried for the unfinished file.
const PARTIAL_NAMES_MAX: u32 = 16;

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

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("task.jsonl");
        fs::write(&path, "before").unwrap();
        write_whole(&path, &["{}".to_owned(), "[]".to_owned()]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}\n[]\n");
        // A folder cannot be replaced by a file: nothing is left over.
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        fs::write(taken.join("x"), "").unwrap();
        assert!(write_whole(&taken, &["{}".to_owned()]).is_err());
        assert!(write_whole(&folder.path().join("none/task.jsonl"), &[]).is_err());
        assert_eq!(names(folder.path()), ["taken", "task.jsonl"]);
    }
}
