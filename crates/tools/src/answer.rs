//! The answers of tools that found or did something.

use serde_json::Value;
use setpoint_protocol::Any;
use setpoint_protocol::tool::ToolAnswer;

/// Builds the answer of a call that succeeded with these facts.
pub(crate) fn found(text: impl Into<String>, facts: Value) -> ToolAnswer {
    ToolAnswer { ok: true, text: text.into(), facts: Some(Any(facts)), ..ToolAnswer::default() }
}

/// Marks the answer of a call that looked through a link.
pub(crate) fn through_links(mut answer: ToolAnswer) -> ToolAnswer {
    let facts = answer.facts.get_or_insert_with(|| Any(Value::Object(Default::default())));
    facts.0["links"] = true.into();
    answer
}

/// Builds the answer of a walk: adds to the text what could not be read, and to the facts how many of Setpoint's own
/// places were skipped.
pub(crate) fn walked(text: String, mut facts: Value, gaps: Gaps) -> ToolAnswer {
    if let (1.., Some(facts)) = (gaps.closed, facts.as_object_mut()) {
        facts.insert("closed".to_owned(), gaps.closed.into());
    }
    found(text + &gaps.text(), facts)
}

/// Returns the lines that fit and the number of the rest. The list for a reader is shorter than the one in the facts.
pub(crate) fn listing(lines: impl ExactSizeIterator<Item = String>, max: usize) -> String {
    let total = lines.len();
    let mut text = String::new();
    for line in lines.take(max) {
        text.push('\n');
        text.push_str(&line);
    }
    if total > max {
        text.push_str(&format!("\n… and {} more", total - max));
    }
    text
}

/// Returns the first items of a list, up to a number of items and of bytes of JSON.
pub(crate) fn first(list: impl Iterator<Item = Value>, max: usize, bytes_max: usize) -> Vec<Value> {
    let mut bytes = 0;
    let fits = |value: &Value| {
        bytes += value.to_string().len();
        bytes <= bytes_max
    };
    list.take(max).take_while(fits).collect()
}

/// What a partial result leaves out, reported at the end of its text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gaps {
    /// Files and folders that could not be read.
    pub(crate) unreadable: u64,
    /// Folders and files of Setpoint's own, which are skipped.
    pub(crate) closed: u64,
    /// Whether everything was visited.
    pub(crate) complete: bool,
}

impl Gaps {
    pub(crate) fn text(self) -> String {
        let mut text = String::new();
        if self.unreadable > 0 {
            let places = crate::show::count(self.unreadable, "place", "places");
            text.push_str(&format!("\n{places} could not be read; the rest is complete as far as it goes"));
        }
        if self.closed > 0 {
            let places = crate::show::count(self.closed, "place", "places");
            text.push_str(&format!("\n{places} that belong to Setpoint itself left out"));
        }
        if !self.complete {
            text.push_str("\nINCOMPLETE: a limit of time or number was reached; there may be more");
        }
        text
    }
}
