//! Checks what a repository's configuration makes Git run.
//!
//! Git runs programs that a repository's configuration names, and no list of such settings is complete: filters,
//! drivers, monitors. So a read-only command runs Git only in a repository whose every setting is known to be harmless.

use std::path::Path;

use setpoint_command_line::{GitCall, Plan};

use crate::catalogue::git::{self, FILTERED, Git, Limits, Settings};
use crate::error::ToolError;
use crate::host::Host;
use crate::show;
use crate::tool::ToolCtx;

/// Limits of one run of Git.
const LIMITS: Limits = Limits { ms_max: 10_000, bytes_max: 16 * 1024 * 1024 };

/// Makes Git refuse a repository without a working tree, because such a folder may be data from anyone.
const BARE: (&str, &str) = ("safe.bareRepository", "explicit");

/// Sections whose settings are all harmless to read-only commands.
const SECTIONS: &str = "advice alias author branch color column commit committer credential fetch gc gui help http \
    index init interactive lfs maintenance merge pack pager pull push rebase receive rerere stash submodule tag \
    transfer url user";

/// Sections in which other programs keep their settings; Git ignores them.
const OTHERS: &str = "depot-tools gitflow gitreview jira magit svn-remote";

/// Harmless settings of other sections. Settings that read a file are excluded, because Git prints lines that it cannot
/// parse.
const SETTINGS: &str = "\
    am.keepcr am.threeway apply.ignorewhitespace apply.whitespace blame.date checkout.defaultremote \
    checkout.guess checkout.workers clone.defaultremotename core.abbrev core.autocrlf core.bare \
    core.bigfilethreshold core.checkstat core.commentchar core.commitgraph core.compression \
    core.deltabasecachelimit core.editor core.eol core.filemode core.fscache core.fsync core.fsyncmethod \
    core.fsyncobjectfiles core.hookspath core.ignorecase core.logallrefupdates core.longpaths \
    core.loosecompression core.multipackindex core.packedgitlimit core.packedgitwindowsize core.pager \
    core.precomposeunicode core.preloadindex core.protecthfs core.protectntfs core.quotepath \
    core.repositoryformatversion core.safecrlf core.sharedrepository core.sparsecheckout core.sparsecheckoutcone \
    core.splitindex core.sshcommand core.symlinks core.trustctime core.untrackedcache core.warnambiguousrefs \
    core.whitespace core.worktree diff.algorithm diff.colormoved diff.colormovedws diff.context diff.dirstat \
    diff.ignoresubmodules diff.indentheuristic diff.interhunkcontext diff.mnemonicprefix diff.noprefix \
    diff.relative diff.renamelimit diff.renames diff.statgraphwidth diff.statnamewidth diff.suppressblankempty \
    diff.tool diff.wserrorhighlight difftool.prompt extensions.objectformat extensions.partialclone \
    extensions.preciousobjects extensions.refstorage extensions.worktreeconfig feature.experimental \
    feature.manyfiles github.user gpg.format grep.column grep.extendedregexp grep.fullname grep.linenumber \
    grep.patterntype grep.threads hub.host hub.protocol i18n.commitencoding i18n.filesencoding \
    i18n.logoutputencoding log.abbrevcommit log.date log.decorate log.diffmerges log.excludedecoration \
    log.follow log.graphcolors log.mailmap log.showroot mergetool.keepbackup mergetool.prompt notes.displayref \
    protocol.version remote.pushdefault safe.directory status.aheadbehind status.branch \
    status.displaycommentprefix status.relativepaths status.renamelimit status.renames status.short \
    status.showstash status.showuntrackedfiles versionsort.suffix worktree.guessremote";

/// Harmless settings of a remote.
const REMOTE: &str = "fetch gh-resolved mirror partialclonefilter promisor prune pushurl tagopt url \
    skipdefaultupdate skipfetchall";

/// The result of checking a command's repositories.
pub(super) enum RepositoryCheck {
    /// Git runs no other program in them under these settings.
    Quiet(Settings),
    /// They need consent, for this reason.
    Asks(String),
}

/// Checks the repositories in which a plan calls Git.
pub(super) async fn look(
    plan: &Plan,
    cwd: &Path,
    host: &Host,
    ctx: &ToolCtx,
) -> Result<RepositoryCheck, ToolError> {
    // Without Git the command fails.
    if plan.git().is_empty() || !host.has_program("git") {
        return Ok(RepositoryCheck::Quiet(Settings::new()));
    }
    let program = match host.unasked_program("git", ctx) {
        Ok(program) => program,
        Err(error) => return Ok(RepositoryCheck::Asks(error.to_string())),
    };
    let at = plan.directory().map_or_else(|| cwd.to_path_buf(), |directory| cwd.join(directory));
    let mut all: Option<Settings> = None;
    for call in plan.git() {
        let folder = call.directory.as_ref().map_or_else(|| at.clone(), |directory| at.join(directory));
        // Git itself reports a missing folder.
        if !folder.is_dir() {
            continue;
        }
        let looked_at = folder.clone();
        if let Some(obstacle) = ctx.blocking(move |halt| git::obstacle(&looked_at, halt)).await? {
            return Ok(RepositoryCheck::Asks(obstacle));
        }
        let mut git = Git::new(&program, folder, host, ctx, LIMITS).await?;
        git.settings.push((BARE.0.to_owned(), BARE.1.to_owned()));
        if let Some(reason) = reason(&git, call).await? {
            return Ok(RepositoryCheck::Asks(reason));
        }
        if all.as_ref().is_some_and(|all| *all != git.settings) {
            let reason = "your own Git configuration differs between the repositories of the command";
            return Ok(RepositoryCheck::Asks(reason.to_owned()));
        }
        all = Some(git.settings);
    }
    Ok(RepositoryCheck::Quiet(all.unwrap_or_default()))
}

/// Returns why a call of Git in its repository needs consent, or `None`.
async fn reason(git: &Git<'_>, call: &GitCall) -> Result<Option<String>, ToolError> {
    // If there is no repository, or Git refuses it, the command fails in the same way.
    let list = ["config", "--list", "--show-scope", "--name-only", "--no-includes", "-z"];
    let Some(settings) = ask(git, &list).await? else { return Ok(None) };
    // Filters run only on the files of the working tree.
    let is_unused = |name: &str| !call.looks_at_tree && name.starts_with("filter.");
    let mut parts = settings.split('\0');
    while let (Some(scope), Some(name)) = (parts.next(), parts.next()) {
        // Settings of scope `command` are ours.
        if scope != "command" && !is_harmless(name) && !is_unused(name) {
            let name = show::line(name);
            return Ok(Some(format!(
                "the repository's configuration sets {name}, which is not on the list of settings that run nothing"
            )));
        }
    }
    let Some(top) = ask(git, &["rev-parse", "--show-toplevel"]).await? else { return Ok(None) };
    let top = Path::new(top.trim_end_matches('\n'));
    if !is_around(&git.folder, top) {
        return Ok(Some("the repository takes another directory for its files".to_owned()));
    }
    if !call.looks_at_tree {
        return Ok(None);
    }
    if call.looks_into_nested && git.has_nested().await? {
        let reason = "Git would look into submodules or other nested repositories, which may run programs";
        return Ok(Some(reason.to_owned()));
    }
    // The filter is only in the person's own configuration, and without it every such file looks changed.
    let filtered = ask(git, FILTERED).await?.unwrap_or_default();
    Ok(filtered.split('\0').find(|name| !name.is_empty()).map(|name| {
        let name = show::line(name);
        format!("{name} passes through a filter, which may run a program, and without it Git would see other changes")
    }))
}

/// Returns Git's output; `None` if it fails.
async fn ask(git: &Git<'_>, args: &[&str]) -> Result<Option<String>, ToolError> {
    let printed = git.run(args).await?;
    printed.is_ok.then(|| git.whole(&printed)).transpose()
}

/// Returns whether the repository's working tree is the directory whose `.git` Git found, as for every submodule and linked
/// working tree that Git creates.
fn is_around(folder: &Path, top: &Path) -> bool {
    let Ok(folder) = std::fs::canonicalize(folder) else { return false };
    let found = folder.ancestors().find(|above| std::fs::symlink_metadata(above.join(".git")).is_ok());
    found.is_some_and(|found| std::fs::canonicalize(top).is_ok_and(|top| top == found))
}

/// Returns whether a setting, by the name that Git lists, never makes a read-only command run a program.
fn is_harmless(name: &str) -> bool {
    let lists = |list: &str, wanted: &str| list.split_ascii_whitespace().any(|one| one == wanted);
    let Some((section, rest)) = name.split_once('.') else { return false };
    let last = rest.rsplit('.').next().unwrap_or_default();
    [SECTIONS, OTHERS].iter().any(|sections| lists(sections, section))
        || lists(SETTINGS, name)
        || (section == "remote" && lists(REMOTE, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_settings_are_harmless() {
        for name in [
            "core.filemode",
            "user.name",
            "remote.origin.url",
            "branch.main.merge",
            "submodule.x.url",
            "lfs.repositoryformatversion",
            "gitflow.branch.master",
            "svn-remote.svn.fetch",
            "mergetool.keepbackup",
            "safe.directory",
        ] {
            assert!(is_harmless(name), "{name}");
        }
        for name in [
            "core.fsmonitor",
            "filter.x.clean",
            "diff.x.textconv",
            "diff.x.command",
            "diff.external",
            "include.path",
            "includeif.gitdir:x.path",
            "log.showsignature",
            "blame.ignorerevsfile",
            "remote.origin.uploadpack",
            "pretty.x",
            "difftool.x.cmd",
            "mergetool.x.path",
            "mailmap.file",
            "core.ignorestat",
            "status.submodulesummary",
            "format.pretty",
            "core.alternaterefscommand",
            "unknown",
            "",
        ] {
            assert!(!is_harmless(name), "{name}");
        }
    }
}
