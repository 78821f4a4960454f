//! Programs that write or remove exactly what their operands name.

use super::options::{Flags, Order, Scan, scan};
use super::{Call, Judgement, files};
use crate::command_line::argument::{Argument, ArgumentKind};
use crate::command_line::verdict::{Reason, Target, Verdict};

pub(super) fn judge(call: &Call<'_>) -> Option<Judgement> {
    let args = anchored(call);
    let call = &Call { args: &args, ..*call };
    let judged = match call.name {
        "rm" | "rmdir" | "unlink" | "shred" => remove(call),
        "mkdir" | "touch" | "mkfifo" | "truncate" | "sponge" => each_operand(call),
        "tee" => tee(call),
        "chmod" | "chown" | "chgrp" | "setfacl" => change_rights(call),
        "cp" | "mv" | "install" | "ln" => files::judge(call),
        "dd" => dd(call),
        "sort" | "shuf" | "tree" | "iconv" => return output_flag(call),
        "mktemp" => mktemp(call),
        "split" => split(call),
        _ => return None,
    };
    Some(judged.into())
}

/// Programs whose flags, should a file be named like one, lead the effect to no other path.
const SAFE_WITH_PATTERNS: &[&str] = &["rm", "rmdir", "unlink", "shred", "mkdir", "touch", "mkfifo", "tee"];

/// The arguments with `./` before a pattern that could match a flag, where that makes no difference to what is touched.
fn anchored(call: &Call<'_>) -> Vec<Argument> {
    let mut args = call.args.to_vec();
    if SAFE_WITH_PATTERNS.contains(&call.name) {
        for arg in args.iter_mut().filter(|arg| arg.kind == ArgumentKind::Pattern && arg.may_be_option()) {
            if !arg.text.starts_with('-') {
                arg.text.insert_str(0, "./");
            }
        }
    }
    args
}

const LIBERAL: Flags = Flags {
    short: "rRfivdIpacmhunxzsoPLHT",
    valued: "",
    long: "recursive force interactive one-file-system preserve-root no-preserve-root dir verbose \
                parents ignore-fail-on-non-empty no-create append changes silent quiet no-dereference \
                dereference remove zero ignore-interrupts",
    long_valued: "",
};

fn remove(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = match call.name {
        "shred" => Flags { short: "fuvxz", valued: "ns", long_valued: "iterations size", ..LIBERAL },
        _ => LIBERAL,
    };
    let scan = scan(call, &flags, Order::Mixed)?;
    if call.name == "rmdir" && scan.has_any(&["p", "parents"]) {
        return Err(Reason::unlisted_argument(call.name, "--parents"));
    }
    let recursive = scan.has_any(&["r", "R", "recursive"]);
    let deletes = targets(call, &scan.operands, recursive)?;
    if call.name == "shred" && !scan.has_any(&["u", "remove"]) {
        return Ok(Judgement::new(Verdict::writing(deletes)));
    }
    Ok(Judgement::new(Verdict::Writes { paths: Vec::new(), deletes }))
}

fn each_operand(call: &Call<'_>) -> Result<Judgement, Reason> {
    let (valued, long_valued) = match call.name {
        "mkdir" | "mkfifo" => ("m", "mode"),
        "touch" => ("drt", "date reference time"),
        "truncate" => ("sr", "size reference"),
        _ => ("", ""),
    };
    let scan = scan(call, &Flags { valued, long_valued, ..LIBERAL }, Order::Mixed)?;
    Ok(Judgement::new(Verdict::writing(targets(call, &scan.operands, false)?)))
}

/// Without operands it only passes its input on.
fn tee(call: &Call<'_>) -> Result<Judgement, Reason> {
    let scan = scan(call, &Flags { short: "aip", ..LIBERAL }, Order::Mixed)?;
    let files: Vec<&Argument> =
        scan.operands.iter().copied().filter(|file| file.known() != Some("/dev/null")).collect();
    if files.is_empty() {
        return Ok(Judgement::read_only());
    }
    Ok(Judgement::new(Verdict::writing(targets(call, &files, false)?)))
}

fn change_rights(call: &Call<'_>) -> Result<Judgement, Reason> {
    let long_valued = "reference from";
    let valued = if call.name == "setfacl" { "mx" } else { "" };
    // A mode like `-x` looks like a flag; only the real flags are read.
    let scan = scan(call, &Flags { short: "cfvRHLPh", valued, long_valued, ..LIBERAL }, Order::Mixed)?;
    let named_elsewhere = scan.has_any(&["reference", "m", "x"]);
    let operands = scan.operands.get(usize::from(!named_elsewhere)..).unwrap_or_default();
    let recursive = scan.has_any(&["R", "recursive"]);
    Ok(Judgement::new(Verdict::writing(targets(call, operands, recursive)?)))
}

/// `if=` is read, `of=` is written.
fn dd(call: &Call<'_>) -> Result<Judgement, Reason> {
    let mut effect = Verdict::ReadOnly;
    for arg in call.args {
        let text = arg.known().ok_or_else(|| Reason::unknown_path(call.name))?;
        match text.split_once('=') {
            Some(("of", "/dev/null")) => {}
            Some(("of", path)) => {
                let written = call.state.targets(call.name, &Argument::literal(path), false)?;
                effect = effect.and(Verdict::writing(written));
            }
            Some((
                "if" | "bs" | "count" | "skip" | "seek" | "conv" | "status" | "iflag" | "oflag" | "ibs"
                | "obs",
                _,
            )) => {}
            _ => return Err(Reason::unlisted_argument(call.name, text)),
        }
    }
    Ok(Judgement::new(effect))
}

/// Programs that only read but for a flag that names an output. `None` where no such flag is there: the tables decide.
fn output_flag(call: &Call<'_>) -> Option<Judgement> {
    let names_output = |arg: &Argument| {
        arg.known().is_some_and(|text| text == "-o" || text.starts_with("--output=") || text == "--output")
    };
    let at = call.args.iter().position(names_output)?;
    let flag = call.args.get(at)?;
    let (output, taken) = match flag.text.split_once('=') {
        Some((_, path)) => (Argument::literal(path), 1),
        None => (call.args.get(at + 1)?.clone(), 2),
    };
    let mut others = call.args.to_vec();
    others.drain(at..(at + taken).min(others.len()));
    // What is left must be harmless, or a second output hides in it.
    let rest = super::flags::judge(&Call { args: &others, ..*call })?;
    let effect = match call.state.targets(call.name, &output, false) {
        Ok(written) => Verdict::writing(written),
        Err(reason) => Verdict::opaque(reason),
    };
    Some(Judgement { verdict: rest.verdict.and(effect), ..rest })
}

fn mktemp(call: &Call<'_>) -> Result<Judgement, Reason> {
    let scan = scan(call, &Flags { short: "dq", long: "directory quiet", ..Flags::NONE }, Order::Mixed)?;
    let template = match scan.operands.as_slice() {
        [] => Argument::literal("/tmp/tmp.X"),
        [only] => (*only).clone(),
        _ => return Err(Reason::unknown_path(call.name)),
    };
    let text = template.known().ok_or_else(|| Reason::unknown_path(call.name))?;
    let pattern = Argument::literal(format!("{}*", text.trim_end_matches('X')));
    let mut written = call.state.targets(call.name, &pattern, false)?;
    for target in &mut written {
        target.pattern = true;
    }
    Ok(Judgement::new(Verdict::writing(written)))
}

fn split(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = Flags {
        short: "deux",
        valued: "abClnt",
        long: "numeric-suffixes verbose elide-empty-files",
        long_valued: "suffix-length bytes lines number additional-suffix line-bytes",
    };
    let scan = scan(call, &flags, Order::Mixed)?;
    let prefix = match scan.operands.as_slice() {
        [] | [_] => "x",
        [_, prefix] => prefix.known().ok_or_else(|| Reason::unknown_path(call.name))?,
        _ => return Err(Reason::unknown_path(call.name)),
    };
    let mut written = call.state.targets(call.name, &Argument::literal(format!("{prefix}*")), false)?;
    for target in &mut written {
        target.pattern = true;
    }
    Ok(Judgement::new(Verdict::writing(written)))
}

/// What all these operands name.
pub(super) fn targets(
    call: &Call<'_>,
    operands: &[&Argument],
    recursive: bool,
) -> Result<Vec<Target>, Reason> {
    let mut all = Vec::new();
    for operand in operands {
        for target in call.state.targets(call.name, operand, recursive)? {
            if !all.contains(&target) {
                all.push(target);
            }
        }
    }
    Ok(all)
}

/// The value of a flag that names a directory.
pub(super) fn directory<'a>(scan: &'a Scan<'_>, names: &'a [&str]) -> Option<&'a Argument> {
    scan.values(names).last()
}
