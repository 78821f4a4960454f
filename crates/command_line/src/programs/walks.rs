//! Programs with a path language of their own: `find`, and listings of archives.

use super::{Args, Call, ReadTarget, Walk};
use crate::Reason;
use crate::word::Word;

/// Tests and actions of `find` without a value.
const FIND_PLAIN: &[&str] = &[
    "!",
    "(",
    ")",
    ",",
    "-a",
    "-and",
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-ls",
    "-mount",
    "-not",
    "-o",
    "-or",
    "-print",
    "-print0",
    "-prune",
    "-quit",
    "-readable",
    "-true",
    "-writable",
    "-xdev",
];
/// Tests and actions of `find` with one value.
const FIND_VALUED: &[&str] = &[
    "-amin",
    "-atime",
    "-cmin",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-size",
    "-type",
    "-uid",
    "-user",
    "-wholename",
    "-xtype",
];
/// First words of `tar` that list an archive.
const TAR_LISTS: &[&str] =
    &["tf", "tvf", "-tf", "-tvf", "tzf", "tvzf", "-tzf", "-tvzf", "-tzvf", "-tjf", "-tJf", "-tjvf", "-tJvf"];

pub(super) fn judge(args: &Args<'_>) -> Option<Result<Call, Reason>> {
    match args.program {
        "find" => Some(find(args)),
        "tar" => Some(tar(args)),
        "unzip" => Some(listing(args, &["-l", "-Z1", "-v"])),
        "xxd" => Some(xxd(args)),
        "zipinfo" => Some(listing(args, &["-1"])),
        _ => None,
    }
}

fn find(args: &Args<'_>) -> Result<Call, Reason> {
    let mut call = args.call();
    let mut words = args.words.iter().peekable();
    let is_expression = |word: &Word| {
        word.text().is_some_and(|text| text.starts_with('-') || matches!(text, "!" | "(" | ")" | ","))
    };
    if let Some(first) = words.next_if(|word| word.text() == Some("-H")) {
        call.push(first);
    }
    while let Some(word) = words.next_if(|word| !is_expression(word)) {
        if word.may_be_option() {
            return Err(Reason::Wildcard { program: "find".to_owned(), argument: word.rendered() });
        }
        call.read(word, Walk::Names);
    }
    if call.reads.is_empty() {
        call.reads.push(ReadTarget::current_dir(Walk::Names));
    }
    while let Some(word) = words.next() {
        let text = word.text().ok_or_else(|| args.refuse(word))?;
        call.push(word);
        if FIND_VALUED.contains(&text) {
            let value =
                words.next().filter(|value| value.text().is_some()).ok_or_else(|| args.refuse(word))?;
            call.push(value);
        } else if !FIND_PLAIN.contains(&text) {
            return Err(args.refuse(word));
        }
    }
    Ok(call)
}

/// Accepts listings of local archives: a colon in the name means another machine.
fn tar(args: &Args<'_>) -> Result<Call, Reason> {
    match args.words {
        [mode, archive, members @ ..]
            if mode.text().is_some_and(|mode| TAR_LISTS.contains(&mode))
                && archive.text().is_some_and(|name| !name.contains(':') && !name.starts_with('-'))
                && members.iter().all(|member| member.text().is_some() && !member.may_be_option()) =>
        {
            let mut call = args.call();
            call.push(mode);
            call.read(archive, Walk::No);
            members.iter().for_each(|member| call.push(member));
            Ok(call)
        }
        words => {
            Err(words.first().map_or_else(|| Reason::argument("tar", "nothing"), |word| args.refuse(word)))
        }
    }
}

/// `xxd` takes options by their first letters, and a second operand as the file to write: so each option is a word of its
/// own, and one file comes last.
fn xxd(args: &Args<'_>) -> Result<Call, Reason> {
    let mut call = args.call();
    let mut words = args.words;
    while let Some((word, rest)) = words.split_first() {
        let value = match word.text() {
            Some("-b" | "-p" | "-u") => None,
            Some("-c" | "-g" | "-l" | "-s") => Some(rest.first().ok_or_else(|| args.refuse(word))?),
            _ => break,
        };
        call.push(word);
        if let Some(value) = value {
            if !value.text().is_some_and(|text| text.chars().all(|c| c.is_ascii_digit())) {
                return Err(args.refuse(value));
            }
            call.push(value);
        }
        words = rest.get(usize::from(value.is_some())..).unwrap_or_default();
    }
    match words {
        [] => Ok(call),
        [file] if file.text().is_some() && !file.may_be_option() => {
            call.read(file, Walk::No);
            Ok(call)
        }
        [first, ..] => Err(args.refuse(words.last().unwrap_or(first))),
    }
}

fn listing(args: &Args<'_>, modes: &[&str]) -> Result<Call, Reason> {
    match args.words {
        [mode, archive]
            if mode.text().is_some_and(|mode| modes.contains(&mode)) && archive.text().is_some() =>
        {
            if archive.may_be_option() {
                return Err(args.refuse(archive));
            }
            let mut call = args.call();
            call.push(mode);
            call.read(archive, Walk::No);
            Ok(call)
        }
        words => Err(words
            .first()
            .map_or_else(|| Reason::argument(args.program, "nothing"), |word| args.refuse(word))),
    }
}
