//! The program as installed and configured: it assembles an organisation.

mod error;
mod fork;
mod limits;
mod load;
mod log_file;
mod models;
mod playbooks;

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use secrecy::{ExposeSecret, SecretString};
use setpoint_audit::{AuditPlace, ForceResult};
use setpoint_fetch::{Fetcher, SystemResolver, address};
use setpoint_history::import::take_in;
use setpoint_journal::limits::LIST_MAX;
use setpoint_journal::{Journal, JournalError, JournalOptions, TaskFilter};
use setpoint_memory::{Access, Memory};
use setpoint_model::Model;
use setpoint_model::playbook::{self, Playbook};
use setpoint_own_files::{is_refusal, named, own};
use setpoint_protocol::limits::THINKING_CHARS_MAX;
use setpoint_protocol::models::Models as Cards;
use setpoint_protocol::record::{Opened, Surroundings};
use setpoint_protocol::text::error_chain;
use setpoint_protocol::{RoleId, TaskId};
use setpoint_runtime::clock;
use setpoint_runtime::hints::Hints;
use setpoint_runtime::models::{Models, StandIn};
use setpoint_runtime::organisation::{NewTask, Organisation, Parts};
use setpoint_runtime::toolbox::Tools;
use setpoint_scrub::Scrub;
use setpoint_telemetry::otlp::EndpointError;
use setpoint_tools::approval_file::{ApprovalFileError, Denials};
use setpoint_tools::secrets::Secrets;
use setpoint_tools::{Host, House, Registry, RunLevel, Tool};

use crate::approvals::{self, Policy};
use crate::config::{Config, Sources};
use crate::keys;
use crate::search;
use crate::secrets;
use crate::servers::Connected;
use crate::surroundings::{Directories, surroundings};
use crate::telemetry::{self, TelemetryError};

pub use self::error::ProgramError;
pub use self::fork::rerun;
pub use self::limits::{hide_memory_from_user, outlive_file_size_limits, restart_without_bad_time_zone};
#[cfg(test)]
pub(crate) use self::load::Launch;
pub use self::load::ProgramOptions;
pub use self::log_file::{LogFile, LogWriter};
pub use self::models::{Cassette, MODELS_FILE};
pub use self::playbooks::{PlaybookProblem, PlaybookSummary};

/// Maximum bytes that are read of the operator's instructions for every task: a little more than the limit.
const THINKING_BYTES_MAX: u64 = 4 * THINKING_CHARS_MAX as u64 + 4_096;
/// A shorter value of the environment may be an ordinary word.
const KEY_BYTES_MIN: usize = 16;
/// Begins the names of configured secrets among the keys.
const SECRET_KEYS: &str = "secrets.";
/// Hints for a person when the runtime itself ends a task.
const HINTS: Hints = Hints {
    defect: "this is a defect of the program; please report it with `setpoint tasks export`",
    deadline: "allow more time with `--time-budget`, or state a smaller goal",
};

/// Does the work of a small process between this program and another one, if this process was started as one: a keeper
/// of a call, a stage of a sandbox, or a reader of a document. `main` must then return the exit code. Must be the first
/// call in `main`.
#[must_use]
pub fn serve_another() -> Option<ExitCode> {
    setpoint_tools::keeper::serve().or_else(setpoint_sandbox::serve).or_else(setpoint_documents::serve)
}

/// Returns whether nothing exists at a path. What cannot be inspected may exist.
pub(crate) fn is_none(found: io::Result<Metadata>) -> bool {
    found.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// The program as installed and configured.
#[derive(Clone, Debug)]
pub struct Program {
    pub config: Config,
    pub directories: Directories,
    /// Whether the command line names the data directory.
    is_data_named: bool,
    sources: Sources,
    cwd: PathBuf,
    cassette: Option<Cassette>,
    /// Whether commands of tasks run in the sandbox; tried once.
    pub(crate) has_sandbox: OnceLock<bool>,
    /// The MCP servers, once they are connected.
    pub(crate) servers: Arc<OnceLock<Connected>>,
    /// What the approval file of this run denies.
    denials: Denials,
    /// Where the approval file of this run is, once it is read.
    approval_file: Arc<OnceLock<PathBuf>>,
    /// The configured secrets.
    secrets: Secrets,
    /// See [`Program::output_keys`].
    output_keys: OnceLock<Scrub>,
}

impl Program {
    /// Returns the configuration files, the weakest first.
    #[must_use]
    pub fn config_files(&self) -> &[PathBuf] {
        &self.sources.files
    }

    /// Returns notices for a person before a task is driven, one line each: which files of the working directory have
    /// an effect, and which are ignored.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        let mut notices = match &self.cassette {
            // With a recording no chosen model is asked.
            Some(Cassette::Play(_)) => vec![],
            None | Some(Cassette::Record(_)) => self.config.notices().to_vec(),
        };
        let own = [
            (self.directories.playbooks(), "the playbooks in", "are not read: they"),
            (self.directories.thinking(), "the laws in", "are not read: they"),
        ];
        for (place, what, they) in own {
            if self.directories.is_config_foreign && place.exists() {
                let shown = place.display();
                notices.push(format!("{what} {shown} {they} may have come with the working directory"));
            }
        }
        notices.extend(self.log_trouble());
        let faults = self.secrets.faults();
        notices.extend(faults.map(|(name, fault)| format!("the secret {name} cannot be used: {fault}")));
        notices
    }

    /// Returns why nothing is logged, if the path of the log is not a log file; the log itself cannot report that.
    fn log_trouble(&self) -> Option<String> {
        let path = self.directories.log();
        let refused = own::check(&path).err().filter(is_refusal)?;
        Some(format!("nothing is written to the log file {}: {refused}", path.display()))
    }

    /// Returns the surroundings of a task opened now.
    #[must_use]
    pub fn surroundings(&self) -> Surroundings {
        surroundings(&self.cwd, &self.directories, &self.sources.env, Host::this().notable_programs())
    }

    /// Returns the search path for programs.
    #[must_use]
    pub fn path(&self) -> &str {
        self.variable("PATH").unwrap_or_default()
    }

    /// Returns a variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.sources.env.get(name).map(String::as_str)
    }

    /// Opens the journal and assembles the organisation. Nothing is written before this call. A recording is created
    /// last, so that a failed start leaves no empty one.
    ///
    /// # Errors
    /// If a data directory or a model cannot be used.
    pub fn open(&self) -> Result<Organisation, ProgramError> {
        let models = self.models()?;
        self.check_workspaces()?;
        let journal = self.journal()?;
        let memory = self.memory(&journal);
        let organisation = self.organisation(journal, self.recorded(models)?, memory);
        organisation.compare_with_log(self.directories.audit());
        if self.config.is_on("audit.follow") {
            organisation.audit(self.audit_place());
        }
        self.send_telemetry(&organisation);
        Ok(organisation)
    }

    /// Checks the entries of the data directory that are not stores.
    ///
    /// # Errors
    /// The first path that exists and is not Setpoint's own.
    pub fn check_places(&self) -> Result<(), ProgramError> {
        self.check_workspaces()?;
        let path = self.directories.log();
        own::check(&path).map_err(|source| ProgramError::Place { path, source })?;
        Ok(())
    }

    /// Checks that the tasks' workspaces are not reached through a link: tools write there without asking.
    fn check_workspaces(&self) -> Result<(), ProgramError> {
        let path = self.directories.workspaces();
        own::check_dir(&path).map_err(|source| ProgramError::Place { path, source })?;
        Ok(())
    }

    /// Sends telemetry to a collector if the configuration names one. Tasks are driven even if that fails.
    fn send_telemetry(&self, organisation: &Organisation) {
        let exporter = self.telemetry().map_err(TelemetryError::from).and_then(|plan| match plan {
            Some(plan) => Ok(Some((plan.exporter()?, plan.content))),
            None => Ok(None),
        });
        match exporter {
            Ok(Some((exporter, content))) => organisation.send_telemetry(exporter, content),
            Ok(None) => {}
            Err(error) => {
                let reason = error_chain(&error);
                tracing::warn!(reason, "telemetry is not available: tasks run without it");
            }
        }
    }

    /// Returns where telemetry goes; `None` if nothing is sent.
    ///
    /// # Errors
    /// If the configured address is not valid.
    pub fn telemetry(&self) -> Result<Option<telemetry::Plan>, EndpointError> {
        telemetry::Plan::of(&self.config, &self.sources.env)
    }

    /// Opens an organisation for commands that only read or pass on messages: no task is driven, and no model is
    /// needed. Creates no journal: a typo in `--data-dir` must not create a directory.
    ///
    /// # Errors
    /// If a data directory cannot be used.
    pub fn open_without_models(&self) -> Result<Organisation, ProgramError> {
        let nobody = Models::one(Arc::new(Playbook::new(Arc::new(self.library()))));
        let data = &self.directories.data;
        if self.is_data_named && is_none(data.metadata()) {
            return Err(ProgramError::NoData { place: data.clone() });
        }
        let is_new = is_none(self.directories.journal().symlink_metadata());
        let journal = if is_new { Journal::in_memory() } else { self.journal()? };
        let memory = Access::closed("this process runs no task");
        let organisation = self.organisation(journal, nobody.with_stand_in(StandIn::Unasked), memory);
        if !is_new {
            organisation.compare_with_log(self.directories.audit());
        }
        Ok(organisation)
    }

    /// Lets a task, or every unfinished one if none is named, continue although an older journal was restored; the
    /// audit log notes it. Does nothing if the journal was not restored.
    ///
    /// # Errors
    /// If the task does not exist, or the log cannot be written.
    pub fn force(&self, prefix: Option<&str>) -> Result<(), ProgramError> {
        let Some(journal) = self.open_journal()? else { return Ok(()) };
        let ids = match prefix {
            Some(prefix) => vec![journal.resolve(prefix)?],
            None => {
                let open = journal.list_tasks(TaskFilter::Open, LIST_MAX)?;
                open.into_iter().map(|task| task.id.to_string()).collect()
            }
        };
        let tasks: Vec<TaskId> = ids.iter().filter_map(|id| id.parse().ok()).collect();
        match setpoint_audit::force(&self.audit_place(), &journal, &tasks, clock::now())? {
            ForceResult::NotNeeded | ForceResult::Noted => Ok(journal.close()?),
            ForceResult::Busy => Err(ProgramError::AuditedElsewhere),
        }
    }

    /// Opens an organisation with an in-memory journal that holds an exported task and nothing else. Uses no data
    /// directory and drives nothing.
    ///
    /// # Errors
    /// If the file cannot be read, or differs from what was exported.
    pub fn open_exported(&self, path: &Path) -> Result<(Organisation, TaskId), ProgramError> {
        let broken = |source| ProgramError::OpenFile { path: path.to_owned(), source };
        let file = named::open(path).map_err(broken)?;
        let taken = take_in(io::BufReader::new(file), &setpoint_mkct::slug);
        let (journal, task) =
            taken.map_err(|source| ProgramError::Exported { path: path.to_owned(), source })?;
        let nobody = Models::one(Arc::new(Playbook::new(Arc::new(self.library()))));
        let memory = Access::closed("this process runs no task");
        Ok((self.organisation(journal, nobody.with_stand_in(StandIn::Unasked), memory), task))
    }

    /// Opens memory, beside the journal. Tasks are driven even if that fails.
    fn memory(&self, journal: &Journal) -> Access {
        if self.cassette.is_some() {
            // Questions would contain what is remembered here and now, but a recording answers only the recorded
            // questions.
            return Access::closed("a recording is made or played, and recordings do not contain memory");
        }
        if !self.config.is_on("memory.recall") {
            return Access::closed("`memory.recall` is false");
        }
        match Memory::open(&self.directories.memory(), journal) {
            Ok((memory, _)) => Access::Open(Arc::new(memory)),
            Err(error) => {
                let reason = error_chain(&error);
                tracing::warn!(reason, "memory is not available: plans are made without it");
                Access::closed(&reason)
            }
        }
    }

    /// Opens memory for the operator, without an organisation. Returns `None` in an unused data directory, unless
    /// `is_made`.
    ///
    /// # Errors
    /// If a data directory or memory cannot be used.
    pub fn open_memory(&self, is_made: bool) -> Result<Option<Arc<Memory>>, ProgramError> {
        let found = self.open_journal()?;
        if found.is_none() && !is_made {
            return Ok(None);
        }
        let journal = found.map_or_else(|| self.journal(), Ok)?;
        let (memory, _) = Memory::open(&self.directories.memory(), &journal)?;
        Ok(Some(Arc::new(memory)))
    }

    /// Returns the model that words the Dreamer's rules; `None` if templates are configured, or no model can be used.
    #[must_use]
    pub fn dreamers_model(&self) -> Option<Arc<dyn Model>> {
        let models = self.config.is_on("memory.reflect").then(|| self.models())?;
        Some(Arc::clone(models.ok()?.of(RoleId::Memory)))
    }

    /// Returns the paths of the Auditor.
    #[must_use]
    pub fn audit_place(&self) -> AuditPlace {
        let named = |key| self.config.text(key).map(|path| self.directories.data.join(path));
        AuditPlace {
            dir: self.directories.audit(),
            key: named("audit.key"),
            export: named("audit.checkpoints"),
        }
    }

    /// Opens the journal without an organisation. Returns `None` in an unused data directory, and creates nothing.
    ///
    /// # Errors
    /// If a data directory or a journal cannot be used.
    pub fn open_journal(&self) -> Result<Option<Journal>, ProgramError> {
        if is_none(self.directories.journal().symlink_metadata()) {
            let data = &self.directories.data;
            if self.is_data_named && is_none(data.metadata()) {
                return Err(ProgramError::NoData { place: data.clone() });
            }
            return Ok(None);
        }
        Ok(Some(self.journal()?))
    }

    /// Returns the newest tasks with their titles, for shell completion of task ids.
    ///
    /// # Errors
    /// If a data directory or a journal cannot be used.
    pub fn newest_tasks(&self, limit: usize) -> Result<Vec<(TaskId, String)>, ProgramError> {
        let Some(journal) = self.open_journal()? else { return Ok(Vec::new()) };
        let tasks = journal.list_tasks(TaskFilter::Any, limit)?;
        Ok(tasks.into_iter().filter_map(|task| Some((task.id.parse().ok()?, task.title))).collect())
    }

    /// Opens the journal, creating it if necessary.
    ///
    /// # Errors
    /// If a data directory or a journal cannot be used.
    pub fn made_journal(&self) -> Result<Journal, ProgramError> {
        Ok(self.journal()?)
    }

    fn journal(&self) -> Result<Journal, JournalError> {
        Journal::open(&self.directories.journal(), &JournalOptions::default())
    }

    fn organisation(&self, journal: Journal, models: Models, memory: Access) -> Organisation {
        let mut registry = Registry::built_in(&self.host())
            .with_house(self.house())
            .with_level(self.level())
            .denying(self.denials.clone())
            .serving(self.served_files())
            .keeping_in(self.directories.undo());
        for tool in self.servers.get().into_iter().flat_map(|servers| &servers.tools) {
            registry.add(Arc::clone(tool) as Arc<dyn Tool>);
        }
        let toolbox = Arc::new(Tools::new(registry));
        Organisation::new(Parts {
            journal,
            models,
            toolbox,
            memory,
            has_reflection: self.config.is_on("memory.reflect"),
            hints: HINTS,
            keys: self.output_keys(),
        })
    }

    /// Reads the approval file of this run. What it denies holds for every task that this program drives, and none of them
    /// may change the file, which the next run may be given too.
    ///
    /// # Errors
    /// If the file cannot be read, or a line is invalid.
    pub fn approvals(&self, file: &Path) -> Result<Policy, ApprovalFileError> {
        drop(self.approval_file.set(self.cwd.join(file)));
        approvals::read(file, &self.surroundings(), &self.denials)
    }

    /// Returns what decides instead of a person, with what the level of the run adds to the approval file.
    ///
    /// # Errors
    /// If the level is L3 and nothing says that this machine is there for that.
    pub fn with_level(&self, file: Option<Policy>) -> Result<Option<Policy>, crate::Error> {
        match self.config.text("run.level") {
            Some("L3") if !self.config.is_on("run.container") => {
                let reason = "run.level L3 allows without a question, and is only for a container or a virtual machine";
                Err(crate::Error::new(crate::ErrorKind::Configuration, reason).hint(
                    "if this machine is one, and holds nothing but the work, say so: run.container = true, or SETPOINT_CONTAINER=true",
                ))
            }
            Some("L3") => Ok(Some(Policy::autonomous_but_for(file, self.served_files()))),
            _ => Ok(file),
        }
    }

    /// Returns how much a task may change without a question. At L3 the questions are asked, and the policy answers them.
    fn level(&self) -> RunLevel {
        if self.config.text("run.level") == Some("L0") { RunLevel::L0 } else { RunLevel::L1 }
    }

    /// Returns this machine for the tools of tasks.
    pub(crate) fn host(&self) -> Host {
        let host = Host::this().without_keys(Scrub::named(&self.keys())).with_own_commands(playbook::forms);
        let host = host.with_secrets(self.secrets.clone());
        let host = if self.has_sandbox() { host.with_sandbox(self.sandbox_of_programs()) } else { host };
        let fetcher = |is_allowed| Fetcher::new(Arc::new(SystemResolver), is_allowed);
        let (public, private) = (fetcher(address::is_public), fetcher(address::is_public_or_private));
        let searcher = search::searcher(&self.config, self.env(), public.clone(), private.clone());
        let fetcher = if self.config.is_on("tools.fetch_private") { private } else { public };
        host.with_fetcher(fetcher).with_searcher(searcher)
    }

    /// Returns the directories that no tool may enter, with any approval.
    fn house(&self) -> House {
        let directories = &self.directories;
        let own = [directories.config.clone(), directories.data.clone()];
        let folders = own.into_iter().chain(directories.data_elsewhere.iter().cloned()).collect();
        House::new(folders, self.own_files(), directories.workspaces()).guarding(self.guarded_files())
    }

    /// Returns the files that a task may read, as a person may, and not change.
    pub(crate) fn guarded_files(&self) -> Vec<PathBuf> {
        self.approval_file.get().into_iter().cloned().collect()
    }

    /// Returns the files outside of those directories that no tool may read or change.
    pub(crate) fn own_files(&self) -> Vec<PathBuf> {
        let audit = self.audit_place();
        let cassette = self.cassette.as_ref().map(|cassette| match cassette {
            Cassette::Record(path) | Cassette::Play(path) => self.cwd.join(path),
        });
        let secrets = secrets::files(&self.config, &self.sources.env, &self.directories.config);
        [audit.key, audit.export, cassette].into_iter().flatten().chain(secrets).collect()
    }

    /// Creates a task for this goal, in these surroundings.
    ///
    /// # Errors
    /// If the operator's instructions for every task cannot be read: no task may ignore them.
    pub fn new_task(
        &self,
        raw_input: String,
        interactive: bool,
        preview_plan: Option<bool>,
    ) -> Result<NewTask, ProgramError> {
        Ok(NewTask {
            raw_input,
            suffix: suffix(),
            opened: Opened {
                logic_version: 0,
                controller: self.config.controller().clone(),
                budgets: self.config.budgets(),
                interactive,
                preview_plan: preview_plan.unwrap_or_else(|| self.config.is_on("run.preview_plan")),
                direct_answers: false,
                surroundings: Surroundings {
                    has_sandbox: self.has_sandbox(),
                    server_tools: self.servers.get().map(Connected::pins).unwrap_or_default(),
                    ..self.surroundings()
                }
                .into(),
                tools: vec![],
                models: Cards::default(),
                thinking: self.thinking()?,
                history: vec![],
                forked_from: None,
            },
        })
    }

    /// Reads the operator's instructions for every task, if there are any.
    fn thinking(&self) -> Result<Vec<String>, ProgramError> {
        let path = self.directories.thinking();
        if self.directories.is_config_foreign {
            return Ok(vec![]);
        }
        let text = match read_short(&path, THINKING_BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
            Err(source) => return Err(ProgramError::Thinking { path, source }),
        };
        let chars = text.trim().chars().count();
        if chars > THINKING_CHARS_MAX {
            return Err(ProgramError::ThinkingTooLong { path, chars });
        }
        Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()).into_iter().collect())
    }

    /// Returns the sources of the configuration, with this text in one of the files.
    pub(crate) fn sources_with(&self, path: &Path, text: &str) -> Sources {
        let mut sources = self.sources.clone();
        sources.texts.insert(path.to_owned(), text.to_owned());
        sources
    }

    /// Returns every key that this process knows, with its name.
    fn keys(&self) -> Vec<(String, SecretString)> {
        let mut keys = keys::keys(&self.config, &self.sources.env);
        keys.extend(
            self.secrets.values().map(|(name, value)| (format!("{SECRET_KEYS}{name}"), value.clone())),
        );
        keys
    }

    /// Returns the keys that are removed from every input of a task and from everything that this process writes: the
    /// configured secrets, and other keys of at least `KEY_BYTES_MIN` bytes. A shorter value of the environment may be
    /// an ordinary word (`DB_PASSWORD=postgres`); it is only removed from what tools read.
    #[must_use]
    pub fn output_keys(&self) -> Scrub {
        let is_sure = |(name, value): &(String, SecretString)| {
            name.starts_with(SECRET_KEYS) || value.expose_secret().len() >= KEY_BYTES_MIN
        };
        let keys = || Scrub::named(&self.keys().into_iter().filter(is_sure).collect::<Vec<_>>());
        self.output_keys.get_or_init(keys).clone()
    }

    /// Returns the environment that the process was started in.
    pub(crate) fn env(&self) -> &BTreeMap<String, String> {
        &self.sources.env
    }

    /// Returns the working directory.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }
}

/// Reads a regular file's text, at most `bytes_max` of it.
fn read_short(path: &Path, bytes_max: u64) -> io::Result<String> {
    let mut text = String::new();
    named::open(path)?.take(bytes_max).read_to_string(&mut text)?;
    Ok(text)
}

/// Returns 64 bits that no other task of this data directory has: time, process and count, hashed.
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

#[cfg(test)]
mod tests;
