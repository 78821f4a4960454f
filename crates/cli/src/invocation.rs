//! What the command line asks for, as plain data.

mod audit;
mod memory;

use std::path::PathBuf;

use clap_complete::Shell;
use setpoint_client::models::InitWishes;

pub use self::audit::{AskedFindings, AuditCommand, AuditVerify};
pub use self::memory::{AskedPairs, AskedRecords, MemoryCommand};
pub use crate::moment::At;

/// A whole command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// What holds for every command.
    pub global: GlobalOptions,
    /// The command.
    pub command: Command,
}

/// What holds for every command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobalOptions {
    /// Machine output: stdout carries JSON and nothing else.
    pub is_json: bool,
    /// Logs on stderr too.
    pub is_verbose: bool,
    /// No progress on stderr.
    pub is_quiet: bool,
    /// Where the data lies, when the command line says so.
    pub data_dir: Option<PathBuf>,
    /// The model of everybody, when the command line says so.
    pub model: Option<String>,
    /// Configuration values in order, later ones stronger; those of a command's own options come last.
    pub set: Vec<OwnValue>,
    /// A recording of models to make or to play.
    pub cassette: Option<Cassette>,
    /// Whether colours are wanted.
    pub color: Color,
}

/// A configuration value that the command line sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnValue {
    /// Its dotted key.
    pub key: String,
    /// It, as text.
    pub value: String,
    /// The option that sets it, without the value: that may be secret.
    pub option: String,
}

/// A recording of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cassette {
    /// What they say is written to this file.
    Record(PathBuf),
    /// This file answers instead of them.
    Replay(PathBuf),
}

/// Whether colours are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless the environment says no.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What `prune` takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prune {
    /// What is older than so many milliseconds; the configuration says when it is not said.
    pub older_than_ms: Option<u64>,
    /// Only say what would go.
    pub is_dry_run: bool,
    /// Nobody is asked.
    pub is_agreed: bool,
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// One task.
    Run(Run),
    /// `tasks list`.
    TasksList {
        /// Only those that have not ended.
        is_open_only: bool,
        /// How many at most.
        limit: usize,
    },
    /// `tasks show`.
    TasksShow {
        /// An id, or the beginning or the end of one.
        task: String,
        /// Where a page goes; none is made when it is not said.
        html: Option<PathBuf>,
    },
    /// `tasks cost`.
    TasksCost {
        /// An id, or the beginning or the end of one.
        task: String,
    },
    /// `tasks cancel`.
    TasksCancel {
        /// An id, or the beginning or the end of one.
        task: String,
    },
    /// `tasks resume`.
    TasksResume(Resume),
    /// `tasks fork`.
    TasksFork(Fork),
    /// `replay`.
    Replay(Replay),
    /// `tasks export`.
    TasksExport {
        /// An id, or the beginning or the end of one.
        task: String,
        /// Where to; stdout when it is not said.
        output: Option<PathBuf>,
    },
    /// `tasks prune`.
    TasksPrune(Prune),
    /// `memory`.
    Memory(MemoryCommand),
    /// `audit`.
    Audit(AuditCommand),
    /// `ggs`.
    Ggs,
    /// `playbooks list`.
    PlaybooksList,
    /// `playbooks show`.
    PlaybooksShow {
        /// Its name.
        name: String,
    },
    /// `playbooks check`.
    PlaybooksCheck {
        /// The file; all playbooks when it is not said.
        file: Option<PathBuf>,
    },
    /// `init`.
    Init(InitWishes),
    /// `models`.
    Models {
        /// With what their servers have.
        is_all: bool,
    },
    /// `doctor`.
    Doctor {
        /// With a trial of the models.
        has_models: bool,
    },
    /// `config show`.
    ConfigShow,
    /// `config path`.
    ConfigPath,
    /// `schema`.
    Schema {
        /// A payload's name; all of them when it is not said.
        name: Option<String>,
        /// The AsyncAPI document instead.
        is_asyncapi: bool,
    },
    /// `completions`.
    Completions {
        /// For which shell.
        shell: Shell,
    },
}

impl Command {
    /// Whether it goes by the configuration. What helps to mend one that cannot be used does not.
    #[must_use]
    pub const fn needs_configuration(&self) -> bool {
        !matches!(
            self,
            Command::ConfigPath | Command::Init(_) | Command::Schema { .. } | Command::Completions { .. }
        )
    }
}

/// `run`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where the goal is.
    pub goal: TextSource,
    /// A file that says what may be done without asking.
    pub approve: Option<PathBuf>,
    /// Show each plan and ask before it runs.
    pub is_plan_shown: bool,
    /// Records as JSON lines on stdout while the task runs.
    pub is_stream: bool,
    /// The answer alone on stdout, as it was made.
    pub is_output_only: bool,
}

/// `tasks resume`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// An id, or the beginning or the end of one. Without it, every open task that no process runs.
    pub task: Option<String>,
    /// A file that says what may be done without asking.
    pub approve: Option<PathBuf>,
    /// Go on although an older journal was put back.
    pub is_forced: bool,
}

/// `tasks fork`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// An id, or the beginning or the end of one.
    pub task: String,
    /// The record to go on from.
    pub at: u64,
    /// Other settings of the controller, names with values.
    pub set: Vec<(String, String)>,
    /// A file that says what may be done without asking.
    pub approve: Option<PathBuf>,
}

/// `replay`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// An id, the beginning or the end of one, or a file.
    pub task: String,
    /// Settings of the controller to try, names with values; none to go through the task as it was.
    pub set: Vec<(String, String)>,
    /// What to compare it with: an id, the beginning or the end of one, or a file.
    pub diff: Option<String>,
    /// The first record to show.
    pub from: Option<u64>,
    /// The last record to show.
    pub to: Option<u64>,
    /// Whether to wait after every step.
    pub is_stepwise: bool,
    /// Whether questions and answers of models are shown in full.
    pub has_prompts: bool,
}

/// Where a text is: a goal, a fact, records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextSource {
    /// On the command line.
    Words(String),
    /// On stdin.
    Stdin,
    /// In a file.
    File(PathBuf),
}
