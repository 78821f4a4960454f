//! Git, prevented from running other programs: for read-only commands and for `git_report`.
//!
//! A repository may come from anyone, and its configuration can name programs that Git runs. So every setting that runs
//! programs is overridden, and of the person's own configuration only what decides which changes Git sees is kept.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use setpoint_protocol::text::clip;

use crate::error::ToolError;
use crate::files::open;
use crate::halt::Halt;
use crate::host::Host;
use crate::process::env::{self, Environment, Programs, SystemProgram};
use crate::process::{self, CapturedOutput, Ending, Job};
use crate::show;
use crate::tool::ToolCtx;
use crate::walk::measure::{self, Bounds, Step};

/// Maximum entries of a repository's own folders that are examined.
const ENTRIES_MAX: usize = 50_000;
/// Maximum bytes of a file that points to another folder.
const POINTER_BYTES_MAX: u64 = 4_096;
/// Maximum characters of Git's error message that are kept.
const SAID_CHARS_MAX: usize = 500;

/// Settings that override the repository's.
const OFF: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.alternateRefsCommand", ""),
    ("core.pager", "cat"),
    ("core.untrackedCache", "false"),
    ("diff.autoRefreshIndex", "false"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
];

/// Variables that keep Git from reading others' configuration, writing its index and using the network.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
];

/// Settings of the person's own configuration that are kept: without them Git would see other changes than the person
/// does, or refuse a repository that the person trusts.
const CARRIED: &str = r"^(core\.(attributesfile|autocrlf|eol|excludesfile|filemode|ignorecase|quotepath|safecrlf|symlinks|trustctime)|safe\.directory|status\.showuntrackedfiles)$";

/// Variables that name the person's own configuration if it is not in its usual place.
const ELSEWHERE: &[&str] = &["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// Arguments that list the files whose `filter` attribute is set.
pub(super) const FILTERED: &[&str] = &[
    "ls-files",
    "-z",
    "--full-name",
    "--",
    ":(top)",
    ":(exclude,top,attr:!filter)",
    ":(exclude,top,attr:-filter)",
];

/// The prefix of another repository's entry in the index.
const NESTED: &str = "160000 ";

/// Settings by name, in order.
pub(super) type Settings = Vec<(String, String)>;

/// Git, bound to one folder.
pub(super) struct Git<'a> {
    program: &'a SystemProgram,
    pub(super) folder: PathBuf,
    host: &'a Host,
    ctx: &'a ToolCtx,
    limits: Limits,
    /// Settings added to the repository's configuration.
    pub(super) settings: Settings,
}

/// Limits of one run of Git.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) ms_max: u64,
    /// Bytes of output.
    pub(super) bytes_max: usize,
}

/// The output of Git, and whether it succeeded.
pub(super) struct GitOutput {
    pub(super) out: CapturedOutput,
    pub(super) said: String,
    pub(super) is_ok: bool,
}

impl<'a> Git<'a> {
    /// Prepares Git for a folder, with the settings kept from the person's own configuration. Reading them runs no
    /// other program.
    pub(super) async fn new(
        program: &'a SystemProgram,
        folder: PathBuf,
        host: &'a Host,
        ctx: &'a ToolCtx,
        limits: Limits,
    ) -> Result<Self, ToolError> {
        let mut git = Git { program, folder, host, ctx, limits, settings: Settings::new() };
        let mut env = git.surroundings();
        for name in ELSEWHERE {
            env.extend(std::env::var_os(name).map(|value| (OsString::from(*name), value)));
        }
        let printed = git.start(&["config", "-z", "--show-scope", "--get-regexp", CARRIED], env).await?;
        // Git fails if there is no such setting.
        let entries = if printed.is_ok { git.whole(&printed)? } else { String::new() };
        git.settings = carried(&entries);
        Ok(git)
    }

    /// Runs Git, which runs no other program.
    pub(super) async fn run(&self, args: &[&str]) -> Result<GitOutput, ToolError> {
        let mut env = self.surroundings();
        without_other_programs(&mut env, &self.settings);
        self.start(args, env).await
    }

    /// Returns whether the repository contains other repositories (submodules).
    pub(super) async fn has_nested(&self) -> Result<bool, ToolError> {
        let printed = self.run(&["ls-files", "--stage", "-z", "--", ":(top)"]).await?;
        Ok(printed.is_ok && self.whole(&printed)?.split('\0').any(|entry| entry.starts_with(NESTED)))
    }

    /// Returns the whole output as text.
    pub(super) fn whole(&self, printed: &GitOutput) -> Result<String, ToolError> {
        let whole = printed.out.whole().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        whole.ok_or_else(|| ToolError::unfit(&self.folder, "what Git says about it is too long"))
    }

    fn surroundings(&self) -> Environment {
        env::for_task(self.host.env(), &self.ctx.surroundings, Programs::System)
    }

    async fn start(&self, args: &[&str], mut env: Environment) -> Result<GitOutput, ToolError> {
        // Its messages are parsed.
        env.insert("LC_ALL".into(), "C".into());
        // Replacement objects and grafts would show another history than the stored one.
        env.insert("GIT_GRAFT_FILE".into(), "/dev/null".into());
        env.insert("GIT_NO_REPLACE_OBJECTS".into(), "1".into());
        let job = Job {
            program: self.program.path().to_path_buf(),
            args: args.iter().map(OsString::from).collect(),
            cwd: self.folder.clone(),
            env,
            ms_max: self.limits.ms_max,
            output_bytes_max: self.limits.bytes_max,
            is_bounded: true,
            watch: None,
        };
        let failed = |source| ToolError::file("start", self.program.path(), source);
        let ended = process::run(job, self.host, &self.ctx.cancel).await.map_err(failed)?;
        let is_ok = match ended.ending {
            Ending::Exit(code) => code == 0,
            Ending::Signal(_) => false,
            Ending::TimedOut => return Err(ToolError::TimedOut { ms: self.limits.ms_max }),
            // Only commands in the sandbox are looked at.
            Ending::Cancelled | Ending::Excess(_) => return Err(ToolError::Cancelled),
        };
        let said = clip(ended.stderr.text(4_096).trim(), SAID_CHARS_MAX);
        Ok(GitOutput { out: ended.stdout, said, is_ok })
    }
}

/// Returns why Git may not examine a folder, or `None`. Git opens a repository's files on its own and prints what it
/// cannot parse in them, so a link among them could expose any file.
///
/// # Errors
/// If the repository's own folder belongs to Setpoint.
pub(super) fn obstacle(folder: &Path, halt: &Halt) -> Result<Option<String>, ToolError> {
    let Ok(real) = std::fs::canonicalize(folder) else { return Ok(None) };
    // Git continues upwards from a folder that is not a repository.
    for above in real.ancestors() {
        let entry = above.join(".git");
        let mut own = match std::fs::symlink_metadata(&entry) {
            Ok(meta) if meta.is_dir() => vec![entry],
            Ok(meta) if meta.is_file() => {
                pointer(&entry, halt).map(|to| above.join(to)).into_iter().collect()
            }
            Ok(_) => return Ok(Some(not_a_file(&entry))),
            Err(_) if ["HEAD", "objects", "refs"].iter().all(|name| above.join(name).exists()) => {
                vec![above.to_path_buf()]
            }
            Err(_) => continue,
        };
        own.extend(own.first().and_then(|own| pointer(&own.join("commondir"), halt).map(|to| own.join(to))));
        for own in own {
            halt.rooms().check(&own)?;
            if let Some(obstacle) = obstacle_in(&own, halt) {
                return Ok(Some(obstacle));
            }
        }
    }
    Ok(None)
}

fn obstacle_in(own: &Path, halt: &Halt) -> Option<String> {
    let real = std::fs::canonicalize(own).ok()?;
    let bounds = Bounds { entries_max: ENTRIES_MAX, ..Bounds::new(halt) };
    let mut obstacle = None;
    let tally = measure::walk(&real, bounds, halt, |entry| {
        let kind = entry.meta.file_type();
        let is_own_link =
            || std::fs::canonicalize(entry.path).map_or(true, |target| target.starts_with(&real));
        if !(kind.is_dir() || kind.is_file() || (kind.is_symlink() && is_own_link())) {
            obstacle = Some(not_a_file(entry.path));
            return Step::End;
        }
        let inside = entry.path.strip_prefix(&real).unwrap_or(entry.path);
        if is_unread(inside) { Step::Over } else { Step::On }
    });
    match tally {
        _ if obstacle.is_some() => obstacle,
        Ok(tally) if tally.closed > 0 => {
            Some("a file of Setpoint itself is in the repository's own folder".to_owned())
        }
        Ok(tally) if tally.complete => None,
        _ => {
            Some(format!("the repository's own folder {} has too many entries to look at", show::path(&real)))
        }
    }
}

fn not_a_file(path: &Path) -> String {
    let path = show::path(path);
    format!("{path} is a link out of the repository's own folder, or no file, and Git would read it")
}

/// Returns whether Git never prints the content of this path in a repository's folder: objects are compressed, and the others
/// are read only for submodules and by other programs.
fn is_unread(inside: &Path) -> bool {
    let mut parts = inside.iter();
    let (first, second) = (parts.next(), parts.next());
    match first.and_then(|name| name.to_str()) {
        Some("objects") => second.is_some_and(|name| name != "info"),
        Some("modules" | "lfs" | "annex") => true,
        _ => false,
    }
}

/// Returns the folder that a file such as `commondir` points to.
fn pointer(path: &Path, halt: &Halt) -> Option<PathBuf> {
    let mut text = String::new();
    open::regular(path, halt).ok()?.take(POINTER_BYTES_MAX).read_to_string(&mut text).ok()?;
    let to = text.trim_end_matches('\n');
    Some(PathBuf::from(to.strip_prefix("gitdir: ").unwrap_or(to)))
}

/// Adds these settings, and those that keep Git from running other programs, to an environment.
pub(super) fn without_other_programs(env: &mut Environment, settings: &Settings) {
    let mut set = |name: String, value: &str| env.insert(OsString::from(name), OsString::from(value));
    for (name, value) in VARIABLES {
        set((*name).to_owned(), value);
    }
    let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let settings: Vec<(&str, &str)> = settings.chain(OFF.iter().copied()).collect();
    set("GIT_CONFIG_COUNT".to_owned(), &settings.len().to_string());
    for (n, (name, value)) in settings.into_iter().enumerate() {
        set(format!("GIT_CONFIG_KEY_{n}"), name);
        set(format!("GIT_CONFIG_VALUE_{n}"), value);
    }
}

/// Selects the settings to keep from a list of scopes and names: those in the person's own configuration and not in the
/// repository's, because settings that we add override both.
fn carried(list: &str) -> Settings {
    let (mut settings, mut of_repository) = (Settings::new(), BTreeSet::new());
    let mut parts = list.split('\0');
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        let (name, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        if matches!(scope, "system" | "global") {
            settings.push((name.to_owned(), value.to_owned()));
        } else if name != "safe.directory" {
            // A repository must not decide whether it is trusted.
            of_repository.insert(name);
        }
    }
    settings.retain(|(name, _)| !of_repository.contains(name.as_str()));
    settings
}
