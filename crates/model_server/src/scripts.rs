//! Ready-made scripts with which this crate's program can be started, so that any client can be tried against the
//! server.

use std::sync::Arc;

use crate::answer::{Answer, Usage};
use crate::example::example;
use crate::fault::Fault;
use crate::json::sorted;
use crate::organisation::Organisation;
use crate::script::{Listing, ModelInfo, Script, Turn};
use crate::seen::Seen;

/// The text of `hello`.
pub const HELLO: &str = "Hello from the scripted model: été, 漢字, 🦀.";
/// The thinking of `hello`.
pub const THOUGHT: &str = "Somebody is there. I should greet.";
/// The cost of every answer of these scripts.
pub const COST: Usage = Usage { input: 1200, cached: 1024, output: 40, reasoning: 8 };
/// The names of the scripts.
pub const NAMES: [&str; 5] = ["hello", "tools", "schema", "organisation", "by-model"];

/// Returns the script of this name.
#[must_use]
pub fn by_name(name: &str) -> Option<Arc<dyn Script>> {
    match name {
        "hello" => Some(Arc::new(hello)),
        "tools" => Some(Arc::new(tools)),
        "schema" => Some(Arc::new(schema)),
        "organisation" => Some(Arc::new(Organisation::default())),
        "by-model" => Some(Arc::new(ByModel)),
        _ => None,
    }
}

/// Returns a fixed text after a thought.
fn hello(_: &Seen) -> Turn {
    Answer::text(HELLO).after_thinking(THOUGHT).costing(COST).into()
}

/// Calls the first tool that is offered with the smallest arguments that it accepts; once its result is there, repeats
/// it.
fn tools(seen: &Seen) -> Turn {
    let answer = match (seen.asked.results().next_back(), seen.asked.tools.first()) {
        (Some(result), _) => Answer::text(&format!("The tool said: {result}")),
        (None, Some(tool)) => Answer::call(&tool.name, &sorted(&example(&tool.schema))),
        (None, None) => Answer::text("No tool was offered."),
    };
    answer.costing(COST).into()
}

/// Answers with the smallest value of the requested schema.
fn schema(seen: &Seen) -> Turn {
    let value = seen.asked.schema.as_ref().map(example).unwrap_or_default();
    Answer::text(&sorted(&value)).costing(COST).into()
}

/// Takes the requested model as the name of a script or of a fault, so that one server offers them all. A fault is
/// injected into `tools` if tools are offered, otherwise into `hello`.
struct ByModel;

impl Script for ByModel {
    fn turn(&self, seen: &Seen) -> Turn {
        match seen.asked.model.as_str() {
            "hello" => hello(seen),
            "tools" => tools(seen),
            "schema" => schema(seen),
            name => {
                let turn = if seen.asked.tools.is_empty() { hello(seen) } else { tools(seen) };
                turn.with(Fault::by_name(name).unwrap_or(Fault::ModelNotFound))
            }
        }
    }

    fn listing(&self, _: &Seen) -> Listing {
        let models = ["hello", "tools", "schema"].map(ModelInfo::new).to_vec();
        Listing { models, fault: None }
    }
}
