//! Every invariant that the documents claim is held by a test that exists.
//!
//! `docs/invariants.md` holds tables with a column headed "held by". A cell names tests as
//! `` `crates/x/tests/y.rs::test_name` `` (or `` `x::module::test_name` ``, for a crate `x`), or one of the
//! checks of this program as `` `cargo xtask layers` ``.

use super::markdown;
use crate::finding::Finding;
use crate::scan::{self, Source};
use crate::tree::Tree;

const LIST: &str = "docs/invariants.md";
const COLUMN: &str = "held by";
/// Checks that may hold an invariant by themselves.
const COMMANDS: &[&str] =
    &["cargo xtask conformance", "cargo xtask gen --check", "cargo xtask layers", "cargo xtask tidy"];

/// Nothing is said while there is no list.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(list) = tree.text(LIST) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut column = None;
    for (number, line) in markdown::outside_fences(list) {
        let Some(cells) = cells(line) else {
            column = None;
            continue;
        };
        let Some(index) = column else {
            column = cells.iter().position(|cell| cell.eq_ignore_ascii_case(COLUMN));
            continue;
        };
        let holders = cells.get(index).map(|cell| markdown::code_spans(cell)).unwrap_or_default();
        let is_rule = cells.iter().all(|cell| cell.trim_matches(['-', ':']).is_empty());
        if holders.is_empty() && !is_rule {
            findings.push(Finding::at(LIST, number, format!("the column `{COLUMN}` names no test")));
        }
        let missing = holders.into_iter().filter(|holder| !holds(tree, holder));
        findings.extend(missing.map(|holder| {
            Finding::at(LIST, number, format!("`{holder}` is neither a test that exists nor a check"))
        }));
    }
    findings
}

/// The cells of a row of a table.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.trim().strip_prefix('|')?;
    let row = row.strip_suffix('|').unwrap_or(row);
    Some(row.split('|').map(str::trim).collect())
}

fn holds(tree: &Tree, holder: &str) -> bool {
    if COMMANDS.contains(&holder) {
        return true;
    }
    let Some((place, test)) = holder.rsplit_once("::") else { return false };
    if place.ends_with(".rs") {
        return tree.text(place).is_some_and(|text| has_test(text, test));
    }
    let first = place.split("::").next().unwrap_or_default();
    let package = first.strip_prefix("setpoint_").unwrap_or(first);
    let folder = if package == "xtask" { "xtask/".to_owned() } else { format!("crates/{package}/") };
    tree.texts("rs").any(|(path, text)| path.starts_with(&folder) && has_test(text, test))
}

/// Whether a function of this name follows a test attribute, or stands in a `proptest!` block (whose functions
/// carry the attribute too).
fn has_test(text: &str, name: &str) -> bool {
    let mut attributed = false;
    let start = format!("fn {name}");
    for (_, line) in Source::new(text).lines() {
        let code = line.code.trim();
        if attributed && code.contains(&start) && scan::has_word(code, name) {
            return true;
        }
        let attribute = code.starts_with("#[");
        let is_test = attribute && scan::has_word(code, "test");
        attributed = is_test || (attributed && (attribute || code.is_empty()));
    }
    false
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    const LIST: &str = "\
# Invariants

| id | invariant | held by |
|---|---|---|
| 1 | a | `crates/a/tests/t.rs::holds` |
| 2 | b | `a::inner::unit`, `setpoint_a::gone` |
| 3 | c | `cargo xtask layers` |
| 4 | d | a promise |
| 5 | e | `crates/a/tests/t.rs::helper` and `crates/a/tests/u.rs::holds` |
| 6 | f | `cargo xtask hope` |

| another | table |
|---|---|
| x | y |
";

    #[test]
    fn rows_must_name_tests_that_exist() {
        super::super::check(
            super::check,
            &[
                ("docs/invariants.md", LIST),
                ("crates/a/tests/t.rs", "#[test]\n// why\n#[should_panic]\nfn holds() {}\nfn helper() {}\n"),
                ("crates/a/src/inner.rs", "#[tokio::test(start_paused = true)]\nasync fn unit() {}"),
            ],
            &expect![[r#"
                docs/invariants.md:6: `setpoint_a::gone` is neither a test that exists nor a check
                docs/invariants.md:8: the column `held by` names no test
                docs/invariants.md:9: `crates/a/tests/t.rs::helper` is neither a test that exists nor a check
                docs/invariants.md:9: `crates/a/tests/u.rs::holds` is neither a test that exists nor a check
                docs/invariants.md:10: `cargo xtask hope` is neither a test that exists nor a check
            "#]],
        );
    }

    #[test]
    fn without_a_list_nothing_is_said() {
        super::super::check(super::check, &[("crates/a/src/lib.rs", "")], &expect![""]);
    }
}
