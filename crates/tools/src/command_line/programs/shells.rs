//! Shells and other interpreters: what they run is either read here or opaque.

use super::{Call, Inner, Judgement, Stdin, Verdict};
use crate::command_line::argument::Argument;
use crate::command_line::verdict::Reason;

pub(super) fn judge(call: &Call<'_>) -> Option<Judgement> {
    match call.name {
        "bash" | "rbash" => Some(shell(call, false, true)),
        "sh" | "dash" | "ash" => Some(shell(call, true, true)),
        "zsh" | "ksh" | "mksh" | "fish" | "tcsh" | "csh" => Some(shell(call, false, false)),
        _ => interpreter(call),
    }
}

/// What stands before a shell's first operand.
#[derive(Default)]
struct ShellFlags {
    takes_text: bool,
    only_checks: bool,
    reads_input: bool,
    /// Start-up files, an interactive shell, or a flag that is not known.
    unusual: bool,
}

/// `known_grammar`: a script in the text is judged; else it is only looked into for its programs.
fn shell(call: &Call<'_>, plain_sh: bool, known_grammar: bool) -> Judgement {
    let (flags, operands) = shell_flags(call.args);
    let proved = known_grammar && !flags.unusual;
    let mut judgement =
        if proved { Judgement::read_only() } else { Judgement::opaque(Reason::runs_code(call.name)) };
    let text = match operands.first() {
        Some(first) if flags.takes_text => first.known().map(str::to_owned),
        Some(file) if !flags.reads_input => {
            if flags.only_checks && proved {
                return judgement;
            }
            judgement.executes.push(file.clone());
            None
        }
        _ => match call.stdin {
            Stdin::Text(text) if !flags.takes_text => {
                // A command in it may read lines of it, so that later ones are cut differently.
                if text.trim_end().contains('\n') {
                    judgement.verdict = Verdict::opaque(Reason::runs_code(call.name));
                }
                Some(text.clone())
            }
            Stdin::File(file) => {
                judgement.executes.push(file.clone());
                None
            }
            _ => None,
        },
    };
    match text {
        Some(text) => {
            judgement.inner.push(Inner::Script { text, plain_sh });
            judgement.looked_through = true;
        }
        None => {
            judgement.verdict = judgement.verdict.and(Verdict::opaque(Reason::runs_code(call.name)));
        }
    }
    judgement
}

fn shell_flags(args: &[Argument]) -> (ShellFlags, &[Argument]) {
    let mut flags = ShellFlags::default();
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        let Some(text) = first.known() else {
            flags.unusual |= first.may_be_option();
            break;
        };
        match text {
            "--" | "-" => {
                rest = after;
                break;
            }
            "--norc" | "--noprofile" | "--posix" => {}
            _ if text.starts_with("--") => flags.unusual = true,
            _ if text.len() > 1 && text.starts_with(['-', '+']) => {
                let mut names_option = false;
                for letter in text.chars().skip(1) {
                    match letter {
                        'c' => flags.takes_text = true,
                        'n' if text.starts_with('-') => flags.only_checks = true,
                        's' => flags.reads_input = true,
                        'o' => names_option = true,
                        'e' | 'u' | 'x' | 'v' | 'f' | 'h' | 'B' | 'C' => {}
                        _ => flags.unusual = true,
                    }
                }
                // `-eo pipefail`
                if names_option && let Some((option, after)) = after.split_first() {
                    let known = ["pipefail", "errexit", "nounset", "xtrace"];
                    flags.unusual |= !option.known().is_some_and(|option| known.contains(&option));
                    rest = after;
                    continue;
                }
            }
            _ => break,
        }
        rest = after;
    }
    (flags, rest)
}

/// An interpreter of another language.
struct Interpreter {
    names: &'static [&'static str],
    /// Flags after which the code itself or a module's name follows.
    code: &'static [&'static str],
    /// Flags with a value.
    valued: &'static [&'static str],
    /// A word that has to stand first.
    subcommand: Option<&'static str>,
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "python2", "python3", "pypy", "pypy3"],
        code: &["-c", "-m"],
        valued: &["-W", "-X"],
        subcommand: None,
    },
    Interpreter {
        names: &["node", "nodejs", "ts-node", "tsx"],
        code: &["-e", "--eval", "-p", "--print"],
        valued: &["-r", "--require", "--import", "--loader"],
        subcommand: None,
    },
    Interpreter { names: &["perl"], code: &["-e", "-E"], valued: &["-I"], subcommand: None },
    Interpreter { names: &["ruby"], code: &["-e"], valued: &["-I", "-r"], subcommand: None },
    Interpreter { names: &["php"], code: &["-r"], valued: &["-d", "-c"], subcommand: None },
    Interpreter {
        names: &[
            "Rscript",
            "lua",
            "luajit",
            "tclsh",
            "groovy",
            "julia",
            "elixir",
            "osascript",
            "expect",
            "pwsh",
        ],
        code: &["-e", "-c"],
        valued: &[],
        subcommand: None,
    },
    Interpreter { names: &["deno", "bun", "go"], code: &[], valued: &[], subcommand: Some("run") },
    Interpreter {
        names: &["pytest", "py.test"],
        code: &[],
        valued: &["-k", "-m", "-p", "-c", "-n"],
        subcommand: None,
    },
    Interpreter { names: &["make", "gmake"], code: &[], valued: &["-C", "-I", "-j"], subcommand: None },
];

fn interpreter(call: &Call<'_>) -> Option<Judgement> {
    let interpreter = INTERPRETERS.iter().find(|entry| entry.names.contains(&call.name))?;
    let mut judgement = Judgement::opaque(Reason::runs_code(call.name));
    let mut args = call.args;
    if let Some(word) = interpreter.subcommand {
        match args.split_first() {
            Some((first, rest)) if first.known() == Some(word) => args = rest,
            _ => return Some(judgement),
        }
    }
    if matches!(call.name, "make" | "gmake") {
        let file = args.windows(2).find(|pair| pair.first().and_then(Argument::known) == Some("-f"));
        judgement.executes.extend(file.and_then(|pair| pair.get(1)).cloned());
        return Some(judgement);
    }
    let runs_tests = call.name.contains("py.test") || call.name == "pytest";
    let mut tests_module = false;
    let mut iter = args.iter();
    while let Some(arg) = iter.next() {
        match arg.known() {
            Some("-m")
                if matches!(iter.clone().next().and_then(Argument::known), Some("pytest" | "unittest")) =>
            {
                iter.next();
                tests_module = true;
            }
            Some(flag) if interpreter.code.contains(&flag) => return Some(judgement),
            Some(flag) if interpreter.valued.contains(&flag) => {
                iter.next();
            }
            Some("-") => return Some(judgement),
            Some(flag) if flag.starts_with('-') => {}
            _ if runs_tests || tests_module => judgement.executes.extend(test_file(arg)),
            _ => {
                judgement.executes.push(arg.clone());
                return Some(judgement);
            }
        }
    }
    if let Stdin::File(file) = call.stdin
        && judgement.executes.is_empty()
    {
        judgement.executes.push(file.clone());
    }
    Some(judgement)
}

/// The file in `tests/test_x.py::name`.
fn test_file(arg: &Argument) -> Option<Argument> {
    let text = arg.known()?;
    let file = text.split_once("::").map_or(text, |(file, _)| file);
    file.ends_with(".py").then(|| Argument::literal(file))
}
