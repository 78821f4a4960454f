//! The machine and directories that a task opens in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use setpoint_protocol::record::Surroundings;

/// Environment variables that paths of a task may name.
const PATH_VARS: &[&str] =
    &["HOME", "USER", "LOGNAME", "TMPDIR", "PWD", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"];

/// The directories of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directories {
    /// Configuration: `$XDG_CONFIG_HOME/setpoint`.
    pub config: PathBuf,
    /// Journal, workspaces, logs: `$SETPOINT_DATA_DIR`, or `$XDG_DATA_HOME/setpoint`.
    pub data: PathBuf,
    /// The default data directory, if another one is in use. Tools may not enter it either, because it may contain a
    /// key and a journal.
    pub data_elsewhere: Vec<PathBuf>,
    /// Whether the configuration directory may have come with the working directory: no home directory is known, and
    /// the data directory that contains it is relative or below the working directory.
    pub is_config_foreign: bool,
}

/// Why the environment names no directory for the program's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoHome {
    /// No variable names a home directory.
    #[error("find a home directory: neither HOME nor SETPOINT_DATA_DIR is set")]
    Unset,
    /// `HOME` is relative, so it depends on the working directory.
    #[error("find a home directory: HOME is not an absolute path")]
    Relative,
}

impl Directories {
    /// Reads the directories from the environment (XDG Base Directory Specification), relative to the working
    /// directory.
    ///
    /// # Errors
    /// If no home directory is known.
    pub fn from_env(env: &BTreeMap<String, String>, cwd: &Path) -> Result<Self, NoHome> {
        let get =
            |name: &str| env.get(name).filter(|value| Path::new(value).is_absolute()).map(PathBuf::from);
        let home = get("HOME");
        let is_home_set = env.get("HOME").is_some_and(|home| !home.is_empty());
        let no_home = if is_home_set { NoHome::Relative } else { NoHome::Unset };
        let usual = get("XDG_DATA_HOME").or_else(|| home.as_ref().map(|home| home.join(".local/share")));
        let usual = usual.map(|base| base.join("setpoint"));
        let named = match env.get("SETPOINT_DATA_DIR").filter(|value| !value.is_empty()) {
            Some(dir) => PathBuf::from(dir),
            None => usual.clone().ok_or(no_home)?,
        };
        // A relative data directory is resolved now, because the working directory may change later.
        let data = cwd.join(&named);
        let own = get("XDG_CONFIG_HOME").or_else(|| home.map(|home| home.join(".config")));
        let is_config_foreign = own.is_none() && (named.is_relative() || is_below(&data, cwd));
        let config = own.map_or_else(|| data.join("config"), |base| base.join("setpoint"));
        let data_elsewhere = usual.into_iter().filter(|usual| *usual != data).collect();
        Ok(Directories { config, data, data_elsewhere, is_config_foreign })
    }

    /// Returns the folder of the journal.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.data.join("journal")
    }

    /// Returns the folder of memory.
    #[must_use]
    pub fn memory(&self) -> PathBuf {
        self.data.join("memory")
    }

    /// Returns the folder of the Auditor.
    #[must_use]
    pub fn audit(&self) -> PathBuf {
        self.data.join("audit")
    }

    /// Returns the path of the operator's instructions for every task (memory's layer T).
    #[must_use]
    pub fn thinking(&self) -> PathBuf {
        self.config.join("thinking.md")
    }

    /// Returns the folder of the user's playbooks.
    #[must_use]
    pub fn playbooks(&self) -> PathBuf {
        self.config.join("playbooks")
    }

    /// Returns the path of the log file.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.data.join("setpoint.log")
    }

    /// Returns the folder with what tasks changed, for an undo.
    #[must_use]
    pub fn undo(&self) -> PathBuf {
        self.data.join("undo")
    }

    /// Returns the folder of the tasks' workspaces.
    #[must_use]
    pub fn workspaces(&self) -> PathBuf {
        self.data.join("workspaces")
    }
}

/// Returns whether a path is below a directory, as written or after resolving links. `false` for the root directory,
/// which contains everything and is not a repository.
fn is_below(place: &Path, directory: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    directory.parent().is_some()
        && (place.starts_with(directory) || whole(place).starts_with(whole(directory)))
}

/// Returns the surroundings of a task opened now. `{task}` in the workspace stands for the task's id.
#[must_use]
pub fn surroundings(
    cwd: &Path,
    directories: &Directories,
    env: &BTreeMap<String, String>,
    programs: Vec<String>,
) -> Surroundings {
    Surroundings {
        cwd: cwd.to_string_lossy().into_owned(),
        home: env.get("HOME").cloned().unwrap_or_else(|| "/".to_owned()),
        workspace: directories.workspaces().join("{task}").to_string_lossy().into_owned(),
        vars: PATH_VARS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), env.get(*name)?.clone())))
            .collect(),
        os: std::env::consts::OS.to_owned(),
        programs,
        // Found out only for a new task, because it takes a trial.
        has_sandbox: false,
        // Known once the servers have listed them.
        server_tools: BTreeMap::new(),
        local_time: local_time(),
    }
}

/// Returns whether a program is on the PATH.
#[must_use]
pub fn is_installed(name: &str, path: &str) -> bool {
    std::env::split_paths(path).any(|dir| dir.is_absolute() && dir.join(name).is_file())
}

fn local_time() -> String {
    let now =
        jiff::Timestamp::from_microsecond(setpoint_runtime::clock::now().as_micros()).unwrap_or_default();
    let zoned = now.to_zoned(jiff::tz::TimeZone::system());
    zoned.strftime("%A %Y-%m-%d %H:%M %:z (%Q)").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> BTreeMap<String, String> {
        vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    fn from_env(vars: &[(&str, &str)]) -> Result<Directories, NoHome> {
        Directories::from_env(&env(vars), Path::new("/home/user/repo"))
    }

    #[test]
    fn directories_follow_the_environment() {
        let plain = from_env(&[("HOME", "/home/user")]).unwrap();
        assert_eq!(plain.config, Path::new("/home/user/.config/setpoint"));
        assert_eq!(plain.data, Path::new("/home/user/.local/share/setpoint"));
        let own = from_env(&[("HOME", "/home/user"), ("SETPOINT_DATA_DIR", "/d")]).unwrap();
        assert_eq!(own.data, Path::new("/d"));
        assert_eq!((plain.data_elsewhere, own.data_elsewhere), (vec![], vec![plain.data.clone()]));
        // A relative XDG directory must be ignored.
        let relative = from_env(&[("HOME", "/home/user"), ("XDG_DATA_HOME", "x")]).unwrap();
        assert_eq!(relative.data, plain.data);
        assert_eq!(from_env(&[]), Err(NoHome::Unset));
        assert_eq!(from_env(&[("HOME", "")]), Err(NoHome::Unset));
        assert_eq!(from_env(&[("HOME", "home")]), Err(NoHome::Relative));
        let data = from_env(&[("HOME", "home"), ("SETPOINT_DATA_DIR", "d")]).unwrap();
        assert_eq!(data.data, Path::new("/home/user/repo/d"));
    }

    #[test]
    fn a_configuration_from_the_working_directory_is_foreign() {
        let is_foreign = |vars: &[(&str, &str)]| from_env(vars).unwrap().is_config_foreign;
        let home = ("HOME", "/home/user");
        for data in [".data", "../d", "/home/user/repo/.data", "/home/user/repo"] {
            let data = ("SETPOINT_DATA_DIR", data);
            assert!(is_foreign(&[data]) && is_foreign(&[data, ("HOME", "relative")]), "{data:?}");
            // With `HOME` the person's own configuration is known, wherever the data is.
            assert!(
                !is_foreign(&[data, home]) && !is_foreign(&[data, ("XDG_CONFIG_HOME", "/c")]),
                "{data:?}"
            );
        }
        assert!(!is_foreign(&[("SETPOINT_DATA_DIR", "/var/lib/setpoint")]));
        assert!(!is_foreign(&[("XDG_DATA_HOME", "/var/lib")]));
        // The root directory brings no files along.
        let of_root = env(&[("SETPOINT_DATA_DIR", "/data")]);
        assert!(!Directories::from_env(&of_root, Path::new("/")).unwrap().is_config_foreign);
        // The same directory by another name.
        let dir = tempfile::tempdir().unwrap();
        let (repo, link) = (dir.path().join("repo"), dir.path().join("link"));
        std::fs::create_dir_all(repo.join("data")).unwrap();
        std::os::unix::fs::symlink(&repo, &link).unwrap();
        let by_link = env(&[("SETPOINT_DATA_DIR", link.join("data").to_str().unwrap())]);
        assert!(Directories::from_env(&by_link, &repo).unwrap().is_config_foreign);
    }
}
