//! Reads the files of commands: families as `## name`, one command per line.
//!
//! `␤` is a newline, `⟨U+XXXX⟩` any other character, `{PORT}` the listener's port, and `{ROOT}` the world. A line may
//! begin with `@repos/plain `, the directory that it runs in, and with `set-up ⟹ `, which plain bash runs before. A
//! family whose name ends in `(defused)` may run without a question, because the gate removes the effect; `(by place)`
//! says that the text alone does not show the effect, `(varies)` that the output or the made files differ each time, and `(any order)`
//! that its lines are the same.

use std::collections::BTreeSet;

use crate::bash;
use crate::world::{PROJECT, World};

/// The mark of a family that may run, but without its effect.
const DEFUSED: &str = "(defused)";
/// The mark of a family whose output is not compared.
const VARIES: &str = "(varies)";

/// The mark of a family whose output has the same lines, in an order that varies.
const ANY_ORDER: &str = "(any order)";

/// One line of a corpus.
pub(crate) struct Line<'a> {
    pub(crate) family: &'a str,
    /// The directory of the world that it runs in.
    pub(crate) cwd: &'a str,
    pub(crate) set_up: Option<String>,
    pub(crate) command: String,
    /// As written in the file.
    pub(crate) text: &'a str,
}

impl Line<'_> {
    pub(crate) fn may_run(&self) -> bool {
        self.family.ends_with(DEFUSED)
    }

    pub(crate) fn varies(&self) -> bool {
        self.family.ends_with(VARIES)
    }

    /// Whether two outputs are as equal as the family promises.
    pub(crate) fn is_same(&self, one: &[u8], two: &[u8]) -> bool {
        let sorted = |output: &[u8]| {
            let mut lines: Vec<Vec<u8>> = output.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            lines.sort_unstable();
            lines
        };
        self.varies() || one == two || (self.family.ends_with(ANY_ORDER) && sorted(one) == sorted(two))
    }

    /// Returns what the world must have beyond every world: the directory of the line, and those that it names.
    pub(crate) fn needed(&self) -> Vec<&str> {
        let named = self.text.match_indices("../").filter_map(|(at, _)| self.text.get(at + 3..));
        let ends = [' ', '\'', '"', ';', ':', ')'];
        let named = named.filter_map(|rest| rest.split(ends).next()).filter(|name| is_extra(name));
        [self.cwd].into_iter().chain(named).map(trunk).collect()
    }

    /// Whether the line needs a world with additions.
    pub(crate) fn needs_more(&self) -> bool {
        self.set_up.is_some() || self.needed() != [PROJECT]
    }

    pub(crate) fn set_up_in(&self, world: &World, port: u16) {
        if let Some(set_up) = &self.set_up {
            let done = bash::run(world, self.cwd, &filled(set_up, world, port));
            assert_eq!(done.code, Some(0), "the set-up of {}: {}", self.text, done.text());
            world.left_running();
        }
    }

    pub(crate) fn command_in(&self, world: &World, port: u16) -> String {
        filled(&self.command, world, port)
    }
}

fn is_extra(name: &str) -> bool {
    ["repos/", "globs/", "bare"].iter().any(|start| name.starts_with(start))
}

/// Returns the part of a path that is copied as a whole: `repos/plain`, `nested`.
fn trunk(path: &str) -> &str {
    let depth = usize::from(path.starts_with("globs/") || path.starts_with("repos/"));
    path.match_indices('/').nth(depth).and_then(|(end, _)| path.get(..end)).unwrap_or(path)
}

/// Fills in the port and the world of this run.
pub(crate) fn filled(text: &str, world: &World, port: u16) -> String {
    text.replace("{PORT}", &port.to_string()).replace("{ROOT}", &world.root.display().to_string())
}

/// Returns the lines of a file in order; asserts that each occurs once.
pub(crate) fn lines(file: &str) -> Vec<Line<'_>> {
    let mut family = "";
    let mut seen = BTreeSet::new();
    let mut lines = Vec::new();
    for text in file.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = text.strip_prefix("## ") {
            family = name;
            continue;
        }
        assert!(seen.insert(text), "stands twice: {text}");
        let (cwd, rest) = match text.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
            Some((cwd, rest)) if !cwd.contains('@') => (cwd, rest),
            _ => (PROJECT, text),
        };
        let (set_up, command) = match rest.split_once(" ⟹ ") {
            Some((set_up, command)) => (Some(decoded(set_up)), command),
            None => (None, rest),
        };
        lines.push(Line { family, cwd, set_up, command: decoded(command), text });
    }
    lines
}

fn decoded(line: &str) -> String {
    let text = line.replace('␤', "\n");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("⟨U+") {
        let (digits, remainder) = after.split_once('⟩').unwrap();
        out.push_str(before);
        out.push(char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap());
        rest = remainder;
    }
    out.push_str(rest);
    out
}

#[test]
fn a_line_gives_its_directory_and_set_up() {
    let [plain, other] = &lines("## one\na␤b⟨U+200B⟩\n\n## two (defused)\n@repos/x touch a ⟹ cat a\n")[..]
    else {
        panic!()
    };
    assert_eq!((plain.cwd, plain.command.as_str(), plain.may_run()), (PROJECT, "a\nb\u{200b}", false));
    assert_eq!((other.cwd, other.command.as_str(), other.may_run()), ("repos/x", "cat a", true));
    assert_eq!(other.set_up.as_deref(), Some("touch a"));
}
