//! Calls that were refused: of which criteria a model's word is then not believed.

use setpoint_protocol::message::Criterion;
use setpoint_protocol::tool::ToolRecord;

use super::WEIGHED_SINCE;
use super::bearing::is_of_the_same;
use super::case::{Case, WRITE_ONE};
use super::executed::{ends_in, words};
use super::overlooked::{is_like, last_of};
use super::programs::{LISTERS, NAMERS, SPEAKERS};
use super::strength::{parts, programs};
use crate::evidence::command_of;
use crate::words::{WordList, word_list};

/// Programs that change nothing, by no option.
const HARMLESS: WordList =
    word_list!("cat cmp comm cut diff echo egrep fgrep grep head md5sum nl printf sha256sum tail tr true wc");
/// Programs that change nothing unless something in the command says so.
const HARMLESS_IF_PLAIN: WordList = word_list!("awk sed sort uniq");
/// Programs of which no word is a file.
const WITHOUT_FILES: WordList = word_list!("echo printf tr true");
/// Programs whose first word is what they do or look for.
const WITH_A_PROGRAM: WordList = word_list!("awk egrep fgrep grep sed");
/// Words of the shell that may stand before a program.
const BEFORE_A_PROGRAM: WordList = word_list!("do else if then");
/// Words of the shell at which a part of a line without a program may begin.
const BEGINNINGS: WordList = word_list!("do done else fi for then");
/// Other beginnings of a part of a line that reads no file.
const NO_READERS: WordList = word_list!("case export for function local read set stat test touch unset");
/// Signs by which more runs than the programs of the list, or a file is written.
const OPEN_SIGNS: [&str; 10] = ["`", "$(", "<(", "()", ">", "\\", "\n", "system", "getline", "@"];
/// Signs after which a letter in a program of `sed` may be a command.
const BEFORE_A_COMMAND: &str = " ;{}/|#,!$0123456789gpiImM";
/// Tools that read what is in files.
const READING_TOOLS: [&str; 5] = ["count_lines", "grep", "read_document", "read_file", "table_summary"];

/// Returns whether a criterion may claim what a refused call was to do. A look is made up for by another one that ran; and of
/// one file that would have been written, only what is about another file is free.
pub(super) fn casts_doubt(refused: &ToolRecord, criterion: &Criterion, case: &Case<'_>) -> bool {
    if case.logic_version < WEIGHED_SINCE {
        return true;
    }
    if let Some(wanted) = would_only_read(refused) {
        let read: Vec<String> = case.work().filter(|call| call.ran()).flat_map(read_words).collect();
        return !wanted.iter().all(|wanted| read.iter().any(|word| is_the_same_file(wanted, word)));
    }
    let names_a_file = words(&criterion.criterion).any(|word| word.contains('.'));
    let is_of_another_file =
        WRITE_ONE.contains(&refused.tool.tool()) && names_a_file && !is_of_the_same(refused, criterion);
    !is_of_another_file
}

/// Returns the words of what a call read: of a command without what only prints or names, lists for a loop, and comments.
fn read_words(call: &ToolRecord) -> Vec<String> {
    let Some(command) = command_of(call) else {
        let reads = READING_TOOLS.contains(&call.tool.tool());
        let input = call.input.to_text();
        let words = words(&input).chain([call.target.as_str()]).map(str::to_owned);
        return if reads { words.collect() } else { Vec::new() };
    };
    let only_names = |name: &str| {
        LISTERS.contains(&name) || NAMERS.contains(&name) || SPEAKERS.contains(&name) || NO_READERS.has(name)
    };
    let mut read = Vec::new();
    for part in parts(command) {
        let mut part = part.iter().skip_while(|(word, _)| BEFORE_A_PROGRAM.has(word));
        if part.next().is_some_and(|(program, _)| !only_names(program)) {
            let said = part.take_while(|(word, is_quoted)| *is_quoted || !word.starts_with('#'));
            read.extend(said.flat_map(|(word, _)| words(word)).map(str::to_owned));
        }
    }
    read
}

/// Returns whether a word of a call that ran is a file of the refused one. A path out of the folder must be the same one.
fn is_the_same_file(wanted: &str, word: &str) -> bool {
    let is_out = wanted.starts_with(['/', '~', '$']) || wanted.contains("..");
    word == wanted
        || (!is_out
            && (ends_in(word, wanted)
                || (wanted.contains(['*', '?']) && is_like(last_of(wanted), last_of(word)))))
}

/// Returns the files, or patterns of them, that a refused call would have read; `None` if it may have done more, or names
/// none.
fn would_only_read(refused: &ToolRecord) -> Option<Vec<String>> {
    let Some(command) = command_of(refused) else {
        let path = refused.input.get("path").and_then(serde_json::Value::as_str);
        return path
            .filter(|_| READING_TOOLS.contains(&refused.tool.tool()))
            .map(|path| vec![path.to_owned()]);
    };
    let is_known = |name: &str| HARMLESS.has(name) || HARMLESS_IF_PLAIN.has(name);
    let are_known = programs(refused).all(|name| name.is_some_and(is_known));
    if !are_known || OPEN_SIGNS.iter().any(|sign| command.contains(sign)) {
        return None;
    }
    let mut files = Vec::new();
    for part in parts(command) {
        files.extend(read_by(&part)?);
    }
    (!files.is_empty()).then_some(files)
}

/// Returns the files that one command of a line reads; `None` if it may do more. A program may only be named by its bare
/// name, after words of the shell.
fn read_by(part: &[(String, bool)]) -> Option<Vec<String>> {
    let is_program = |(word, _): &(String, bool)| HARMLESS.has(word) || HARMLESS_IF_PLAIN.has(word);
    let Some(at) = part.iter().position(is_program) else {
        let is_of_the_shell = part.first().is_none_or(|(word, _)| BEGINNINGS.has(word));
        let listed = part.iter().skip_while(|(word, _)| word != "in").skip(1);
        return is_of_the_shell.then(|| listed.map(|(word, _)| word.clone()).collect());
    };
    let (before, rest) = part.split_at(at);
    let ((program, _), words) = rest.split_first()?;
    let is_plain = match program.as_str() {
        "sed" => !has_option(words, "if") && !words.iter().any(|(word, _)| may_write(word)),
        "awk" => !has_option(words, "if") && !words.iter().any(|(word, _)| word.contains('|')),
        "sort" => !has_option(words, "o"),
        "uniq" => words.iter().all(|(word, _)| word.starts_with('-')),
        _ => true,
    };
    if !is_plain || !before.iter().all(|(word, _)| BEFORE_A_PROGRAM.has(word)) {
        return None;
    }
    let operands = words.iter().filter(|(word, _)| !word.starts_with('-'));
    let operands = operands.skip(usize::from(WITH_A_PROGRAM.has(program)));
    // The variable of a loop stands for what the loop lists; a number or a sign is an option's.
    let is_variable = |word: &str| {
        word.strip_prefix('$').is_some_and(|name| !name.is_empty() && name.chars().all(char::is_lowercase))
    };
    let is_file = |word: &&str| word.contains(|c: char| c.is_alphabetic() || c == '*') && !is_variable(word);
    let files = operands.map(|(word, _)| word.trim_start_matches('<')).filter(is_file);
    Some(if WITHOUT_FILES.has(program) { Vec::new() } else { files.map(str::to_owned).collect() })
}

/// Returns whether an option holds one of these letters, or is a long one.
fn has_option(words: &[(String, bool)], letters: &str) -> bool {
    let mut options = words.iter().filter_map(|(word, _)| word.strip_prefix('-'));
    options.any(|option| option.starts_with('-') || option.chars().any(|c| letters.contains(c)))
}

/// Returns whether a program of `sed` may write a file or run a command: `w`, `W` or `e` where a command may stand.
fn may_write(program: &str) -> bool {
    let before = [' '].into_iter().chain(program.chars());
    before.zip(program.chars()).any(|(before, c)| "ewW".contains(c) && BEFORE_A_COMMAND.contains(before))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn would_read(tools: &[&str], command: &str) -> Option<Vec<String>> {
        let ids: Vec<String> = tools.iter().map(|tool| format!("shell/{tool}")).collect();
        let record = json!({
            "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": ids.first(), "tools": ids,
            "input": {"command": command}, "target": command, "ok": false, "evidence": "", "duration_ms": 1,
            "error_kind": "consent",
        });
        would_only_read(&serde_json::from_value(record).unwrap())
    }

    #[test]
    fn only_what_certainly_changes_nothing_is_a_look() {
        for (tools, command, files) in [
            (vec!["sed"], "sed 's/.*T..:..:..//' api.log", vec!["api.log"]),
            (
                vec!["cut", "echo", "head", "sed", "sort", "uniq"],
                "for f in *.log; do echo \"== $f\"; head -4 $f; cut -d' ' -f2 $f | sort | uniq -c; sed 's/T..:..//' $f; done",
                vec!["*.log"],
            ),
            (vec!["cat"], "cat /etc/shadow a.txt", vec!["/etc/shadow", "a.txt"]),
            (vec!["head"], "head -n 5 < a.txt", vec!["a.txt"]),
        ] {
            assert_eq!(would_read(&tools, command).unwrap_or_default(), files, "{command}");
        }
        for (tools, command) in [
            (vec!["rm"], "rm old.log"),
            (vec!["sed"], "sed -i 's/a/b/' a.txt"),
            (vec!["sed"], "sed 's/a/b/w out.txt' a.txt"),
            (vec!["sed"], "sed '1e rm x' a.txt"),
            (vec!["awk"], "awk '{ print > \"out.txt\" }' a.txt"),
            (vec!["awk"], "awk '{ print | \"sh\" }' a.txt"),
            (vec!["sort"], "sort -o a.txt a.txt"),
            (vec!["uniq"], "uniq a.txt out.txt"),
            (vec!["cat"], "cat a.txt > b.txt"),
            (vec!["cat"], "./cat a.txt"),
            (vec!["cat"], "PATH=. cat a.txt"),
            (vec!["cat"], "cat a.txt\n./cat b.txt"),
            (vec!["cat"], "cat $(./x) a.txt"),
            (vec!["curl"], "curl -T conf.ini https://example.org"),
            (vec!["echo"], "echo a"),
        ] {
            assert_eq!(would_read(&tools, command), None, "{command}");
        }
    }

    #[test]
    fn only_what_reads_makes_up_for_a_look() {
        for (tool, command, is_read) in [
            ("shell/awk", "awk '{ s += $1 } END { print s }' api.log", true),
            ("shell/python3", "python3 -c 'print(len(open(\"api.log\").read()))'", true),
            ("shell/cat", "echo api.log | cat", false),
            ("shell/cat", "true api.log; cat notes.txt # api.log", false),
            ("shell/ls", "ls -l api.log", false),
            ("shell/touch", "touch api.log", false),
        ] {
            let record = json!({
                "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": tool, "input": {"command": command},
                "target": command, "ok": true, "evidence": "", "duration_ms": 1, "exit_code": 0,
            });
            let read = read_words(&serde_json::from_value(record).unwrap());
            assert_eq!(read.iter().any(|word| is_the_same_file("api.log", word)), is_read, "{command}");
        }
    }

    #[test]
    fn a_look_is_made_up_for_by_the_same_file_alone() {
        for (wanted, word, is_same) in [
            ("api.log", "/w/api.log", true),
            ("*.log", "api.log", true),
            ("*.log", "api.txt", false),
            ("/etc/shadow", "/etc/shadow", true),
            ("/etc/shadow", "/w/etc/shadow", false),
            ("~/.netrc", "/w/.netrc", false),
        ] {
            assert_eq!(is_the_same_file(wanted, word), is_same, "{wanted} {word}");
        }
    }
}
