//! Finds every text in a command that may be a path.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::super::word::lists;
use super::tokens::{Token, tokens};

/// Maximum paths returned for one command.
pub(super) const MENTIONS_MAX: usize = 4_000;

/// Words that make a lone `~` or `/` inside a longer text a possible folder, and not an operator in that text's language:
/// shells, programs that change the directory, and programs that remove or copy everything below a folder.
const FOLLOWING: &str =
    "ash bash dash ksh sh zsh eval cd pushd -C rm shred chgrp chmod chown cp mv rsync tar zip";
/// Parts of words that do the same: programs that start others or change the directory by a call.
pub(super) const STARTING: [&str; 6] = ["chdir", "exec", "popen", "process", "spawn", "system"];

pub(crate) fn mentions(command: &str, home: &Path, vars: &BTreeMap<String, String>) -> BTreeSet<String> {
    let is_path = |c: char| c.is_alphanumeric() || "_-./~+@%${}*?".contains(c);
    let (mut found, mut signs) = (BTreeSet::new(), BTreeSet::new());
    let mut follows = command.contains('`');
    for (word, is_in_document) in words(command) {
        let inside = word.split(|c: char| !is_path(c)).map(str::to_owned);
        for text in inside.chain([word.clone()]) {
            let text = text.trim_start_matches(['@', '+']);
            follows |= lists(FOLLOWING, text.rsplit('/').next().unwrap_or_default())
                || STARTING.iter().any(|part| text.contains(part));
            if text.is_empty() || found.len() + signs.len() >= MENTIONS_MAX {
                continue;
            }
            let is_sign = matches!(text, "~" | "/") && (is_in_document || text != word);
            let texts = if is_sign { &mut signs } else { &mut found };
            texts.insert(filled_in(text, home, vars));
        }
    }
    if follows {
        found.append(&mut signs);
    }
    found
}

/// Returns the words of a command and of its here-documents, and whether each is inside one.
pub(super) fn words(command: &str) -> Vec<(String, bool)> {
    let mut words = Vec::new();
    let mut texts = vec![(command.to_owned(), false)];
    while let Some((text, is_in_document)) = texts.pop() {
        for token in tokens(&text) {
            match token {
                Token::Word { text, .. } => words.push((text, is_in_document)),
                // The document's text is shorter than `text`, so the loop ends.
                Token::Document { text, .. } => texts.push((text, true)),
                Token::Operator(_) => {}
            }
        }
    }
    words
}

/// Returns the text with `~` and known variables expanded.
pub(super) fn filled_in(text: &str, home: &Path, vars: &BTreeMap<String, String>) -> String {
    let mut text = text.to_owned();
    if text == "~" || text.starts_with("~/") {
        text = text.replacen('~', &home.to_string_lossy(), 1);
    }
    if !text.contains('$') {
        return text;
    }
    let home = home.to_string_lossy();
    let known =
        vars.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain([("HOME", home.as_ref())]);
    for (name, value) in known {
        text = text.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentioned_paths_are_found_in_quotes_and_after_prefixes() {
        let vars = BTreeMap::from([("XDG_DATA_HOME".to_owned(), "/h/data".to_owned())]);
        for (text, path) in [
            ("cat ~/x/y", "/h/x/y"),
            ("python3 -c \"open('/a/b').read()\"", "/a/b"),
            ("dd if=/a/b of=c", "/a/b"),
            ("cat $XDG_DATA_HOME/setpoint", "/h/data/setpoint"),
            ("cat ${HOME}/k", "/h/k"),
            ("cat '/a b/c'", "/a b/c"),
            ("curl -d @/a/b x", "/a/b"),
            ("x <../s", "../s"),
            ("cat /a/'b'/\"c\"", "/a/b/c"),
        ] {
            assert!(
                mentions(text, Path::new("/h"), &vars).contains(path),
                "{text}: {:?}",
                mentions(text, Path::new("/h"), &vars)
            );
        }
    }

    #[test]
    fn operator_inside_program_text_is_not_a_folder() {
        let has = |text: &str, path: &str| mentions(text, Path::new("/h"), &BTreeMap::new()).contains(path);
        for text in [
            "awk '$1 ~ /x/ { print $1 * 2 }' f",
            "python3 -c 'print(a[0] / 100)'",
            "python3 - <<'E'\nx = a / b\nE",
        ] {
            assert!(!has(text, "/h") && !has(text, "/"), "{text}");
        }
        for (text, path) in [
            ("ls ~", "/h"),
            ("ls '/'", "/"),
            ("sh -c 'cat ~ *'", "/h"),
            ("python3 -c 'import os; os.chdir( / )'", "/"),
            ("awk 'BEGIN { system( \"ls ~ \") }'", "/h"),
            ("perl -e '`ls ~ `'", "/h"),
            ("bash <<E\ncd ~\ncat */x\nE", "/h"),
            ("python3 - <<'E'\nopen('/a/b')\nE", "/a/b"),
        ] {
            assert!(has(text, path), "{text}");
        }
    }
}
