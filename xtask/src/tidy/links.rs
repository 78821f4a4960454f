//! Links between the repository's documents have existing targets.

use super::markdown;
use crate::finding::Finding;
use crate::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts("md") {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, line) in markdown::prose(text) {
            for target in markdown::targets(&line).into_iter().filter(|target| is_local(target)) {
                let file = target.split('#').next().unwrap_or_default();
                let found = resolve(folder, file).is_some_and(|path| tree.has(&path));
                if !found {
                    findings.push(Finding::at(path, number, format!("the link to `{target}` leads nowhere")));
                }
            }
        }
    }
    findings
}

/// Returns whether a link is neither to another site nor within the same document.
fn is_local(target: &str) -> bool {
    !target.is_empty()
        && !target.starts_with('#')
        && !target.contains("://")
        && !target.starts_with("mailto:")
}

/// Returns the path from the root; `None` if it leaves the repository.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let (mut parts, rest) = match target.strip_prefix('/') {
        Some(rest) => (Vec::new(), rest),
        None => (folder.split('/').filter(|part| !part.is_empty()).collect(), target),
    };
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    #[test]
    fn links_to_missing_files_are_found() {
        super::super::check(
            super::check,
            &[
                (
                    "docs/a.md",
                    "[ok](b.md#x) [ok](../README.md) [ok](/docs/b.md) [ok](..) [ok](https://x.org/y) [ok](#x)\n\
                     [no](c.md) `[code](d.md)` [out](../../docs/b.md)\n[f]: ../f.md",
                ),
                ("docs/b.md", ""),
                ("README.md", "[ok](docs/)"),
            ],
            &expect![[r#"
                docs/a.md:2: the link to `c.md` leads nowhere
                docs/a.md:2: the link to `../../docs/b.md` leads nowhere
                docs/a.md:3: the link to `../f.md` leads nowhere
            "#]],
        );
    }
}
