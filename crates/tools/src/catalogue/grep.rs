//! `grep`: finds lines that match a pattern.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;

use globset::GlobMatcher;
use ignore::DirEntry;
use regex::bytes::{Regex, RegexBuilder};
use setpoint_protocol::limits::PATTERN_COMPILED_BYTES_MAX;
use setpoint_protocol::text::{clip, reads_as_pattern};

use super::pattern;
use crate::catalogue::prelude::*;
use crate::files::lines::{self, Line};
use crate::files::open;
use crate::walk::Tally;
use crate::walk::search;

/// Lines that a call returns if it gives no limit.
pub const GREP_LIMIT_DEFAULT: usize = 200;
/// Largest limit of lines; a larger one is reduced to it.
pub const GREP_LIMIT_MAX: usize = 5_000;
/// Maximum files that are named beside the lines; all are counted.
const FILES_TOLD_MAX: usize = 200;
/// Maximum characters of a line that are returned.
pub const GREP_LINE_CHARS_MAX: usize = 400;
/// Maximum bytes of a line that are searched; the rest of the line is skipped.
pub const GREP_LINE_BYTES_MAX: usize = 1024 * 1024;

pub(crate) struct Grep;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// A regular expression, or plain text with `fixed`.
    pattern: String,
    /// A file, or a folder to search through.
    path: String,
    /// Only files whose path below `path` matches this: `*.rs`, `src/**`.
    glob: Option<String>,
    /// The pattern is plain text.
    #[serde(default)]
    fixed: bool,
    /// Capital and small letters are the same.
    #[serde(default)]
    ignore_case: bool,
    /// How many lines to give; 200 if not given. All are counted.
    limit: Option<usize>,
    /// Hidden, ignored and cached files too.
    #[serde(default)]
    hidden: bool,
}

impl Typed for Grep {
    type Input = Input;
    const NAME: &'static str = "grep";
    const ABOUT: &'static str = "Finds the lines of text files that match a regular expression or hold a text. Leaves out \
         binary files, and hidden, ignored and cached ones unless `hidden` is set.";
    const GIVES: &'static str = "lines PATH:LINE: text; /count /files /matches";
    const CLASS: CapabilityClass = CapabilityClass::Search;
    const EFFECT: Effect = Effect::ReadOnly;
    const CORE: bool = true;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let path = place.path("path", &input.path)?;
        let pattern = if input.ignore_case { input.pattern.to_lowercase() } else { input.pattern.clone() };
        Ok(Target::new(format!("{pattern:?} in {}", show::path(&path)))
            .with("glob", input.glob.as_ref())
            .when("fixed", input.fixed)
            .when("ignore_case", input.ignore_case)
            .with("limit", input.limit.filter(|limit| *limit != GREP_LIMIT_DEFAULT))
            .when("hidden", input.hidden))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let path = ctx.existing("path", &input.path)?;
        let search = Search {
            pattern: compile(&input)?,
            is_doubtful: input.fixed && reads_as_pattern(&input.pattern),
            glob: input.glob.as_deref().map(|glob| pattern::path_glob("glob", glob)).transpose()?,
            limit: input.limit.unwrap_or(GREP_LIMIT_DEFAULT).min(GREP_LIMIT_MAX),
            hidden: input.hidden,
        };
        ctx.blocking(move |halt| search.run(&path, halt)).await
    }
}

fn compile(input: &Input) -> Result<Regex, ToolError> {
    let text = if input.fixed { regex::escape(&input.pattern) } else { input.pattern.clone() };
    RegexBuilder::new(&text)
        .case_insensitive(input.ignore_case)
        .size_limit(PATTERN_COMPILED_BYTES_MAX)
        .build()
        .map_err(|error| ToolError::parameter("pattern", clip(&error.to_string(), 400)))
}

/// Returns the beginning of a line, with a mark if it was cut.
fn beginning(line: &str) -> String {
    match line.char_indices().nth(GREP_LINE_CHARS_MAX) {
        None => line.to_owned(),
        Some(_) => line.chars().take(GREP_LINE_CHARS_MAX - 1).chain(['…']).collect(),
    }
}

/// A file reader that records whether it met a NUL, and whether the file begins with the mark of UTF-16: such a file is
/// binary, however late the NUL comes.
struct NulWatcher {
    file: File,
    has_nul: bool,
    /// `None` before the first block.
    is_utf16: Option<bool>,
}

impl NulWatcher {
    fn new(file: File) -> Self {
        NulWatcher { file, has_nul: false, is_utf16: None }
    }
}

impl Read for NulWatcher {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read(block)?;
        let read = block.get(..got).unwrap_or_default();
        let is_utf16 = *self
            .is_utf16
            .get_or_insert_with(|| read.starts_with(&[0xff, 0xfe]) || read.starts_with(&[0xfe, 0xff]));
        self.has_nul |= is_utf16 || read.contains(&0);
        Ok(got)
    }
}

struct Search {
    pattern: Regex,
    /// The pattern is searched as plain text but looks like a regular expression.
    is_doubtful: bool,
    glob: Option<GlobMatcher>,
    limit: usize,
    hidden: bool,
}

#[derive(Default)]
struct FoundLines {
    matches: Vec<Match>,
    /// The first files with matching lines, and the number of matches in each.
    in_files: Vec<(String, u64)>,
    count: u64,
    files: u64,
    searched: u64,
    binary: u64,
    /// Files in UTF-16, whose text is not searched.
    utf16: u64,
    /// Lines in another encoding, counted if the pattern has letters beyond ASCII.
    undecoded: u64,
}

struct Match {
    path: String,
    line: u64,
    text: String,
}

impl Search {
    fn run(&self, root: &Path, halt: &Halt) -> Result<ToolAnswer, ToolError> {
        let meta = std::fs::metadata(root).map_err(|source| ToolError::file("search", root, source))?;
        let mut found = FoundLines::default();
        let (mut tally, mut missed) = (Tally::new(), Tally::new());
        let mut left_out = search::LeftOut::default();
        if meta.is_file() {
            self.file(root, &mut found, halt).map_err(|source| ToolError::file("search", root, source))?;
            if found.binary + found.utf16 > 0 {
                return Err(ToolError::unfit(root, "it is no text, or not in UTF-8"));
            }
            tally.complete = !halt.reached();
        } else {
            let mut seen = BTreeSet::new();
            tally = search::walk(root, search::Bounds::new(halt, self.hidden).by_git_only(), halt, |entry| {
                seen.insert(entry.path().to_path_buf());
                let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
                let is_wanted = self.glob.as_ref().is_none_or(|glob| glob.is_match(below));
                if is_wanted
                    && entry.file_type().is_some_and(|kind| kind.is_file())
                    && let Err(error) = self.file(entry.path(), &mut found, halt)
                {
                    missed.miss(&error);
                }
                ControlFlow::Continue(())
            });
            tally.complete &= !halt.reached();
            // Only that nothing was found depends on what was not searched.
            if tally.skipped > 0 && found.count == 0 {
                left_out =
                    search::LeftOut::look(root, &seen, halt, |entry| self.hidden_in(root, entry, halt));
            }
        }
        tally.add_missed(missed);
        Ok(self.answer(root, found, tally, left_out))
    }

    /// Returns the matching lines of a file that the search leaves out.
    fn hidden_in(&self, root: &Path, entry: &DirEntry, halt: &Halt) -> Vec<String> {
        let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let is_wanted = self.glob.as_ref().is_none_or(|glob| glob.is_match(below));
        let mut found = FoundLines::default();
        if is_wanted && entry.file_type().is_some_and(|kind| kind.is_file()) {
            // What cannot be read is none that the search would have shown.
            drop(self.file(entry.path(), &mut found, halt));
        }
        found.matches.iter().map(|hit| format!("{}:{}: {}", hit.path, hit.line, hit.text)).collect()
    }

    fn file(&self, path: &Path, found: &mut FoundLines, halt: &Halt) -> io::Result<()> {
        let mut reader = BufReader::with_capacity(64 * 1024, NulWatcher::new(open::regular(path, halt)?));
        let mut line = Vec::new();
        let mut number: u64 = 0;
        let mut in_file: u64 = 0;
        let (shown_before, undecoded_before) = (found.matches.len(), found.undecoded);
        while !halt.reached() && lines::next(&mut reader, &mut line, GREP_LINE_BYTES_MAX)? != Line::None {
            if reader.get_ref().has_nul {
                break;
            }
            number += 1;
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            if !self.pattern.is_match(line) {
                let is_foreign = !self.pattern.as_str().is_ascii() && std::str::from_utf8(line).is_err();
                found.undecoded += u64::from(is_foreign);
                continue;
            }
            in_file += 1;
            found.count += 1;
            if found.matches.len() < self.limit {
                let text = beginning(&String::from_utf8_lossy(line));
                found.matches.push(Match { path: show::path(path), line: number, text });
            }
        }
        if reader.get_ref().has_nul {
            found.matches.truncate(shown_before);
            found.count -= in_file;
            found.undecoded = undecoded_before;
            match reader.get_ref().is_utf16 {
                Some(true) => found.utf16 += 1,
                _ => found.binary += 1,
            }
            return Ok(());
        }
        found.searched += 1;
        found.files += u64::from(in_file > 0);
        if in_file > 0 && found.in_files.len() < self.limit.min(FILES_TOLD_MAX) {
            found.in_files.push((show::path(path), in_file));
        }
        Ok(())
    }

    fn answer(&self, root: &Path, found: FoundLines, tally: Tally, left_out: search::LeftOut) -> ToolAnswer {
        let lines = found.matches.iter();
        let lines =
            lines.map(|hit| format!("{}:{}: {}", show::line(&hit.path), hit.line, show::line(&hit.text)));
        let mut text = format!(
            "{} in {}, {} searched below {}",
            show::count(found.count, "matching line", "matching lines"),
            show::count(found.files, "file", "files"),
            show::count(found.searched, "file", "files"),
            show::path_line(root),
        );
        text.push_str(&answer::listing(lines, self.limit));
        if found.count > found.matches.len() as u64 {
            text.push_str(&format!("\n… {} more", found.count - found.matches.len() as u64));
        }
        if found.count == 0 && !self.hidden {
            text.push_str("\n(hidden, ignored and cached files were left out; `hidden` searches them too)");
        }
        let matches: Vec<Value> = found
            .matches
            .iter()
            .map(|hit| json!({ "path": hit.path, "line": hit.line, "text": hit.text }))
            .collect();
        let in_files: Vec<Value> =
            found.in_files.iter().map(|(path, lines)| json!({ "path": path, "lines": lines })).collect();
        let mut facts = json!({
            "matches": matches, "count": found.count, "files": found.files, "in_files": in_files, "searched": found.searched,
            "binary": found.binary, "utf16": found.utf16, "undecoded": found.undecoded, "skipped": tally.skipped, "unreadable": tally.unreadable,
            "complete": tally.complete,
        });
        tally.tell_links(&mut facts);
        text.push_str(&left_out.tell(&mut facts));
        if found.count == 0 && self.is_doubtful {
            facts["reads_as_pattern"] = json!(true);
        }
        answer::walked(text, facts, tally.gaps())
    }
}
