//! `task_changes`: tells what the task has changed in files so far, for the judge of its work.

use std::path::PathBuf;

use setpoint_protocol::CallId;

use super::git_changes;
use crate::catalogue::prelude::*;
use crate::host::Host;
use crate::undo::Undoing;

const NOTHING: &str = "all files that the task touched are as before it";

pub(crate) struct TaskChanges {
    host: Host,
}

impl TaskChanges {
    pub(crate) fn new(host: &Host) -> Self {
        TaskChanges { host: host.clone() }
    }
}

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
        let touched = input.touched;
        let measured = ctx.blocking(move |_| {
            // Also where somebody else changed a file since: what is there now is what counts.
            let undoing = Undoing::of(&folder, is_meant, true).map_err(|error| unfit(error.to_string()))?;
            let owns = undoing.own_folders(&cwd, &touched, &created);
            Ok((undoing, owns, cwd, touched, created))
        });
        let (undoing, owns, cwd, touched, created) = measured.await?;
        let git = git_changes::told(&owns, &self.host, ctx).await?;
        ctx.blocking(move |_| {
            let taken = git.text.chars().count();
            let (mut text, mut facts) = undoing.report(&cwd, &touched, &created, &git.folders, taken);
            facts["whole"] = input.of.is_none().into();
            facts["commits"] = json!({ "new": git.new, "lost": git.lost });
            facts["committed"] = git.committed.into_iter().collect();
            text.push_str(&git.text);
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
