//! Every command that reads a task also reads an exported file. This is the rule that decides which of the
//! two a name is.

use std::path::Path;
use std::sync::Arc;

use setpoint_app::{Error, ErrorKind, Organisation};
use setpoint_protocol::TaskId;

use crate::app::App;

/// The usual extension of an exported file.
const EXTENSION: &str = ".jsonl";

/// A task with the organisation that has it.
pub(super) struct LocatedTask {
    pub(super) organisation: Arc<dyn Organisation>,
    pub(super) task: TaskId,
}

/// Opens the task or file with this name. A name with a path separator, or that ends in `.jsonl`, is a file,
/// because no id looks like that. Any other is the beginning of a task's id, and a file only if no id begins
/// with it and such a file exists. An ambiguous beginning or an unreadable journal is reported as an error.
pub(super) async fn open(name: &str, app: &App<'_>) -> Result<LocatedTask, Error> {
    if is_path(name) {
        return open_file(name, app).await;
    }
    match open_task(name, app).await {
        Err(error) if error.kind == ErrorKind::Unknown && Path::new(name).is_file() => {
            open_file(name, app).await
        }
        found => found,
    }
}

fn is_path(name: &str) -> bool {
    name.contains(std::path::is_separator) || name.ends_with(EXTENSION)
}

async fn open_file(name: &str, app: &App<'_>) -> Result<LocatedTask, Error> {
    let (organisation, task) = app.host.open_exported(Path::new(name)).await?;
    Ok(LocatedTask { organisation, task })
}

async fn open_task(name: &str, app: &App<'_>) -> Result<LocatedTask, Error> {
    let organisation = app.host.open_without_models().await?;
    match organisation.resolve(name).await {
        Ok(task) => Ok(LocatedTask { organisation, task }),
        Err(error) => {
            super::shut_down(&organisation).await;
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_distinguished_from_an_id() {
        assert!(["./t", "/tmp/t", "a/b", "t.jsonl", "../count-the-files"].into_iter().all(is_path));
        assert!(!["t", "count-the-files-00000000000000a1", "t.json", "…"].into_iter().any(is_path));
    }
}
