//! `cargo xtask mcp`: runs the conformance tests of the Model Context Protocol against the client of its servers.
//!
//! It installs them from their registry into the target directory and needs Node 22 or newer, so it is not part of
//! `cargo xtask test`. `crates/mcp/conformance.yml` lists what the client does not do; anything else that fails is an
//! error, and so is anything listed there that passes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::process;

/// The first release with tests of the revision 2026-07-28; it is a preview, so its version is fixed.
const PACKAGE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const PROGRAM: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const CLIENT: &str = "setpoint-mcp";
const EXAMPLE: &str = "conformance";
const BASELINE: &str = "crates/mcp/conformance.yml";
/// Fails with a reason where Node is older than the tests need.
const NODE_CHECK: &str = "if (parseInt(process.versions.node) < 22) {
    console.error(`Node 22 or newer is needed, and this is ${process.version}`); process.exit(1) }";

/// Installs the tests and runs them.
pub(crate) fn run(root: &Path) -> Result<ExitCode, Error> {
    process::output("node", &["-e", NODE_CHECK], root)?;
    let this = std::env::current_exe()
        .map_err(|source| Error::Read { path: PathBuf::from("this program"), source })?;
    let built = this.parent().unwrap_or(root);
    let place = built.parent().unwrap_or(root).join("mcp-conformance");
    fs::create_dir_all(&place).map_err(|source| Error::Write { path: place.clone(), source })?;
    process::cargo_output(&["build", "--quiet", "--package", CLIENT, "--example", EXAMPLE], root)?;
    process::output(
        "npm",
        &["install", "--silent", "--no-audit", "--no-fund", "--prefix", ".", PACKAGE],
        &place,
    )?;
    let mut tests = Command::new("node");
    tests.arg(place.join(PROGRAM)).args(["client", "--suite", "all", "--command"]);
    tests.arg(built.join("examples").join(EXAMPLE));
    tests.arg("--expected-failures").arg(root.join(BASELINE)).current_dir(&place);
    let status = process::run_on_terminal(tests)?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
