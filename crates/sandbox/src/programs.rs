//! Where the programs of a machine are, outside of the system's own folders.
//!
//! Compilers and interpreters are often installed below the home folder. A sandboxed program may read those, and what
//! they need beside the programs themselves, but not the home folder, nor the keys that lie between them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders that every sandbox has anyway.
const OF_THE_SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix/store"];
/// Folders below the home folder in which tools install programs and what those load.
const OF_A_HOME: &[&str] = &[
    ".bun",
    ".cargo",
    ".deno",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/uv",
    ".local/share/virtualenvs",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    ".m2/repository",
    "go",
];
/// Variables that name such a folder.
pub const VARIABLES: &[&str] = &[
    "CARGO_HOME",
    "CONDA_PREFIX",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];
/// Files with keys that lie in such folders.
const KEYS: &[&str] = &["credentials", "credentials.toml", ".npmrc", "auth.json"];
/// Names of folders that hold programs, beside which is what they load.
const PROGRAMS: &[&str] = &["bin", "sbin", "shims", "condabin"];

/// The folders to show, and the files in them to hide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramFolders {
    /// Folders with programs, none below another.
    pub readable: Vec<PathBuf>,
    /// Files with keys below those.
    pub hidden: Vec<PathBuf>,
}

/// Returns the folders that contain programs: those on the search path, those in `named` (the values of [`VARIABLES`]), and
/// the usual ones below `home`. Whether they exist is not looked at: the caller leaves out those that do not.
#[must_use]
pub fn program_folders(search_path: &[PathBuf], named: &[PathBuf], home: &Path) -> ProgramFolders {
    let searched = search_path.iter().map(|folder| with_what_it_loads(folder, home));
    let own = OF_A_HOME.iter().map(|name| home.join(name));
    let is_fit = |folder: &PathBuf| {
        // A folder that contains the home folder would show all of it.
        folder.is_absolute() && folder.parent().is_some() && !home.starts_with(folder)
    };
    let is_system = |folder: &PathBuf| OF_THE_SYSTEM.iter().any(|system| folder.starts_with(system));
    let all: BTreeSet<PathBuf> = searched
        .chain(named.iter().cloned())
        .chain(own)
        .filter(|one| is_fit(one) && !is_system(one))
        .collect();
    let is_outermost = |folder: &&PathBuf| !folder.ancestors().skip(1).any(|above| all.contains(above));
    let readable: Vec<PathBuf> = all.iter().filter(is_outermost).cloned().collect();
    let hidden = readable.iter().flat_map(|folder| KEYS.iter().map(|name| folder.join(name))).collect();
    ProgramFolders { readable, hidden }
}

/// Returns the folder that contains a folder of programs, if that is what it looks like.
fn with_what_it_loads(folder: &Path, home: &Path) -> PathBuf {
    let holds_programs = folder.file_name().is_some_and(|name| PROGRAMS.iter().any(|one| name == *one));
    match folder.parent() {
        // `~/.local` holds more than programs, and so may a folder of the home folder itself.
        Some(parent) if holds_programs && parent != home && parent != home.join(".local") => {
            parent.to_path_buf()
        }
        _ => folder.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readable(search_path: &[&str], named: &[&str]) -> Vec<String> {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let found = program_folders(&paths(search_path), &paths(named), Path::new("/home/ada"));
        let shown = found.readable.iter().map(|path| path.to_string_lossy().into_owned());
        let own: Vec<String> = OF_A_HOME.iter().map(|name| format!("/home/ada/{name}")).collect();
        shown.filter(|path| !own.contains(path)).collect()
    }

    #[test]
    fn programs_come_with_what_they_load() {
        let found = readable(
            &["/usr/bin", "/home/ada/.nvm/versions/node/v22/bin", "/srv/tool/bin", "/srv/loose", "bin"],
            &["/srv/java/21"],
        );
        assert_eq!(found, ["/srv/java/21", "/srv/loose", "/srv/tool"]);
    }

    #[test]
    fn the_home_folder_is_never_shown_as_a_whole() {
        assert_eq!(
            readable(&["/home/ada/bin", "/home/ada", "/home", "/", "/bin"], &["/home/ada"]),
            ["/home/ada/bin"]
        );
    }

    #[test]
    fn keys_between_programs_are_hidden() {
        let found = program_folders(&[], &[], Path::new("/home/ada"));
        assert!(found.hidden.contains(&PathBuf::from("/home/ada/.cargo/credentials.toml")));
    }
}
