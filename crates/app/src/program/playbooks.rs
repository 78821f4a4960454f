//! The playbooks, for a person to list, read and check.

use std::path::Path;

use serde::Serialize;
use setpoint_model::playbook::{Library, Origin};
use setpoint_tools::{Host, Registry};

use super::Program;

/// A playbook in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaybookSummary {
    /// Its name.
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
    /// The file.
    pub file: String,
    /// Number of the line, from 1; 0 for the whole file.
    pub line: usize,
    /// What is wrong.
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

    /// Returns the text of a playbook.
    #[must_use]
    pub fn playbook(&self, name: &str) -> Option<String> {
        self.library().show(name).map(|(_, text)| text.to_owned())
    }

    /// Checks one file, or every playbook, against the available tools.
    #[must_use]
    pub fn check_playbooks(&self, file: Option<&Path>) -> Vec<PlaybookProblem> {
        let library = self.library();
        let tools = Registry::built_in(&Host::this()).specs();
        let problems = match file {
            Some(file) => library.check_file(file, &tools),
            None => library.check(None, &tools),
        };
        problems
            .into_iter()
            .map(|problem| PlaybookProblem { file: problem.file, line: problem.line, reason: problem.reason })
            .collect()
    }
}
