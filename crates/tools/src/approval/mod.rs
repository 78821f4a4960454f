//! The approval gate: what changes anything that is not the task's own does nothing until a person allowed exactly that.
//!
//! Reading and creating need no consent; neither does changing what this task created, or anything in its workspace. An
//! approval is bound to a digest over the command, the folder, every path it touches and what is there now, so that a
//! changed byte needs a new one. The gate never decides on a person's behalf and never remembers an approval: a call
//! carries its grant.
//!
//! A gate is not a wall: between the last look and the change itself there are microseconds in which another program may
//! interfere, and what a program does cannot be seen in its command. The sandbox is what holds it.

mod digest;
mod own;
pub(crate) mod resolve;
mod watched;

use std::path::PathBuf;

use setpoint_protocol::tool::{ApprovalNeed, ExecutedFile};

use crate::error::ToolError;
use crate::show;
use crate::tool::ToolCtx;
use own::Own;

/// What a call is about to do.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The tool's name.
    pub(crate) tool: &'static str,
    /// The exact command or operation, as a person reads it; equal texts do equal things.
    pub(crate) command: String,
    /// The folder it runs in.
    pub(crate) cwd: PathBuf,
    /// What it touches.
    pub(crate) touches: Vec<Touch>,
    /// What it executes, with the content's hashes.
    pub(crate) executed: Vec<ExecutedFile>,
    /// Why it needs consent whatever it touches.
    pub(crate) always: Option<String>,
}

/// One path that a call touches. Order is by path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Touch {
    /// Resolved: absolute, with no links on the way (see [`resolve`]).
    pub(crate) path: PathBuf,
    /// Whether it is deleted; else created or changed.
    pub(crate) is_delete: bool,
    /// Whether everything below it is touched too.
    pub(crate) is_recursive: bool,
}

impl Touch {
    /// A file that is created or changed.
    pub(crate) fn write(path: PathBuf) -> Self {
        Touch { path, is_delete: false, is_recursive: false }
    }
}

/// What the gate goes by; owned, because looking at files happens in a thread of its own.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    own: Own,
    grant: Option<String>,
    is_cautious: bool,
}

impl Gate {
    pub(crate) fn new(ctx: &ToolCtx) -> Self {
        Gate { own: Own::new(ctx), grant: ctx.grant.clone(), is_cautious: ctx.caution }
    }

    /// The task's workspace, resolved.
    pub(crate) fn workspace(&self) -> &std::path::Path {
        self.own.workspace()
    }

    /// Whether `path` (resolved) is the task's own.
    pub(crate) fn is_own(&self, path: &std::path::Path) -> bool {
        self.own.has(path)
    }

    /// Lets the plan through or says what has to be allowed. To be asked again right before the change, because what is
    /// there may have become something else.
    ///
    /// # Errors
    /// [`ToolError::Approval`] with what a person has to allow.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), ToolError> {
        let Some(mut reason) = self.reason(plan) else { return Ok(()) };
        let digest = digest::of(plan);
        match &self.grant {
            Some(grant) if *grant == digest => return Ok(()),
            Some(_) => reason.push_str("; what was allowed is not, or no longer, exactly this"),
            None => {}
        }
        let paths = |is_delete| {
            let touches = plan.touches.iter().filter(move |touch| touch.is_delete == is_delete);
            touches.map(|touch| show::path(&touch.path)).collect()
        };
        Err(ToolError::Approval(Box::new(ApprovalNeed {
            command: plan.command.clone(),
            writes: paths(false),
            deletes: paths(true),
            reason,
            digest,
        })))
    }

    /// Why the plan needs consent, or `None` when it needs none.
    fn reason(&self, plan: &Plan) -> Option<String> {
        if let Some(reason) = &plan.always {
            return Some(reason.clone());
        }
        for touch in &plan.touches {
            let shown = show::path_line(&touch.path);
            if let Some(foreign) = self.own.foreign(touch) {
                let verb = if touch.is_delete { "delete" } else { "change" };
                return Some(format!(
                    "it would {verb} {}, which this task did not create",
                    show::path_line(&foreign)
                ));
            }
            if let Some(why) = watched::reason(&touch.path)
                && !self.own.has(&touch.path)
            {
                return Some(format!("it would create {shown}: {why}"));
            }
        }
        self.is_cautious.then(|| "memory advises caution with this tool here".to_owned())
    }
}

#[cfg(test)]
mod tests;
