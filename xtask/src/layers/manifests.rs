//! Compares the manifests and the resolved dependency graph with the table.

use super::metadata::{Metadata, Package};
use super::table::{self, IMPURE, RESTRICTED, Row};
use crate::finding::Finding;

const PREFIX: &str = "setpoint-";

pub(super) fn check(metadata: &Metadata) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, package) in metadata.crates() {
        let manifest = format!("crates/{name}/Cargo.toml");
        let Some(row) = table::row(name) else {
            let reason =
                "the crate has no layer: add it to `xtask/src/layers/table.rs` and to ARCHITECTURE.md";
            findings.push(Finding::whole(&manifest, reason));
            continue;
        };
        let mut reasons = misnamed(row, package);
        reasons.extend(forbidden_edges(row, package));
        if row.is_pure() {
            reasons.extend(restricted(row, package));
            reasons.extend(impure(metadata, row, package));
        }
        findings.extend(reasons.into_iter().map(|reason| Finding::whole(&manifest, reason)));
    }
    findings
}

fn misnamed(row: &Row, package: &Package) -> Vec<String> {
    let wanted = package_name(row);
    if package.name == wanted {
        return Vec::new();
    }
    vec![format!("the package is called `{}`; after its folder it should be `{wanted}`", package.name)]
}

/// Returns dependencies on our own crates that the table does not allow.
fn forbidden_edges(row: &Row, package: &Package) -> Vec<String> {
    let mut reasons = Vec::new();
    let ours = package.dependencies.iter().filter(|dependency| dependency.name.starts_with(PREFIX));
    for dependency in ours.filter(|dependency| dependency.name != package.name) {
        let other = table::TABLE.iter().find(|other| package_name(other) == dependency.name);
        let whose = if dependency.is_dev() { "its tests" } else { "it" };
        let allowed = match other {
            None => false,
            Some(other) if dependency.is_dev() => row.tests_allow(other),
            Some(other) => row.allows(other),
        };
        if !allowed {
            let layer = row.layer;
            let place =
                other.map_or("outside the layers".to_owned(), |other| format!("layer {}", other.layer));
            reasons.push(format!("layer {layer}: {whose} may not depend on `{}` ({place})", dependency.name));
        }
    }
    reasons
}

fn restricted(row: &Row, package: &Package) -> Vec<String> {
    let shipped: Vec<_> = package.dependencies.iter().filter(|dependency| !dependency.is_dev()).collect();
    let taken = RESTRICTED.iter().filter(|(name, users)| {
        !users.contains(&row.name) && shipped.iter().any(|dependency| dependency.name == *name)
    });
    taken.map(|(name, users)| format!("only {} may depend on `{name}`", users.join(" and "))).collect()
}

/// Returns paths from a pure crate to an impure package.
fn impure(metadata: &Metadata, row: &Row, package: &Package) -> Vec<String> {
    let way = |entry: &&str| metadata.path_to(package, |name| table::matches_entry(entry, name));
    let ways = IMPURE.iter().filter_map(way).map(|way| way.join(" → "));
    ways.map(|way| format!("layer {} is pure, but: {way}", row.layer)).collect()
}

fn package_name(row: &Row) -> String {
    format!("{PREFIX}{}", row.name.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::{Expect, expect};

    use super::*;

    /// Builds a workspace from lines `name: dependency dependency(dev) …`; names in `crates` get our prefix and a
    /// folder there, the others are packages of a registry.
    fn check(crates: &[&str], lines: &str, expected: &Expect) {
        let ours = |name: &str| crates.contains(&name);
        let package = |name: &str| {
            if ours(name) { format!("{PREFIX}{}", name.replace('_', "-")) } else { name.to_owned() }
        };
        let id = |name: &str| if ours(name) { format!("path+{name}") } else { format!("registry+{name}") };
        let (mut packages, mut nodes) = (Vec::new(), Vec::new());
        for (name, dependencies) in lines.lines().filter_map(|line| line.trim().split_once(':')) {
            let (mut stated, mut edges) = (String::new(), String::new());
            for dependency in dependencies.split_whitespace() {
                let (dependency, kind) = match dependency.strip_suffix("(dev)") {
                    Some(dependency) => (dependency, "\"dev\""),
                    None => (dependency, "null"),
                };
                write!(stated, r#"{{"name":"{}","kind":{kind}}},"#, package(dependency)).unwrap();
                write!(edges, r#"{{"pkg":"{}","dep_kinds":[{{"kind":{kind}}}]}},"#, id(dependency)).unwrap();
            }
            let folder = if ours(name) { "repo/crates" } else { "registry" };
            packages.push(format!(
                r#"{{"name":"{}","id":"{}","manifest_path":"/{folder}/{name}/Cargo.toml","dependencies":[{}]}}"#,
                package(name),
                id(name),
                stated.trim_end_matches(','),
            ));
            nodes.push(format!(r#"{{"id":"{}","deps":[{}]}}"#, id(name), edges.trim_end_matches(',')));
        }
        let json =
            format!(r#"{{"packages":[{}],"resolve":{{"nodes":[{}]}}}}"#, packages.join(","), nodes.join(","));
        let metadata: Metadata = serde_json::from_str(&json).unwrap();
        expected.assert_eq(&crate::finding::text(&super::check(&metadata)));
    }

    #[test]
    fn allowed_dependencies_pass() {
        check(
            &["protocol", "machine", "roles", "journal", "sim", "model_server", "runtime", "cli"],
            "protocol: serde jiff
             machine: protocol
             roles: machine protocol
             journal: protocol rusqlite sim(dev)
             sim: roles journal
             model_server: tokio
             runtime: roles journal tokio sim(dev) model_server(dev)
             cli: runtime protocol model_server(dev)
             serde:
             jiff:
             rusqlite:
             tokio:",
            &expect![""],
        );
    }

    #[test]
    fn an_upward_or_sideways_edge_is_found() {
        check(
            &["protocol", "machine", "journal", "tools", "control", "cli", "runtime", "model"],
            "protocol:
             control:
             machine: protocol control
             journal: tools tools(dev)
             tools:
             runtime:
             model:
             cli: runtime model",
            &expect![[r#"
                crates/machine/Cargo.toml: layer 1: it may not depend on `setpoint-control` (layer 0)
                crates/journal/Cargo.toml: layer 3: it may not depend on `setpoint-tools` (layer 3)
                crates/journal/Cargo.toml: layer 3: its tests may not depend on `setpoint-tools` (layer 3)
                crates/cli/Cargo.toml: layer 6: it may not depend on `setpoint-model` (layer 3)
            "#]],
        );
    }

    #[test]
    fn tests_of_a_pure_crate_use_no_higher_layer() {
        check(
            &["control", "mkct", "machine", "sim"],
            "control: mkct(dev) sim(dev)
             mkct:
             machine: control(dev)
             sim:",
            &expect![[r#"
                crates/control/Cargo.toml: layer 0: its tests may not depend on `setpoint-sim` (layer 4)
            "#]],
        );
    }

    #[test]
    fn an_impure_dependency_is_found_with_the_path_to_it() {
        check(
            &["control", "roles", "tools"],
            "control: a(dev) tokio(dev) jiff
             roles: b
             tools: tokio
             a: getrandom
             b: a c
             c: libsqlite3-sys
             tokio:
             getrandom:
             jiff:
             libsqlite3-sys:",
            &expect![[r#"
                crates/control/Cargo.toml: only protocol may depend on `jiff`
                crates/roles/Cargo.toml: layer 2 is pure, but: setpoint-roles → b → c → libsqlite3-sys
                crates/roles/Cargo.toml: layer 2 is pure, but: setpoint-roles → b → a → getrandom
            "#]],
        );
    }

    #[test]
    fn an_unknown_crate_must_be_given_a_layer() {
        check(
            &["control", "parlour"],
            "control: parlour
             parlour: tokio
             tokio:",
            &expect![[r#"
                crates/control/Cargo.toml: layer 0: it may not depend on `setpoint-parlour` (outside the layers)
                crates/control/Cargo.toml: layer 0 is pure, but: setpoint-control → setpoint-parlour → tokio
                crates/parlour/Cargo.toml: the crate has no layer: add it to `xtask/src/layers/table.rs` and to ARCHITECTURE.md
            "#]],
        );
    }
}
