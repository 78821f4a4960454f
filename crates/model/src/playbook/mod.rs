//! The embedded brain: deterministic, offline, no language model. It answers from *playbooks*, data files with goal
//! patterns, approaches consisting of tool calls, and criteria with checks.
//!
//! It reads only the data of a question, never its text; it runs no tool, and it never claims that a goal is reached:
//! its plans are measured by the same checks and judged by the same roles as those of any model.
//!
//! Reading order: [`Playbook`] (the brain), [`Library`] (the files), `book` (a parsed playbook), `read` (from text to
//! book), `goal` (patterns), `template` (placeholders), `plan`, `execute`.

mod book;
mod brain;
mod built_in;
mod check;
mod error;
mod execute;
mod forms;
mod gaps;
mod goal;
mod judge;
mod library;
pub mod limits;
mod merge;
mod perceive;
mod plan;
mod read;
mod report;
mod template;
mod unable;
mod values;

pub use book::Origin;
pub use brain::{PLAYBOOK_MODEL, Playbook};
pub use check::Problem;
pub use error::{BrokenPlaybook, PlaybookError};
pub use forms::forms;
pub use goal::PatternError;
pub use library::{GoalMatch, Library, Summary};
pub use template::TemplateError;

#[cfg(test)]
mod tests;
