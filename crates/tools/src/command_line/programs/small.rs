//! Programs with one rule of their own.

use super::options::{Flags, Order, scan};
use super::{Call, Judgement, awk, find, flags, git, sed};
use crate::command_line::argument::Argument;
use crate::command_line::verdict::{Reason, Verdict};

pub(super) fn judge(call: &Call<'_>) -> Option<Judgement> {
    let judged = match call.name {
        "find" => find::judge(call),
        "sed" | "gsed" => sed::judge(call),
        "awk" | "gawk" | "mawk" | "nawk" => awk::judge(call),
        "git" => git::judge(call),
        "date" => date(call),
        "uniq" => second_operand_is_output(call, &UNIQ, Order::Mixed),
        "xxd" => second_operand_is_output(call, &XXD, Order::FlagsFirst),
        "ip" => ip(call),
        "dpkg" => dpkg(call),
        _ => return None,
    };
    Some(judged.into())
}

/// An operand without `+` sets the clock.
fn date(call: &Call<'_>) -> Result<Judgement, Reason> {
    for arg in call.args.iter().filter(|arg| !arg.text.starts_with(['-', '+'])) {
        let after_flag = call.args.iter().zip(call.args.iter().skip(1)).any(|(before, this)| {
            std::ptr::eq(this, arg)
                && matches!(before.known(), Some("-d" | "--date" | "-r" | "--reference" | "-ud" | "-ur"))
        });
        if !after_flag {
            return Err(Reason::unlisted_argument(call.name, &arg.text));
        }
    }
    // `-I` takes a value only when it is glued.
    let others: Vec<Argument> = call.args.iter().filter(|arg| !arg.text.starts_with("-I")).cloned().collect();
    let call = Call { args: &others, ..*call };
    flags::judge(&call).ok_or_else(|| Reason::unknown_argument(call.name))
}

const UNIQ: Flags = Flags {
    short: "cdDiuz",
    valued: "fsw",
    long: "count repeated all-repeated ignore-case unique zero-terminated group",
    long_valued: "skip-fields skip-chars check-chars",
};

const XXD: Flags = Flags { short: "abeEiprudC", valued: "cglosn", long: "", long_valued: "" };

/// The first operand is read, the second written.
fn second_operand_is_output(call: &Call<'_>, flags: &Flags, order: Order) -> Result<Judgement, Reason> {
    let scan = scan(call, flags, order)?;
    match scan.operands.as_slice() {
        [] => Ok(Judgement::read_only()),
        [only] if only.is_single() => Ok(Judgement::read_only()),
        [first, output] if first.is_single() => {
            let targets = call.state.targets(call.name, output, false)?;
            Ok(Judgement::new(Verdict::writing(targets)))
        }
        _ => Err(Reason::unknown_argument(call.name)),
    }
}

/// Showing is harmless, everything else changes the network.
fn ip(call: &Call<'_>) -> Result<Judgement, Reason> {
    let words: Option<Vec<&str>> = call
        .args
        .iter()
        .filter(|arg| {
            !matches!(arg.known(), Some("-4" | "-6" | "-br" | "-brief" | "-c" | "-j" | "-json" | "-s" | "-o"))
        })
        .map(|arg| arg.known())
        .collect();
    match words.as_deref() {
        Some(
            ["a" | "addr" | "address" | "r" | "route" | "l" | "link" | "n" | "neigh" | "rule"]
            | [
                "a" | "addr" | "address" | "r" | "route" | "l" | "link" | "n" | "neigh" | "rule",
                "show" | "list" | "ls",
                ..,
            ],
        ) => Ok(Judgement::read_only()),
        _ => Err(Reason::unlisted_argument(call.name, "these words")),
    }
}

fn dpkg(call: &Call<'_>) -> Result<Judgement, Reason> {
    match call.args.first().and_then(|arg| arg.known()) {
        Some("-l" | "--list" | "-L" | "--listfiles" | "-s" | "--status" | "-S" | "--search")
            if call.args.iter().skip(1).all(|arg| !arg.text.starts_with('-') && !arg.may_be_option()) =>
        {
            Ok(Judgement::read_only())
        }
        _ => Err(Reason::unlisted_argument(call.name, "these words")),
    }
}
