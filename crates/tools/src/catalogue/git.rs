//! Git, kept from running anything: for commands that only read and for `git_report`.
//!
//! A repository is data that somebody may have sent, and its configuration can name programs that Git runs. So what runs
//! programs is turned off, and of the person's own configuration there is only what decides which changes Git sees.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use setpoint_protocol::text::clip;

use crate::error::ToolError;
use crate::files::open;
use crate::halt::Halt;
use crate::host::Host;
use crate::process::env::{self, Environment, Programs};
use crate::process::{self, Captured, Ending, Job};
use crate::show;
use crate::tool::ToolCtx;
use crate::walk::measure::{self, Bounds, Step};

/// Entries of a repository's own folders that are looked at.
const ENTRIES_MAX: usize = 50_000;
/// Bytes of a file that names another folder.
const POINTER_BYTES_MAX: u64 = 4_096;
/// Characters of an error message of Git that are kept.
const SAID_CHARS_MAX: usize = 500;

/// Settings that override those of the repository.
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

/// Variables that keep Git from configuration of others, from writing its index and from the network.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
];

/// Settings of the person's own configuration that are carried over: without them Git would see other changes than the
/// person does, or refuse a repository that the person trusts.
const CARRIED: &str = r"^(core\.(attributesfile|autocrlf|eol|excludesfile|filemode|ignorecase|quotepath|safecrlf|symlinks|trustctime)|safe\.directory|status\.showuntrackedfiles)$";

/// Where the person's own configuration is said to be, when it is not in its usual place.
const ELSEWHERE: &[&str] = &["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// The files that pass through a filter: those whose attribute is neither missing nor turned off.
pub(super) const FILTERED: &[&str] = &[
    "ls-files",
    "-z",
    "--full-name",
    "--",
    ":(top)",
    ":(exclude,top,attr:!filter)",
    ":(exclude,top,attr:-filter)",
];

/// How the entry of another repository begins in the index.
const NESTED: &str = "160000 ";

/// Settings by name, in order.
pub(super) type Settings = Vec<(String, String)>;

/// Git in one folder.
pub(super) struct Git<'a> {
    program: &'a Path,
    pub(super) folder: PathBuf,
    host: &'a Host,
    ctx: &'a ToolCtx,
    limits: Limits,
    /// What is added to the configuration of the repository.
    pub(super) settings: Settings,
}

/// What one run of Git may take.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) ms_max: u64,
    /// Bytes of what it prints.
    pub(super) bytes_max: usize,
}

/// What Git printed, and whether it succeeded.
pub(super) struct Printed {
    pub(super) out: Captured,
    pub(super) said: String,
    pub(super) is_ok: bool,
}

impl<'a> Git<'a> {
    /// Git in a folder, with what is carried over of the person's own configuration. Finding that out runs nothing.
    pub(super) async fn new(
        program: &'a Path,
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
        // Git fails where there is no such setting.
        let entries = if printed.is_ok { git.whole(&printed)? } else { String::new() };
        git.settings = carried(&entries);
        Ok(git)
    }

    /// Runs Git, which runs nothing else.
    pub(super) async fn run(&self, args: &[&str]) -> Result<Printed, ToolError> {
        let mut env = self.surroundings();
        keep_quiet(&mut env, &self.settings);
        self.start(args, env).await
    }

    /// Whether other repositories are part of this one.
    pub(super) async fn has_nested(&self) -> Result<bool, ToolError> {
        let printed = self.run(&["ls-files", "--stage", "-z", "--", ":(top)"]).await?;
        Ok(printed.is_ok && self.whole(&printed)?.split('\0').any(|entry| entry.starts_with(NESTED)))
    }

    /// All of what Git printed, as text.
    pub(super) fn whole(&self, printed: &Printed) -> Result<String, ToolError> {
        let whole = printed.out.whole().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        whole.ok_or_else(|| ToolError::unfit(&self.folder, "what Git says about it is too long"))
    }

    fn surroundings(&self) -> Environment {
        env::for_task(self.host.env(), &self.ctx.surroundings, Programs::System)
    }

    async fn start(&self, args: &[&str], mut env: Environment) -> Result<Printed, ToolError> {
        // Its messages are looked at.
        env.insert("LC_ALL".into(), "C".into());
        // Replacements show another history than the one that is kept.
        env.insert("GIT_NO_REPLACE_OBJECTS".into(), "1".into());
        let job = Job {
            program: self.program.to_path_buf(),
            args: args.iter().map(OsString::from).collect(),
            cwd: self.folder.clone(),
            env,
            ms_max: self.limits.ms_max,
            output_bytes_max: self.limits.bytes_max,
            is_bounded: true,
        };
        let failed = |source| ToolError::file("start", self.program, source);
        let ended = process::run(job, self.host, &self.ctx.cancel).await.map_err(failed)?;
        let is_ok = match ended.ending {
            Ending::Exit(code) => code == 0,
            Ending::Signal(_) => false,
            Ending::TimedOut => return Err(ToolError::TimedOut { ms: self.limits.ms_max }),
            Ending::Cancelled => return Err(ToolError::Cancelled),
        };
        let said = clip(ended.stderr.text(4_096).trim(), SAID_CHARS_MAX);
        Ok(Printed { out: ended.stdout, said, is_ok })
    }
}

/// Why Git may not look into a folder, if it may not. Git opens files of a repository by itself and prints what it does
/// not understand in them, so that a link among them would show any file.
///
/// # Errors
/// If the repository's own folder belongs to Setpoint.
pub(super) fn obstacle(folder: &Path, halt: &Halt) -> Result<Option<String>, ToolError> {
    let Ok(real) = std::fs::canonicalize(folder) else { return Ok(None) };
    // Git goes on upwards from a folder that it does not take for a repository.
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
    let bounds = Bounds { entries_max: ENTRIES_MAX, ..Bounds::new(&crate::tool::Limits::default()) };
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

/// Whether Git prints nothing of what is in this folder of a repository: objects are compressed, and the others are read
/// for submodules and by other programs.
fn is_unread(inside: &Path) -> bool {
    let mut parts = inside.iter();
    let (first, second) = (parts.next(), parts.next());
    match first.and_then(|name| name.to_str()) {
        Some("objects") => second.is_some_and(|name| name != "info"),
        Some("modules" | "lfs" | "annex") => true,
        _ => false,
    }
}

/// The folder that a file such as `commondir` names.
fn pointer(path: &Path, halt: &Halt) -> Option<PathBuf> {
    let mut text = String::new();
    open::regular(path, halt).ok()?.take(POINTER_BYTES_MAX).read_to_string(&mut text).ok()?;
    let to = text.trim_end_matches('\n');
    Some(PathBuf::from(to.strip_prefix("gitdir: ").unwrap_or(to)))
}

/// Adds to an environment what keeps Git from running anything, and these settings.
pub(super) fn keep_quiet(env: &mut Environment, settings: &Settings) {
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

/// What is carried over, of a list of scopes and settings: what the person's own configuration says and the repository's
/// does not, because settings that we add take precedence over both.
fn carried(list: &str) -> Settings {
    let (mut settings, mut of_repository) = (Settings::new(), BTreeSet::new());
    let mut parts = list.split('\0');
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        let (name, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        if matches!(scope, "system" | "global") {
            settings.push((name.to_owned(), value.to_owned()));
        } else if name != "safe.directory" {
            // A repository cannot make itself trusted, nor distrusted.
            of_repository.insert(name);
        }
    }
    settings.retain(|(name, _)| !of_repository.contains(name.as_str()));
    settings
}
