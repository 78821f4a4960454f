//! Programs that run another one: looked through, so that what counts is what they run.

use super::options::{Flags, Order, scan};
use super::{Call, Inner, Judgement, Verdict};
use crate::command_line::argument::Argument;
use crate::command_line::variables::is_harmless_to_programs;
use crate::command_line::verdict::Reason;
use crate::paths::is_name;

/// A program whose operands are some of its own and then a command.
struct Wrapper {
    names: &'static [&'static str],
    flags: Flags,
    /// Operands before the command.
    own_operands: usize,
    /// It gives other rights or another root, so that nothing is proved.
    changes_rights: bool,
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper { names: &["nohup", "builtin"], flags: Flags::NONE, own_operands: 0, changes_rights: false },
    Wrapper {
        names: &["nice"],
        flags: Flags { short: "#", valued: "n", long_valued: "adjustment", ..Flags::NONE },
        own_operands: 0,
        changes_rights: false,
    },
    Wrapper {
        names: &["timeout"],
        flags: Flags {
            short: "vfp",
            valued: "ks",
            long: "preserve-status foreground verbose",
            long_valued: "kill-after signal",
        },
        own_operands: 1,
        changes_rights: false,
    },
    Wrapper {
        names: &["time"],
        flags: Flags { short: "pvq", valued: "f", long: "portability verbose quiet", long_valued: "format" },
        own_operands: 0,
        changes_rights: false,
    },
    Wrapper {
        names: &["stdbuf"],
        flags: Flags { valued: "ioe", long_valued: "input output error", ..Flags::NONE },
        own_operands: 0,
        changes_rights: false,
    },
    Wrapper {
        names: &["setsid"],
        flags: Flags { short: "cfw", long: "ctty fork wait", ..Flags::NONE },
        own_operands: 0,
        changes_rights: false,
    },
    Wrapper {
        names: &["ionice"],
        flags: Flags { short: "t", valued: "cn", long: "ignore", long_valued: "class classdata" },
        own_operands: 0,
        changes_rights: false,
    },
    Wrapper {
        names: &["taskset"],
        flags: Flags { short: "ac", long: "all-tasks cpu-list", ..Flags::NONE },
        own_operands: 1,
        changes_rights: false,
    },
    Wrapper {
        names: &["linux32", "linux64", "i386", "x86_64", "setarch"],
        flags: Flags { short: "RFLBXZIST3v", long: "addr-no-randomize verbose", ..Flags::NONE },
        own_operands: 0,
        changes_rights: false,
    },
    Wrapper {
        names: &["exec"],
        // Not `-a`: some programs become another one by the name they are called with.
        flags: Flags { short: "cl", ..Flags::NONE },
        own_operands: 0,
        changes_rights: false,
    },
    Wrapper {
        names: &["sudo", "doas"],
        flags: Flags {
            short: "AbEHnPSkKsi",
            valued: "ugphCrtTDR",
            long: "preserve-env non-interactive login set-home",
            long_valued: "user group chdir",
        },
        own_operands: 0,
        changes_rights: true,
    },
    Wrapper {
        names: &["chroot"],
        flags: Flags { long: "userspec groups skip-chdir", ..Flags::NONE },
        own_operands: 1,
        changes_rights: true,
    },
    Wrapper {
        names: &["flock"],
        flags: Flags {
            short: "senox",
            valued: "wE",
            long: "shared exclusive nonblock",
            long_valued: "timeout",
        },
        own_operands: 1,
        changes_rights: true,
    },
];

pub(super) fn judge(call: &Call<'_>) -> Option<Judgement> {
    let judged = match call.name {
        "env" => env(call),
        "xargs" => xargs(call),
        "command" => command(call),
        "busybox" | "toybox" => Ok(multi_call(call)),
        "parallel" | "watch" => Ok(shell_text(call)),
        "fd" | "fdfind" => return find_and_run(call),
        name => wrapped(call, WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name))?),
    };
    Some(judged.into())
}

fn wrapped(call: &Call<'_>, wrapper: &Wrapper) -> Result<Judgement, Reason> {
    let effect = if wrapper.changes_rights {
        Verdict::opaque(Reason::runs_code(call.name))
    } else {
        Verdict::ReadOnly
    };
    let scan = scan(call, &wrapper.flags, Order::FlagsFirst)?;
    let mut operands = scan.operands.as_slice();
    if call.name == "setarch"
        && let Some((first, rest)) = operands.split_first()
        && first.known().is_some_and(is_architecture)
    {
        let args: Vec<Argument> = rest.iter().map(|arg| (*arg).clone()).collect();
        return wrapped(&Call { args: &args, name: "linux64", ..*call }, wrapper);
    }
    if changes_variables(wrapper) {
        while let Some((first, rest)) = operands.split_first()
            && first.text.contains('=')
        {
            operands = rest;
        }
    }
    let own = operands.get(..wrapper.own_operands.min(operands.len())).unwrap_or_default();
    if own.iter().any(|operand| !operand.is_single()) {
        return Err(Reason::unknown_argument(call.name));
    }
    let argv = operands.get(wrapper.own_operands..).unwrap_or_default();
    Ok(passing_on(effect, argv.iter().map(|arg| (*arg).clone()).collect(), false))
}

fn changes_variables(wrapper: &Wrapper) -> bool {
    wrapper.names.contains(&"sudo")
}

fn is_architecture(text: &str) -> bool {
    [
        "x86_64", "i386", "i486", "i586", "i686", "linux32", "linux64", "aarch64", "arm", "armv7l",
        "ppc64le", "s390x", "riscv64",
    ]
    .contains(&text)
}

/// A judgement for what runs `argv`, or for the wrapper alone where there is nothing to run.
fn passing_on(effect: Verdict, argv: Vec<Argument>, elsewhere: bool) -> Judgement {
    let mut judgement = Judgement::new(effect);
    if !argv.is_empty() {
        judgement.inner.push(Inner::Command { argv, elsewhere });
        judgement.looked_through = true;
    }
    judgement
}

fn env(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = Flags {
        short: "i0v",
        valued: "uCS",
        long: "ignore-environment null debug",
        long_valued: "unset chdir split-string",
    };
    let args = match call.args.split_first() {
        // A lone dash means `-i`.
        Some((first, rest)) if first.known() == Some("-") => rest,
        _ => call.args,
    };
    let call = Call { args, ..*call };
    let scan = scan(&call, &flags, Order::FlagsFirst)?;
    let mut effect = Verdict::ReadOnly;
    let mut operands = scan.operands.as_slice();
    while let Some((first, rest)) = operands.split_first()
        && let Some((name, _)) = first.text.split_once('=')
        && is_name(name)
    {
        if !is_harmless_to_programs(name) {
            effect = effect.and(Verdict::opaque(Reason::Variable { name: name.to_owned() }));
        }
        operands = rest;
    }
    let mut argv: Vec<Argument> = Vec::new();
    for text in scan.values(&["S", "split-string"]) {
        let plain = text
            .known()
            .filter(|text| text.chars().all(|c| c.is_ascii_alphanumeric() || " _-./:=,+%@".contains(c)));
        match plain {
            Some(text) => argv.extend(text.split_ascii_whitespace().map(Argument::literal)),
            None => argv.push(Argument::unknown(&text.text, true, true)),
        }
        // The words may themselves be flags or assignments.
        effect = effect.and(Verdict::opaque(Reason::runs_code(call.name)));
    }
    argv.extend(operands.iter().map(|arg| (*arg).clone()));
    Ok(passing_on(effect, argv, scan.has_any(&["C", "chdir"])))
}

fn xargs(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = Flags {
        short: "0rtpxoi",
        valued: "adEILnPs",
        long: "null no-run-if-empty verbose interactive exit open-tty show-limits replace",
        long_valued: "arg-file delimiter max-args max-procs max-lines max-chars eof",
    };
    let scan = scan(call, &flags, Order::FlagsFirst)?;
    let replaced = if scan.has_any(&["i", "replace"]) {
        Some("{}".to_owned())
    } else {
        scan.values(&["I"]).last().map(|value| value.text.clone())
    };
    let mut argv: Vec<Argument> = scan.operands.iter().map(|arg| (*arg).clone()).collect();
    if argv.is_empty() {
        return Ok(Judgement::read_only());
    }
    match replaced {
        Some(mark) if !mark.is_empty() => {
            for arg in argv.iter_mut().filter(|arg| arg.text.contains(&mark)) {
                let option = arg.text.starts_with(&mark) || arg.text.starts_with('-');
                *arg = Argument::unknown(arg.text.clone(), option, false);
            }
        }
        _ => argv.push(Argument::unknown("…", true, true)),
    }
    Ok(passing_on(Verdict::ReadOnly, argv, false))
}

/// `command -v` only looks a name up.
fn command(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = Flags { short: "pvV", ..Flags::NONE };
    let scan = scan(call, &flags, Order::FlagsFirst)?;
    if scan.has_any(&["v", "V"]) {
        return Ok(Judgement::read_only());
    }
    Ok(passing_on(Verdict::ReadOnly, scan.operands.iter().map(|arg| (*arg).clone()).collect(), false))
}

/// One binary, many programs: the first word is the one that runs.
fn multi_call(call: &Call<'_>) -> Judgement {
    match call.args.first().and_then(Argument::known) {
        None if call.args.is_empty() => Judgement::read_only(),
        Some("--list" | "--help" | "--list-full") => Judgement::read_only(),
        Some(flag) if flag.starts_with('-') => Judgement::opaque(Reason::unlisted_argument(call.name, flag)),
        _ => passing_on(Verdict::ReadOnly, call.args.to_vec(), false),
    }
}

/// Words that are put together and given to a shell, with input in between: only looked into for programs.
fn shell_text(call: &Call<'_>) -> Judgement {
    let mut judgement = Judgement::opaque(Reason::runs_code(call.name));
    let mut words = call.args;
    while let Some((first, rest)) = words.split_first()
        && first.text.starts_with('-')
    {
        let takes_value = matches!(
            first.text.as_str(),
            "-j" | "-n" | "-N" | "-L" | "-I" | "--jobs" | "--colsep" | "-C" | "-a" | "-S"
        );
        words = if takes_value { rest.split_first().map_or(rest, |(_, rest)| rest) } else { rest };
    }
    let text: Vec<&str> = words
        .iter()
        .map_while(|word| word.known().filter(|word| !matches!(*word, ":::" | "::::" | ":::+")))
        .collect();
    if !text.is_empty() {
        judgement.inner.push(Inner::Script { text: text.join(" "), plain_sh: true });
        judgement.looked_through = true;
    }
    judgement
}

/// `fd -x`: a search that runs a command; without it, an entry of the flag tables.
fn find_and_run(call: &Call<'_>) -> Option<Judgement> {
    let at = call
        .args
        .iter()
        .position(|arg| matches!(arg.known(), Some("-x" | "--exec" | "-X" | "--exec-batch")))?;
    let command = call.args.get(at + 1..).unwrap_or_default();
    let mut judgement = Judgement::opaque(Reason::runs_code(call.name));
    if !command.is_empty() {
        judgement.inner.push(Inner::Command { argv: command.to_vec(), elsewhere: true });
    }
    Some(judgement)
}
