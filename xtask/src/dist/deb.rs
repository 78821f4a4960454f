//! Writes a Debian package: an `ar` archive of a format version, a control file and the files to install.
//!
//! The format takes fewer lines than a folder prepared for `dpkg-deb`, which is not on every machine.

use std::io;

use super::archive::{self, Entry};
use super::contents::{Contents, PROGRAM};

/// Returns Debian's name for the architecture of a Rust target; `None` if Debian has no such architecture.
pub(super) fn architecture(target: &str) -> Option<&'static str> {
    match target.split_once('-')? {
        ("x86_64", "unknown-linux-gnu") => Some("amd64"),
        ("aarch64", "unknown-linux-gnu") => Some("arm64"),
        ("riscv64gc", "unknown-linux-gnu") => Some("riscv64"),
        _ => None,
    }
}

/// Returns the bytes of the package.
pub(super) fn package(
    contents: &Contents,
    version: &str,
    architecture: &str,
    seconds: u64,
) -> io::Result<Vec<u8>> {
    let files = contents.debian();
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let libc = libc_needed(&contents.program).map_or_else(String::new, |minor| format!(" (>= 2.{minor})"));
    let control = format!(
        "Package: {PROGRAM}\n\
         Version: {version}\n\
         Architecture: {architecture}\n\
         Maintainer: {}\n\
         Installed-Size: {}\n\
         Depends: libc6{libc}, libgcc-s1\n\
         Recommends: git\n\
         Section: utils\n\
         Priority: optional\n\
         Description: closed-loop agent runtime\n \
         States a goal as measurable criteria, plans, acts with real tools, measures\n \
         every criterion on its own evidence, and replans until the goal is met or\n \
         honestly given up.\n",
        env!("CARGO_PKG_AUTHORS"),
        bytes.div_ceil(1024),
    );
    let control = archive::tar_gz(&[Entry::file("control", control.as_bytes())], seconds)?;
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", control),
        ("data.tar.gz", archive::tar_gz(&files, seconds)?),
    ];
    let mut package = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let (owner, mode, size) = (0, "100644", bytes.len());
        let header = format!("{name:<16}{seconds:<12}{owner:<6}{owner:<6}{mode:<8}{size:<10}`\n");
        package.extend(header.into_bytes());
        package.extend(bytes);
        // `ar` requires members to start at even offsets.
        if package.len() % 2 == 1 {
            package.push(b'\n');
        }
    }
    Ok(package)
}

/// Returns the newest minor version of the C library among the symbol versions in the program (`GLIBC_2.34`).
fn libc_needed(program: &[u8]) -> Option<u32> {
    const MARK: &[u8] = b"GLIBC_2.";
    let minor = |at: &[u8]| {
        let digits = at.strip_prefix(MARK)?.iter().map_while(|byte| char::from(*byte).to_digit(10));
        digits.take(4).reduce(|number, digit| number * 10 + digit)
    };
    (0..program.len()).filter_map(|start| minor(program.get(start..)?)).max()
}

#[cfg(test)]
mod tests {
    use super::super::contents::of_one_page;
    use super::*;

    /// Returns the members of an `ar` archive with their names.
    fn members(mut rest: &[u8]) -> Vec<(String, &[u8])> {
        rest = rest.strip_prefix(b"!<arch>\n").unwrap();
        let mut members = Vec::new();
        while !rest.is_empty() {
            let (header, after) = rest.split_at(60);
            let header = str::from_utf8(header).unwrap();
            assert!(header.ends_with("`\n"), "{header}");
            let size: usize = header.get(48..58).unwrap().trim().parse().unwrap();
            let (bytes, after) = after.split_at(size);
            members.push((header.get(..16).unwrap().trim().to_owned(), bytes));
            rest = after.get(size % 2..).unwrap();
        }
        members
    }

    #[test]
    fn a_package_says_what_it_is_and_holds_the_files() {
        let mut contents = of_one_page();
        contents.program = b"GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE".to_vec();
        let package = package(&contents, "1.2.3", "amd64", 7).unwrap();
        let members = members(&package);
        let [version, control, data] = members.as_slice() else { panic!("{members:?}") };
        assert_eq!((version.0.as_str(), version.1), ("debian-binary", &b"2.0\n"[..]));
        assert_eq!((control.0.as_str(), data.0.as_str()), ("control.tar.gz", "data.tar.gz"));
        let control = archive::listed(control.1).replace("\\n", "\n");
        for line in ["Version: 1.2.3", "Architecture: amd64", "Depends: libc6 (>= 2.34), libgcc-s1"] {
            assert!(control.lines().any(|one| one == line), "{line}: {control}");
        }
        let files = archive::listed(data.1);
        for line in ["755 usr/share/zsh/vendor-completions/|", "644 usr/share/man/man1/setpoint.1|page"] {
            assert!(files.lines().any(|one| one == line), "{line}: {files}");
        }
    }

    #[test]
    fn only_targets_of_debian_get_a_package() {
        assert_eq!(architecture("aarch64-unknown-linux-gnu"), Some("arm64"));
        assert_eq!(architecture("x86_64-unknown-linux-musl"), None);
        assert_eq!(architecture("aarch64-apple-darwin"), None);
    }
}
