//! Programs with a language of their own, of which only printing is accepted.

use super::{Args, Call, Walk};
use crate::Reason;
use crate::word::Word;

pub(super) fn judge(args: &Args<'_>) -> Option<Result<Call, Reason>> {
    match args.program {
        "sed" => Some(sed(args)),
        "awk" | "gawk" | "mawk" => Some(awk(args)),
        "jq" => Some(jq(args)),
        _ => None,
    }
}

/// Adds the files after a program text. After `--`, no match of a wildcard is an option.
fn with_files(args: &Args<'_>, mut call: Call, files: &[Word]) -> Result<Call, Reason> {
    for file in files {
        // An option would be read as one at any position; a socket of `awk` has a name like a file.
        if file.text().is_some_and(|text| file.may_be_option() || text.starts_with("/inet")) {
            return Err(args.refuse(file));
        }
        call.read(file, Walk::No);
    }
    Ok(call)
}

fn sed(args: &Args<'_>) -> Result<Call, Reason> {
    let mut call = args.call();
    let mut words = args.words;
    let mut has_script = false;
    while let Some((word, rest)) = words.split_first() {
        match word.text() {
            Some("-n" | "-E" | "-r" | "-nE" | "-nr" | "-En" | "-rn") => call.push(word),
            Some("-e" | "-ne") => {
                let (script, _) = rest.split_first().ok_or_else(|| args.refuse(word))?;
                check(args, script, prints_only)?;
                call.push(word);
                call.push(script);
                has_script = true;
                words = rest.get(1..).unwrap_or_default();
                continue;
            }
            _ => break,
        }
        words = rest;
    }
    call.rendered.push("--".to_owned());
    if has_script {
        return with_files(args, call, words);
    }
    let (script, files) = words.split_first().ok_or_else(|| Reason::argument("sed", "no script"))?;
    check(args, script, prints_only)?;
    call.push(script);
    with_files(args, call, files)
}

fn check(args: &Args<'_>, word: &Word, passes: impl Fn(&str) -> bool) -> Result<(), Reason> {
    if word.text().is_some_and(|text| !word.may_be_option() && passes(text)) {
        Ok(())
    } else {
        Err(args.refuse(word))
    }
}

/// Returns whether a script of `sed` has only the commands `p`, `q` and `=`, with or without addresses.
fn prints_only(script: &str) -> bool {
    let mut rest = script.trim();
    while !rest.is_empty() {
        let Some(after) = address(rest) else { return false };
        let after = after.trim_start();
        let after = match after.strip_prefix(',') {
            Some(second) => match address(second.trim_start()) {
                Some(end) if end.len() < second.trim_start().len() => end.trim_start(),
                _ => return false,
            },
            None => after,
        };
        let after = after.strip_prefix('!').unwrap_or(after);
        let Some(after) = after.strip_prefix(['p', 'q', '=']) else { return false };
        rest = after.trim_start_matches([' ', '\t']);
        match rest.strip_prefix([';', '\n']) {
            Some(next) => rest = next.trim_start(),
            None if rest.is_empty() => {}
            None => return false,
        }
    }
    true
}

/// Returns what follows an address (a line, `$` or a pattern), or the text itself if it has none.
fn address(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('$') {
        return Some(rest);
    }
    let Some(pattern) = text.strip_prefix('/') else {
        return Some(text.trim_start_matches(|c: char| c.is_ascii_digit()));
    };
    let rest = after_pattern(pattern)?;
    Some(rest.strip_prefix('I').unwrap_or(rest))
}

/// Returns what follows the slash that ends a pattern.
fn after_pattern(pattern: &str) -> Option<&str> {
    let mut is_escaped = false;
    for (at, c) in pattern.char_indices() {
        match c {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '/' => return pattern.get(at + 1..),
            _ => {}
        }
    }
    None
}

fn awk(args: &Args<'_>) -> Result<Call, Reason> {
    let mut call = args.call();
    let mut words = args.words;
    while let Some((word, rest)) = words.split_first() {
        match word.text() {
            Some("-F") => {
                let (separator, _) = rest.split_first().ok_or_else(|| args.refuse(word))?;
                check(args, separator, |_| true)?;
                call.push(word);
                call.push(separator);
                words = rest.get(1..).unwrap_or_default();
            }
            Some(text) if text.starts_with("-F") => {
                call.push(word);
                words = rest;
            }
            _ => break,
        }
    }
    let (script, files) = words.split_first().ok_or_else(|| Reason::argument("awk", "no program"))?;
    check(args, script, awk_prints_only)?;
    call.rendered.push("--".to_owned());
    call.push(script);
    with_files(args, call, files)
}

/// Returns whether a program of `awk` is `CONDITION {print …}`, either part optional, with only fields, numbers, texts and
/// comparisons.
fn awk_prints_only(program: &str) -> bool {
    let (condition, action) = match program.split_once('{') {
        Some((condition, action)) => match action.trim_end().strip_suffix('}') {
            Some(action) => (condition, Some(action)),
            None => return false,
        },
        None => (program, None),
    };
    let has_braces = |text: &str| text.contains(['{', '}']);
    let prints = action.is_none_or(|action| {
        let list = action.trim().trim_end_matches(';').trim_end();
        !has_braces(action)
            && list.strip_prefix("print").is_some_and(|list| {
                list.is_empty()
                    || (!list.starts_with(|c: char| c.is_ascii_alphanumeric()) && is_awk_list(list))
            })
    });
    prints && !has_braces(condition) && is_awk_condition(condition)
}

/// Returns whether the list has only fields, numbers and texts, separated by blanks and commas.
fn is_awk_list(list: &str) -> bool {
    let mut rest = list.trim_start();
    while !rest.is_empty() {
        let Some(after) = awk_value(rest) else { return false };
        rest = after.trim_start_matches([' ', '\t', ',']);
    }
    true
}

/// Returns what follows a field, a number, a counter or a text.
fn awk_value(text: &str) -> Option<&str> {
    if let Some(inner) = text.strip_prefix('"') {
        let (inside, rest) = inner.split_once('"')?;
        return (!inside.contains(['\\', '\n'])).then_some(rest);
    }
    let text = text.strip_prefix('$').unwrap_or(text);
    for counter in ["NR", "NF", "FNR", "$NF"] {
        if let Some(rest) = text.strip_prefix(counter) {
            return (!rest.starts_with(|c: char| c == '_' || c.is_ascii_alphanumeric())).then_some(rest);
        }
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < text.len() && !rest.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()))
        .then_some(rest)
}

/// Returns whether the condition has only comparisons of values and `/patterns/`, joined by `&&` and `||`.
fn is_awk_condition(condition: &str) -> bool {
    let mut rest = condition.trim();
    if rest.is_empty() {
        return true;
    }
    loop {
        rest = rest.strip_prefix('!').unwrap_or(rest).trim_start();
        let after = match rest.strip_prefix('/') {
            Some(pattern) => after_pattern(pattern),
            None => awk_value(rest),
        };
        let Some(after) = after.map(str::trim_start) else { return false };
        rest = after;
        if rest.is_empty() {
            return true;
        }
        let Some(operator) = ["==", "!=", ">=", "<=", "&&", "||", "!~", ">", "<", "~", "%"]
            .into_iter()
            .find(|operator| rest.starts_with(operator))
        else {
            return false;
        };
        rest = rest.strip_prefix(operator).unwrap_or_default().trim_start();
    }
}

/// Letters of `jq` options without a value.
const JQ_LETTERS: &str = "rcnsSeMCja";

fn jq(args: &Args<'_>) -> Result<Call, Reason> {
    let mut call = args.call();
    let mut words = args.words;
    while let Some((word, rest)) = words.split_first() {
        match word.text() {
            Some(text) if word.may_be_option() => {
                let letters = text.strip_prefix('-').unwrap_or_default();
                let is_long =
                    ["-raw-output", "-compact-output", "-null-input", "-slurp", "-sort-keys", "-exit-status"]
                        .contains(&letters);
                if !is_long && !letters.chars().all(|c| JQ_LETTERS.contains(c)) {
                    return Err(args.refuse(word));
                }
                call.push(word);
                words = rest;
            }
            _ => break,
        }
    }
    let (filter, files) = words.split_first().ok_or_else(|| Reason::argument("jq", "no filter"))?;
    // The filter could read other files as modules.
    check(args, filter, |text| {
        !["import", "include", "input_filename", "modulemeta"].iter().any(|word| text.contains(word))
    })?;
    call.push(filter);
    if !files.is_empty() {
        call.rendered.push("--".to_owned());
    }
    with_files(args, call, files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_script_that_only_prints_is_accepted() {
        for script in [
            "10,20p",
            "1p",
            "$p",
            "5,$p",
            "/start/,/end/p",
            "1p;3p",
            "10q",
            "/a\\/b/p",
            "10,20p;21q",
            "$=",
            "/x/Ip",
            "1!p",
        ] {
            assert!(prints_only(script), "{script}");
        }
        for script in [
            "w out",
            "1e",
            "e touch x",
            "s/a/b/",
            "s/a/b/e",
            "1,2w x",
            "/a/e",
            "p;e ls",
            "1p\ne ls",
            "/a/",
            "i x",
            "r f",
            "1pw x",
            "\\,a,p",
            "1,w x",
            "y/a/b/",
            "{p}",
            "1~2p",
            "p e",
            "/a\n/p",
        ] {
            assert!(!prints_only(script), "{script}");
        }
    }

    #[test]
    fn awk_program_that_only_prints_is_accepted() {
        for program in [
            "{print $1}",
            "{print $1, $NF}",
            "{ print $2 \": \" $3 }",
            "NR==5",
            "NR>=10 && NR<=20",
            "/error/ {print $1}",
            "$3 > 100 {print $1}",
            "$1 ~ /x/ && NR > 1 {print $2}",
            "{print}",
            "{print;}",
            "NR%2==0",
            "NF",
        ] {
            assert!(awk_prints_only(program), "{program}");
        }
        for program in [
            "{print > \"x\"}",
            "{print $1/2 > \"x\" /1}",
            "{print | \"sh\"}",
            "BEGIN{system(\"x\")}",
            "{print $1} {system($2)}",
            "{print system(\"x\")}",
            "{printf \"x\" > \"y\"}",
            "system(\"x\")",
            "\"cmd\" | getline",
            "{getline < \"x\"}",
            "@load \"x\"",
            "{print $system(1)}",
            "/a/ {print > $1}",
            "$1/2 > \"x\" /1",
            "{print \"a\\\"}\" > \"x\"}",
            "{print $1 > $2}",
            "{printx(1)}",
            "NR==1{print}NR==2{system(1)}",
        ] {
            assert!(!awk_prints_only(program), "{program}");
        }
    }
}
