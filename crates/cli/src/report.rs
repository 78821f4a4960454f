//! Errors, warnings and notes, for a person or a program.

use serde::Serialize;
use serde_json::json;
use setpoint_app::Error;

use crate::text::{Line, Tone};
use crate::{Exit, Io, Options};

/// Prints the error on stderr, and on stdout as the one JSON value if `is_json`. Returns the exit code.
pub fn error(io: &mut Io, error: &Error, is_json: bool) -> Exit {
    if is_json {
        let value = json!({ "error": value(error) });
        // If stdout cannot be written to, stderr still has the error.
        drop(io.out.json(&value));
    }
    let mut lines = vec![Line::new().and(Tone::Bad, "error: ").and(Tone::Plain, &error.message)];
    for hint in &error.hints {
        lines.push(Line::new().and(Tone::Care, "hint: ").and(Tone::Plain, hint));
    }
    // If neither can be written to, there is no other place.
    drop(io.err.lines(&lines));
    Exit::of_error(error)
}

/// Returns an error as JSON.
pub(crate) fn value(error: &Error) -> serde_json::Value {
    json!({ "kind": error.kind.name(), "message": error.message, "hints": error.hints })
}

/// Prints a note on stderr.
pub(crate) fn note(io: &mut Io, text: &str) {
    // A note that cannot be written must not fail the command.
    drop(io.err.lines(&[Line::plain(text)]));
}

/// Prints a note on stderr unless `--quiet` was given.
pub(crate) fn aside(io: &mut Io, options: &Options, text: &str) {
    if !options.is_quiet {
        note(io, text);
    }
}

/// Shows what was found, or says that it is nothing.
pub(crate) fn found<T: Serialize>(
    io: &mut Io,
    options: &Options,
    found: &[T],
    lines: impl FnOnce() -> Vec<Line>,
    nothing: &str,
) -> Result<(), Error> {
    if found.is_empty() && !options.is_json {
        aside(io, options, nothing);
        return Ok(());
    }
    io.out.show(options, &found, lines)
}

/// Warns on stderr.
pub(crate) fn warning(io: &mut Io, text: &str) {
    let line = Line::new().and(Tone::Care, "warning: ").and(Tone::Plain, text);
    // A warning that cannot be written must not fail the command.
    drop(io.err.lines(&[line]));
}
