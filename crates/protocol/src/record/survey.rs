//! The contents of a task's working directory, surveyed by code before a plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::{Secret, Source};

/// What a look around found. Names and texts in it come from files: hostile input, one line each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Survey {
    /// What is below the working directory, two levels deep, by path; hidden and ignored files are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<SurveyEntry>,
    /// Names that were seen and are not listed, or at least so many where the look was cut short.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// The Git repository that the working directory is in; none where there is none, or where Git did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitState>,
    /// Files that say how work is done here, and manifests, with the test command that a manifest names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub project: Vec<ProjectFile>,
    /// The paths that the person names, and what is there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<NamedPath>,
    /// What is written for those who work here: in the working directory, and nearest to the paths that the person names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guides: Vec<Guide>,
    /// Skills of the project, and of the person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<Skill>,
    /// Skills that are not listed: there are too many, or their heads cannot be read; or at least so many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skills_left_out: u64,
    /// What earlier tasks had read when they wrote files that are here, or at the paths that the person names, unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Source>,
    /// The keys that they may have read by then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<Secret>,
}

/// What a look around is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SurveyAsk {
    /// Paths that the person names.
    pub named: Vec<String>,
    /// Whether they are all that is looked at: neither what else is there nor Git.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_only: bool,
}

/// One name below the working directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SurveyEntry {
    /// Its path from the working directory; a folder's ends with `/`.
    pub path: String,
    /// Bytes of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// How a repository stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitState {
    /// The branch; none when no branch is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Commits of it.
    pub commits: u64,
    /// Files that are changed, of those that Git tracks.
    pub changed: u64,
    /// Files that Git does not track.
    pub untracked: u64,
    /// The first of these files, each with ` M ` or `?? ` before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The subjects of the last commits, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<String>,
}

/// A file that says how work is done in a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectFile {
    /// Its name in the working directory.
    pub name: String,
    /// The test command that it names or implies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
}

/// A text for those who work in a project: `AGENTS.md` or another program's file of this kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Guide {
    /// Its path from the working directory.
    pub path: String,
    /// The beginning of its text, control characters written out.
    pub text: String,
    /// Bytes of the whole file.
    pub bytes: u64,
    /// Whether there is more of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// A folder with a `SKILL.md`, which says how something is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skill {
    /// The name that it gives itself, one line.
    pub name: String,
    /// What it is for, in its own words, one line, cut.
    pub description: String,
    /// The path of its `SKILL.md`: from the working directory for a skill of the project, whole for one of the person.
    pub path: String,
}

/// A path that the person names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedPath {
    /// As the person wrote it.
    pub path: String,
    /// `file`, `directory`, `link to a file`, `link to a directory`, `link that leads nowhere` or `other`; none when nothing is there, or nothing that may be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Bytes of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}
