//! Checks, before a plan is made, that the paths of a goal exist and are of the kind that the playbook handles.

use std::collections::BTreeMap;

use serde_json::Value;
use setpoint_machine::brief::PlanBrief;
use setpoint_protocol::record::NamedPath;
use setpoint_protocol::text::clip;

use crate::playbook::book::Book;
use crate::playbook::goal::{
    Goal, ParamKind, PathLimit, PathRequirement, Word, always_means_a_place, find_within,
};
use crate::playbook::unable::in_quotes;

/// Maximum characters of a path that are shown.
const PATH_CHARS_MAX: usize = 200;

/// Returns what is wrong with the first path in the goal, on one line.
pub(super) fn refusal(
    book: &Book,
    given: &BTreeMap<String, Value>,
    other_readings: &BTreeMap<String, String>,
    brief: &PlanBrief,
) -> Option<String> {
    let looked_up = &brief.survey.as_ref()?.named;
    given.iter().find_map(|(name, value)| {
        let ParamKind::Path(wanted) = book.params.get(name)?.kind else { return None };
        let path = value.as_str()?;
        if let Some(reason) = other_readings.get(name).and_then(|typed| unclear(path, typed, looked_up)) {
            return Some(reason);
        }
        let found = looked_up.iter().find(|named| named.path == path)?;
        let wrong = wrong(wanted, found, &brief.surroundings.cwd)?;
        Some(format!("{} {wrong}", clip(path, PATH_CHARS_MAX)))
    })
}

/// Returns why it is unclear what is meant, if a file or folder has the name of a word that was not taken for one, or could
/// also be another word: “how many commits are in repo” beside a folder `repo`, “rename .txt to .md in names” beside a folder
/// `names`. An answer about the wrong place looks like that about the right one.
pub(super) fn path_or_word(
    book: &Book,
    given: &BTreeMap<String, Value>,
    brief: &PlanBrief,
) -> Option<String> {
    let goal = Goal::read(&brief.spec.raw_input)?;
    let named = &brief.survey.as_ref()?.named;
    let (found, advice) =
        named.iter().find_map(|named| Some((named, unclear_word(book, given, &goal, named)?)))?;
    let name = clip(&found.path, PATH_CHARS_MAX);
    let cwd = &brief.surroundings.cwd;
    let what = if PathRequirement::Directory.takes(found.kind.as_deref()?) { "folder" } else { "file" };
    let advice = match advice {
        Advice::Replace => format!("write ./{name} for the {what}, or `in .` instead"),
        Advice::Add => format!("add `in ./{name}` for the {what}, or `in .`"),
    };
    Some(format!("{name} may be a word, or the {what} in {cwd}: {advice}"))
}

/// How a goal with an unclear word can be made clear.
enum Advice {
    /// With a path instead of the word.
    Replace,
    /// With a path after the word, which is part of the sentence.
    Add,
}

fn unclear_word(
    book: &Book,
    given: &BTreeMap<String, Value>,
    goal: &Goal,
    named: &NamedPath,
) -> Option<Advice> {
    let there = named.kind.as_deref()?;
    let kind = |name: &String| book.params.get(name).map(|param| &param.kind);
    let is_path = |name: &String| matches!(kind(name), Some(ParamKind::Path(_)));
    // A choice is a word of the sentence.
    let is_choice = |name: &String| matches!(kind(name), Some(ParamKind::Choice(_)));
    let can_be = |limit: PathLimit<'_>| {
        book.patterns.iter().any(|pattern| find_within(limit, pattern, &book.params, goal).is_some())
    };
    let is_named = |word: &&Word| !word.quoted && word.text == named.path;
    let word = goal.words().iter().find(is_named);
    let is_word = word.is_some();
    if let Some((name, _)) = given.iter().find(|(name, value)| **value == *named.path && !is_choice(name)) {
        return (is_path(name) && is_word && can_be(PathLimit::Nothing)).then_some(Advice::Replace);
    }
    if word.is_some_and(always_means_a_place) || (is_word && can_be(PathLimit::Only(named))) {
        return Some(Advice::Replace);
    }
    let is_fit = || {
        book.params.values().any(|param| matches!(param.kind, ParamKind::Path(wanted) if wanted.takes(there)))
    };
    let is_place = !given.keys().any(is_path) && goal.has_place(&named.path) && is_fit();
    is_place.then_some(if is_word { Advice::Add } else { Advice::Replace })
}

/// Returns why it is unclear which path is meant, if one exists that has the mark after the word in its name. The
/// goal was already read without the mark, so a person has to say it.
fn unclear(path: &str, typed: &str, looked_up: &[NamedPath]) -> Option<String> {
    let found = |path: &str| looked_up.iter().find(|named| named.path == path);
    let exists = |path: &str| found(path).is_some_and(|named| named.kind.is_some());
    let [bare, marked] = [path, typed].map(|path| clip(path, PATH_CHARS_MAX));
    let [quoted, quoted_marked] = [&bare, &marked].map(|path| in_quotes(path));
    match found(typed) {
        Some(_) if !exists(typed) => None,
        Some(_) if !exists(path) => {
            Some(format!("{marked} exists, and {bare} does not: put the name in quotes, as {quoted_marked}"))
        }
        Some(_) => Some(format!(
            "{bare} and {marked} both exist: put the name in quotes, as {quoted} or {quoted_marked}"
        )),
        None => Some(format!(
            "the last sign of {marked} may belong to the name: put it in quotes, as {quoted} or {quoted_marked}"
        )),
    }
}

fn wrong(wanted: PathRequirement, found: &NamedPath, cwd: &str) -> Option<String> {
    let Some(kind) = found.kind.as_deref() else {
        let is_relative = !found.path.starts_with(['/', '~', '$']);
        let place = if is_relative { format!(" in {cwd}") } else { String::new() };
        let variable =
            if found.path.contains('$') { "; `$` begins the name of a variable there" } else { "" };
        return (wanted != PathRequirement::Anything).then(|| format!("does not exist{place}{variable}"));
    };
    let is_directory = matches!(kind, "directory" | "link to a directory");
    let is_file = matches!(kind, "file" | "link to a file");
    match wanted {
        _ if wanted.takes(kind) => None,
        PathRequirement::Anything => None,
        PathRequirement::File if is_directory => Some("is a directory, not a file".to_owned()),
        PathRequirement::Directory if is_file => Some("is a file, not a directory".to_owned()),
        PathRequirement::File | PathRequirement::Directory | PathRequirement::FileOrDirectory
            if kind == "other" =>
        {
            Some("is neither a file nor a directory".to_owned())
        }
        PathRequirement::File | PathRequirement::Directory | PathRequirement::FileOrDirectory => {
            Some(format!("is a {kind}"))
        }
    }
}
