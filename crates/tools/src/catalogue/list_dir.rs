//! `list_dir`: lists a folder.

use std::fs::FileType;
use std::path::Path;

use crate::catalogue::prelude::*;

/// Maximum entries that are shown to a reader; the facts hold more.
const LINES_MAX: usize = 500;

/// Maximum hidden names that are reported in the facts.
const LEFT_OUT_MAX: usize = 100;

pub(crate) struct ListDir;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The folder.
    path: String,
    /// Names that begin with a dot too.
    #[serde(default)]
    hidden: bool,
}

impl Typed for ListDir {
    type Input = Input;
    const NAME: &'static str = "list_dir";
    const ABOUT: &'static str = "Lists one folder: names, kinds and sizes, sorted by name.";
    const GIVES: &'static str = "names; /entries/0/name /count";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;
    const CORE: bool = true;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let path = place.path("path", &input.path)?;
        Ok(Target::new(show::path(&path)).when("hidden", input.hidden))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let path = ctx.existing("path", &input.path)?;
        ctx.blocking(move |halt| list(&path, input.hidden, halt)).await
    }
}

struct Entry {
    name: String,
    kind: &'static str,
    size: Option<u64>,
}

fn list(path: &Path, hidden: bool, halt: &Halt) -> Result<ToolAnswer, ToolError> {
    let mut entries = Vec::new();
    let mut gaps = Gaps { complete: true, ..Gaps::default() };
    let mut left_out: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|source| ToolError::file("list", path, source))? {
        if halt.reached() || entries.len() >= halt.limits.entries_max {
            gaps.complete = false;
            break;
        }
        let Ok(entry) = entry else {
            gaps.unreadable += 1;
            continue;
        };
        let name = entry.file_name();
        if !hidden && name.as_encoded_bytes().starts_with(b".") {
            left_out.push(show::name(&name));
            continue;
        }
        let meta = entry.metadata().ok();
        if meta.as_ref().is_some_and(|meta| halt.rooms().is_closed(meta)) {
            gaps.closed += 1;
            continue;
        }
        let kind = entry.file_type().map_or("unknown", kind);
        let size = meta.filter(std::fs::Metadata::is_file).map(|meta| meta.len());
        entries.push((name, kind, size));
    }
    entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    let entries: Vec<Entry> =
        entries.into_iter().map(|(name, kind, size)| Entry { name: show::name(&name), kind, size }).collect();
    let mut facts = facts(path, &entries, gaps);
    let text = text(path, &entries, left_out.len() as u64);
    // The history of a project is not part of its content.
    left_out.retain(|name| name != ".git");
    if !left_out.is_empty() {
        left_out.sort_unstable();
        if left_out.len() > LEFT_OUT_MAX {
            left_out.truncate(LEFT_OUT_MAX);
            facts["left_out_complete"] = false.into();
        }
        facts["left_out"] = left_out.into();
    }
    Ok(answer::walked(text, facts, gaps))
}

fn facts(path: &Path, entries: &[Entry], gaps: Gaps) -> Value {
    let list: Vec<Value> = entries
        .iter()
        .map(|entry| json!({ "name": entry.name, "kind": entry.kind, "size": entry.size }))
        .collect();
    json!({
        "path": show::path(path), "entries": list, "count": entries.len(),
        "unreadable": gaps.unreadable, "complete": gaps.complete,
    })
}

fn text(path: &Path, entries: &[Entry], left_out: u64) -> String {
    let lines = entries.iter().map(|entry| {
        let name = show::line(&entry.name);
        match (entry.kind, entry.size) {
            ("directory", _) => format!("{name}/"),
            ("file", Some(size)) => format!("{name}  {}", show::amount(size)),
            (kind, _) => format!("{name}  ({kind})"),
        }
    });
    let count = show::count(entries.len() as u64, "entry", "entries");
    let mut text = format!("{}: {count}", show::path_line(path));
    text.push_str(&answer::listing(lines, LINES_MAX));
    if left_out > 0 {
        text.push_str(&format!("\n({left_out} hidden left out)"));
    }
    text
}

fn kind(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "directory"
    } else if kind.is_file() {
        "file"
    } else if kind.is_symlink() {
        "symlink"
    } else {
        "other"
    }
}
