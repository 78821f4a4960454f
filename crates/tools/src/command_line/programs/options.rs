//! Reads a program's arguments as flags and operands, the GNU way: flags may follow operands, short ones may be glued.

use super::Call;
use crate::command_line::argument::Argument;
use crate::command_line::verdict::Reason;

/// The flags that a program's entry vouches for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags {
    /// Letters of flags without a value.
    pub(super) short: &'static str,
    /// Letters of flags with a value, glued or next.
    pub(super) valued: &'static str,
    /// Names of long flags without a value, or with one after `=`; blanks between them.
    pub(super) long: &'static str,
    /// Names of long flags whose value may be the next argument; blanks between them.
    pub(super) long_valued: &'static str,
}

impl Flags {
    pub(super) const NONE: Self = Self { short: "", valued: "", long: "", long_valued: "" };
}

/// Whether flags end at the first operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Mixed,
    FlagsFirst,
}

/// Arguments told apart.
#[derive(Debug, Default)]
pub(super) struct Scan<'a> {
    /// In order, a short flag by its letter.
    pub(super) flags: Vec<(String, Option<Argument>)>,
    pub(super) operands: Vec<&'a Argument>,
}

impl Scan<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.flags.iter().any(|(flag, _)| flag == name)
    }

    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// The values given to one of these flags.
    pub(super) fn values<'b>(&'b self, names: &'b [&str]) -> impl Iterator<Item = &'b Argument> {
        self.flags
            .iter()
            .filter(move |(flag, _)| names.contains(&flag.as_str()))
            .filter_map(|(_, value)| value.as_ref())
    }
}

/// Reads the arguments of `call`.
///
/// # Errors
/// At a flag that is not listed, and at an argument of unknown text that could be one.
pub(super) fn scan<'a>(call: &Call<'a>, flags: &Flags, order: Order) -> Result<Scan<'a>, Reason> {
    let mut scan = Scan::default();
    let mut args = call.args.iter();
    let mut only_operands = false;
    while let Some(arg) = args.next() {
        if only_operands {
            scan.operands.push(arg);
            continue;
        }
        if arg.may_be_option() {
            return Err(Reason::unknown_argument(call.name));
        }
        let text = match arg.known() {
            Some(text) if text.starts_with('-') && text != "-" => text,
            _ => {
                only_operands = order == Order::FlagsFirst;
                scan.operands.push(arg);
                continue;
            }
        };
        if text == "--" {
            only_operands = true;
        } else if let Some(long) = text.strip_prefix("--") {
            long_flag(call, flags, long, text, &mut args, &mut scan)?;
        } else {
            short_flags(call, flags, text, &mut args, &mut scan)?;
        }
    }
    Ok(scan)
}

fn long_flag<'a>(
    call: &Call<'a>,
    flags: &Flags,
    long: &str,
    text: &str,
    args: &mut std::slice::Iter<'a, Argument>,
    scan: &mut Scan<'a>,
) -> Result<(), Reason> {
    let (name, glued) = match long.split_once('=') {
        Some((name, value)) => (name, Some(Argument::literal(value))),
        None => (long, None),
    };
    if lists(flags.long_valued, name) {
        let value = match glued {
            Some(value) => value,
            None => next_value(call, args)?,
        };
        scan.flags.push((name.to_owned(), Some(value)));
    } else if lists(flags.long, name) {
        scan.flags.push((name.to_owned(), glued));
    } else {
        return Err(Reason::unlisted_argument(call.name, text));
    }
    Ok(())
}

/// Whether `name` is one of the words in `names`.
fn lists(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|listed| listed == name)
}

fn short_flags<'a>(
    call: &Call<'a>,
    flags: &Flags,
    text: &str,
    args: &mut std::slice::Iter<'a, Argument>,
    scan: &mut Scan<'a>,
) -> Result<(), Reason> {
    let mut letters = text.chars().skip(1);
    while let Some(letter) = letters.next() {
        if flags.valued.contains(letter) {
            let glued: String = letters.collect();
            let value = if glued.is_empty() { next_value(call, args)? } else { Argument::literal(glued) };
            scan.flags.push((letter.to_string(), Some(value)));
            return Ok(());
        }
        let is_listed =
            flags.short.contains(letter) || (letter.is_ascii_digit() && flags.short.contains('#'));
        if !is_listed || letter == '#' {
            return Err(Reason::unlisted_argument(call.name, text));
        }
        scan.flags.push((letter.to_string(), None));
    }
    Ok(())
}

fn next_value<'a>(call: &Call<'a>, args: &mut std::slice::Iter<'a, Argument>) -> Result<Argument, Reason> {
    match args.next() {
        Some(value) if value.is_single() => Ok(value.clone()),
        Some(_) => Err(Reason::unknown_argument(call.name)),
        None => Err(Reason::unlisted_argument(call.name, "nothing after its last flag")),
    }
}
