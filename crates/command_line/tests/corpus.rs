//! The two lists of commands, judged by their text alone: commands with an effect ask, commands that look around do not.
//!
//! The tests of the crate `tools` prove the effects and run the rest; this test shows a mistake within a second.

use std::path::PathBuf;

use setpoint_command_line::{Surroundings, Verdict, read};

const EFFECTS: &str = include_str!("corpus/effects.txt");
const LOOKING: &str = include_str!("corpus/looking_around.txt");

/// Minimum number of commands in a list.
const EFFECTS_MIN: usize = 750;
const LOOKING_MIN: usize = 120;
/// Of 120 commands that look around, at most this many may ask.
const ASKING_MAX_OF_120: usize = 10;
/// Families whose effect depends on where paths lead or on a repository's settings, so the text alone does not decide.
const BEYOND_TEXT: &[&str] = &["(defused)", "(by place)"];

#[test]
fn commands_with_an_effect_ask() {
    let mut lines = lines(EFFECTS);
    assert!(lines.len() >= EFFECTS_MIN, "{} commands", lines.len());
    lines.retain(|(family, _)| !BEYOND_TEXT.iter().any(|mark| family.ends_with(mark)));
    let missed: Vec<_> = lines.iter().filter(|(_, line)| reads_only(line)).collect();
    assert!(missed.is_empty(), "{} read as read-only:\n{missed:#?}", missed.len());
}

#[test]
fn commands_with_an_effect_ask_beside_read_only_ones() {
    for (_, line) in
        lines(EFFECTS).iter().filter(|(family, _)| !BEYOND_TEXT.iter().any(|mark| family.ends_with(mark)))
    {
        for whole in [
            format!("ls && {line}"),
            format!("ls; {line}"),
            format!("{line}␤ls"),
            format!("cat a.txt | {line}"),
        ] {
            assert!(!reads_only(&whole), "{whole}");
        }
    }
}

#[test]
fn few_commands_that_look_around_ask() {
    let lines = lines(LOOKING);
    assert!(lines.len() >= LOOKING_MIN, "{} commands", lines.len());
    let asking: Vec<String> = lines
        .iter()
        .filter_map(|(_, line)| match read(&decoded(line), &surroundings()).verdict {
            Verdict::Asks(reason) => Some(format!("{line}\n    {reason}")),
            _ => None,
        })
        .collect();
    let text = asking.join("\n");
    assert!(asking.len() * LOOKING_MIN <= lines.len() * ASKING_MAX_OF_120, "{} ask:\n{text}", asking.len());
}

fn reads_only(line: &str) -> bool {
    read(&decoded(line), &surroundings()).verdict.is_read_only()
}

fn surroundings() -> Surroundings {
    Surroundings { cwd: PathBuf::from("/w/project"), home: PathBuf::from("/home/ada") }
}

/// Returns the family and the text of each command, without the place and the set-up that it may begin with.
fn lines(list: &str) -> Vec<(&str, &str)> {
    let mut family = "";
    let mut lines = Vec::new();
    for line in list.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("## ") {
            family = name;
            continue;
        }
        let placed = line.strip_prefix('@').and_then(|rest| rest.split_once(' '));
        let rest = placed.map_or(line, |(_, rest)| rest);
        lines.push((family, rest.split_once(" ⟹ ").map_or(rest, |(_, command)| command)));
    }
    lines
}

/// Decodes a line: `␤` is a newline, `⟨U+XXXX⟩` any other character.
fn decoded(line: &str) -> String {
    let text = line.replace('␤', "\n").replace("{PORT}", "9").replace("{ROOT}", "/w");
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
