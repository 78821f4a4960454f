//! `find`: starting points, then an expression whose actions may write, remove or run.

use super::{Call, Inner, Judgement};
use crate::command_line::argument::{Argument, ArgumentKind};
use crate::command_line::verdict::{Reason, Target, Verdict};

/// Tests and options without a value.
const PLAIN: &[&str] = &[
    "-daystart",
    "-depth",
    "-d",
    "-follow",
    "-mount",
    "-xdev",
    "-noleaf",
    "-warn",
    "-nowarn",
    "-empty",
    "-executable",
    "-readable",
    "-writable",
    "-false",
    "-true",
    "-nogroup",
    "-nouser",
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
    "(",
    ")",
    "!",
    "-not",
    "-a",
    "-and",
    "-o",
    "-or",
    ",",
];

/// Tests and options with one value.
const VALUED: &[&str] = &[
    "-maxdepth",
    "-mindepth",
    "-regextype",
    "-files0-from",
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-lname",
    "-mmin",
    "-mtime",
    "-name",
    "-newer",
    "-path",
    "-perm",
    "-regex",
    "-samefile",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-wholename",
    "-xtype",
    "-context",
    "-printf",
];

pub(super) fn judge(call: &Call<'_>) -> Result<Judgement, Reason> {
    let (starts, expression) = split(call)?;
    let mut judgement = Judgement::read_only();
    let mut args = expression.iter();
    while let Some(arg) = args.next() {
        let Some(text) = arg.known() else { return Err(Reason::unknown_argument(call.name)) };
        if PLAIN.contains(&text) {
            continue;
        }
        if VALUED.contains(&text) || text.starts_with("-newer") {
            match args.next() {
                Some(value) if value.is_single() => continue,
                _ => return Err(Reason::unknown_argument(call.name)),
            }
        }
        let effect = match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let command = inner_command(&mut args, &found_in(starts))
                    .ok_or_else(|| Reason::unlisted_argument(call.name, text))?;
                let elsewhere = text.ends_with("dir");
                judgement.inner.push(Inner::Command { argv: command, elsewhere });
                Verdict::ReadOnly
            }
            "-delete" => Verdict::Writes { paths: Vec::new(), deletes: removed(call, starts)? },
            "-fprint" | "-fprint0" | "-fls" => written(call, args.next())?,
            "-fprintf" => {
                let effect = written(call, args.next())?;
                args.next();
                effect
            }
            _ => return Err(Reason::unlisted_argument(call.name, text)),
        };
        judgement.verdict = judgement.verdict.and(effect);
    }
    Ok(judgement)
}

/// Starting points and expression.
fn split<'a>(call: &Call<'a>) -> Result<(&'a [Argument], &'a [Argument]), Reason> {
    let mut args = call.args;
    while let Some((first, rest)) = args.split_first()
        && matches!(first.known(), Some("-H" | "-L" | "-P" | "-O1" | "-O2" | "-O3"))
    {
        args = rest;
    }
    let mut length = 0;
    for arg in args {
        if arg.may_be_option() {
            return Err(Reason::unknown_argument(call.name));
        }
        if arg.known().is_some_and(|text| text.starts_with('-') || matches!(text, "(" | ")" | "!" | ",")) {
            break;
        }
        length += 1;
    }
    args.split_at_checked(length).ok_or_else(|| Reason::unknown_argument(call.name))
}

/// The words up to `;` or `+`, what was found in the place of `{}`.
fn inner_command(args: &mut std::slice::Iter<'_, Argument>, found: &Argument) -> Option<Vec<Argument>> {
    let mut command = Vec::new();
    for arg in args {
        match arg.known() {
            Some(";") => return (!command.is_empty()).then_some(command),
            Some("+") if command.last().is_some_and(|last: &Argument| last == found) => return Some(command),
            Some("{}") => command.push(found.clone()),
            Some(text) if text.contains("{}") => {
                command.push(Argument::unknown(text, text.starts_with('-'), false));
            }
            _ => command.push(arg.clone()),
        }
    }
    None
}

/// What may be found: anything at any depth below the starting point, where there is one that is known.
fn found_in(starts: &[Argument]) -> Argument {
    let below = |start: &str| format!("{}/**", start.trim_end_matches('/'));
    match starts {
        [] => Argument { text: below("."), kind: ArgumentKind::Pattern },
        [only] if only.kind == ArgumentKind::Literal && !only.text.contains(['*', '?', '[', '\\']) => {
            Argument { text: below(&only.text), kind: ArgumentKind::Pattern }
        }
        // Found paths start with a starting point, so never with a dash.
        _ => Argument::unknown("{}", false, true),
    }
}

fn removed(call: &Call<'_>, starts: &[Argument]) -> Result<Vec<Target>, Reason> {
    let here = [Argument::literal(".")];
    let starts = if starts.is_empty() { here.as_slice() } else { starts };
    let mut targets = Vec::new();
    for start in starts {
        targets.extend(call.state.targets(call.name, start, true)?);
    }
    Ok(targets)
}

fn written(call: &Call<'_>, file: Option<&Argument>) -> Result<Verdict, Reason> {
    let file = file.ok_or_else(|| Reason::unknown_argument(call.name))?;
    Ok(Verdict::writing(call.state.targets(call.name, file, false)?))
}
