//! Collects the licences of the crates linked into the program; most require their text to be shipped with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

use crate::error::Error;
use crate::process;

/// The package of the program.
pub(super) const PACKAGE: &str = "setpoint-cli";

/// Starts of the names of licence files.
const NAMES: [&str; 5] = ["license", "licence", "copying", "copyright", "notice"];
/// Files above this size are skipped: they are sources or data with such a name.
const BYTES_MAX: u64 = 100_000;

/// A package as `cargo metadata` describes it.
#[derive(Debug, Deserialize)]
pub(super) struct Package {
    name: String,
    version: String,
    license: Option<String>,
    manifest_path: PathBuf,
}

/// Returns a list of the crates that `PACKAGE` links, then each licence text with the crates it belongs to.
pub(super) fn of_linked(root: &Path, target: &str, packages: &[Package]) -> Result<String, Error> {
    let edges = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"];
    let tree = process::cargo_output(
        &[&["tree", "--package", PACKAGE, "--target", target], &edges[..]].concat(),
        root,
    )?;
    let linked: BTreeSet<&str> = tree.lines().collect();
    // Lines are `name v1.2.3`. Our own crates have a path after it, so they do not match.
    let is_linked =
        |package: &&Package| linked.contains(format!("{} v{}", package.name, package.version).as_str());
    let mut crates = Vec::new();
    for package in packages.iter().filter(is_linked) {
        let folder = package.manifest_path.parent().unwrap_or(root);
        let mut texts = BTreeSet::new();
        collect(folder, &mut texts).map_err(|source| Error::Read { path: folder.to_owned(), source })?;
        crates.push((package, texts));
    }
    Ok(joined(&crates))
}

fn collect(folder: &Path, texts: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name().to_string_lossy().to_lowercase());
        if kind.is_dir() {
            collect(&entry.path(), texts)?;
        } else if kind.is_file()
            && NAMES.iter().any(|start| name.starts_with(start))
            && entry.metadata()?.len() <= BYTES_MAX
        {
            // Copies of one text differ in their line ends.
            let text = String::from_utf8_lossy(&fs::read(entry.path())?).into_owned();
            texts.insert(text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned());
        }
    }
    Ok(())
}

fn joined(crates: &[(&Package, BTreeSet<String>)]) -> String {
    let mut list = "Setpoint links these crates, each under its own licence:\n\n".to_owned();
    let mut owners: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (package, texts) in crates {
        let licence = package.license.as_deref().unwrap_or("see below");
        list += &format!("{} {}: {licence}\n", package.name, package.version);
        for text in texts {
            owners.entry(text).or_default().push(&package.name);
        }
    }
    for (text, names) in owners {
        list += &format!("\n{}\n{}\n\n{text}\n", "-".repeat(78), names.join(", "));
    }
    list
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_text_is_given_once_with_all_that_bring_it() {
        let folder = tempfile::tempdir().unwrap();
        let package = |name: &str, license: Option<&str>, files: &[(&str, &str)]| {
            let folder = folder.path().join(name);
            fs::create_dir_all(folder.join("c")).unwrap();
            for (path, text) in files {
                fs::write(folder.join(path), text).unwrap();
            }
            let mut texts = BTreeSet::new();
            collect(&folder, &mut texts).unwrap();
            let license = license.map(str::to_owned);
            let manifest_path = folder.join("Cargo.toml");
            (Package { name: name.to_owned(), version: "1.0.0".to_owned(), license, manifest_path }, texts)
        };
        let a = package("a", Some("MIT"), &[("LICENSE-MIT", "same \r\ntext\n"), ("README", "no")]);
        let b = package("b", None, &[("COPYING", "same\ntext"), ("c/license.txt", "of the C code")]);
        expect![[r#"
            Setpoint links these crates, each under its own licence:

            a 1.0.0: MIT
            b 1.0.0: see below

            ------------------------------------------------------------------------------
            b

            of the C code

            ------------------------------------------------------------------------------
            a, b

            same
            text
        "#]]
        .assert_eq(&joined(&[(&a.0, a.1), (&b.0, b.1)]));
    }
}
