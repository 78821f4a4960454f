//! What a tool is, and what a call of it gets to know.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use setpoint_protocol::Any;
use setpoint_protocol::limits::{FACTS_BYTES_MAX, TOOL_OUTPUT_BYTES_MAX};
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::{CallReading, ToolAnswer, ToolSpec};
use tokio_util::sync::CancellationToken;

use crate::house::House;

/// One thing that R3 can do in the world.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Its entry in the catalogue.
    fn spec(&self) -> ToolSpec;

    /// An input that fits its schema.
    fn example(&self) -> Any;

    /// What can be known of a call before it runs. Pure: it depends on nothing but its arguments.
    fn read(&self, input: &Any, surroundings: &Surroundings) -> CallReading;

    /// Runs a call. Everything that can go wrong is an answer.
    async fn run(&self, input: &Any, ctx: &ToolCtx) -> ToolAnswer;
}

/// What a call runs under.
#[derive(Clone, Debug)]
pub struct ToolCtx {
    /// Machine and place of the task.
    pub surroundings: Arc<Surroundings>,
    /// What this task created so far: every path that an earlier answer named in `created`. The task may change it
    /// freely.
    pub created: BTreeSet<PathBuf>,
    /// Places that no call may read, change or enter.
    pub house: Arc<House>,
    /// The folders that programs are found in by their name.
    pub search_path: Arc<Vec<PathBuf>>,
    /// The digest of the approval that was given.
    pub grant: Option<String>,
    /// A person must approve even what only touches the task's own files.
    pub caution: bool,
    /// The call must provably change nothing.
    pub probe: bool,
    /// Stops the call.
    pub cancel: CancellationToken,
    /// How much a call may do and say.
    pub limits: Limits,
}

impl ToolCtx {
    /// For a task in these surroundings that created nothing yet, without a grant.
    #[must_use]
    pub fn new(surroundings: impl Into<Arc<Surroundings>>) -> Self {
        ToolCtx {
            surroundings: surroundings.into(),
            created: BTreeSet::new(),
            house: Arc::default(),
            search_path: Arc::default(),
            grant: None,
            caution: false,
            probe: false,
            cancel: CancellationToken::new(),
            limits: Limits::default(),
        }
    }
}

/// How much a call may do and say. Reaching one is told in the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of an answer's text; head and tail are kept.
    pub output_bytes_max: usize,
    /// Bytes of canonical JSON that an answer's facts may take; the ends of lists are left out.
    pub facts_bytes_max: usize,
    /// Files and folders that one call looks at.
    pub entries_max: usize,
    /// Folders below the first that one call goes down.
    pub depth_max: usize,
    /// Milliseconds that one call of a native tool takes; what was found until then is the answer.
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
