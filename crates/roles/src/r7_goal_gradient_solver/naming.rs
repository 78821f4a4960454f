//! Finds the commands that the person or a criterion names, because the next plan needs them.

use setpoint_machine::Ctx;
use setpoint_protocol::ToolId;
use setpoint_protocol::message::Criterion;
use setpoint_protocol::predicate::CheckOn;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::CallReading;

use super::attempts::Attempt;
use crate::words::contains_whole;

/// At most this many characters of a text are searched for commands.
const TEXT_CHARS_MAX: usize = 32_000;

/// The text of the person and the criteria, prepared for look-ups.
#[derive(Debug, Default)]
pub(super) struct Naming {
    /// The person's input and the criteria, with single spaces.
    texts: Vec<String>,
    /// Texts in back quotes in them.
    quotes: Vec<String>,
    /// Probes of checks.
    probes: Vec<CallReading>,
    /// Tools whose last call a check looks at.
    tools: Vec<String>,
}

impl Naming {
    /// Reads the person's input, criteria with their checks, and criteria of which only the sentence is known.
    pub(super) fn new<'a>(
        criteria: impl IntoIterator<Item = &'a Criterion>,
        sentences: impl IntoIterator<Item = &'a str>,
        ctx: &Ctx<'_>,
    ) -> Self {
        let mut naming = Naming::default();
        naming.add_text(ctx.words);
        for criterion in criteria {
            naming.add_text(&criterion.criterion);
            match criterion.check.as_ref().map(|check| &check.on) {
                Some(CheckOn::Probe(call)) => {
                    naming.probes.push(ctx.reader.read(call, &ctx.opened.surroundings));
                }
                Some(CheckOn::Call { tool, .. }) => naming.tools.push(tool.clone()),
                Some(CheckOn::Output) | None => {}
            }
        }
        for sentence in sentences {
            naming.add_text(sentence);
        }
        naming
    }

    fn add_text(&mut self, text: &str) {
        let text = spaced(text);
        let quotes = text.split('`').skip(1).step_by(2).map(str::trim).filter(|quote| !quote.is_empty());
        self.quotes.extend(quotes.map(str::to_owned));
        self.texts.push(text);
    }

    /// Returns whether this tool is needed, whatever its target. A check on `shell` is met by any program, so it
    /// names none.
    pub(super) fn names_tool(&self, tool: &ToolId) -> bool {
        let program = tool.as_str().split_once('/').map(|(_, program)| program);
        let begins = |quote: &String| quote.split(' ').next() == program;
        (program.is_some() && self.quotes.iter().any(begins))
            || self.probes.iter().any(|probe| probe.tools.contains(tool))
            || self.tools.iter().any(|named| named == tool.as_str())
    }

    /// Returns whether this call is a check's own probe.
    pub(super) fn names_probe(&self, tool: &ToolId, target: &str) -> bool {
        self.probes.iter().any(|probe| probe.target == target && probe.tools.contains(tool))
    }

    /// Returns whether this command, or a part of its pipeline, is named.
    ///
    /// A part must have at least two words: `sort` in "sort the list" does not name a command that pipes into `sort`.
    pub(super) fn names_command(&self, target: &str, attempt: &Attempt) -> bool {
        let command = attempt.command.as_deref().map(spaced);
        let parts = target.split(" | ").flat_map(|part| part.split(" ; "));
        let parts = parts.map(str::trim).filter(|part| part.contains(' '));
        let wanted: Vec<&str> = command.as_deref().into_iter().chain([target]).chain(parts).collect();
        self.texts.iter().any(|text| wanted.iter().any(|wanted| contains(text, wanted)))
            || self.quotes.iter().any(|quote| quote.contains(' ') && contains(target, quote))
    }
}

/// Returns the beginning of `text` with single blanks: commands are compared without regard to blanks.
fn spaced(text: &str) -> String {
    clip(text, TEXT_CHARS_MAX).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether `text` contains `words` as whole words.
fn contains(text: &str, words: &str) -> bool {
    contains_whole(text, words, |c| c.is_alphanumeric() || "_-/".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_named_in_whole_words() {
        let texts = "run cargo test until `make  check` passes, then sort the installs";
        for named in ["cargo test", "cargo test | tail -n 20", "cd /x ; cargo test", "make check -j 4"] {
            assert!(names(texts, named), "{named}");
        }
        for other in ["argo test", "cargo tes", "cargo build", "curl x | sort", "install"] {
            assert!(!names(texts, other), "{other}");
        }
    }

    #[test]
    fn a_command_is_matched_as_it_was_written() {
        let naming = of("see that grep -c \"a b\" x.txt is 3");
        let attempt = attempt(Some("grep -c \"a b\"  x.txt"));
        assert!(naming.names_command("grep -c 'a b' x.txt", &attempt));
    }

    #[test]
    fn a_quoted_program_is_named_as_a_tool() {
        let naming = of("`cargo test` passes");
        assert!(naming.names_tool(&"shell/cargo".parse().unwrap()));
        for other in ["shell/test", "shell", "write_file"] {
            assert!(!naming.names_tool(&other.parse().unwrap()), "{other}");
        }
    }

    fn names(text: &str, target: &str) -> bool {
        of(text).names_command(target, &attempt(None))
    }

    fn of(text: &str) -> Naming {
        let mut naming = Naming::default();
        naming.add_text(text);
        naming
    }

    fn attempt(command: Option<&str>) -> Attempt {
        Attempt {
            call: "r3.1/1".parse().unwrap(),
            command: command.map(str::to_owned),
            failed_at: None,
            worked_at: None,
            was_cut_off: false,
        }
    }
}
