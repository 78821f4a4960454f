//! Files from which the programs of a command take what they do: program texts, rules, and lists of commands.

use super::{SHELLS, is_assignment};
use crate::word::lists;

/// Programs whose first operand is a file of program text.
const INTERPRETERS: &str =
    "ash bash dash ksh sh zsh source . deno lua node perl php pypy python python2 python3 ruby tclsh";
/// Options of interpreters that take the program text itself.
const TEXT_OPTIONS: &str = "-c -e -E --eval -p";
/// Options of interpreters whose value is the next word.
const VALUES: &str = "-W -X -r --require --rcfile --init-file";
/// Options of shells whose value is the next word; `-e` and `-p` are switches there.
const SHELL_VALUES: &str = "-o -O +o +O --rcfile --init-file";
/// Programs that carry out the statements of their input.
const STATEMENTS: &str = "mysql psql sqlite3";
/// Programs that do what a file of rules says, which an option names.
const RULED: &str = "awk egrep fgrep gawk gmake grep jq make mawk rg sed";
const RULE_OPTIONS: &str = "--file --from-file --makefile";
const MAKE: &str = "gmake make";
/// Files that Make reads if none is named, in its order.
const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
/// Programs that make commands of lines.
const LISTED: &str = "parallel xargs";

/// Returns the files that a program with these operands takes its text or its rules from; `fed` are those that it may be
/// given as its input. A file may be missing.
pub(super) fn sources(name: &str, operands: &[&str], fed: &[String]) -> Vec<String> {
    if lists(INTERPRETERS, name) {
        return program_text(name, operands, fed);
    }
    if lists(STATEMENTS, name) {
        return fed.to_vec();
    }
    if lists(LISTED, name) {
        let list = value_of(operands, "-a", "--arg-file");
        return list.into_iter().map(str::to_owned).collect();
    }
    if !lists(RULED, name) {
        return Vec::new();
    }
    let rules = rules(operands);
    if !rules.is_empty() || !lists(MAKE, name) {
        return rules.into_iter().map(str::to_owned).collect();
    }
    let folder =
        value_of(operands, "-C", "--directory").map(|folder| format!("{folder}/")).unwrap_or_default();
    MAKEFILES.iter().map(|file| format!("{folder}{file}")).collect()
}

fn program_text(name: &str, operands: &[&str], fed: &[String]) -> Vec<String> {
    let is_shell = lists(SHELLS, name);
    let values = if is_shell { SHELL_VALUES } else { VALUES };
    let mut operands = operands.iter().copied();
    while let Some(word) = operands.next() {
        if lists(values, word) {
            operands.next();
        } else if !is_shell && lists(TEXT_OPTIONS, word) {
            return Vec::new();
        } else if !is_shell && word == "-m" {
            let module = operands.next().unwrap_or_default().replace('.', "/");
            return vec![format!("{module}/__main__.py"), format!("{module}.py")];
        } else if word == "-" || (is_shell && word == "-s") {
            return fed.to_vec();
        } else if !word.starts_with(['-', '+']) {
            return vec![word.to_owned()];
        }
    }
    fed.to_vec()
}

/// Returns the values of `-f`, also where it is the last of several letters, and of its long forms.
fn rules<'t>(operands: &[&'t str]) -> Vec<&'t str> {
    let is_rule = |word: &str| {
        let is_letter = word.starts_with('-') && !word.starts_with("--") && word.ends_with('f');
        is_letter || lists(RULE_OPTIONS, word)
    };
    let joined = operands.iter().filter_map(|word| {
        let (option, value) = word.split_once('=')?;
        lists(RULE_OPTIONS, option).then_some(value)
    });
    let next = operands.windows(2).filter_map(|pair| match pair {
        [option, value] if is_rule(option) => Some(*value),
        _ => None,
    });
    joined.chain(next).collect()
}

fn value_of<'t>(operands: &[&'t str], short: &str, long: &str) -> Option<&'t str> {
    let joined = operands.iter().find_map(|word| word.strip_prefix(long)?.strip_prefix('='));
    let next = || {
        operands.windows(2).find_map(|pair| match pair {
            [option, value] if *option == short || *option == long => Some(*value),
            _ => None,
        })
    };
    joined.or_else(next)
}

/// Returns patterns for what `find` with these operands finds: the names it looks for, in its folders and right below.
pub(super) fn found(operands: &[&str]) -> Vec<String> {
    let roots: Vec<&str> =
        operands.iter().copied().take_while(|word| !word.starts_with(['-', '('])).collect();
    let roots = if roots.is_empty() { vec!["."] } else { roots };
    let name = value_of(operands, "-name", "-iname").unwrap_or("*");
    roots.into_iter().flat_map(|root| ["", "*/"].map(|between| format!("{root}/{between}{name}"))).collect()
}

/// Returns the words of a command that may be files: not its program, its options and its assignments.
pub(super) fn files<'t>(words: impl Iterator<Item = &'t str>) -> Vec<String> {
    let words: Vec<&str> = words.skip_while(|word| is_assignment(word)).collect();
    match words.split_first() {
        Some((program, operands)) if program.rsplit('/').next() == Some("find") => found(operands),
        Some((_, operands)) => {
            operands.iter().filter(|word| !word.starts_with('-')).map(|word| (*word).to_owned()).collect()
        }
        None => Vec::new(),
    }
}
