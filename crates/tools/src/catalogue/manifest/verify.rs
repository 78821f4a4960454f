//! `manifest_verify`: compares files with the checksums in a manifest.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::line;
use super::name::{self, NamedAlgorithm};
use crate::catalogue::prelude::*;
use crate::files::hash::{self, Algorithm};
use crate::files::lines::{self, Line};
use crate::files::open;
use crate::walk::measure::{Bounds, Step, walk};

/// Maximum bytes per line; a longer line counts as malformed.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// Maximum lines of each list that are shown to a reader.
const LINES_MAX: usize = 100;
/// Maximum files and folders that are searched for unlisted files; if there are more, unlisted files are not counted.
const ENTRIES_MAX: usize = 20_000;

pub(crate) struct ManifestVerify;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The manifest.
    manifest: String,
    /// The folder that its names start from; the manifest's own if not given.
    root: Option<String>,
}

impl Typed for ManifestVerify {
    type Input = Input;
    const NAME: &'static str = "manifest_verify";
    const ABOUT: &'static str = "Checks the files that a manifest lists (lines of a SHA-256, SHA-512 or BLAKE3 checksum and a name) \
         and says which are missing or changed.";
    const GIVES: &'static str = "/ok /missing /changed";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let root = input.root.as_deref().map(|root| place.path("root", root)).transpose()?;
        let manifest = place.path("manifest", &input.manifest)?;
        Ok(Target::new(show::path(&manifest)).with("root", root.map(|root| show::path(&root))))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let manifest = ctx.existing("manifest", &input.manifest)?;
        let root = match &input.root {
            Some(root) => ctx.existing("root", root)?,
            None => manifest.parent().unwrap_or(Path::new("/")).to_path_buf(),
        };
        // Checksums of another algorithm may have the same length; then every file would look changed.
        if let Some(NamedAlgorithm::Other(said)) = name::named_algorithm(&manifest) {
            let reason =
                format!("{said} sums are not verified here, only those of SHA-256, SHA-512 and BLAKE3");
            return Err(ToolError::unfit(&manifest, reason));
        }
        ctx.blocking(move |halt| verify(&manifest, &root, halt)).await
    }
}

#[derive(Default)]
struct VerifyResult {
    count: u64,
    matched: u64,
    missing: Vec<String>,
    changed: Vec<String>,
    /// Changed, missing and unreadable files, in the manifest's order.
    problems: Vec<(String, &'static str)>,
    malformed: u64,
    unreadable: u64,
    /// Entries whose paths lead out of the root, which are not checked.
    outside: u64,
    /// Entries whose paths leave the root through a link in it.
    outside_by_links: u64,
    /// The paths of the entries, relative to the root.
    listed: BTreeSet<PathBuf>,
    /// Files below the root that no entry names; `None` if there are too many to search.
    unlisted: Option<u64>,
    is_cut: bool,
}

fn verify(manifest: &Path, root: &Path, halt: &Halt) -> Result<ToolAnswer, ToolError> {
    let failed = |source| ToolError::file("read", manifest, source);
    let mut reader = BufReader::new(open::regular(manifest, halt).map_err(failed)?);
    std::fs::metadata(root).map_err(|source| ToolError::file("check", root, source))?;
    let roots = [plain(root), std::fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf())];
    let mut verified = VerifyResult::default();
    let mut line = Vec::new();
    loop {
        if halt.reached() {
            verified.is_cut = true;
            break;
        }
        match lines::next(&mut reader, &mut line, LINE_BYTES_MAX).map_err(failed)? {
            Line::None => break,
            Line::Some { is_cut: true, .. } => verified.malformed += 1,
            Line::Some { .. } if line.trim_ascii().is_empty() => {}
            // A comment, as `sha256sum` reads it.
            Line::Some { .. } if line.first() == Some(&b'#') => {}
            Line::Some { .. } => match line::read(&line) {
                Some(entry) => verified.check(&entry, root, &roots, halt),
                None => verified.malformed += 1,
            },
        }
    }
    verified.unlisted = unlisted(manifest, root, &verified.listed, halt);
    Ok(verified.answer(manifest, root))
}

impl VerifyResult {
    fn check(&mut self, entry: &line::Entry, root: &Path, roots: &[PathBuf; 2], halt: &Halt) {
        let name = Path::new(OsStr::from_bytes(&entry.name));
        let path: PathBuf = root.join(name);
        self.count += 1;
        match inside(name, roots) {
            Some(below) => {
                self.listed.insert(below);
                let [_, real] = roots;
                let leads_out = std::fs::canonicalize(&path).is_ok_and(|path| !path.starts_with(real));
                self.outside_by_links += u64::from(leads_out);
            }
            None => self.outside += 1,
        }
        match holds(&path, &entry.hash, halt) {
            Ok(true) => self.matched += 1,
            Ok(false) => self.is_changed(name),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => self.is_cut = true,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                self.missing.push(show::path(name));
                self.problems.push((show::path(name), "missing"));
            }
            // Something else is at the file's path.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput) =>
            {
                self.is_changed(name);
            }
            Err(_) => {
                self.unreadable += 1;
                self.problems.push((show::path(name), "unreadable"));
            }
        }
    }

    fn is_changed(&mut self, name: &Path) {
        self.changed.push(show::path(name));
        self.problems.push((show::path(name), "changed"));
    }

    fn answer(self, manifest: &Path, root: &Path) -> ToolAnswer {
        let complete = !self.is_cut;
        let is_ok = complete && self.count > 0 && self.matched == self.count && self.malformed == 0;
        let mut text = format!(
            "{}: {} of {} match below {}",
            show::path_line(manifest),
            self.matched,
            show::count(self.count, "file", "files"),
            show::path_line(root)
        );
        for (title, list) in [("changed", &self.changed), ("missing", &self.missing)] {
            if !list.is_empty() {
                text.push_str(&format!("\n{title} ({}):", list.len()));
                text.push_str(&answer::listing(
                    list.iter().map(|name| format!("  {}", show::line(name))),
                    LINES_MAX,
                ));
            }
        }
        if self.outside > 0 {
            let paths = show::count(self.outside, "path", "paths");
            text.push_str(&format!("\n{paths} leading out of that folder, and checked where they lead"));
        }
        if self.outside_by_links > 0 {
            let paths = show::count(self.outside_by_links, "path", "paths");
            text.push_str(&format!(
                "\n{paths} leading out of that folder by a link, and checked where they lead"
            ));
        }
        if let Some(unlisted @ 1..) = self.unlisted {
            let files = show::count(unlisted, "file", "files");
            text.push_str(&format!("\n{files} below that folder not listed"));
        }
        if self.malformed > 0 {
            text.push_str(&format!("\n{} that are no entries", show::count(self.malformed, "line", "lines")));
        }
        let problems: Vec<Value> =
            self.problems.iter().map(|(name, what)| json!({ "path": name, "what": what })).collect();
        // The names are probably relative to another folder.
        let is_nothing_there =
            self.count > 0 && self.missing.len() == self.problems.len() && self.matched == 0;
        let facts = json!({
            "none_below": is_nothing_there.then(|| show::path(root)), "unlisted": self.unlisted,
            "problems": problems,
            "ok": is_ok, "count": self.count, "matched": self.matched, "missing": self.missing, "changed": self.changed,
            "malformed": self.malformed, "unreadable": self.unreadable, "outside": self.outside,
            "outside_by_links": self.outside_by_links, "complete": complete,
        });
        answer::walked(text, facts, Gaps { unreadable: self.unreadable, complete, ..Gaps::default() })
    }
}

/// Returns the part of `name` below one of the root's names, by text alone: links are not resolved.
fn inside(name: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    roots.iter().find_map(|root| plain(&root.join(name)).strip_prefix(root).ok().map(Path::to_path_buf))
}

/// Returns the number of files below the root that are not listed, except the manifest itself.
fn unlisted(manifest: &Path, root: &Path, listed: &BTreeSet<PathBuf>, halt: &Halt) -> Option<u64> {
    let own = std::fs::canonicalize(manifest).ok();
    let own = own.as_deref().and_then(|own| own.strip_prefix(std::fs::canonicalize(root).ok()?).ok());
    let bounds = Bounds { entries_max: ENTRIES_MAX, ..Bounds::new(halt) }.on_one_file_system();
    let mut count = 0;
    let tally = walk(root, bounds, halt, |entry| {
        let below = entry.path.strip_prefix(root).unwrap_or(entry.path);
        count += u64::from(entry.meta.is_file() && !listed.contains(below) && Some(below) != own);
        Step::On
    });
    tally.ok().filter(|tally| tally.complete).map(|_| count)
}

/// Returns an absolute path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// Returns whether the file has this checksum, by any algorithm whose checksums have that length.
fn holds(path: &Path, hash: &str, halt: &Halt) -> io::Result<bool> {
    let algorithms: &[Algorithm] =
        if hash.len() == 128 { &[Algorithm::Sha512] } else { &[Algorithm::Sha256, Algorithm::Blake3] };
    for algorithm in algorithms {
        if hash::file(path, *algorithm, halt)?.hex == hash {
            return Ok(true);
        }
    }
    Ok(false)
}
