//! Resolves the paths of a call in the place where a task works.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use setpoint_protocol::record::Surroundings;

use crate::approval::resolve;
use crate::error::ToolError;
use crate::paths::{self, literal_path};
use crate::process::env;
use crate::tool::ToolCtx;

/// The place where a task works, for reading paths and commands.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) surroundings: paths::Surroundings,
    workspace: PathBuf,
    known_variables: BTreeMap<String, String>,
}

impl Place {
    pub(crate) fn new(surroundings: &Surroundings) -> Self {
        let workspace =
            if surroundings.workspace.is_empty() { &surroundings.cwd } else { &surroundings.workspace };
        Place {
            surroundings: paths::Surroundings {
                cwd: PathBuf::from(&surroundings.cwd),
                home: PathBuf::from(&surroundings.home),
                vars: surroundings.vars.clone(),
            },
            workspace: PathBuf::from(workspace),
            known_variables: env::known_for_task(surroundings),
        }
    }

    /// Returns the variables that a command may rely on.
    pub(crate) fn known_variables(&self) -> BTreeMap<String, String> {
        self.known_variables.clone()
    }

    /// Returns the path that a text names, for something that is read or created: relative paths start from the working
    /// directory.
    pub(crate) fn path(&self, field: &str, text: &str) -> Result<PathBuf, ToolError> {
        literal_path(text, &self.surroundings)
            .map_err(|source| ToolError::Path { field: field.to_owned(), source })
    }

    /// Returns whether a path, as seen from the working directory, is a link or leads through one. What is shown there may change
    /// by a change of a file with another name.
    pub(crate) fn follows_links(&self, path: &Path) -> bool {
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        path.ancestors().take_while(|above| !self.surroundings.cwd.starts_with(above)).any(is_link)
    }

    /// Returns the folder for files that the task generates.
    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }
}

impl ToolCtx {
    /// Returns the place of the task.
    pub(crate) fn place(&self) -> Place {
        Place::new(&self.surroundings)
    }

    /// Returns the path of something that exists.
    ///
    /// # Errors
    /// If the text is not a path, or the path leads into Setpoint's own house.
    pub(crate) fn existing(&self, field: &str, text: &str) -> Result<PathBuf, ToolError> {
        let path = physical(self.place().path(field, text)?);
        self.house.rooms().check(&path)?;
        Ok(path)
    }
}

/// Resolves `..` as the kernel does, which alone knows the parent of a link.
fn physical(path: PathBuf) -> PathBuf {
    if path.components().any(|part| part == Component::ParentDir) {
        resolve::parent_only(&path)
    } else {
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place::new(&Surroundings {
            cwd: "/project".to_owned(),
            home: "/own".to_owned(),
            workspace: "/space".to_owned(),
            vars: [("OUT".to_owned(), "out".to_owned())].into(),
            ..Surroundings::default()
        })
    }

    #[test]
    fn paths_start_from_the_working_directory() {
        for (text, path) in [
            ("a.txt", "/project/a.txt"),
            ("./a.txt", "/project/a.txt"),
            ("././/a.txt", "/project/a.txt"),
            ("sub/a.txt", "/project/sub/a.txt"),
            ("./sub/a.txt", "/project/sub/a.txt"),
            ("../a.txt", "/a.txt"),
            ("/x/a.txt", "/x/a.txt"),
            ("~/a.txt", "/own/a.txt"),
            ("$OUT", "/project/out"),
            ("${OUT}/a", "/project/out/a"),
            (".", "/project"),
        ] {
            assert_eq!(place().path("path", text).unwrap(), Path::new(path), "{text}");
        }
    }

    #[test]
    fn reading_starts_from_the_working_directory() {
        assert_eq!(place().path("path", "a.txt").unwrap(), Path::new("/project/a.txt"));
        let error = place().path("root", "$NOPE/x").unwrap_err().into_answer();
        assert_eq!(
            error.text,
            "failed to use the parameter `root`: expand the variable NOPE: only HOME, USER, TMPDIR, PWD and XDG \
             directories are known here, where they are set"
        );
    }
}
