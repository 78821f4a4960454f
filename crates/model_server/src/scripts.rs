//! What this crate's program answers, so that any client can be tried against the server.

use crate::answer::{Answer, Usage};
use crate::example::example;
use crate::fault::Fault;
use crate::json::sorted;
use crate::script::{Listing, ModelInfo, Script, Turn};
use crate::seen::SeenRequest;

/// The text of `hello`.
pub const HELLO: &str = "Hello from the scripted model: été, 漢字, 🦀.";
/// The thinking of `hello`.
pub const THOUGHT: &str = "Somebody is there. I should greet.";
/// The cost of every answer of these scripts.
pub const COST: Usage = Usage { input: 1200, cached: 1024, output: 40, reasoning: 8 };
/// Returns a fixed text after a thought.
fn hello(_: &SeenRequest) -> Turn {
    Answer::text(HELLO).after_thinking(THOUGHT).costing(COST).into()
}

/// Calls the first tool that is offered with the smallest arguments that it accepts; once its result is there, repeats
/// it.
fn tools(seen: &SeenRequest) -> Turn {
    let answer = match (seen.asked.results().next_back(), seen.asked.tools.first()) {
        (Some(result), _) => Answer::text(&format!("The tool said: {result}")),
        (None, Some(tool)) => Answer::call(&tool.name, &sorted(&example(&tool.schema))),
        (None, None) => Answer::text("No tool was offered."),
    };
    answer.costing(COST).into()
}

/// Answers with the smallest value of the requested schema.
fn schema(seen: &SeenRequest) -> Turn {
    let value = seen.asked.schema.as_ref().map(example).unwrap_or_default();
    Answer::text(&sorted(&value)).costing(COST).into()
}

/// Takes the requested model as the name of what to answer (`hello`, `tools`, `schema`) or of a fault, which is injected
/// into `tools` if tools are offered, otherwise into `hello`.
#[derive(Clone, Copy, Debug)]
pub struct ByModel;

impl Script for ByModel {
    fn turn(&self, seen: &SeenRequest) -> Turn {
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

    fn listing(&self, _: &SeenRequest) -> Listing {
        let models = ["hello", "tools", "schema"].map(ModelInfo::new).to_vec();
        Listing { models, fault: None }
    }
}
