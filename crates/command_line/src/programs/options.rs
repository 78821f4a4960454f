//! Checks a program's words against its entry in the table.

use super::table::{Operands, Spec, Walks};
use super::{Args, Call, Walk};
use crate::Reason;
use crate::word::{Word, lists, quoted};

/// A program's words, split into rendered options and operands in order.
#[derive(Default)]
pub(super) struct Scan<'a> {
    /// Names of the options, each with the words that render it.
    pub(super) options: Vec<(String, Vec<String>)>,
    pub(super) operands: Vec<&'a Word>,
}

impl Scan<'_> {
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }
}

pub(super) fn judge(args: &Args<'_>, spec: &Spec) -> Result<Call, Reason> {
    let scan = scan(args, spec)?;
    let mut call = args.call();
    call.rendered = scan.options.iter().flat_map(|(_, words)| words.clone()).collect();
    let walk = match spec.walks {
        Walks::Never => Walk::No,
        Walks::Names => Walk::Names,
        Walks::NamesWith(names) if scan.has(names) => Walk::Names,
        Walks::Content => Walk::Content,
        Walks::ContentWith(names) if scan.has(names) => Walk::Content,
        Walks::ThroughLinks => Walk::ThroughLinks,
        Walks::NamesWith(_) | Walks::ContentWith(_) => Walk::No,
    };
    let walk = if scan.has(&["R"]) && args.program.ends_with("grep") { Walk::ThroughLinks } else { walk };
    let mut operands = scan.operands.as_slice();
    if !operands.is_empty() {
        call.rendered.push("--".to_owned());
    }
    if let Operands::TextThenPaths(unless) = spec.operands
        && !scan.has(unless)
    {
        let Some((first, rest)) = operands.split_first() else {
            return Err(Reason::argument(args.program, "nothing to look for"));
        };
        if first.text().is_none() {
            return Err(Reason::Wildcard { program: args.program.to_owned(), argument: first.rendered() });
        }
        call.push(first);
        operands = rest;
    }
    match spec.operands {
        Operands::None if !operands.is_empty() => {
            Err(args.refuse(operands.first().copied().unwrap_or(&Word::default())))
        }
        Operands::None => Ok(call),
        Operands::Text => {
            operands.iter().for_each(|word| call.push(word));
            Ok(call)
        }
        Operands::OnePath if operands.len() > 1 || operands.iter().any(|word| word.text().is_none()) => {
            Err(args.refuse(operands.last().copied().unwrap_or(&Word::default())))
        }
        Operands::Paths | Operands::OnePath | Operands::TextThenPaths(_) => {
            // Without a path, a program that walks starts in its directory; any other reads its input.
            if operands.is_empty() && walk != Walk::No && !args.is_piped {
                call.reads.push(super::ReadTarget::current_dir(walk));
            }
            operands.iter().for_each(|word| call.read(word, walk));
            Ok(call)
        }
    }
}

pub(super) fn scan<'a>(args: &Args<'a>, spec: &Spec) -> Result<Scan<'a>, Reason> {
    let mut scan = Scan::default();
    let mut words = args.words.iter();
    while let Some(word) = words.next() {
        let text = match word.text() {
            Some("--") => {
                scan.operands.extend(words);
                break;
            }
            Some(text) if word.may_be_option() => text,
            Some(_) => {
                scan.operands.push(word);
                continue;
            }
            // Matches are always operands, because `--` precedes them in what runs.
            None if !word.rendered().starts_with('-') => {
                scan.operands.push(word);
                continue;
            }
            None => return Err(args.refuse(word)),
        };
        if let Some(long) = text.strip_prefix("--") {
            long_option(args, spec, word, long, &mut words, &mut scan)?;
        } else if text.chars().skip(1).all(|c| c.is_ascii_digit()) && spec.short.contains('#') {
            scan.options.push(("#".to_owned(), vec![word.rendered()]));
        } else {
            short_options(args, spec, word, text, &mut words, &mut scan)?;
        }
    }
    Ok(scan)
}

fn long_option<'a>(
    args: &Args<'a>,
    spec: &Spec,
    word: &Word,
    long: &str,
    words: &mut std::slice::Iter<'a, Word>,
    scan: &mut Scan<'a>,
) -> Result<(), Reason> {
    let (name, value) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (long, None),
    };
    let mut rendered = vec![word.rendered()];
    if lists(spec.long_valued, name) {
        if value.is_none() {
            rendered.push(next_value(args, word, words)?);
        }
    } else if !lists(spec.long, name) {
        return Err(args.refuse(word));
    }
    scan.options.push((name.to_owned(), rendered));
    Ok(())
}

fn short_options<'a>(
    args: &Args<'a>,
    spec: &Spec,
    word: &Word,
    text: &str,
    words: &mut std::slice::Iter<'a, Word>,
    scan: &mut Scan<'a>,
) -> Result<(), Reason> {
    let mut letters = text.chars().skip(1);
    while let Some(letter) = letters.next() {
        if spec.valued.contains(letter) {
            if spec.is_valued_alone && text.chars().count() != 2 {
                return Err(args.refuse(word));
            }
            let glued: String = letters.collect();
            let rendered = if glued.is_empty() {
                vec![format!("-{letter}"), next_value(args, word, words)?]
            } else {
                vec![quoted(&format!("-{letter}{glued}"))]
            };
            scan.options.push((letter.to_string(), rendered));
            return Ok(());
        }
        if letter == '#' || !spec.short.contains(letter) {
            return Err(args.refuse(word));
        }
        scan.options.push((letter.to_string(), vec![format!("-{letter}")]));
    }
    Ok(())
}

/// Returns the value of an option in the next word: it must be literal, and may begin with a dash only if it is a number.
fn next_value(
    args: &Args<'_>,
    option: &Word,
    words: &mut std::slice::Iter<'_, Word>,
) -> Result<String, Reason> {
    let value = words.next().ok_or_else(|| args.refuse(option))?;
    let text = value.text().ok_or_else(|| args.refuse(value))?;
    let is_number = |text: &str| text.chars().skip(1).all(|c| c.is_ascii_digit());
    if text.starts_with('-') && !is_number(text) {
        return Err(args.refuse(value));
    }
    Ok(value.rendered())
}
