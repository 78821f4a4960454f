//! `cargo xtask conformance [FILE]`: runs the published vectors against the controller and the memory.
//!
//! A vector is an input with its expected result. Every expected field is compared. A field that this program does not
//! know is a failure, and groups that it does not run are named, so that nothing is skipped silently. It never writes
//! or changes a vector. [`mod@format`] reads the file, [`ggs`] and [`memory`] run its two groups, [`compare`] finds the
//! differences.

mod compare;
mod format;
mod ggs;
mod memory;
mod recall;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde_json::{Map, Value};
use setpoint_control::GainsError;

/// Largest file that is read: 32 MiB, two hundred times the committed one.
pub(crate) const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Runs every vector of `file`, or of the committed fixture.
///
/// # Errors
/// [`ConformanceError`] when the file cannot be read or does not have the vectors' form; a vector that fails is only in
/// the summary.
pub(crate) fn run(file: Option<&Path>) -> Result<Summary, ConformanceError> {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join(COMMITTED);
    let path = file.unwrap_or(&committed);
    let text = read(path)?;
    let vectors = serde_json::from_slice(&text)
        .map_err(|source| ConformanceError::Malformed { path: path.to_owned(), source })?;
    let summary = run_vectors(&vectors).map_err(|unusable| unusable.in_file(path))?;
    if summary.passed + summary.failed() == 0 {
        return Err(ConformanceError::Empty { path: path.to_owned() });
    }
    Ok(summary)
}

/// The result of a run. Displays as one line per failed vector, a line that names skipped groups, and `N passed, N
/// failed` alone on the last line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Number of vectors with the expected result.
    pub(crate) passed: usize,
    /// Vectors with another result, and the differences.
    pub(crate) failures: Vec<Failure>,
    /// Groups that were not run.
    pub(crate) skipped: Vec<String>,
}

/// A vector without its expected result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Group and id.
    pub(crate) vector: String,
    /// What differs, each with expected and got.
    pub(crate) differences: Vec<String>,
}

/// Why vectors could not be run. The texts complete "failed to …".
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConformanceError {
    /// The file could not be read.
    #[error("read the vectors in {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The file is larger than the limit.
    #[error("read the vectors in {}: the file has more than {FILE_BYTES_MAX} bytes", path.display())]
    TooBig { path: PathBuf },
    /// The file is not JSON, or contains a number that is not finite.
    #[error("parse the vectors in {}", path.display())]
    Malformed { path: PathBuf, source: serde_json::Error },
    /// A value is missing or of another type than the form requires.
    #[error("understand {at} in {}", path.display())]
    Shape { path: PathBuf, at: String, source: serde_json::Error },
    /// The file's settings are not allowed.
    #[error("use the hyperparameters in {}", path.display())]
    Settings { path: PathBuf, source: GainsError },
    /// The file has no vector that can be run.
    #[error("find a vector to run in {}", path.display())]
    Empty { path: PathBuf },
}

impl Summary {
    /// Returns the number of failed vectors.
    pub(crate) fn failed(&self) -> usize {
        self.failures.len()
    }

    fn add(&mut self, group: &str, id: &str, differences: Vec<String>) {
        if differences.is_empty() {
            self.passed += 1;
        } else {
            self.failures.push(Failure { vector: format!("{group} {id}"), differences });
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "failed: {}: {}", failure.vector, failure.differences.join("; "))?;
        }
        if !self.skipped.is_empty() {
            writeln!(f, "skipped: {}", self.skipped.join(", "))?;
        }
        writeln!(f, "{} passed, {} failed", self.passed, self.failed())
    }
}

/// The committed fixture, relative to this package.
const COMMITTED: &str = "../crates/control/tests/fixtures/conformance.json";

fn read(path: &Path) -> Result<Vec<u8>, ConformanceError> {
    let failed = |source| ConformanceError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut text = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut text).map_err(failed)?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        return Err(ConformanceError::TooBig { path: path.to_owned() });
    }
    Ok(text)
}

fn run_vectors(vectors: &Value) -> Result<Summary, VectorFault> {
    let mut summary = Summary::default();
    let groups = object("the file", vectors)?;
    let gains = format::gains(groups.get("hyperparameters"), &mut summary)?;
    for (name, group) in groups {
        match name.as_str() {
            "meta" | "note" | "hyperparameters" => {}
            "ggs" => ggs::run(object("ggs", group)?, &gains, &mut summary)?,
            "memory" => memory::run(object("memory", group)?, &mut summary)?,
            other => summary.skipped.push(other.to_owned()),
        }
    }
    Ok(summary)
}

/// What is wrong with the vectors, without the name of their file.
#[derive(Debug)]
enum VectorFault {
    Shape { at: String, source: serde_json::Error },
    Settings(GainsError),
}

impl VectorFault {
    fn shape(at: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self::Shape { at: at.into(), source: serde_json::Error::custom(reason) }
    }

    fn in_file(self, path: &Path) -> ConformanceError {
        let path = path.to_owned();
        match self {
            Self::Shape { at, source } => ConformanceError::Shape { path, at, source },
            Self::Settings(source) => ConformanceError::Settings { path, source },
        }
    }
}

fn object<'a>(at: &str, value: &'a Value) -> Result<&'a Map<String, Value>, VectorFault> {
    value.as_object().ok_or_else(|| VectorFault::shape(at, "it is not an object"))
}

fn array<'a>(at: &str, value: &'a Value) -> Result<&'a [Value], VectorFault> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| VectorFault::shape(at, "it is not an array"))
}
