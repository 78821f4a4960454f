//! `cargo xtask layers`: the crates depend on each other, and on the world, only as the table allows.
//!
//! [`table`] is the rule as data, [`manifests`] compares it with what cargo knows, [`sources`] with what the
//! code names. Both take data and return findings.

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

/// All layer rules over the repository at `root`.
pub(crate) fn run(root: &Path) -> Result<Vec<Finding>, Error> {
    // Only this platform's part of the graph: all platforms would make cargo download what nobody builds here.
    let host = process::host(root)?;
    let arguments = ["metadata", "--format-version", "1", "--filter-platform", &host];
    let metadata: Metadata = serde_json::from_str(&process::cargo_output(&arguments, root)?)?;
    let mut findings = manifests::check(&metadata);
    findings.extend(sources::check(&Tree::read(root)?));
    findings.sort();
    Ok(findings)
}
