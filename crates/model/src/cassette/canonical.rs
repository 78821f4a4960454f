//! The canonical form of a question: a text that is the same in every run.
//!
//! It contains what adapters see: the prompt, fragment by fragment, the tools and the schema. It excludes the remaining
//! time, the limit on the answer (which depends on the remaining budgets to the last token, and so on the length of
//! every path), and what `places` replaces. Lines of a fragment are indented, so that no fragment can imitate the head
//! of another.

use std::fmt::Write as _;

use setpoint_machine::prompt::FragmentKind;
use setpoint_machine::{Brief, ModelCall};
use setpoint_protocol::Any;
use setpoint_protocol::record::{Part, Reply, Surroundings, ToolRequest};

use super::places::{Places, in_value};

/// Fragments that contain the controller's numbers, which depend on the elapsed time.
const REASONED: &[&str] = &["directive", "reason"];

/// One question in its canonical form.
#[derive(Clone, Debug)]
pub struct Canonical {
    text: String,
    places: Places,
}

impl Canonical {
    /// Creates the canonical form. `here` is used if the question itself does not say where it is asked.
    #[must_use]
    pub fn of(call: &ModelCall, here: Option<&Surroundings>) -> Option<Self> {
        let mut places = Places::of(surroundings(&call.brief).or(here))?;
        let mut text = format!("purpose {}\n", call.purpose().name());
        if let Some(schema) = call.schema {
            line(&mut text, "schema", &hash(schema.as_bytes()));
        }
        for tool in call.tools() {
            let spec = serde_json::to_vec(tool).unwrap_or_default();
            line(&mut text, &format!("tool {}", tool.name), &hash(&spec));
        }
        for fragment in &call.prompt.fragments {
            let kind = match fragment.kind {
                FragmentKind::System => "system",
                FragmentKind::Task => "task",
                FragmentKind::Data => "data",
                // The tools are already included above.
                FragmentKind::Tools => continue,
                FragmentKind::Said => "said",
                FragmentKind::Result => "result",
            };
            line(&mut text, kind, fragment.name);
            let hidden = places.hide(fragment.text());
            let hidden =
                if REASONED.contains(&fragment.name) { Places::hide_numbers(&hidden) } else { hidden };
            for said in hidden.split('\n') {
                line(&mut text, " ", said);
            }
        }
        Some(Canonical { text, places })
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the hash by which its answers are found.
    #[must_use]
    pub fn hash(&self) -> String {
        hash(self.text.as_bytes())
    }

    /// Converts an answer to this question to its recorded form.
    #[must_use]
    pub fn hide(&self, reply: &Reply) -> Reply {
        changed(reply, &|text| self.places.hide_known(text))
    }

    /// Converts a recorded answer to an answer to this question.
    #[must_use]
    pub fn show(&self, reply: &Reply) -> Reply {
        changed(reply, &|text| self.places.show(text))
    }
}

/// Returns where a question is asked, if its brief says so.
#[must_use]
pub fn surroundings(brief: &Brief) -> Option<&Surroundings> {
    match brief {
        Brief::Plan(brief) => Some(&brief.surroundings),
        Brief::Execute(brief) => Some(&brief.surroundings),
        Brief::Judge(brief) => Some(&brief.surroundings),
        Brief::Merge(brief) => Some(&brief.surroundings),
        Brief::Perceive(_) | Brief::Report(_) | Brief::Distil(_) | Brief::Reflect(_) => None,
    }
}

fn changed(reply: &Reply, change: &impl Fn(&str) -> String) -> Reply {
    let part = |part: &Part| match part {
        Part::Text(text) => Part::Text(change(text)),
        Part::ToolCall(request) => {
            Part::ToolCall(ToolRequest { input: Any(in_value(&request.input.0, change)), ..request.clone() })
        }
        Part::Opaque(opaque) => Part::Opaque(opaque.clone()),
    };
    Reply { parts: reply.parts.iter().map(part).collect(), ..reply.clone() }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn line(text: &mut String, head: &str, rest: &str) {
    // Writing to a string cannot fail.
    let _written = writeln!(text, "{head} {rest}");
}
