//! `file_facts`: reports what is known about one path of any kind.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use crate::catalogue::prelude::*;
use crate::files::hash::{self, Algorithm};
use crate::files::text::LineCount;
use crate::files::{open, time};

pub(crate) struct FileFacts;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The path. Links are followed.
    path: String,
}

impl Typed for FileFacts {
    type Input = Input;
    const NAME: &'static str = "file_facts";
    const ABOUT: &'static str = "Says whether a path exists and what it is: kind, size, SHA-256, number of lines and time of \
         last change. A path that does not exist is an answer, not an error.";
    const GIVES: &'static str = "/exists /kind /bytes /lines /sha256";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        Ok(Target::new(show::path(&place.path("path", &input.path)?)))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let path = ctx.existing("path", &input.path)?;
        ctx.blocking(move |halt| describe(&path, halt)).await
    }
}

fn describe(path: &Path, halt: &Halt) -> Result<ToolAnswer, ToolError> {
    let failed = |source| ToolError::file("look at", path, source);
    let link = std::fs::read_link(path).ok();
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if is_absent(&error) => return Ok(absent(path, link.as_deref())),
        Err(source) => return Err(failed(source)),
    };
    let content = if meta.is_file() { Some(content(path, halt).map_err(failed)?) } else { None };
    Ok(present(path, &meta, link.as_deref(), content))
}

/// What the content reveals.
struct Content {
    bytes: u64,
    sha256: String,
    lines: Option<u64>,
}

fn content(path: &Path, halt: &Halt) -> io::Result<Content> {
    let mut count = LineCount::default();
    let hashed =
        hash::stream(&mut open::regular(path, halt)?, Algorithm::Sha256, halt, |block| count.update(block))?;
    let lines = count.finish();
    Ok(Content { bytes: hashed.bytes, sha256: hashed.hex, lines: (!lines.binary).then_some(lines.lines) })
}

/// Whether nothing is at the path: it does not exist, a name on the way is not a folder, or its links form a cycle.
pub(super) fn is_absent(error: &io::Error) -> bool {
    let is_circle = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    is_circle || matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn absent(path: &Path, link: Option<&Path>) -> ToolAnswer {
    let why = match link {
        Some(target) => format!("it is a link to {}, which does not exist", show::path_line(target)),
        None => "does not exist".to_owned(),
    };
    let kind = if link.is_some() { "broken_symlink" } else { "none" };
    let facts = json!({
        "path": show::path(path), "exists": false, "kind": kind, "bytes": null, "sha256": null, "lines": null,
        "modified": null, "link_target": link.map(show::path),
    });
    answer::found(format!("{}: {why}", show::path_line(path)), facts)
}

fn present(path: &Path, meta: &Metadata, link: Option<&Path>, content: Option<Content>) -> ToolAnswer {
    let kind = if meta.is_dir() {
        "directory"
    } else if meta.is_file() {
        "file"
    } else {
        "other"
    };
    let modified = time::modified(meta);
    let mut text = format!("{}: {kind}", show::path_line(path));
    if let Some(content) = &content {
        text.push_str(&format!(", {}", show::count(content.bytes, "byte", "bytes")));
        match content.lines {
            Some(lines) => text.push_str(&format!(", {}", show::count(lines, "line", "lines"))),
            None => text.push_str(", binary"),
        }
        text.push_str(&format!(", sha256 {}", content.sha256));
    }
    if let Some(modified) = &modified {
        text.push_str(&format!(", last changed {modified}"));
    }
    if let Some(target) = link {
        text.push_str(&format!(" (through a link to {})", show::path_line(target)));
    }
    let facts = json!({
        "path": show::path(path),
        "exists": true,
        "kind": kind,
        "bytes": content.as_ref().map(|content| content.bytes),
        "sha256": content.as_ref().map(|content| &content.sha256),
        "lines": content.as_ref().and_then(|content| content.lines),
        "modified": modified,
        "link_target": link.map(show::path),
    });
    answer::found(text, facts)
}
