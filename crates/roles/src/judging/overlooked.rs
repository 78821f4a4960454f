//! Names of the goal, files or commands, that no call that ran mentions. A claim about them lacks evidence, even if
//! every criterion passed.

use serde_json::Value;
use setpoint_protocol::tool::{ExecutedFile, ToolRecord};

use super::case::{Case, is_seen};
use super::executed::words;
use super::programs::{LISTERS, NAMERS, SPEAKERS};
use super::self_made::{is_made, is_touched};
use super::strength::programs;
use super::{OWN_JUDGED_SINCE, WEIGHED_SINCE};
use crate::evidence::command_of;
use crate::words::{WordList, word_list};

/// At most this many names are listed in the result.
const TOLD_MAX: usize = 5;
/// Maximum characters of a name or command that is looked for.
const CHARS_MAX: usize = 200;
/// Number of words around a name that are searched for one that excludes it from the task.
const NEAR: usize = 4;

/// Extensions that mark a file name. Others may be part of a program (`calc.add`) or of a sentence (`e.g.`).
const ENDINGS: &[&str] = &[
    "bak", "bash", "bin", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "dat", "db", "diff", "doc",
    "docx", "env", "ex", "gif", "go", "gz", "h", "hpp", "hs", "htm", "html", "ini", "ipynb", "java", "jpeg",
    "jpg", "js", "json", "jsonl", "jsx", "kt", "lock", "log", "lua", "md", "mp3", "mp4", "odt", "out",
    "patch", "pdf", "php", "pl", "png", "proto", "py", "r", "rb", "rs", "rst", "scala", "scss", "sh", "sql",
    "sqlite", "svg", "swift", "tar", "tex", "tf", "tgz", "toml", "ts", "tsv", "tsx", "txt", "vue", "wav",
    "xlsx", "xml", "xz", "yaml", "yml", "zip",
];

/// Words before a file that is an example, or must be left alone.
const APART: WordList = word_list!(
    "not don't dont never without except excluding ignore ignoring leave keep skip but like than such e.g \
     außer sauf"
);
/// The same, after a file: `CHANGELOG.md stays as it is`.
const KEPT: &[&str] =
    &["stays", "stay", "remains", "remain", "unchanged", "untouched", "touched", "alone", "keeps"];
/// Words that start another clause.
const JOINTS: &[&str] = &["and", "then", "or", "but"];

/// Tools that only list names.
const LISTING_TOOLS: &[&str] = &["list_dir", "find_files", "glob"];

/// Returns the files and commands in the person's words that no call that ran names.
pub(crate) fn overlooked(case: &Case<'_>) -> Vec<String> {
    let calls: Vec<&ToolRecord> = case
        .runs
        .iter()
        .flat_map(|run| run.calls)
        .chain(case.baseline)
        .chain(case.probes.records())
        .map(AsRef::as_ref)
        .filter(|record: &&ToolRecord| record.ran())
        .collect();
    let touched = || case.touched.iter().chain(case.made);
    let scripts = scripts(case, &calls);
    let is_of_old = || case.logic_version < OWN_JUDGED_SINCE;
    let is_known = |file: &String| {
        touched().any(|path| names_file(path, file))
            || calls.iter().any(|call| is_about(call, file) && (is_of_old() || !tells_nothing(call, file)))
            || scripts.iter().any(|script| script.names.iter().any(|path| names_file(path, file)))
    };
    let has_run = |command: &String| calls.iter().any(|call| holds(call, command));
    let files = files(case.words).into_iter().filter(|file| !is_known(file));
    let commands = commands(case.words).into_iter().filter(|command| !has_run(command));
    files.chain(commands.map(|command| format!("`{command}`"))).take(TOLD_MAX).collect()
}

/// Returns the programs of the person's own that calls ran, and that the work left alone: `sh total.sh` is about the files
/// that total.sh names. Where not all changes are known, such a program may be the work's.
fn scripts<'a>(case: &Case<'_>, calls: &[&'a ToolRecord]) -> Vec<&'a ExecutedFile> {
    if case.logic_version < WEIGHED_SINCE || !case.work().all(is_seen) {
        return Vec::new();
    }
    let executed = || calls.iter().filter(|call| call.ok).flat_map(|call| &call.executed_files);
    let is_the_same = |file: &&ExecutedFile| {
        executed().all(|other| other.path != file.path || other.hash == file.hash)
            && !is_touched(&file.path, case)
            && !is_made(&file.path, case)
    };
    executed().filter(is_the_same).collect()
}

/// Returns the distinct file names in a text, as written.
fn files(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let all: Vec<&str> = text.split_whitespace().collect();
    for (at, word) in all.iter().enumerate() {
        let name =
            word.trim_matches(|c: char| "\"'`([{<,;:!?)]}>*@«»“”".contains(c)).trim_end_matches(['.', ',']);
        let name = name.trim_matches(|c: char| "\"'`*".contains(c));
        // Another sentence or clause says nothing about this name.
        let is_end = |word: &&&str| word.ends_with(['.', ',', ';', ':']) && !word.ends_with("e.g.");
        let before = all.iter().take(at).rev().take_while(|word| !is_end(word)).take(NEAR - 1);
        let plain = |word: &&str| word.to_lowercase().trim_matches(['(', '"', '.', ',']).to_owned();
        let is_apart = before.map(plain).any(|word| APART.has(&word));
        let ends = word.ends_with(['.', ',', ';', ':', '?', '!']);
        let behind = all.iter().skip(at + 1).take_while(|word| !ends && !JOINTS.contains(*word)).take(NEAR);
        let is_kept =
            behind.map(|word| word.trim_end_matches(['.', ',', ';'])).any(|word| KEPT.contains(&word));
        if is_file(name) && !is_apart && !is_kept && !found.iter().any(|one| one == name) {
            found.push(name.to_owned());
        }
    }
    found
}

fn is_file(name: &str) -> bool {
    let is_odd = |c: char| "*?[]{}$|&=@\\\"'`<>(),;".contains(c);
    if name.contains("://") || name.contains(is_odd) || name.chars().count() > CHARS_MAX {
        return false;
    }
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let Some((stem, ending)) = last.rsplit_once('.') else { return false };
    // `Node.js` is a product, not a file.
    let is_product = ending == "js" && stem.chars().next().is_some_and(char::is_uppercase);
    // `tar.gz` is a kind of archive, and `.tar.gz` an ending.
    let bare = stem.trim_start_matches('.');
    let is_ending = bare == "tar" || (stem.starts_with('.') && ENDINGS.contains(&bare));
    !stem.is_empty() && !is_product && !is_ending && ENDINGS.contains(&ending.to_lowercase().as_str())
}

/// Words before a command to run.
const RUNNING: &[&str] = &["run", "runs", "running", "execute", "executing", "with", "using", "by", "via"];

/// Returns the commands that a text says to run, in backticks or quotes: ``deploy with `make deploy` ``. Skips one
/// with a placeholder, such as `tool.py FILE`, which no call contains literally.
fn commands(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for quote in ['`', '"', '\''] {
        let parts: Vec<&str> = text.split(quote).collect();
        // The last part has no closing quote.
        let quoted = parts.windows(3).step_by(2);
        found.extend(quoted.filter_map(|part| match part {
            [before, inside, after] if says_to_run(before, after, quote) && is_command(inside) => {
                Some(inside.trim().to_owned())
            }
            _ => None,
        }));
    }
    found
}

/// Words near a command that is only mentioned, or is one of several options.
const SPOKEN_OF: &[&str] = &[
    "not", "never", "without", "don't", "explain", "would", "if", "else", "when", "happens", "or", "i",
    "users", "people", "they", "you", "instead", "either", "daily",
];

fn says_to_run(before: &str, after: &str, quote: char) -> bool {
    let said = before.strip_suffix("the command ").unwrap_or(before);
    let mut words = said.split_whitespace().rev().map(str::to_lowercase);
    let word = words.next().unwrap_or_default();
    // “with” and “by” also precede quoted texts that are not commands.
    let known = if quote == '`' { RUNNING } else { RUNNING.get(..5).unwrap_or_default() };
    let mut near = words.take(NEAR).take_while(|word| !word.ends_with(['.', ';', '?', '!']));
    let is_spoken_of = near.any(|word| SPOKEN_OF.contains(&word.trim_matches([',', '('])));
    let is_one_way = after.split_whitespace().take(2).any(|word| SPOKEN_OF.contains(&word));
    before.ends_with(' ') && known.contains(&word.as_str()) && !is_spoken_of && !is_one_way
}

fn is_command(text: &str) -> bool {
    let is_place = |word: &str| {
        let name = word.split('.').next().unwrap_or_default();
        let is_capitals = !name.is_empty() && name.chars().all(char::is_uppercase);
        is_capitals
            || word.contains(['<', '…', '$', '%', '{', '['])
            || word.contains("...")
            || word.contains("path/to")
    };
    let count = text.trim().chars().count();
    count > 1 && count <= CHARS_MAX && !text.contains('\n') && !text.split_whitespace().any(is_place)
}

/// Extensions of source files, which a test run may cover without naming them.
const CODE: &[&str] = &[
    "c", "cc", "cpp", "cs", "go", "h", "hpp", "java", "js", "jsx", "kt", "php", "py", "rb", "rs", "swift",
    "ts", "tsx",
];

/// Returns whether a call is about the file: its input, target or facts name it, or the files it read do. A list of
/// names is not about the files in it, but it does show that a file is missing.
fn is_about(call: &ToolRecord, file: &str) -> bool {
    if looks_below(call, file) {
        return true;
    }
    let (stem, ending) = last_of(file).rsplit_once('.').unwrap_or((last_of(file), ""));
    if CODE.contains(&ending)
        && let Some(command) = command_of(call)
    {
        // `python3 -m unittest`, `import main`: a module is named without its extension.
        let mut parts = command.split(|c: char| !c.is_alphanumeric() && c != '_');
        if command.to_lowercase().contains("test") || parts.any(|part| part == stem) {
            return true;
        }
    }
    let facts = call.facts.as_ref().map(setpoint_protocol::Any::to_text).unwrap_or_default();
    if names_file(&call.target, file)
        || names_file(&facts, file)
        || has(&call.input.0, &|text| names_or_matches(text, file))
    {
        return true;
    }
    let lists = match command_of(call) {
        Some(command) => words(command).any(|word| LISTERS.contains(&word) || NAMERS.contains(&word)),
        None => LISTING_TOOLS.contains(&call.tool.tool()),
    };
    let is_named = names_file(&call.evidence, file);
    if lists { !is_named && !call.evidence.contains('…') } else { is_named }
}

/// Returns whether a command that names the file cannot have looked at it: it only prints its own words, or failed on a path
/// below the file, which is not a folder.
fn tells_nothing(call: &ToolRecord, file: &str) -> bool {
    let Some(command) = command_of(call) else { return false };
    let mut said = programs(call).flatten().peekable();
    let only_says = said.peek().is_some() && said.all(|name| SPEAKERS.contains(&name));
    let below = format!("{}/", last_of(file));
    only_says || (!call.ok && words(command).any(|word| word.contains(&below)))
}

/// Returns whether a call searches all files of a folder that contains the file.
fn looks_below(call: &ToolRecord, file: &str) -> bool {
    let Some(command) = command_of(call) else {
        let path = call.input.get("path").or_else(|| call.input.get("root")).and_then(Value::as_str);
        let path = path.unwrap_or(".").trim_start_matches("./").trim_end_matches('/');
        let below = file.trim_start_matches("./").strip_prefix(path);
        let is_above = matches!(path, "" | ".") || below.is_some_and(|rest| rest.starts_with('/'));
        return ["grep", "count_lines"].contains(&call.tool.tool()) && is_above;
    };
    let is_recursive =
        |word: &&str| word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']);
    let all: Vec<&str> = words(command).collect();
    let is_search = all.iter().any(|word| ["grep", "egrep", "fgrep"].contains(word));
    all.contains(&"rg") || (is_search && (all.contains(&"git") || all.iter().any(is_recursive)))
}

/// Returns whether a text of a call's input names the file, literally or by a pattern: `rm *.txt`.
fn names_or_matches(text: &str, file: &str) -> bool {
    let name = last_of(file);
    names_file(text, file)
        || words(text).any(|word| word.contains(['*', '?']) && is_like(last_of(word), name))
}

pub(super) fn last_of(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// Returns whether a name matches a pattern of `*` and `?`.
pub(super) fn is_like(pattern: &str, name: &str) -> bool {
    let mut pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    pattern.dedup_by(|one, other| *one == '*' && *other == '*');
    // `fits[n]`: whether the first n characters of the name match the pattern read so far.
    let mut fits = vec![false; name.len() + 1];
    fits.first_mut().into_iter().for_each(|fit| *fit = true);
    for sign in pattern {
        let before = fits.clone();
        let mut is_any = false;
        for (n, fit) in fits.iter_mut().enumerate() {
            is_any |= before.get(n).copied().unwrap_or(false);
            let follows = n > 0 && before.get(n - 1).copied().unwrap_or(false);
            *fit = match sign {
                '*' => is_any,
                '?' => follows,
                sign => follows && name.get(n - 1) == Some(&sign),
            };
        }
    }
    fits.last().copied().unwrap_or(false)
}

/// Returns whether the text contains the file's name, and not as a part of another one.
fn names_file(text: &str, file: &str) -> bool {
    let (text, name) = (text.to_lowercase(), last_of(file).to_lowercase());
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(&name).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let mut after = text.get(at + name.len()..).unwrap_or_default().chars();
        let ends = match after.next() {
            Some('.') => !after.next().is_some_and(is_of_name),
            Some(c) => !is_of_name(c),
            None => true,
        };
        ends && !before.is_some_and(|c| is_of_name(c) || c == '.')
    })
}

/// Returns whether a call runs the command: its words in order, with others allowed between them. `python3` counts as
/// `python`, and the file tools count for commands that only read.
fn holds(call: &ToolRecord, text: &str) -> bool {
    let wanted: Vec<&str> = text.split_whitespace().map(plain_word).collect();
    let has_run = |text: &str| {
        let mut words = text.split_whitespace().map(plain_word);
        wanted.iter().all(|wanted| words.any(|word| word == *wanted))
    };
    let is_read = || match wanted.as_slice() {
        ["cat" | "ls", name] => {
            command_of(call).is_none() && has(&call.input.0, &|text| plain_word(text) == *name)
        }
        _ => false,
    };
    has(&call.input.0, &has_run) || has_run(&call.target) || is_read()
}

fn plain_word(word: &str) -> &str {
    let word = word.trim_matches(['"', '\'', ';', '(', ')']).trim_start_matches("./").trim_end_matches('/');
    match word {
        "python3" => "python",
        "pip3" => "pip",
        "bash" => "sh",
        word => word,
    }
}

/// Returns whether any text of a value satisfies `is_so`.
fn has(value: &Value, is_so: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is_so(text),
        Value::Array(values) => values.iter().any(|value| has(value, is_so)),
        Value::Object(fields) => fields.values().any(|value| has(value, is_so)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_goal_exclude_words_and_kept_files() {
        for (goal, named) in [
            ("how many lines has n.txt?", vec!["n.txt"]),
            ("delete 'a.txt' and ./src/b.py.", vec!["a.txt", "./src/b.py"]),
            ("write it to \"out.md\", then (see README.md) stop", vec!["out.md", "README.md"]),
            ("mend app.py, but do not touch test_app.py", vec!["app.py"]),
            ("count the words, skip log.txt; see **n.txt**", vec!["n.txt"]),
            ("convert it, e.g. to out.json, rather than b.txt", vec![]),
            ("a.txt must not be touched", vec![]),
            ("rename f everywhere; CHANGELOG.md stays as it is", vec![]),
            ("delete a.txt and keep b.txt, c.txt stays", vec!["a.txt"]),
            ("rename every file like a.txt except b.txt", vec![]),
            ("e.g. calc.add of Node.js at https://x.org/a.html costs 3.50", vec![]),
            ("count *.txt and rename .jpg to .png", vec![]),
            ("create a tar.gz archive b.tar.gz of src", vec!["b.tar.gz"]),
            ("rename .tar.gz to .tgz, and keep the kind TAR.GZ", vec![]),
            (".config.json and log.txt", vec![".config.json", "log.txt"]),
        ] {
            assert_eq!(files(goal), named, "{goal}");
        }
    }

    #[test]
    fn commands_of_a_goal_follow_a_word_that_runs_them() {
        for (goal, named) in [
            ("deploy with `make deploy` and count", vec!["make deploy"]),
            ("run \"sh test.sh\" and say \"done\"", vec!["sh test.sh"]),
            ("run 'ls missing' and tell me its exit code", vec!["ls missing"]),
            ("say \"yes\" or 'no'", vec![]),
            ("run the command `make site` now", vec!["make site"]),
            ("do not run `make test`; run `a b` or `c d`; if it fails run `make fix`", vec![]),
            ("what would happen when I run `make clean`?", vec![]),
            ("run `wc -l $FILE` and `cat X.py`", vec![]),
            ("it's run \"half", vec![]),
            ("replace it by 'x' with \"y\"", vec![]),
            ("`python3 a.py` prints 3; run `a.py FILE` and `b.py <x>`", vec![]),
            ("```\nlet a = 1;\n```", vec![]),
        ] {
            assert_eq!(commands(goal), named, "{goal}");
        }
    }

    fn call(tool: &str, input: Value, evidence: &str) -> ToolRecord {
        serde_json::from_value(serde_json::json!({
            "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": tool, "target": "/w", "ok": true,
            "input": input, "evidence": evidence, "duration_ms": 1,
        }))
        .unwrap()
    }

    #[test]
    fn a_call_is_about_the_files_that_it_names_or_reads() {
        let shell = |command: &str, printed: &str| {
            call("shell/x", serde_json::json!({ "command": command }), printed)
        };
        for record in [
            shell("wc -l a.txt", ""),
            shell("wc -l ./sub/A.txt", ""),
            shell("rm *.txt", ""),
            shell("rm ?.txt", ""),
            shell("cat a.txt.", ""),
            shell("pytest", "a.txt:3: lost"),
            call("read_file", serde_json::json!({ "paths": ["x", "a.txt"] }), ""),
        ] {
            assert!(is_about(&record, "a.txt"), "{record:?}");
        }
        for record in [
            shell("wc -l b.txt", "3 b.txt"),
            shell("ls", "a.txt\nb.txt"),
            shell("git status", "a.txt"),
            shell("cat data.txt a.txt.bak 2a.txt", ""),
            shell("rm *.md", ""),
            call("list_dir", serde_json::json!({ "path": "." }), "a.txt"),
        ] {
            assert!(!is_about(&record, "a.txt"), "{record:?}");
        }
        for (command, wanted) in [
            ("cd x && make   deploy -j", "make deploy"),
            ("make -s deploy", "make deploy"),
            ("python3 n.py", "python n.py"),
            ("bash ./run.sh", "sh run.sh"),
        ] {
            assert!(holds(&shell(command, ""), wanted), "{command}");
        }
        assert!(!holds(&shell("make test", "make deploy"), "make deploy"));
        assert!(!holds(&shell("wc -w a.txt", ""), "wc -c a.txt"));
        assert!(holds(&call("read_file", serde_json::json!({ "path": "a.txt" }), ""), "cat a.txt"));
        for (command, file) in [
            ("python3 -m unittest", "test_main.py"),
            ("python3 -c 'import main; print(main.f())'", "src/main.py"),
            ("grep -rn TODO src", "src/main.py"),
            ("git grep -n TODO", "src/main.py"),
            ("ls -la", "LICENSE.md"),
        ] {
            assert!(is_about(&shell(command, "x"), file), "{command}");
        }
        assert!(!is_about(&shell("grep -n TODO b.txt", ""), "a.txt"));
    }

    #[test]
    fn words_of_its_own_tell_nothing_of_a_file() {
        let run = |program: &str, command: &str, is_ok: bool| ToolRecord {
            ok: is_ok,
            ..call(&format!("shell/{program}"), serde_json::json!({ "command": command }), "")
        };
        for (program, command, is_ok, nothing) in [
            ("echo", "echo a.txt", true, true),
            ("printf", "printf '%s' a.txt > sum", true, true),
            ("cat", "cat a.txt/x", false, true),
            ("cat", "cat sub/a.txt", true, false),
            // That it is missing is a result.
            ("cat", "cat sub/a.txt", false, false),
            ("wc", "wc -l a.txt", true, false),
        ] {
            assert_eq!(tells_nothing(&run(program, command, is_ok), "a.txt"), nothing, "{command}");
        }
    }
}
