//! Exports rules as skills for other agents: one folder each, with a `SKILL.md` (the Agent Skills format).

use std::path::{Path, PathBuf};

use setpoint_mkct::Rule;
use setpoint_own_files::whole;
use setpoint_protocol::memory::Author;
use setpoint_protocol::message::ApproachName;
use setpoint_protocol::text::clip;
use setpoint_protocol::{TaskId, ToolId};

use super::{Memory, MemoryFailure};
use crate::store::StoredRecord;

/// Longest name of a skill in characters: the format's limit is 64.
const NAME_CHARS_MAX: usize = 64;
/// Maximum characters of a name that come from the rule's words.
const WORDS_CHARS_MAX: usize = 40;
/// Longest description in characters: the format's limit is 1,024.
const DESCRIPTION_CHARS_MAX: usize = 1_000;
/// Maximum tasks that are named as sources.
const TASKS_MAX: usize = 10;
/// Name of a skill's file.
const FILE: &str = "SKILL.md";

impl Memory {
    /// Writes each rule in force below this folder and returns the folders written. Leaves other files alone.
    ///
    /// # Errors
    /// If the store cannot be read or a file cannot be written; files written until then stay.
    pub fn export_skills(&self, folder: &Path) -> Result<Vec<PathBuf>, MemoryFailure> {
        self.catch_up()?;
        let mut rules = self.mended(|| Ok(self.store.rules()?))?;
        rules.retain(|rule| rule.author != Author::Operator);
        let mut made = Vec::new();
        for rule in rules {
            let (sources, count) = self.store.sources(&rule.megram.id, TASKS_MAX)?;
            let Some(skill) = skill(&rule, &sources, count) else { continue };
            let folder = folder.join(&skill.name);
            let path = folder.join(FILE);
            whole::write(&path, &skill.text).map_err(|source| MemoryFailure::Skill { path, source })?;
            made.push(folder);
        }
        Ok(made)
    }
}

/// A skill, ready to be written.
struct Skill {
    name: String,
    text: String,
}

fn skill(rule: &StoredRecord, sources: &[StoredRecord], count: u64) -> Option<Skill> {
    let kind = Rule::of_sigma(rule.megram.sigma)?;
    let megram = &rule.megram;
    let content = &megram.content;
    let intent = megram.space.split_once(':').map_or(megram.space.as_str(), |(_, rest)| rest);
    let (verb, heading) = match kind {
        Rule::BestPractice => ("do", "Prefer this"),
        Rule::Constraint => ("avoid", "Do not do this"),
    };
    let id = megram.id.as_str().replace('-', "");
    let tail: String = id.chars().skip(id.len().saturating_sub(8)).collect();
    let words = words(intent);
    let words = if words.is_empty() { String::new() } else { format!("-{words}") };
    let name: String = format!("{verb}{words}-{tail}").chars().take(NAME_CHARS_MAX).collect();
    let rule_text = one_line(&content.lesson);
    let when = format!("Use when the task is of the kind `{}`.", one_line(intent));
    let description = clip(&format!("{rule_text} {when}"), DESCRIPTION_CHARS_MAX);
    let mut text = String::from("---\n");
    text += &format!("name: {name}\n");
    text += &format!("description: {}\n", quoted(&description));
    text += "metadata:\n";
    text += &format!(
        "  rule: {}\n  space: {}\n  entity: {}\n",
        quoted(megram.id.as_str()),
        quoted(&megram.space),
        quoted(&megram.entity)
    );
    text += &format!("---\n\n# {heading}\n\n{rule_text}\n\n{when}\n");
    text += &list("Tools", content.tools.iter().map(ToolId::as_str));
    text += &list("Targets", content.targets.iter().map(String::as_str));
    let approaches: Vec<String> = content.approaches.iter().map(approach).collect();
    text += &list("Approaches", approaches.iter().map(String::as_str));
    let mut tasks: Vec<&TaskId> = Vec::new();
    for task in sources.iter().filter_map(|source| source.task.as_ref()) {
        if !tasks.contains(&task) {
            tasks.push(task);
        }
    }
    let records = if count == 1 { "1 record".to_owned() } else { format!("{count} records") };
    text += &format!(
        "\n## Where it comes from\n\nDerived from {records} of finished tasks: from their outcomes, not from their \
         words.\n"
    );
    text += &list("Tasks", tasks.iter().map(|task| task.as_str()));
    Some(Skill { name, text })
}

fn list<'t>(title: &str, items: impl Iterator<Item = &'t str>) -> String {
    let items: Vec<String> =
        items.map(|item| format!("- `{}`\n", one_line(item).replace('`', "'"))).collect();
    if items.is_empty() { String::new() } else { format!("\n## {title}\n\n{}", items.concat()) }
}

fn approach(name: &ApproachName) -> String {
    let ApproachName { playbook, approach, variant } = name;
    match variant {
        Some(variant) => format!("{playbook}/{approach} ({variant})"),
        None => format!("{playbook}/{approach}"),
    }
}

/// Reduces a text to lower-case letters, digits and single hyphens, as the format requires for names.
fn words(text: &str) -> String {
    let mut words = String::new();
    for c in text.chars().take(WORDS_CHARS_MAX) {
        match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9') => words.push(c),
            _ if words.is_empty() || words.ends_with('-') => {}
            _ => words.push('-'),
        }
    }
    words.trim_end_matches('-').to_owned()
}

/// Reduces a text to one line that nothing in it can end: no line break, no control character, no angle bracket that
/// opens a tag.
fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ").replace('<', "&lt;")
}

/// Quotes a text as a JSON string, which is also a YAML string.
fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}
