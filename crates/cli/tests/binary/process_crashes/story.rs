//! A task's exported records, checked for what a crash must not change.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub(super) struct Story {
    pub(super) records: Vec<Value>,
}

/// The course of one ask.
#[derive(Debug, Default)]
pub(super) struct Ask {
    /// The question, without what differs from run to run.
    pub(super) what: String,
    /// Whether it is a call that may change something.
    pub(super) is_unsafe: bool,
    asked: usize,
    reasked: usize,
    answers: Vec<Value>,
}

impl Ask {
    pub(super) fn is_open(&self) -> bool {
        self.answers.is_empty()
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.answers.iter().any(|answer| answer == "interrupted")
    }
}

impl Story {
    pub(super) fn of(records: Vec<Value>) -> Self {
        Story { records }
    }

    pub(super) fn count(&self, kind: &str) -> usize {
        self.records.iter().filter(|record| is(record, kind)).count()
    }

    pub(super) fn ends_with(&self, kind: &str) -> bool {
        self.records.last().is_some_and(|record| is(record, kind))
    }

    /// Returns the asks of models, tools and timers, by call.
    ///
    /// # Panics If a call was asked twice, asked again after its answer, or answered twice.
    pub(super) fn asks(&self) -> BTreeMap<String, Ask> {
        let mut asks = BTreeMap::<String, Ask>::new();
        for record in &self.records {
            let data = &record["data"];
            let Some(call) = data["call"].as_str() else { continue };
            let ask = asks.entry(call.to_owned()).or_default();
            if is(record, "Asked") {
                ask.what = what(&data["ask"]);
                ask.is_unsafe = data["ask"]["tool"]["effect"] == "unsafe";
                ask.asked += 1;
            } else if is(record, "Reasked") {
                assert!(ask.is_open(), "{call} was answered and asked again: {record}");
                ask.reasked += 1;
            } else if is(record, "Answered") {
                ask.answers.push(data["answer"].clone());
                assert_eq!(data["attempt"], ask.reasked + 1, "{record}");
            }
            assert!(ask.asked == 1 && ask.answers.len() <= 1, "{call}: {ask:?}");
            assert!(!ask.is_unsafe || ask.reasked == 0, "{call} may change something and was repeated");
        }
        asks
    }

    /// Returns everything that was asked, as `call: what`.
    pub(super) fn everything_asked(&self) -> BTreeSet<String> {
        self.asks().into_iter().map(|(call, ask)| format!("{call}: {}", ask.what)).collect()
    }
}

fn is(record: &Value, kind: &str) -> bool {
    record["type"].as_str().and_then(|kind| kind.strip_prefix("setpoint.")) == Some(kind)
}

/// Removes what differs from home to home: times and ids in a prompt, and the folder of an approval.
fn what(ask: &Value) -> String {
    let mut ask = ask.clone();
    for of in ["model", "tool"] {
        if let Some(fields) = ask.get_mut(of).and_then(Value::as_object_mut) {
            fields.remove("fragments");
            fields.remove("grant");
        }
    }
    ask.to_string()
}
