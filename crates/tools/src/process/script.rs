//! Scripts in the place of programs: wrappers and version managers run further programs, perhaps those of a task's folders.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::files::open;
use crate::halt::Halt;

/// Folders of the system, whose scripts count only if they name something in a task's folders.
const SYSTEM: &[&str] = &["/bin", "/sbin", "/usr", "/opt", "/nix"];
/// Maximum bytes of a script that are searched for names.
const BYTES_MAX: u64 = 256 * 1024;
/// Bytes at the beginning in which a compiled program has a zero.
const HEAD_BYTES: u64 = 64;

/// Returns whether the program at a path is a script that may run what is in one of the folders: it is not of the system,
/// or it names a folder, or something relative to where it runs.
pub(crate) fn may_run_from(program: &Path, folders: &[PathBuf], home: Option<&Path>) -> bool {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_path_buf());
    let Some(text) = script(&real) else { return false };
    let home = home.filter(|home| home.parent().is_some());
    let is_personal = home.is_some_and(|home| real.starts_with(home) || program.starts_with(home));
    if is_personal || !SYSTEM.iter().any(|system| real.starts_with(system)) {
        return true;
    }
    let below_home = |folder: &PathBuf| folder.strip_prefix(home?).ok().map(Path::to_path_buf);
    let named = folders.iter().cloned().chain(folders.iter().filter_map(below_home));
    let mut named = named.filter_map(|folder| folder.into_os_string().into_string().ok());
    let mut words = text.split(|c: char| c.is_whitespace() || "'\"=;&|(){}".contains(c));
    named.any(|folder| !folder.is_empty() && text.contains(&folder))
        || words.any(|word| word.starts_with("./"))
}

/// Returns the text of a script, or `None` for a compiled program. A shell runs a text without `#!`, too.
fn script(program: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = open::regular(program, &Halt::default()).ok()?;
    (&file).take(HEAD_BYTES).read_to_end(&mut bytes).ok()?;
    if bytes.contains(&0) {
        return None;
    }
    (&file).take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_of_the_system_counts_if_it_names_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let script = at.join("tool");
        std::fs::write(&script, "exec git \"$@\"\n").unwrap();
        assert!(may_run_from(&script, &[], None), "it is not of the system");
        let sh = Path::new("/bin/sh");
        assert!(!may_run_from(sh, &[PathBuf::from("/")], None), "it is compiled");
        // A script of the system on every machine with a C library or grep; it names itself.
        let system = ["/usr/bin/egrep", "/usr/bin/ldd", "/usr/bin/zcat"].map(Path::new);
        let system =
            system.iter().find(|path| std::fs::read(path).is_ok_and(|text| text.starts_with(b"#!/bin")));
        if let Some(path) = system {
            assert!(!may_run_from(path, std::slice::from_ref(&at), None));
            assert!(may_run_from(path, &[PathBuf::from("/bin")], None));
        }
    }
}
