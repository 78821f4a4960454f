//! Names in a command that asks: the programs that it runs, files of program text, and the paths that it mentions.
//!
//! A best effort, for limits, records and rules that deny. Nothing found here permits anything.

mod mentions;
mod places;
mod sources;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(crate) use self::mentions::mentions;
pub(crate) use self::places::{is_plain, places, shell_words};
use self::tokens::{Token, substitutions, tokens};
use super::programs::VOLATILE;
use super::word::{lists, quoted};

/// Deepest nesting of commands within commands.
const NESTING_MAX: usize = 4;
/// Name for a program that is only known at run time.
const UNKNOWN_PROGRAM: &str = "?";
/// Programs that run another one after their options.
const WRAPPERS: &str = "builtin command doas env eval exec ionice nice nohup parallel setsid stdbuf sudo time unshare watch xargs";
/// Programs that run another one after their options and one operand.
const WRAPPERS_WITH_ONE: &str = "chroot chrt flock setarch taskset timeout";
/// Options of wrappers whose value is the next word.
const WRAPPER_VALUES: &str = "-I -L -P -c -d -g -k -n -p -s -u";
/// Words that are followed by a command.
const BEFORE_COMMANDS: &str = "! { } do elif else if then until while done fi esac";
/// Words that are not followed by a command up to the next operator.
const NO_COMMANDS: &str = "case for function in select coproc";
const SHELLS: &str = "ash bash dash ksh sh zsh";
/// At most this many values of one variable, and files that a command names, are followed.
const FOLLOWED_MAX: usize = 64;

/// The names found in a command.
#[derive(Debug, Default)]
pub(crate) struct FoundNames {
    pub(crate) programs: Vec<String>,
    pub(crate) target: String,
    pub(crate) executes: Vec<PathBuf>,
    pub(crate) is_volatile: bool,
}

#[derive(Default)]
struct Names {
    programs: BTreeSet<String>,
    executes: Vec<PathBuf>,
    commands: Vec<(bool, String)>,
    /// The values that a loop or an assignment gives to variables.
    variables: BTreeMap<String, Vec<String>>,
    /// The files that the next program may be given as its input.
    fed: Vec<String>,
    /// Every simple command, also within others, of at most `words_max` words.
    every: BTreeSet<String>,
    words_max: usize,
}

pub(crate) fn read(text: &str, cwd: &Path) -> FoundNames {
    let mut names = Names::default();
    let mut directory = cwd.to_path_buf();
    names.script(text, &mut directory, 0);
    if names.programs.is_empty() {
        names.programs.insert("sh".to_owned());
    }
    let mut target = String::new();
    for (is_piped, command) in &names.commands {
        if !target.is_empty() {
            target.push_str(if *is_piped { " | " } else { " ; " });
        }
        target.push_str(command);
    }
    FoundNames {
        is_volatile: names.programs.iter().any(|name| VOLATILE.contains(&name.as_str())),
        programs: names.programs.into_iter().collect(),
        target,
        executes: names.executes,
    }
}

/// Returns every simple command in a text, also those that wrappers, shells and substitutions run, in the form of
/// [`simple_command`]. Those of more than `words_max` words are left out.
pub(crate) fn commands(text: &str, words_max: usize) -> BTreeSet<String> {
    let mut names = Names { words_max, ..Names::default() };
    names.script(text, &mut PathBuf::new(), 0);
    names.every
}

/// Returns a text that is one simple command in normal form, with the number of its words; `None` if it is more than that.
pub(crate) fn simple_command(text: &str) -> Option<(String, usize)> {
    let words: Option<Vec<(String, bool)>> = tokens(text)
        .into_iter()
        .map(|token| match token {
            Token::Word { text, is_open } => Some((text, is_open)),
            Token::Operator(_) | Token::Document { .. } => None,
        })
        .collect();
    let words = words.filter(|words| !words.is_empty())?;
    Some((normal(&words), words.len()))
}

/// Returns the words of a command, quoted the same way however they were written; its program without directories.
fn normal(words: &[(String, bool)]) -> String {
    let shown = |at: usize, (text, is_open): &(String, bool)| {
        let text = if at == 0 { text.rsplit('/').next().unwrap_or_default() } else { text };
        if *is_open { text.to_owned() } else { quoted(text) }
    };
    let words: Vec<String> = words.iter().enumerate().map(|(at, word)| shown(at, word)).collect();
    words.join(" ")
}

impl Names {
    fn script(&mut self, text: &str, directory: &mut PathBuf, depth: usize) {
        let mut words: Vec<(String, bool)> = Vec::new();
        let mut is_piped = false;
        let mut target = None;
        let mut has_shell = false;
        for token in tokens(text).into_iter().chain([Token::Operator(';')]) {
            match token {
                // It is input of a program, and read as commands if that may be a shell.
                Token::Document { text, is_open } => {
                    let inner = if has_shell { vec![text.clone()] } else { Vec::new() };
                    let substituted = if is_open { substitutions(&text) } else { Vec::new() };
                    if depth == 0 {
                        self.commands.push((false, format!("<< {}", quoted(&text))));
                    }
                    if depth < NESTING_MAX {
                        for inner in inner.iter().chain(&substituted) {
                            self.script(inner, &mut directory.clone(), depth + 1);
                        }
                    }
                }
                // The target of a redirection is not an argument.
                Token::Operator(direction @ ('<' | '>')) => {
                    target = Some(direction);
                }
                Token::Operator(operator) => {
                    let words = std::mem::take(&mut words);
                    self.command(&words, is_piped, directory, depth);
                    is_piped = operator == '|';
                    target = None;
                    if is_piped {
                        self.fed.extend(sources::files(words.iter().map(|(text, _)| text.as_str())));
                    } else {
                        self.fed.clear();
                    }
                }
                Token::Word { text, .. } if target.is_some() => {
                    if target.take() == Some('<') {
                        self.fed.push(text);
                    }
                }
                Token::Word { text, is_open } => {
                    has_shell |= lists(SHELLS, text.rsplit('/').next().unwrap_or_default());
                    if is_open && depth < NESTING_MAX {
                        for inner in substitutions(&text) {
                            self.script(&inner, &mut directory.clone(), depth + 1);
                        }
                    }
                    words.push((text, is_open));
                }
            }
        }
    }

    fn command(&mut self, words: &[(String, bool)], is_piped: bool, directory: &mut PathBuf, depth: usize) {
        let mut words = words;
        while let Some(((first, _), rest)) = words.split_first() {
            if lists(NO_COMMANDS, first) {
                if let ("for", [(name, _), _, values @ ..]) = (first.as_str(), rest) {
                    let values = values.iter().map(|(text, _)| text.clone()).take(FOLLOWED_MAX);
                    self.variables.insert(name.clone(), values.collect());
                }
                return;
            }
            if let Some((name, value)) = first.split_once('=').filter(|_| is_assignment(first)) {
                self.variables.insert(name.to_owned(), vec![value.to_owned()]);
            }
            if !lists(BEFORE_COMMANDS, first) && !is_assignment(first) {
                break;
            }
            words = rest;
        }
        if words.is_empty() {
            return;
        }
        if depth == 0 {
            let line: Vec<String> = words
                .iter()
                .map(|(text, is_open)| if *is_open { text.clone() } else { quoted(text) })
                .collect();
            self.commands.push((is_piped, line.join(" ")));
        }
        self.program(words, directory, depth);
    }

    fn program(&mut self, words: &[(String, bool)], directory: &mut PathBuf, depth: usize) {
        let Some(((program, is_open), args)) = words.split_first() else { return };
        // With what may be a comment, and without it.
        let is_comment = |(text, _): &(String, bool)| text.starts_with('#');
        for words in [words, words.split(is_comment).next().unwrap_or_default()] {
            if words.len() <= self.words_max {
                self.every.insert(normal(words));
            }
        }
        let name = program.rsplit('/').next().unwrap_or_default();
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+:[@%".contains(c));
        if *is_open || !is_name {
            self.programs.insert(UNKNOWN_PROGRAM.to_owned());
            if *is_open {
                self.executes(program, directory);
            }
            return;
        }
        if program.contains('/') && !program.starts_with("/bin/") && !program.starts_with("/usr/bin/") {
            self.executes(program, directory);
        }
        let operands = || args.iter().map(|(text, _)| text.as_str());
        if lists(SHELLS, name)
            && let Some(at) = operands()
                .position(|text| text.starts_with('-') && !text.starts_with("--") && text.ends_with('c'))
            && let Some((script, _)) = args.get(at + 1)
            && depth < NESTING_MAX
        {
            self.script(script, directory, depth + 1);
            return;
        }
        let given: Vec<&str> = operands().collect();
        if name == "eval" && depth < NESTING_MAX {
            self.script(&given.join(" "), directory, depth + 1);
            return;
        }
        for file in sources::sources(name, &given, &self.fed) {
            self.executes(&file, directory);
        }
        let own = usize::from(lists(WRAPPERS_WITH_ONE, name));
        if own > 0 || lists(WRAPPERS, name) {
            let rest = wrapped_command(args, own);
            if !rest.is_empty() {
                self.program(rest, directory, depth);
                return;
            }
        }
        self.programs.insert(name.to_owned());
        if name == "cd"
            && let Some(to) = operands().find(|text| !text.starts_with('-'))
        {
            *directory = directory.join(to);
        }
        if name == "find"
            && let Some(at) =
                operands().position(|text| ["-exec", "-execdir", "-ok", "-okdir"].contains(&text))
        {
            self.variables.insert("{}".to_owned(), sources::found(&given));
            let run = args.get(at + 1..).unwrap_or_default();
            let run = run.split(|(text, _)| text == ";" || text == "+").next().unwrap_or_default();
            self.program(run, directory, depth);
        }
    }

    /// Notes a file of program text; its name may hold a variable, or be what a substitution gives.
    fn executes(&mut self, file: &str, directory: &Path) {
        for file in self.values(file) {
            if self.executes.len() >= FOLLOWED_MAX {
                return;
            }
            // Collecting the components drops each `.`.
            let path: PathBuf = directory.join(file).components().collect();
            if !self.executes.contains(&path) {
                self.executes.push(path);
            }
        }
    }

    /// Returns what a word may stand for: the files that its substitutions name, or its text with the values of its
    /// variables.
    fn values(&self, word: &str) -> Vec<String> {
        let mut values = vec![word.to_owned()];
        for (name, known) in &self.variables {
            let marks = if name == "{}" {
                vec![name.clone()]
            } else {
                vec![format!("${{{name}}}"), format!("${name}")]
            };
            for mark in marks {
                let with = |value: &String| -> Vec<String> {
                    match value.contains(&mark) {
                        true => known.iter().map(|one| value.replace(&mark, one)).collect(),
                        false => vec![value.clone()],
                    }
                };
                values = values.iter().flat_map(with).take(FOLLOWED_MAX).collect();
            }
        }
        let named = |value: String| -> Vec<String> {
            let inner = substitutions(&value);
            if inner.is_empty() {
                return if value.contains('$') { Vec::new() } else { vec![value] };
            }
            inner.iter().flat_map(|inner| files_of(inner)).collect()
        };
        values.into_iter().flat_map(named).take(FOLLOWED_MAX).collect()
    }
}

/// Returns the files that a command in a substitution names: `cat FILE`, `< FILE`.
fn files_of(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut input = Vec::new();
    let mut is_input = false;
    for token in tokens(command) {
        let was_input = std::mem::replace(&mut is_input, token == Token::Operator('<'));
        match token {
            Token::Word { text, .. } if was_input => input.push(text),
            Token::Word { text, .. } => words.push(text),
            Token::Operator(_) | Token::Document { .. } => {}
        }
    }
    input.extend(sources::files(words.iter().map(String::as_str)));
    input
}

/// Returns what a wrapper runs: the words after its options, assignments and own operands.
fn wrapped_command(args: &[(String, bool)], own: usize) -> &[(String, bool)] {
    let mut rest = args;
    let mut own = own;
    while let Some(((text, _), after)) = rest.split_first() {
        if text.starts_with('-') {
            let has_value = lists(WRAPPER_VALUES, text);
            rest = if has_value { after.get(1..).unwrap_or_default() } else { after };
        } else if is_assignment(text) {
            rest = after;
        } else if own > 0 {
            own -= 1;
            rest = after;
        } else {
            break;
        }
    }
    rest
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
            && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric() || c == '+')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> String {
        let found = read(text, Path::new("/w"));
        let executes: Vec<String> = found.executes.iter().map(|path| path.display().to_string()).collect();
        format!("{} {}", found.programs.join(","), executes.join(",")).trim().to_owned()
    }

    #[test]
    fn programs_are_found_in_wrappers_and_loops() {
        for (text, expected) in [
            ("python3 run.py --fast", "python3 /w/run.py"),
            ("sh -e test.sh", "sh /w/test.sh"),
            ("bash -o errexit -eu test.sh", "bash /w/test.sh"),
            ("python3 -W ignore -X dev run.py", "python3 /w/run.py"),
            ("node -r ./a.js run.js", "node /w/run.js"),
            ("perl -e 'print' a.txt", "perl"),
            ("for f in *.py; do python3 \"$f\"; done", "python3 /w/*.py"),
            ("FOO=1 env -i nice -n 5 cargo test", "cargo"),
            ("timeout 10 npm test", "npm"),
            ("sh -c 'make && ./out'", "make,out /w/GNUmakefile,/w/makefile,/w/Makefile,/w/out"),
            ("find . -name x -exec rm {} +", "find,rm"),
            ("ls | xargs -n 1 wc -l", "ls,wc"),
            ("echo $(git rev-parse HEAD)", "echo,git"),
            ("$EDITOR x", "?"),
            ("cd sub && sh build.sh > log 2>&1", "cd,sh /w/sub/build.sh"),
            ("if true; then rm x; fi", "rm,true"),
            ("echo a > b && cat < b", "cat,echo"),
            ("pytest -q tests", "pytest"),
            ("python3 -c 'print(1)'", "python3"),
            (". ./env.sh; deploy", ".,deploy /w/env.sh"),
            ("> x", "sh"),
            ("python3 - <<'EOF'\nimport csv\nprint(1)\nEOF\nls", "ls,python3"),
            ("cat > x.py <<EOF\nimport csv\nEOF\npython3 x.py", "cat,python3 /w/x.py"),
            ("cat <<-EOF | tee y\n\tone $(hostname)\n\tEOF\npwd", "cat,hostname,pwd,tee"),
            ("cat <<\\EOF; ls\n$(hostname)\nEOF", "cat,ls"),
            ("bash <<'EOF'\nrm x\nEOF", "bash,rm"),
            ("cat <<'EOF' | sh -s\nrm x\nEOF", "cat,rm,sh"),
            ("cat <<A <<\"B\"\nrm\nA\nmake\nB\nls", "cat,ls"),
            ("cat <<<'rm x' | wc -l", "cat,wc"),
            ("cat <<EOF\nno end\nrm x", "cat"),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn files_of_program_text_are_found_where_a_name_is_built() {
        for (text, expected) in [
            ("for f in parts/*.sh b.sh; do sh \"${f}\" || exit 1; done", "/w/parts/*.sh,/w/b.sh"),
            ("X=rule.sh; sh $X", "/w/rule.sh"),
            ("eval \"$(cat rule.txt)\"", "/w/rule.txt"),
            ("eval `cat rule.txt`", "/w/rule.txt"),
            ("R=$(cat rule.txt); eval \"$R\"", "/w/rule.txt"),
            ("eval 'sh a.sh'", "/w/a.sh"),
            ("bash -c \"$(< rule.txt)\"", "/w/rule.txt"),
            ("sh < cmds.txt", "/w/cmds.txt"),
            ("cat one two | bash -s", "/w/one,/w/two"),
            ("cat data.csv | python3 count.py", "/w/count.py"),
            ("cat data.csv | python3 -c 'print(1)'", ""),
            ("grep -q right data.txt && sh a.sh", "/w/a.sh"),
            ("find parts -name '*.sh' -exec sh {} \\;", "/w/parts/*.sh,/w/parts/*/*.sh"),
            ("ls parts/*.sh | xargs -n 1 sh", "/w/parts/*.sh"),
            ("xargs -a cmds.txt env", "/w/cmds.txt"),
            ("make -C sub check", "/w/sub/GNUmakefile,/w/sub/makefile,/w/sub/Makefile"),
            ("make -sf rules.mk check", "/w/rules.mk"),
            ("gmake --file=rules.mk", "/w/rules.mk"),
            ("awk -f rule.awk data.txt > out", "/w/rule.awk"),
            ("grep -qf patterns data.txt > out", "/w/patterns"),
            ("grep -qF right data.txt > out", ""),
            ("jq --from-file q.jq data.json > out", "/w/q.jq"),
            ("sqlite3 a.db < checks.sql", "/w/checks.sql"),
            ("python3 -m pkg.sub x", "/w/pkg/sub/__main__.py,/w/pkg/sub.py"),
        ] {
            let found = read(text, Path::new("/w")).executes;
            let found: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
            assert_eq!(found.join(","), expected, "{text}");
        }
    }

    #[test]
    fn equal_commands_have_equal_targets() {
        let target = |text: &str| read(text, Path::new("/w")).target;
        assert_eq!(target("cp  'a b'  c >/dev/null; rm x"), "cp 'a b' c ; rm x");
        assert_eq!(target("cp \"a b\" c | tee log"), "cp 'a b' c | tee log");
        assert_eq!(target("python3 - <<'E'\nprint(1)\nE\nls"), "python3 - ; << 'print(1)\n' ; ls");
    }

    #[test]
    fn a_simple_command_is_found_wherever_the_text_runs_it() {
        let (wanted, words) = simple_command("make  'evil'").unwrap();
        for text in [
            "make evil",
            "make evil;true",
            "true && make evil",
            "ls | make evil > log 2>&1",
            "ls\nmake evil\nls",
            "make evil &",
            "(make evil)",
            "{ make evil; }",
            "if ! make evil; then ls; fi",
            "for x in 1 2; do make evil; done",
            "f() { make evil; }; f",
            "m\\ake \"evil\"",
            "/usr/bin/make evil",
            "A=1 make evil",
            "env -i A=1 nice -n 5 make evil",
            "sh -c 'make evil'",
            "bash -ec \"ls; make evil\"",
            "eval make evil",
            "echo $(make evil)",
            "echo \"`make evil`\"",
            "sh <<'E'\nmake evil\nE",
            "find . -exec make evil \\; -print",
            "make evil # as asked",
            "cat <(make evil) > >(make evil)",
            "exec make evil 2>/dev/null",
        ] {
            assert!(commands(text, words).contains(&wanted), "{text}");
        }
        for text in
            ["make evil2", "make evil x", "make -s evil", "echo make evil", "echo 'make evil'", "make; evil"]
        {
            assert!(!commands(text, words).contains(&wanted), "{text}");
        }
        let (sleep, words) = simple_command("sleep 60").unwrap();
        assert!(commands("sleep 60 > log; sleep 61", words).contains(&sleep));
        for text in ["make evil; ls", "a | b", "a > b", "cat <<E\nE", "", "  "] {
            assert_eq!(simple_command(text), None, "{text}");
        }
    }
}
