//! Gathers what the rules of the gate decide by ([`setpoint_machine::gate`]). Nothing is decided here.

use std::io;

use rustix::fs::Stat;
use setpoint_protocol::gate::{Area, Facts, Found, Grant, TouchFacts};
use setpoint_protocol::tool::Secret;

use super::{Gate, Plan, Touch};
use crate::files::folder::{self, Folder};
use crate::files::spot::Spot;
use crate::house::Rooms;
use crate::show;
use crate::undo::Size;

/// What makes a folder, or the place of a file, one that other programs obey.
const WITHIN: &str = "other programs obey something below it, or it is in a Git repository's own folder";

impl Gate {
    /// Returns the facts about a plan, without a grant.
    pub(super) fn facts(&self, plan: &Plan, held: Option<&Folder>) -> Facts {
        let rooms = self.house.rooms();
        let mut facts = Facts {
            level: self.level,
            cwd: show::path_line(&self.cwd),
            cause: plan.cause.clone(),
            touches: plan.touches.iter().map(|touch| self.touch(touch, plan, held, &rooms)).collect(),
            is_kept: false,
            is_cautious: self.is_cautious,
            sources: self.sources.iter().cloned().collect(),
            secrets: self.secrets_read(plan).collect(),
            contains: if plan.can_send() { self.keys.all_in(&plan.command) } else { Vec::new() },
            denied: None,
            acts_outside: plan
                .touches
                .iter()
                .find(|touch| self.ground.acts_outside(touch))
                .map(|touch| show::path_line(&touch.path)),
            stage: plan.stage.clone(),
            grant: Grant::None,
        };
        facts.denied = self.denials.file().and_then(|file| {
            // A new link or file does more to what is denied below its name than a folder does: it leads elsewhere.
            let is_new_folder = |(touch, known): &(&Touch, &TouchFacts)| {
                touch.is_folder && !touch.is_delete && known.found == Found::Nothing
            };
            let touched = plan.touches.iter().zip(&facts.touches);
            let touched = touched.map(|one| (one.0.path.as_path(), is_new_folder(&one)));
            file.denying(&plan.command, &plan.hosts, touched)
        });
        // Both walk folders, and only matter for what the task did not create.
        facts.is_kept = facts.touches.iter().any(is_foreign) && self.can_keep(plan);
        for (touch, known) in plan.touches.iter().zip(&mut facts.touches) {
            let is_open = known.obeyed.is_some() || !is_foreign(known);
            if facts.is_kept && !is_open && !self.ground.is_open_to(touch, plan) {
                known.obeyed = Some(WITHIN.to_owned());
            }
        }
        facts
    }

    /// Returns the keys that the task has read, and for what sends something the ones that it may have read unnoticed.
    pub(super) fn secrets_read(&self, plan: &Plan) -> impl Iterator<Item = Secret> {
        let is_unsure = plan.can_send() && self.keys.is_cut();
        self.secrets.iter().cloned().chain(is_unsure.then_some(Secret::Unsearched))
    }

    fn touch(&self, touch: &Touch, plan: &Plan, held: Option<&Folder>, rooms: &Rooms) -> TouchFacts {
        let path = &touch.path;
        let area = match path {
            path if self.own.is_in_workspace(path) => Area::Workspace,
            path if self.ground.has(path) => Area::WorkingDirectory,
            _ => Area::Elsewhere,
        };
        let is_closed = rooms.check_change(path).is_err();
        let state = match look(touch, held) {
            _ if is_closed => Ok(None),
            // Below a file that the plan replaces by a folder, nothing is there yet.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory && replaces_file(touch, plan) => {
                Ok(None)
            }
            state => state,
        };
        let has_other_names =
            matches!(&state, Ok(Some(found)) if folder::kind(found).is_file() && found.st_nlink > 1);
        let found = match &state {
            Err(error) => Found::Unknown(error.to_string()),
            Ok(None) => Found::Nothing,
            Ok(Some(found)) => match self.own.foreign(touch, found) {
                None => Found::Own,
                Some(foreign) => {
                    Found::Foreign { path: show::path_line(&foreign), target: link_target(touch, held) }
                }
            },
        };
        let obeyed = match (&found, area) {
            (Found::Unknown(_), _) => None,
            (Found::Nothing, Area::Workspace) => self.ground.creating_in(self.own.workspace(), path, plan),
            (Found::Nothing | Found::Foreign { .. }, _) => self.ground.creating(path, plan),
            (Found::Own, _) => self.ground.changing(path, touch.is_plain),
        };
        // To take a mark away is a change of the folder that stays, not only the end of a file of the task's own.
        let unmarks = super::ground::unmarks(path, plan, found != Found::Nothing);
        let obeyed = obeyed.or(unmarks);
        TouchFacts {
            path: show::path_line(path),
            is_delete: touch.is_delete && unmarks.is_none(),
            is_closed,
            area,
            is_in_cache: has_other_names && self.own.is_in_cache(path),
            found,
            has_other_names,
            obeyed: obeyed.map(str::to_owned),
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
}

fn is_foreign(touch: &TouchFacts) -> bool {
    matches!(touch.found, Found::Foreign { .. })
}

/// Returns whether a touched path is below a file that the plan replaces by a folder.
fn replaces_file(touch: &Touch, plan: &Plan) -> bool {
    let file = touch.path.ancestors().skip(1).find(|path| path.symlink_metadata().is_ok());
    file.is_some_and(|file| {
        let is_folder = |touch: &Touch| touch.is_folder && !touch.is_delete && touch.path == file;
        file.symlink_metadata().is_ok_and(|found| found.is_file()) && plan.touches.iter().any(is_folder)
    })
}

/// Returns the state of a touched path, or `None` if nothing is there.
fn look(touch: &Touch, held: Option<&Folder>) -> io::Result<Option<Stat>> {
    Spot::real(&touch.path, held)?.look()
}

/// Returns the target of a touched path that is a link.
fn link_target(touch: &Touch, held: Option<&Folder>) -> Option<String> {
    let spot = Spot::real(&touch.path, held).ok()?;
    let target = spot.folder().link(spot.name()).ok()?;
    Some(show::line(&show::name(&target)))
}
