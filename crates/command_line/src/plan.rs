//! A read-only command as it runs, and what must be checked before it may run.

use super::programs::{self, Call};
use super::script::{Command, Pipeline, Script};
use super::word::{Word, quoted};
use super::{Reading, Reason, Verdict};

/// A command that only reads, according to its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    rendered: String,
    directory: Option<String>,
    reads: Vec<ReadTarget>,
    git: Vec<GitCall>,
    programs: Vec<String>,
    searches: Vec<Search>,
}

/// A search by `find` in a form, from which directories can be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// Start of the search, as written.
    pub start: String,
    /// Byte offset of its expression in the text.
    pub(crate) at: usize,
}

/// Something that the command reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadTarget {
    /// Pattern for the names: `*`, `?` and `[…]` are wildcards, a backslash escapes the next character. Relative to
    /// the directory in which the command runs.
    pub pattern: String,
    /// The path itself, if there is no wildcard.
    pub literal: Option<String>,
    /// How much of a directory is read.
    pub walk: Walk,
}

/// How much is read below a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// Nothing below it.
    No,
    /// Names, and what a listing shows.
    Names,
    /// Content of files, without following links.
    Content,
    /// Content of files, by a [`Search`].
    Searched,
    /// Content of files, following links.
    ThroughLinks,
}

/// A call of Git, whose repository determines what else runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitCall {
    /// Directory given by `-C`.
    pub directory: Option<String>,
    /// Whether it reads the working tree, and so may run filters.
    pub looks_at_tree: bool,
    /// Whether it reads nested repositories.
    pub looks_into_nested: bool,
}

impl ReadTarget {
    /// Returns a read of the directory in which the command runs.
    pub(crate) fn current_dir(walk: Walk) -> Self {
        Self { pattern: ".".to_owned(), literal: Some(".".to_owned()), walk }
    }
}

impl Plan {
    /// Returns the text that runs: the command as it was understood, every word quoted, with Git's safe options added.
    #[must_use]
    pub fn rendered(&self) -> &str {
        &self.rendered
    }

    /// Returns the directory to which the command changes first, if any. Its reads are relative to it.
    #[must_use]
    pub fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// Returns what it reads, in order of appearance.
    #[must_use]
    pub fn reads(&self) -> &[ReadTarget] {
        &self.reads
    }

    /// Returns its calls of Git.
    #[must_use]
    pub fn git(&self) -> &[GitCall] {
        &self.git
    }

    /// Returns the programs that it runs by name, which are found through `PATH`.
    #[must_use]
    pub fn programs(&self) -> &[String] {
        &self.programs
    }

    /// Returns its searches, in order.
    #[must_use]
    pub fn searches(&self) -> &[Search] {
        &self.searches
    }

    /// Returns the text that runs if each search leaves out these paths, which begin like the search's start.
    #[must_use]
    pub fn rendered_without(&self, left_out: &[Vec<String>]) -> String {
        let mut text = self.rendered.clone();
        for (search, paths) in self.searches.iter().zip(left_out).rev() {
            let tests =
                paths.iter().map(|path| format!("-path {}", quoted(&Word::of(path.as_str()).pattern())));
            let tests = tests.collect::<Vec<_>>().join(" -o ");
            if !paths.is_empty() && text.is_char_boundary(search.at) {
                text.insert_str(search.at, &format!(" \\( {tests} \\) -prune -o"));
            }
        }
        text
    }

    pub(crate) fn of_form(
        rendered: String,
        reads: Vec<ReadTarget>,
        searches: Vec<Search>,
        programs: Vec<String>,
    ) -> Self {
        let looks = [" status", " diff"].iter().map(|name| rendered.matches(name).count()).sum::<usize>();
        let looks_at_tree = looks > 0;
        // Forms ship with the program: those that skip submodules have this option.
        let looks_into_nested = rendered.matches("--ignore-submodules=dirty").count() < looks;
        let directory = reads.first().and_then(|read| read.literal.clone());
        let git = programs.iter().filter(|program| *program == "git");
        let git =
            git.map(|_| GitCall { directory: directory.clone(), looks_at_tree, looks_into_nested }).collect();
        Plan { rendered, directory: None, reads, git, programs, searches }
    }
}

/// Builtins of bash among the listed programs: bash runs no file for them.
const BUILTINS: &[&str] = &["cd", "command", "echo", "false", "printf", "pwd", "true", "type", ":"];

/// Judges a script whose words are all literal.
pub(crate) fn judge(script: &Script) -> Result<Reading, Reason> {
    if let [Pipeline { commands, .. }] = script.pipelines.as_slice()
        && let [command] = commands.as_slice()
        && let Some(found) = programs::removes_or_makes(command)
    {
        let text = target(script);
        let programs = vec![found.program().to_owned()];
        let verdict = Verdict::RemovesOrMakes(found);
        return Ok(Reading {
            verdict,
            programs,
            target: text.clone(),
            script: text,
            volatile: false,
            executes: Vec::new(),
        });
    }
    let mut plan = Plan::default();
    let mut names = Vec::new();
    let mut is_volatile = false;
    for (index, pipeline) in script.pipelines.iter().enumerate() {
        if index > 0 {
            plan.rendered.push_str(&format!(" {} ", pipeline.joint));
        }
        if index == 0
            && let Some(directory) = leading_cd(script)
        {
            // As the kernel goes, and so as its paths are looked at: without `-P`, `cd LINK/..` does not follow the link.
            plan.rendered.push_str(&format!("cd -P -- {}", quoted(&directory)));
            plan.directory = Some(directory);
            names.push("cd".to_owned());
            continue;
        }
        for (place, command) in pipeline.commands.iter().enumerate() {
            let call = programs::judge(command, place > 0)?;
            if place > 0 {
                plan.rendered.push_str(" | ");
            }
            is_volatile |= call.is_volatile;
            names.push(plan.add(call, command));
        }
    }
    names.sort_unstable();
    names.dedup();
    Ok(Reading {
        verdict: Verdict::ReadOnly(plan),
        programs: names,
        target: target(script),
        script: normal(script),
        volatile: is_volatile,
        executes: Vec::new(),
    })
}

impl Plan {
    /// Adds a call, and returns the name of its program.
    fn add(&mut self, call: Call, command: &Command) -> String {
        let words = std::iter::once(call.program.clone()).chain(call.rendered);
        let redirections = command.redirections.iter().map(|text| (*text).to_owned());
        self.rendered.push_str(&words.chain(redirections).collect::<Vec<_>>().join(" "));
        self.reads.extend(call.reads);
        self.git.extend(call.git);
        if !call.program.contains('/') && !BUILTINS.contains(&call.program.as_str()) {
            self.programs.push(call.program.clone());
        }
        call.program.rsplit('/').next().unwrap_or_default().to_owned()
    }
}

/// Returns the directory of a leading `cd`, if the rest runs only after it succeeds.
fn leading_cd(script: &Script) -> Option<String> {
    let [first, second, ..] = script.pipelines.as_slice() else { return None };
    let [command] = first.commands.as_slice() else { return None };
    let words: Option<Vec<&str>> = command.words.iter().map(Word::text).collect();
    let directory = match words?.as_slice() {
        ["cd", directory] | ["cd", "--", directory] => (*directory).to_owned(),
        _ => return None,
    };
    let is_plain = !directory.starts_with('-') && !directory.is_empty() && command.redirections.is_empty();
    (second.joint == "&&" && is_plain).then_some(directory)
}

/// Returns the words of each command, without redirections.
fn target(script: &Script) -> String {
    let line = |command: &Command| command.words.iter().map(Word::rendered).collect::<Vec<_>>().join(" ");
    let pipelines = script
        .pipelines
        .iter()
        .map(|pipeline| pipeline.commands.iter().map(line).collect::<Vec<_>>().join(" | "));
    pipelines.collect::<Vec<_>>().join(" ; ")
}

/// Returns the whole script in normal form.
fn normal(script: &Script) -> String {
    let line = |command: &Command| {
        let redirections = command.redirections.iter().map(|text| (*text).to_owned());
        command.words.iter().map(Word::rendered).chain(redirections).collect::<Vec<_>>().join(" ")
    };
    let mut out = String::new();
    for pipeline in &script.pipelines {
        if !pipeline.joint.is_empty() {
            out.push_str(&format!(" {} ", pipeline.joint));
        }
        out.push_str(&pipeline.commands.iter().map(line).collect::<Vec<_>>().join(" | "));
    }
    out
}
