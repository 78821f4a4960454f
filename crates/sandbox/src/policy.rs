//! What a sandboxed program may see and do, as data.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Maximum folders in a policy.
pub const FOLDERS_MAX: usize = 64;
/// Maximum hidden places in a policy.
pub const HIDDEN_MAX: usize = 64;

/// What a program may see and do. Beside the folders named here it sees the read-only programs and libraries of the
/// system, and empty folders of its own for temporary files. It has no network but a loopback interface that nothing
/// outside of sandboxes uses, and no other process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The folders it sees. A folder below another lies over it.
    pub folders: Vec<Folder>,
    /// Files and folders below those that it does not see: a folder appears empty, a file too.
    pub hidden: Vec<PathBuf>,
    /// The home folder: empty but for the folders above that lie below it.
    pub home: PathBuf,
    /// The folder in which the program starts.
    pub cwd: PathBuf,
    /// What the program may use up.
    pub limits: Limits,
    /// The sandbox whose loopback interface it uses; without one it has its own.
    #[serde(default)]
    pub beside: Option<Outer>,
}

/// The outer stage of a running sandbox of the same user. Both numbers together mean this process for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outer {
    /// Its process number.
    pub pid: u32,
    /// When it started, in the kernel's ticks from boot.
    pub started: u64,
}

/// A folder that the program sees under its own path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folder {
    /// Where it is; absolute, without `..`.
    pub path: PathBuf,
    /// What the program may do there.
    pub access: Access,
}

/// What a program may do in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Access {
    /// Reads and executes.
    Read,
    /// Changes it. A process outside that listens at a socket in it can be talked to.
    Write,
    /// Sees its changes, which are kept in the folder `layer` and nowhere else.
    Keep {
        /// An empty folder on the same machine; it gets the sub-folders `changes` and `work`.
        layer: PathBuf,
    },
    /// Sees its changes, which are gone when it ends.
    Discard,
}

/// What a program may use up. A process that reaches a limit gets the system's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Processes and threads at one time.
    pub processes: u64,
    /// Data of each process, in bytes.
    pub data_bytes: u64,
    /// Size of a file that it writes, in bytes.
    pub file_bytes: u64,
    /// Open files of each process.
    pub open_files: u64,
    /// Temporary files, and changes that are discarded, in bytes. They take memory.
    pub scratch_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            processes: 1_024,
            data_bytes: 8 << 30,
            file_bytes: 4 << 30,
            open_files: 4_096,
            scratch_bytes: 1 << 30,
        }
    }
}

/// Why a policy cannot be enforced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A path is relative or has `..` or a NUL character.
    #[error("{} is not an absolute path without `..`", .0.display())]
    Path(PathBuf),
    /// The root folder may not be handed out.
    #[error("the root folder cannot be a folder of a sandbox")]
    Root,
    /// A program could change what was kept of its changes.
    #[error("the layer {} lies in a folder of the sandbox, or is used twice", .0.display())]
    Layer(PathBuf),
    /// A path is named twice.
    #[error("{} is named twice", .0.display())]
    Twice(PathBuf),
    /// A place is both hidden and a folder.
    #[error("{} is both a folder and hidden", .0.display())]
    Contradiction(PathBuf),
    /// The program would start in a place that it does not see.
    #[error("the program would start in {}, which is in none of its folders", .0.display())]
    Cwd(PathBuf),
    /// There are more than [`FOLDERS_MAX`] folders or [`HIDDEN_MAX`] hidden places.
    #[error("it names {given} {what}; at most {max} are allowed")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many there are.
        given: usize,
        /// The maximum.
        max: usize,
    },
}

impl Policy {
    /// Returns the policy if it can be enforced, its folders from the outside in.
    ///
    /// # Errors
    /// If paths contradict each other or are not absolute, or there are too many.
    pub fn checked(mut self) -> Result<Self, PolicyError> {
        for (what, given, max) in
            [("folders", self.folders.len(), FOLDERS_MAX), ("hidden places", self.hidden.len(), HIDDEN_MAX)]
        {
            if given > max {
                return Err(PolicyError::TooMany { what, given, max });
            }
        }
        let layers: Vec<_> = self
            .folders
            .iter()
            .filter_map(|folder| match &folder.access {
                Access::Keep { layer } => Some(layer),
                Access::Read | Access::Write | Access::Discard => None,
            })
            .collect();
        let folders = self.folders.iter().map(|folder| &folder.path);
        for path in folders.chain(layers.iter().copied()).chain(&self.hidden).chain([&self.home, &self.cwd]) {
            check_path(path)?;
        }
        let mut named = BTreeSet::new();
        for Folder { path, .. } in &self.folders {
            if path.parent().is_none() || self.home.parent().is_none() {
                return Err(PolicyError::Root);
            }
            if !named.insert(path) {
                return Err(PolicyError::Twice(path.clone()));
            }
        }
        if let Some(path) = self.hidden.iter().find(|path| named.contains(path)) {
            return Err(PolicyError::Contradiction((*path).clone()));
        }
        let sees = |path: &Path| self.folders.iter().any(|folder| path.starts_with(&folder.path));
        let mut used = BTreeSet::new();
        if let Some(layer) = layers.into_iter().find(|layer| sees(layer) || !used.insert(*layer)) {
            return Err(PolicyError::Layer(layer.clone()));
        }
        let is_hidden = |path: &Path| self.hidden.iter().any(|hidden| path.starts_with(hidden));
        if !sees(&self.cwd) || is_hidden(&self.cwd) {
            return Err(PolicyError::Cwd(self.cwd));
        }
        self.folders.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(self)
    }
}

fn check_path(path: &Path) -> Result<(), PolicyError> {
    let is_plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    let has_nul = path.as_os_str().as_encoded_bytes().contains(&0);
    if path.is_absolute() && path.components().all(is_plain) && !has_nul {
        return Ok(());
    }
    Err(PolicyError::Path(path.to_path_buf()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(folders: &[&str], hidden: &[&str], cwd: &str) -> Result<Policy, PolicyError> {
        let folder = |path: &&str| Folder { path: path.into(), access: Access::Read };
        Policy {
            folders: folders.iter().map(folder).collect(),
            hidden: hidden.iter().map(PathBuf::from).collect(),
            home: "/home/ada".into(),
            cwd: cwd.into(),
            limits: Limits::default(),
            beside: None,
        }
        .checked()
    }

    #[test]
    fn a_policy_that_contradicts_itself_is_refused() {
        for (folders, hidden, cwd, error) in [
            (&["/w", "/w"][..], &[][..], "/w", "/w is named twice"),
            (&["/w"], &["/w"], "/w", "/w is both a folder and hidden"),
            (&["w"], &[], "/w", "w is not an absolute path without `..`"),
            (&["/w/../etc"], &[], "/w", "/w/../etc is not an absolute path without `..`"),
            (&["/w\0"], &[], "/w", "/w\0 is not an absolute path without `..`"),
            (&["/"], &[], "/w", "the root folder cannot be a folder of a sandbox"),
            (&["/w"], &[], "/v", "the program would start in /v, which is in none of its folders"),
            (
                &["/w"],
                &["/w/a"],
                "/w/a/b",
                "the program would start in /w/a/b, which is in none of its folders",
            ),
        ] {
            assert_eq!(policy(folders, hidden, cwd).unwrap_err().to_string(), error);
        }
        let many: Vec<String> = (0..=FOLDERS_MAX).map(|n| format!("/{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(
            policy(&many, &[], "/0").unwrap_err().to_string(),
            "it names 65 folders; at most 64 are allowed"
        );
    }

    #[test]
    fn a_layer_in_sight_of_the_program_is_refused() {
        let layered = |folders: &[(&str, &str)]| {
            let folder = |(path, layer): &(&str, &str)| Folder {
                path: path.into(),
                access: Access::Keep { layer: layer.into() },
            };
            Policy {
                folders: folders.iter().map(folder).collect(),
                hidden: Vec::new(),
                home: "/home/ada".into(),
                cwd: "/w".into(),
                limits: Limits::default(),
                beside: None,
            }
            .checked()
        };
        assert!(layered(&[("/w", "/layers/w"), ("/v", "/layers/v")]).is_ok());
        for folders in [&[("/w", "/w/layer")][..], &[("/w", "/w")], &[("/w", "/l"), ("/v", "/l")]] {
            assert!(matches!(layered(folders), Err(PolicyError::Layer(_))), "{folders:?}");
        }
    }

    #[test]
    fn inner_folders_come_after_outer_ones() {
        let policy = policy(&["/w/a/b", "/w", "/w/a"], &[], "/w").unwrap();
        let paths: Vec<_> = policy.folders.iter().map(|folder| folder.path.to_string_lossy()).collect();
        assert_eq!(paths, ["/w", "/w/a", "/w/a/b"]);
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let text = r#"{"folders": [], "hidden": [], "home": "/h", "cwd": "/w", "limits": {}, "net": true}"#;
        let error = serde_json::from_str::<Policy>(text).unwrap_err();
        assert!(error.to_string().starts_with("unknown field `net`"), "{error}");
    }
}
