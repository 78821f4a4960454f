//! Where a task may create files without consent: anywhere in its workspace, and in the working directory unless
//! another program obeys the file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::git_files::GitFiles;
use super::named::Places;
use super::resolve::Way;
use super::starters::Starters;
use super::{Plan, Touch, ordinary, outputs, resolve, start_up, watched};
use crate::caches;
use crate::halt::Halt;
use crate::servers::ServedFiles;
use crate::tool::ToolCtx;
use crate::walk::measure::{Bounds, Step, walk};

/// System folders, where creating needs consent even if one is the working directory.
const SYSTEM: &[&str] = &[
    "/Library",
    "/System",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var/cron",
    "/var/spool",
];

/// Other folders whose programs and libraries are used by name.
const INSTALLED: &[&str] = &["/nix", "/opt", "/snap"];

/// What makes a file in a folder of `PATH` one that other programs obey.
const RUN_BY_NAME: &str = "programs in that folder are run by their name";
/// What makes a file of a virtual environment one that other programs obey.
const OF_ENVIRONMENT: &str = "editors and shells run the programs of a virtual environment by themselves";
/// What makes a link or a folder one that leads to such programs.
const LEADS_TO_PROGRAMS: &str =
    "a folder of PATH, in which programs are run by their name, is reached through it";
/// What makes a file of the working directory one that a person's sessions obey.
const OF_SESSIONS: &str =
    "a start-up file or another hidden entry of the home directory, or a program of PATH, leads to it";

#[derive(Clone, Debug)]
pub(super) struct Ground {
    cwd: PathBuf,
    /// Why creating in the working directory always needs consent, if it does.
    closed: Option<&'static str>,
    home: PathBuf,
    /// The folders of `PATH`, and those that a session will add to it.
    search_path: Vec<Way>,
    /// Files and folders of the home folder that a session obeys as it starts.
    start_up: Places,
    /// What those and programs of `PATH` lead to. Looked for when it is needed.
    led_to: Arc<OnceLock<Places>>,
    served: ServedFiles,
    git: GitFiles,
    starters: Starters,
}

impl Ground {
    pub(super) fn new(ctx: &ToolCtx) -> Self {
        let surroundings = ctx.place().surroundings;
        let cwd = resolve::fully(&surroundings.cwd);
        let closed = closed(&cwd, &resolve::fully(&surroundings.home));
        let home = resolve::fully(&surroundings.home);
        let search_path = start_up::search_path(&ctx.search_path, &cwd, &home);
        let start_up = start_up::files(&home);
        let (git, starters) = (GitFiles::new(&cwd, &home), Starters::new(&cwd, &home));
        let (led_to, served) = (Arc::default(), ctx.served.clone());
        Ground { cwd, closed, home, search_path, start_up, led_to, served, git, starters }
    }

    /// Returns whether a path is below the working directory.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.below(path).is_some()
    }

    /// Returns why other programs would obey a new `path` in the working directory, or `None`.
    pub(super) fn creating(&self, path: &Path, plan: &Plan) -> Option<&'static str> {
        let below = self.below(path)?;
        let planned = plan.touches.iter().map(|touch| touch.path.as_path());
        let is_new_folder = plan.touches.iter().any(|touch| touch.path == path && touch.is_new_folder());
        let mut same = plan.touches.iter().filter(|touch| touch.path == path).peekable();
        let is_plain = same.peek().is_some() && same.all(|touch| touch.is_plain);
        let by_name = || {
            watched::reason_unless(
                below,
                self.is_ordinary(path, is_plain, |folder| makes_cache(folder, plan)),
            )
        };
        let why = self.closed.or_else(by_name).or_else(|| self.program(path));
        let why = why.or_else(|| if is_new_folder { None } else { self.leads(path) });
        let why = why.or_else(|| self.named(path));
        let why = why.or_else(|| is_new_mark(path, plan).then_some("it would mark the folder as a cache"));
        why.or_else(|| watched::repository(&self.cwd, path, planned))
    }

    /// Returns why creating `path` in the workspace needs consent, or `None`: commands run there too, and Git searches
    /// it.
    pub(super) fn creating_in(&self, workspace: &Path, path: &Path, plan: &Plan) -> Option<&'static str> {
        let planned = plan.touches.iter().map(|touch| touch.path.as_path());
        watched::repository(workspace, path, planned)
    }

    /// Returns why changing `path`, which the task created outside its workspace, still needs consent: other programs
    /// obey the file, and the consent covered its earlier content. `is_plain` is about the new one ([`Touch::is_plain`]).
    pub(super) fn changing(&self, path: &Path, is_plain: bool) -> Option<&'static str> {
        let below = self.below(path).or_else(|| path.strip_prefix("/").ok());
        let by_name = |below| watched::reason_unless(below, self.is_ordinary(path, is_plain, |_| false));
        let why = below.and_then(by_name).or_else(|| self.program(path)).or_else(|| self.leads(path));
        why.or_else(|| self.named(path))
    }

    /// Returns whether what is there already may be changed, or deleted, without consent if it is kept for an undo: it is
    /// in the working directory, and no other program obeys it or anything below it.
    pub(super) fn is_open_to(&self, touch: &Touch, plan: &Plan) -> bool {
        if !self.has(&touch.path) || self.creating(&touch.path, plan).is_some() {
            return false;
        }
        if !touch.is_recursive || !touch.path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            return true;
        }
        let all = walk(&touch.path, Bounds::new(&Halt::default()), &Halt::default(), |entry| {
            if self.creating(entry.path, plan).is_some() { Step::End } else { Step::On }
        });
        all.is_ok_and(|tally| tally.complete && tally.unreadable == 0)
    }

    /// Returns whether what is changed acts outside the sandbox by itself: programs and libraries that are used by name,
    /// and what a session obeys as it starts. Programs of the working directory do not.
    pub(super) fn acts_outside(&self, touch: &Touch) -> bool {
        let path = &touch.path;
        // A new folder around them changes nothing.
        let is_around = |way: &Way| !touch.is_new_folder() && way.is_led_by(path);
        let is_system = |folder: &&&str| {
            path.starts_with(folder) && !(self.cwd.starts_with(folder) && path.starts_with(&self.cwd))
        };
        let holds = |folder: &Way| is_around(folder) || path.parent() == Some(&*folder.end);
        (SYSTEM.iter().chain(INSTALLED).any(|folder| is_system(&folder)) && !path.starts_with("/dev/shm"))
            || (!path.starts_with(&self.cwd) && self.search_path.iter().any(holds))
            || self.start_up.holds(path)
            || (!touch.is_new_folder() && self.start_up.has(path))
    }

    fn below<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(&self.cwd).ok().filter(|below| !below.as_os_str().is_empty())
    }

    /// Returns whether a path has a hidden name that needs no question here; `makes_cache` tells whether a folder is made as
    /// a cache meanwhile. Directly in the home folder such files are about all that the person does.
    fn is_ordinary(&self, path: &Path, is_plain: bool, makes_cache: impl Fn(&Path) -> bool) -> bool {
        let is_cache = |below: &Path| {
            let folder = self.cwd.join(below);
            caches::is_tagged(&folder) || makes_cache(&folder)
        };
        let has_name = |below: &Path| ordinary::is_one(below, is_plain) || outputs::is_one(below, is_cache);
        path.parent() != Some(&self.home)
            && self.below(path).is_some_and(has_name)
            && !self.starters.mention(path)
            && !self.git.mention(path)
    }

    fn program(&self, path: &Path) -> Option<&'static str> {
        let is_found =
            path.parent().is_some_and(|folder| self.search_path.iter().any(|found| found.end == folder));
        // `bin/python` of a virtual environment: an editor finds and runs it.
        let environment = path.parent().and_then(Path::parent).filter(|_| self.has(path));
        let is_of_environment = || environment.is_some_and(|folder| folder.join("pyvenv.cfg").is_file());
        if is_found { Some(RUN_BY_NAME) } else { is_of_environment().then_some(OF_ENVIRONMENT) }
    }

    /// Returns why something that acts by itself runs or reads what is at a path, as it names that.
    fn named(&self, path: &Path) -> Option<&'static str> {
        let why = self.served.reason(path).or_else(|| self.git.reason(path));
        why.or_else(|| self.starters.reason(path))
    }

    /// Returns why what is at a path of the working directory leads to programs or to start-up files, or is one.
    fn leads(&self, path: &Path) -> Option<&'static str> {
        self.below(path)?;
        if self.search_path.iter().any(|folder| folder.is_led_by(path)) {
            return Some(LEADS_TO_PROGRAMS);
        }
        let led_to =
            || self.led_to.get_or_init(|| start_up::led_to(&self.cwd, &self.home, &self.search_path));
        (self.start_up.has(path) || led_to().has(path)).then_some(OF_SESSIONS)
    }
}

/// Returns why other programs obey what is at a path, by its name and place alone.
pub(crate) fn obeyed(path: &Path, cwd: &Path) -> Option<&'static str> {
    let below = path.strip_prefix(cwd).or_else(|_| path.strip_prefix("/")).ok()?;
    let is_searched = |list: OsString| {
        std::env::split_paths(&list).any(|folder| path.parent() == Some(&resolve::fully(&cwd.join(folder))))
    };
    let is_program = || std::env::var_os("PATH").is_some_and(is_searched);
    let is_system = || SYSTEM.iter().any(|folder| path.starts_with(folder));
    watched::reason(below)
        .or_else(|| is_program().then_some(RUN_BY_NAME))
        .or_else(|| is_system().then_some("it is in a folder of the system"))
}

/// Returns whether a path is the mark of a cache in a folder that is there already. What is in a marked folder may be
/// changed without consent.
fn is_new_mark(path: &Path, plan: &Plan) -> bool {
    let is_mark = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(caches::TAG));
    let is_new = |folder: &Path| plan.touches.iter().any(|touch| !touch.is_delete && touch.path == folder);
    is_mark && !path.parent().is_some_and(|folder| is_new(folder) && folder.symlink_metadata().is_err())
}

/// Returns whether a plan makes a folder that is marked as a cache.
fn makes_cache(folder: &Path, plan: &Plan) -> bool {
    let mark = folder.join(caches::TAG);
    // By its bytes: this is asked for each of thousands of outputs.
    let is_mark = |touch: &Touch| !touch.is_delete && touch.path.as_os_str() == mark.as_os_str();
    plan.touches.iter().any(is_mark) && !is_new_mark(&mark, plan)
}

/// Returns why a cache would no longer be one: what was written in it meanwhile was not watched, and nothing of it is kept.
pub(super) fn unmarks(path: &Path, plan: &Plan, is_there: bool) -> Option<&'static str> {
    let is_mark = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(caches::TAG));
    let goes_as_well =
        |folder: &Path| plan.touches.iter().any(|touch| touch.is_delete && folder.starts_with(&touch.path));
    let stays = path.parent().is_some_and(|folder| !goes_as_well(folder));
    (is_mark && is_there && stays)
        .then_some("the folder would no longer be marked as a cache, and what is in it was not watched")
}

fn closed(cwd: &Path, home: &Path) -> Option<&'static str> {
    if cwd.parent().is_none() {
        return Some("the working directory is the whole file system");
    }
    if home.starts_with(cwd) && home != cwd {
        return Some("the working directory holds the home directory");
    }
    let is_hidden = |path: &Path| path.components().any(|part| watched::is_hidden(part.as_os_str()));
    if home.parent().is_some() && cwd.strip_prefix(home).is_ok_and(is_hidden) {
        return Some("the working directory is in a hidden folder of the home directory");
    }
    let temporary = [std::env::temp_dir(), PathBuf::from("/dev/shm")].map(|folder| resolve::fully(&folder));
    // A home folder may be inside a system folder, such as `/usr/home`.
    let mut exempt =
        temporary.iter().map(PathBuf::as_path).chain([home]).filter(|folder| folder.parent().is_some());
    if !exempt.any(|folder| cwd.starts_with(folder)) && SYSTEM.iter().any(|folder| cwd.starts_with(folder)) {
        return Some("the working directory is a folder of the system");
    }
    let is_git = |folder: &Path| {
        folder.file_name().is_some_and(|name| name == ".git") || watched::is_repository(folder)
    };
    cwd.ancestors().any(is_git).then_some("the working directory is in a Git repository's own folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_working_directories_always_need_consent() {
        let home = Path::new("/people/ada");
        for cwd in [
            "/",
            "/people",
            "/etc",
            "/usr/local/bin",
            "/dev",
            "/people/ada/.ssh",
            "/people/ada/.config/x",
            "/srv/.git/hooks",
        ] {
            assert!(closed(Path::new(cwd), home).is_some(), "{cwd}");
        }
        for cwd in [
            "/people/ada",
            "/people/ada/work",
            "/srv/work",
            "/usrlocal",
            "/people/ada2/.x",
            "/opt/x",
            "/dev/shm/x",
        ] {
            assert_eq!(closed(Path::new(cwd), home), None, "{cwd}");
        }
    }
}
