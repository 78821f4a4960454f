//! `archive_create`: packs a folder or file as a tar archive, compressed unless its name ends in `.tar`.
//!
//! Entries come in byte order under the source's own name. Links are packed as links. A file with several names is
//! packed once per name, which the answer reports.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::overwrite::{self, OldFile};
use crate::approval::{Gate, resolve};
use crate::catalogue::prelude::*;
use crate::files::draft::{self, Draft};
use crate::files::hash::{self, Algorithm};
use crate::files::open;
use crate::files::spot::Spot;
use crate::walk::Tally;
use crate::walk::measure::{Bounds, Entry, Step, walk};

/// File name endings of compressed archives.
const COMPRESSED: &[&str] = &[".tar.gz", ".tgz"];

pub(crate) struct ArchiveCreate;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The folder or file to pack.
    source: String,
    /// The archive to make: `.tar.gz`, `.tgz` or `.tar`.
    archive: String,
}

impl Typed for ArchiveCreate {
    type Input = Input;
    const NAME: &'static str = "archive_create";
    const ABOUT: &'static str = "Packs a folder or file into a new tar archive (.tar.gz, .tgz or .tar), hidden files too. An \
         archive that is there already is only replaced with a person's consent.";
    const GIVES: &'static str = "/entries /sha256";
    const CLASS: CapabilityClass = CapabilityClass::Write;
    const EFFECT: Effect = Effect::Unsafe;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let source = show::path(&place.path("source", &input.source)?);
        let archive = show::path(&place.path("archive", &input.archive)?);
        Ok(Target::new(format!("{source} into {archive}")))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let source = ctx.existing("source", &input.source)?;
        let archive = ctx.place().path("archive", &input.archive)?;
        let name = archive.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let is_compressed = COMPRESSED.iter().any(|ending| name.ends_with(ending));
        if !is_compressed && !name.ends_with(".tar") {
            return Err(ToolError::parameter("archive", "its name must end in .tar.gz, .tgz or .tar"));
        }
        let gate = Gate::new(ctx);
        ctx.blocking(move |halt| create(&source, &archive, is_compressed, &gate, halt)).await
    }
}

fn create(
    source: &Path,
    archive: &Path,
    is_compressed: bool,
    gate: &Gate,
    halt: &Halt,
) -> Result<ToolAnswer, ToolError> {
    std::fs::metadata(source).map_err(|error| ToolError::file("pack", source, error))?;
    let source = &resolve::fully(source);
    let mut spot = Spot::at("write", archive, halt)?;
    let archive = &spot.path();
    let command = format!("pack {} into {}", show::path(source), show::path(archive));
    let plan = gate.plan(ArchiveCreate::NAME, command, [archive]);
    let old = OldFile::at(&spot)?;
    gate.check_at(&plan, spot.folder())?;

    let failed = |error| ToolError::file("write", archive, error);
    let folders = spot.make_folders().map_err(failed)?;
    let mut draft = Draft::beside(&spot).map_err(failed)?;
    let packed = if is_compressed {
        let mut encoder = GzEncoder::new(BufWriter::new(draft.file()), Compression::default());
        let packed = PackResult::new(source, archive).pack(&mut encoder, halt)?;
        encoder.finish().and_then(|mut writer| writer.flush()).map_err(failed)?;
        packed
    } else {
        let mut writer = BufWriter::new(draft.file());
        let packed = PackResult::new(source, archive).pack(&mut writer, halt)?;
        writer.flush().map_err(failed)?;
        packed
    };
    // An incomplete archive is useless, so the draft is dropped.
    if !packed.tally.complete {
        return Err(ToolError::TimedOut { ms: halt.limits.native_ms_max });
    }
    packed.tally.nothing_missed(source)?;
    let size = draft.file().metadata().map_err(failed)?.len();
    draft.file().rewind().map_err(failed)?;
    let sha256 = hash::stream(draft.file(), Algorithm::Sha256, &Halt::default(), |_| {}).map_err(failed)?.hex;

    let written = overwrite::commit(draft, &spot, &folders, old.as_ref(), &plan, gate, &Halt::default())?;
    let mut text = format!(
        "packed {} of {} from {} into {} ({})",
        show::count(packed.entries, "entry", "entries"),
        show::amount(packed.bytes),
        show::path_line(source),
        show::path_line(archive),
        show::amount(size)
    );
    if packed.again > 0 {
        let files = show::count(packed.again, "file", "files");
        text.push_str(&format!("\n{files} with several names packed under each of them"));
    }
    if packed.before_1970 > 0 {
        let old = show::count(packed.before_1970, "file or folder", "files or folders");
        text.push_str(&format!("\n{old} older than 1970 packed with the time 0"));
    }
    if packed.others > 0 {
        text.push_str(&format!("\n{} left out (sockets, pipes, devices)", packed.others));
    }
    let facts = json!({
        "archive": show::path(archive), "entries": packed.entries, "bytes": packed.bytes, "archive_bytes": size,
        "sha256": sha256, "not_packed": packed.others,
        "packed_again": packed.again, "before_1970": packed.before_1970,
        "complete": packed.tally.closed == 0,
    });
    let (created, side_effect) = (written.created, written.side_effect);
    Ok(ToolAnswer { created, side_effect, ..answer::walked(text, facts, packed.tally.gaps()) })
}

struct PackResult<'a> {
    source: &'a Path,
    archive: &'a Path,
    entries: u64,
    /// Bytes of the files, not of the archive.
    bytes: u64,
    /// Entries that an archive cannot hold.
    others: u64,
    /// Files that have other names too, in the source or elsewhere.
    again: u64,
    /// Files and folders with a time before 1970, which the header cannot store.
    before_1970: u64,
    tally: Tally,
}

impl<'a> PackResult<'a> {
    fn new(source: &'a Path, archive: &'a Path) -> Self {
        PackResult {
            source,
            archive,
            entries: 0,
            bytes: 0,
            others: 0,
            again: 0,
            before_1970: 0,
            tally: Tally::new(),
        }
    }

    fn pack(mut self, writer: &mut impl Write, halt: &Halt) -> Result<Self, ToolError> {
        let mut builder = tar::Builder::new(writer);
        builder.follow_symlinks(false);
        let mut failed: Option<io::Error> = None;
        let mut missed = Tally::new();
        let walked =
            walk(self.source, Bounds::new(halt), halt, |entry| match self.add(&mut builder, &entry, halt) {
                Ok(()) => Step::On,
                Err(Trouble::Source(error)) => {
                    missed.miss(&error);
                    Step::On
                }
                Err(Trouble::Archive(error)) => {
                    failed = Some(error);
                    Step::End
                }
            });
        if let Some(error) = failed {
            return Err(ToolError::file("write", self.archive, error));
        }
        self.tally = walked.map_err(|error| ToolError::file("pack", self.source, error))?;
        self.tally.add_missed(missed);
        builder.finish().map_err(|error| ToolError::file("write", self.archive, error))?;
        Ok(self)
    }

    fn add(
        &mut self,
        builder: &mut tar::Builder<impl Write>,
        entry: &Entry<'_>,
        halt: &Halt,
    ) -> Result<(), Trouble> {
        let Some(name) = self.name_in_archive(entry.path) else { return Ok(()) };
        if entry.path == self.archive {
            return Ok(());
        }
        let mut header = tar::Header::new_gnu();
        header.set_metadata(entry.meta);
        // The header stores times unsigned; `tar` would report a negative one as out of range.
        let is_before_1970 = entry.meta.mtime() < 0;
        if is_before_1970 {
            header.set_mtime(0);
        }
        if entry.meta.is_dir() {
            builder.append_data(&mut header, name, io::empty()).map_err(Trouble::Archive)?;
        } else if entry.meta.is_symlink() {
            let target = std::fs::read_link(entry.path).map_err(Trouble::Source)?;
            header.set_size(0);
            builder.append_link(&mut header, name, target).map_err(Trouble::Archive)?;
        } else if entry.meta.is_file() {
            let file = open::regular(entry.path, halt).map_err(Trouble::Source)?;
            let bytes = entry.meta.len();
            builder
                .append_data(&mut header, name, ExactReader { file, left: bytes })
                .map_err(Trouble::Archive)?;
            self.bytes += bytes;
            self.again += u64::from(entry.meta.nlink() > 1);
        } else {
            self.others += 1;
            return Ok(());
        }
        self.entries += 1;
        self.before_1970 += u64::from(is_before_1970);
        Ok(())
    }

    /// Returns the path under the source's own name, or `None` for drafts of this archive.
    fn name_in_archive(&self, path: &Path) -> Option<PathBuf> {
        let is_draft = path.parent() == self.archive.parent()
            && path.file_name().is_some_and(|name| draft::is_unused_name(&name.to_string_lossy()));
        let base = self.source.file_name().map_or_else(|| PathBuf::from("root"), PathBuf::from);
        let below = path.strip_prefix(self.source).ok()?;
        let name = if below.as_os_str().is_empty() { base } else { base.join(below) };
        (!is_draft).then_some(name)
    }
}

enum Trouble {
    Source(io::Error),
    Archive(io::Error),
}

/// A reader that yields exactly as many bytes as the header says, even if the file changes meanwhile: it cuts a file
/// that grew and pads one that shrank with zeroes, as `tar` does.
struct ExactReader {
    file: File,
    left: u64,
}

impl io::Read for ExactReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let Some(part) = buffer.get_mut(..wanted) else { return Ok(0) };
        if wanted == 0 {
            return Ok(0);
        }
        let got = match self.file.read(part)? {
            0 => {
                part.fill(0);
                wanted
            }
            got => got,
        };
        self.left -= got as u64;
        Ok(got)
    }
}
