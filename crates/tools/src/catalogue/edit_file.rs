//! `edit_file`: replaces exact text in a file.

use std::io::Read;
use std::path::Path;

use setpoint_protocol::text::head_and_tail;

use super::overwrite::{self, OldFile};
use crate::approval::{Gate, Plan, preview};
use crate::catalogue::prelude::*;
use crate::files::hash::{self, Algorithm};
use crate::files::spot::Spot;

/// Largest file that is edited, before and after, in bytes.
pub const EDIT_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Maximum characters of the diff in the result, so that the model need not read the file again.
const DIFF_CHARS_MAX: usize = 1_200;

pub(crate) struct EditFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The file; it has to be there.
    path: String,
    /// The text to replace, exactly as it stands there, line ends included.
    find: String,
    /// The text to put in its place.
    replace: String,
    /// Replace it everywhere; otherwise it has to stand there once.
    #[serde(default)]
    all: bool,
}

impl Typed for EditFile {
    type Input = Input;
    const NAME: &'static str = "edit_file";
    const ABOUT: &'static str = "Replaces exact text in a text file; the text has to stand there exactly once unless `all` is \
         set. The old content is kept. A person is asked about a file outside the working directory, or one that other \
         programs obey.";
    const GIVES: &'static str = "/replacements";
    const CLASS: CapabilityClass = CapabilityClass::Write;
    const EFFECT: Effect = Effect::Unsafe;
    const CORE: bool = true;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let path = place.path("path", &input.path)?;
        Ok(Target::new(show::path(&path))
            .content("find", &input.find)
            .content("replace", &input.replace)
            .when("all", input.all))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        if input.find.is_empty() {
            return Err(ToolError::parameter("find", "it is empty"));
        }
        if input.find == input.replace {
            return Err(ToolError::parameter("replace", "it is the same text as `find`"));
        }
        let path = ctx.existing("path", &input.path)?;
        let gate = Gate::new(ctx);
        ctx.blocking(move |halt| edit(&path, &input, &gate, halt)).await
    }
}

fn edit(path: &Path, input: &Input, gate: &Gate, halt: &Halt) -> Result<ToolAnswer, ToolError> {
    let mut spot = Spot::at("edit", path, halt)?;
    let path = &spot.path();
    let Some(old) = OldFile::at(&spot)? else {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(ToolError::file("edit", path, missing));
    };
    let text = read_text(&spot, halt)?;
    let found = text.matches(&input.find).count();
    match found {
        0 => {
            return Err(ToolError::blocked_by_state("edit", path, "the text in `find` does not stand there"));
        }
        1 => {}
        _ if input.all => {}
        n => {
            let reason = format!("the text in `find` stands there {n} times; give more of it, or set `all`");
            return Err(ToolError::blocked_by_state("edit", path, reason));
        }
    }
    let grown =
        (found as u64).saturating_mul((input.replace.len() as u64).saturating_sub(input.find.len() as u64));
    if (text.len() as u64).saturating_add(grown) > EDIT_BYTES_MAX {
        return Err(too_large(path));
    }
    let new = text.replace(&input.find, &input.replace);
    let hash = hash::of(new.as_bytes(), Algorithm::Sha256);
    let command = format!(
        "edit {}: {} (result sha256 {hash})",
        show::path(path),
        show::count(found as u64, "replacement", "replacements")
    );
    let plan = Plan {
        cause: overwrite::is_git_file(new.as_bytes()),
        is_kept: true,
        ..gate.plan(EditFile::NAME, command, [path]).writing(new.as_bytes())
    };
    gate.check_at(&plan, spot.folder())
        .map_err(|error| error.with_preview(|| preview::diff(text.as_bytes(), new.as_bytes())))?;
    let written = overwrite::write(&mut spot, Some(&old), new.as_bytes(), &plan, gate, halt)?;
    let facts = json!({
        "path": show::path(path), "replacements": found, "bytes": new.len(), "sha256": hash,
    });
    let replacements = show::count(found as u64, "replacement", "replacements");
    let changed = head_and_tail(&preview::diff(text.as_bytes(), new.as_bytes()), DIFF_CHARS_MAX);
    let text = format!("edited {}: {replacements}{}\n{changed}", show::path_line(path), written.note);
    Ok(ToolAnswer { side_effect: written.side_effect, ..answer::found(text, facts) })
}

fn read_text(spot: &Spot, halt: &Halt) -> Result<String, ToolError> {
    let path = &spot.path();
    let failed = |source| ToolError::file("edit", path, source);
    let file = spot.read(halt).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(EDIT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > EDIT_BYTES_MAX {
        return Err(too_large(path));
    }
    String::from_utf8(bytes).map_err(|_| ToolError::unfit(path, "it is no UTF-8 text"))
}

fn too_large(path: &Path) -> ToolError {
    ToolError::blocked_by_state(
        "edit",
        path,
        format!("it is or would be larger than {}", show::amount(EDIT_BYTES_MAX)),
    )
}
