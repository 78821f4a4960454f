//! Which call a check names: by its tool, and by its command or target.

use serde_json::Value;
use setpoint_protocol::predicate::Predicate;
use setpoint_protocol::tool::{SideEffect, ToolRecord};

use super::{executed, runner};
use crate::words::{WordList, word_list};

/// The tool that runs command lines.
const SHELL: &str = "shell";

/// Variables that change how output is printed, not what runs.
const HARMLESS: WordList = word_list!(
    "CI CLICOLOR COLUMNS FORCE_COLOR LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE NO_COLOR \
     PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED RUST_BACKTRACE TERM TZ"
);

/// The place where a named command is meant to run: the working directory, or a folder that is mentioned.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    pub(super) cwd: &'a str,
    /// Folder for files of the task's own.
    pub(super) workspace: &'a str,
    /// Texts that may mention a folder or what to look for: the person's words, intents and criteria.
    pub(super) said: Vec<&'a str>,
}

/// Returns whether a call is the one that `which` names.
///
/// For a command: it must run alone, after at most a `cd` into a folder that is mentioned, so that the output and the
/// exit code are its own, and no variable may replace a program or library. It is not negated and does not run in the
/// background. If only a text is looked for, options that do not contain that text may follow the words of `which`,
/// and the output may pass through programs that drop lines; otherwise only options that change how things are
/// printed may follow.
pub(super) fn is_named(record: &ToolRecord, which: &str, expect: &Predicate, place: &Place<'_>) -> bool {
    if record.tool.tool() != SHELL {
        return is_about(record, which.trim(), place)
            && (is_only_looked_for(expect) || is_whole(record, which, place));
    }
    let input = |name: &str| record.input.0.get(name).and_then(Value::as_str);
    let text = input("command");
    let command = text.and_then(|text| alone(text, without_parameters(record), expect));
    let named = alone(which, which, expect);
    let (Some(command), Some(named)) = (command, named) else { return false };
    let folders = [input("cwd"), command.folder.as_deref()];
    let is_there = |folder: &str| named.folder.as_deref() == Some(folder) || place.is_spoken_of(folder);
    folders.into_iter().flatten().all(is_there) && is_same(&command, &named, expect)
}

/// Parameters of file tools that identify what a call is about.
const ABOUT: &[&str] = &["path", "root", "dir", "source", "archive", "manifest", "left", "right"];

/// Returns the paths that a call of a file tool was given.
pub(super) fn given_paths(record: &ToolRecord) -> impl Iterator<Item = &str> {
    let input = &record.input.0;
    let named = ABOUT.iter().filter_map(|name| input.get(name)?.as_str());
    let listed = input.get("paths").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    named.chain(listed)
}

/// Returns whether a file tool's call is about the named path.
fn is_about(record: &ToolRecord, which: &str, place: &Place<'_>) -> bool {
    let wanted = which.trim_start_matches("./");
    let cwd = place.cwd.trim_end_matches('/');
    let is_given = |path: &str| {
        let whole = if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") };
        place.below(path) == place.below(which) || is_at(&whole, wanted, place)
    };
    // The target of a search begins with what is searched for, and its end says nothing about the folder.
    record.target == wanted
        || (record.target.starts_with('/') && is_at(&record.target, wanted, place))
        || given_paths(record).any(is_given)
}

/// Returns whether a file tool's target is the named path, relative to the working directory, to the workspace, whose
/// path a plan does not know, or to a folder that is mentioned. `old/src/b.py` is not `src/b.py`.
fn is_at(target: &str, wanted: &str, place: &Place<'_>) -> bool {
    let Some(before) = target.strip_suffix(wanted).and_then(|before| before.strip_suffix('/')) else {
        return target == wanted;
    };
    let is_below =
        |root: &str| before.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    // A target of two paths ("a into b") is identified by its last.
    let is_root = before.is_empty() && place.cwd != "/";
    before.contains(" /") || is_below(place.workspace) || (!is_root && place.is_spoken_of(before))
}

/// Parameters of file tools that limit what a call looks at.
const LIMITING: &[&str] = &["pattern", "glob", "name"];

/// Returns whether a call looks at all that it was meant to: nothing limits it that is not said. `grep` for another
/// text finds none of what should be gone, and so does `read_file` from the second line on.
fn is_whole(record: &ToolRecord, which: &str, place: &Place<'_>) -> bool {
    let input = &record.input.0;
    if record.side_effect != SideEffect::None {
        return true;
    }
    let is_from_the_start = input.get("offset").and_then(Value::as_u64).is_none_or(|offset| offset <= 1);
    let mut limits = LIMITING.iter().filter_map(|name| input.get(name)?.as_str());
    is_from_the_start && limits.all(|limit| which == limit || limit.split('|').any(|limit| place.says(limit)))
}

/// Returns the command in normal form, without the call's trailing parameters.
fn without_parameters(record: &ToolRecord) -> &str {
    let mut target = record.target.as_str();
    for name in ["timeout_s", "cwd"] {
        if record.input.0.get(name).is_some_and(|value| !value.is_null()) {
            target = target.rsplit_once(&format!(" {name}=")).map_or(target, |(command, _)| command);
        }
    }
    target
}

impl Place<'_> {
    /// Returns the path relative to the working directory if it is below it, without `.` and double slashes.
    fn below(&self, path: &str) -> String {
        let below = path.strip_prefix(self.cwd.trim_end_matches('/'));
        let below = below.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let is_below = below.is_some() || !path.starts_with('/');
        let parts = below.unwrap_or(path).split('/').filter(|part| !part.is_empty() && *part != ".");
        let path = parts.collect::<Vec<_>>().join("/");
        if is_below { path } else { format!("/{path}") }
    }

    /// Returns whether the texts mention every word of a search pattern; one without a word matches anything.
    fn says(&self, pattern: &str) -> bool {
        let mut escaped = false;
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        // `\b` and `\w` are signs, not letters.
        let plain: String = pattern
            .chars()
            .map(|c| {
                let is_sign = std::mem::take(&mut escaped) && is_letter(c);
                escaped = c == '\\' && !is_sign;
                if is_letter(c) && !is_sign { c } else { ' ' }
            })
            .collect();
        let is_said = |word: &str| {
            let word = word.to_lowercase();
            self.said.iter().any(|text| text.to_lowercase().contains(&word))
        };
        let mut words = plain.split(' ').filter(|word| !word.is_empty()).peekable();
        words.peek().is_some() && words.all(is_said)
    }

    fn is_spoken_of(&self, folder: &str) -> bool {
        let folder = folder.trim_end_matches('/').trim_start_matches("./");
        let cwd = self.cwd.trim_end_matches('/');
        let is_here = matches!(folder, "" | "." | "$PWD") || folder == cwd;
        let folder = folder.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/')).unwrap_or(folder);
        is_here || self.said.iter().any(|text| speaks_of(text, folder))
    }
}

/// Returns whether a text names the folder, by its path or by a path that ends in it.
fn speaks_of(text: &str, folder: &str) -> bool {
    let mut words = executed::words(text).map(|word| word.trim_end_matches('/').trim_start_matches("./"));
    words.any(|word| word == folder || (word.contains('/') && executed::ends_in(folder, word)))
}

/// Returns whether a command, as written and in normal form, can be the one that a check names: it runs alone.
pub(crate) fn runs_alone(text: &str, target: &str, expect: &Predicate) -> bool {
    alone(text, target, expect).is_some()
}

/// A command that runs alone.
#[derive(Debug)]
struct LoneCommand {
    /// Folder that a preceding `cd` enters.
    folder: Option<String>,
    /// Assignments before the command.
    set: Vec<String>,
    words: Vec<String>,
}

/// Parses the command if it runs alone, or at the head of a pipe when its exit code does not count.
fn alone(text: &str, target: &str, expect: &Predicate) -> Option<LoneCommand> {
    // A command after `||` may not have run. The normal form no longer shows that, nor `!`, `&` and redirections.
    let bare = bare(text);
    if text.contains("||")
        || loses_its_exit_code(&bare)
        || (!is_only_looked_for(expect) && hides(&bare, expect))
    {
        return None;
    }
    let pipelines = split(target, ';');
    let (folder, command) = match pipelines.as_slice() {
        [only] => (None, only),
        [first, second] => match words(first).as_slice() {
            [cd, folder] if cd == "cd" => (Some(folder.clone()), second),
            _ => return None,
        },
        _ => return None,
    };
    let commands = split(command, '|');
    let is_filter = |command: &String| FILTERS.contains(&words(command).first().map_or("", String::as_str));
    let leaves_out = is_only_looked_for(expect) && commands.iter().skip(1).all(is_filter);
    let mut words = words(commands.first().filter(|_| commands.len() == 1 || leaves_out)?);
    words.drain(..words.iter().take_while(|word| is_assignment(word)).count());
    // The normal form drops assignments, so they are read from the text.
    let is_between = |c: char| c.is_whitespace() || ";&".contains(c);
    let before = text.split(is_between).map(unquoted).take_while(|word| words.first() != Some(word));
    let set = before.filter(|word| is_assignment(word)).collect();
    Some(LoneCommand { folder, set, words })
}

/// Returns whether a command does what the named one does: it begins with the same words, and the rest does not
/// narrow it.
fn is_same(command: &LoneCommand, named: &LoneCommand, expect: &Predicate) -> bool {
    let is_harmless = |word: &String| {
        let name = word.split('=').next().unwrap_or(word);
        named.set.contains(word) || HARMLESS.has(name)
    };
    let more = command.words.strip_prefix(named.words.as_slice()).filter(|_| !named.words.is_empty());
    let is_looked_for = is_only_looked_for(expect) && !runner::runs_tests(&named.words);
    let is_option = |word: &String| word.starts_with('-') && !expect.has(&|part| says(part, word));
    let is_still = |more: &[String]| match is_looked_for {
        true => more.iter().all(is_option),
        false => runner::is_same_run(&named.words, more, speaks_of_tests(expect)),
    };
    command.set.iter().all(is_harmless) && more.is_some_and(is_still)
}

/// Programs that only print a part of their input.
const FILTERS: &[&str] = &["cat", "grep", "head", "tail", "tee"];

/// Returns whether the predicate only looks for texts, so that extra output does not matter.
fn is_only_looked_for(expect: &Predicate) -> bool {
    !expect.has(&|part| {
        !matches!(
            part,
            Predicate::Contains(_) | Predicate::Matches(_) | Predicate::All(_) | Predicate::Any(_)
        )
    })
}

/// Returns whether the expectation would match a word of the command itself.
fn says(part: &Predicate, word: &str) -> bool {
    match part {
        Predicate::Contains(text) => {
            let value = word.split_once('=').map_or(word, |(_, value)| value);
            word.contains(text.as_str()) || (!value.is_empty() && text.contains(value))
        }
        Predicate::Matches(_) => word.contains('='),
        _ => false,
    }
}

/// Iterates over the characters of a command, each with whether it is outside quotes and not escaped. A literal quote
/// or backslash does not count as outside.
fn with_quoting(text: &str) -> impl Iterator<Item = (char, bool)> {
    let (mut quote, mut is_escaped) = (None, false);
    text.chars().map(move |c| {
        let is_open = quote.is_none();
        if is_escaped {
            is_escaped = false;
            return (c, false);
        }
        match c {
            '\\' if quote != Some('\'') => is_escaped = true,
            '\'' | '"' if is_open => quote = Some(c),
            c if quote == Some(c) => quote = None,
            c => return (c, is_open),
        }
        (c, false)
    })
}

/// Returns a command without its quoted parts.
pub(super) fn bare(text: &str) -> String {
    with_quoting(text).filter_map(|(c, is_outside)| is_outside.then_some(c)).collect()
}

/// Returns whether the exit code is negated (`! make`) or lost because the command runs in the background (`make &`).
fn loses_its_exit_code(bare: &str) -> bool {
    let is_negation = |word: &str| word == "!" || word == "{!" || word == "(!";
    let alone: String =
        ["&&", ">&", "&>", "<&", "|&"].iter().fold(bare.to_owned(), |text, sign| text.replace(sign, " "));
    alone.contains('&') || bare.split(|c: char| c.is_whitespace() || ";&|".contains(c)).any(is_negation)
}

/// Returns whether the output is redirected although the check needs it: for an absent text, a number or a value in
/// it.
fn hides(bare: &str, expect: &Predicate) -> bool {
    let is_about_all = expect.has(&|part| match part {
        Predicate::Not(not) => !matches!(**not, Predicate::ExitCode(_)),
        Predicate::NumberInRange { .. } => true,
        Predicate::Pointer { at, .. } => !at.contains("exit_code"),
        _ => false,
    });
    is_about_all && bare.replace("2>&1", " ").contains(['>', '<'])
}

fn is_assignment(word: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Returns the words without their quotes.
fn words(text: &str) -> Vec<String> {
    split(text, ' ').into_iter().filter(|word| !word.is_empty()).map(|word| unquoted(&word)).collect()
}

fn unquoted(word: &str) -> String {
    word.replace(['\'', '"'], "")
}

/// Splits a text at separators outside quotes.
fn split(text: &str, separator: char) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    for (c, is_outside) in with_quoting(text) {
        if is_outside && c == separator {
            parts.push(std::mem::take(&mut part).trim().to_owned());
        } else {
            part.push(c);
        }
    }
    parts.push(part.trim().to_owned());
    parts
}

fn speaks_of_tests(expect: &Predicate) -> bool {
    expect.has(&|part| matches!(part, Predicate::TestRun(_)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is(command: &str, target: &str, which: &str, expect: Value) -> bool {
        let record = json!({
            "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": "shell/x", "input": {"command": command},
            "target": target, "ok": true, "evidence": "", "duration_ms": 1,
        });
        let record: ToolRecord = serde_json::from_value(record).unwrap();
        is_named(&record, which, &serde_json::from_value(expect).unwrap(), &place())
    }

    fn place() -> Place<'static> {
        Place {
            cwd: "/home/ada/shop",
            workspace: "/data/workspaces/t1",
            said: vec!["run the tests of app/ and of web/site"],
        }
    }

    #[test]
    fn a_file_tools_call_is_named_by_the_path_that_it_was_given() {
        let is = |tool: &str, input: Value, which: &str| {
            let record = json!({
                "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": tool, "input": input,
                "target": "/home/ada/shop/x and more", "ok": true, "evidence": "", "duration_ms": 1,
            });
            let expect = json!({"contains": "1"});
            is_named(
                &serde_json::from_value(record).unwrap(),
                which,
                &serde_json::from_value(expect).unwrap(),
                &place(),
            )
        };
        for (input, which) in [
            (json!({"path": "x.cfg", "content": "a"}), "./x.cfg"),
            (json!({"path": "/home/ada/shop/x.cfg", "content": "a"}), "x.cfg"),
            (json!({"path": "x.cfg"}), "/home/ada/shop/x.cfg"),
            (json!({"root": ".", "name": "*.py"}), "."),
            (json!({"path": "./"}), "."),
            (json!({"paths": ["a.json", "b.json"]}), "b.json"),
        ] {
            assert!(is("write_file", input.clone(), which), "{input} {which}");
        }
        for (input, which) in [
            (json!({"path": "out/x.cfg"}), "x.cfg"),
            (json!({"path": "/x.cfg"}), "x.cfg"),
            (json!({"path": "y", "pattern": "x.cfg"}), "x.cfg"),
        ] {
            assert!(!is("grep", input.clone(), which), "{input} {which}");
        }
    }

    #[test]
    fn a_look_at_another_place_or_for_another_text_is_not_the_named_one() {
        let is = |tool: &str, input: Value, target: &str, which: &str, expect: Value| {
            let record = json!({
                "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": tool, "input": input, "target": target,
                "ok": true, "evidence": "", "duration_ms": 1,
            });
            let place = Place { said: vec!["remove every TODO and FIXME from app/"], ..place() };
            let expect = serde_json::from_value(expect).unwrap();
            is_named(&serde_json::from_value(record).unwrap(), which, &expect, &place)
        };
        let none = || json!({"pointer": {"at": "/count", "is": {"equals": 0}}});
        for (pattern, is_it) in [
            ("TODO", true),
            (r"(//|#)\s*TODO\b", true),
            ("TODO|FIXME|XXX", true),
            ("ZZZ", false),
            (".", false),
            ("TODO: ada", false),
        ] {
            let target = format!("{pattern:?} in /home/ada/shop/app");
            let input = json!({"pattern": pattern, "path": "app"});
            assert_eq!(is("grep", input, &target, "app", none()), is_it, "{pattern}");
        }
        let anything = json!({"pattern": "ZZZ", "path": "app"});
        assert!(is("grep", anything, "\"ZZZ\" in /home/ada/shop/app", "app", json!({"contains": "x"})));
        for (input, target, which, is_it) in [
            (json!({"pattern": "TODO", "path": "/data/x.c"}), "\"TODO\" in /data/x.c", "x.c", false),
            (
                json!({"pattern": "TODO", "path": "old/x.c"}),
                "\"TODO\" in /home/ada/shop/old/x.c",
                "x.c",
                false,
            ),
            (
                json!({"pattern": "TODO", "path": "app/x.c"}),
                "\"TODO\" in /home/ada/shop/app/x.c",
                "x.c",
                true,
            ),
            (json!({"pattern": "*.c", "root": "/data"}), "/data/*.c", "*.c", false),
            (json!({"pattern": "*.c"}), "/home/ada/shop/*.c", "*.c", true),
            (json!({"path": "x.c", "offset": 2}), "/home/ada/shop/x.c offset=2", "x.c", false),
            (json!({"path": "x.c", "offset": 1}), "/home/ada/shop/x.c", "x.c", true),
        ] {
            assert_eq!(is("x", input, target, which, none()), is_it, "{target}");
        }
    }

    #[test]
    fn a_command_is_named_by_its_words_at_its_head() {
        let exit = || json!({"exit_code": 0});
        let which = "pytest tests/";
        for target in [
            "pytest tests/",
            "pytest tests/ -v",
            "cd app ; pytest tests/ -q",
            "cd ./app/ ; pytest tests/",
            "cd /home/ada/shop ; pytest tests/",
            "LC_ALL=C CI=1 pytest tests/",
            "pytest 'tests/'",
        ] {
            assert!(is(target, target, which, exit()), "{target}");
        }
        for target in [
            "git log -S pytest tests/",
            "echo pytest tests/",
            "echo 'a ; pytest tests/'",
            "echo 'a ; pytest tests/ ; b'",
            "pytest tests/ ; true",
            "make ; pytest tests/",
            "cd a ; cd b ; pytest tests/",
            "cd other ; pytest tests/",
            "cd /tmp/shop ; pytest tests/",
            "PATH=bin:/usr/bin pytest tests/",
            "PYTHONPATH=fake pytest tests/",
            "pytest tests/ -k one",
            "pytest tests/ tests/test_one.py",
            "pytest",
            "pytest other/",
            "python3 x.py",
            "",
        ] {
            assert!(!is(target, target, which, exit()), "{target}");
        }
        assert!(
            !is("cd app || pytest tests/", "cd app ; pytest tests/", which, exit()),
            "it may not have run"
        );
        // The exit code of a pipeline is the last program's.
        let piped = "pytest tests/ | tail -n 5";
        assert!(!is(piped, piped, which, exit()) && is(piped, piped, which, json!({"contains": "5 passed"})));
        let both = json!({"all": [{"contains": "5 passed"}, {"not": {"exit_code": 1}}]});
        assert!(!is(piped, piped, which, both));
        // A negated or background command has another exit code; a filter may change the output arbitrarily.
        for text in
            ["! make check", "cd . && ! make check", "! { make check; }", "make check &", "make check & wait"]
        {
            assert!(!is(text, "make check", "make check", exit()), "{text}");
        }
        let code = json!({"pointer": {"at": "/exit_code", "is": {"equals": 0}}});
        let (none, number) = (json!({"not": {"contains": "ERROR"}}), json!({"number_in_range": {"min": 80}}));
        for (text, target, expect) in [
            ("./lint | cat", "./lint | cat", code),
            ("./lint | sed s/2/0/", "./lint | sed s/2/0/", json!({"contains": "0 problems"})),
            ("./lint | head -0", "./lint | head -0", none.clone()),
            ("./lint > /dev/null", "./lint", none.clone()),
            ("./lint 2>/dev/null", "./lint", none.clone()),
            ("./lint | awk '{print 90}'", "./lint | awk '{print 90}'", number.clone()),
            ("./lint -n 90", "./lint -n 90", number),
            ("./lint wanted", "./lint wanted", json!({"contains": "wanted"})),
            ("./lint --title=wanted", "./lint --title=wanted", json!({"contains": "wanted"})),
            ("./lint --format=%s%s", "./lint --format=%s%s", json!({"matches": "want"})),
        ] {
            assert!(!is(text, target, "./lint", expect), "{text}");
        }
        assert!(is("./lint 2>&1", "./lint", "./lint", none));
        assert!(is(
            "./lint 2>&1 | tail -n 3",
            "./lint | tail -n 3",
            "./lint",
            json!({"contains": "0 problems"})
        ));
        // A part of the tests prints `OK` as well.
        let part = "pytest tests/ -k one";
        assert!(!is(part, part, which, json!({"contains": "passed"})));
        let longer = "git log -S x --oneline";
        assert!(is(longer, longer, "git log -S x", json!({"contains": "abc"})));
        // The normal form drops the assignments.
        for text in [
            "PATH=bin pytest tests/",
            "PATH=$PWD/bin:$PATH; pytest tests/",
            "cd app && A='b c' pytest tests/",
        ] {
            assert!(!is(text, "pytest tests/", which, exit()), "{text}");
        }
        // A command named with a folder or a variable must run with it.
        let own = "cd other ; PYTHONPATH=src pytest tests/";
        assert!(is(own, own, own, exit()) && !is(own, own, which, exit()));
    }

    #[test]
    fn a_folder_not_mentioned_is_another_place() {
        let expect: Predicate = serde_json::from_value(json!({"test_run": {}})).unwrap();
        for (cwd, expected) in
            [("app", true), ("web/site/", true), ("/home/ada/shop/", true), ("fake", false), ("site", false)]
        {
            let record = json!({
                "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": "shell/x", "target": format!("pytest -v cwd=/x/{cwd} timeout_s=300"),
                "input": {"command": "pytest -v", "cwd": cwd, "timeout_s": 300}, "ok": true, "evidence": "", "duration_ms": 1,
            });
            let record: ToolRecord = serde_json::from_value(record).unwrap();
            assert_eq!(is_named(&record, "pytest", &expect, &place()), expected, "{cwd}");
        }
    }

    #[test]
    fn a_target_is_named_by_its_path() {
        let record = json!({
            "call_id": "r3.1/1", "attempt": 1, "phase": "work", "tool": "write_file", "input": {"path": "a.txt"},
            "target": "/data/workspaces/t1/sub/a.txt", "ok": true, "evidence": "", "duration_ms": 1,
        });
        let record: ToolRecord = serde_json::from_value(record).unwrap();
        let expect: Predicate = serde_json::from_value(json!({"contains": "x"})).unwrap();
        for which in ["a.txt", "./sub/a.txt", "/data/workspaces/t1/sub/a.txt"] {
            assert!(is_named(&record, which, &expect, &place()), "{which}");
        }
        let is = |which: &str| is_named(&record, which, &expect, &place());
        assert!(!is("b.txt") && !is(".txt"));
    }

    /// Regression: a file of the same name in another folder passed for the named one.
    #[test]
    fn a_path_is_meant_from_the_working_directory() {
        let here = |target: &str, which: &str| is_at(&format!("/home/ada/shop/{target}"), which, &place());
        assert!(
            here("src/b.py", "src/b.py") && here("app/src/b.py", "src/b.py") && here("web/site/b.py", "b.py")
        );
        assert!(
            !here("old/src/b.py", "src/b.py") && !here("old/b.py", "b.py") && !here("x/app/b.py", "b.py")
        );
        let packed = "photos into /home/ada/shop/photos.tar.gz";
        assert!(here(packed, "photos.tar.gz"));
    }
}
