//! The program as it is installed and configured here: what an organisation is made from.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use secrecy::SecretString;
use setpoint_journal::{Journal, JournalError, JournalOptions};
use setpoint_model::Model;
use setpoint_model::cassette::tape::Head;
use setpoint_model::cassette::{Player, Recorder, Tape, TapeError, TapeWriter};
use setpoint_model::catalogue::Catalogue;
use setpoint_model::playbook::{Library, Origin, Playbook};
use setpoint_model::remote::Remote;
use setpoint_protocol::models::{ModelCard, Models as Cards, Tier};
use setpoint_protocol::record::Opened;
use setpoint_tools::{Host, Registry};

use crate::clock;
use crate::config::{self, Config, ConfigError, Sources};
use crate::models::Models;
use crate::models::choose::{Answerer, Chooser, Chosen, Slot};
use crate::models::error::ChoiceError;
use crate::organisation::{NewTask, Organisation, Parts};
use crate::surroundings::{Directories, NoHome, surroundings};
use crate::toolbox::Tools;

/// The name of the embedded brain.
pub const PLAYBOOK: &str = "playbook";
/// The name of a person's own table of models, in the configuration directory.
pub const MODELS_FILE: &str = "models.toml";
/// Bytes of a person's own table of models at most.
const MODELS_BYTES_MAX: u64 = 1024 * 1024;

/// Words in the names of variables whose values are secret.
const SECRET_WORDS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];
/// A shorter value is no secret: it would be found everywhere.
const SECRET_BYTES_MIN: usize = 8;

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

/// What is done with a recording of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cassette {
    /// What the models say is written to this file.
    Record(PathBuf),
    /// This file answers instead of the models.
    Play(PathBuf),
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

    /// Where a person's own table of models is, whether or not it is there.
    #[must_use]
    pub fn models_file(&self) -> PathBuf {
        self.directories.config.join(MODELS_FILE)
    }

    /// What is known of models, the person's own table included.
    ///
    /// # Errors
    /// A table that cannot be used.
    pub fn catalogue(&self) -> Result<Catalogue, ChoiceError> {
        let built_in = Catalogue::built_in();
        let built_in = built_in
            .map_err(|source| ChoiceError::Catalogue { path: "the built-in table".to_owned(), source })?;
        let path = self.models_file();
        let text = config::read_text(&path, MODELS_BYTES_MAX).map_err(|error| ChoiceError::Table {
            path: path.display().to_string(),
            reason: error.to_string(),
        })?;
        match text {
            None => Ok(built_in),
            Some(text) => built_in
                .over(&text)
                .map_err(|source| ChoiceError::Catalogue { path: path.display().to_string(), source }),
        }
    }

    /// Which model answers whom, by flags, environment and files. Asks nobody.
    ///
    /// # Errors
    /// The first choice that cannot be used.
    pub fn chosen_models(&self) -> Result<Vec<Chosen>, ChoiceError> {
        let catalogue = self.catalogue()?;
        Chooser { config: &self.config, env: &self.env, catalogue: &catalogue }.choose()
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

    fn models(&self) -> Result<Models, ProgramError> {
        match &self.cassette {
            None => self.configured_models(),
            Some(Cassette::Record(path)) => {
                let models = self.configured_models()?;
                let by = concat!("setpoint ", env!("CARGO_PKG_VERSION"));
                let head = Head::new(clock::now(), by).of_models(models.cards());
                let tape = Arc::new(TapeWriter::create(&self.cwd.join(path), &head, &self.secrets())?);
                Ok(models.behind(|model| Arc::new(Recorder::new(Arc::clone(model), Arc::clone(&tape)))))
            }
            Some(Cassette::Play(path)) => {
                let tape = Arc::new(Tape::read(&self.cwd.join(path))?);
                if let Some(notice) = tape.notice() {
                    tracing::warn!(notice, "a recording is not whole");
                }
                let cards = tape.head().models.clone();
                let player = |card: &ModelCard| -> Arc<dyn Model> {
                    Arc::new(Player::of_card(Arc::clone(&tape), card))
                };
                let models = Models::tiers(player(&cards.brain), player(&cards.tool));
                Ok(cards
                    .roles
                    .iter()
                    .fold(models, |models, (role, card)| models.with_role(*role, player(card))))
            }
        }
    }

    /// Values of the environment that no recording may hold: keys, tokens, passwords, by the names of their variables.
    fn secrets(&self) -> Vec<SecretString> {
        let is_secret = |name: &str| SECRET_WORDS.iter().any(|word| name.contains(word));
        let named: Vec<&str> = self
            .config
            .providers()
            .iter()
            .filter_map(|provider| self.config.text(&format!("providers.{provider}.key_env")))
            .collect();
        let secret = |(name, _): &(&String, &String)| is_secret(name) || named.contains(&name.as_str());
        let values = self.env.iter().filter(secret).map(|(_, value)| value.trim());
        values.filter(|value| value.len() >= SECRET_BYTES_MIN).map(SecretString::from).collect()
    }

    fn configured_models(&self) -> Result<Models, ProgramError> {
        let library = Arc::new(self.library());
        let mut tiers = BTreeMap::new();
        let mut roles = Vec::new();
        for chosen in self.chosen_models()? {
            let model: Arc<dyn Model> = match chosen.answerer {
                Answerer::Playbook => Arc::new(Playbook::new(Arc::clone(&library))),
                Answerer::Remote(endpoint) => {
                    let remote = Remote::new(*endpoint, clock::now_s);
                    Arc::new(remote.map_err(|source| ChoiceError::Client { model: chosen.name, source })?)
                }
            };
            match chosen.slot {
                Slot::Tier(tier) => drop(tiers.insert(tier, model)),
                Slot::Role(role) => roles.push((role, model)),
            }
        }
        let playbook = || -> Arc<dyn Model> { Arc::new(Playbook::new(Arc::clone(&library))) };
        let brain = tiers.remove(&Tier::Brain).unwrap_or_else(playbook);
        let tool = tiers.remove(&Tier::Tool).unwrap_or_else(playbook);
        let models = Models::tiers(brain, tool);
        Ok(roles.into_iter().fold(models, |models, (role, model)| models.with_role(role, model)))
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
