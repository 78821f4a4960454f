//! Where the paths of a call lead, in the place a task works in.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use setpoint_protocol::record::Surroundings;

use crate::approval::resolve;
use crate::error::ToolError;
use crate::paths::{self, literal_path};
use crate::process::env;
use crate::tool::ToolCtx;

/// The place, as the reading of paths and commands takes it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) surroundings: paths::Surroundings,
    workspace: PathBuf,
    known_variables: BTreeMap<String, String>,
    asked: String,
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
            asked: surroundings.asked.clone(),
        }
    }

    /// What a command may take for granted of its environment.
    pub(crate) fn known_variables(&self) -> BTreeMap<String, String> {
        self.known_variables.clone()
    }

    /// The path of something that is read: relative ones start from the working directory.
    pub(crate) fn reading(&self, field: &str, text: &str) -> Result<PathBuf, ToolError> {
        self.resolve(field, text)
    }

    /// The path of something that is generated: a bare name, `./name` too, goes to the workspace, so that scripts and
    /// notes do not litter the project; whoever writes a folder means it, and a name that the person's words hold, or that
    /// is in the working directory, means the file there: a copy elsewhere would be read in its place.
    pub(crate) fn generating(&self, field: &str, text: &str) -> Result<PathBuf, ToolError> {
        let meant = self.resolve(field, text)?;
        let Some(name) = bare_name(text) else { return Ok(meant) };
        match self.named(name) {
            Some(Named::Bare) => Ok(meant),
            _ if is_there(&meant) => Ok(meant),
            Some(Named::Below(path)) => Err(ToolError::parameter(
                field,
                format!("`{name}` could be {path}, which the goal names: write the folder, too"),
            )),
            None => Ok(self.workspace.join(name)),
        }
    }

    /// How the person's words hold `name`: by itself, also with the working directory before it, or below some other
    /// folder.
    fn named(&self, name: &str) -> Option<Named<'_>> {
        let asked = self.asked.as_str();
        let mut below = None;
        for (at, _) in asked.match_indices(name) {
            let (before, after) = (asked.get(..at)?, asked.get(at + name.len()..)?);
            if !ends_here(after) || before.ends_with(is_of_a_name) {
                continue;
            }
            if !before.ends_with('/') {
                return Some(Named::Bare);
            }
            let start = before.rfind(|c: char| c.is_whitespace() || QUOTES.contains(c)).map_or(0, |quote| {
                quote + before.get(quote..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
            });
            let path = asked.get(start..at + name.len())?;
            match literal_path(path, &self.surroundings) {
                _ if path.contains("://") => {}
                Ok(meant) if meant == self.surroundings.cwd.join(name) => return Some(Named::Bare),
                _ => below = below.or(Some(Named::Below(path))),
            }
        }
        below
    }

    /// The folder for files that the task generates.
    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    fn resolve(&self, field: &str, text: &str) -> Result<PathBuf, ToolError> {
        literal_path(text, &self.surroundings)
            .map_err(|source| ToolError::Path { field: field.to_owned(), source })
    }
}

impl ToolCtx {
    /// The place of the task.
    pub(crate) fn place(&self) -> Place {
        Place::new(&self.surroundings)
    }

    /// The path of something that is read, as [`Place::reading`] has it; but a bare name that is only in the workspace,
    /// or that this task generated there, means that one: whoever wrote `report.md` finds it under that name. Not where the
    /// person's words name it: a copy that the task hid in its workspace is not what was asked for.
    ///
    /// # Errors
    /// When the text is no path, or the path leads into Setpoint's own house.
    pub(crate) fn existing(&self, field: &str, text: &str) -> Result<PathBuf, ToolError> {
        let path = physical(self.existing_anywhere(field, text)?);
        self.house.rooms().check(&path)?;
        Ok(path)
    }

    fn existing_anywhere(&self, field: &str, text: &str) -> Result<PathBuf, ToolError> {
        let place = self.place();
        let path = place.reading(field, text)?;
        let Some(name) = bare_name(text) else { return Ok(path) };
        if matches!(place.named(name), Some(Named::Bare)) {
            return Ok(path);
        }
        let generated = place.workspace.join(name);
        let is_ours = self.created.contains(&generated) || (!is_there(&path) && is_there(&generated));
        Ok(if is_ours { generated } else { path })
    }
}

/// How the person's words name a file.
enum Named<'w> {
    /// As one of the working directory.
    Bare,
    /// As this one.
    Below(&'w str),
}

/// What a name may stand in.
const QUOTES: &str = "\"'`“”‘’«»(<[{=,;";

/// Whether a name ends where `after` begins: not inside of a longer one, and not as a folder.
fn ends_here(after: &str) -> bool {
    let mut next = after.chars();
    match next.next() {
        Some('/') => false,
        Some('.') => !next.next().is_some_and(is_of_a_name),
        Some(c) => !is_of_a_name(c),
        None => true,
    }
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// A path without `..`: the kernel's word on where the parent of a link is.
fn physical(path: PathBuf) -> PathBuf {
    if path.components().any(|part| part == Component::ParentDir) {
        resolve::parent_only(&path)
    } else {
        path
    }
}

fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// The name in `name` and `./name`.
fn bare_name(text: &str) -> Option<&str> {
    let mut name = text;
    while let Some(rest) = name.strip_prefix("./") {
        name = rest.trim_start_matches('/');
    }
    let is_bare = !name.is_empty()
        && name != "."
        && name != ".."
        && !name.contains(['/', '$'])
        && !name.starts_with('~');
    is_bare.then_some(name)
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
            asked: "write named.md, conf/config.toml, ./dot.md, '/project/whole.md' and copy https://x/web.csv to docs/. \
                    Keep old.named.txt."
                .to_owned(),
            ..Surroundings::default()
        })
    }

    #[test]
    fn a_name_in_the_persons_words_means_the_working_directory() {
        for (text, path) in [
            ("named.md", "/project/named.md"),
            ("./named.md", "/project/named.md"),
            ("dot.md", "/project/dot.md"),
            ("whole.md", "/project/whole.md"),
            ("web.csv", "/space/web.csv"),
            ("named", "/space/named"),
            ("named.txt", "/space/named.txt"),
            ("docs", "/space/docs"),
        ] {
            assert_eq!(place().generating("path", text).unwrap(), Path::new(path), "{text}");
        }
        let error = place().generating("path", "config.toml").unwrap_err().into_answer();
        assert_eq!(
            error.text,
            "failed to use the parameter `path`: `config.toml` could be conf/config.toml, which the goal names: write the \
             folder, too"
        );
    }

    #[test]
    fn bare_names_are_generated_in_the_workspace() {
        for (text, path) in [
            ("a.txt", "/space/a.txt"),
            ("./a.txt", "/space/a.txt"),
            ("././/a.txt", "/space/a.txt"),
            ("sub/a.txt", "/project/sub/a.txt"),
            ("./sub/a.txt", "/project/sub/a.txt"),
            ("../a.txt", "/a.txt"),
            ("/x/a.txt", "/x/a.txt"),
            ("~/a.txt", "/own/a.txt"),
            ("$OUT", "/project/out"),
            ("${OUT}/a", "/project/out/a"),
            (".", "/project"),
        ] {
            assert_eq!(place().generating("path", text).unwrap(), Path::new(path), "{text}");
        }
    }

    #[test]
    fn reading_starts_from_the_working_directory() {
        assert_eq!(place().reading("path", "a.txt").unwrap(), Path::new("/project/a.txt"));
        let error = place().reading("root", "$NOPE/x").unwrap_err().into_answer();
        assert_eq!(
            error.text,
            "failed to use the parameter `root`: expand the variable NOPE: only HOME, USER, TMPDIR, PWD and XDG \
             directories are known here, where they are set"
        );
    }

    #[test]
    fn a_generated_name_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let [cwd, workspace] = ["project", "space"].map(|name| folder.path().join(name));
        for path in [&cwd, &workspace] {
            std::fs::create_dir(path).unwrap();
        }
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let mut ctx = ToolCtx::new(Surroundings {
            cwd: text(&cwd),
            workspace: text(&workspace),
            ..Surroundings::default()
        });
        assert_eq!(ctx.existing("path", "a").unwrap(), cwd.join("a"));
        // What is there is meant, and no copy beside it.
        std::fs::write(cwd.join("b"), "the person's").unwrap();
        assert_eq!(ctx.place().generating("path", "b").unwrap(), cwd.join("b"));
        assert_eq!(ctx.place().generating("path", "./c").unwrap(), workspace.join("c"));
        std::fs::write(workspace.join("a"), "generated").unwrap();
        assert_eq!(ctx.existing("path", "a").unwrap(), workspace.join("a"));
        std::fs::write(cwd.join("a"), "the project's own").unwrap();
        assert_eq!(ctx.existing("path", "a").unwrap(), cwd.join("a"));
        ctx.created.insert(workspace.join("a"));
        assert_eq!(ctx.existing("path", "./a").unwrap(), workspace.join("a"));
        // A copy in the workspace of what the person named is not what they named.
        let named =
            Surroundings { asked: "write `a` and b".to_owned(), ..Surroundings::clone(&ctx.surroundings) };
        ctx.surroundings = named.into();
        assert_eq!(ctx.existing("path", "./a").unwrap(), cwd.join("a"));
    }
}
