//! The trait of tools, and the context of a call.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use setpoint_protocol::gate::RunLevel;
use setpoint_protocol::limits::{FACTS_BYTES_MAX, TOOL_OUTPUT_BYTES_MAX};
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::{CallReading, Secret, Source, ToolAnswer, ToolSpec};
use setpoint_protocol::{Any, TaskId};
use tokio_util::sync::CancellationToken;

use crate::approval_file::Denials;
use crate::house::House;
use crate::keys::KnownKeys;
use crate::servers::ServedFiles;
use crate::turns::Turns;
use crate::undo::{Keeper, Written};

/// Something that R3 can do in the world.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Returns its entry in the catalogue.
    fn spec(&self) -> ToolSpec;

    /// Returns whether it is in the catalogue of this machine; one that is not still reads calls.
    fn is_offered(&self) -> bool {
        true
    }

    /// Reads a call before it runs. Pure: depends on nothing but its arguments.
    fn read(&self, input: &Any, surroundings: &Surroundings) -> CallReading;

    /// Runs a call. Every failure is an answer.
    async fn run(&self, input: &Any, ctx: &ToolCtx) -> ToolAnswer;
}

/// The context of a call.
#[derive(Clone, Debug)]
pub struct ToolCtx {
    /// The machine and the place of the task.
    pub surroundings: Arc<Surroundings>,
    /// The paths that this task created: every path that an earlier answer listed in `created`. The task may change
    /// them without consent.
    pub created: BTreeSet<PathBuf>,
    /// Places that no call may read, change or enter.
    pub house: Arc<House>,
    /// The folders in which programs are found by name.
    pub search_path: Arc<Vec<PathBuf>>,
    /// Where text came from that the task has read by now and that somebody elsewhere wrote.
    pub sources: BTreeSet<Source>,
    /// The keys that the task may have read by now.
    pub secrets: BTreeSet<Secret>,
    /// The digest of the granted approval.
    pub grant: Option<String>,
    /// A person must approve even what only touches the task's own files.
    pub caution: bool,
    /// The call must provably change nothing.
    pub probe: bool,
    /// How much may be changed without consent.
    pub level: RunLevel,
    /// What is denied whatever is allowed.
    pub(crate) denials: Denials,
    /// What servers outside the sandbox run.
    pub(crate) served: ServedFiles,
    /// Takes turns with other calls.
    pub(crate) turns: Turns,
    /// What is known of keys that the call may send.
    pub(crate) keys: KnownKeys,
    /// The task whose call it is.
    pub(crate) task: Option<TaskId>,
    /// The folder of what is kept for the task.
    pub(crate) kept: Option<PathBuf>,
    /// Keeps what the call changes, for an undo.
    pub(crate) keeper: Option<Keeper>,
    /// The gate lets everything through.
    #[cfg(feature = "ungated")]
    pub(crate) is_ungated: bool,
    /// Cancels the call.
    pub cancel: CancellationToken,
    /// The limits of the call.
    pub limits: Limits,
}

impl ToolCtx {
    /// Creates the context of a task in these surroundings that has created nothing yet, without a grant.
    #[must_use]
    pub fn new(surroundings: impl Into<Arc<Surroundings>>) -> Self {
        ToolCtx {
            surroundings: surroundings.into(),
            created: BTreeSet::new(),
            sources: BTreeSet::new(),
            secrets: BTreeSet::new(),
            house: Arc::default(),
            search_path: Arc::default(),
            grant: None,
            caution: false,
            probe: false,
            level: RunLevel::default(),
            denials: Denials::default(),
            served: ServedFiles::default(),
            turns: Turns::default(),
            keys: KnownKeys::default(),
            task: None,
            kept: None,
            keeper: None,
            #[cfg(feature = "ungated")]
            is_ungated: false,
            cancel: CancellationToken::new(),
            limits: Limits::default(),
        }
    }

    /// Returns what tasks have written.
    pub(crate) fn written(&self) -> Written {
        Written::new(self.kept.as_deref(), &self.created)
    }
}

/// The limits of a call. The answer reports a limit that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of an answer's text; head and tail are kept.
    pub output_bytes_max: usize,
    /// Bytes of an answer's facts as canonical JSON; the ends of lists are cut.
    pub facts_bytes_max: usize,
    /// Files and folders that a call visits.
    pub entries_max: usize,
    /// Folder levels that a call descends.
    pub depth_max: usize,
    /// Milliseconds that a call of a native tool takes; the answer is what was found by then.
    pub native_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            output_bytes_max: TOOL_OUTPUT_BYTES_MAX,
            facts_bytes_max: FACTS_BYTES_MAX,
            entries_max: 2_000_000,
            depth_max: 256,
            native_ms_max: 60_000,
        }
    }
}
