//! `task_changes`: tells what the task has changed in files so far, for the judge of its work.

use std::path::PathBuf;

use setpoint_protocol::CallId;

use crate::catalogue::prelude::*;
use crate::undo::Undoing;

const NOTHING: &str = "all files that the task touched are as before it";

pub(crate) struct TaskChanges;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Paths that calls of the task reported as made, changed or removed.
    #[serde(default)]
    touched: Vec<PathBuf>,
    /// Those of them that were new.
    #[serde(default)]
    made: Vec<PathBuf>,
    /// How many calls may have changed files where nothing was watched.
    #[serde(default)]
    unwatched: usize,
    /// Only what the calls of this executor changed.
    of: Option<u16>,
}

impl Typed for TaskChanges {
    type Input = Input;
    const NAME: &'static str = setpoint_protocol::tool::TASK_CHANGES;
    const ABOUT: &'static str = "Tells what the task has changed in files, against what was there before it.";
    const GIVES: &'static str = "/count /removed /renamed /changed /made";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    /// It is a measurement of the program's own.
    fn is_offered(&self) -> bool {
        false
    }

    fn target(&self, _: &Input, _: &Place) -> Result<Target, ToolError> {
        Ok(Target::new("the task's changes"))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let unfit = |reason| ToolError::Unfit { path: "the task's changes".to_owned(), reason };
        let folder = ctx.kept.clone().ok_or_else(|| unfit("nothing is kept for an undo here".to_owned()))?;
        let (cwd, mut created) = (PathBuf::from(&ctx.surroundings.cwd), ctx.created.clone());
        created.extend(input.made);
        let is_meant = move |call: CallId| input.of.is_none_or(|of| call.instance.0 == of);
        ctx.blocking(move |_| {
            // Also where somebody else changed a file since: what is there now is what counts.
            let undoing = Undoing::of(&folder, is_meant, true).map_err(|error| unfit(error.to_string()))?;
            let (text, mut facts) = undoing.report(&cwd, &input.touched, &created);
            facts["whole"] = input.of.is_none().into();
            let mut text = text;
            if input.unwatched > 0 {
                let calls = show::count(input.unwatched as u64, "call", "calls");
                text.push_str(&format!("[{calls} may have changed files where nothing was watched]"));
            }
            let text = if text.is_empty() { NOTHING.to_owned() } else { text };
            Ok(answer::found(text, facts))
        })
        .await
    }
}
