//! Excerpts of results that are too long.

use setpoint_protocol::text::{Excerpt, head_and_tail_lines, head_lines};
use setpoint_protocol::tool::ToolRecord;
use setpoint_protocol::{Any, ToolId};

/// The tool whose result can be continued from a given line.
const READ_FILE: &str = "read_file";
/// The input field of `read_file` that holds the first line, from 1.
const OFFSET: &str = "offset";
/// The tool that runs programs.
const SHELL: &str = "shell";

/// The kind of text, which decides where it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Program output: the beginning (what it did) or the end (how it ended) may matter.
    Program,
    /// Lines of a file, starting at `first_line`.
    File {
        /// Line number in the file of the text's first line.
        first_line: u64,
    },
    /// Anything else: results in the order in which the tool found them.
    Other,
}

impl Source {
    /// Returns the source of the result of a call to `tool`.
    #[must_use]
    pub(super) fn of_call(tool: &ToolId, input: &Any, exit_code: Option<i32>) -> Self {
        let name = tool.tool();
        if exit_code.is_some() || name == SHELL {
            Source::Program
        } else if name == READ_FILE {
            let offset = input.0.get(OFFSET).and_then(serde_json::Value::as_u64);
            Source::File { first_line: offset.unwrap_or(1).max(1) }
        } else {
            Source::Other
        }
    }

    /// Returns the source of a record's evidence.
    #[must_use]
    pub(super) fn of(record: &ToolRecord) -> Self {
        Source::of_call(&record.tool, &record.input, record.exit_code)
    }

    /// Returns at most `chars_max` characters of `text`, with a mark where it was cut.
    #[must_use]
    pub(super) fn excerpt(self, text: &str, chars_max: usize) -> Excerpt<'_> {
        match self {
            Source::Program => head_and_tail_lines(text, chars_max),
            Source::File { first_line } => head_lines(text, chars_max, Some(first_line)),
            Source::Other => head_lines(text, chars_max, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cut_file_continues_at_a_line_and_output_keeps_its_end() {
        let text: String = (1..=9).map(|n| format!("line {n}\n")).collect();
        let cut = |tool: &str, input: serde_json::Value, exit_code| {
            let source = Source::of_call(&tool.parse().unwrap(), &Any(input), exit_code);
            source.excerpt(&text, 21).to_text("")
        };
        let head = "line 1\nline 2\nline 3\n";
        for (tool, input, expected) in [
            ("read_file", json!({"path": "a"}), "6 more lines, 42 characters, cut; go on with offset 4 …]"),
            ("read_file", json!({"offset": 0}), "6 more lines, 42 characters, cut; go on with offset 4 …]"),
            ("read_file", json!({"offset": 41}), "6 more lines, 42 characters, cut; go on with offset 44 …]"),
            ("grep", json!({"offset": 41}), "6 more lines, 42 characters, cut …]"),
        ] {
            assert_eq!(cut(tool, input, None), format!("{head}[… {expected}"), "{tool}");
        }
        let program = "line 1\n[… 42 of 63 characters cut …]\nline 8\nline 9\n";
        // A program that was killed has no exit code.
        for (tool, exit_code) in [("shell/cargo", Some(1)), ("shell/cargo", None), ("run_tests", Some(0))] {
            assert_eq!(cut(tool, json!({}), exit_code), program, "{tool}");
        }
    }
}
