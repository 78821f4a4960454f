//! What the configuration of a repository makes Git run.
//!
//! Git runs programs that a repository's own configuration names, under names that nobody can list: filters, drivers,
//! monitors. So a read-only command runs Git only in a repository whose every setting is known to be harmless.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use setpoint_command_line::{GitCall, Plan};

use crate::error::ToolError;
use crate::host::Host;
use crate::process::env::{self, Environment, Programs};
use crate::process::{self, Ending, Job};
use crate::show;
use crate::tool::ToolCtx;

/// Milliseconds that one look at a repository may take.
const GIT_MS_MAX: u64 = 10_000;
/// Bytes of a configuration that are looked at.
const SETTINGS_BYTES_MAX: usize = 256 * 1024;

/// Settings that are turned off, whatever the repository says.
const OFF: &[(&str, &str)] = &[
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.alternateRefsCommand", ""),
    ("core.pager", "cat"),
    ("diff.autoRefreshIndex", "false"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
];

/// Variables that keep Git from configuration of others, from writing its index and from the network.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
];

/// Sections all of whose settings are harmless to commands that only look.
const SECTIONS: &str = "advice alias author branch color column commit committer credential fetch gc gui help http index init \
    interactive lfs maintenance merge pack pager pull push rebase receive rerere stash submodule tag transfer url user";

/// Settings of other sections that are.
const SETTINGS: &str = "blame.date core.abbrev core.attributesfile core.autocrlf core.bare core.bigfilethreshold \
    core.checkstat core.commentchar core.compression core.deltabasecachelimit core.editor core.eol core.excludesfile \
    core.filemode core.fscache core.hookspath core.ignorecase core.logallrefupdates core.longpaths core.pager \
    core.precomposeunicode core.preloadindex core.protecthfs core.protectntfs core.quotepath core.repositoryformatversion \
    core.commitgraph core.safecrlf core.sharedrepository core.sparsecheckout core.sparsecheckoutcone core.sshcommand \
    core.symlinks core.trustctime core.untrackedcache core.whitespace core.worktree diff.algorithm diff.colormoved diff.context diff.indentheuristic diff.interhunkcontext diff.mnemonicprefix diff.noprefix \
    diff.renamelimit diff.renames diff.tool extensions.objectformat extensions.partialclone extensions.refstorage \
    extensions.worktreeconfig feature.manyfiles gpg.format grep.column grep.linenumber \
    grep.patterntype i18n.commitencoding i18n.logoutputencoding log.abbrevcommit log.date log.decorate log.follow \
    protocol.version remote.pushdefault status.branch status.renames status.short status.showuntrackedfiles versionsort.suffix";

/// Settings of a remote that are.
const REMOTE: &str = "fetch gh-resolved mirror partialclonefilter promisor prune pushurl tagopt url skipdefaultupdate skipfetchall";

/// Settings of the person's own configuration that are carried over: without them Git would see other changes than the
/// person does, or refuse a repository that the person trusts.
const CARRIED: &str = r"^(core\.(attributesfile|autocrlf|eol|excludesfile|filemode|ignorecase|quotepath|safecrlf|symlinks|trustctime)|safe\.directory|status\.showuntrackedfiles)$";

/// Where the person's own configuration is said to be, when it is not in its usual place.
const ELSEWHERE: &[&str] = &["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// The files that pass through a filter: those whose attribute is neither missing nor turned off.
pub(in crate::catalogue) const FILTERED: &[&str] = &[
    "ls-files",
    "-z",
    "--full-name",
    "--",
    ":(top)",
    ":(exclude,top,attr:!filter)",
    ":(exclude,top,attr:-filter)",
];

/// Settings by name, in order.
pub(super) type Settings = Vec<(String, String)>;

/// What the repositories of a command come to.
pub(super) enum Looked {
    /// Git runs nothing in them under these settings.
    Quiet(Settings),
    /// They need a question, for this reason.
    Asks(String),
}

/// Adds to an environment what keeps Git from running anything, and what is carried over.
pub(super) fn keep_quiet(env: &mut Environment, carried: &Settings) {
    let mut set = |name: String, value: &str| env.insert(OsString::from(name), OsString::from(value));
    for (name, value) in VARIABLES {
        set((*name).to_owned(), value);
    }
    let carried = carried.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let settings: Vec<(&str, &str)> = carried.chain(OFF.iter().copied()).collect();
    set("GIT_CONFIG_COUNT".to_owned(), &settings.len().to_string());
    for (n, (name, value)) in settings.into_iter().enumerate() {
        set(format!("GIT_CONFIG_KEY_{n}"), name);
        set(format!("GIT_CONFIG_VALUE_{n}"), value);
    }
}

/// Looks at the repositories that a plan calls Git in.
pub(super) async fn look(plan: &Plan, cwd: &Path, host: &Host, ctx: &ToolCtx) -> Result<Looked, ToolError> {
    let Some(git) = host.program("git").filter(|_| !plan.git().is_empty()) else {
        return Ok(Looked::Quiet(Settings::new()));
    };
    let at = plan.directory().map_or_else(|| cwd.to_path_buf(), |directory| cwd.join(directory));
    let mut all: Option<Settings> = None;
    for call in plan.git() {
        let folder = call.directory.as_ref().map_or_else(|| at.clone(), |directory| at.join(directory));
        let carried = carried(&git, &folder, host, ctx).await?;
        let look = Look { git: &git, folder, host, ctx, carried: &carried };
        if let Some(reason) = look.reason(call).await? {
            return Ok(Looked::Asks(reason));
        }
        if all.as_ref().is_some_and(|all| *all != carried) {
            let reason =
                "your own Git configuration differs between the repositories of the command".to_owned();
            return Ok(Looked::Asks(reason));
        }
        all = Some(carried);
    }
    Ok(Looked::Quiet(all.unwrap_or_default()))
}

/// What is carried over of the person's own configuration into a folder, as far as it is for that folder. Reading it runs
/// nothing.
pub(in crate::catalogue) async fn carried(
    git: &Path,
    folder: &Path,
    host: &Host,
    ctx: &ToolCtx,
) -> Result<Settings, ToolError> {
    if !folder.is_dir() {
        return Ok(Settings::new());
    }
    let mut env = env::for_task(host.env(), &ctx.surroundings, Programs::System);
    for name in ELSEWHERE {
        env.extend(std::env::var_os(name).map(|value| (OsString::from(*name), value)));
    }
    let args = ["config", "-z", "--show-scope", "--get-regexp", CARRIED];
    let printed = run(git, &args, folder, env, host, ctx).await?.unwrap_or_default();
    let mut parts = printed.split('\0');
    let mut settings = Settings::new();
    // What the repository itself says counts anyway, and may not make itself trusted.
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        if let ("system" | "global", Some((name, value))) = (scope, entry.split_once('\n')) {
            settings.push((name.to_owned(), value.to_owned()));
        }
    }
    Ok(settings)
}

/// One repository.
struct Look<'a> {
    git: &'a Path,
    folder: PathBuf,
    host: &'a Host,
    ctx: &'a ToolCtx,
    carried: &'a Settings,
}

impl Look<'_> {
    async fn reason(&self, call: &GitCall) -> Result<Option<String>, ToolError> {
        if !self.folder.is_dir() {
            return Ok(None);
        }
        // No repository, or one that Git refuses: then it refuses the command too.
        let list = ["config", "--list", "--show-scope", "--name-only", "--no-includes", "-z"];
        let Some(settings) = self.ask(&list).await? else { return Ok(None) };
        // Filters run over the files of the working tree alone.
        let is_unused = |name: &str| !call.looks_at_tree && name.starts_with("filter.");
        let mut parts = settings.split('\0');
        while let (Some(scope), Some(name)) = (parts.next(), parts.next()) {
            // The rest is what we say.
            if matches!(scope, "local" | "worktree") && !is_harmless(name) && !is_unused(name) {
                let name = show::line(name);
                return Ok(Some(format!(
                    "the repository's configuration sets {name}, which is not on the list of settings that run nothing"
                )));
            }
        }
        let Some(top) = self.ask(&["rev-parse", "--show-toplevel"]).await? else { return Ok(None) };
        let top = Path::new(top.trim_end_matches('\n'));
        if !self.is_around(top) {
            return Ok(Some("the repository takes another directory for its files".to_owned()));
        }
        if !call.looks_at_tree {
            return Ok(None);
        }
        if call.looks_into_nested && top.join(".gitmodules").exists() {
            return Ok(Some(
                "Git would look into submodules, whose configuration may run programs".to_owned(),
            ));
        }
        // Without the filter, which only the person's own configuration has, every such file looks changed.
        let filtered = self.ask(FILTERED).await?.unwrap_or_default();
        Ok(filtered.split('\0').find(|name| !name.is_empty()).map(|name| {
            let name = show::line(name);
            format!("{name} passes through a filter, which may run a program, and without it Git would see other changes")
        }))
    }

    /// Whether the files of the repository are in the directory where it was found, as in every submodule and working tree
    /// that Git itself made.
    fn is_around(&self, top: &Path) -> bool {
        let Ok(folder) = std::fs::canonicalize(&self.folder) else { return false };
        let found = folder.ancestors().find(|above| std::fs::symlink_metadata(above.join(".git")).is_ok());
        found.is_some_and(|found| std::fs::canonicalize(top).is_ok_and(|top| top == found))
    }

    /// What Git prints; `None` when it fails.
    async fn ask(&self, args: &[&str]) -> Result<Option<String>, ToolError> {
        let mut env = env::for_task(self.host.env(), &self.ctx.surroundings, Programs::System);
        keep_quiet(&mut env, self.carried);
        run(self.git, args, &self.folder, env, self.host, self.ctx).await
    }
}

/// What Git prints in a folder; `None` when it fails.
async fn run(
    git: &Path,
    args: &[&str],
    folder: &Path,
    env: Environment,
    host: &Host,
    ctx: &ToolCtx,
) -> Result<Option<String>, ToolError> {
    let job = Job {
        program: git.to_path_buf(),
        args: args.iter().map(OsString::from).collect(),
        cwd: folder.to_path_buf(),
        env,
        ms_max: GIT_MS_MAX,
        output_bytes_max: SETTINGS_BYTES_MAX,
        is_bounded: true,
    };
    let failed = |source| ToolError::file("start", git, source);
    let ended = process::run(job, host, &ctx.cancel).await.map_err(failed)?;
    match ended.ending {
        Ending::Exit(0) => {}
        Ending::Exit(_) | Ending::Signal(_) => return Ok(None),
        Ending::TimedOut => return Err(ToolError::TimedOut { ms: GIT_MS_MAX }),
        Ending::Cancelled => return Err(ToolError::Cancelled),
    }
    let whole = ended.stdout.whole().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let too_large = || ToolError::unfit(folder, "its Git configuration is too large to look at");
    whole.map(Some).ok_or_else(too_large)
}

/// Whether a setting, as Git lists its name, makes no command that only looks run anything.
fn is_harmless(name: &str) -> bool {
    let lists = |list: &str, wanted: &str| list.split_ascii_whitespace().any(|one| one == wanted);
    let Some((section, rest)) = name.split_once('.') else { return false };
    let last = rest.rsplit('.').next().unwrap_or_default();
    lists(SETTINGS, name) || lists(SECTIONS, section) || (section == "remote" && lists(REMOTE, last))
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
            "format.pretty",
            "core.alternaterefscommand",
            "unknown",
            "",
        ] {
            assert!(!is_harmless(name), "{name}");
        }
    }
}
