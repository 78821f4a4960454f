//! A read-only command as it runs, and what has to be looked up before it may.

use super::programs::{self, Call};
use super::script::{Command, Pipeline, Script};
use super::word::{Word, quoted};
use super::{Reading, Reason, Verdict};

/// A command whose text only reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    rendered: String,
    directory: Option<String>,
    reads: Vec<Read>,
    git: Vec<GitCall>,
    programs: Vec<String>,
    searches: Vec<Search>,
}

/// A search by `find` of the program's own, from which directories can be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// Where it starts, as it is written.
    pub start: String,
    /// Where its expression begins in the text.
    pub(crate) at: usize,
}

/// Something that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// What matches the names: `*`, `?` and `[…]` are wildcards, a backslash takes the next character as it is. Relative to
    /// the directory that the command runs in.
    pub pattern: String,
    /// The path itself where there is no wildcard.
    pub literal: Option<String>,
    /// What of a directory is read.
    pub walk: Walk,
}

/// What is read below a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// Nothing.
    No,
    /// Names and what a listing shows.
    Names,
    /// The content of files, without following links.
    Content,
    /// The same by a [`Search`].
    Searched,
    /// The content of files, links below it followed.
    ThroughLinks,
}

/// A call of Git, whose repository decides what else it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitCall {
    /// The directory of `-C`.
    pub directory: Option<String>,
    /// It looks at the working tree, and so through filters.
    pub looks_at_tree: bool,
    /// It looks into nested repositories.
    pub looks_into_nested: bool,
}

impl Read {
    /// The directory that the command runs in.
    pub(crate) fn here(walk: Walk) -> Self {
        Self { pattern: ".".to_owned(), literal: Some(".".to_owned()), walk }
    }
}

impl Plan {
    /// The text that runs: what was understood, every word quoted, with Git's safe options in it.
    #[must_use]
    pub fn rendered(&self) -> &str {
        &self.rendered
    }

    /// The directory that the command changes to first. What it reads is relative to that one.
    #[must_use]
    pub fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// What it reads, in order of appearance.
    #[must_use]
    pub fn reads(&self) -> &[Read] {
        &self.reads
    }

    /// Its calls of Git.
    #[must_use]
    pub fn git(&self) -> &[GitCall] {
        &self.git
    }

    /// The programs that it runs by name, to be found in `PATH`.
    #[must_use]
    pub fn programs(&self) -> &[String] {
        &self.programs
    }

    /// Its searches, in order.
    #[must_use]
    pub fn searches(&self) -> &[Search] {
        &self.searches
    }

    /// The text that runs when each search leaves out these paths, which begin as the search does.
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
        reads: Vec<Read>,
        searches: Vec<Search>,
        programs: Vec<String>,
    ) -> Self {
        let looks = [" status", " diff"].iter().map(|name| rendered.matches(name).count()).sum::<usize>();
        let looks_at_tree = looks > 0;
        // Forms are the program's own: where each of these leaves submodules alone, it says so.
        let looks_into_nested = rendered.matches("--ignore-submodules=dirty").count() < looks;
        let directory = reads.first().and_then(|read| read.literal.clone());
        let git = programs.iter().filter(|program| *program == "git");
        let git =
            git.map(|_| GitCall { directory: directory.clone(), looks_at_tree, looks_into_nested }).collect();
        Plan { rendered, directory: None, reads, git, programs, searches }
    }
}

/// Builtins of bash among the listed programs: no file of that name runs.
const BUILTINS: &[&str] = &["cd", "command", "echo", "false", "printf", "pwd", "true", "type", ":"];

/// Reads a script whose words are all literal.
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
            plan.rendered.push_str(&format!("cd -- {}", quoted(&directory)));
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
    /// Adds a call; the name of its program.
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

/// The directory of a `cd` that stands first and has to work for the rest to run.
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

/// The words of each command without redirections.
fn target(script: &Script) -> String {
    let line = |command: &Command| command.words.iter().map(Word::rendered).collect::<Vec<_>>().join(" ");
    let pipelines = script
        .pipelines
        .iter()
        .map(|pipeline| pipeline.commands.iter().map(line).collect::<Vec<_>>().join(" | "));
    pipelines.collect::<Vec<_>>().join(" ; ")
}

/// The whole script in normal form.
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
