//! The part of `cargo metadata`'s output that the layer rules need.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
pub(super) struct Package {
    pub(super) name: String,
    id: String,
    manifest_path: String,
    pub(super) dependencies: Vec<Dependency>,
}

/// A dependency as stated in the manifest.
#[derive(Debug, Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// `None` for a normal one, otherwise "dev" or "build".
    kind: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

/// A package with its resolved dependencies.
#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Debug, Deserialize)]
struct EdgeKind {
    kind: Option<String>,
}

impl Metadata {
    /// Returns the packages in `crates/`, with the names of their folders.
    pub(super) fn crates(&self) -> impl Iterator<Item = (&str, &Package)> {
        self.packages.iter().filter_map(|package| Some((package.folder()?, package)))
    }

    /// Returns the shortest path of normal dependencies from a package to one for which `is_target` holds, as names.
    pub(super) fn path_to(&self, from: &Package, is_target: impl Fn(&str) -> bool) -> Option<Vec<&str>> {
        let names: BTreeMap<&str, &str> =
            self.packages.iter().map(|p| (p.id.as_str(), p.name.as_str())).collect();
        let nodes: BTreeMap<&str, &Node> = self.resolve.nodes.iter().map(|n| (n.id.as_str(), n)).collect();
        let mut seen = BTreeSet::from([from.id.as_str()]);
        let mut open = VecDeque::from([vec![from.id.as_str()]]);
        while let Some(way) = open.pop_front() {
            let node = way.last().and_then(|id| nodes.get(id));
            for edge in node.into_iter().flat_map(|node| node.deps.iter().filter(|edge| edge.is_normal())) {
                let mut longer = way.clone();
                longer.push(&edge.pkg);
                if names.get(edge.pkg.as_str()).is_some_and(|name| is_target(name)) {
                    return Some(longer.iter().filter_map(|id| names.get(id).copied()).collect());
                }
                if seen.insert(&edge.pkg) {
                    open.push_back(longer);
                }
            }
        }
        None
    }
}

impl Package {
    /// Returns the name of the folder in `crates/`; `None` for every other package. A registry keeps its packages in
    /// folders of other names.
    fn folder(&self) -> Option<&str> {
        let path = self.manifest_path.strip_suffix("Cargo.toml")?.trim_end_matches(['/', '\\']);
        let mut parts = path.rsplit(['/', '\\']);
        let folder = parts.next()?;
        let ours = parts.next()? == "crates" && self.id.starts_with("path+");
        ours.then_some(folder)
    }
}

impl Dependency {
    pub(super) fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

impl Edge {
    fn is_normal(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.is_none())
    }
}
