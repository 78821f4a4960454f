//! A value of any shape whose texts contain placeholders.

use serde_json::{Map, Value};

use super::scope::Scope;
use super::text::{Piece, Slot, TemplateError, TextTemplate};
use crate::playbook::limits::REPEAT_MAX;

/// A value with placeholders.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueTemplate {
    /// A number or a boolean, without placeholders.
    Plain(Value),
    /// A text. If it is a single placeholder, it keeps that value's type.
    Text(TextTemplate),
    List(Vec<ValueTemplate>),
    Table(Vec<(String, ValueTemplate)>),
    /// `{ repeat = "{count}", as = "i", of = … }`: an object with a list `all` of this value, once per number from
    /// 0.
    Repeat {
        /// How often to repeat it.
        times: Box<ValueTemplate>,
        /// The name of the number.
        index: String,
        /// The value to repeat.
        of: Box<ValueTemplate>,
    },
}

impl ValueTemplate {
    /// Returns the text if it has no placeholder; an empty text has none.
    pub(crate) fn fixed_text(&self) -> Option<String> {
        match self {
            ValueTemplate::Text(template) => match template.pieces() {
                [] => Some(String::new()),
                [Piece::Text(text)] => Some(text.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether a table anywhere in the value has this key.
    pub(crate) fn has_key(&self, wanted: &str) -> bool {
        match self {
            ValueTemplate::Plain(_) | ValueTemplate::Text(_) => false,
            ValueTemplate::List(items) => items.iter().any(|item| item.has_key(wanted)),
            ValueTemplate::Table(fields) => {
                fields.iter().any(|(key, value)| key == wanted || value.has_key(wanted))
            }
            ValueTemplate::Repeat { of, .. } => of.has_key(wanted),
        }
    }

    /// Returns the value with its placeholders filled in; a missing result becomes null.
    pub(crate) fn value(&self, scope: &Scope<'_>) -> Result<Value, TemplateError> {
        self.render(scope, &|template, scope| template.value(scope))
    }

    /// Returns the input of a call. Like [`ValueTemplate::value`], but a missing result is an error.
    pub(crate) fn input(&self, scope: &Scope<'_>) -> Result<Value, TemplateError> {
        self.render(scope, &|template, scope| template.value_of_results(scope))
    }

    fn render(
        &self,
        scope: &Scope<'_>,
        text: &dyn Fn(&TextTemplate, &Scope<'_>) -> Result<Value, TemplateError>,
    ) -> Result<Value, TemplateError> {
        Ok(match self {
            ValueTemplate::Plain(value) => value.clone(),
            ValueTemplate::Text(template) => text(template, scope)?,
            ValueTemplate::List(items) => {
                Value::Array(items.iter().map(|item| item.render(scope, text)).collect::<Result<_, _>>()?)
            }
            ValueTemplate::Table(fields) => {
                let mut table = Map::new();
                for (key, field) in fields {
                    table.insert(key.clone(), field.render(scope, text)?);
                }
                Value::Object(table)
            }
            ValueTemplate::Repeat { times, index, of } => {
                let wanted = times.render(scope, text)?;
                let times = wanted.as_u64().filter(|times| (1..=REPEAT_MAX).contains(times));
                let times = times.ok_or_else(|| TemplateError::Repeat(wanted.to_string()))?;
                let each =
                    |number| of.render(&Scope { index: Some((index.as_str(), number)), ..*scope }, text);
                let all = (0..times).map(each).collect::<Result<Vec<_>, _>>()?;
                Value::Object(Map::from_iter([("all".to_owned(), Value::Array(all))]))
            }
        })
    }

    /// Calls `visit` with every text in the value, and with the name of the repetition around it.
    pub(crate) fn for_each_text<'t>(&'t self, visit: &mut dyn FnMut(&'t TextTemplate, Option<&'t str>)) {
        self.walk(None, visit);
    }

    fn walk<'t>(&'t self, index: Option<&'t str>, visit: &mut dyn FnMut(&'t TextTemplate, Option<&'t str>)) {
        match self {
            ValueTemplate::Plain(_) => {}
            ValueTemplate::Text(template) => visit(template, index),
            ValueTemplate::List(items) => items.iter().for_each(|item| item.walk(index, visit)),
            ValueTemplate::Table(fields) => fields.iter().for_each(|(_, field)| field.walk(index, visit)),
            ValueTemplate::Repeat { times, index: inner, of } => {
                times.walk(index, visit);
                of.walk(Some(inner), visit);
            }
        }
    }

    /// Returns the field of this name, if the value is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&ValueTemplate> {
        match self {
            ValueTemplate::Table(fields) => {
                fields.iter().find(|(name, _)| name == key).map(|(_, field)| field)
            }
            ValueTemplate::Plain(_)
            | ValueTemplate::Text(_)
            | ValueTemplate::List(_)
            | ValueTemplate::Repeat { .. } => None,
        }
    }

    /// Returns the text if it has no placeholder.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self {
            ValueTemplate::Text(template) => template.literal(),
            ValueTemplate::Plain(_)
            | ValueTemplate::List(_)
            | ValueTemplate::Table(_)
            | ValueTemplate::Repeat { .. } => None,
        }
    }

    /// Returns all placeholders in the value.
    pub(crate) fn slots(&self) -> Vec<&Slot> {
        let mut slots = Vec::new();
        self.for_each_text(&mut |template, _| slots.extend(template.slots()));
        slots
    }
}
