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
mod facts;
mod git_files;
mod ground;
pub(crate) mod named;
pub(crate) mod ordinary;
mod outputs;
mod own;
pub(crate) mod preview;
pub(crate) mod resolve;
mod start_up;
mod starters;
pub(crate) mod watched;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use setpoint_machine::gate::{self, Decision};
use setpoint_protocol::gate::{Cause, Facts, Found, Grant, RunLevel, Stage};
use setpoint_protocol::tool::{ApprovalNeed, ExecutedFile, Secret, Source};

use crate::approval_file::Denials;
use crate::error::ToolError;
use crate::files::folder::Folder;
use crate::house::{House, Rooms};
use crate::keys::KnownKeys;
use crate::show;
use crate::tool::ToolCtx;
use crate::undo::{Keeper, Keeping};
use ground::Ground;
pub(crate) use ground::obeyed;
use own::OwnFolders;

/// Maximum places that a question names as what the task has read.
const SOURCES_MAX: usize = 50;

/// What a question about sending something adds if not all files were looked at for keys.
const KEYS_UNSURE: &str = "; there are too many files here to look for keys in all of them";

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
    /// What may need consent regardless of the paths that it touches.
    pub(crate) cause: Option<Cause>,
    /// A hash of the new content, if the command does not determine it.
    pub(crate) content: Option<String>,
    /// What an approval for the whole task covers is the command and the paths that need consent, not what it writes there.
    pub(crate) has_scope: bool,
    /// The tool keeps what it changes, for an undo ([`Gate::keep`]).
    pub(crate) is_kept: bool,
    /// What confines the command.
    pub(crate) stage: Stage,
}

impl Plan {
    /// Returns the plan, which writes exactly this content.
    pub(crate) fn writing(mut self, content: &[u8]) -> Self {
        for touch in &mut self.touches {
            touch.is_plain = ordinary::is_plain(&touch.path, content);
        }
        self
    }

    /// Returns whether it may send something away from this machine.
    fn can_send(&self) -> bool {
        self.cause.as_ref().is_some_and(gate::sends)
    }
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
    /// Whether a folder is made there, if nothing is there.
    pub(crate) is_folder: bool,
    /// Whether its new content is known and starts nothing ([`ordinary::is_plain`]).
    pub(crate) is_plain: bool,
}

impl Touch {
    /// Returns whether it makes a folder, not in the place of a link, so that nothing leads elsewhere by it.
    fn is_new_folder(&self) -> bool {
        let is_other = || self.path.symlink_metadata().is_ok_and(|found| !found.is_dir());
        self.is_folder && !self.is_delete && !is_other()
    }
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
    secrets: BTreeSet<Secret>,
    keys: KnownKeys,
    denials: Denials,
    grant: Option<String>,
    is_cautious: bool,
    level: RunLevel,
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
            secrets: ctx.secrets.clone(),
            keys: ctx.keys.clone(),
            denials: ctx.denials.clone(),
            grant: ctx.grant.clone(),
            is_cautious: ctx.caution,
            level: ctx.level,
            keeper: ctx.keeper.clone(),
            #[cfg(feature = "ungated")]
            is_ungated: ctx.is_ungated,
        }
    }

    /// Refuses a command that a line of the approval file denies by its text, for one that may run without a question.
    ///
    /// # Errors
    /// [`ToolError::Denied`] with the line.
    pub(crate) fn check_command(&self, command: &str) -> Result<(), ToolError> {
        match self.denials.file().and_then(|file| file.denying(command, &[], std::iter::empty())) {
            Some(line) => Err(ToolError::Denied { line }),
            None => Ok(()),
        }
    }

    /// Returns the plan of a native tool that creates or changes these files.
    pub(crate) fn plan<'p>(
        &self,
        tool: &'static str,
        command: String,
        writes: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Plan {
        let write = |path: &PathBuf| Touch {
            path: path.clone(),
            is_delete: false,
            is_recursive: false,
            is_folder: false,
            is_plain: false,
        };
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
            cause: None,
            content: None,
            has_scope: false,
            is_kept: false,
            stage: Stage::Plain,
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
        self.ground.changing(path, false).is_some()
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
        self.keep_holding(BTreeSet::new(), note)
    }

    /// The same for files that may hold these keys, although no call that read them is known.
    pub(crate) fn keep_holding(
        &self,
        secrets: BTreeSet<Secret>,
        note: impl FnOnce(&mut Keeping<'_>) -> io::Result<()>,
    ) -> io::Result<bool> {
        let Some(keeper) = &self.keeper else { return Ok(false) };
        let keeper = keeper.clone().holding(secrets);
        let mut keeping = keeper.begin();
        note(&mut keeping)?;
        keeping.finish()
    }

    /// Returns what is known of keys.
    pub(crate) fn keys(&self) -> &KnownKeys {
        &self.keys
    }

    /// Notes that a command has put its changes in place. What is newer in folders that the task marked as caches was
    /// changed by somebody else.
    pub(crate) fn settle(&self) {
        // Without the note more counts as somebody else's, which loses nothing.
        self.keeper.as_ref().map(Keeper::settle);
    }

    /// Lets the plan through or returns the approval that it needs. Call it again right before the change, because the
    /// state may have changed since.
    ///
    /// # Errors
    /// [`ToolError::Approval`] with what a person has to allow, and [`ToolError::House`] and [`ToolError::Denied`] for what
    /// cannot be allowed.
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
        let mut facts = self.facts(plan, held);
        match gate::decide(&facts) {
            Decision::LetThrough => return Ok(()),
            Decision::Refuse { touch } => return Err(closed(&rooms, plan, touch)),
            Decision::Deny { line } => return Err(ToolError::Denied { line }),
            Decision::Ask(_) => {}
        }
        let digest = digest::of(plan, &facts, held);
        let scope = self.scope(plan, &facts);
        facts.grant = match &self.grant {
            Some(grant) if *grant == digest || scope.as_ref() == Some(grant) => Grant::Covers,
            Some(_) => Grant::Void,
            None => Grant::None,
        };
        let asking = match gate::decide(&facts) {
            Decision::LetThrough => return Ok(()),
            Decision::Refuse { touch } => return Err(closed(&rooms, plan, touch)),
            Decision::Deny { line } => return Err(ToolError::Denied { line }),
            Decision::Ask(asking) => asking,
        };
        // If only some of the paths are known, a rule about paths must not allow the whole.
        let is_unplaced = facts.touches.iter().any(|touch| matches!(touch.found, Found::Unknown(_)));
        let named = if is_unplaced { &[][..] } else { &plan.touches };
        let is_unsure = plan.can_send() && self.keys.is_cut();
        let unsure = if is_unsure { KEYS_UNSURE } else { "" };
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
            secrets: self.secrets_read(plan).take(SOURCES_MAX).collect(),
            rule: Some(asking.rule),
            facts: Some(Box::new(gate::deciding(facts, &asking))),
            reason: format!("{}{unsure}", asking.reason),
            digest,
            scope,
            preview: None,
        })))
    }

    /// Returns what an approval for the whole task covers, for a plan that needs consent because of paths alone.
    fn scope(&self, plan: &Plan, facts: &Facts) -> Option<String> {
        if !plan.has_scope || plan.cause.is_some() || self.is_cautious {
            return None;
        }
        let asking = plan.touches.iter().zip(&facts.touches);
        let asking = asking.filter(|(_, found)| gate::is_asked_about(found, facts)).map(|(touch, _)| touch);
        Some(digest::scope(plan, asking))
    }
}

/// Returns the error for a path of the house, which no approval opens.
fn closed(rooms: &Rooms, plan: &Plan, touch: usize) -> ToolError {
    let path = plan.touches.get(touch).map_or(plan.cwd.as_path(), |touch| &touch.path);
    rooms.check_change(path).err().unwrap_or_else(|| ToolError::House { path: show::path(path) })
}

#[cfg(test)]
mod tests;
