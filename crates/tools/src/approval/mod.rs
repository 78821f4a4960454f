//! The approval gate: a change to anything that is not the task's own waits until a person has allowed exactly that
//! change.
//!
//! Reading needs no consent; neither does creating in the working directory what no other program obeys, nor changing
//! what this task created, nor anything in its workspace. An approval is bound to a digest over the command, the
//! folder, every path it touches and their current state, so a changed byte needs a new approval. The gate never
//! decides on a person's behalf and never remembers an approval: a call carries its grant. It never opens Setpoint's
//! own house.
//!
//! A tool that changes files through an open folder has the gate examine that same folder ([`Gate::check_at`]), so that
//! the state which was approved is the state that is changed. The effects of a program cannot be seen in its command;
//! the sandbox limits those.

mod digest;
mod ground;
mod own;
pub(crate) mod preview;
pub(crate) mod resolve;
pub(crate) mod watched;

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::Stat;

use setpoint_protocol::tool::{ApprovalNeed, ExecutedFile, Source};

use crate::error::ToolError;
use crate::files::folder::{self, Folder};
use crate::files::spot::Spot;
use crate::house::House;
use crate::show;
use crate::tool::{Level, ToolCtx};
use crate::undo::{Keeper, Keeping, Size};
use ground::Ground;
use own::OwnFolders;

/// Maximum places that a question names as what the task has read.
const SOURCES_MAX: usize = 50;

/// The planned effects of a call.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) tool: &'static str,
    /// The exact command or operation as shown to a person; equal texts have equal effects.
    pub(crate) command: String,
    /// The folder it runs in.
    pub(crate) cwd: PathBuf,
    /// The paths it touches.
    pub(crate) touches: Vec<Touch>,
    /// The hosts it connects to.
    pub(crate) hosts: Vec<String>,
    /// The files it executes, with the hashes of their contents.
    pub(crate) executed: Vec<ExecutedFile>,
    /// Why it needs consent regardless of what it touches.
    pub(crate) always: Option<String>,
    /// A hash of the new content, if the command does not determine it.
    pub(crate) content: Option<String>,
    /// What an approval for the whole task covers is the command and the paths that need consent, not what it writes there.
    pub(crate) has_scope: bool,
    /// The tool keeps what it changes, for an undo ([`Gate::keep`]).
    pub(crate) is_kept: bool,
}

/// A path that a call touches, ordered by path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Touch {
    /// Absolute, with links resolved (see [`resolve`]).
    pub(crate) path: PathBuf,
    /// Whether it is deleted; otherwise it is created or changed.
    pub(crate) is_delete: bool,
    /// Whether everything below it is touched too.
    pub(crate) is_recursive: bool,
}

/// What the gate decides by. Owned, because files are examined in a separate thread.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    /// The working directory as the task names it, and resolved.
    named_cwd: PathBuf,
    cwd: PathBuf,
    own: OwnFolders,
    ground: Ground,
    house: Arc<House>,
    sources: BTreeSet<Source>,
    grant: Option<String>,
    is_cautious: bool,
    level: Level,
    keeper: Option<Keeper>,
    #[cfg(feature = "ungated")]
    is_ungated: bool,
}

impl Gate {
    pub(crate) fn new(ctx: &ToolCtx) -> Self {
        let named_cwd = ctx.place().surroundings.cwd;
        Gate {
            cwd: resolve::fully(&named_cwd),
            named_cwd,
            own: OwnFolders::new(ctx),
            ground: Ground::new(ctx),
            house: Arc::clone(&ctx.house),
            sources: ctx.sources.clone(),
            grant: ctx.grant.clone(),
            is_cautious: ctx.caution,
            level: ctx.level,
            keeper: ctx.keeper.clone(),
            #[cfg(feature = "ungated")]
            is_ungated: ctx.is_ungated,
        }
    }

    /// Returns the plan of a native tool that creates or changes these files.
    pub(crate) fn plan<'p>(
        &self,
        tool: &'static str,
        command: String,
        writes: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Plan {
        let write = |path: &PathBuf| Touch { path: path.clone(), is_delete: false, is_recursive: false };
        let touches = writes.into_iter().map(write).collect();
        let cwd = self.named_cwd.clone();
        let (hosts, executed) = (Vec::new(), Vec::new());
        Plan {
            tool,
            command,
            cwd,
            touches,
            hosts,
            executed,
            always: None,
            content: None,
            has_scope: false,
            is_kept: false,
        }
    }

    /// Returns whether the resolved `path` is in the task's workspace.
    pub(crate) fn is_in_workspace(&self, path: &Path) -> bool {
        self.own.is_in_workspace(path)
    }

    /// Returns whether the resolved `path` is the task's own or in a cache, so that its old state is not missed.
    pub(crate) fn is_made_again(&self, path: &Path) -> bool {
        self.own.is_in_workspace(path) || self.own.is_in_cache(path)
    }

    /// Returns whether other programs obey what is at the resolved `path`, so that a question must show it first.
    pub(crate) fn is_obeyed(&self, path: &Path) -> bool {
        self.ground.changing(path).is_some()
    }

    /// Returns whether the resolved `path` belongs to the task.
    pub(crate) fn is_own(&self, path: &Path) -> bool {
        self.own.has(path)
    }

    /// Keeps what is about to change outside of the workspace, for an undo. Returns whether everything was kept.
    ///
    /// # Errors
    /// If it cannot be read, or not be stored. Nothing may be changed then.
    pub(crate) fn keep(&self, note: impl FnOnce(&mut Keeping<'_>) -> io::Result<()>) -> io::Result<bool> {
        let Some(keeper) = &self.keeper else { return Ok(false) };
        let mut keeping = keeper.begin();
        note(&mut keeping)?;
        keeping.finish()
    }

    /// Notes that a command has put its changes in place. What is newer in folders that the task marked as caches was
    /// changed by somebody else.
    pub(crate) fn settle(&self) {
        // Without the note more counts as somebody else's, which loses nothing.
        self.keeper.as_ref().map(Keeper::settle);
    }

    /// Returns what the task has read from elsewhere that trust in `to` does not cover: those who wrote it may have led a
    /// model to send something there.
    pub(crate) fn read_beside(&self, to: &Source) -> Option<&Source> {
        self.sources.iter().find(|source| *source != to)
    }

    /// Lets the plan through or returns the approval that it needs. Call it again right before the change, because the
    /// state may have changed since.
    ///
    /// # Errors
    /// [`ToolError::Approval`] with what a person has to allow, and [`ToolError::House`] for what cannot be allowed.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), ToolError> {
        self.check_by(plan, None)
    }

    /// Like [`Gate::check`], for a change that is made through the folder `held`: entries in it are examined through
    /// it.
    ///
    /// # Errors
    /// As [`Gate::check`], and if the folder was moved.
    pub(crate) fn check_at(&self, plan: &Plan, held: &Folder) -> Result<(), ToolError> {
        if !held.is_in_place() {
            let reason = "the folder was moved or replaced meanwhile";
            return Err(ToolError::blocked_by_state("work in", held.path(), reason));
        }
        self.check_by(plan, Some(held))
    }

    fn check_by(&self, plan: &Plan, held: Option<&Folder>) -> Result<(), ToolError> {
        #[cfg(feature = "ungated")]
        if self.is_ungated {
            return Ok(());
        }
        let rooms = self.house.rooms();
        for touch in &plan.touches {
            rooms.check_change(&touch.path)?;
        }
        let unplaced = plan.touches.iter().find_map(|touch| Some((touch, look(touch, held).err()?)));
        let Some(mut reason) = self.reason(plan, unplaced.as_ref(), held) else { return Ok(()) };
        let digest = digest::of(plan, held);
        let scope = self.scope(plan, held);
        match &self.grant {
            Some(grant) if *grant == digest || scope.as_ref() == Some(grant) => return Ok(()),
            Some(_) => reason.push_str("; what was allowed is not, or no longer, exactly this"),
            None => {}
        }
        // If only some of the paths are known, a rule about paths must not allow the whole.
        let named = if unplaced.is_some() { &[][..] } else { &plan.touches };
        let paths = |is_delete| {
            let touches = named.iter().filter(move |touch| touch.is_delete == is_delete);
            touches.map(|touch| show::path(&touch.path)).collect()
        };
        Err(ToolError::Approval(Box::new(ApprovalNeed {
            command: plan.command.clone(),
            cwd: Some(resolve::fully(&plan.cwd)).filter(|cwd| *cwd != self.cwd).map(|cwd| show::path(&cwd)),
            writes: paths(false),
            deletes: paths(true),
            hosts: plan.hosts.clone(),
            after: self.sources.iter().take(SOURCES_MAX).cloned().collect(),
            reason,
            digest,
            scope,
            preview: None,
        })))
    }

    /// Returns what an approval for the whole task covers, for a plan that needs consent because of paths alone.
    fn scope(&self, plan: &Plan, held: Option<&Folder>) -> Option<String> {
        if !plan.has_scope || plan.always.is_some() || self.is_cautious {
            return None;
        }
        let is_kept = LazyCell::new(|| self.can_keep(plan));
        let asking = |touch: &&Touch| self.touching(touch, plan, held, &|| *is_kept).is_some();
        Some(digest::scope(plan, plan.touches.iter().filter(asking)))
    }

    /// Returns why the plan needs consent, or `None`.
    fn reason(
        &self,
        plan: &Plan,
        unplaced: Option<&(&Touch, io::Error)>,
        held: Option<&Folder>,
    ) -> Option<String> {
        let unplaced = unplaced.map(|(touch, error)| unplaced_reason(touch, error));
        match (&plan.always, unplaced) {
            (Some(always), Some(unplaced)) => Some(format!("{always}; {unplaced}")),
            (Some(reason), None) => Some(reason.clone()),
            (None, Some(unplaced)) => Some(unplaced),
            (None, None) => {
                let is_kept = LazyCell::new(|| self.can_keep(plan));
                let touched =
                    plan.touches.iter().find_map(|touch| self.touching(touch, plan, held, &|| *is_kept));
                touched.or_else(|| {
                    self.is_cautious.then(|| "memory advises caution with this tool here".to_owned())
                })
            }
        }
    }

    /// Returns whether everything that the plan changes can be kept for an undo.
    fn can_keep(&self, plan: &Plan) -> bool {
        plan.is_kept
            && self.keeper.as_ref().is_some_and(|keeper| {
                let sizes = plan.touches.iter().map(|touch| Size::of(&touch.path, touch.is_recursive));
                keeper.has_room_for(sizes.fold(Size::default(), Size::and))
            })
    }

    /// Returns why one touch needs consent, or `None`. `can_keep` tells whether the whole plan is kept for an undo.
    fn touching(
        &self,
        touch: &Touch,
        plan: &Plan,
        held: Option<&Folder>,
        can_keep: &dyn Fn() -> bool,
    ) -> Option<String> {
        let path = &touch.path;
        let shown = show::path_line(path);
        let found = match look(touch, held) {
            Ok(found) => found,
            Err(error) => return Some(unplaced_reason(touch, &error)),
        };
        if self.level == Level::L0 && !self.own.is_in_workspace(path) {
            return Some(format!("it would touch {shown}, and at level L0 every change asks"));
        }
        let Some(found) = found else {
            let why = if touch.is_delete {
                None
            } else if self.own.is_in_workspace(path) {
                self.ground.creating_in(self.own.workspace(), path, plan)
            } else {
                self.ground.creating(path, plan)
            };
            return why.map(|why| format!("it would create {shown}: {why}"));
        };
        let verb = if touch.is_delete { "delete" } else { "change" };
        if let Some(foreign) = self.own.foreign(touch, &found)
            && !(can_keep() && self.ground.is_open_to(touch, plan))
        {
            let target = link_target(touch, held).unwrap_or_default();
            let foreign = show::path_line(&foreign);
            return Some(format!("it would {verb} {foreign}{target}, which this task did not create"));
        }
        let has_names = folder::kind(&found).is_file() && found.st_nlink > 1;
        if has_names && !self.own.is_in_cache(path) {
            return Some(format!("it would {verb} {shown}, a file that has other names too (hard links)"));
        }
        if touch.is_delete || self.own.is_in_workspace(path) {
            return None;
        }
        self.ground.changing(path).map(|why| format!("it would change {shown}: {why}"))
    }
}

/// Returns the state of a touched path, or `None` if nothing is there.
fn look(touch: &Touch, held: Option<&Folder>) -> io::Result<Option<Stat>> {
    Spot::real(&touch.path, held)?.look()
}

fn unplaced_reason(touch: &Touch, error: &io::Error) -> String {
    format!("it would touch {}, whose place cannot be told ({error})", show::path_line(&touch.path))
}

/// Returns the target of a touched path that is a link.
fn link_target(touch: &Touch, held: Option<&Folder>) -> Option<String> {
    let spot = Spot::real(&touch.path, held).ok()?;
    let target = spot.folder().link(spot.name()).ok()?;
    Some(format!(" (a link to {})", show::line(&show::name(&target))))
}

#[cfg(test)]
mod tests;
