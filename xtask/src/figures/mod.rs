//! `cargo xtask figures`: how large the code is, where it is large, and which files depend on each other in a circle.
//!
//! [`lines`] counts lines, [`functions`] finds the long functions, [`circles`] the circles, [`since`] the files that a
//! commit range touches. All four take texts and return data; this file prints it.

mod circles;
mod functions;
mod lines;
mod since;

use std::fmt;
use std::path::Path;

use serde::Serialize;

use self::circles::Circle;
use self::functions::Function;
use self::lines::{Count, FileLines, Sources};
use crate::error::Error;
use crate::tree::Tree;

/// Entries in each list of the largest.
const LISTED: usize = 10;

/// What the figures count; printed with them, because a figure means nothing without it.
const DEFINITION: &str = "\
lines of Rust without blank lines and comments; tests are files in a folder `tests` or named `tests` or `…_tests`, and \
modules under `#[cfg(test)]`; files, functions and circles are those of the code; a circle is a set of files of one \
crate that reach each other over the paths they name (`crate::`, `super::`, `self::`), its root file left out";

/// Prints the figures of the repository at `root`, or the files touched since a revision.
pub(crate) fn run(root: &Path, since: Option<&str>, is_json: bool) -> Result<(), Error> {
    match since {
        Some(since) => print(&since::touched(root, since)?, is_json),
        None => print(&Figures::of(&Tree::read(root)?), is_json),
    }
}

fn print(figures: &(impl Serialize + fmt::Display), is_json: bool) -> Result<(), Error> {
    if is_json {
        println!("{}", serde_json::to_string_pretty(figures).map_err(Error::Print)?);
    } else {
        print!("{figures}");
    }
    Ok(())
}

#[derive(Debug, Serialize)]
struct Figures {
    definition: &'static str,
    crates: Vec<Count>,
    /// Of `crates/` alone, without the project's own tools.
    shipped_crates: Count,
    total: Count,
    largest_files: Vec<FileLines>,
    longest_functions: Vec<Function>,
    circles: Vec<Circle>,
}

impl Figures {
    fn of(tree: &Tree) -> Self {
        let sources = Sources::of(tree);
        let crates = lines::by_crate(&sources);
        let mut largest_files = lines::files(&sources);
        largest_files.sort_by_key(|file| std::cmp::Reverse(file.lines));
        largest_files.truncate(LISTED);
        let mut longest_functions = functions::all(&sources);
        longest_functions.sort_by_key(|function| std::cmp::Reverse(function.lines));
        longest_functions.truncate(LISTED);
        Self {
            definition: DEFINITION,
            shipped_crates: Count::sum(
                "crates/",
                crates.iter().filter(|count| tree.has(&format!("crates/{}", count.name))),
            ),
            total: Count::sum("all", &crates),
            crates,
            largest_files,
            longest_functions,
            circles: circles::all(&sources),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n\n{:<16}{:>8}{:>8}", self.definition, "crate", "code", "tests")?;
        for Count { name, code, tests } in self.crates.iter().chain([&self.shipped_crates, &self.total]) {
            writeln!(f, "{name:<16}{code:>8}{tests:>8}")?;
        }
        writeln!(f, "\nlargest files")?;
        for FileLines { path, lines } in &self.largest_files {
            writeln!(f, "{lines:>6}  {path}")?;
        }
        writeln!(f, "\nlongest functions")?;
        for Function { name, path, line, lines } in &self.longest_functions {
            writeln!(f, "{lines:>6}  {name}  {path}:{line}")?;
        }
        writeln!(f, "\ncircles")?;
        for Circle { folder, files } in &self.circles {
            writeln!(f, "{:>6}  {folder}: {}", files.len(), files.join(" "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn figures_are_one_table_after_the_other() {
        let tree = Tree::of(&[
            ("crates/bus/src/lib.rs", "mod a;\nmod b;\n"),
            ("crates/bus/src/a.rs", "use crate::b::B;\n\n// why\nfn long() {\n    b();\n}\n"),
            ("crates/bus/src/b.rs", "use crate::a::A;\n#[cfg(test)]\nmod tests {\n}\n"),
            ("crates/bus/tests/it.rs", "fn t() {}\n"),
            ("xtask/src/main.rs", "fn main() {}\n"),
        ]);
        let figures = Figures::of(&tree).to_string();
        let (_, tables) = figures.split_once("\n\n").unwrap();
        expect![[r#"
            crate               code   tests
            bus                    7       4
            xtask                  1       0
            crates/                7       4
            all                    8       4

            largest files
                 4  crates/bus/src/a.rs
                 2  crates/bus/src/lib.rs
                 1  crates/bus/src/b.rs
                 1  xtask/src/main.rs

            longest functions
                 3  long  crates/bus/src/a.rs:4
                 1  main  xtask/src/main.rs:1

            circles
                 2  crates/bus/src/: a.rs b.rs
        "#]]
        .assert_eq(tables);
    }
}
