//! The machine and place that a task opens in.

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
}

/// The environment that the program runs in has no place for its files.
#[derive(Debug, thiserror::Error)]
#[error("find a home directory: neither HOME nor SETPOINT_DATA_DIR is set")]
pub struct NoHome;

impl Directories {
    /// From the environment (XDG Base Directory Specification).
    ///
    /// # Errors
    /// When nothing says where home is.
    pub fn from_env(env: &BTreeMap<String, String>) -> Result<Self, NoHome> {
        let get =
            |name: &str| env.get(name).filter(|value| Path::new(value).is_absolute()).map(PathBuf::from);
        let home = get("HOME");
        let data = match env.get("SETPOINT_DATA_DIR").filter(|value| !value.is_empty()) {
            Some(dir) => PathBuf::from(dir),
            None => get("XDG_DATA_HOME")
                .or_else(|| home.as_ref().map(|home| home.join(".local/share")))
                .ok_or(NoHome)?
                .join("setpoint"),
        };
        let config = get("XDG_CONFIG_HOME")
            .or_else(|| home.map(|home| home.join(".config")))
            .map_or_else(|| data.join("config"), |base| base.join("setpoint"));
        Ok(Directories { config, data })
    }

    /// The folder of the journal.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.data.join("journal")
    }

    /// The folder of the user's playbooks.
    #[must_use]
    pub fn playbooks(&self) -> PathBuf {
        self.config.join("playbooks")
    }

    /// The log file.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.data.join("setpoint.log")
    }

    /// The folder where each task has its workspace.
    #[must_use]
    pub fn workspaces(&self) -> PathBuf {
        self.data.join("workspaces")
    }
}

/// What a task that opens now works in. `{task}` in the workspace stands for the task's id.
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
        local_time: local_time(),
    }
}

/// Whether a program is on the PATH.
#[must_use]
pub fn is_installed(name: &str, path: &str) -> bool {
    std::env::split_paths(path).any(|dir| dir.is_absolute() && dir.join(name).is_file())
}

fn local_time() -> String {
    let now = jiff::Timestamp::from_microsecond(crate::clock::now().as_micros()).unwrap_or_default();
    let zoned = now.to_zoned(jiff::tz::TimeZone::system());
    zoned.strftime("%A %Y-%m-%d %H:%M %:z (%Q)").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> BTreeMap<String, String> {
        vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn directories_follow_the_environment() {
        let plain = Directories::from_env(&env(&[("HOME", "/home/user")])).unwrap();
        assert_eq!(plain.config, Path::new("/home/user/.config/setpoint"));
        assert_eq!(plain.data, Path::new("/home/user/.local/share/setpoint"));
        let own =
            Directories::from_env(&env(&[("HOME", "/home/user"), ("SETPOINT_DATA_DIR", "/d")])).unwrap();
        assert_eq!(own.data, Path::new("/d"));
        // A relative XDG directory is to be ignored.
        let relative =
            Directories::from_env(&env(&[("HOME", "/home/user"), ("XDG_DATA_HOME", "x")])).unwrap();
        assert_eq!(relative.data, plain.data);
        assert!(Directories::from_env(&env(&[])).is_err());
    }
}
