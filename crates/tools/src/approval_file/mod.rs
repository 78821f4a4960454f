//! Consent given in advance, for unattended runs: a file that lists the allowed changes.
//!
//! It can only answer what the gate asks; it never makes the gate ask less. What no line allows is refused, and a line
//! that denies overrides every line that allows, and holds where nothing asks, too. `docs/approvals.md` describes the format.

mod denied;
mod parse;
mod rule;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use setpoint_command_line::{commands, mentions, read};
use setpoint_protocol::gate::Rule::SecretSent;
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::ApprovalNeed;

use crate::approval::{obeyed, resolve};
use crate::paths;

use denied::DeniedPath;
pub use parse::{ApprovalFileError, LineError};
use rule::{About, Rule, Word};

/// Largest approval file, in bytes.
pub const APPROVAL_FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Maximum rules in an approval file.
pub const APPROVAL_RULES_MAX: usize = 10_000;

/// Programs that run what files of a project say, beside those whose files are known from the command.
const RUN_THE_PROJECT: [&str; 24] = [
    "bun", "bundle", "cargo", "composer", "docker", "dotnet", "go", "gradle", "gradlew", "just", "make",
    "mise", "mix", "mvn", "nox", "npm", "npx", "pnpm", "poetry", "rake", "task", "tox", "uv", "yarn",
];

/// A parsed approval file.
#[derive(Clone, Debug)]
pub struct ApprovalFile {
    name: String,
    rules: Vec<Rule>,
    place: paths::Surroundings,
}

/// The approval file of this run, once it is read: its lines that deny hold where nothing asks, too. Cheap to clone; all
/// clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Denials(Arc<OnceLock<ApprovalFile>>);

impl Denials {
    /// Sets the file. A second one is ignored: a run has one.
    pub fn set(&self, file: ApprovalFile) {
        drop(self.0.set(file));
    }

    pub(crate) fn file(&self) -> Option<&ApprovalFile> {
        self.0.get()
    }
}

/// The answer of an approval file to a need. Line numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "what was decided has to be told, with its line"]
pub enum Decision {
    /// Allowed.
    Allow {
        /// The first line that allows it.
        line: usize,
    },
    /// Refused.
    Refuse {
        /// The line that denies it; `None` if no line allows it.
        line: Option<usize>,
    },
}

impl ApprovalFile {
    /// Reads an approval file. Relative paths in it are resolved against the working directory, and links in them are
    /// followed now.
    ///
    /// # Errors
    /// The file cannot be read, or the first line that is not a valid rule.
    pub fn read(path: &Path, surroundings: &Surroundings) -> Result<Self, ApprovalFileError> {
        parse::read(path, surroundings)
    }

    /// Parses the text of an approval file called `name`.
    ///
    /// # Errors
    /// The first line that is not a valid rule.
    pub fn parse(text: &str, name: &str, surroundings: &Surroundings) -> Result<Self, ApprovalFileError> {
        parse::parse(text, name, surroundings)
    }

    /// Decides whether the file allows this need.
    ///
    /// A `command` line allows exactly that command; `path` lines allow a need that names at least one path and whose
    /// paths they all cover, and `host` lines likewise one that names nothing but hosts, of a task that has read no keys.
    /// So a need that cannot list its paths is never allowed by a path. What contains a key is allowed by its digest
    /// alone. A line that denies a path applies to touched paths and to paths that the command's text mentions.
    pub fn decide(&self, need: &ApprovalNeed) -> Decision {
        let touched: Vec<PathBuf> = need.writes.iter().chain(&need.deletes).map(PathBuf::from).collect();
        let mentioned = self.mentioned(need);
        let commands = self.commands(&need.command);
        let denying = self.rules.iter().find(|rule| {
            let is_path = rule.denied.as_ref().map(DeniedPath::places).is_some_and(|places| {
                touched.iter().any(|path| places.touches(path))
                    || mentioned.iter().any(|path| places.holds(path))
            });
            let is_host = || need.hosts.iter().any(|host| rule.denies_host(host));
            let is_command = rule.names(need) || rule.denies_one_of(&commands);
            rule.word == Word::Deny && (is_command || is_path || is_host())
        });
        if let Some(rule) = denying {
            return Decision::Refuse { line: Some(rule.line) };
        }
        // Lines of text were written without knowing that the call would contain a key; a digest was shown with it.
        let is_allowing = |rule: &&Rule| {
            rule.word == Word::Allow && (need.rule != Some(SecretSent) || rule.has_digest_of(need))
        };
        let allowing = || self.rules.iter().filter(is_allowing);
        if let Some(rule) = allowing().find(|rule| rule.names(need)) {
            return Decision::Allow { line: rule.line };
        }
        let line = |rule: &Rule| rule.line;
        let path = |path: &PathBuf| allowing().find(|rule| rule.covers(path)).map(line);
        let host = |host: &String| allowing().find(|rule| rule.admits(host)).map(line);
        let covering: Option<Vec<usize>> = match (touched.is_empty(), need.hosts.is_empty()) {
            (_, true) => touched.iter().map(path).collect(),
            // The line was written without knowing that the task would read keys.
            (true, false) if need.secrets.is_empty() => need.hosts.iter().map(host).collect(),
            (_, false) => None,
        };
        match covering.and_then(|lines| lines.into_iter().min()) {
            Some(line) => Decision::Allow { line },
            None => Decision::Refuse { line: None },
        }
    }

    /// Returns the first line that denies an action, with the name of the file: `approve.txt:3`. `touched` are the resolved
    /// paths that it touches, each with whether a folder appears there where nothing was.
    pub(crate) fn denying<'p>(
        &self,
        command: &str,
        hosts: &[String],
        touched: impl Iterator<Item = (&'p Path, bool)> + Clone,
    ) -> Option<String> {
        let commands = self.commands(command);
        let is_denying = |rule: &&Rule| {
            let is_path =
                || {
                    rule.denied.as_ref().map(DeniedPath::places).is_some_and(|places| {
                        // A new folder changes nothing of what is denied below it.
                        touched.clone().any(|(path, is_new_folder)| {
                            if is_new_folder { places.holds(path) } else { places.touches(path) }
                        })
                    })
                };
            let is_host = || hosts.iter().any(|host| rule.denies_host(host));
            let is_command = rule.is_text(command) || rule.denies_one_of(&commands);
            rule.word == Word::Deny && (is_command || is_host() || is_path())
        };
        self.rules.iter().find(is_denying).map(|rule| self.place_of(rule))
    }

    /// Returns the first line that denies a host of this address, like [`ApprovalFile::denying`].
    pub(crate) fn denying_address(&self, address: IpAddr) -> Option<String> {
        let is_denying = |rule: &&Rule| rule.word == Word::Deny && rule.denies_address(address);
        self.rules.iter().find(is_denying).map(|rule| self.place_of(rule))
    }

    fn place_of(&self, rule: &Rule) -> String {
        format!("{}:{}", self.name, rule.line)
    }

    /// Returns what this single line allows as it is shown to a person who is to allow it for a task: a command, a host,
    /// or one path with its links followed. `None` for lines that say more than one sees: patterns, hosts by their
    /// ending, and what holds the working or the home directory.
    #[must_use]
    pub fn shown_line(&self) -> Option<String> {
        let [Rule { word: Word::Allow, about, .. }] = self.rules.as_slice() else { return None };
        match about {
            About::Command(text) => Some(format!("command {text}")),
            About::Host { name, is_below: false } => Some(format!("host {name}")),
            // A `..` is left only below what does not exist.
            About::Below(path) if path.components().any(|part| part == Component::ParentDir) => None,
            About::Below(path) if !self.holds_a_home(path) => Some(format!("path {}", path.to_str()?)),
            About::Below(_) | About::Host { .. } | About::Matching(_) => None,
        }
    }

    /// Returns whether what a line allows depends on what a task may write afterwards: a path that other programs execute or
    /// obey, and a command that executes files (`sh x.sh`, `make`) or what the project says (`npm run`).
    #[must_use]
    pub fn acts_by_what_is_written(&self) -> bool {
        self.rules.iter().any(|rule| match &rule.about {
            About::Below(path) => obeyed(path, &resolve::fully(&self.place.cwd)).is_some(),
            About::Matching(_) => true,
            About::Command(text) => {
                let paths::Surroundings { cwd, home, .. } = self.place.clone();
                let reading = read(text, &setpoint_command_line::Surroundings { cwd, home });
                let runs_project = |name: &String| RUN_THE_PROJECT.contains(&name.as_str());
                !reading.executes.is_empty() || reading.programs.iter().any(runs_project)
            }
            About::Host { .. } => false,
        })
    }

    fn holds_a_home(&self, path: &Path) -> bool {
        [&self.place.cwd, &self.place.home].into_iter().any(|home| resolve::fully(home).starts_with(path))
    }

    /// Decides like [`ApprovalFile::decide`], but a path covers itself alone and nothing below it.
    pub fn decide_exactly(&self, need: &ApprovalNeed) -> Decision {
        let is_named = |path: &String| {
            let is_it =
                |rule: &Rule| matches!(&rule.about, About::Below(own) if own.as_path() == Path::new(path));
            self.rules.iter().any(is_it)
        };
        let mut touched = need.writes.iter().chain(&need.deletes);
        if touched.all(is_named) { self.decide(need) } else { Decision::Refuse { line: None } }
    }

    /// Returns the paths that the command's text mentions, resolved as the kernel does. Only a file with a `deny` line
    /// needs them.
    fn mentioned(&self, need: &ApprovalNeed) -> Vec<PathBuf> {
        if self.rules.iter().all(|rule| rule.word != Word::Deny) {
            return Vec::new();
        }
        let texts = mentions(&need.command, &self.place.home, &self.place.vars);
        texts.iter().map(|text| resolve::way(&self.place.cwd.join(text)).end).collect()
    }

    /// Returns the simple commands that a text runs. Only a file with a line that denies one needs them.
    fn commands(&self, text: &str) -> BTreeSet<String> {
        let words_max =
            self.rules.iter().filter_map(|rule| rule.simple.as_ref()).map(|(_, words)| *words).max();
        words_max.map(|words_max| commands(text, words_max)).unwrap_or_default()
    }

    /// Returns the signature of a decision: `file:<name>:<line>`, or `headless` if no line matched.
    #[must_use]
    pub fn signature(&self, decision: Decision) -> String {
        match decision {
            Decision::Allow { line } | Decision::Refuse { line: Some(line) } => {
                format!("file:{}:{line}", self.name)
            }
            Decision::Refuse { line: None } => "headless".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
