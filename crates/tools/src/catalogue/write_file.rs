//! `write_file`: writes a whole file or nothing.

use std::io::Read;
use std::path::Path;

use super::overwrite::{self, OldFile};
use crate::approval::{Gate, Plan, preview};
use crate::catalogue::prelude::*;
use crate::files::hash::{self, Algorithm};
use crate::files::spot::Spot;

pub(crate) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The file; a bare name is one of the working directory.
    path: String,
    /// The whole content.
    content: String,
    /// Whether a file that is already there may be replaced.
    #[serde(default)]
    overwrite: bool,
}

impl Typed for WriteFile {
    type Input = Input;
    const NAME: &'static str = "write_file";
    const ABOUT: &'static str = "Makes a file with this content, and the folders above it. Replacing a file that this task did \
         not create needs `overwrite`; the old content is kept. A person is asked about a file outside the working \
         directory, or one that other programs obey.";
    const GIVES: &'static str = "/created /sha256";
    const CLASS: CapabilityClass = CapabilityClass::Write;
    const EFFECT: Effect = Effect::Unsafe;
    const CORE: bool = true;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let path = place.path("path", &input.path)?;
        Ok(Target::new(show::path(&path))
            .content("content", &input.content)
            .when("overwrite", input.overwrite))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let path = ctx.place().path("path", &input.path)?;
        let gate = Gate::new(ctx);
        ctx.blocking(move |halt| write(&path, &input, &gate, halt)).await
    }
}

fn write(path: &Path, input: &Input, gate: &Gate, halt: &Halt) -> Result<ToolAnswer, ToolError> {
    let mut spot = Spot::at("write", path, halt)?;
    let path = &spot.path();
    let content = input.content.as_bytes();
    let hash = hash::of(content, Algorithm::Sha256);
    let command = format!(
        "write {} ({}, sha256 {hash})",
        show::path(path),
        show::count(content.len() as u64, "byte", "bytes")
    );
    let plan = Plan {
        cause: overwrite::is_git_file(content),
        is_kept: true,
        ..gate.plan(WriteFile::NAME, command, [path]).writing(content)
    };
    let old = OldFile::at(&spot)?;
    if old.is_some() && !input.overwrite && !gate.is_own(path) {
        let reason = "it is there already; use another name, or `overwrite`";
        return Err(ToolError::blocked_by_state("write", path, reason));
    }
    gate.check_at(&plan, spot.folder()).map_err(|error| {
        error.with_preview(|| match &old {
            None => preview::diff(b"", content),
            Some(_) => old_content(&spot, halt).map_or_else(
                |error| format!("[no preview: what is there cannot be read: {error}]"),
                |old| preview::diff(&old, content),
            ),
        })
    })?;
    let written = overwrite::write(&mut spot, old.as_ref(), content, &plan, gate, halt)?;
    let facts = json!({
        "path": show::path(path), "bytes": content.len(), "sha256": hash, "created": old.is_none(),
    });
    let verb = if old.is_none() { "created" } else { "replaced" };
    let size = show::amount(content.len() as u64);
    let text = format!("{verb} {} ({size}){}", show::path_line(path), written.note);
    let (created, side_effect) = (written.created, written.side_effect);
    Ok(ToolAnswer { created, side_effect, ..answer::found(text, facts) })
}

/// Reads the old content, up to one byte more than a preview shows.
fn old_content(spot: &Spot, halt: &Halt) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    spot.read(halt)?.take(preview::PREVIEW_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
