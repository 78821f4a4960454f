//! Checks where the paths of a read-only command lead, right before it runs. The inside of processes, devices and programs
//! that tasks wrote need consent; Setpoint's own house is refused.

use std::fs::Metadata;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use setpoint_command_line::{ReadTarget, Search, Walk};

use super::{is_below_one, matching};
use crate::approval::resolve;
use crate::error::ToolError;
use crate::halt::Halt;
use crate::process::script;
use crate::show;
use crate::tool::ToolCtx;
use crate::undo::Written;
use crate::walk::measure::{Bounds, Step, walk};

/// Maximum entries that are searched for links below a directory if the program follows its links.
const LINKS_ENTRIES_MAX: usize = 50_000;
/// System directories, whose programs do not count as the task's own even if a task works there.
const SYSTEM: &[&str] = &["/bin", "/sbin", "/usr", "/opt", "/nix"];

/// Why a command with a read-only text needs consent.
#[derive(Debug, thiserror::Error)]
pub(super) enum Reason {
    #[error("{path} leads to {place}, which shows the inside of processes or devices")]
    Inside { path: String, place: String },
    #[error("{path} is a device or a socket")]
    Special { path: String },
    #[error("there are too many names to look at below {path}")]
    TooMany { path: String },
    #[error("{program} is a program of the working directory")]
    OwnProgram { program: String },
    #[error("{program} was written by a task, so what it does is not known")]
    Written { program: String },
    #[error("{program} is a script, which may run whatever it finds in the working directory")]
    Script { program: String },
}

/// The folders of a task's own programs and of the person's.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    folders: Vec<PathBuf>,
    home: Option<PathBuf>,
    written: Written,
}

impl Ground {
    pub(super) fn new(ctx: &ToolCtx) -> Self {
        let folders = [&ctx.surroundings.cwd, &ctx.surroundings.workspace];
        let real = folders.into_iter().filter(|folder| !folder.is_empty()).filter_map(|folder| {
            let real = std::fs::canonicalize(folder).ok()?;
            (real.parent().is_some() && !SYSTEM.iter().any(|system| real.starts_with(system))).then_some(real)
        });
        let home = std::fs::canonicalize(&ctx.surroundings.home).ok().filter(|home| home.parent().is_some());
        Ground { folders: real.collect(), home, written: ctx.written() }
    }
}

/// Returns why a program that was found by name needs consent, or `None`.
pub(super) fn programs(found: &[PathBuf], ground: &Ground) -> Option<Reason> {
    found.iter().find_map(|path| {
        let program = show::path(path);
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if is_below_one(&real, &ground.folders) || is_below_one(path, &ground.folders) {
            return Some(Reason::OwnProgram { program });
        }
        if ground.written.has(path) {
            return Some(Reason::Written { program });
        }
        let is_script = script::may_run_from(path, &ground.folders, ground.home.as_deref());
        is_script.then_some(Reason::Script { program })
    })
}

/// Returns why reading these paths needs consent, or `None`.
///
/// # Errors
/// If it would enter Setpoint's own house.
pub(super) fn reads(reads: &[ReadTarget], cwd: &Path, halt: &Halt) -> Result<Option<Reason>, ToolError> {
    // A program may list its working directory without naming it.
    if let Some(reason) = one(cwd, Walk::No, halt)? {
        return Ok(Some(reason));
    }
    for read in reads {
        let paths = match &read.literal {
            // `-` is standard input; `/dev/null` is empty.
            Some(path) if path == "-" || path == "/dev/null" || path.is_empty() => continue,
            Some(path) => vec![cwd.join(path)],
            None => match matching::paths(&read.pattern, cwd, halt) {
                Some(paths) => paths,
                None => return Ok(Some(Reason::TooMany { path: read.pattern.clone() })),
            },
        };
        for path in paths {
            if let Some(reason) = one(&path, read.walk, halt)? {
                return Ok(Some(reason));
            }
        }
    }
    Ok(None)
}

fn one(path: &Path, walk: Walk, halt: &Halt) -> Result<Option<Reason>, ToolError> {
    halt.rooms().check(path)?;
    // The kernel resolves `/proc/self` per process, so what the command would find cannot be determined here.
    if resolve::leads_over(path, is_inside) {
        return Ok(Some(Reason::Inside { path: show::path(path), place: "/proc or /dev".to_owned() }));
    }
    // A path that does not exist is not read; the program reports it.
    let Ok(real) = std::fs::canonicalize(path) else { return Ok(None) };
    let Ok(meta) = std::fs::metadata(&real) else { return Ok(None) };
    if is_special(&meta) {
        return Ok(Some(Reason::Special { path: show::path(path) }));
    }
    if !meta.is_dir() || walk == Walk::No {
        return Ok(None);
    }
    // The program's own searches do not enter what they exclude.
    if walk != Walk::Searched && halt.rooms().is_below(&real) {
        return Err(ToolError::HouseBelow { path: show::path(&real) });
    }
    if walk != Walk::Names && has_inside_below(&real) {
        return Ok(Some(Reason::Inside { path: show::path(path), place: "/proc or /dev".to_owned() }));
    }
    if walk == Walk::ThroughLinks { links_below(&real, halt) } else { Ok(None) }
}

fn is_special(meta: &Metadata) -> bool {
    let kind = meta.file_type();
    kind.is_char_device() || kind.is_block_device() || kind.is_socket()
}

/// Returns whether a real path is in `/proc`, `/dev` or another mount of such a file system.
fn is_inside(real: &Path) -> bool {
    // Files in `/dev/shm` are ordinary files.
    let is_device = real.starts_with("/dev") && !real.starts_with("/dev/shm");
    real.starts_with("/proc") || is_device || is_process_system(real)
}

#[cfg(target_os = "linux")]
fn is_process_system(real: &Path) -> bool {
    rustix::fs::statfs(real).is_ok_and(|found| found.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(not(target_os = "linux"))]
fn is_process_system(_real: &Path) -> bool {
    false
}

/// Returns whether `/proc`, `/dev` or another mount of such a file system is below the path.
fn has_inside_below(real: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let is_inside = |line: &str| {
        let mut fields = line.split(' ').skip(1);
        let (place, kind) = (fields.next()?, fields.next()?);
        (matches!(kind, "proc" | "devtmpfs" | "devpts") && Path::new(place).starts_with(real)).then_some(())
    };
    Path::new("/proc").starts_with(real)
        || Path::new("/dev").starts_with(real)
        || mounts.lines().find_map(is_inside).is_some()
}

/// Returns why reading the targets of links below a directory needs consent, or `None`.
fn links_below(real: &Path, halt: &Halt) -> Result<Option<Reason>, ToolError> {
    let bounds = Bounds { entries_max: LINKS_ENTRIES_MAX, ..Bounds::new(halt) };
    let mut found: Result<Option<Reason>, ToolError> = Ok(None);
    let tally = walk(real, bounds, halt, |entry| {
        if !entry.meta.is_symlink() {
            return Step::On;
        }
        // A target directory may contain links again, so only a target that is not a directory can be checked.
        found = match std::fs::canonicalize(entry.path) {
            Ok(target) if target.starts_with(real) => Ok(None),
            Ok(target) if target.is_dir() => {
                Ok(Some(Reason::Inside { path: show::path(entry.path), place: show::path(&target) }))
            }
            Ok(_) => one(entry.path, Walk::No, halt),
            Err(_) => Ok(None),
        };
        if matches!(found, Ok(None)) { Step::On } else { Step::End }
    });
    let is_complete = tally.is_ok_and(|tally| tally.complete);
    match found {
        Ok(None) if !is_complete => Ok(Some(Reason::TooMany { path: show::path(real) })),
        found => found,
    }
}

/// Returns what each of the program's searches has to exclude: the house's folders below its start, in the form in
/// which the search names its results.
pub(super) fn left_out(searches: &[Search], cwd: &Path, halt: &Halt) -> Vec<Vec<String>> {
    let folders = halt.rooms().folders();
    let of = |search: &Search| -> Option<Vec<String>> {
        let real = std::fs::canonicalize(cwd.join(&search.start)).ok()?;
        let below = folders.iter().filter_map(|folder| folder.strip_prefix(&real).ok());
        let below = below.filter(|path| !path.as_os_str().is_empty()).filter_map(Path::to_str);
        Some(below.map(|path| format!("{}/{path}", search.start.trim_end_matches('/'))).collect())
    };
    searches.iter().map(|search| of(search).unwrap_or_default()).collect()
}
