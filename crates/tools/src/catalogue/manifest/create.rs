//! `manifest_create`: writes a new file with the checksums of all files below a folder.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::super::overwrite::{self, OldFile};
use super::line;
use super::name::{self, NamedAlgorithm};
use crate::approval::{Gate, resolve};
use crate::catalogue::prelude::*;
use crate::files::hash::{self, Algorithm};
use crate::files::spot::Spot;
use crate::walk::Tally;
use crate::walk::measure::{Bounds, Step, walk};

pub(crate) struct ManifestCreate;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The folder.
    root: String,
    /// The manifest to make; it does not list itself.
    manifest: String,
    /// The kind of checksum; sha256 if not given.
    algorithm: Option<Algorithm>,
}

impl Typed for ManifestCreate {
    type Input = Input;
    const NAME: &'static str = "manifest_create";
    const ABOUT: &'static str = "Writes the checksums of all files below a folder, hidden ones too, into a new file that \
         `sha256sum -c` reads. A file that is there already is only replaced with a person's consent.";
    const GIVES: &'static str = "/count";
    const CLASS: CapabilityClass = CapabilityClass::Write;
    const EFFECT: Effect = Effect::Unsafe;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let root = show::path(&place.path("root", &input.root)?);
        let manifest = show::path(&place.path("manifest", &input.manifest)?);
        let algorithm = input.algorithm.filter(|algorithm| *algorithm != Algorithm::default());
        Ok(Target::new(format!("{root} into {manifest}")).with("algorithm", algorithm.map(Algorithm::name)))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let root = ctx.existing("root", &input.root)?;
        let manifest = ctx.place().path("manifest", &input.manifest)?;
        let algorithm = input.algorithm.unwrap_or_default();
        let other = match name::named_algorithm(&manifest) {
            Some(NamedAlgorithm::Known(said)) if said != algorithm => Some(said.name()),
            Some(NamedAlgorithm::Other(said)) => Some(said),
            Some(NamedAlgorithm::Known(_)) | None => None,
        };
        if let Some(said) = other {
            let own = algorithm.name();
            let reason = format!("it says {said}, but {own} sums are written: end the name in .{own}");
            return Err(ToolError::parameter("manifest", reason));
        }
        let gate = Gate::new(ctx);
        ctx.blocking(move |halt| create(&root, &manifest, algorithm, &gate, halt)).await
    }
}

struct ManifestResult {
    content: Vec<u8>,
    files: u64,
    bytes: u64,
    /// Links, sockets, pipes and devices, which a manifest does not list.
    others: u64,
    tally: Tally,
}

fn create(
    root: &Path,
    manifest: &Path,
    algorithm: Algorithm,
    gate: &Gate,
    halt: &Halt,
) -> Result<ToolAnswer, ToolError> {
    let root = &resolve::fully(root);
    let mut spot = Spot::at("write", manifest, halt)?;
    let manifest = &spot.path();
    let command = format!(
        "write the {} checksums of {} to {}",
        algorithm.name(),
        show::path(root),
        show::path(manifest)
    );
    let plan = gate.plan(ManifestCreate::NAME, command, [manifest]);
    let old = OldFile::at(&spot)?;
    gate.check_at(&plan, spot.folder())?;
    let made = make(root, manifest, algorithm, halt)?;
    let written = overwrite::write(&mut spot, old.as_ref(), &made.content, &plan, gate, halt)?;
    let files = show::count(made.files, "file", "files");
    let (path, note) = (show::path_line(manifest), written.note);
    let text = format!("wrote the {} checksums of {files} to {path}{note}", algorithm.name());
    let facts = json!({
        "manifest": show::path(manifest), "count": made.files, "bytes": made.bytes, "algorithm": algorithm.name(),
        "not_listed": made.others, "complete": made.tally.closed == 0,
    });
    let (created, side_effect) = (written.created, written.side_effect);
    Ok(ToolAnswer { created, side_effect, ..answer::walked(text, facts, made.tally.gaps()) })
}

fn make(
    root: &Path,
    manifest: &Path,
    algorithm: Algorithm,
    halt: &Halt,
) -> Result<ManifestResult, ToolError> {
    let mut made = ManifestResult { content: Vec::new(), files: 0, bytes: 0, others: 0, tally: Tally::new() };
    let mut missed = Tally::new();
    let failed = |source| ToolError::file("hash", root, source);
    if !std::fs::metadata(root).map_err(failed)?.is_dir() {
        return Err(failed(io::Error::from(io::ErrorKind::NotADirectory)));
    }
    let tally = walk(root, Bounds::new(halt), halt, |entry| {
        if !entry.meta.is_file() || entry.path == manifest {
            made.others += u64::from(!entry.meta.is_file() && !entry.meta.is_dir());
            return Step::On;
        }
        let Ok(below) = entry.path.strip_prefix(root) else { return Step::On };
        match hash::file(entry.path, algorithm, halt) {
            Ok(hashed) => {
                made.content.extend(line::write(&hashed.hex, below.as_os_str().as_bytes()));
                made.files += 1;
                made.bytes = made.bytes.saturating_add(hashed.bytes);
            }
            Err(error) => missed.miss(&error),
        }
        Step::On
    });
    made.tally = tally.map_err(failed)?;
    made.tally.add_missed(missed);
    // An incomplete manifest would make the other files look unlisted.
    if !made.tally.complete || halt.reached() {
        return Err(ToolError::TimedOut { ms: halt.limits.native_ms_max });
    }
    made.tally.nothing_missed(root)?;
    Ok(made)
}
