//! Tools with a typed input, which share decoding, schema and reading.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{CallReading, CapabilityClass, Effect, ToolAnswer, ToolSpec};
use setpoint_protocol::{Any, ToolId};

use crate::error::ToolError;
use crate::place::Place;
use crate::show;
use crate::target::{self, Target};
use crate::tool::{Tool, ToolCtx};

/// What each tool of the catalogue implements.
pub(crate) trait Typed: Send + Sync {
    /// The parameters. Decoding ignores unknown fields; a call with one that would matter does not run.
    type Input: DeserializeOwned + JsonSchema + Send + Sync;

    /// The tool's name in a call.
    const NAME: &'static str;
    /// One or two sentences for the model that chooses a tool.
    const ABOUT: &'static str;
    /// What a check can examine in its result: its text, and its facts as JSON pointers.
    const GIVES: &'static str;
    /// The class of the tool's capability.
    const CLASS: CapabilityClass;
    /// The tool's effect on the world, for any input.
    const EFFECT: Effect;
    /// Whether an executor is offered the tool from the start.
    const CORE: bool = false;

    /// Returns whether tasks are offered the tool. One that cannot run on this machine still reads the calls of tasks that
    /// began elsewhere, or under other settings.
    fn is_offered(&self) -> bool {
        true
    }

    /// Returns its description; overridden only by tools that differ from machine to machine.
    fn about(&self) -> Cow<'static, str> {
        Self::ABOUT.into()
    }

    /// Returns the JSON Schema of the parameters, likewise.
    fn input_schema(&self) -> Any {
        schema::<Self::Input>()
    }

    /// Returns the input in normal form.
    fn target(&self, input: &Self::Input, place: &Place) -> Result<Target, ToolError>;

    /// Returns what is known before the call runs. Overridden only by tools whose effect depends on their input.
    fn reading(&self, input: &Self::Input, place: &Place) -> Result<CallReading, ToolError> {
        let target = self.target(input, place)?.into_text();
        let beyond = Some(String::new());
        Ok(CallReading { tools: tool_ids(Self::NAME), target, beyond, effect: Self::EFFECT, volatile: false })
    }

    fn run(
        &self,
        input: Self::Input,
        ctx: &ToolCtx,
    ) -> impl Future<Output = Result<ToolAnswer, ToolError>> + Send;
}

/// Wraps a typed tool as a tool of the catalogue.
pub(crate) fn tool<T: Typed + 'static>(typed: T) -> Arc<dyn Tool> {
    let schema = schema::<T::Input>();
    let properties = schema.0.get("properties").and_then(Value::as_object);
    let parameters = properties.map(|known| known.keys().cloned().collect()).unwrap_or_default();
    Arc::new(Adapter { typed, parameters })
}

/// Returns the id of a tool as a list of one. An invalid name (a model's invention) becomes `unknown`.
pub(crate) fn tool_ids(name: &str) -> Vec<ToolId> {
    name.parse().or_else(|_| "unknown".parse()).into_iter().collect()
}

/// Returns the reading of a call whose parameters are invalid.
pub(crate) fn unreadable(name: &str, input: &Any, effect: Effect) -> CallReading {
    let target = target::bounded(input.to_text());
    CallReading { tools: tool_ids(name), target, beyond: Some(String::new()), effect, volatile: false }
}

/// Decodes the parameters.
pub(crate) fn decode<T: DeserializeOwned>(input: &Any) -> Result<T, ToolError> {
    let empty = Value::Object(Map::new());
    let value = if input.0.is_null() { &empty } else { &input.0 };
    if !value.is_object() {
        return Err(ToolError::parameter("input", "it must be an object with the tool's parameters"));
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.inner().to_string();
        // serde reports a missing field at its parent and names it in the text.
        let missing = reason.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
        let field = match missing {
            Some(name) if path == "." => name.to_owned(),
            Some(name) => format!("{path}.{name}"),
            None => path,
        };
        ToolError::Parameter { field, reason }
    })
}

/// Returns the JSON Schema of an input, inlined and without the fields of a standalone document.
pub(crate) fn schema<T: JsonSchema>() -> Any {
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = generator.into_generator().into_root_schema_for::<T>();
    schema.remove("$schema");
    schema.remove("title");
    Any(schema.to_value())
}

/// Names under which models say why they make a call. They change nothing, so they are let through.
const ASIDES: &[&str] =
    &["comment", "description", "explanation", "justification", "reason", "thought", "why"];
/// Maximum characters of a parameter's name that an error repeats.
const NAME_CHARS_MAX: usize = 80;

/// Checks that a call has no parameter that its tool does not know: what it was meant to change would be left as it is.
///
/// # Errors
/// If it has one, with the one that it probably means.
fn check_known(input: &Any, parameters: &[String]) -> Result<(), ToolError> {
    let is_unknown = |(name, value): &(&String, &Value)| {
        !value.is_null() && !parameters.contains(name) && !ASIDES.contains(&name.as_str())
    };
    let Some((name, _)) = input.0.as_object().and_then(|given| given.iter().find(is_unknown)) else {
        return Ok(());
    };
    let first_word = |name: &str| name.split(['_', '-']).next().unwrap_or_default().to_lowercase();
    let meant = parameters.iter().find(|known| first_word(known) == first_word(name));
    let hint = match meant {
        Some(meant) => format!("`{meant}` is meant"),
        None if parameters.is_empty() => "it has none".to_owned(),
        None => format!("there are {}", parameters.join(", ")),
    };
    let shown = clip(&show::line(name), NAME_CHARS_MAX);
    Err(ToolError::parameter(&shown, format!("the tool has no such parameter: {hint}")))
}

struct Adapter<T> {
    typed: T,
    /// The names of its parameters.
    parameters: Vec<String>,
}

#[async_trait]
impl<T: Typed> Tool for Adapter<T> {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: T::NAME.to_owned(),
            description: self.typed.about().into_owned(),
            gives: T::GIVES.to_owned(),
            input_schema: self.typed.input_schema(),
            class: T::CLASS,
            volatile: false,
            core: T::CORE,
        }
    }

    fn is_offered(&self) -> bool {
        self.typed.is_offered()
    }

    fn read(&self, input: &Any, surroundings: &Surroundings) -> CallReading {
        let place = Place::new(surroundings);
        decode(input)
            .and_then(|typed| self.typed.reading(&typed, &place))
            .unwrap_or_else(|_| unreadable(T::NAME, input, T::EFFECT))
    }

    async fn run(&self, input: &Any, ctx: &ToolCtx) -> ToolAnswer {
        let result = match check_known(input, &self.parameters).and_then(|()| decode(input)) {
            Ok(typed) => self.typed.run(typed, ctx).await,
            Err(error) => Err(error),
        };
        result.unwrap_or_else(ToolError::into_answer)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Sample {
        path: String,
        limit: Option<u32>,
        #[serde(default)]
        items: Vec<Item>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Item {
        name: String,
    }

    fn error(input: Value) -> String {
        decode::<Sample>(&Any(input)).unwrap_err().into_answer().text
    }

    #[test]
    fn errors_name_the_field() {
        assert!(error(json!({})).starts_with("failed to use the parameter `path`: missing field"));
        assert!(error(json!({"path": 3})).starts_with("failed to use the parameter `path`: invalid type"));
        assert!(error(json!({"path": "x", "limit": -1})).starts_with("failed to use the parameter `limit`"));
        let nested = error(json!({"path": "x", "items": [{"name": "a"}, {}]}));
        assert!(nested.starts_with("failed to use the parameter `items[1].name`"), "{nested}");
        assert!(error(json!("x")).starts_with("failed to use the parameter `input`"));
        assert!(error(Value::Null).starts_with("failed to use the parameter `path`"));
    }

    #[test]
    fn a_call_with_an_unknown_parameter_does_not_run() {
        let parameters = ["path", "timeout_s"].map(str::to_owned);
        let refused =
            |input: Value| check_known(&Any(input), &parameters).err().map(|error| error.to_string());
        for input in
            [json!({}), json!(null), json!({"path": 1, "why": "x"}), json!({"timeout_seconds": null})]
        {
            assert_eq!(refused(input.clone()), None, "{input}");
        }
        assert_eq!(
            refused(json!({"timeout_seconds": 2})).unwrap(),
            "use the parameter `timeout_seconds`: the tool has no such parameter: `timeout_s` is meant"
        );
        let other = refused(json!({"file\n": "x"})).unwrap();
        assert!(other.ends_with("no such parameter: there are path, timeout_s"), "{other}");
        assert!(other.contains("`file\\n`"), "{other}");
    }

    #[test]
    fn unknown_fields_are_ignored_by_decoding() {
        let sample: Sample = decode(&Any(json!({"path": "x", "limit": null, "why": "because"}))).unwrap();
        assert_eq!((sample.path.as_str(), sample.limit, sample.items.len()), ("x", None, 0));
        assert!(sample.items.iter().all(|item| !item.name.is_empty()));
    }
}
