//! A parsed file as nodes with positions, so that every error can name a line.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::playbook::error::{Fault, Offset, PlaybookError};
use crate::playbook::goal::is_name;
use crate::playbook::limits::{TEMPLATE_CHARS_MAX, VALUE_DEPTH_MAX};
use crate::playbook::template::{TemplateError, TextTemplate, ValueTemplate};

/// One value of a file.
#[derive(Clone, Debug)]
pub(super) struct Node<'d> {
    /// Its position.
    pub(super) at: Offset,
    key: String,
    value: &'d DeValue<'d>,
}

/// A table of which every key must be read.
#[derive(Debug)]
pub(super) struct Fields<'d> {
    at: Offset,
    table: &'d DeTable<'d>,
    asked: BTreeSet<String>,
}

impl<'d> Fields<'d> {
    pub(super) fn of_root(table: &'d DeTable<'d>) -> Self {
        Fields { at: 0, table, asked: BTreeSet::new() }
    }

    pub(super) fn optional(&mut self, key: &str) -> Option<Node<'d>> {
        self.asked.insert(key.to_owned());
        let (name, value) = self.table.get_key_value(key)?;
        Some(Node::new(name.span().start, key, value))
    }

    pub(super) fn required(&mut self, key: &str) -> Result<Node<'d>, Fault> {
        let at = self.at;
        self.optional(key).ok_or_else(|| Fault::new(at, PlaybookError::Missing(key.to_owned())))
    }

    /// Returns all entries that were not read by name.
    pub(super) fn rest(self) -> Vec<(String, Node<'d>)> {
        let entries = self.table.iter().filter(|(key, _)| !self.asked.contains(key.get_ref().as_ref()));
        entries
            .map(|(key, value)| {
                let name = key.get_ref().as_ref();
                (name.to_owned(), Node::new(key.span().start, name, value))
            })
            .collect()
    }

    /// # Errors
    /// Fails for the first key that was not read.
    pub(super) fn finish(self) -> Result<(), Fault> {
        match self.table.keys().find(|key| !self.asked.contains(key.get_ref().as_ref())) {
            Some(key) => {
                let name = setpoint_protocol::text::clip(key.get_ref(), 80);
                Err(Fault::new(key.span().start, PlaybookError::UnknownKey(name)))
            }
            None => Ok(()),
        }
    }
}

impl<'d> Node<'d> {
    fn new(key_at: Offset, key: &str, value: &'d Spanned<DeValue<'d>>) -> Self {
        let span = value.span();
        // Tables written as `[a.b]` have no position of their own, but their key has.
        let at = if span.start == span.end { key_at } else { span.start };
        Node { at, key: key.to_owned(), value: value.get_ref() }
    }

    pub(super) fn is_table(&self) -> bool {
        self.value.is_table()
    }

    pub(super) fn table(&self) -> Result<Fields<'d>, Fault> {
        let table = self.value.as_table().ok_or_else(|| self.wrong("a table"))?;
        Ok(Fields { at: self.at, table, asked: BTreeSet::new() })
    }

    pub(super) fn list(&self, max: usize) -> Result<Vec<Node<'d>>, Fault> {
        let items = self.value.as_array().ok_or_else(|| self.wrong("an array"))?;
        if items.len() > max {
            return Err(self.too_much(max, "entries"));
        }
        Ok(items.iter().map(|item| Node::new(item.span().start, &self.key, item)).collect())
    }

    pub(super) fn text(&self) -> Result<String, Fault> {
        let text = self.value.as_str().ok_or_else(|| self.wrong("a text"))?;
        if text.chars().count() > TEMPLATE_CHARS_MAX {
            return Err(self.too_much(TEMPLATE_CHARS_MAX, "TEMPLATE_CHARS_MAX"));
        }
        Ok(text.to_owned())
    }

    /// Returns a non-empty text on one line.
    pub(super) fn prose(&self, chars_max: usize) -> Result<String, Fault> {
        let text = self.text()?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return Err(Fault::value(self.at, &self.key, "it is empty"));
        }
        if text.chars().count() > chars_max { Err(self.too_much(chars_max, "characters")) } else { Ok(text) }
    }

    pub(super) fn name(&self) -> Result<String, Fault> {
        let text = self.text()?;
        if is_name(&text) {
            return Ok(text);
        }
        let reason = "no name: at most 64 small letters, digits, `_` and `-`, a letter first";
        Err(Fault::value(self.at, &self.key, reason))
    }

    pub(super) fn names(&self, max: usize) -> Result<Vec<(Offset, String)>, Fault> {
        self.list(max)?.iter().map(|node| Ok((node.at, node.name()?))).collect()
    }

    pub(super) fn integer(&self) -> Result<i64, Fault> {
        self.integer_or_none().ok_or_else(|| self.wrong("a whole number"))
    }

    fn integer_or_none(&self) -> Option<i64> {
        let integer = self.value.as_integer()?;
        i64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    pub(super) fn place(&self, max: usize) -> Result<u32, Fault> {
        let number = self.integer()?;
        let place = u32::try_from(number).ok().filter(|place| (1..=max).contains(&(*place as usize)));
        place.ok_or_else(|| {
            Fault::value(self.at, &self.key, format!("{number} is not a place from 1 to {max}"))
        })
    }

    pub(super) fn template(&self) -> Result<TextTemplate, Fault> {
        TextTemplate::read(&self.text()?).map_err(|error| self.template_fault(error))
    }

    /// Returns the value unchanged, without placeholders.
    pub(super) fn command(&self) -> Result<TextTemplate, Fault> {
        let text = self.text()?;
        TextTemplate::read_command(&text).map_err(|error| Fault::new(self.at, PlaybookError::Template(error)))
    }

    pub(super) fn plain(&self) -> Result<Value, Fault> {
        match self.value {
            DeValue::String(_) => self.text().map(Value::String),
            DeValue::Boolean(value) => Ok(Value::Bool(*value)),
            DeValue::Integer(_) => self.integer().map(Value::from),
            DeValue::Float(float) => {
                let number =
                    float.as_str().replace('_', "").parse().ok().and_then(serde_json::Number::from_f64);
                number.map(Value::Number).ok_or_else(|| self.wrong("a number"))
            }
            DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
                Err(self.wrong("a text, a number, true or false"))
            }
        }
    }

    /// Returns the value with placeholders in its texts.
    pub(super) fn value_template(&self) -> Result<ValueTemplate, Fault> {
        self.value_template_at(0, false)
    }

    /// `repeated`: whether it is inside a repetition. A nested one would grow with every level.
    fn value_template_at(&self, depth: usize, repeated: bool) -> Result<ValueTemplate, Fault> {
        if depth > VALUE_DEPTH_MAX {
            return Err(self.template_fault(TemplateError::TooDeep));
        }
        match self.value {
            DeValue::String(_) => self.template().map(ValueTemplate::Text),
            DeValue::Array(items) => {
                let items = self.list(items.len())?;
                let items = items.iter().map(|item| item.value_template_at(depth + 1, repeated));
                items.collect::<Result<_, _>>().map(ValueTemplate::List)
            }
            DeValue::Table(table) if table.contains_key("repeat") && repeated => {
                Err(Fault::value(self.at, "repeat", "it is inside another one"))
            }
            DeValue::Table(table) if table.contains_key("repeat") => self.repeat(depth),
            DeValue::Table(_) => {
                let fields = self.table()?.rest();
                let fields = fields
                    .into_iter()
                    .map(|(key, node)| Ok((key, node.value_template_at(depth + 1, repeated)?)));
                fields.collect::<Result<_, Fault>>().map(ValueTemplate::Table)
            }
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
                self.plain().map(ValueTemplate::Plain)
            }
        }
    }

    fn repeat(&self, depth: usize) -> Result<ValueTemplate, Fault> {
        let mut fields = self.table()?;
        let times = Box::new(fields.required("repeat")?.value_template_at(depth + 1, true)?);
        let index = fields.required("as")?.name()?;
        let of = Box::new(fields.required("of")?.value_template_at(depth + 1, true)?);
        fields.finish()?;
        Ok(ValueTemplate::Repeat { times, index, of })
    }

    pub(super) fn wrong(&self, expected: &'static str) -> Fault {
        let found = match self.value {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        Fault::new(self.at, PlaybookError::Type { key: self.key.clone(), expected, found })
    }

    fn too_much(&self, max: usize, limit: &'static str) -> Fault {
        Fault::new(self.at, PlaybookError::Limit { key: self.key.clone(), max, limit })
    }

    fn template_fault(&self, error: TemplateError) -> Fault {
        Fault::new(self.at, PlaybookError::Template(error))
    }
}

/// Returns a JSON object of plain values.
pub(super) fn plain_table(node: &Node<'_>) -> Result<Map<String, Value>, Fault> {
    node.table()?.rest().into_iter().map(|(key, value)| Ok((key, value.plain()?))).collect()
}
