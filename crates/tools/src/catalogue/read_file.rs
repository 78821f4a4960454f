//! `read_file`: returns the text of a file, or some of its lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::catalogue::prelude::*;
use crate::files::lines::{self, Line};
use crate::files::{open, text};

/// Lines that a call returns if it gives no limit.
pub const READ_LINES_DEFAULT: u64 = 2_000;
/// Largest text that a call returns, in bytes.
pub const READ_BYTES_MAX: usize = 256 * 1024;

pub(crate) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The file.
    path: String,
    /// The first line to give, from 1.
    offset: Option<u64>,
    /// How many lines to give; 2000 if not given.
    limit: Option<u64>,
}

impl Typed for ReadFile {
    type Input = Input;
    const NAME: &'static str = "read_file";
    const ABOUT: &'static str = "Gives the text of a file as it is, or the lines from `offset` on. A long file is cut at its \
         end with a mark that says where to go on.";
    const GIVES: &'static str = "the text as it is, nothing added";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;
    const CORE: bool = true;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let path = place.path("path", &input.path)?;
        Ok(Target::new(show::path(&path))
            .with("offset", input.offset.filter(|offset| *offset > 1))
            .with("limit", input.limit.filter(|limit| *limit != READ_LINES_DEFAULT)))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let path = ctx.existing("path", &input.path)?;
        let range = Range {
            first: input.offset.unwrap_or(1).max(1),
            count: input.limit.unwrap_or(READ_LINES_DEFAULT),
        };
        let follows_links = ctx.place().follows_links(&path);
        let text = ctx.blocking(move |halt| read(&path, range, halt)).await?;
        let answer = ToolAnswer { ok: true, text, ..ToolAnswer::default() };
        Ok(if follows_links { answer::through_links(answer) } else { answer })
    }
}

#[derive(Clone, Copy)]
struct Range {
    first: u64,
    count: u64,
}

fn read(path: &Path, range: Range, halt: &Halt) -> Result<String, ToolError> {
    let failed = |source| ToolError::file("read", path, source);
    let mut reader = BufReader::with_capacity(text::SNIFF_BYTES, open::regular(path, halt).map_err(failed)?);
    if text::is_binary(reader.fill_buf().map_err(failed)?) {
        return Err(ToolError::unfit(
            path,
            "it is no text; read_document reads PDF files and workbooks, file_facts describes anything",
        ));
    }
    let mut kept: Vec<u8> = Vec::new();
    let mut line = Vec::new();
    let mut number = 0;
    let mut is_cut = false;
    let last = range.first.saturating_add(range.count).saturating_sub(1);
    while number < last && !is_cut && !halt.reached() {
        let is_wanted = number + 1 >= range.first;
        let room = if is_wanted { READ_BYTES_MAX.saturating_sub(kept.len()) } else { 0 };
        match lines::next(&mut reader, &mut line, room).map_err(failed)? {
            Line::None => break,
            Line::Some { is_cut: is_long, is_ended } => {
                number += 1;
                kept.extend_from_slice(&line);
                is_cut = is_wanted && is_long;
                if is_wanted && is_ended && !is_cut {
                    kept.push(b'\n');
                }
            }
        }
    }
    let rest = count_rest(&mut reader, halt).map_err(failed)?;
    if kept.is_empty() && rest == Some(0) {
        return Ok(match number {
            0 => "[the file is empty]".to_owned(),
            lines => format!(
                "[there is nothing from there on: the file has {}]",
                show::count(lines, "line", "lines")
            ),
        });
    }
    let kept = if is_cut { text::whole_characters(&kept) } else { &kept };
    let mut out = String::from_utf8_lossy(kept).into_owned();
    let is_lossy = std::str::from_utf8(kept).is_err();
    if is_cut {
        out.push_str(&format!(
            "\n[… line {number} goes on; at most {} are given at once …]",
            show::amount(READ_BYTES_MAX as u64)
        ));
    }
    match rest {
        Some(0) => {}
        Some(rest) => out.push_str(&format!(
            "{}[… {}; go on with offset {} …]",
            if out.ends_with('\n') { "" } else { "\n" },
            show::count(rest, "more line", "more lines"),
            number + 1
        )),
        None => out.push_str("\n[… there is more; the time was over before it was counted …]"),
    }
    if is_lossy {
        out.push_str("\n[some bytes are no UTF-8 and stand as U+FFFD]");
    }
    Ok(out)
}

/// Counts the remaining lines; `None` if the time ran out first.
fn count_rest(reader: &mut BufReader<File>, halt: &Halt) -> io::Result<Option<u64>> {
    let mut count = text::LineCount::default();
    let mut block = vec![0; 64 * 1024];
    loop {
        if halt.reached() {
            return Ok(None);
        }
        let got = reader.read(&mut block)?;
        if got == 0 {
            return Ok(Some(count.finish().lines));
        }
        count.update(block.get(..got).unwrap_or_default());
    }
}
