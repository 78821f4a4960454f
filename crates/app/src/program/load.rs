//! From the environment, the configuration files and the command line to the program.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use setpoint_protocol::models::Tier;
use setpoint_tools::approval_file::Denials;
use setpoint_tools::secrets::Secrets;

use super::{Cassette, Program, ProgramError};
use crate::config::{self, Config, Sources};
use crate::models::choose::{OWN_MODEL, Slot};
use crate::models::provider;
use crate::secrets;
use crate::surroundings::Directories;

/// Environment variables that contain paths of the program's files.
const PLACE_VARS: [&str; 4] = ["SETPOINT_DATA_DIR", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"];

/// Options of the command line for the whole program.
#[derive(Clone, Debug, Default)]
pub struct ProgramOptions {
    /// The data directory.
    pub data_dir: Option<PathBuf>,
    /// The model for all roles.
    pub model: Option<String>,
    /// Configuration values: key, value, and the option that set it, without parts that may be secret.
    pub set: Vec<(String, String, String)>,
    /// A cassette to record to or to play.
    pub cassette: Option<Cassette>,
}

/// The environment and the working directory that a program starts in.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The environment.
    pub(crate) vars: BTreeMap<OsString, OsString>,
    /// The working directory.
    pub(crate) cwd: PathBuf,
}

impl Launch {
    /// Returns those of this process.
    fn of_process() -> Result<Self, ProgramError> {
        let cwd = std::env::current_dir().map_err(ProgramError::Cwd)?;
        Ok(Launch { vars: std::env::vars_os().collect(), cwd })
    }
}

impl Program {
    /// Reads environment, configuration files and command line options. Writes nothing.
    ///
    /// # Errors
    /// If any of these cannot be used.
    pub fn load(wishes: &ProgramOptions) -> Result<Self, ProgramError> {
        Program::launched(wishes, &Launch::of_process()?)
    }

    /// Does the same without configuration files: for commands that show where the files are, or write the first one,
    /// even if existing ones are wrong.
    ///
    /// # Errors
    /// If a path cannot be used.
    pub fn without_files(wishes: &ProgramOptions) -> Result<Self, ProgramError> {
        Program::launched_without_files(wishes, &Launch::of_process()?)
    }

    pub(crate) fn launched(wishes: &ProgramOptions, launch: &Launch) -> Result<Self, ProgramError> {
        let mut program = Program::launched_without_files(wishes, launch)?;
        program.config = Config::load(&program.sources)?;
        program.take_keys_that_are_no_text(&launch.vars);
        program.secrets = secrets::read(&program.config, &program.sources.env, &program.directories.config);
        Ok(program)
    }

    pub(crate) fn launched_without_files(
        wishes: &ProgramOptions,
        Launch { vars, cwd }: &Launch,
    ) -> Result<Self, ProgramError> {
        for name in PLACE_VARS {
            if let Some(place) = vars.get(OsStr::new(name)) {
                text_of(name, place)?;
            }
        }
        let mut env: BTreeMap<String, String> = vars
            .iter()
            .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())))
            .collect();
        let mut overridden = None;
        if let Some(dir) = &wishes.data_dir {
            let dir = text_of("the data directory", dir.as_os_str())?;
            overridden = env.insert("SETPOINT_DATA_DIR".to_owned(), dir.to_owned());
        }
        text_of("the working directory", cwd.as_os_str())?;
        let mut directories = Directories::from_env(&env, cwd)?;
        directories.data = resolved(directories.data);
        let overridden = overridden.filter(|dir| !dir.is_empty()).map(|dir| cwd.join(dir));
        directories.data_elsewhere.extend(overridden.filter(|dir| *dir != directories.data));
        let (files, foreign) = files_of(&directories, cwd);
        let flags = flags_of(wishes);
        let config = Config::load(&Sources { env: env.clone(), ..Sources::default() })?;
        let sources = Sources { files, foreign, env, flags, texts: BTreeMap::new() };
        let (is_data_named, cassette) = (wishes.data_dir.is_some(), wishes.cassette.clone());
        let mut program = Program {
            config,
            directories,
            is_data_named,
            sources,
            cwd: cwd.clone(),
            cassette,
            has_sandbox: OnceLock::new(),
            servers: Arc::default(),
            secrets: Secrets::default(),
            denials: Denials::default(),
            approval_file: Arc::default(),
            output_keys: OnceLock::new(),
        };
        program.take_keys_that_are_no_text(vars);
        Ok(program)
    }

    /// Adds keys that are not UTF-8 in lossy form, so that they are reported as invalid and not as missing.
    fn take_keys_that_are_no_text(&mut self, vars: &BTreeMap<OsString, OsString>) {
        for name in provider::keys_of(&self.config) {
            if let Some(value) = vars.get(OsStr::new(&name)).filter(|value| value.to_str().is_none()) {
                self.sources.env.insert(name, value.to_string_lossy().into_owned());
            }
        }
    }
}

/// Resolves the data directory if the person made it a link: paths below it may contain none. A broken link is kept,
/// and its first use fails.
fn resolved(data: PathBuf) -> PathBuf {
    // With a trailing separator the system would follow the link.
    let bare: PathBuf = data.components().collect();
    let is_link = bare.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if is_link { bare.canonicalize().unwrap_or(data) } else { data }
}

/// Returns the configuration files, and those of them that came with the working directory.
fn files_of(directories: &Directories, cwd: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let own = directories.config.join(config::FILE_NAME);
    let mut files = vec![own.clone()];
    let mut foreign: Vec<PathBuf> = Vec::new();
    if directories.is_config_foreign {
        foreign.push(own);
    }
    let same =
        |a: &Path, b: &Path| a == b || a.canonicalize().is_ok_and(|a| Some(a) == b.canonicalize().ok());
    if !same(&directories.config, cwd) {
        files.push(cwd.join(config::FILE_NAME));
        foreign.push(cwd.join(config::FILE_NAME));
    }
    (files, foreign)
}

/// Converts command line options to configuration values.
fn flags_of(wishes: &ProgramOptions) -> Vec<(String, String, String)> {
    let mut flags = Vec::new();
    if let Some(model) = &wishes.model {
        let flag = || format!("--model {model}");
        for tier in [Slot::Tier(Tier::Brain), Slot::Tier(Tier::Tool)] {
            flags.push((tier.key(), model.clone(), flag()));
        }
        // A model for all roles also replaces that of roles with a model of their own.
        flags.extend(OWN_MODEL.map(|role| (Slot::Role(role).key(), String::new(), flag())));
    }
    flags.extend(wishes.set.iter().cloned());
    flags
}

/// Returns a path as text.
fn text_of<'p>(what: &'static str, place: &'p OsStr) -> Result<&'p str, ProgramError> {
    place.to_str().ok_or_else(|| ProgramError::NotText { what, place: place.to_string_lossy().into_owned() })
}
