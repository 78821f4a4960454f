//! Telling a person, or a program, what went wrong.

use serde_json::json;
use setpoint_app::Error;

use crate::exit::Exit;
use crate::io::Io;
use crate::text::{Line, Tone};

/// Says what went wrong on stderr, and as the one JSON value on stdout where machine output was asked for.
pub fn error(io: &mut Io, error: &Error, is_json: bool) -> Exit {
    if is_json {
        let value = json!({ "error": value(error) });
        // When stdout cannot be written to, stderr still says what went wrong.
        drop(io.out.json(&value));
    }
    let mut lines = vec![Line::new().and(Tone::Bad, "error: ").and(Tone::Plain, &error.message)];
    for hint in &error.hints {
        lines.push(Line::new().and(Tone::Care, "hint: ").and(Tone::Plain, hint));
    }
    // There is no third place to report to.
    drop(io.err.lines(&lines));
    Exit::of_error(error)
}

/// An error as other programs get it.
pub(crate) fn value(error: &Error) -> serde_json::Value {
    json!({ "kind": error.kind.name(), "message": error.message, "hints": error.hints })
}

/// Says something worth knowing on stderr.
pub(crate) fn note(io: &mut Io, text: &str) {
    // A note that cannot be written changes nothing.
    drop(io.err.lines(&[Line::plain(text)]));
}

/// Warns on stderr.
pub(crate) fn warning(io: &mut Io, text: &str) {
    let line = Line::new().and(Tone::Care, "warning: ").and(Tone::Plain, text);
    // A warning that cannot be written changes nothing.
    drop(io.err.lines(&[line]));
}
