//! The program as it is installed and configured here: what an organisation is made from.

mod limits;
mod log_file;
mod models;
mod playbooks;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use setpoint_journal::{Journal, JournalError, JournalOptions};
use setpoint_model::cassette::TapeError;
use setpoint_model::playbook::Playbook;
use setpoint_protocol::models::Models as Cards;
use setpoint_protocol::record::{Opened, Surroundings};
use setpoint_tools::{Host, Registry};

pub use self::limits::{keep_to_itself, outlive_file_size_limits};
pub use self::log_file::{LogFile, LogWriter};
pub use self::models::{Cassette, MODELS_FILE};
pub use self::playbooks::{PlaybookProblem, PlaybookSummary};
use crate::clock;
use crate::config::{self, Config, ConfigError, Sources};
use crate::models::Models;
use crate::models::error::ChoiceError;
use crate::organisation::{NewTask, Organisation, Parts};
use crate::surroundings::{Directories, NoHome, surroundings};
use crate::toolbox::Tools;

/// Environment variables that say where files are.
const PLACE_VARS: [&str; 4] = ["SETPOINT_DATA_DIR", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"];

/// What the command line says about the whole program.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// The data directory.
    pub data_dir: Option<PathBuf>,
    /// The model of both tiers.
    pub model: Option<String>,
    /// Configuration values.
    pub set: Vec<(String, String)>,
    /// A cassette to record to or to play.
    pub cassette: Option<Cassette>,
}

/// The program cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is no place for files.
    #[error(transparent)]
    NoHome(#[from] NoHome),
    /// The working directory.
    #[error("find the working directory")]
    Cwd(#[source] std::io::Error),
    /// A place whose name is no text. Tools and the journal take places as text, where it would be another place.
    #[error("use {what} {place:?}: it is not UTF-8")]
    NotText {
        /// What it is for.
        what: &'static str,
        /// Its name, as far as it is text.
        place: String,
    },
    /// The journal.
    #[error("open the journal")]
    Journal(#[from] JournalError),
    /// The models.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// A recording of models.
    #[error(transparent)]
    Cassette(#[from] TapeError),
}

/// The program as it is installed and configured here.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its configuration.
    pub config: Config,
    /// Its directories.
    pub directories: Directories,
    /// The files that the configuration is read from, the weakest first.
    pub config_files: Vec<PathBuf>,
    env: BTreeMap<String, String>,
    cwd: PathBuf,
    cassette: Option<Cassette>,
}

impl Program {
    /// Reads environment, configuration files and the command line's wishes. Writes nothing.
    ///
    /// # Errors
    /// What cannot be used.
    pub fn load(wishes: &Wishes) -> Result<Self, ProgramError> {
        for name in PLACE_VARS {
            if let Some(place) = std::env::var_os(name) {
                text_of(name, &place)?;
            }
        }
        let mut env: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        if let Some(dir) = &wishes.data_dir {
            let dir = text_of("the data directory", dir.as_os_str())?;
            env.insert("SETPOINT_DATA_DIR".to_owned(), dir.to_owned());
        }
        let cwd = std::env::current_dir().map_err(ProgramError::Cwd)?;
        text_of("the working directory", cwd.as_os_str())?;
        let mut directories = Directories::from_env(&env)?;
        // A relative data directory means the one seen from here, whatever the working directory is later.
        directories.data = cwd.join(&directories.data);
        let config_files = config::file_paths(&directories.config, &cwd);
        let mut flags = Vec::new();
        if let Some(model) = &wishes.model {
            for key in ["models.brain", "models.tool"] {
                flags.push((key.to_owned(), model.clone(), format!("--model {model}")));
            }
        }
        flags.extend(wishes.set.iter().map(|(k, v)| (k.clone(), v.clone(), format!("--set {k}={v}"))));
        let own = directories.config.join(config::FILE_NAME);
        let foreign = config_files.last().filter(|path| **path != own).cloned();
        let config = Config::load(&Sources {
            files: config_files.clone(),
            foreign,
            env: env.clone(),
            flags,
            texts: vec![],
        })?;
        let cassette = wishes.cassette.clone();
        Ok(Program { config, directories, config_files, env, cwd, cassette })
    }

    /// The surroundings that a task would open in now.
    #[must_use]
    pub fn surroundings(&self) -> Surroundings {
        surroundings(&self.cwd, &self.directories, &self.env, Host::this().notable_programs())
    }

    /// The search path for programs.
    #[must_use]
    pub fn path(&self) -> &str {
        self.env.get("PATH").map_or("", String::as_str)
    }

    /// Opens the journal and puts the organisation together. The first thing that writes.
    ///
    /// # Errors
    /// A data directory or a model that cannot be used.
    pub fn open(&self) -> Result<Organisation, ProgramError> {
        self.open_with(self.models()?)
    }

    /// The same for whoever only reads or passes messages on: no task is driven, and no model has to be there.
    ///
    /// # Errors
    /// A data directory that cannot be used.
    pub fn open_without_models(&self) -> Result<Organisation, ProgramError> {
        self.open_with(Models::one(Arc::new(Playbook::new(Arc::new(self.library())))))
    }

    fn open_with(&self, models: Models) -> Result<Organisation, ProgramError> {
        let journal = Journal::open(&self.directories.journal(), &JournalOptions::default())?;
        Ok(Organisation::new(Parts {
            journal,
            models,
            toolbox: Arc::new(Tools::new(Registry::built_in(&Host::this()))),
        }))
    }

    /// A task for this goal, in these surroundings.
    #[must_use]
    pub fn new_task(&self, raw_input: String, interactive: bool, preview_plan: Option<bool>) -> NewTask {
        NewTask {
            raw_input,
            suffix: suffix(),
            opened: Opened {
                logic_version: 0,
                controller: self.config.controller().clone(),
                budgets: self.config.budgets(),
                interactive,
                preview_plan: preview_plan.unwrap_or_else(|| self.config.yes("run.preview_plan")),
                direct_answers: false,
                surroundings: self.surroundings().into(),
                tools: vec![],
                models: Cards::default(),
                history: vec![],
            },
        }
    }

    /// The environment that it was started in.
    pub(crate) fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// The working directory.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }
}

/// A place as text.
fn text_of<'p>(what: &'static str, place: &'p OsStr) -> Result<&'p str, ProgramError> {
    place.to_str().ok_or_else(|| ProgramError::NotText { what, place: place.to_string_lossy().into_owned() })
}

/// Sixty-four bits that no other task of this data directory has: time, process and count, hashed.
fn suffix() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&clock::now().as_micros().to_le_bytes());
    hasher.update(&std::process::id().to_le_bytes());
    hasher.update(&COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    let mut bytes = [0; 8];
    for (slot, byte) in bytes.iter_mut().zip(hasher.finalize().as_bytes()) {
        *slot = *byte;
    }
    u64::from_le_bytes(bytes)
}
