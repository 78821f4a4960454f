//! Files of the working directory that a person's next session obeys: the start-up files of the home folder may be links
//! into it (as of one's own "dotfiles"), or name files there; and programs that are run by their names may lie there.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::named::{Meant, Places};
use super::resolve::{Way, way};
use super::starters::named_by;

/// Files of a home folder, and folders with such files, that shells and sessions obey as they start.
const START_UP: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".config/autostart",
    ".config/environment.d",
    ".config/fish",
    ".config/git",
    ".config/systemd",
    ".cshrc",
    ".gitconfig",
    ".kshrc",
    ".login",
    ".pam_environment",
    ".profile",
    ".ssh",
    ".tcshrc",
    ".xprofile",
    ".xsessionrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];
/// Folders of a home folder that the usual start-up files add to `PATH` as soon as they are there.
const ADDED_TO_PATH: &[&str] = &["bin", ".local/bin"];
/// The system's own folders of programs, whose many links lead to each other.
const OF_SYSTEM: &[&str] = &["/bin", "/sbin", "/usr/bin", "/usr/sbin"];

/// Levels of folders in which links are looked for: in the folders of [`START_UP`] and in `.config`, and in other hidden
/// folders of the home folder.
const LEVELS_OF_SETTINGS: usize = 3;
const LEVELS_OF_OTHERS: usize = 1;
/// Maximum entries that are looked at for links.
const ENTRIES_MAX: usize = 5_000;

/// Returns the folders in which programs are found by their names.
pub(super) fn search_path(folders: &[PathBuf], cwd: &Path, home: &Path) -> Vec<Way> {
    // A relative entry is below whatever folder a person is in: here the working directory.
    let named = folders.iter().map(|folder| cwd.join(folder));
    named.chain(ADDED_TO_PATH.iter().map(|name| home.join(name))).map(|folder| way(&folder)).collect()
}

/// Returns what a session obeys by its place in the home folder.
pub(super) fn files(home: &Path) -> Places {
    Places::new(START_UP.iter().map(|name| home.join(name)))
}

/// Returns the places of the working directory that hidden entries of the home folder and programs lead to, and that the
/// start-up files name.
pub(super) fn led_to(cwd: &Path, home: &Path, search_path: &[Way]) -> Places {
    let mut found = links(home, search_path);
    let files = START_UP.iter().map(|name| (Meant::Files, home.join(name)));
    found.extend(named_by(files.collect(), home, home));
    // What is around the working directory says nothing about a file of it.
    found.retain(|place| {
        let end = if place.is_dir() { way(place).end } else { return true };
        end == cwd || !cwd.starts_with(&end)
    });
    Places::new(found)
}

/// Returns the links among the programs and the hidden entries of the home folder.
fn links(home: &Path, search_path: &[Way]) -> Vec<PathBuf> {
    let searched = search_path.iter().map(|way| way.end.as_path());
    let searched = searched.filter(|folder| !OF_SYSTEM.iter().any(|system| *folder == Path::new(system)));
    let mut pending: VecDeque<(PathBuf, usize)> = searched.map(|folder| (folder.to_path_buf(), 0)).collect();
    pending.extend(START_UP.iter().map(|name| (home.join(name), LEVELS_OF_SETTINGS)));
    pending.push_back((home.join(".config"), LEVELS_OF_SETTINGS));
    pending.push_back((home.to_path_buf(), LEVELS_OF_OTHERS));
    let mut found = Vec::new();
    let mut seen = 0;
    while let Some((folder, levels)) = pending.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > ENTRIES_MAX {
                return found;
            }
            let is_hidden = || entry.file_name().to_string_lossy().starts_with('.');
            let Some(kind) = entry.file_type().ok().filter(|_| folder != home || is_hidden()) else {
                continue;
            };
            if kind.is_symlink() {
                found.push(entry.path());
            } else if kind.is_dir() && levels > 0 {
                pending.push_back((entry.path(), levels - 1));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_a_home_folder_leads_to_counts() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (home, cwd) = (base.join("home"), base.join("home/dots"));
        for dir in [".config/systemd/user", ".ssh", "bin", "tools", ".a/b", ".vim"] {
            fs::create_dir_all(home.join(dir)).unwrap();
        }
        for dir in ["bash", "nvim", "sub"] {
            fs::create_dir_all(cwd.join(dir)).unwrap();
        }
        for (link, target) in [
            (".bashrc", "dots/bash/bashrc"),
            (".config/nvim", "../dots/nvim"),
            (".config/systemd/user/x.service", "../../../dots/x.service"),
            (".ssh/config", "../dots/ssh"),
            (".vim/vimrc", "../dots/vimrc"),
            ("bin/tool", "../dots/sub/tool"),
            (".root", "/"),
            (".a/b/c", "../../dots/deep"),
            ("visible", "dots/visible"),
        ] {
            symlink(target, home.join(link)).unwrap();
        }
        fs::write(
            cwd.join("bash/bashrc"),
            ". ~/dots/aliases; for f in \"$HOME\"/dots/rc.d/*.sh; do . $f; done\n\
             [ -r ~/dots/local ] && source ~/dots/local\n. ~/more.sh\nfor f in ~/all/*.sh; do . $f; done\n\
             export PATH=~/dots/own:$PATH\n",
        )
        .unwrap();
        fs::write(home.join("more.sh"), ". ~/dots/chained\n").unwrap();
        fs::create_dir(home.join("all")).unwrap();
        symlink("../dots/looped.sh", home.join("all/a.sh")).unwrap();
        fs::write(cwd.join("looped.sh"), ". ~/dots/deeper\n").unwrap();
        fs::write(cwd.join("aliases"), "").unwrap();
        fs::create_dir(cwd.join("rc.d")).unwrap();
        let searched = search_path(&[], &cwd, &home);
        let places = led_to(&cwd, &home, &searched);
        let starts = files(&home);
        let has = |name: &str| places.has(&cwd.join(name)) || starts.has(&cwd.join(name));
        for name in [
            "bash/bashrc",
            "bash",
            "nvim/lua/x.lua",
            "x.service",
            "ssh",
            "vimrc",
            "sub/tool",
            "aliases",
            "rc.d/new.sh",
            "local",
            "chained",
            "looped.sh",
            "deeper",
            "own/ls",
        ] {
            assert!(has(name), "{name}");
        }
        for name in ["bash/other", "sub/x", "deep", "visible", "README.md"] {
            assert!(!has(name), "{name}");
        }
    }
}
