//! `rename_preview` and `rename_files`: replace a text in file names, first as a preview, then for real.

mod apply;
mod links;
mod plan;

use std::path::{Path, PathBuf};

use crate::approval::{Gate, Plan, resolve};
use crate::catalogue::prelude::*;
use crate::files::folder::Folder;
pub(crate) use apply::apply;
use links::OldLinks;
pub(crate) use plan::Rename;
use plan::{Change, Renames};

/// Maximum renames that are listed.
const LINES_MAX: usize = 200;
/// Maximum bytes of the list of renames.
const LIST_BYTES_MAX: usize = 48 * 1024;

pub(crate) struct RenamePreview;
pub(crate) struct RenameFiles;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The folder with the files.
    dir: String,
    /// The text in the names, exactly; no pattern. An ending such as `.txt` is looked for at the end of names alone.
    find: String,
    /// The text in its place; may be empty.
    replace: String,
    /// A text that looks like an ending, inside of the names too.
    #[serde(default)]
    anywhere: bool,
    /// The files in the folders below too.
    #[serde(default)]
    recursive: bool,
}

impl Input {
    fn change(&self) -> Change<'_> {
        Change { find: &self.find, replace: &self.replace, anywhere: self.anywhere }
    }

    fn target(&self, place: &Place) -> Result<Target, ToolError> {
        let dir = show::path(&place.path("dir", &self.dir)?);
        Ok(Target::new(format!("{:?} to {:?} in {dir}", self.find, self.replace))
            .when("anywhere", self.anywhere)
            .when("recursive", self.recursive))
    }

    fn check(&self) -> Result<(), ToolError> {
        if self.find.is_empty() {
            return Err(ToolError::parameter("find", "it is empty"));
        }
        if self.find.contains(['/', '\0']) {
            return Err(ToolError::parameter("find", "names hold no slash"));
        }
        if self.replace.contains(['/', '\0']) {
            return Err(ToolError::parameter("replace", "names hold no slash"));
        }
        Ok(())
    }
}

impl Typed for RenamePreview {
    type Input = Input;
    const NAME: &'static str = "rename_preview";
    const ABOUT: &'static str = "Shows which files of a folder would get which names if a text in their names became another, and \
         which of them cannot. Changes nothing.";
    const GIVES: &'static str = "FROM -> TO; /renames /conflicts";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        input.target(place)
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        input.check()?;
        let dir = ctx.existing("dir", &input.dir)?;
        let cwd = PathBuf::from(&ctx.surroundings.cwd);
        ctx.blocking(move |halt| {
            let renames = Renames::plan(&dir, &input.change(), input.recursive, halt)?;
            let links = old_links(&cwd, &dir, &renames, halt)?;
            Ok(answer::walked(
                text(&renames, &links, "to rename"),
                facts(&renames, &links),
                renames.tally.gaps(),
            ))
        })
        .await
    }
}

impl Typed for RenameFiles {
    type Input = Input;
    const NAME: &'static str = "rename_files";
    const ABOUT: &'static str = "Renames files: a text in their names becomes another. All of them or none; nothing is overwritten. \
         A person is asked about files outside the working directory. Look at rename_preview first.";
    const GIVES: &'static str = "/renames /count";
    const CLASS: CapabilityClass = CapabilityClass::Write;
    const EFFECT: Effect = Effect::Unsafe;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        input.target(place)
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        input.check()?;
        let dir = ctx.existing("dir", &input.dir)?;
        let gate = Gate::new(ctx);
        let cwd = PathBuf::from(&ctx.surroundings.cwd);
        ctx.blocking(move |halt| rename(dir, &cwd, &input, &gate, halt)).await
    }
}

fn rename(
    dir: PathBuf,
    cwd: &Path,
    input: &Input,
    gate: &Gate,
    halt: &Halt,
) -> Result<ToolAnswer, ToolError> {
    let failed = |source| ToolError::file("list", &dir, source);
    let held = Folder::open(&resolve::fully(&dir)).map_err(failed)?;
    let dir = held.path();
    let renames = Renames::plan(dir, &input.change(), input.recursive, halt)?;
    if !renames.tally.complete {
        return Err(ToolError::blocked_by_state(
            "rename the files of",
            dir,
            "there are too many of them to know them all",
        ));
    }
    if let Some(conflict) = renames.conflicts.first() {
        let reason = format!(
            "{} in the way, the first: {} to {} ({}); rename_preview lists them",
            show::count(renames.conflicts.len() as u64, "conflict stands", "conflicts stand"),
            show::path_line(&conflict.from),
            show::line(&conflict.to),
            conflict.reason
        );
        return Err(ToolError::blocked_by_state("rename the files of", dir, reason));
    }
    let both = renames.list.iter().flat_map(|rename| [&rename.from, &rename.to]);
    let command = format!(
        "rename {} in {}: {:?} becomes {:?}",
        show::count(renames.list.len() as u64, "file", "files"),
        show::path(dir),
        input.find,
        input.replace
    );
    let plan = Plan { is_kept: true, ..gate.plan(RenameFiles::NAME, command, both) };
    gate.check_at(&plan, &held)?;
    let links = old_links(cwd, dir, &renames, halt)?;
    let outside = renames.list.iter().filter(|rename| !gate.is_in_workspace(&rename.from));
    let pairs = outside.map(|rename| (rename.from.as_path(), rename.to.as_path()));
    gate.keep(|keeping| keeping.moves(pairs, &held))
        .map_err(|source| ToolError::file("note the old names in", dir, source))?;
    apply(&renames.list, &held)?;
    let created = renames.list.iter().filter(|rename| gate.is_own(&rename.from));
    let created = created.map(|rename| show::path(&rename.to)).collect();
    let side_effect = if renames.list.is_empty() { SideEffect::None } else { SideEffect::Reversible };
    Ok(ToolAnswer {
        created,
        side_effect,
        ..answer::walked(text(&renames, &links, "renamed"), facts(&renames, &links), renames.tally.gaps())
    })
}

fn old_links(cwd: &Path, dir: &Path, renames: &Renames, halt: &Halt) -> Result<OldLinks, ToolError> {
    OldLinks::find(cwd, dir, &renames.list, halt).map_err(|source| ToolError::file("list", dir, source))
}

fn text(renames: &Renames, links: &OldLinks, verb: &str) -> String {
    let mut text = format!("{} {verb}", show::count(renames.list.len() as u64, "file", "files"));
    let new_name = |path: &std::path::Path| show::line(&path.file_name().map(show::name).unwrap_or_default());
    let lines = renames
        .list
        .iter()
        .map(|rename| format!("{} -> {}", show::path_line(&rename.from), new_name(&rename.to)));
    text.push_str(&answer::listing(lines, LINES_MAX));
    if !renames.conflicts.is_empty() {
        text.push_str(&format!("\nconflicts ({}):", renames.conflicts.len()));
        let lines = renames.conflicts.iter().map(|conflict| {
            format!(
                "  {} -> {}: {}",
                show::path_line(&conflict.from),
                show::line(&conflict.to),
                conflict.reason
            )
        });
        text.push_str(&answer::listing(lines, LINES_MAX));
    }
    if let Some((link, name)) = &links.first {
        text.push_str(&format!(
            "\n{} to a file by its old name, the first: {} -> {}",
            show::count(links.count, "symbolic link leads", "symbolic links lead"),
            show::path_line(link),
            show::path_line(name)
        ));
    }
    text
}

fn facts(renames: &Renames, links: &OldLinks) -> Value {
    let link = links
        .first
        .as_ref()
        .map(|(link, name)| format!("{} to {}", show::path_line(link), show::path_line(name)));
    let conflict = renames.conflicts.first();
    let conflict = conflict.map(|conflict| {
        format!("{} to {}: {}", show::path_line(&conflict.from), show::line(&conflict.to), conflict.reason)
    });
    let list = renames.list.iter();
    let list = list.map(|rename| json!({ "from": show::path(&rename.from), "to": show::path(&rename.to) }));
    let conflicts = renames.conflicts.iter().map(
        |conflict| json!({ "from": show::path(&conflict.from), "to": conflict.to, "reason": conflict.reason }),
    );
    json!({
        "renames": answer::first(list, LINES_MAX, LIST_BYTES_MAX),
        "conflicts": answer::first(conflicts, LINES_MAX, LIST_BYTES_MAX),
        "conflict_count": renames.conflicts.len(),
        "conflict_count_named": conflict,
        "count": renames.list.len(),
        "entries": renames.entries,
        "other_case": renames.other_case,
        "links_to_old_names": links.count,
        "links_to_old_names_named": link,
        "links_unseen": !links.complete,
        "unreadable": renames.tally.unreadable,
        "complete": renames.tally.complete,
    })
}
