//! Archives and compressed files: listing and testing is harmless, packing and unpacking writes.

use std::path::Path;

use super::options::{Flags, Order, scan};
use super::writers::{directory, targets};
use super::{Call, Judgement};
use crate::command_line::argument::Argument;
use crate::command_line::verdict::{Reason, Target, Verdict};

pub(super) fn judge(call: &Call<'_>) -> Option<Judgement> {
    let judged = match call.name {
        "tar" | "gtar" | "bsdtar" => tar(call),
        "zip" => zip(call),
        "unzip" => unzip(call),
        "zipinfo" => zipinfo(call),
        "gzip" | "gunzip" => compressor(call, "gz"),
        "bzip2" | "bunzip2" => compressor(call, "bz2"),
        "xz" | "unxz" => compressor(call, "xz"),
        "zstd" | "unzstd" => compressor(call, "zst"),
        "7z" | "7za" => seven_zip(call),
        _ => return None,
    };
    Some(judged.into())
}

/// Neither programs to run nor scripts nor absolute names, nor lists of names, which may hold flags.
const TAR: Flags = Flags {
    short: "tcxruzjJaOkpvwhmS",
    valued: "fCX",
    long: "list create extract get append update gzip bzip2 xz zstd auto-compress to-stdout verbose \
                keep-old-files preserve-permissions dereference totals wildcards no-same-owner overwrite \
                numeric-owner exclude-vcs no-recursion full-time sort",
    long_valued: "file directory exclude strip-components exclude-from mtime owner group mode",
};

fn tar(call: &Call<'_>) -> Result<Judgement, Reason> {
    // The first word may be a group of flags without a dash.
    let mut args = call.args.to_vec();
    if let Some(first) = args.first_mut()
        && let Some(text) = first.known()
        && !text.starts_with('-')
    {
        let valued = text.chars().filter(|c| TAR.valued.contains(*c)).count();
        // Several values would follow in the order of their letters.
        if valued > 1 || (valued == 1 && !text.ends_with(|c| TAR.valued.contains(c))) {
            return Err(Reason::unlisted_argument(call.name, text));
        }
        *first = Argument::literal(format!("-{text}"));
    }
    let call = Call { args: &args, ..*call };
    let scan = scan(&call, &TAR, Order::Mixed)?;
    let archive = directory(&scan, &["f", "file"]);
    // `host:path` starts a remote shell.
    if archive.is_some_and(|archive| archive.text.contains(':')) {
        return Err(Reason::Network);
    }
    if scan.has_any(&["t", "list"])
        || (scan.has_any(&["x", "extract", "get"]) && scan.has_any(&["O", "to-stdout"]))
    {
        return if scan.has_any(&["c", "create", "r", "append", "u", "update"]) {
            Err(Reason::unlisted_argument(call.name, "several actions"))
        } else {
            Ok(Judgement::read_only())
        };
    }
    if scan.has_any(&["x", "extract", "get"]) {
        return unpacked_into(&call, directory(&scan, &["C", "directory"]));
    }
    match archive {
        Some(archive) if archive.known() == Some("-") => Ok(Judgement::read_only()),
        Some(archive) if scan.has_any(&["c", "create", "r", "append", "u", "update"]) => {
            Ok(Judgement::new(Verdict::writing(call.state.targets(call.name, archive, false)?)))
        }
        _ => Err(Reason::unknown_path(call.name)),
    }
}

fn unpacked_into(call: &Call<'_>, into: Option<&Argument>) -> Result<Judgement, Reason> {
    let here = Argument::literal(".");
    let written = call.state.targets(call.name, into.unwrap_or(&here), true)?;
    Ok(Judgement::new(Verdict::writing(written)))
}

fn zip(call: &Call<'_>) -> Result<Judgement, Reason> {
    // `-sf` shows what would be done.
    if call.args.iter().any(|arg| arg.known() == Some("-sf")) {
        let others: Vec<Argument> =
            call.args.iter().filter(|arg| arg.known() != Some("-sf")).cloned().collect();
        scan(&Call { args: &others, ..*call }, &Flags { short: "r", ..Flags::NONE }, Order::Mixed)?;
        return Ok(Judgement::read_only());
    }
    let flags = Flags { short: "rqjyuv9#", valued: "xi", ..Flags::NONE };
    let scan = scan(call, &flags, Order::Mixed)?;
    let archive = scan.operands.first().ok_or_else(|| Reason::unknown_path(call.name))?;
    let text = archive.known().ok_or_else(|| Reason::unknown_path(call.name))?;
    let has_extension = Path::new(text).extension().is_some();
    let path = if has_extension { text.to_owned() } else { format!("{text}.zip") };
    let written = call.state.targets(call.name, &Argument::literal(path), false)?;
    Ok(Judgement::new(Verdict::writing(written)))
}

fn unzip(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = Flags { short: "lvtpcZ1zqnojCuh", valued: "dx", ..Flags::NONE };
    let scan = scan(call, &flags, Order::Mixed)?;
    if scan.has_any(&["l", "v", "t", "p", "c", "Z", "z"]) {
        return Ok(Judgement::read_only());
    }
    unpacked_into(call, directory(&scan, &["d"]))
}

fn zipinfo(call: &Call<'_>) -> Result<Judgement, Reason> {
    scan(call, &Flags { short: "12smlvhtTz", ..Flags::NONE }, Order::Mixed)?;
    Ok(Judgement::read_only())
}

const COMPRESSOR: Flags = Flags {
    short: "cdkltvqfnNra#",
    valued: "",
    long: "stdout to-stdout decompress uncompress keep list test verbose quiet force best fast no-name \
                name",
    long_valued: "",
};

fn compressor(call: &Call<'_>, extension: &str) -> Result<Judgement, Reason> {
    let flags = match call.name {
        "xz" | "unxz" | "zstd" | "unzstd" => Flags { short: "cdkltvqf#", valued: "T", ..COMPRESSOR },
        _ => COMPRESSOR,
    };
    let scan = scan(call, &flags, Order::Mixed)?;
    // In some of them, the last of several actions wins.
    let named_unpacking = scan.has_any(&["d", "decompress", "uncompress"]);
    let only_looks = scan.has_any(&["l", "list", "t", "test"]) && !named_unpacking;
    let only_prints = scan.has_any(&["c", "stdout", "to-stdout"]) || only_looks;
    if only_prints || scan.operands.is_empty() {
        return Ok(Judgement::read_only());
    }
    if scan.has("r") {
        return Ok(Judgement::new(Verdict::writing(targets(call, &scan.operands, true)?)));
    }
    let unpacks = call.name.contains("un") || named_unpacking;
    let keeps = scan.has_any(&["k", "keep"]) || call.name.ends_with("zstd");
    let sources = targets(call, &scan.operands, false)?;
    let paths = sources.iter().map(|source| other_name(source, extension, unpacks)).collect();
    let deletes = if keeps { Vec::new() } else { sources };
    Ok(Judgement::new(Verdict::Writes { paths, deletes }))
}

/// The file that appears beside the source.
fn other_name(source: &Target, extension: &str, unpacks: bool) -> Target {
    let mut path = source.path.clone();
    if unpacks {
        path.set_extension(if path.extension().is_some_and(|ext| ext == "tgz") { "tar" } else { "" });
    } else {
        path.as_mut_os_string().push(format!(".{extension}"));
    }
    Target { path, ..source.clone() }
}

fn seven_zip(call: &Call<'_>) -> Result<Judgement, Reason> {
    match call.args.split_first() {
        Some((first, rest))
            if matches!(first.known(), Some("l" | "t"))
                && rest.iter().all(|arg| !arg.may_be_option() && !arg.text.starts_with(['-', '@'])) =>
        {
            Ok(Judgement::read_only())
        }
        _ => Err(Reason::unlisted_argument(call.name, "these words")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_unpacked_files() {
        let name = |path: &str, unpacks| {
            let source = Target { path: path.into(), pattern: false, recursive: false };
            other_name(&source, "gz", unpacks).path
        };
        assert_eq!(name("/a/b.txt", false), Path::new("/a/b.txt.gz"));
        assert_eq!(name("/a/b.txt.gz", true), Path::new("/a/b.txt"));
        assert_eq!(name("/a/b.tgz", true), Path::new("/a/b.tar"));
    }
}
