//! A repository that the program itself asks Git about, while Git runs no other program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::git::{self, FILTERED, Git, GitOutput, Limits};
use crate::error::ToolError;
use crate::host::Host;
use crate::process::env::SystemProgram;
use crate::show;
use crate::tool::ToolCtx;

/// Maximum settings of a repository that are searched for filters.
const SETTINGS_MAX: usize = 10_000;

/// Overrides for what `git status` would run, beyond those that every run of Git gets.
const OFF: &[(&str, &str)] = &[
    ("diff.external", ""),
    ("status.submoduleSummary", "false"),
    // A repository may claim that a file whose time was set back has not changed.
    ("core.trustctime", "true"),
    ("core.checkStat", "default"),
];

/// A repository whose filters are off.
pub(super) struct Repository<'a> {
    git: Git<'a>,
    pub(super) ctx: &'a ToolCtx,
}

/// Returns the lines or, with `-z`, the entries; `None` if there were too many.
pub(super) fn entries(printed: &GitOutput, separator: u8) -> Option<Vec<String>> {
    let whole = printed.out.whole()?;
    let entries = whole.split(|byte| *byte == separator).filter(|entry| !entry.is_empty());
    Some(entries.map(show::bytes).collect())
}

impl<'a> Repository<'a> {
    /// Prepares Git for a folder of a repository.
    ///
    /// # Errors
    /// If Git may not look into it.
    pub(super) async fn open(
        program: &'a SystemProgram,
        folder: PathBuf,
        host: &'a Host,
        ctx: &'a ToolCtx,
        limits: Limits,
    ) -> Result<Self, ToolError> {
        let looked_at = folder.clone();
        if let Some(obstacle) = ctx.blocking(move |halt| git::obstacle(&looked_at, halt)).await? {
            return Err(ToolError::unfit(&folder, obstacle));
        }
        let mut git = Git::new(program, folder, host, ctx, limits).await?;
        git.settings.extend(OFF.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let mut repository = Repository { git, ctx };
        repository.turn_off_filters().await?;
        Ok(repository)
    }

    /// Adds a setting that overrides the repository's.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.git.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn folder(&self) -> &Path {
        &self.git.folder
    }

    pub(super) async fn ask(&self, args: &[&str]) -> Result<GitOutput, ToolError> {
        let printed = self.git.run(args).await?;
        if printed.is_ok {
            return Ok(printed);
        }
        if printed.said.contains("not a git repository") {
            return Err(ToolError::unfit(&self.git.folder, "it is no Git repository"));
        }
        // Its warnings show lines of files that the repository names.
        let fatal: Vec<&str> = printed.said.lines().filter(|line| line.starts_with("fatal: ")).collect();
        Err(ToolError::Program { program: "git".to_owned(), said: fatal.join("\n") })
    }

    /// Returns Git's whole output.
    pub(super) async fn bytes(&self, args: &[&str]) -> Result<Vec<u8>, ToolError> {
        let too_long = || ToolError::unfit(&self.git.folder, "what Git says about it is too long");
        self.ask(args).await?.out.whole().ok_or_else(too_long)
    }

    /// Returns Git's output without the line end; `None` if Git has nothing to print.
    pub(super) async fn text(&self, args: &[&str]) -> Result<Option<String>, ToolError> {
        let printed = self.git.run(args).await?;
        let text = printed.out.text(8_192);
        Ok(printed.is_ok.then(|| text.trim_end_matches('\n').to_owned()))
    }

    /// Returns whether it contains other repositories (submodules).
    pub(super) async fn has_nested(&self) -> Result<bool, ToolError> {
        self.git.has_nested().await
    }

    /// Returns its files that pass through a filter: filters are not run, and without its filter such a file looks changed.
    pub(super) async fn filtered(&self) -> Result<BTreeSet<String>, ToolError> {
        Ok(entries(&self.ask(FILTERED).await?, 0).unwrap_or_default().into_iter().collect())
    }

    /// Filters are programs that Git runs on changed files, under names that the repository chooses.
    async fn turn_off_filters(&mut self) -> Result<(), ToolError> {
        let listed = self.ask(&["config", "--list", "--name-only", "-z"]).await?;
        let too_many = || ToolError::unfit(&self.git.folder, "its configuration is too large");
        let names = entries(&listed, 0).filter(|names| names.len() <= SETTINGS_MAX).ok_or_else(too_many)?;
        let is_filter = |name: &&String| name.starts_with("filter.");
        let filters: BTreeSet<&str> = names
            .iter()
            .filter(is_filter)
            .filter_map(|name| name.rsplit_once('.').map(|(filter, _)| filter))
            .collect();
        for filter in filters {
            let off = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
            let off = off.map(|(key, value)| (format!("{filter}.{key}"), value.to_owned()));
            self.git.settings.extend(off);
        }
        Ok(())
    }
}
