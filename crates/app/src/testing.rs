//! A program in a temporary home, for tests: real files, and an environment of the test alone.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::config::FILE_NAME;
use crate::program::{Launch, Program, ProgramError, ProgramOptions};

/// A key that nothing may show.
pub(crate) const KEY: &str = "sk-never-to-be-seen-0123456789";
/// An address without a server: no process can listen on this reserved port without rights.
pub(crate) const CLOSED_ADDRESS: &str = "http://127.0.0.1:1";

/// A home directory with a configuration, a working directory and room for data.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        let home = Home(tempfile::tempdir().unwrap());
        fs::create_dir_all(home.config()).unwrap();
        fs::create_dir(home.work()).unwrap();
        home
    }

    /// Returns the home itself.
    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    /// Returns the person's own configuration directory.
    pub(crate) fn config(&self) -> PathBuf {
        self.0.path().join("config/setpoint")
    }

    /// Returns the working directory.
    pub(crate) fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    /// Returns the data directory, which does not exist yet.
    pub(crate) fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    /// Writes the person's own configuration.
    pub(crate) fn own(self, text: &str) -> Self {
        fs::write(self.config().join(FILE_NAME), text).unwrap();
        self
    }

    /// Returns a start in this home, with these variables and the working directory.
    pub(crate) fn launch(&self, vars: &[(&str, &str)]) -> Launch {
        let place = |name: &str, path: &Path| (OsString::from(name), path.as_os_str().to_owned());
        let places = [
            place("HOME", self.0.path()),
            place("XDG_CONFIG_HOME", &self.0.path().join("config")),
            place("SETPOINT_DATA_DIR", &self.data()),
        ];
        let vars = vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        Launch { vars: places.into_iter().chain(vars).collect(), cwd: self.work() }
    }

    /// Loads the program as a command would.
    pub(crate) fn program(
        &self,
        options: &ProgramOptions,
        vars: &[(&str, &str)],
    ) -> Result<Program, ProgramError> {
        Program::launched(options, &self.launch(vars))
    }
}

/// Returns the options of a command line: a model, and settings as `--set` gives them.
pub(crate) fn options(model: Option<&str>, set: &[(&str, &str)]) -> ProgramOptions {
    let set = set.iter().map(|(key, value)| ((*key).into(), (*value).into(), format!("--set {key}")));
    ProgramOptions { model: model.map(str::to_owned), set: set.collect(), ..ProgramOptions::default() }
}

/// Returns the files of a directory with their content, by name.
pub(crate) fn files(dir: &Path) -> Vec<(String, String)> {
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.unwrap().path();
        (path.file_name()?.to_str()?.to_owned(), fs::read_to_string(&path).ok()?).into()
    };
    let mut files: Vec<_> = fs::read_dir(dir).unwrap().filter_map(file).collect();
    files.sort();
    files
}
