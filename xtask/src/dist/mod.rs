//! `cargo xtask dist`: builds the packages that others install, an archive and, for a target that Debian has, a `.deb`.
//!
//! [`contents`] lists the files of each, [`archive`] and [`deb`] write the two formats, [`licences`] collects the licence
//! texts of the linked crates. It publishes nothing.

mod archive;
mod contents;
mod deb;
mod licences;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io};

use serde::Deserialize;

use self::contents::{Contents, PROGRAM};
use self::licences::{PACKAGE, Package};
use crate::error::Error;
use crate::process;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The date of files where git knows none: tar programs warn about dates near the year 1970.
const SECONDS_WITHOUT_GIT: u64 = 1_000_000_000;

/// The part of `cargo metadata` that is needed here.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
}

/// Builds the program, writes its packages beside it and prints their sizes.
pub(crate) fn run(root: &Path) -> Result<ExitCode, Error> {
    let mut build = Command::new(process::cargo());
    build.args(["build", "--profile", "dist", "--package", PACKAGE, "--bin", PROGRAM]).current_dir(root);
    if !process::run_on_terminal(build)?.success() {
        return Ok(ExitCode::FAILURE);
    }
    let target = process::host(root)?;
    let arguments = ["metadata", "--format-version", "1", "--filter-platform", &target];
    let metadata: Metadata = serde_json::from_str(&process::cargo_output(&arguments, root)?)?;
    let folder = metadata.target_directory.join("dist");
    let program = folder.join(PROGRAM);
    let contents = Contents {
        program: read(&program)?,
        man_pages: man_pages(root, &folder.join("man"))?,
        completions: ["bash", "zsh", "fish"]
            .map(|shell| completion(&program, shell, root))
            .into_iter()
            .collect::<Result<_, _>>()?,
        readme: read(&root.join("README.md"))?,
        changelog: read(&root.join("CHANGELOG.md"))?,
        apache: read(&root.join("LICENSE-APACHE"))?,
        mit: read(&root.join("LICENSE-MIT"))?,
        linked: licences::of_linked(root, &target, &metadata.packages)?.into_bytes(),
    };
    let seconds = committed_at(root);
    let name = format!("{PROGRAM}-{VERSION}-{target}");
    let mut packages = vec![(format!("{name}.tar.gz"), archive::tar_gz(&contents.archive(&name), seconds))];
    if let Some(architecture) = deb::architecture(&target) {
        let package = deb::package(&contents, VERSION, architecture, seconds);
        packages.push((format!("{PROGRAM}_{VERSION}_{architecture}.deb"), package));
    }
    println!("{:>5.1} MB  {}", megabytes(contents.program.len()), program.display());
    for (name, bytes) in packages {
        let path = folder.join(name);
        let written = bytes.and_then(|bytes| fs::write(&path, &bytes).map(|()| bytes.len()));
        let size = written.map_err(|source| Error::Write { path: path.clone(), source })?;
        println!("{:>5.1} MB  {}", megabytes(size), path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the manual pages with their names. A development build writes them, because they depend on the arguments alone.
fn man_pages(root: &Path, folder: &Path) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let write = |source| Error::Write { path: folder.to_owned(), source };
    // Pages of removed commands must not be shipped.
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(write(error)),
        _ => fs::create_dir_all(folder).map_err(write)?,
    }
    let path = folder.to_string_lossy();
    process::cargo_output(&["run", "--quiet", "--package", PACKAGE, "--example", "man", "--", &path], root)?;
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|source| Error::Read { path: folder.to_owned(), source })?;
    let mut pages = Vec::new();
    for entry in entries {
        pages.push((entry.file_name().to_string_lossy().into_owned(), read(&entry.path())?));
    }
    pages.sort();
    Ok(pages)
}

fn completion(program: &Path, shell: &'static str, root: &Path) -> Result<(&'static str, Vec<u8>), Error> {
    Ok((shell, process::output(program, &["completions", shell], root)?.into_bytes()))
}

/// Returns the time of the newest commit. Every file has it as its date, so that the same commit gives the same bytes.
fn committed_at(root: &Path) -> u64 {
    let log = process::output("git", &["-c", "safe.directory=*", "log", "-1", "--format=%ct"], root);
    log.ok().and_then(|seconds| seconds.trim().parse().ok()).unwrap_or(SECONDS_WITHOUT_GIT)
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
