//! Whatever reads a task reads an exported file as well. This is the rule by which a name is one or the other.

use std::path::Path;
use std::sync::Arc;

use setpoint_app::{Error, ErrorKind, Organisation};
use setpoint_protocol::TaskId;

use crate::app::App;

/// What an exported file ends in, unless somebody calls it otherwise.
const EXTENSION: &str = ".jsonl";

/// A task with the organisation that has it.
pub(super) struct Named {
    pub(super) organisation: Arc<dyn Organisation>,
    pub(super) task: TaskId,
}

/// Opens what is called so. A name with a separator of paths in it, or that ends in `.jsonl`, is a file: no id looks like
/// that. Any other is the beginning of an id, and a file only where it begins none and there is such a file: what begins
/// several, or a journal that cannot be read, is said and not passed over.
pub(super) async fn open(name: &str, app: &App<'_>) -> Result<Named, Error> {
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

async fn open_file(name: &str, app: &App<'_>) -> Result<Named, Error> {
    let (organisation, task) = app.host.open_exported(Path::new(name)).await?;
    Ok(Named { organisation, task })
}

async fn open_task(name: &str, app: &App<'_>) -> Result<Named, Error> {
    let organisation = app.host.open_without_models().await?;
    match organisation.resolve(name).await {
        Ok(task) => Ok(Named { organisation, task }),
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
    fn a_path_is_told_from_an_id() {
        assert!(["./t", "/tmp/t", "a/b", "t.jsonl", "../count-the-files"].into_iter().all(is_path));
        assert!(!["t", "count-the-files-00000000000000a1", "t.json", "…"].into_iter().any(is_path));
    }
}
