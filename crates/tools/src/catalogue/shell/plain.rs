//! Runs a program that needs no consent, or has it, outside the sandbox.

use std::path::Path;

use super::traces::{self, Changes, Traces};
use super::{Shell, roots};
use crate::error::ToolError;
use crate::process::{self, Ending, Job, ProgramEnd};
use crate::tool::ToolCtx;

impl Shell {
    /// Runs a program. Returns how it ended, and what changed meanwhile where the task works and in the folder
    /// `observed`, if one is given and that could be observed.
    pub(super) async fn run_plain(
        &self,
        job: Job,
        observed: Option<&Path>,
        ctx: &ToolCtx,
    ) -> Result<(ProgramEnd, Option<Changes>), ToolError> {
        let before = match observed {
            Some(folder) => traces(folder, ctx).await,
            None => None,
        };
        if before.is_some() {
            tokio::time::sleep(traces::TICK).await;
        }
        let program = job.program.clone();
        let ended = process::run(job, &self.host, &ctx.cancel)
            .await
            .map_err(|source| ToolError::file("start", &program, source))?;
        if ended.ending == Ending::Cancelled {
            return Err(ToolError::Cancelled);
        }
        let Some((before, folder)) = before.zip(observed) else { return Ok((ended, None)) };
        let changes = traces(folder, ctx).await.map(|now| before.until(&now));
        Ok((ended, changes))
    }
}

/// Records what is in these folders; `None` if that takes too long or fails.
async fn traces(cwd: &Path, ctx: &ToolCtx) -> Option<Traces> {
    let roots = roots(cwd, ctx);
    ctx.blocking(move |halt| Ok(Traces::below(&roots, halt))).await.ok().flatten()
}
