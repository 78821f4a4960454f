//! `count_lines`: counts files, lines and blank lines of text per language.
//!
//! A last line without a line end counts, as in `grep -c ""`; `wc -l` does not count it.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use super::languages;
use crate::catalogue::prelude::*;
use crate::files::open;
use crate::files::text::{LineCount, Lines};
use crate::walk::{Tally, search};

pub(crate) struct CountLines;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// A file or a folder.
    path: String,
    /// What to show apart; the facts hold the languages in any case.
    by: Option<By>,
    /// Hidden, ignored and cached files too.
    #[serde(default)]
    hidden: bool,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum By {
    /// By language.
    Language,
}

impl Typed for CountLines {
    type Input = Input;
    const NAME: &'static str = "count_lines";
    const ABOUT: &'static str = "Counts files, lines and blank lines of text below a folder or of one file, by language. Leaves \
         out binary files, and hidden, ignored and cached ones unless `hidden` is set.";
    const GIVES: &'static str = "/total/lines /total/files /languages";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let path = place.path("path", &input.path)?;
        Ok(Target::new(show::path(&path))
            .when("by_language", input.by.is_some())
            .when("hidden", input.hidden))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let path = ctx.existing("path", &input.path)?;
        ctx.blocking(move |halt| count(&path, &input, halt)).await
    }
}

#[derive(Clone, Copy, Default)]
struct Sum {
    files: u64,
    lines: u64,
    blank: u64,
}

impl Sum {
    fn add(&mut self, lines: Lines) {
        self.files += 1;
        self.lines += lines.lines;
        self.blank += lines.blank;
    }
}

#[derive(Default)]
struct CountedFile {
    total: Sum,
    languages: BTreeMap<&'static str, Sum>,
    /// Sums per file name ending (the text after the last dot, lower case; empty if there is none).
    endings: BTreeMap<String, Sum>,
    binary: u64,
    /// Lines that contain carriage returns.
    returns: u64,
}

fn count(path: &Path, input: &Input, halt: &Halt) -> Result<ToolAnswer, ToolError> {
    let failed = |source| ToolError::file("count the lines of", path, source);
    let meta = std::fs::metadata(path).map_err(failed)?;
    let mut counted = CountedFile::default();
    let mut tally = Tally::new();
    if meta.is_dir() {
        let mut missed = Tally::new();
        tally = search::walk(path, search::Bounds::new(halt, input.hidden).by_git_only(), halt, |entry| {
            if entry.file_type().is_some_and(|kind| kind.is_file())
                && let Err(error) = counted.file(entry.path(), halt)
            {
                missed.miss(&error);
            }
            ControlFlow::Continue(())
        });
        tally.add_missed(missed);
    } else {
        counted.file(path, halt).map_err(failed)?;
        if counted.binary > 0 {
            return Err(ToolError::unfit(path, "it is no text, or not in UTF-8"));
        }
    }
    tally.complete &= !halt.reached();
    Ok(counted.answer(path, input, tally))
}

impl CountedFile {
    fn file(&mut self, path: &Path, halt: &Halt) -> io::Result<()> {
        let mut file = open::regular(path, halt)?;
        let mut count = LineCount::default();
        let mut block = vec![0; 64 * 1024];
        loop {
            let got = file.read(&mut block)?;
            if got == 0 || halt.reached() {
                break;
            }
            count.update(block.get(..got).unwrap_or_default());
            if count.is_binary() {
                break;
            }
        }
        let lines = count.finish();
        if lines.binary {
            self.binary += 1;
            return Ok(());
        }
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        self.returns += lines.returns;
        self.total.add(lines);
        self.languages.entry(languages::of(&name)).or_default().add(lines);
        self.endings.entry(languages::ending(&name)).or_default().add(lines);
        Ok(())
    }

    fn answer(self, path: &Path, input: &Input, tally: Tally) -> ToolAnswer {
        let mut languages: Vec<(&str, Sum)> = self.languages.into_iter().collect();
        languages.sort_by_key(|(name, sum)| (std::cmp::Reverse(sum.lines), *name));
        let mut endings: Vec<(String, Sum)> = self.endings.into_iter().collect();
        endings.sort_by(|one, other| (other.1.lines, &one.0).cmp(&(one.1.lines, &other.0)));
        let of = |sum: &Sum| {
            let lines = show::count(sum.lines, "line", "lines");
            format!("{lines} ({} blank) in {}", sum.blank, show::count(sum.files, "file", "files"))
        };
        let mut text = format!("{}: {}", show::path_line(path), of(&self.total));
        if input.by.is_some() {
            let lines = languages.iter().map(|(name, sum)| format!("{name}: {}", of(sum)));
            text.push_str(&answer::listing(lines, languages.len()));
        }
        if self.binary > 0 {
            text.push_str(&format!("\n{} left out", show::count(self.binary, "binary file", "binary files")));
        }
        let mut facts = json!({
            "total": { "files": self.total.files, "lines": self.total.lines, "blank": self.total.blank },
            "languages": languages.iter().map(|(name, sum)| {
                json!({ "language": name, "files": sum.files, "lines": sum.lines, "blank": sum.blank })
            }).collect::<Vec<_>>(),
            "endings": endings.iter().map(|(ending, sum)| {
                let language = languages::of_ending(ending);
                json!({ "ending": ending, "language": language, "files": sum.files, "lines": sum.lines, "blank": sum.blank })
            }).collect::<Vec<_>>(),
            "binary": self.binary,
            "returns": self.returns,
            "skipped": tally.skipped,
            "unreadable": tally.unreadable,
            "complete": tally.complete,
        });
        tally.tell_links(&mut facts);
        answer::walked(text, facts, tally.gaps())
    }
}
