//! Finds the texts in a command by which its programs may open a place, for a command that could run where only some
//! places are shown.
//!
//! A place that is overlooked seems to be missing there; a text that is taken for a place asks a person for nothing. So
//! program text counts as a whole, and of a command without any only what its programs open.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::mentions::{MENTIONS_MAX, STARTING, filled_in, mentions, words};
use super::tokens::{Token, tokens};
use super::{BEFORE_COMMANDS, SHELLS, is_assignment};
use crate::word::{lists, quoted};

/// Programs that open nothing but what a word of theirs names, and run no other program.
const PLAIN: &str = "[ basename cat cd chmod cmp comm cp cut date dd diff dirname du echo egrep expr false fgrep file fold \
                     grep gzip head join ln ls md5sum mkdir mv nl paste printf pwd readlink realpath rev rm rmdir sed seq \
                     sha1sum sha256sum sleep sort split stat tac tail tee test touch tr true uniq wc yes";
/// Those whose words they only print, compare or count with.
const TALKING: &str = "basename dirname echo expr false printf seq sleep tr true yes";
/// Options by which some of them run another program.
const RUNNING: [&str; 4] = ["-exec", "-ok", "--compress-program", "--filter"];
/// Characters around a text that make it a text of its own in most languages.
const QUOTES: [char; 3] = ['"', '\'', '`'];
/// Longest word in which files that Sed reads and writes are looked for.
const SED_BYTES_MAX: usize = 16 * 1024;

/// Returns the texts of a command that may be places, with `~` and the variables in `vars` expanded.
pub(crate) fn places(command: &str, home: &Path, vars: &BTreeMap<String, String>) -> BTreeSet<String> {
    let filled = |text: &str| filled_in(text, home, vars);
    if let Some(opened) = opened(command, home, vars) {
        return opened.iter().map(|text| filled(text)).collect();
    }
    let mut found = mentions(command, home, vars);
    let words = words(command);
    let starts = |word: &str| {
        lists(SHELLS, word.rsplit('/').next().unwrap_or_default())
            || lists("eval xargs parallel", word)
            || STARTING.iter().any(|part| word.contains(part))
    };
    if !words.iter().any(|(word, _)| starts(word)) {
        found.retain(|text| !is_dots(text) || words.iter().any(|word| is_place(text, word)));
    }
    found
}

/// Returns whether every program of a command opens nothing but what its words name.
pub(crate) fn is_plain(command: &str) -> bool {
    opened(command, Path::new("/"), &BTreeMap::new()).is_some()
}

/// Returns the words of a command, without those of here-documents.
pub(crate) fn shell_words(command: &str) -> Vec<String> {
    words(command).into_iter().filter(|(_, is_in_document)| !is_in_document).map(|(word, _)| word).collect()
}

fn is_dots(text: &str) -> bool {
    text.contains('.') && text.bytes().all(|byte| matches!(byte, b'.' | b'/'))
}

/// Returns whether dots and slashes are meant as a place where they are in this word, and not as a part of a pattern like
/// `(..)`: as the word, as the value of an option or a variable, or as a quoted text of a program.
fn is_place(dots: &str, (word, is_in_document): &(String, bool)) -> bool {
    let before = word.strip_suffix(dots).filter(|_| !is_in_document);
    before.is_some_and(|before| {
        before.is_empty()
            || before.ends_with('=')
            || (before.starts_with('-') && !before.contains(char::is_whitespace))
    }) || QUOTES.iter().any(|quote| word.contains(&format!("{quote}{dots}{quote}")))
}

/// Returns what the programs of a command open; `None` unless all of them are plain and every word is known but for
/// variables.
fn opened(command: &str, home: &Path, vars: &BTreeMap<String, String>) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let (mut program, mut is_target, mut is_loop) = (None, false, false);
    for token in tokens(command) {
        let (word, is_open) = match token {
            Token::Operator(operator) => {
                is_target = matches!(operator, '<' | '>');
                if !is_target {
                    (program, is_loop) = (None, false);
                }
                continue;
            }
            Token::Document { is_open: true, text } if has_substitution(&text) => return None,
            Token::Document { .. } => continue,
            Token::Word { text, is_open } => (text, is_open),
        };
        // Whether a `#` begins a comment is not known, nor what the quotes in one hide.
        let is_unsure = word.starts_with('#') && command.contains('\n');
        let runs = RUNNING.iter().any(|option| word.starts_with(option));
        if is_unsure || runs || (is_open && has_substitution(&word)) || found.len() >= MENTIONS_MAX {
            return None;
        }
        if std::mem::take(&mut is_target) || is_loop {
            add(&mut found, &word, is_open, home, vars);
            continue;
        }
        let Some(name) = &program else {
            if word == "for" {
                is_loop = true;
            } else if is_assignment(&word) {
                add(&mut found, &word, is_open, home, vars);
            } else if !lists(BEFORE_COMMANDS, &word) {
                program = Some(Some(word).filter(|name| !is_open && lists(PLAIN, name))?);
            }
            continue;
        };
        if name == "sed" {
            found.extend(files_of_sed(&word)?.into_iter().map(str::to_owned));
        }
        if !lists(TALKING, name) {
            add(&mut found, &word, is_open, home, vars);
        }
    }
    Some(found)
}

/// Adds a word; of one that is an option, gives a variable its value or holds one, also what may be a path in it.
fn add(
    found: &mut BTreeSet<String>,
    word: &str,
    is_open: bool,
    home: &Path,
    vars: &BTreeMap<String, String>,
) {
    found.insert(word.trim_start_matches(['@', '+']).to_owned());
    let is_assigned = is_assignment(word);
    if is_open || word.starts_with('-') || is_assigned {
        let (inner, word) = (mentions(&quoted(word), home, vars), (word.to_owned(), false));
        found.extend(inner.into_iter().filter(|text| !is_dots(text) || is_place(text, &word)));
    }
    if let Some((_, value)) = word.split_once('=').filter(|_| is_assigned) {
        found.insert(value.to_owned());
    }
    // `-f/etc/x`, but not the separator of `-d/`.
    let value = word.find(['/', '.', '~']).filter(|_| word.starts_with('-')).and_then(|at| word.get(at..));
    found.extend(value.filter(|value| *value != "/").map(str::to_owned));
}

fn has_substitution(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("${")
}

/// Returns the files that a script of Sed may read or write: what follows an `r` or a `w` up to the end of its line. `None`
/// for a script that is too long.
fn files_of_sed(script: &str) -> Option<Vec<&str>> {
    if script.len() > SED_BYTES_MAX {
        return None;
    }
    let after = |line: &'_ str| -> Vec<usize> {
        line.match_indices(['r', 'R', 'w', 'W']).map(|(at, letter)| at + letter.len()).collect()
    };
    let files = script.lines().flat_map(|line| after(line).into_iter().filter_map(|at| line.get(at..)));
    Some(files.map(str::trim_start).filter(|file| file.starts_with(['/', '.', '~'])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(command: &str, place: &str) -> bool {
        places(command, Path::new("/h"), &BTreeMap::new()).contains(place)
    }

    #[test]
    fn parts_of_texts_and_patterns_are_no_places() {
        for (command, text) in [
            (r"sed -i -E 's/(..)-(..)/\2-\1/' d.csv", ".."),
            (r"sed -E 's/^(.*)\/(..)$/\1/' d.csv > o", "/"),
            ("sed -i 's|/var/log/app|/srv/log/app|' c.ini", "/var/log/app"),
            ("grep -E '^..,' a.csv > o", ".."),
            ("awk '$1 ~ /../' a.csv > o", "/../"),
            ("python3 -c \"import re; print(re.sub(r'(..)\\.(..)', r'x', s))\"", ".."),
            ("python3 - <<'E'\nre.findall('/(..)/', s)\nE", ".."),
            ("perl -pi -e 's/(..)-(..)/$2/' d.csv", ".."),
            ("tr '/' '_' < a > o", "/"),
            ("sort -t/ -k2 a > o", "/"),
            ("printf '../x' > o", "../x"),
            ("echo 'see /etc/app/x' >> README.md", "/etc/app/x"),
            ("cat > c <<'E'\nroot /var/www/html;\nE", "/var/www/html"),
            ("cat > c <<E\nroot /var/www/$x;\nE", "/var/www/$x"),
        ] {
            assert!(!has(command, text), "{command}");
        }
    }

    #[test]
    fn what_a_program_may_open_is_a_place() {
        for (command, place) in [
            ("test -e /var/x && echo there", "/var/x"),
            ("[ -d ../x ] || echo none", "../x"),
            ("ls /opt/x; echo done", "/opt/x"),
            ("grep -r x /etc/app > o", "/etc/app"),
            ("grep -f/etc/app/x a > o", "/etc/app/x"),
            ("grep --file=../x a > o", "../x"),
            ("dd if=/var/x of=o", "/var/x"),
            ("D=/etc/app; ls $D", "/etc/app"),
            ("for f in /etc/app/*; do cat $f; done", "/etc/app/*"),
            ("cat < /etc/app/x > o", "/etc/app/x"),
            ("echo x > ../o", "../o"),
            ("cat \"$A/../x\" > o", "$A/../x"),
            ("ls ~ > o", "/h"),
            ("ls .. > o", ".."),
            ("cat > o <<'E'\nx\nE\nls ..", ".."),
            ("cat > o <<E\n$(cat /etc/app/x)\nE", "/etc/app/x"),
            ("sed '1r /etc/app/x' a > o", "/etc/app/x"),
            ("sed -n 'w../x' a", "../x"),
            ("cat a # don't\ncat /etc/app/x > o", "/etc/app/x"),
            // Echoed words that something else takes as names.
            ("echo /etc/app | xargs ls", "/etc/app"),
            ("ls $(echo /etc/app)", "/etc/app"),
            ("echo 'ls ..' | sh", ".."),
            ("echo ../x | while read f; do cat $f; done", "../x"),
            // Program text.
            ("python3 -c \"import os; os.path.exists('/var/x')\"", "/var/x"),
            ("python3 -c \"import os; print(os.listdir('..'))\"", ".."),
            ("python3 gen.py ..", ".."),
            ("python3 gen.py --in=..", ".."),
            ("sh -c 'ls ..'", ".."),
            ("bash <<'E'\nls ..\nE", ".."),
            ("eval 'ls ..'", ".."),
            ("find .. -name x -exec cat {} +", ".."),
        ] {
            assert!(has(command, place), "{command}");
        }
    }

    #[test]
    fn only_known_programs_are_plain() {
        for command in ["echo x > y", "mkdir -p a && cp b a/", "for f in *; do sed -i s/a/b/ \"$f\"; done"] {
            assert!(is_plain(command), "{command}");
        }
        for command in [
            "python3 x.py",
            "echo $(x)",
            "echo x | xargs y",
            "./x",
            "cat a | $P",
            "find . -exec x {} +",
            "f() { ls; }; f",
        ] {
            assert!(!is_plain(command), "{command}");
        }
    }
}
