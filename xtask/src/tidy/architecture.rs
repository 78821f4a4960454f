//! Every crate is listed in ARCHITECTURE.md.

use crate::finding::Finding;
use crate::tree::Tree;

const MAP: &str = "ARCHITECTURE.md";

/// Reports crates that are not listed. Does nothing without ARCHITECTURE.md.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(map) = tree.text(MAP) else { return Vec::new() };
    let unlisted = tree.folders_in("crates").into_iter().filter(|name| !lists(map, name));
    unlisted.map(|name| Finding::whole(MAP, format!("the crate `{name}` is not listed"))).collect()
}

/// Returns whether a crate is listed, as code (`` `tools` ``) or as a folder (`tools/`).
fn lists(map: &str, name: &str) -> bool {
    let folder = format!("{name}/");
    let as_folder = map.split([' ', '\n', '`', '(', '|']).any(|word| {
        let word = word.strip_prefix("crates/").unwrap_or(word);
        word.starts_with(&folder)
    });
    as_folder || map.contains(&format!("`{name}`"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    const CRATES: [(&str, &str); 3] =
        [("crates/tools/Cargo.toml", ""), ("crates/control/Cargo.toml", ""), ("crates/sim/Cargo.toml", "")];

    #[test]
    fn a_crate_that_the_map_leaves_out_is_found() {
        let [tools, control, sim] = CRATES;
        super::super::check(
            super::check,
            &[
                tools,
                control,
                sim,
                ("ARCHITECTURE.md", "The `tools` carries.\n  minisim/ x\n  control/  arithmetic"),
            ],
            &expect![[r#"
                ARCHITECTURE.md: the crate `sim` is not listed
            "#]],
        );
    }

    #[test]
    fn without_a_map_nothing_is_reported() {
        super::super::check(super::check, &CRATES, &expect![""]);
    }
}
