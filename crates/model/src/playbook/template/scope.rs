//! The names that placeholders can use while a template is filled in.

use std::collections::BTreeMap;

use serde_json::Value;
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::ToolRecord;

/// Names that need no declaration: paths of the task.
pub(crate) const PLACES: &[&str] = &["cwd", "home", "workspace"];

/// Values by name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    /// The playbook's parameters.
    pub(crate) values: &'a BTreeMap<String, Value>,
    /// The machine and its paths.
    pub(crate) surroundings: &'a Surroundings,
    /// The results of the calls so far, in order.
    pub(crate) results: &'a [&'a ToolRecord],
    /// The name and number of the current repetition, inside a `repeat`.
    pub(crate) index: Option<(&'a str, u64)>,
}

impl<'a> Scope<'a> {
    /// Creates a scope before any call.
    pub(crate) fn new(values: &'a BTreeMap<String, Value>, surroundings: &'a Surroundings) -> Self {
        Scope { values, surroundings, results: &[], index: None }
    }

    pub(super) fn named(&self, name: &str) -> Option<Value> {
        if let Some((index, number)) = self.index
            && index == name
        {
            return Some(Value::from(number));
        }
        if let Some(value) = self.values.get(name) {
            return Some(value.clone());
        }
        match name {
            "cwd" => Some(Value::from(self.surroundings.cwd.as_str())),
            "home" => Some(Value::from(self.surroundings.home.as_str())),
            "workspace" => Some(Value::from(self.surroundings.workspace.as_str())),
            _ => None,
        }
    }

    /// Returns the part of the `call`-th call's structured result at a JSON pointer; null if there is none.
    pub(super) fn result(&self, call: usize, pointer: &str) -> Value {
        let facts =
            call.checked_sub(1).and_then(|i| self.results.get(i)).and_then(|record| record.facts.as_ref());
        facts.and_then(|facts| facts.pointer(pointer)).cloned().unwrap_or(Value::Null)
    }

    /// Returns what the `call`-th call printed or found, as text; null if there was no such call.
    pub(super) fn printed(&self, call: usize) -> Value {
        let record = call.checked_sub(1).and_then(|i| self.results.get(i));
        record.map_or(Value::Null, |record| Value::from(record.evidence.as_str()))
    }
}
