//! Every invariant in the documents names a test that exists.
//!
//! `docs/invariants.md` contains tables with a column headed "held by". A cell names tests as ``
//! `crates/x/tests/y.rs::test_name` `` (modules of the file may come between; or `` `x::module::test_name` ``, for a
//! crate `x`), or one of the checks of this program as `` `cargo xtask layers` ``. Beside a test that runs scripts, the
//! cell names the relevant scripts, as `` `crates/x/tests/scripts/z.txt` ``; a script alone is not a test.

use super::markdown;
use crate::finding::Finding;
use crate::scan::{self, Source};
use crate::tree::Tree;

const LIST: &str = "docs/invariants.md";
const COLUMN: &str = "held by";
/// Checks that may hold an invariant without a test.
const COMMANDS: &[&str] =
    &["cargo xtask conformance", "cargo xtask gen --check", "cargo xtask layers", "cargo xtask tidy"];

/// Reports rows without an existing test. Does nothing without a list.
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
        if !is_rule && holders.iter().all(|holder| is_script(holder)) {
            let reason = format!("the column `{COLUMN}` names no test (hint: name one, or drop the claim)");
            findings.push(Finding::at(LIST, number, reason));
        }
        let missing = holders.into_iter().filter_map(|holder| Some((holder, missing(tree, holder)?)));
        findings.extend(missing.map(|(holder, why)| Finding::at(LIST, number, format!("`{holder}`: {why}"))));
    }
    findings
}

/// Returns the cells of a row of a table.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.trim().strip_prefix('|')?;
    let row = row.strip_suffix('|').unwrap_or(row);
    Some(row.split('|').map(str::trim).collect())
}

/// Returns whether a name is that of a test's input: a file of a test folder that is not code.
fn is_script(holder: &str) -> bool {
    holder.contains("/tests/") && !holder.contains("::") && !holder.ends_with(".rs")
}

/// Returns what does not exist, with what to do about it; `None` if everything exists.
fn missing(tree: &Tree, holder: &str) -> Option<String> {
    if COMMANDS.contains(&holder) {
        return None;
    }
    if is_script(holder) {
        let reason = "there is no such file (hint: name it as it stands in the repository)";
        return (!tree.has(holder)).then(|| reason.to_owned());
    }
    let Some((place, test)) = holder.rsplit_once("::") else {
        let checks = COMMANDS.join("`, `");
        return Some(format!(
            "this is neither a test nor a check (hint: `FILE.rs::TEST`, or one of `{checks}`)"
        ));
    };
    let Some((path, modules)) = in_file(place) else { return missing_in_crate(tree, place, test) };
    let Some(text) = tree.text(path) else {
        return Some(format!("there is no file {path} (hint: has it moved?)"));
    };
    if let Some(module) = modules.iter().find(|module| !has_module(text, module)) {
        return Some(format!("{path} has no module {module} (hint: the test alone is enough)"));
    }
    let reason = "it has no such test (hint: has it been renamed, or has it lost its `#[test]`?)";
    (!has_test(text, test)).then(|| reason.to_owned())
}

fn missing_in_crate(tree: &Tree, place: &str, test: &str) -> Option<String> {
    let first = place.split("::").next().unwrap_or_default();
    let package = first.strip_prefix("setpoint_").unwrap_or(first);
    let folder = if package == "xtask" { "xtask/".to_owned() } else { format!("crates/{package}/") };
    let is_there = tree.texts("rs").any(|(path, text)| path.starts_with(&folder) && has_test(text, test));
    (!is_there).then(|| format!("{folder} has no such test (hint: name its file, as `FILE.rs::TEST`)"))
}

/// Splits `a/b.rs::c::d` into the file `a/b.rs` and the modules `c` and `d`.
fn in_file(place: &str) -> Option<(&str, Vec<&str>)> {
    let mut parts = place.split("::");
    let path = parts.next().filter(|path| path.ends_with(".rs"))?;
    Some((path, parts.collect()))
}

fn has_module(text: &str, name: &str) -> bool {
    let start = format!("mod {name}");
    Source::new(text).lines().any(|(_, line)| line.code.contains(&start) && scan::has_word(&line.code, name))
}

/// Returns whether a function of this name has a test attribute, or is in a `proptest!` block (whose functions have one
/// too), or whether a test executable with a `main` of its own lists the name: `("name", run),`.
fn has_test(text: &str, name: &str) -> bool {
    let mut attributed = false;
    let start = format!("fn {name}");
    for (_, line) in Source::new(text).lines() {
        let code = line.code.trim();
        if code.starts_with("(\"\",") && line.text.trim() == name {
            return true;
        }
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
| 7 | g | `crates/a/src/inner.rs::tests::unit`, `crates/a/src/inner.rs::checks::unit` |
| 8 | h | `crates/a/tests/t.rs::holds` with `crates/a/tests/scripts/one.txt`, `crates/a/tests/scripts/two.txt` |
| 9 | i | `crates/a/tests/scripts/one.txt` |
| 10 | j | `crates/a/tests/own/main.rs::listed`, `crates/a/tests/own/main.rs::unlisted` |

| another | table |
|---|---|
| x | y |
";

    #[test]
    fn rows_must_name_tests_that_exist() {
        let inner = "mod tests {\n#[tokio::test(start_paused = true)]\nasync fn unit() {}\n}";
        super::super::check(
            super::check,
            &[
                ("docs/invariants.md", LIST),
                ("crates/a/tests/t.rs", "#[test]\n// why\n#[should_panic]\nfn holds() {}\nfn helper() {}\n"),
                ("crates/a/tests/scripts/one.txt", "> a\n< b\n"),
                (
                    "crates/a/tests/own/main.rs",
                    "const TESTS: &[Test] = &[\n    (\"listed\", run),\n];\n// (\"unlisted\", run)\n",
                ),
                ("crates/a/src/inner.rs", inner),
            ],
            &expect![[r#"
                docs/invariants.md:6: `setpoint_a::gone`: crates/a/ has no such test (hint: name its file, as `FILE.rs::TEST`)
                docs/invariants.md:8: the column `held by` names no test (hint: name one, or drop the claim)
                docs/invariants.md:9: `crates/a/tests/t.rs::helper`: it has no such test (hint: has it been renamed, or has it lost its `#[test]`?)
                docs/invariants.md:9: `crates/a/tests/u.rs::holds`: there is no file crates/a/tests/u.rs (hint: has it moved?)
                docs/invariants.md:10: `cargo xtask hope`: this is neither a test nor a check (hint: `FILE.rs::TEST`, or one of `cargo xtask conformance`, `cargo xtask gen --check`, `cargo xtask layers`, `cargo xtask tidy`)
                docs/invariants.md:11: `crates/a/src/inner.rs::checks::unit`: crates/a/src/inner.rs has no module checks (hint: the test alone is enough)
                docs/invariants.md:12: `crates/a/tests/scripts/two.txt`: there is no such file (hint: name it as it stands in the repository)
                docs/invariants.md:13: the column `held by` names no test (hint: name one, or drop the claim)
                docs/invariants.md:14: `crates/a/tests/own/main.rs::unlisted`: it has no such test (hint: has it been renamed, or has it lost its `#[test]`?)
            "#]],
        );
    }

    #[test]
    fn without_a_list_nothing_is_reported() {
        super::super::check(super::check, &[("crates/a/src/lib.rs", "")], &expect![""]);
    }
}
