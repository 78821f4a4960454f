//! Programs that read no file, with words that a list of options cannot describe.

use super::{Args, Call};
use crate::Reason;
use crate::word::Word;

/// Programs that only print their version for `--version`. Excluded are those that a file of the working directory may
/// replace by another version, or make download one (`cargo`, `go`, `npm`), and those that run code from the person's
/// directories at their start (`pip`).
const VERSIONED: &[&str] = &[
    "bash", "clang", "cmake", "g++", "gawk", "gcc", "git", "jq", "make", "node", "perl", "python", "python3",
    "rg", "ruby", "sed", "tar",
];

/// Accepted conversions of `printf`. `%n` assigns, and an assignment to an array element runs its index.
const CONVERSIONS: &str = "sdiuxXocbqfeEgG%";

/// Accepted words of `ps`, which shows the environment of processes for an `e` among its letters without a dash.
const PS_WORDS: &[&str] = &["-A", "-a", "-e", "-ef", "-f", "-l", "-u", "-x", "aux", "ax", "axu"];

pub(super) fn judge(args: &Args<'_>) -> Option<Result<Call, Reason>> {
    if let [only] = args.words
        && VERSIONED.contains(&args.program)
        && only.text() == Some("--version")
    {
        return Some(Ok(args.as_written()));
    }
    match args.program {
        "echo" | "true" | "false" | ":" => Some(Ok(args.as_written())),
        "pwd" => Some(only(args, &["-L", "-P"])),
        "type" => Some(names(args, &["-a", "-t", "-p"])),
        "command" => Some(command(args)),
        "cd" => Some(Err(Reason::NotLiteral { what: "a `cd` that is not `cd DIR &&` at the start" })),
        "printf" => Some(printf(args)),
        "date" => Some(date(args)),
        "seq" => Some(all(args, |word, text| {
            !word.may_be_option() || is_number(text) || matches!(text, "-w" | "-s")
        })),
        "sleep" => Some(all(args, |_, text| is_number(text))),
        "ps" => Some(only(args, PS_WORDS)),
        _ => None,
    }
}

/// Returns the call if every word is literal and passes.
fn all(args: &Args<'_>, passes: impl Fn(&Word, &str) -> bool) -> Result<Call, Reason> {
    match args.words.iter().find(|word| !word.text().is_some_and(|text| passes(word, text))) {
        Some(word) => Err(args.refuse(word)),
        None => Ok(args.as_written()),
    }
}

fn only(args: &Args<'_>, listed: &[&str]) -> Result<Call, Reason> {
    all(args, |_, text| listed.contains(&text))
}

fn names(args: &Args<'_>, listed: &[&str]) -> Result<Call, Reason> {
    all(args, |word, text| !word.may_be_option() || listed.contains(&text))
}

/// Accepts `command -v NAME`, which looks a program up; without the option it runs one.
fn command(args: &Args<'_>) -> Result<Call, Reason> {
    match args.words.first().and_then(Word::text) {
        Some("-v" | "-V") => names(args, &["-v", "-V"]),
        _ => Err(Reason::NotLiteral { what: "a wrapper around another command" }),
    }
}

fn printf(args: &Args<'_>) -> Result<Call, Reason> {
    let mut words = args.words.iter();
    let mut format = words.next();
    if format.is_some_and(|word| word.text() == Some("--")) {
        format = words.next();
    }
    let Some(format) = format else { return Err(Reason::argument("printf", "no format")) };
    let is_safe = format.text().is_some_and(|text| !text.starts_with('-') && has_safe_conversions(text));
    if is_safe { Ok(args.as_written()) } else { Err(args.refuse(format)) }
}

fn has_safe_conversions(format: &str) -> bool {
    let mut rest = format;
    while let Some((_, after)) = rest.split_once('%') {
        let conversion = after.trim_start_matches(|c: char| c.is_ascii_digit() || " +-#.*".contains(c));
        let Some(letter) = conversion.chars().next() else { return false };
        if !CONVERSIONS.contains(letter) {
            return false;
        }
        rest = conversion.get(letter.len_utf8()..).unwrap_or_default();
    }
    true
}

fn date(args: &Args<'_>) -> Result<Call, Reason> {
    let mut is_value = false;
    all_in_order(args, |text| {
        let is_listed = is_value
            || text.starts_with('+')
            || matches!(text, "-u" | "-R" | "-d" | "--utc" | "-I" | "-Iseconds" | "-Iminutes" | "-Idate")
            || ["--date=", "--iso-8601", "--rfc-3339="].iter().any(|option| text.starts_with(option));
        // A time zone in a date names a file.
        let passes = is_listed && !text.contains("TZ=");
        is_value = !is_value && text == "-d";
        passes
    })
}

fn all_in_order(args: &Args<'_>, mut passes: impl FnMut(&str) -> bool) -> Result<Call, Reason> {
    for word in args.words {
        if !word.text().is_some_and(&mut passes) {
            return Err(args.refuse(word));
        }
    }
    Ok(args.as_written())
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.len() < 10 && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_that_assigns_is_refused() {
        for format in ["%s\n", "%d%%", "%-20s|%5.2f", "no conversion", "%*d"] {
            assert!(has_safe_conversions(format), "{format}");
        }
        for format in ["%n", "%s%n", "%5n", "%", "%(%F)T", "%ln", "%Q"] {
            assert!(!has_safe_conversions(format), "{format}");
        }
    }
}
