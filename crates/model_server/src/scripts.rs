//! Scripts that need no test around them: what the program of this crate can be started with, so that any client
//! can be tried against the server.

use std::sync::Arc;

use crate::answer::{Answer, Usage};
use crate::example::example;
use crate::fault::Fault;
use crate::organisation::Organisation;
use crate::script::{Listing, ModelInfo, Script, Turn};
use crate::seen::Seen;

/// What `hello` says.
pub const HELLO: &str = "Hello from the scripted model: été, 漢字, 🦀.";
/// What `hello` thinks before it.
pub const THOUGHT: &str = "Somebody is there. I should greet.";
/// What every answer of these scripts costs.
pub const COST: Usage = Usage { input: 1200, cached: 1024, output: 40, reasoning: 8 };
/// The names of the scripts.
pub const NAMES: [&str; 5] = ["hello", "tools", "schema", "organisation", "by-model"];

/// The script of this name. `arguments` is what `tools` gives to the tool that it calls; without it, the smallest
/// arguments that the tool's schema takes.
#[must_use]
pub fn by_name(name: &str, arguments: Option<String>) -> Option<Arc<dyn Script>> {
    match name {
        "hello" => Some(Arc::new(hello)),
        "tools" => Some(Arc::new(move |seen: &Seen| tools(seen, arguments.as_deref()))),
        "schema" => Some(Arc::new(schema)),
        "organisation" => Some(Arc::new(Organisation::default())),
        "by-model" => Some(Arc::new(ByModel)),
        _ => None,
    }
}

/// A fixed text after a thought.
#[must_use]
pub fn hello(_: &Seen) -> Turn {
    Answer::text(HELLO).after_thinking(THOUGHT).costing(COST).into()
}

/// Calls the first tool that is offered; once there is a result, says what it was.
#[must_use]
pub fn tools(seen: &Seen, arguments: Option<&str>) -> Turn {
    let answer = match (seen.asked.results().next_back(), seen.asked.tools.first()) {
        (Some(result), _) => Answer::text(&format!("The tool said: {result}")),
        (None, Some(tool)) => {
            let arguments = match arguments {
                Some(arguments) => arguments.to_owned(),
                None => crate::json::Json::sorted(&example(&tool.schema)).to_string(),
            };
            Answer::call(&tool.name, &arguments)
        }
        (None, None) => Answer::text("No tool was offered."),
    };
    answer.costing(COST).into()
}

/// Answers with the smallest value of the schema that is asked for.
#[must_use]
pub fn schema(seen: &Seen) -> Turn {
    let value = seen.asked.schema.as_ref().map(example).unwrap_or_default();
    Answer::text(&crate::json::Json::sorted(&value).to_string()).costing(COST).into()
}

/// The model that is asked for is the name of a script or of a fault, so that one server serves them all. A fault is
/// laid over `tools` where tools are offered, and over `hello` where none are.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByModel;

impl Script for ByModel {
    fn turn(&self, seen: &Seen) -> Turn {
        match seen.asked.model.as_str() {
            "hello" => hello(seen),
            "tools" => tools(seen, None),
            "schema" => schema(seen),
            name => {
                let turn = if seen.asked.tools.is_empty() { hello(seen) } else { tools(seen, None) };
                turn.with(Fault::by_name(name).unwrap_or(Fault::ModelNotFound))
            }
        }
    }

    fn listing(&self, _: &Seen) -> Listing {
        let models = ["hello", "tools", "schema"].map(ModelInfo::new).to_vec();
        Listing { models, fault: None }
    }
}
