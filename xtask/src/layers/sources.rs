//! Checks the paths and texts in the code against rules that a manifest cannot express.

use super::table::{TABLE, TEST_DRIVERS};
use crate::finding::{self, Exception, Finding};
use crate::scan::{self, Source};
use crate::tree::{Tree, is_test_file};

/// Paths that the pure layers may not name outside their tests: clocks, files, threads and other access to the world.
const WORLD: &[&[&str]] = &[
    &["Timestamp", "now"],
    &["Zoned", "now"],
    &["SystemTime", "now"],
    &["Instant", "now"],
    &["TimeZone", "system"],
    &["std", "env"],
    &["std", "fs"],
    &["std", "net"],
    &["std", "process"],
    &["std", "thread"],
];

/// The layer of `app` and of the crates beside and above it.
const APP_LAYER: u8 = 5;
/// Files below `app` whose texts may name commands.
pub(super) const COMMANDS_NAMED: &[Exception] = &[
    Exception { path: "crates/machine/src/cell/deliver.rs", reason: RECORDED },
    Exception { path: "crates/model/src/playbook/unable.rs", reason: RECORDED },
    Exception { path: "crates/model/src/remote/failure.rs", reason: RECORDED },
    Exception { path: "crates/roles/src/r6_auditor/task/watch.rs", reason: RECORDED },
    Exception { path: "crates/tools/src/error.rs", reason: "models read it, and recordings are keyed to it" },
];
const RECORDED: &str = "the hint is recorded as text: it can only move up once hints are typed";

const ROLES: &str = "crates/roles/src/";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = pure_layers_stay_pure(tree);
    findings.extend(roles_do_not_name_each_other(tree));
    findings.extend(no_command_is_named_below_app(tree));
    findings
}

fn pure_layers_stay_pure(tree: &Tree) -> Vec<Finding> {
    let pure: Vec<_> =
        TABLE.iter().filter(|row| row.is_pure()).map(|row| format!("crates/{}/src/", row.name)).collect();
    let mut findings = Vec::new();
    for (path, text) in tree.texts("rs").filter(|(path, _)| !is_test_file(path)) {
        if !pure.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        for (number, name) in scan::paths(Source::new(text).shipped()) {
            let named = WORLD.iter().find(|forbidden| is_within(forbidden, &name));
            findings.extend(named.map(|forbidden| {
                let forbidden = forbidden.join("::");
                Finding::at(path, number, format!("a pure layer names `{forbidden}`: take it as an argument"))
            }));
        }
    }
    findings
}

/// Reports a role module (`r1_…` to `r7_…`) that names another one; roles share only helpers.
fn roles_do_not_name_each_other(tree: &Tree) -> Vec<Finding> {
    let sources: Vec<_> =
        tree.texts("rs").filter_map(|(path, text)| Some((path, module(path)?, text))).collect();
    let mut findings = Vec::new();
    for (path, own, text) in sources.iter().filter(|(_, own, _)| is_role(own)) {
        for (number, name) in scan::paths(Source::new(text).lines()) {
            let other = name.iter().find(|part| {
                is_role(part) && part != own && sources.iter().any(|(_, module, _)| module == part)
            });
            findings.extend(other.map(|other| {
                Finding::at(path, number, format!("the role module `{own}` names another, `{other}`"))
            }));
        }
    }
    findings
}

/// Returns the module of the crate `roles` that a file belongs to.
fn module(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(ROLES)?;
    rest.split_once('/').map(|(folder, _)| folder).or_else(|| rest.strip_suffix(".rs"))
}

fn is_role(module: &str) -> bool {
    let Some((number, _)) = module.strip_prefix('r').and_then(|rest| rest.split_once('_')) else {
        return false;
    };
    number.trim_end_matches(['a', 'b']).bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty()
}

/// Reports texts below `app` that name a command: another edge than the command line could not use them.
fn no_command_is_named_below_app(tree: &Tree) -> Vec<Finding> {
    let below: Vec<_> = TABLE
        .iter()
        .filter(|row| row.layer < APP_LAYER && !TEST_DRIVERS.contains(&row.name))
        .map(|row| format!("crates/{}/src/", row.name))
        .collect();
    let mut findings = Vec::new();
    for (path, text) in tree.texts("rs").filter(|(path, _)| !is_test_file(path)) {
        if !below.iter().any(|folder| path.starts_with(folder)) || finding::excepted(COMMANDS_NAMED, path) {
            continue;
        }
        for ((number, line), raw) in Source::new(text).shipped().zip(text.lines()) {
            if line.literal && names_command(&raw.replace(&line.comment, "")) {
                let reason =
                    "a text below `app` names a command or an option of the command line: give it from there";
                findings.push(Finding::at(path, number, reason));
            }
        }
    }
    findings
}

/// Returns whether a text in backticks is a command or an option.
fn names_command(text: &str) -> bool {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_option = |word: &str| {
        word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    quoted.into_iter().any(|text| text.starts_with("setpoint ") || text.split(' ').any(is_option))
}

/// Returns whether `whole` contains `part` as consecutive items.
fn is_within(part: &[&str], whole: &[String]) -> bool {
    whole.windows(part.len()).any(|window| window.iter().zip(part).all(|(a, b)| a == b))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(texts: &[(&str, &str)], expected: &Expect) {
        expected.assert_eq(&crate::finding::text(&super::check(&Tree::of(texts))));
    }

    #[test]
    fn pure_layers_do_not_access_the_world() {
        check(
            &[
                (
                    "crates/control/src/law.rs",
                    "use std::{collections::BTreeMap, fs::File};\nlet t = jiff::Timestamp::now();\n\
                     // std::fs\n\"std::env\"; env!(\"X\"); self.now();\n::std::thread::spawn(f);\n\
                     #[cfg(test)]\nmod tests {\nuse std::fs;\n}",
                ),
                ("crates/roles/src/tests.rs", "use std::fs;"),
                ("crates/roles/tests/a.rs", "use std::fs;"),
                ("crates/journal/src/lib.rs", "use std::fs;"),
            ],
            &expect![[r#"
                crates/control/src/law.rs:1: a pure layer names `std::fs`: take it as an argument
                crates/control/src/law.rs:2: a pure layer names `Timestamp::now`: take it as an argument
                crates/control/src/law.rs:5: a pure layer names `std::thread`: take it as an argument
            "#]],
        );
    }

    #[test]
    fn a_role_names_no_other_role() {
        check(
            &[
                ("crates/roles/src/lib.rs", "pub mod r2_planner;\npub mod r4b_meta_validator;"),
                ("crates/roles/src/verdict.rs", "use crate::r2_planner::X;"),
                ("crates/roles/src/r2_planner/mod.rs", "use crate::verdict;\nuse crate::r2_planner::plan;"),
                ("crates/roles/src/r2_planner/plan.rs", "use crate::{verdict, r4b_meta_validator::Merge};"),
                ("crates/roles/src/r4b_meta_validator.rs", "super::r2_planner::plan();\nlet r2_d2 = r9_x;"),
            ],
            &expect![[r#"
                crates/roles/src/r2_planner/plan.rs:1: the role module `r2_planner` names another, `r4b_meta_validator`
                crates/roles/src/r4b_meta_validator.rs:1: the role module `r4b_meta_validator` names another, `r2_planner`
            "#]],
        );
    }

    #[test]
    fn a_text_below_app_names_no_command() {
        check(
            &[
                (
                    "crates/runtime/src/a.rs",
                    "let a = \"see `setpoint tasks`\"; // `setpoint run`\nlet b = \"or `run --force`\";\nlet c = \"`config` --x\";\n\
                     let d = \"the crate `setpoint-runtime`\";\n#[cfg(test)]\nmod tests {\nlet e = \"`--all`\";\n}",
                ),
                ("crates/app/src/a.rs", "let a = \"`setpoint tasks`\";"),
                ("crates/tools/src/error.rs", "let a = \"`setpoint tasks`\";"),
            ],
            &expect![[r#"
                crates/runtime/src/a.rs:1: a text below `app` names a command or an option of the command line: give it from there
                crates/runtime/src/a.rs:2: a text below `app` names a command or an option of the command line: give it from there
            "#]],
        );
    }
}
