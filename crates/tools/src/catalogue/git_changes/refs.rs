//! Branches, tags and other refs of a repository, before the task and now.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Look, one_line};
use crate::error::ToolError;
use crate::show;
use crate::undo::kept_text;

/// Characters of an id that are shown.
const ID_CHARS_SHOWN: usize = 12;
/// Maximum refs that differ, for Git's arguments.
const DIFFERENT_MAX: usize = 500;
/// Maximum names that are shown beside a commit.
const NAMES_MAX: usize = 5;

/// What a ref is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Id(String),
    /// Another ref.
    Ref(String),
}

/// What leads to commits.
#[derive(Debug)]
pub(super) struct Refs {
    all: BTreeMap<PathBuf, Target>,
    head: Option<Target>,
    /// The commit of `HEAD`, if it has one and it is known.
    head_id: Option<String>,
    /// The names of each commit, of annotated tags too.
    names: BTreeMap<String, Vec<String>>,
}

impl Refs {
    pub(super) async fn now(look: &Look<'_>) -> Result<Self, ToolError> {
        let format = "--format=%(refname)%00%(objectname)%00%(*objectname)%00%(symref)";
        let listed = look.repository.bytes(&["for-each-ref", format]).await?;
        let (mut all, mut names) = (BTreeMap::new(), BTreeMap::<String, Vec<String>>::new());
        for line in listed.split(|byte| *byte == b'\n') {
            let mut parts = line.split(|byte| *byte == 0);
            let (Some(name), Some(id), Some(peeled), Some(other)) =
                (parts.next(), parts.next().and_then(id), parts.next(), parts.next())
            else {
                continue;
            };
            let path = PathBuf::from(OsStr::from_bytes(name));
            names.entry(self::id(peeled).unwrap_or_else(|| id.clone())).or_default().push(label(&path));
            let target = if other.is_empty() { Target::Id(id) } else { Target::Ref(show::bytes(other)) };
            all.insert(path, target);
        }
        let head = look.repository.text(&["symbolic-ref", "--quiet", "HEAD"]).await?;
        let head_id = look.repository.text(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await?;
        let head_id = head_id.and_then(|text| id(text.as_bytes()));
        let head = head.map(Target::Ref).or_else(|| head_id.clone().map(Target::Id));
        Ok(Refs { all, head, head_id, names })
    }

    pub(super) fn head_id(&self) -> Option<&str> {
        self.head_id.as_deref()
    }

    /// Returns the names of a commit, in brackets.
    pub(super) fn names_of(&self, id: &str) -> String {
        let names = self.names.get(id).map(Vec::as_slice).unwrap_or_default();
        let mut shown: Vec<&str> = names.iter().take(NAMES_MAX).map(String::as_str).collect();
        if self.head_id.as_deref() == Some(id) {
            shown.insert(0, "HEAD");
        }
        let more = names.len().saturating_sub(NAMES_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        if shown.is_empty() { String::new() } else { format!(" ({}{more})", shown.join(", ")) }
    }

    /// Says what `HEAD` is, and what it was if that is something else.
    pub(super) fn head_line(&self, was: Option<&Refs>) -> String {
        let at = match &self.head_id {
            Some(id) => format!("at {}", short(id)),
            None => "without a commit".to_owned(),
        };
        let now = match &self.head {
            Some(Target::Ref(name)) => format!("HEAD is {}, {at}", label(Path::new(name))),
            Some(Target::Id(_)) => format!("HEAD is on no branch, {at}"),
            None => "HEAD leads to nothing".to_owned(),
        };
        match was.map(|was| &was.head).filter(|was| **was != self.head) {
            Some(Some(Target::Ref(name))) => format!("{now}; before it was {}", label(Path::new(name))),
            Some(Some(Target::Id(id))) => format!("{now}; before it was on no branch, at {}", short(id)),
            Some(None) => format!("{now}; the repository is new"),
            None => now,
        }
    }
}

/// Returns what led to commits before the task; `None` if that is not known.
pub(super) fn was(look: &Look<'_>, now: &Refs) -> Option<Refs> {
    let own = look.own;
    // Refs in another form are in no file that is read here.
    if !own.is_kept || own.path.join("reftable").exists() {
        return None;
    }
    let packed_path = Path::new("packed-refs");
    let packed_now = || match own.path.join(packed_path).symlink_metadata() {
        Ok(_) => packed(&kept_text(&own.path.join(packed_path))?),
        Err(_) => Some(BTreeMap::new()),
    };
    let packed_was = match own.was(packed_path) {
        Some(Some(text)) => packed(text)?,
        Some(None) => BTreeMap::new(),
        None => packed_now()?,
    };
    let names = now.all.keys().chain(packed_was.keys()).map(PathBuf::as_path);
    let names: BTreeSet<&Path> = names.chain(own.changed().filter(|path| path.starts_with("refs"))).collect();
    let mut all = BTreeMap::new();
    for name in names {
        let is_loose = || own.path.join(name).is_file();
        let target = match own.was(name) {
            Some(Some(text)) => Some(target(text)?),
            None if own.was(packed_path).is_none() || is_loose() => now.all.get(name).cloned(),
            None | Some(None) => packed_was.get(name).cloned(),
        };
        if let Some(target) = target {
            all.insert(name.to_path_buf(), target);
        }
    }
    let head = match own.was(Path::new("HEAD")) {
        Some(Some(text)) => Some(target(text)?),
        Some(None) => None,
        None => now.head.clone(),
    };
    let known = Refs { all, head, head_id: None, names: BTreeMap::new() };
    (different(&known, now).count() <= DIFFERENT_MAX).then_some(known)
}

/// The arguments with which Git lists the commits between two states.
pub(super) struct Reach {
    /// Where what differs led before, and leads now.
    pub(super) was: BTreeSet<String>,
    pub(super) now: BTreeSet<String>,
    /// What leaves the refs that differ out of all refs.
    pub(super) unless: Vec<String>,
    /// `HEAD` itself, where it led before and leads now.
    pub(super) head_was: Option<String>,
    pub(super) head_now: Option<String>,
}

impl Reach {
    pub(super) fn between(was: &Refs, now: &Refs) -> Self {
        let id = |target: Option<&Target>| match target {
            Some(Target::Id(id)) => Some(id.clone()),
            Some(Target::Ref(_)) | None => None,
        };
        let ids = |refs: &Refs| different(was, now).filter_map(|name| id(refs.all.get(name))).collect();
        let is_plain = |name: &&str| !name.contains(['*', '?', '[', '\\']);
        let names = different(was, now).filter_map(Path::to_str).filter(is_plain);
        Reach {
            was: ids(was),
            now: ids(now),
            unless: names.map(|name| format!("--exclude={name}")).collect(),
            head_was: id(was.head.as_ref()),
            head_now: now.head_id.clone(),
        }
    }
}

fn different<'r>(was: &'r Refs, now: &'r Refs) -> impl Iterator<Item = &'r Path> {
    let names: BTreeSet<&Path> = was.all.keys().chain(now.all.keys()).map(PathBuf::as_path).collect();
    names.into_iter().filter(|name| was.all.get(*name) != now.all.get(*name))
}

/// Returns what became of the refs that differ.
pub(super) fn lines(was: &Refs, now: &Refs) -> Vec<String> {
    let mut lines: Vec<String> = different(was, now)
        .map(|name| {
            let label = label(name);
            let change = match (was.all.get(name), now.all.get(name)) {
                (Some(old), None) => format!("was removed, it was at {}", at(old)),
                (Some(old), Some(new)) => format!("was moved from {} to {}", at(old), at(new)),
                (None, new) => format!("is new, at {}", new.map(at).unwrap_or_default()),
            };
            format!("{label} {change}")
        })
        .collect();
    // What is lost comes first.
    lines.sort_by_key(|line| !line.contains(" was removed, "));
    lines
}

fn at(target: &Target) -> String {
    match target {
        Target::Id(id) => short(id),
        Target::Ref(name) => label(Path::new(name)),
    }
}

pub(super) fn short(id: &str) -> String {
    id.chars().take(ID_CHARS_SHOWN).collect()
}

fn label(name: &Path) -> String {
    let kinds = [("refs/heads", "branch"), ("refs/tags", "tag")];
    let named = kinds.iter().find_map(|(above, kind)| Some((kind, name.strip_prefix(above).ok()?)));
    match named {
        Some((kind, name)) => one_line(&format!("{kind} {}", show::path(name))),
        None => one_line(&show::path(name)),
    }
}

/// Returns an id that Git printed or a file holds.
pub(super) fn id(text: &[u8]) -> Option<String> {
    let is_id = [40, 64].contains(&text.len()) && text.iter().all(u8::is_ascii_hexdigit);
    is_id.then(|| String::from_utf8_lossy(text).to_ascii_lowercase())
}

/// Parses the file of a ref.
fn target(text: &str) -> Option<Target> {
    match text.strip_prefix("ref:") {
        Some(name) => Some(Target::Ref(name.trim().to_owned())),
        None => id(text.trim().as_bytes()).map(Target::Id),
    }
}

/// Parses `packed-refs`: an id and a name in each line, besides comments and what annotated tags lead to.
fn packed(text: &str) -> Option<BTreeMap<PathBuf, Target>> {
    let entries = text.lines().filter(|line| !line.starts_with(['#', '^']));
    let entry = |line: &str| {
        let (id_text, name) = line.split_once(' ')?;
        Some((PathBuf::from(name), Target::Id(id(id_text.as_bytes())?)))
    };
    entries.map(entry).collect()
}
