//! `apply_patch`: applies a unified diff to files, all of it or nothing.

mod apply;
mod parse;
mod place;

use std::collections::BTreeSet;
use std::path::PathBuf;

use setpoint_protocol::text::clip;

use super::edit_file::EDIT_BYTES_MAX;
use super::overwrite;
use crate::approval::{Gate, Plan, Touch, ordinary, preview};
use crate::catalogue::prelude::*;
use crate::files::folder;
use crate::files::hash::{self, Algorithm};
use crate::files::spot::Spot;
use apply::{Change, New, Old};
use parse::{Act, Part};

pub use parse::PATCH_FILES_MAX;

/// Longest patch, in bytes.
pub const PATCH_BYTES_MAX: usize = 1024 * 1024;
/// Maximum characters of the differences that a person sees.
const PREVIEW_CHARS_MAX: usize = 24 * 1024;

pub(crate) struct ApplyPatch;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The patch: a unified diff, as `git diff` writes it. It may create, delete, rename and copy files.
    patch: String,
}

impl Typed for ApplyPatch {
    type Input = Input;
    const NAME: &'static str = "apply_patch";
    const ABOUT: &'static str = "Applies a unified diff to one or more text files: all of it, or nothing. Every line of context must \
         match exactly. The old content is kept. A person is asked about files outside the working directory, or ones that \
         other programs obey. For a single place in a file, edit_file is simpler.";
    const GIVES: &'static str = "/count";
    const CLASS: CapabilityClass = CapabilityClass::Write;
    const EFFECT: Effect = Effect::Unsafe;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let mut paths = Vec::new();
        for part in parse::parts(&input.patch)? {
            paths.push(show::path(&place.path("patch", &part.path)?));
        }
        Ok(Target::new(paths.join(" ")).content("patch", &input.patch))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        if input.patch.len() > PATCH_BYTES_MAX {
            let why = format!("it is larger than {}; split it", show::amount(PATCH_BYTES_MAX as u64));
            return Err(ToolError::parameter("patch", why));
        }
        let mut parts = Vec::new();
        for part in parse::parts(&input.patch)? {
            let path = ctx.existing("patch", &part.path)?;
            let to = match &part.act {
                Act::Rename { to } | Act::Copy { to } => Some(ctx.existing("patch", to)?),
                Act::Create { .. } | Act::Change | Act::Delete => None,
            };
            parts.push((part, path, to));
        }
        let gate = Gate::new(ctx);
        ctx.blocking(move |halt| patch(&input.patch, &parts, &gate, halt)).await
    }
}

/// What became of a file, for the answer.
struct Line {
    verb: &'static str,
    path: PathBuf,
    to: Option<PathBuf>,
    added: u64,
    removed: u64,
    notes: Vec<String>,
}

fn patch(
    text: &str,
    parts: &[(Part, PathBuf, Option<PathBuf>)],
    gate: &Gate,
    halt: &Halt,
) -> Result<ToolAnswer, ToolError> {
    let (mut changes, mut lines) = (Vec::new(), Vec::new());
    for (part, path, to) in parts {
        lines.push(change(part, path, to.as_deref(), &mut changes, halt)?);
    }
    let mut paths = BTreeSet::new();
    if let Some(twice) = changes.iter().find(|change| !paths.insert(change.spot.path())) {
        let reason = "the patch changes it more than once; join these changes";
        return Err(ToolError::blocked_by_state("patch", &twice.spot.path(), reason));
    }
    let plan = plan(text, &changes, gate);
    gate.check(&plan).map_err(|error| error.with_preview(|| differences(&changes, gate)))?;
    let made = apply::apply(&mut changes, &plan, gate, halt)?;
    Ok(answer_of(&lines, &changes, &made, gate))
}

/// Adds the changes of one part of the patch, and returns what they are.
fn change(
    part: &Part,
    path: &std::path::Path,
    to: Option<&std::path::Path>,
    changes: &mut Vec<Change>,
    halt: &Halt,
) -> Result<Line, ToolError> {
    let spot = Spot::at("patch", path, halt)?;
    let refused = |spot: &Spot, why: String| ToolError::blocked_by_state("patch", &spot.path(), why);
    let old = match part.act {
        Act::Create { .. } => None,
        _ => Some(read(&spot, halt)?),
    };
    let base = old.as_ref().map_or("", |old| &old.text);
    let place::Patched { text, notes } = place::patched(base, &part.edits)
        .map_err(|why| refused(&spot, format!("{why}; nothing was changed")))?;
    if text.len() as u64 > EDIT_BYTES_MAX {
        return Err(refused(&spot, format!("it would be larger than {}", show::amount(EDIT_BYTES_MAX))));
    }
    let mut line = Line {
        verb: "changed",
        path: spot.path(),
        to: None,
        added: part.edits.iter().map(|edit| edit.added).sum(),
        removed: part.edits.iter().map(|edit| edit.removed).sum(),
        notes,
    };
    let new = |text, mode| New { text, mode, is_executable: false };
    match (&part.act, old) {
        (Act::Create { is_executable }, _) => {
            free(&spot)?;
            line.verb = "created";
            let new = New { text, mode: None, is_executable: *is_executable };
            changes.push(Change { spot, old: None, new: Some(new) });
        }
        (Act::Change, old) => changes.push(Change { spot, old, new: Some(new(text, None)) }),
        (Act::Delete, old) => {
            if !text.is_empty() {
                let why = "the patch deletes it, but leaves lines of it; read the file again";
                return Err(refused(&spot, why.to_owned()));
            }
            line.verb = "deleted";
            changes.push(Change { spot, old, new: None });
        }
        (Act::Rename { .. } | Act::Copy { .. }, old) => {
            let to = Spot::at("patch", to.unwrap_or(path), halt)?;
            free(&to)?;
            let mode = old.as_ref().map(|old| old.stat.st_mode);
            line.to = Some(to.path());
            changes.push(Change { spot: to, old: None, new: Some(new(text, mode)) });
            if matches!(part.act, Act::Rename { .. }) {
                line.verb = "renamed";
                changes.push(Change { spot, old, new: None });
            } else {
                line.verb = "copied";
            }
        }
    }
    Ok(line)
}

/// Checks that nothing is at a place.
fn free(spot: &Spot) -> Result<(), ToolError> {
    let path = spot.path();
    match spot.look().map_err(|source| ToolError::file("patch", &path, source))? {
        None => Ok(()),
        Some(_) => {
            let reason = "the patch creates it, but something is there; nothing was changed";
            Err(ToolError::blocked_by_state("patch", &path, reason))
        }
    }
}

fn read(spot: &Spot, halt: &Halt) -> Result<Old, ToolError> {
    let path = spot.path();
    let failed = |source| ToolError::file("patch", &path, source);
    let stat = spot.look().map_err(failed)?.ok_or_else(|| failed(rustix::io::Errno::NOENT.into()))?;
    if !folder::kind(&stat).is_file() {
        return Err(ToolError::blocked_by_state("patch", &path, "it is not a regular file"));
    }
    let bytes = apply::whole(spot.read(halt).map_err(failed)?, EDIT_BYTES_MAX).map_err(failed)?;
    let Some(bytes) = bytes else {
        let reason = format!("it is larger than {}", show::amount(EDIT_BYTES_MAX));
        return Err(ToolError::blocked_by_state("patch", &path, reason));
    };
    let text = String::from_utf8(bytes).map_err(|_| ToolError::unfit(&path, "it is not UTF-8 text"))?;
    Ok(Old { stat, text })
}

fn plan(text: &str, changes: &[Change], gate: &Gate) -> Plan {
    let files = show::count(changes.len() as u64, "file", "files");
    let command = format!("patch {files} (patch sha256 {})", hash::of(text.as_bytes(), Algorithm::Sha256));
    let touch = |change: &Change| Touch {
        path: change.spot.path(),
        is_delete: change.new.is_none(),
        is_recursive: false,
        is_folder: false,
        is_plain: change
            .new
            .as_ref()
            .is_some_and(|new| ordinary::is_plain(&change.spot.path(), new.text.as_bytes())),
    };
    let new = changes.iter().filter_map(|change| change.new.as_ref());
    Plan {
        touches: changes.iter().map(touch).collect(),
        cause: new.filter_map(|new| overwrite::is_git_file(new.text.as_bytes())).next(),
        is_kept: true,
        ..gate.plan(ApplyPatch::NAME, command, [])
    }
}

/// Returns the changes as differences; what other programs obey comes first.
fn differences(changes: &[Change], gate: &Gate) -> String {
    let mut text = String::new();
    let mut list: Vec<&Change> = changes.iter().collect();
    list.sort_by_cached_key(|change| !gate.is_obeyed(&change.spot.path()));
    for (n, change) in list.iter().enumerate() {
        let old = change.old.as_ref().map_or("", |old| &old.text);
        let new = change.new.as_ref().map_or("", |new| &new.text);
        let difference = preview::diff(old.as_bytes(), new.as_bytes());
        let shown = format!("{}\n{difference}\n\n", show::path_line(&change.spot.path()));
        if n > 0 && text.len() + shown.len() > PREVIEW_CHARS_MAX {
            text.push_str(&format!("[the content of {} more files is not shown]", list.len() - n));
            break;
        }
        text.push_str(&clip(&shown, PREVIEW_CHARS_MAX));
    }
    text.trim_end().to_owned()
}

fn answer_of(lines: &[Line], changes: &[Change], made: &apply::Made, gate: &Gate) -> ToolAnswer {
    let mut text = format!("patched {}", show::count(lines.len() as u64, "file", "files"));
    for Line { verb, path, to, added, removed, notes } in lines {
        let to = to.as_ref().map_or_else(String::new, |to| format!(" to {}", show::path_line(to)));
        text.push_str(&format!("\n{verb} {}{to} (+{added} -{removed})", show::path_line(path)));
        for note in notes {
            text.push_str(&format!("; {note}"));
        }
    }
    let replaces = changes.iter().any(|change| change.old.is_some());
    text.push_str(match (replaces, made.is_kept) {
        (true, true) => "\nthe old content is kept for an undo",
        (true, false) => "\nthe old content was not kept",
        (false, _) => "",
    });
    let file = |line: &Line| {
        json!({
            "path": show::path(line.to.as_ref().unwrap_or(&line.path)), "from": line.to.as_ref().map(|_| show::path(&line.path)),
            "change": line.verb, "added": line.added, "removed": line.removed, "moved_hunks": line.notes.len(),
        })
    };
    let shown = |path: PathBuf| show::path(&path);
    let paths: Vec<String> = changes.iter().map(|change| shown(change.spot.path())).collect();
    let new = changes.iter().filter(|change| change.old.is_none());
    let new: Vec<String> = new.map(|change| shown(change.spot.path())).collect();
    let renames = lines.iter().filter(|line| line.verb == "renamed");
    let rename =
        |line: &Line| json!({ "from": show::path(&line.path), "to": line.to.as_deref().map(show::path) });
    // The same names as in the facts of other tools, by which judges know what the work changed itself.
    let facts = json!({
        "files": lines.iter().map(file).collect::<Vec<Value>>(), "count": lines.len(),
        "changed": { "count": paths.len(), "paths": paths, "made": new },
        "renames": renames.map(rename).collect::<Vec<Value>>(),
    });
    // A file that only got another name is not the task's own, unless it was before.
    let is_foreign = |path: &PathBuf| {
        let renamed = lines.iter().find(|line| line.verb == "renamed" && line.to.as_ref() == Some(path));
        renamed.is_some_and(|line| !gate.is_own(&line.path))
    };
    let new = changes.iter().filter(|change| change.old.is_none()).map(|change| change.spot.path());
    let created = made.folders.iter().cloned().chain(new.filter(|path| !is_foreign(path)));
    let created = created.map(|path| show::path(&path)).collect();
    let side_effect = match (changes.is_empty(), made.is_kept || !replaces) {
        (true, _) => SideEffect::None,
        (false, true) => SideEffect::Reversible,
        (false, false) => SideEffect::Irreversible,
    };
    ToolAnswer { created, side_effect, ..answer::found(text, facts) }
}
