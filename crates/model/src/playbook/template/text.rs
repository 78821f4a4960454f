//! A text with placeholders.

use serde_json::Value;
use setpoint_protocol::Any;

use super::filter::Filter;
use super::scope::Scope;
use crate::playbook::limits::{FILTERS_MAX, SLOTS_MAX, TEMPLATE_CHARS_MAX};

/// A text with placeholders in braces; `{{` and `}}` mean braces.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextTemplate {
    pieces: Vec<Piece>,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// Text without placeholders.
    Text(String),
    /// A placeholder.
    Slot(Slot),
}

/// A placeholder.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slot {
    /// The source of its value.
    pub(crate) source: Source,
    /// The filters applied to the value, in order.
    pub(crate) filters: Vec<Filter>,
}

/// The source of a placeholder's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A parameter, a path of the task, or the number of a repetition.
    Named(String),
    /// `result.2/entries`: the part at a JSON pointer of the structured result of a call of the same step, counted
    /// from 1.
    Result {
        /// The number of the call.
        call: usize,
        /// The JSON pointer.
        pointer: String,
    },
    /// `text.2`: what a call printed.
    Printed {
        /// The number of the call.
        call: usize,
    },
}

/// Why a template cannot be read or filled in.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Longer than [`TEMPLATE_CHARS_MAX`].
    #[error("read a template of more than {TEMPLATE_CHARS_MAX} characters")]
    TooLong,
    /// More placeholders than [`SLOTS_MAX`].
    #[error("read a template of more than {SLOTS_MAX} placeholders")]
    TooManySlots,
    /// Nested deeper than `VALUE_DEPTH_MAX`.
    #[error("read a value that is nested too deeply")]
    TooDeep,
    /// An unpaired brace. A brace that is meant as text is written twice.
    #[error("pair the brace `{0}` (write it twice when it is meant)")]
    Unpaired(char),
    /// A placeholder without a valid name.
    #[error("read the placeholder `{{{0}}}`")]
    Slot(String),
    /// More filters than [`FILTERS_MAX`], an unknown one, or one with wrong arguments.
    #[error("read the filter `{0}`")]
    Filter(String),
    /// A name that is not a parameter.
    #[error("find a parameter `{0}`")]
    UnknownName(String),
    /// The result of a call that does not come before.
    #[error("find a call {0} before this one")]
    UnknownCall(usize),
    /// A missing result: the call failed, or its result has no such part.
    #[error("find a value for `{0}`")]
    NoResult(String),
    /// A `repeat` over something other than a number from 1 to `REPEAT_MAX`.
    #[error("repeat {0} times: it must be a number from 1 to the limit")]
    Repeat(String),
}

impl TextTemplate {
    /// Reads a template.
    pub(crate) fn read(text: &str) -> Result<TextTemplate, TemplateError> {
        if text.chars().count() > TEMPLATE_CHARS_MAX {
            return Err(TemplateError::TooLong);
        }
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut slots = 0;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '{' | '}' if chars.peek() == Some(&c) => {
                    chars.next();
                    literal.push(c);
                }
                '{' => {
                    let mut inner = String::new();
                    let mut in_quotes = false;
                    loop {
                        match chars.next() {
                            Some('}') if !in_quotes => break,
                            Some(c) => {
                                in_quotes ^= c == '\'';
                                inner.push(c);
                            }
                            None => return Err(TemplateError::Unpaired('{')),
                        }
                    }
                    slots += 1;
                    if slots > SLOTS_MAX {
                        return Err(TemplateError::TooManySlots);
                    }
                    if !literal.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut literal)));
                    }
                    pieces.push(Piece::Slot(Slot::read(&inner)?));
                }
                '}' => return Err(TemplateError::Unpaired('}')),
                c => literal.push(c),
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Ok(TextTemplate { pieces })
    }

    /// Reads a command. Commands use braces themselves, so only one directly followed by a lower-case letter begins
    /// a placeholder.
    pub(crate) fn read_command(text: &str) -> Result<TextTemplate, TemplateError> {
        let mut doubled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(at);
            doubled.push_str(before);
            let names =
                brace.starts_with('{') && brace.chars().nth(1).is_some_and(|c| c.is_ascii_lowercase());
            let end = if names { brace.find('}').map(|end| end + 1) } else { None };
            let (taken, after) = brace.split_at(end.unwrap_or(1));
            doubled.push_str(taken);
            if end.is_none() {
                doubled.push_str(taken);
            }
            rest = after;
        }
        doubled.push_str(rest);
        TextTemplate::read(&doubled)
    }

    /// Creates a template of a text without placeholders.
    pub(crate) fn fixed(text: &str) -> TextTemplate {
        TextTemplate { pieces: vec![Piece::Text(text.to_owned())] }
    }

    /// Returns the text if it has no placeholder.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Slot(slot) => Some(slot),
            Piece::Text(_) => None,
        })
    }

    /// Returns the text with its placeholders filled in; a missing value is left out.
    pub(crate) fn text(&self, scope: &Scope<'_>) -> Result<String, TemplateError> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Slot(slot) => out.push_str(&Any(slot.value(scope)?).to_text()),
            }
        }
        Ok(out)
    }

    /// Returns the placeholder's value if the template is a single placeholder, else a text.
    pub(crate) fn value(&self, scope: &Scope<'_>) -> Result<Value, TemplateError> {
        match self.pieces.as_slice() {
            [Piece::Slot(slot)] => slot.value(scope),
            _ => self.text(scope).map(Value::String),
        }
    }

    /// Like [`TextTemplate::value`], but a missing result is an error.
    pub(crate) fn value_of_results(&self, scope: &Scope<'_>) -> Result<Value, TemplateError> {
        for slot in self.slots() {
            if !matches!(slot.source, Source::Named(_)) && slot.value(scope)?.is_null() {
                return Err(TemplateError::NoResult(slot.source.shown()));
            }
        }
        self.value(scope)
    }
}

impl Slot {
    fn read(inner: &str) -> Result<Slot, TemplateError> {
        let mut parts = outside_quotes(inner, '|');
        let source = parts.next().unwrap_or_default();
        let source = Source::read(source.trim()).ok_or_else(|| TemplateError::Slot(clip(inner)))?;
        let filters = parts.map(|part| Filter::read(part.trim())).collect::<Result<Vec<_>, _>>()?;
        if filters.len() > FILTERS_MAX {
            return Err(TemplateError::Filter(clip(inner)));
        }
        Ok(Slot { source, filters })
    }

    fn value(&self, scope: &Scope<'_>) -> Result<Value, TemplateError> {
        let mut value = match &self.source {
            Source::Named(name) => {
                scope.named(name).ok_or_else(|| TemplateError::UnknownName(name.clone()))?
            }
            Source::Result { call, pointer } => scope.result(*call, pointer),
            Source::Printed { call } => scope.printed(*call),
        };
        for filter in &self.filters {
            value = filter.apply(value, scope);
        }
        Ok(value)
    }

    /// Returns whether it always inserts one word of a shell.
    pub(crate) fn is_shell_word(&self) -> bool {
        self.filters.last() == Some(&Filter::Sh)
    }
}

impl Source {
    fn read(text: &str) -> Option<Source> {
        if let Some(rest) = text.strip_prefix("result.") {
            let end = rest.find('/').unwrap_or(rest.len());
            let (call, pointer) = rest.split_at(end);
            return Some(Source::Result {
                call: call.parse().ok().filter(|call| *call > 0)?,
                pointer: pointer.to_owned(),
            });
        }
        if let Some(call) = text.strip_prefix("text.") {
            return Some(Source::Printed { call: call.parse().ok().filter(|call| *call > 0)? });
        }
        let named = !text.is_empty()
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-');
        named.then(|| Source::Named(text.to_owned()))
    }

    /// Returns the number of the call that it needs, if it needs one.
    pub(crate) fn call(&self) -> Option<usize> {
        match self {
            Source::Named(_) => None,
            Source::Result { call, .. } | Source::Printed { call } => Some(*call),
        }
    }

    fn shown(&self) -> String {
        match self {
            Source::Named(name) => name.clone(),
            Source::Result { call, pointer } => format!("result.{call}{pointer}"),
            Source::Printed { call } => format!("text.{call}"),
        }
    }
}

/// Splits `text` at each `at` outside single quotes.
pub(super) fn outside_quotes(text: &str, at: char) -> impl Iterator<Item = &str> {
    let mut in_quotes = false;
    text.split(move |c: char| {
        in_quotes ^= c == '\'';
        c == at && !in_quotes
    })
}

pub(super) fn clip(text: &str) -> String {
    setpoint_protocol::text::clip(text, 80)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use setpoint_protocol::record::Surroundings;
    use std::collections::BTreeMap;

    fn render(text: &str) -> Result<Value, TemplateError> {
        let values = BTreeMap::from([
            ("dir".to_owned(), json!("My Dir")),
            ("count".to_owned(), json!(3)),
            ("quote".to_owned(), json!("it's")),
        ]);
        let surroundings = Surroundings { cwd: "/w".to_owned(), ..Surroundings::default() };
        TextTemplate::read(text)?.value(&Scope::new(&values, &surroundings))
    }

    #[test]
    fn placeholders_are_filled_in_with_their_type() {
        assert_eq!(render("{count}").unwrap(), json!(3));
        assert_eq!(render("top {count} of {dir}").unwrap(), json!("top 3 of My Dir"));
        assert_eq!(render("find {dir|sh} {quote|sh}").unwrap(), json!(r"find 'My Dir' 'it'\''s'"));
        assert_eq!(render("awk '{{ print $1 }}' {cwd}").unwrap(), json!("awk '{ print $1 }' /w"));
        assert_eq!(render("{dir|or '}|{'}").unwrap(), json!("My Dir"));
        assert_eq!(render("{result.1/a|or '}|{'}").unwrap(), json!("}|{"));
        assert_eq!(render("").unwrap(), json!(""));
    }

    #[test]
    fn an_invalid_template_is_refused() {
        for (text, error) in [
            ("{dir", TemplateError::Unpaired('{')),
            ("dir}", TemplateError::Unpaired('}')),
            ("{}", TemplateError::Slot(String::new())),
            ("{a b}", TemplateError::Slot("a b".into())),
            ("{result.0}", TemplateError::Slot("result.0".into())),
            ("{dir|shout}", TemplateError::Filter("shout".into())),
            ("{nobody}", TemplateError::UnknownName("nobody".into())),
        ] {
            assert_eq!(render(text).unwrap_err(), error, "{text}");
        }
        assert_eq!(render(&"{dir}".repeat(SLOTS_MAX + 1)).unwrap_err(), TemplateError::TooManySlots);
        assert_eq!(render(&"x".repeat(TEMPLATE_CHARS_MAX + 1)).unwrap_err(), TemplateError::TooLong);
        assert!(render(&format!("{{dir{}}}", "|sh".repeat(FILTERS_MAX + 1))).is_err());
        assert!(render(&"{".repeat(7_999)).is_err());
    }
}
