//! Every command that reads a task also reads an exported file. This is the rule that decides which of the
//! two a name is.

use std::path::Path;
use std::sync::Arc;

use setpoint_app::{Error, ErrorKind, Organisation};
use setpoint_protocol::TaskId;

use crate::app::App;

/// The usual extension of an exported file.
const EXTENSION: &str = ".jsonl";

/// Runs `work` with the task or file of this name, and releases it even if `work` failed. A name with a path separator,
/// or that ends in `.jsonl`, is a file, because no id looks like that. Any other is the start or end of a task's
/// id, and a file only if no id fits and such a file exists. An ambiguous name or an unreadable journal is reported as an
/// error.
pub(super) async fn opened<T>(
    name: &str,
    app: &App<'_>,
    work: impl AsyncFnOnce(&dyn Organisation, TaskId) -> Result<T, Error>,
) -> Result<T, Error> {
    let file = Path::new(name);
    let found = if is_path(name) { app.host.open_exported(file).await } else { open_task(name, app).await };
    let (organisation, task) = match found {
        Err(error) if error.kind == ErrorKind::Unknown && !is_path(name) && file.is_file() => {
            app.host.open_exported(file).await?
        }
        found => found?,
    };
    let done = work(&*organisation, task).await;
    super::shut_down(&organisation).await;
    done
}

fn is_path(name: &str) -> bool {
    name.contains(std::path::is_separator) || name.ends_with(EXTENSION)
}

async fn open_task(name: &str, app: &App<'_>) -> Result<(Arc<dyn Organisation>, TaskId), Error> {
    let organisation = app.host.open_without_models().await?;
    match organisation.resolve(name).await {
        Ok(task) => Ok((organisation, task)),
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
