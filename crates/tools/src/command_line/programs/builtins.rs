//! The shell's own commands.

use super::options::{Flags, Order, scan};
use super::{Call, Judgement, Moves, test};
use crate::command_line::argument::Argument;
use crate::command_line::state::Value;
use crate::command_line::variables::{changes_programs, is_harmless_to_programs};
use crate::command_line::verdict::Reason;
use crate::paths::is_name;

pub(super) fn judge(call: &Call<'_>) -> Option<Judgement> {
    let judged = match call.name {
        ":" | "true" | "false" | "echo" | "pwd" | "exit" | "return" | "break" | "continue" | "shift"
        | "type" | "dirs" | "times" | "ulimit" | "caller" => Ok(Judgement::read_only()),
        "printf" => printf(call),
        "test" | "[" => test::judge(call),
        "cd" => change_directory(call),
        "pushd" | "popd" => Ok(Judgement { moves: Moves::Anywhere, ..Judgement::read_only() }),
        "read" => read(call),
        "mapfile" | "readarray" => lines_into_array(call),
        "getopts" => names(call, call.args.get(1..2).unwrap_or_default()),
        "export" | "declare" | "typeset" | "local" | "readonly" => declaration(call),
        "unset" => unset(call),
        "set" => set(call),
        "shopt" => shopt(call),
        "umask" => {
            plain_words(call, |text| text.chars().all(|c| c.is_ascii_digit() || "-Sugoarwx=,+".contains(c)))
        }
        "wait" => plain_words(call, |text| text.chars().all(|c| c.is_ascii_digit())),
        "jobs" => plain_words(call, |text| matches!(text, "-l" | "-p" | "-r" | "-s")),
        "hash" => plain_words(call, |_| false),
        "eval" | "source" | "." | "trap" | "alias" | "enable" | "bind" | "complete" | "compgen" | "fc"
        | "history" => Ok(runs_text(call)),
        "let" => Err(Reason::Arithmetic),
        _ => return None,
    };
    Some(judged.into())
}

fn runs_text(call: &Call<'_>) -> Judgement {
    let mut judgement = Judgement::opaque(Reason::runs_code(call.name));
    if matches!(call.name, "source" | ".") {
        judgement.executes.extend(call.args.first().cloned());
    }
    judgement
}

/// `-v` writes into a variable, whose name may hold a command.
fn printf(call: &Call<'_>) -> Result<Judgement, Reason> {
    match call.args.first() {
        Some(first) if first.may_be_option() || !first.is_single() => {
            Err(Reason::unknown_argument(call.name))
        }
        Some(first) if first.known().is_some_and(|text| text.starts_with("-v")) => {
            Err(Reason::unlisted_argument(call.name, &first.text))
        }
        _ => Ok(Judgement::read_only()),
    }
}

fn change_directory(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = Flags { short: "LPe", ..Flags::NONE };
    let mut judgement = Judgement::read_only();
    let searches_elsewhere = matches!(call.state.value("CDPATH"), Value::Known(text) if !text.is_empty());
    judgement.moves = match scan(call, &flags, Order::FlagsFirst) {
        Ok(scan) if !searches_elsewhere => match scan.operands.as_slice() {
            [] => Moves::Home,
            [only] if only.known().is_some_and(|text| text != "-" && !text.is_empty()) => {
                Moves::To((*only).clone())
            }
            _ => Moves::Anywhere,
        },
        _ => Moves::Anywhere,
    };
    Ok(judgement)
}

fn read(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = Flags { short: "rs", valued: "dnNptu", ..Flags::NONE };
    let scan = scan(call, &flags, Order::FlagsFirst)?;
    scan.operands.iter().try_for_each(|name| settable(call, name))?;
    Ok(Judgement::read_only())
}

fn lines_into_array(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = Flags { short: "t", valued: "dnOsu", ..Flags::NONE };
    let scan = scan(call, &flags, Order::FlagsFirst)?;
    scan.operands.iter().try_for_each(|name| settable(call, name))?;
    Ok(Judgement::read_only())
}

fn names(call: &Call<'_>, names: &[Argument]) -> Result<Judgement, Reason> {
    names.iter().try_for_each(|name| settable(call, name))?;
    Ok(Judgement::read_only())
}

fn unset(call: &Call<'_>) -> Result<Judgement, Reason> {
    let scan = scan(call, &Flags { short: "v", ..Flags::NONE }, Order::FlagsFirst)?;
    scan.operands.iter().try_for_each(|name| settable(call, name))?;
    Ok(Judgement::read_only())
}

/// A plain name of a variable that no program depends on. An index in it would be evaluated.
fn settable(call: &Call<'_>, name: &Argument) -> Result<(), Reason> {
    match name.known() {
        Some(text) if is_name(text) && !changes_programs(text) && !is_seen_by_programs(call, text) => Ok(()),
        Some(text) if is_name(text) => Err(Reason::Variable { name: text.to_owned() }),
        _ => Err(Reason::unknown_argument(call.name)),
    }
}

fn is_seen_by_programs(call: &Call<'_>, name: &str) -> bool {
    call.state.is_exported(name) && !is_harmless_to_programs(name)
}

/// `export` and its like: the assignments in them count as plain ones, and with `export` programs see them.
fn declaration(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = match call.name {
        "export" => Flags { short: "p", ..Flags::NONE },
        "readonly" => Flags::NONE,
        _ => Flags { short: "p", ..Flags::NONE },
    };
    let scan = scan(call, &flags, Order::FlagsFirst)?;
    for operand in &scan.operands {
        let name = operand.text.split_once('=').map_or(operand.text.as_str(), |(name, _)| name);
        let name = name.strip_suffix('+').unwrap_or(name);
        if !is_name(name) || !operand.is_single() {
            return Err(Reason::unknown_argument(call.name));
        }
        let exports = call.name == "export" && !is_harmless_to_programs(name);
        if changes_programs(name) || exports || is_seen_by_programs(call, name) {
            return Err(Reason::Variable { name: name.to_owned() });
        }
    }
    Ok(Judgement::read_only())
}

fn set(call: &Call<'_>) -> Result<Judgement, Reason> {
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        let text = arg.known().ok_or_else(|| Reason::unknown_argument(call.name))?;
        match text {
            "--" => break,
            "-o" | "+o" => match args.next().and_then(Argument::known) {
                Some("errexit" | "nounset" | "pipefail" | "xtrace" | "noglob" | "noclobber" | "verbose")
                | None => {}
                Some(other) => return Err(Reason::unlisted_argument(call.name, other)),
            },
            _ => {
                let letters = text.strip_prefix('-').or_else(|| text.strip_prefix('+'));
                let plain = letters.is_some_and(|letters| letters.chars().all(|c| "eufxvC".contains(c)));
                // `-euo pipefail`
                let with_option = letters
                    .and_then(|letters| letters.strip_suffix('o'))
                    .is_some_and(|letters| letters.chars().all(|c| "eufxvC".contains(c)));
                if with_option {
                    match args.next().and_then(Argument::known) {
                        Some("errexit" | "nounset" | "pipefail" | "xtrace" | "noglob" | "noclobber") => {}
                        _ => return Err(Reason::unlisted_argument(call.name, text)),
                    }
                } else if !plain {
                    return Err(Reason::unlisted_argument(call.name, text));
                }
            }
        }
    }
    Ok(Judgement::read_only())
}

fn shopt(call: &Call<'_>) -> Result<Judgement, Reason> {
    plain_words(call, |text| {
        matches!(
            text,
            "-s" | "-u" | "-q" | "-p" | "nullglob" | "globstar" | "dotglob" | "nocaseglob" | "failglob"
        )
    })
}

fn plain_words(call: &Call<'_>, allowed: impl Fn(&str) -> bool) -> Result<Judgement, Reason> {
    for arg in call.args {
        match arg.known() {
            Some(text) if allowed(text) => {}
            Some(text) => return Err(Reason::unlisted_argument(call.name, text)),
            None => return Err(Reason::unknown_argument(call.name)),
        }
    }
    Ok(Judgement::read_only())
}
