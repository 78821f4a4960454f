//! `archive_list`: lists a tar archive with checksums, without unpacking it.
//!
//! Nothing is written. An archive that exceeds a limit is cut there, and the answer says so.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::catalogue::prelude::*;
use crate::files::hash::{self, Algorithm};
use crate::files::open;

/// Maximum bytes that are decompressed; a larger archive is cut there.
pub const ARCHIVE_BYTES_MAX: u64 = 64 * 1024 * 1024 * 1024;
/// Maximum entries that are listed; further entries are counted.
const ENTRIES_LISTED_MAX: usize = 20_000;
/// Maximum lines that are shown to a reader.
const LINES_MAX: usize = 200;

pub(crate) struct ArchiveList;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The archive: a tar file, compressed by gzip or not.
    archive: String,
}

impl Typed for ArchiveList {
    type Input = Input;
    const NAME: &'static str = "archive_list";
    const ABOUT: &'static str = "Lists a tar archive (gzip or plain) without unpacking it: paths, sizes and SHA-256 of its files, \
         and the sum of the sizes.";
    const GIVES: &'static str = "paths; /entries/0/path /count";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        Ok(Target::new(show::path(&place.path("archive", &input.archive)?)))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let path = ctx.existing("archive", &input.archive)?;
        ctx.blocking(move |halt| list(&path, ARCHIVE_BYTES_MAX, halt)).await
    }
}

#[derive(Default)]
struct ListedEntry {
    entries: Vec<Entry>,
    count: u64,
    files: u64,
    bytes: u64,
    /// Paths that lead out of the folder where the archive would be unpacked.
    outside: u64,
    is_cut: bool,
}

struct Entry {
    path: String,
    kind: &'static str,
    bytes: u64,
    sha256: Option<String>,
}

fn list(path: &Path, bytes_max: u64, halt: &Halt) -> Result<ToolAnswer, ToolError> {
    let failed = |source| ToolError::file("read", path, source);
    let mut file = BufReader::new(open::regular(path, halt).map_err(failed)?);
    let is_compressed = file.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]);
    let listed = if is_compressed {
        read(BoundedReader::new(MultiGzDecoder::new(file), bytes_max, halt))
    } else {
        read(BoundedReader::new(file, bytes_max, halt))
    };
    match listed {
        Ok(listed) => Ok(listed.answer(path)),
        Err(error) if error.raw_os_error().is_some() => Err(failed(error)),
        Err(error) => Err(ToolError::unfit(path, format!("it is no tar archive, or a damaged one: {error}"))),
    }
}

fn read<R: Read>(mut source: BoundedReader<'_, R>) -> io::Result<ListedEntry> {
    let mut listed = ListedEntry::default();
    let result = listed.read(&mut source);
    if source.is_over {
        // The limit caused this error, not the archive.
        listed.is_cut = true;
        return Ok(listed);
    }
    result.map(|()| listed)
}

impl ListedEntry {
    fn read<R: Read>(&mut self, source: &mut BoundedReader<'_, R>) -> io::Result<()> {
        let entries_max = source.halt.limits.entries_max as u64;
        let mut archive = tar::Archive::new(&mut *source);
        for entry in archive.entries()? {
            if self.count >= entries_max {
                self.is_cut = true;
                return Ok(());
            }
            self.add(entry?)?;
        }
        // An archive ends with a block of zeroes; reading past it detects damage in the compression.
        io::copy(source, &mut io::sink())?;
        if source.given == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is empty"));
        }
        Ok(())
    }

    fn add<R: Read>(&mut self, mut entry: tar::Entry<'_, R>) -> io::Result<()> {
        let path = show::bytes(&entry.path_bytes());
        let kind = kind(entry.header().entry_type());
        let (bytes, sha256) = if kind == "file" {
            let claimed = entry.size();
            let hashed = hash::stream(&mut entry, Algorithm::Sha256, &Halt::default(), |_| {})?;
            if hashed.bytes != claimed {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends in the middle of a file"));
            }
            (hashed.bytes, Some(hashed.hex))
        } else {
            (0, None)
        };
        self.count += 1;
        self.files += u64::from(kind == "file");
        self.bytes = self.bytes.saturating_add(bytes);
        self.outside += u64::from(leads_out(&path));
        if self.entries.len() < ENTRIES_LISTED_MAX {
            self.entries.push(Entry { path, kind, bytes, sha256 });
        }
        Ok(())
    }

    fn answer(self, path: &Path) -> ToolAnswer {
        let complete = !self.is_cut && self.count == self.entries.len() as u64;
        let mut text = format!(
            "{}: {}, {} with {}",
            show::path_line(path),
            show::count(self.count, "entry", "entries"),
            show::count(self.files, "file", "files"),
            show::amount(self.bytes)
        );
        if self.outside > 0 {
            text.push_str(&format!(
                "\nCAUTION: {} of the paths lead out of the folder it is unpacked in",
                self.outside
            ));
        }
        let lines = self.entries.iter().map(|entry| match entry.kind {
            "file" => format!("{:>12}  {}", show::amount(entry.bytes), show::line(&entry.path)),
            kind => format!("{kind:>12}  {}", show::line(&entry.path)),
        });
        text.push_str(&answer::listing(lines, LINES_MAX));
        let facts = json!({
            "entries": self.entries.iter().map(|entry| {
                json!({ "path": entry.path, "kind": entry.kind, "bytes": entry.bytes, "sha256": entry.sha256 })
            }).collect::<Vec<_>>(),
            "count": self.count,
            "files": self.files,
            "bytes": self.bytes,
            "outside": self.outside,
            "complete": complete,
        });
        answer::walked(text, facts, Gaps { complete, ..Gaps::default() })
    }
}

fn kind(kind: tar::EntryType) -> &'static str {
    match kind {
        tar::EntryType::Regular | tar::EntryType::Continuous | tar::EntryType::GNUSparse => "file",
        tar::EntryType::Directory => "directory",
        tar::EntryType::Symlink => "symlink",
        tar::EntryType::Link => "hard_link",
        _ => "other",
    }
}

fn leads_out(path: &str) -> bool {
    path.starts_with('/') || path.split('/').any(|part| part == "..")
}

/// A reader that yields at most this many bytes and stops when halted; records whether there were more.
struct BoundedReader<'a, R> {
    inner: R,
    left: u64,
    given: u64,
    is_over: bool,
    halt: &'a Halt,
}

impl<'a, R> BoundedReader<'a, R> {
    fn new(inner: R, bytes_max: u64, halt: &'a Halt) -> Self {
        BoundedReader { inner, left: bytes_max, given: 0, is_over: false, halt }
    }
}

impl<R: Read> Read for BoundedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.halt.reached() {
            self.is_over = true;
            return Ok(0);
        }
        if self.left == 0 {
            let mut probe = [0];
            self.is_over |= self.inner.read(&mut probe)? > 0;
            return Ok(0);
        }
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let got = self.inner.read(buffer.get_mut(..wanted).unwrap_or_default())?;
        self.left -= got as u64;
        self.given += got as u64;
        Ok(got)
    }
}
