//! `cargo xtask layers`: checks that the crates depend on each other, and on the world, only as the table allows.
//!
//! [`table`] is the rule as data, [`manifests`] compares it with what cargo knows, [`sources`] with the paths in the
//! code. Both take data and return findings.

mod manifests;
mod metadata;
mod sources;
mod table;

use std::path::Path;

use self::metadata::Metadata;
use crate::error::Error;
use crate::finding::Finding;
use crate::process;
use crate::tree::Tree;

/// Runs all layer rules on the repository at `root`.
pub(crate) fn run(root: &Path) -> Result<Vec<Finding>, Error> {
    // Only the graph of this platform: for all platforms cargo would download packages that are never built here.
    let host = process::host(root)?;
    let arguments = ["metadata", "--format-version", "1", "--filter-platform", &host];
    let metadata: Metadata = serde_json::from_str(&process::cargo_output(&arguments, root)?)?;
    let mut findings = manifests::check(&metadata);
    findings.extend(sources::check(&Tree::read(root)?));
    findings.sort();
    Ok(findings)
}
