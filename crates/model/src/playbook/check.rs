//! Checks playbooks against a tool catalogue before they are used, for `setpoint playbooks check`.

use std::fmt;
use std::path::Path;

use serde_json::Value;
use setpoint_protocol::tool::ToolSpec;

use super::book::{Book, Origin};
use super::error::{BrokenPlaybook, Offset, line_and_column};
use super::library::{Library, read_file};
use super::read::verify;
use super::template::ValueTemplate;

/// A problem of a playbook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub file: String,
    /// Number of the line, from 1; 0 for the whole file.
    pub line: usize,
    /// Column in characters, from 1; 0 for the whole file.
    pub column: usize,
    pub reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl Library {
    /// Returns the problems of one playbook, or of all of them and of files that cannot be read.
    #[must_use]
    pub fn check(&self, which: Option<&str>, tools: &[ToolSpec]) -> Vec<Problem> {
        let mut problems: Vec<Problem> = match which {
            None => self.broken().iter().map(problem).collect(),
            Some(_) => Vec::new(),
        };
        for book in self.books().filter(|book| which.is_none_or(|name| name == book.name)) {
            problems.extend(self.check_book(book, tools));
        }
        problems
    }

    /// Returns the problems of a file, as if it were in the user's directory.
    #[must_use]
    pub fn check_file(&self, path: &Path, tools: &[ToolSpec]) -> Vec<Problem> {
        match read_file(path) {
            Ok(book) => self.check_book(&book, tools),
            Err(broken) => vec![problem(&broken)],
        }
    }

    fn check_book(&self, book: &Book, tools: &[ToolSpec]) -> Vec<Problem> {
        let mut found = CheckFindings { book, problems: Vec::new() };
        if let Err(fault) = verify(book) {
            let reason = fault.error.reason();
            found.add(fault.at, reason);
        }
        for criterion in book.criteria.values() {
            if let Some((tool, input)) = criterion.probe() {
                check_call(&mut found, criterion.at, tool, input, tools);
            }
        }
        for call in book.approaches.iter().flat_map(|approach| &approach.steps).flat_map(|step| &step.calls) {
            check_call(&mut found, call.at, &call.tool, &call.input, tools);
        }
        for example in &book.examples {
            if let Some(other) = self.look_up(&example.value)
                && other.book.name != book.name
            {
                found.add(example.at, format!("the playbook {} knows this example better", other.book.name));
            }
        }
        found.problems
    }
}

struct CheckFindings<'b> {
    book: &'b Book,
    problems: Vec<Problem>,
}

impl CheckFindings<'_> {
    fn add(&mut self, at: Offset, reason: String) {
        let (line, column) = line_and_column(&self.book.source, at);
        let file = match &self.book.origin {
            Origin::BuiltIn => format!("{}.toml", self.book.name),
            Origin::File(file) => file.clone(),
        };
        self.problems.push(Problem { file, line, column, reason });
    }
}

/// Checks that the tool exists and accepts its input.
fn check_call(
    found: &mut CheckFindings<'_>,
    at: Offset,
    tool: &str,
    input: &ValueTemplate,
    tools: &[ToolSpec],
) {
    let Some(spec) = tools.iter().find(|spec| spec.name == tool) else {
        return found.add(at, format!("there is no tool {tool}"));
    };
    let given: Vec<&str> = match input {
        ValueTemplate::Table(fields) => fields.iter().map(|(key, _)| key.as_str()).collect(),
        _ => Vec::new(),
    };
    let schema = &spec.input_schema;
    let properties = schema.get("properties").and_then(Value::as_object);
    for key in &given {
        if properties.is_some_and(|properties| !properties.contains_key(*key)) {
            found.add(at, format!("the tool {tool} takes no {key}"));
        }
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for key in required.filter_map(Value::as_str).filter(|key| !given.contains(key)) {
        found.add(at, format!("the tool {tool} needs {key}"));
    }
}

fn problem(broken: &BrokenPlaybook) -> Problem {
    Problem {
        file: broken.file.clone(),
        line: broken.line,
        column: broken.column,
        reason: broken.error.reason(),
    }
}
