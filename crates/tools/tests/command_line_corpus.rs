//! Two lists of commands: one of which nothing may read as read-only, one of which hardly anything may be held up.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use setpoint_tools::command_line::{Reason, Surroundings, Verdict, read};

const DANGEROUS: &str = include_str!("corpus/commands_dangerous.txt");
const BENIGN: &str = include_str!("corpus/commands_benign.txt");

#[test]
fn no_dangerous_command_reads_as_read_only() {
    let commands = commands(DANGEROUS);
    assert!(commands.len() >= 400, "{} commands", commands.len());
    let missed: Vec<&String> =
        commands.iter().filter(|line| read(&decoded(line), &surroundings()).verdict.is_read_only()).collect();
    assert!(missed.is_empty(), "read as read-only:\n{missed:#?}");
}

#[test]
fn hardly_any_benign_command_is_held_up() {
    let commands = commands(BENIGN);
    assert!(commands.len() >= 400, "{} commands", commands.len());
    let flagged: Vec<String> = commands
        .iter()
        .filter_map(|line| match read(&decoded(line), &surroundings()).verdict {
            Verdict::ReadOnly => None,
            Verdict::Writes { paths, deletes } => Some(format!("{line}\n  writes {paths:?} {deletes:?}")),
            Verdict::Opaque { reason } => Some(format!("{line}\n  {reason}")),
        })
        .collect();
    assert!(
        flagged.len() * 50 <= commands.len(),
        "{} of {}:\n{}",
        flagged.len(),
        commands.len(),
        flagged.join("\n")
    );
}

/// Dangerous commands after a harmless one, and in the usual wrappings, stay dangerous.
#[test]
fn a_dangerous_command_stays_so_in_company() {
    let mut sections = sections(DANGEROUS);
    // More text may complete what does not parse.
    sections.remove("what does not parse");
    for line in sections.values().flatten() {
        let command = decoded(line);
        for whole in [
            format!("ls && {command}"),
            format!("ls\n{command}"),
            format!("{{ {command}\n}}"),
            format!("cat f | ( {command}\n)"),
        ] {
            assert!(!read(&whole, &surroundings()).verdict.is_read_only(), "{whole}");
        }
    }
}

/// Lines that do not parse, or that hide characters, say so; the rest of the list is held up for what it does.
#[test]
fn the_sections_are_held_up_for_their_own_reason() {
    let sections = sections(DANGEROUS);
    for line in &sections["characters that hide"] {
        let verdict = read(&decoded(line), &surroundings()).verdict;
        let hides = matches!(verdict, Verdict::Opaque { reason: Reason::DeceptiveCharacter { .. } });
        // A letter of another script is visible, so it only makes the program unknown.
        let other_letter = matches!(verdict, Verdict::Opaque { reason: Reason::UnknownProgram });
        assert!(hides || other_letter, "{line}: {verdict:?}");
    }
    for line in &sections["what does not parse"] {
        let verdict = read(&decoded(line), &surroundings()).verdict;
        let unread = matches!(
            verdict,
            Verdict::Opaque { reason: Reason::Syntax { .. } | Reason::TooDeep | Reason::Arithmetic }
        );
        assert!(unread, "{line}: {verdict:?}");
    }
    for line in &sections["variables and settings that change what programs do"] {
        let verdict = read(&decoded(line), &surroundings()).verdict;
        assert!(matches!(verdict, Verdict::Opaque { .. }), "{line}: {verdict:?}");
    }
}

fn surroundings() -> Surroundings {
    Surroundings {
        cwd: PathBuf::from("/w/project"),
        home: PathBuf::from("/home/ada"),
        vars: BTreeMap::from([
            ("USER".to_owned(), "ada".to_owned()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ]),
    }
}

/// The commands of a list: every line but the empty ones and those that start with two hashes, each once.
fn commands(list: &str) -> Vec<String> {
    let lines: Vec<String> =
        list.lines().filter(|line| !line.is_empty() && !line.starts_with("##")).map(str::to_owned).collect();
    let distinct: BTreeSet<&String> = lines.iter().collect();
    assert_eq!(distinct.len(), lines.len(), "a line stands twice in the list");
    lines
}

fn sections(list: &str) -> BTreeMap<String, Vec<String>> {
    let mut sections: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut title = String::new();
    for line in list.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("## ") {
            Some(heading) => title = heading.to_owned(),
            None => sections.entry(title.clone()).or_default().push(line.to_owned()),
        }
    }
    sections
}

/// A line as the command it stands for: `␤` is a newline, `⟨U+XXXX⟩` any other character.
fn decoded(line: &str) -> String {
    let text = line.replace('␤', "\n");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("⟨U+") {
        let escape = after.split_once('⟩');
        let c = escape.and_then(|(digits, _)| char::from_u32(u32::from_str_radix(digits, 16).ok()?));
        assert!(c.is_some(), "no character is named in {line}");
        out.push_str(before);
        out.extend(c);
        rest = escape.map_or("", |(_, remainder)| remainder);
    }
    out.push_str(rest);
    out
}
