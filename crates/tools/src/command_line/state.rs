//! What is known at a point of a script: the values of variables and the directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::argument::{Argument, ArgumentKind};
use super::verdict::{Reason, Target};
use crate::paths::{Surroundings, absolute_in};

/// More directories than this are as good as unknown.
const DIRECTORIES_MAX: usize = 4;

/// What a variable may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Exactly this.
    Known(String),
    /// A number, or nothing yet.
    Numeric,
    /// Some word without blanks and wildcards that is no flag.
    Plain,
    Unknown,
}

/// The directories in which a command may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Directories {
    /// One of these.
    OneOf(BTreeSet<PathBuf>),
    Unknown,
}

impl Directories {
    pub(super) fn only(path: PathBuf) -> Self {
        Self::OneOf(BTreeSet::from([path]))
    }

    /// The command is never reached.
    pub(super) fn none() -> Self {
        Self::OneOf(BTreeSet::new())
    }

    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::OneOf(mut these), Self::OneOf(others)) => {
                these.extend(others);
                if these.len() > DIRECTORIES_MAX { Self::Unknown } else { Self::OneOf(these) }
            }
            _ => Self::Unknown,
        }
    }

    pub(super) fn single(&self) -> Option<&Path> {
        match self {
            Self::OneOf(paths) if paths.len() == 1 => paths.first().map(PathBuf::as_path),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct State {
    home: PathBuf,
    variables: BTreeMap<String, Value>,
    /// Names that programs get to see.
    exported: BTreeSet<String>,
    pub(super) directories: Directories,
}

impl State {
    pub(super) fn new(surroundings: &Surroundings) -> Self {
        let variables = surroundings
            .vars
            .iter()
            .map(|(name, value)| (name.clone(), Value::Known(value.clone())))
            .collect();
        Self {
            home: surroundings.home.clone(),
            variables,
            exported: surroundings.vars.keys().cloned().collect(),
            directories: Directories::only(surroundings.cwd.clone()),
        }
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    pub(super) fn value(&self, name: &str) -> Value {
        match name {
            "HOME" => Value::Known(self.home.to_string_lossy().into_owned()),
            "PWD" => match self.directories.single() {
                Some(path) => Value::Known(path.to_string_lossy().into_owned()),
                None => Value::Unknown,
            },
            _ => self.variables.get(name).cloned().unwrap_or(Value::Unknown),
        }
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.variables.insert(name.to_owned(), value);
    }

    /// Whether programs that run later get this variable.
    pub(super) fn is_exported(&self, name: &str) -> bool {
        self.exported.contains(name)
    }

    /// The absolute paths that an argument may name here; an empty list where that is not known.
    pub(super) fn paths(&self, argument: &Argument) -> Vec<PathBuf> {
        if matches!(argument.kind, ArgumentKind::Unknown { .. }) || argument.text.is_empty() {
            return Vec::new();
        }
        let path = Path::new(&argument.text);
        if path.is_absolute() {
            return absolute_in(path, path).into_iter().collect();
        }
        match &self.directories {
            Directories::OneOf(bases) => {
                bases.iter().filter_map(|base| absolute_in(path, base).ok()).collect()
            }
            Directories::Unknown => Vec::new(),
        }
    }

    /// What `program` touches when it writes or removes `argument`.
    ///
    /// # Errors
    /// When the path is not known.
    pub(super) fn targets(
        &self,
        program: &str,
        argument: &Argument,
        recursive: bool,
    ) -> Result<Vec<Target>, Reason> {
        let paths = self.paths(argument);
        if paths.is_empty() {
            return Err(Reason::unknown_path(program));
        }
        let pattern = matches!(argument.kind, ArgumentKind::Pattern);
        Ok(paths.into_iter().map(|path| Target { path, pattern, recursive }).collect())
    }
}
