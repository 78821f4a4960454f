//! The program as it is installed and configured here: what an organisation is made from.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use setpoint_journal::{Journal, JournalError, JournalOptions};
use setpoint_model::Model;
use setpoint_model::playbook::{Library, Origin, Playbook};
use setpoint_protocol::record::{Models as ModelNames, Opened};
use setpoint_tools::{Host, Registry};

use crate::clock;
use crate::config::{self, Config, ConfigError, Sources};
use crate::organisation::{Models, NewTask, Organisation, Parts};
use crate::surroundings::{Directories, NoHome, surroundings};
use crate::toolbox::Tools;

/// The name of the embedded brain.
pub const PLAYBOOK: &str = "playbook";
/// Environment variables that name a language model's key or server. None of them is used yet.
const MODEL_VARS: &[&str] = &["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OLLAMA_HOST"];

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
}

/// One playbook, for a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaybookSummary {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub title: String,
    /// A goal that it knows.
    pub example: String,
    /// Its approaches, in order.
    pub approaches: Vec<String>,
    /// `built in`, or the file.
    pub origin: String,
}

/// A playbook, or a part of one, that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaybookProblem {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 when the file as a whole is meant.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

/// A log file that is made when there is something to say. A log that cannot be written loses nothing: what a task
/// did is in its journal.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: OnceLock<Option<Mutex<File>>>,
}

impl LogFile {
    /// At this path; nothing is made yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        LogFile { path, file: OnceLock::new() }
    }

    /// Something that one event is written to.
    #[must_use]
    pub fn writer(self: Arc<Self>) -> LogWriter {
        LogWriter(self)
    }
}

/// See [`LogFile::writer`].
#[derive(Debug)]
pub struct LogWriter(Arc<LogFile>);

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let open = || {
            let file = OpenOptions::new().create(true).append(true).open(&self.0.path);
            file.ok().map(Mutex::new)
        };
        if let Some(file) = self.0.file.get_or_init(open) {
            file.lock().unwrap_or_else(PoisonError::into_inner).write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
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
    /// A model that nobody knows.
    #[error("use the model {0:?}: only `playbook`, the embedded brain, is built in so far")]
    UnknownModel(String),
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
        let config = Config::load(&Sources { files: config_files.clone(), env: env.clone(), flags })?;
        Ok(Program { config, directories, config_files, env, cwd })
    }

    /// The playbooks of the program and of the person.
    #[must_use]
    pub fn library(&self) -> Library {
        Library::load(Some(&self.directories.playbooks()))
    }

    /// What the person may know of each playbook, and what is broken.
    #[must_use]
    pub fn playbooks(&self) -> (Vec<PlaybookSummary>, Vec<PlaybookProblem>) {
        let library = self.library();
        let known = library
            .list()
            .into_iter()
            .map(|book| PlaybookSummary {
                name: book.name,
                title: book.title,
                example: book.examples.first().cloned().unwrap_or_default(),
                approaches: book.approaches.into_iter().map(|(name, _)| name).collect(),
                origin: match book.origin {
                    Origin::BuiltIn => "built in".to_owned(),
                    Origin::File(path) => path,
                },
            })
            .collect();
        let broken = library.broken().iter().map(|broken| PlaybookProblem {
            file: broken.file.clone(),
            line: broken.line,
            reason: broken.error.reason(),
        });
        (known, broken.collect())
    }

    /// One playbook's own text.
    #[must_use]
    pub fn playbook(&self, name: &str) -> Option<String> {
        self.library().show(name).map(|(_, text)| text.to_owned())
    }

    /// Checks one file, or every playbook, against the tools there are.
    #[must_use]
    pub fn check_playbooks(&self, file: Option<&Path>) -> Vec<PlaybookProblem> {
        let library = self.library();
        let tools = Registry::built_in(&Host::this()).specs();
        let problems = match file {
            Some(file) => library.check_file(file, &tools),
            None => library.check(None, &tools),
        };
        problems
            .into_iter()
            .map(|problem| PlaybookProblem { file: problem.file, line: problem.line, reason: problem.reason })
            .collect()
    }

    /// The surroundings that a task would open in now.
    #[must_use]
    pub fn surroundings(&self) -> setpoint_protocol::record::Surroundings {
        surroundings(&self.cwd, &self.directories, &self.env, Host::this().notable_programs())
    }

    /// The search path for programs.
    #[must_use]
    pub fn path(&self) -> &str {
        self.env.get("PATH").map_or("", String::as_str)
    }

    /// Environment variables that are set and name a language model, for which there is no adapter yet.
    #[must_use]
    pub fn unused_model_vars(&self) -> Vec<&'static str> {
        MODEL_VARS
            .iter()
            .filter(|name| self.env.get(**name).is_some_and(|v| !v.is_empty()))
            .copied()
            .collect()
    }

    /// Opens the journal and puts the organisation together. The first thing that writes.
    ///
    /// # Errors
    /// A data directory that cannot be used, or a model that nobody knows.
    pub fn open(&self) -> Result<Organisation, ProgramError> {
        let models = self.models()?;
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
                models: ModelNames::default(),
                history: vec![],
            },
        }
    }

    fn models(&self) -> Result<Models, ProgramError> {
        let library = Arc::new(self.library());
        let of = |key: &str| -> Result<Arc<dyn Model>, ProgramError> {
            match self.config.text(key).unwrap_or(PLAYBOOK) {
                PLAYBOOK => Ok(Arc::new(Playbook::new(Arc::clone(&library)))),
                other => Err(ProgramError::UnknownModel(other.to_owned())),
            }
        };
        Ok(Models { brain: of("models.brain")?, tool: of("models.tool")? })
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

/// From now on a write beyond a limit on the size of files (`ulimit -f`) fails like one to a full disk, and is told;
/// left alone, the signal that comes with it would end the process without a word. The programs that it starts are
/// not changed. Call it inside the async runtime.
///
/// # Errors
/// When the system takes no handler.
#[cfg(unix)]
pub fn outlive_file_size_limits() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // The handler stays when this end of it is dropped.
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}

/// Other systems have no such limits.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn outlive_file_size_limits() -> std::io::Result<()> {
    Ok(())
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
