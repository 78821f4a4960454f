//! The environment of programs: what they need to work, and nothing that they could leak or be hijacked by.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use setpoint_protocol::record::Surroundings;

use super::time_zone;

/// Variables that are passed on unchanged, except a `TZ` that is not a time zone. `XDG_RUNTIME_DIR` is excluded: it
/// contains the sockets of agents and session services, which hold keys and start processes outside the call.
const PASSED: &[&str] = &[
    "CARGO_HOME",
    "CONDA_PREFIX",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NVM_DIR",
    "PATH",
    "PNPM_HOME",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// Variables that are passed on unless they contain credentials: `user:password@`.
const PASSED_WITHOUT_CREDENTIALS: &[&str] = &[
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Variables that every program gets: no colours, no pager, no prompt.
const FIXED: &[(&str, &str)] = &[
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("TERM", "dumb"),
];

/// Variables that make a shell, the linker or Git run something; never taken from the surroundings.
const LEADING: &[&str] = &["ENV", "IFS", "PROMPT_COMMAND", "PS4", "SHELLOPTS"];

/// Prefixes of such variables.
const LEADING_PREFIXES: &[&str] = &["BASH", "DYLD_", "GIT_", "LD_", "SETPOINT_"];

/// Folders of the system's programs, even if a task works in one of them.
const SYSTEM_FOLDERS: &[&str] = &[
    "/bin",
    "/opt/homebrew/bin",
    "/opt/homebrew/sbin",
    "/sbin",
    "/usr/bin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/sbin",
];

pub(crate) type Environment = BTreeMap<OsString, OsString>;

/// Selects what programs may see of this process's environment.
#[must_use]
pub(crate) fn inherited(all: impl IntoIterator<Item = (OsString, OsString)>) -> Environment {
    let may_pass = |name: &OsStr, value: &OsStr| {
        let name = name.to_string_lossy();
        if name == "TZ" && !time_zone::is_time_zone(value) {
            return false;
        }
        if name == "LC_ALL" || name.starts_with("LC_") || PASSED.contains(&name.as_ref()) {
            return true;
        }
        PASSED_WITHOUT_CREDENTIALS.contains(&name.as_ref()) && !value.to_string_lossy().contains('@')
    };
    all.into_iter().filter(|(name, value)| may_pass(name, value)).collect()
}

/// Whether programs in the task's own folders may be found by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Programs {
    /// No: a command that runs without a question must use the system's programs.
    #[default]
    System,
    /// Yes, if no other program has the name: a person allowed the command.
    TaskToo,
}

/// Returns the environment of a task's programs: the inherited variables, overridden by the task's own and by those
/// that every program gets.
#[must_use]
pub(crate) fn for_task(
    inherited: &Environment,
    surroundings: &Surroundings,
    programs: Programs,
) -> Environment {
    let mut env = inherited.clone();
    env.extend(task_variables(surroundings).map(|(name, value)| (name.into(), value.into())));
    if let Some(path) = env.get(OsStr::new("PATH")).cloned() {
        env.insert("PATH".into(), search_path(&path, surroundings, programs));
    }
    env.insert("HOME".into(), (&surroundings.home).into());
    env.extend(fixed().map(|(name, value)| (name.into(), value.into())));
    env
}

/// Returns the variables of [`for_task`] with [`Programs::System`] that the reading of a command may rely on. A pure
/// function of the surroundings, so it excludes inherited variables.
#[must_use]
pub(crate) fn known_for_task(surroundings: &Surroundings) -> BTreeMap<String, String> {
    let mut known: BTreeMap<String, String> =
        task_variables(surroundings).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    if let Some(path) = known.get("PATH") {
        let path = search_path(OsStr::new(path), surroundings, Programs::System);
        known.insert("PATH".to_owned(), path.to_string_lossy().into_owned());
    }
    known.insert("HOME".to_owned(), surroundings.home.clone());
    known.extend(fixed().map(|(name, value)| (name.to_owned(), value.to_owned())));
    known
}

/// Returns the task's own variables, without those that make programs run something.
fn task_variables(surroundings: &Surroundings) -> impl Iterator<Item = (&str, &str)> {
    surroundings.vars.iter().map(|(name, value)| (name.as_str(), value.as_str())).filter(|(name, value)| {
        let leads = LEADING.contains(name) || LEADING_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        let leads = leads || (*name == "TZ" && !time_zone::is_time_zone(OsStr::new(value)));
        !leads && !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
    })
}

/// Returns the variables that every program gets.
pub(crate) fn fixed() -> impl Iterator<Item = (&'static str, &'static str)> {
    FIXED.iter().copied()
}

/// A program that the runtime may start itself, outside the sandbox: no task can have written it without a question.
#[derive(Clone, Debug)]
pub(crate) struct SystemProgram(PathBuf);

impl SystemProgram {
    /// Finds it by name in `PATH`. Entries that are relative, empty or in the task's folders do not count, nor links into
    /// those folders.
    #[must_use]
    pub(crate) fn find(name: &str, inherited: &Environment, surroundings: &Surroundings) -> Option<Self> {
        Self::find_where(name, inherited, surroundings, |_, _| true)
    }

    /// Like [`SystemProgram::find`], for the first one that is accepted, given with the task's folders.
    #[must_use]
    pub(crate) fn find_where(
        name: &str,
        inherited: &Environment,
        surroundings: &Surroundings,
        accepts: impl Fn(&Path, &[PathBuf]) -> bool,
    ) -> Option<Self> {
        let env = for_task(inherited, surroundings, Programs::System);
        let own = [&surroundings.cwd, &surroundings.workspace].map(|folder| real(Path::new(folder)));
        // Creating something needs consent where the working directory holds a system folder.
        let holds_system =
            |folder: &PathBuf| SYSTEM_FOLDERS.iter().any(|system| Path::new(system).starts_with(folder));
        let own: Vec<PathBuf> =
            own.into_iter().filter(|folder| folder.is_absolute() && !holds_system(folder)).collect();
        let is_own = |file: &PathBuf| own.iter().any(|folder| real(file).starts_with(folder));
        programs_named(name, &env).find(|file| !is_own(file) && accepts(file, &own)).map(SystemProgram)
    }

    /// Returns its absolute path.
    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// Returns the program of this name in `PATH`, whose relative and empty entries do not count: they mean another folder
/// for each call.
#[must_use]
pub(crate) fn find_program(name: &str, env: &Environment) -> Option<PathBuf> {
    programs_named(name, env).next()
}

fn programs_named(name: &str, env: &Environment) -> impl Iterator<Item = PathBuf> {
    let folders = env.get(OsStr::new("PATH")).into_iter().flat_map(std::env::split_paths);
    folders
        .filter(|folder| folder.is_absolute())
        .map(move |folder| folder.join(name))
        .filter(|file| is_program(file))
}

/// Returns a path without links; as it is if nothing is there.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Returns `PATH` without its empty and relative entries. Entries in the task's own folders are moved to the end or
/// removed.
pub(crate) fn search_path(path: &OsStr, surroundings: &Surroundings, programs: Programs) -> OsString {
    let is_task_own = |folder: &PathBuf| {
        let inside = |base: &str| !base.is_empty() && folder.starts_with(base);
        let is_system = SYSTEM_FOLDERS.iter().any(|system| folder == Path::new(system));
        !is_system && (inside(&surroundings.cwd) || inside(&surroundings.workspace))
    };
    let absolute = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let (own, mut folders): (Vec<PathBuf>, Vec<PathBuf>) = absolute.partition(is_task_own);
    if programs == Programs::TaskToo {
        folders.extend(own);
    }
    std::env::join_paths(folders).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn secrets_and_leading_variables_are_not_inherited() {
        let all = env(&[
            ("PATH", "/bin:.::relative:/usr/bin"),
            ("LC_CTYPE", "C.UTF-8"),
            ("OPENAI_API_KEY", "sk-1"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("BASH_ENV", "/tmp/evil"),
            ("BASH_FUNC_ls%%", "() { rm; }"),
            ("LD_PRELOAD", "/tmp/evil.so"),
            ("GIT_DIR", "/tmp"),
            ("https_proxy", "http://me:secret@proxy:3128"),
            ("http_proxy", "http://proxy:3128"),
            ("TZ", "/dev/zero"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("XDG_RUNTIME_DIR", "/run/user/1000"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
        ]);
        let kept = inherited(all);
        assert_eq!(
            kept,
            env(&[
                ("LC_CTYPE", "C.UTF-8"),
                ("PATH", "/bin:.::relative:/usr/bin"),
                ("http_proxy", "http://proxy:3128")
            ])
        );
    }

    fn surroundings() -> Surroundings {
        Surroundings {
            cwd: "/project".to_owned(),
            home: "/h".to_owned(),
            workspace: "/space".to_owned(),
            vars: [
                ("OUT", "/out"),
                ("BASH_ENV", "/evil"),
                ("ENV", "/evil"),
                ("ENVIRONMENT", "test"),
                ("LD_PRELOAD", "x"),
                ("PATH", ".:/project/.venv/bin:/bin::/space/bin"),
                ("TERM", "xterm"),
                ("TZ", "/dev/zero"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            ..Surroundings::default()
        }
    }

    #[test]
    fn a_task_sets_its_variables_but_no_leading_ones() {
        let inherited = env(&[("PATH", "/usr/bin"), ("LANG", "C")]);
        let env = for_task(&inherited, &surroundings(), Programs::System);
        let get = |name: &str| env.get(OsStr::new(name)).and_then(|value| value.to_str());
        assert_eq!(get("OUT"), Some("/out"));
        assert_eq!(get("ENVIRONMENT"), Some("test"));
        assert_eq!(get("HOME"), Some("/h"));
        assert_eq!(get("PATH"), Some("/bin"));
        assert_eq!(get("TERM"), Some("dumb"));
        assert_eq!(get("LANG"), Some("C"));
        assert_eq!((get("BASH_ENV"), get("ENV"), get("LD_PRELOAD"), get("TZ")), (None, None, None, None));
    }

    #[test]
    fn the_tasks_own_programs_come_last() {
        let path = |programs| {
            let env = for_task(&Environment::new(), &surroundings(), programs);
            env.get(OsStr::new("PATH")).unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(path(Programs::System), "/bin");
        assert_eq!(path(Programs::TaskToo), "/bin:/project/.venv/bin:/space/bin");
        let inside = Surroundings { cwd: "/usr".to_owned(), ..surroundings() };
        let inherited = env(&[("PATH", "/usr/bin:/usr/games")]);
        let vars = BTreeMap::new();
        let env = for_task(&inherited, &Surroundings { vars, ..inside }, Programs::System);
        assert_eq!(env.get(OsStr::new("PATH")).unwrap(), "/usr/bin");
    }

    #[test]
    fn known_variables_equal_the_given_ones() {
        let given = for_task(&Environment::new(), &surroundings(), Programs::System);
        let known: Environment = known_for_task(&surroundings())
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        assert_eq!(known, given);
    }

    #[test]
    fn only_executable_programs_are_found_in_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("text"), "").unwrap();
        let path = format!("{}:/bin:/usr/bin", folder.path().display());
        let env = env(&[("PATH", &path)]);
        assert!(find_program("sh", &env).is_some());
        assert_eq!(find_program("text", &env), None);
    }
}
