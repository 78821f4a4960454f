//! The playbooks, for a person to list, read and check.

use serde::Serialize;
use setpoint_model::playbook::{Library, Origin};

use super::Program;

/// A playbook in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaybookSummary {
    pub name: String,
    /// Purpose of the playbook.
    pub title: String,
    /// A goal that it matches.
    pub example: String,
    /// Its approaches, in order.
    pub approaches: Vec<String>,
    /// `built in`, or the path of its file.
    pub origin: String,
}

/// A playbook, or a part of one, that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaybookProblem {
    pub file: String,
    /// Number of the line, from 1; 0 for the whole file.
    pub line: usize,
    pub reason: String,
}

impl Program {
    /// Returns the playbooks of the program and of the person. Ignores those that came with the working directory.
    #[must_use]
    pub fn library(&self) -> Library {
        let own = self.directories.playbooks();
        Library::load((!self.directories.is_config_foreign).then_some(own.as_path()))
    }

    /// Returns a summary of each playbook, and the problems.
    #[must_use]
    pub fn playbooks(&self) -> (Vec<PlaybookSummary>, Vec<PlaybookProblem>) {
        let library = self.library();
        let known = library
            .list()
            .into_iter()
            .map(|book| PlaybookSummary {
                name: book.name,
                title: book.title,
                example: book.examples.first().cloned().unwrap_or_default(),
                approaches: book.approaches.into_iter().map(|(name, _)| name).collect(),
                origin: match book.origin {
                    Origin::BuiltIn => "built in".to_owned(),
                    Origin::File(path) => path,
                },
            })
            .collect();
        let broken = library.broken().iter().map(|broken| PlaybookProblem {
            file: broken.file.clone(),
            line: broken.line,
            reason: broken.error.reason(),
        });
        (known, broken.collect())
    }
}
