//! Finds skills: folders with a `SKILL.md`, whose head says in a sentence what the rest of it is for. Only that sentence is
//! passed on; an executor that needs the rest reads the file. Nothing of a skill is run or obeyed by its being there.

use std::path::{Path, PathBuf};

use setpoint_protocol::record::Skill;
use setpoint_protocol::text::clip;

use super::guides::{is_own_file, read};
use crate::halt::Halt;
use crate::show;

/// Folders of skills, below the working directory and below the home folder. Those of the working directory come first.
const FOLDERS: &[&str] = &[".agents/skills", ".claude/skills"];
const FILE: &str = "SKILL.md";
/// Maximum skills that are listed.
const SKILLS_MAX: usize = 24;
/// Maximum entries of a folder that are looked at.
const ENTRIES_MAX: usize = 500;
/// Maximum bytes that are read of a file: its head has to end there.
const HEAD_BYTES_MAX: u64 = 8 * 1024;
/// Maximum characters of a name and of a description that are passed on.
const NAME_CHARS_MAX: usize = 64;
const DESCRIPTION_CHARS_MAX: usize = 300;

/// Returns the skills, and the number of those that are not listed: there are too many, or their heads cannot be read.
pub(super) fn listed(root: &Path, home: &Path, halt: &Halt) -> (Vec<Skill>, u64) {
    let mut skills = Vec::new();
    let mut left_out = 0;
    let mut places = vec![(root, true)];
    places.extend((home != root).then_some((home, false)));
    for (base, is_project) in places {
        for folder in FOLDERS {
            let (names, more) = names(&base.join(folder));
            left_out += more;
            for file in names.iter().map(|name| base.join(folder).join(name).join(FILE)) {
                if !is_own_file(base, &file, halt) {
                    continue;
                }
                match skill(base, &file, is_project, halt) {
                    Some(skill) if skills.len() < SKILLS_MAX => skills.push(skill),
                    _ => left_out += 1,
                }
            }
        }
    }
    (skills, left_out)
}

/// Returns the entries of a folder in order, and 1 if there are more than were looked at.
fn names(folder: &Path) -> (Vec<PathBuf>, u64) {
    let Ok(entries) = std::fs::read_dir(folder) else { return (Vec::new(), 0) };
    let mut entries = entries.filter_map(|entry| Some(PathBuf::from(entry.ok()?.file_name())));
    let mut names: Vec<PathBuf> = entries.by_ref().take(ENTRIES_MAX).collect();
    names.sort();
    (names, u64::from(entries.next().is_some()))
}

fn skill(base: &Path, file: &Path, is_project: bool, halt: &Halt) -> Option<Skill> {
    let (text, _) = read(file, HEAD_BYTES_MAX, halt)?;
    let head = head(&text)?;
    let name = value(&head, "name").filter(|name| !name.is_empty());
    let name = name.or_else(|| Some(show::name(file.parent()?.file_name()?)))?;
    let description = value(&head, "description").filter(|text| !text.is_empty())?;
    let path = if is_project { show::path(file.strip_prefix(base).ok()?) } else { show::path(file) };
    Some(Skill {
        name: clip(&show::line(&name), NAME_CHARS_MAX),
        description: clip(&show::line(&description), DESCRIPTION_CHARS_MAX),
        path: show::line(&path),
    })
}

/// Returns the lines between the first two lines `---`.
fn head(text: &str) -> Option<Vec<&str>> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let mut head = Vec::new();
    for line in lines {
        if line.trim_end() == "---" {
            return Some(head);
        }
        head.push(line);
    }
    None
}

/// Returns the text of a field of the head: the rest of its line and the indented lines below it, on one line. The head is
/// YAML; of that only texts are read, so that nothing in it can refer to anything or multiply, and texts that are not YAML
/// (with a colon and without quotes, as many have) are read too.
fn value(head: &[&str], key: &str) -> Option<String> {
    let (n, first) = head
        .iter()
        .enumerate()
        .find_map(|(n, line)| Some((n, line.strip_prefix(key)?.strip_prefix(':')?)))?;
    let first = first.trim();
    let is_block =
        first.starts_with(['|', '>']) && first.chars().skip(1).all(|c| matches!(c, '+' | '-' | '1'..='9'));
    let more =
        head.iter().skip(n + 1).take_while(|line| line.starts_with([' ', '\t']) || line.trim().is_empty());
    let words: Vec<&str> = std::iter::once(if is_block { "" } else { first })
        .chain(more.copied())
        .flat_map(str::split_whitespace)
        .collect();
    Some(unquoted(&words.join(" ")))
}

fn unquoted(text: &str) -> String {
    let inner = |mark: char| text.strip_prefix(mark).and_then(|text| text.strip_suffix(mark));
    if let Some(text) = inner('"') {
        return text.replace("\\\"", "\"").replace("\\\\", "\\");
    }
    inner('\'').map_or_else(|| text.to_owned(), |text| text.replace("''", "'"))
}
