//! `git`: sub-commands that only read. The caller checks what the repository's configuration would start
//! ([`GitCall`]); here everything that options can turn off is turned off.

use super::{Args, Call, GitCall, Walk};
use crate::Reason;
use crate::word::{Word, lists};

/// Options added to every call.
const SAFE: &[&str] = &[
    "--no-pager",
    "--no-optional-locks",
    "-c safe.bareRepository=explicit",
    "-c core.fsmonitor=false",
    "-c core.hooksPath=/dev/null",
    "-c core.alternateRefsCommand=",
    "-c diff.autoRefreshIndex=false",
    "-c log.showSignature=false",
    "-c gpg.program=false",
    "-c protocol.allow=never",
    "-c submodule.recurse=false",
];

/// A sub-command: its name, the options that it lists, the options added to every call of it, and its operands. The value
/// of an option that ends in `=` follows the `=`; that of one that ends in `:` is glued to it, or is the next word; that of
/// one that ends in `#` is a number that is glued to it.
type Sub = (&'static str, &'static str, &'static str, Operands);

/// Which operands may follow the options.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    None,
    /// Revisions and paths.
    Any,
    /// Revisions and paths, if one of [`SELECTING`] is given; otherwise an operand would create a name.
    Selected,
}

/// Options with which an operand of `branch` and `tag` is a pattern or a commit.
const SELECTING: &str = "-l -ln --list --contains --no-contains --merged --no-merged --points-at";

/// Sub-commands that read the working tree.
const LOOKING_AT_TREE: &str = "status diff ls-files blame grep check-ignore";

const LOG: &str = "--oneline --graph --all --decorate --no-decorate --stat --shortstat --numstat --name-only \
    --name-status --patch --no-patch -p -s -u --reverse --merges --no-merges --first-parent --follow --abbrev-commit \
    --cached --staged --summary --raw --date-order --topo-order --branches --tags --remotes --no-color --color --text -a -w \
    -b --full-diff --ignore-all-space --ignore-space-change --ignore-blank-lines --minimal --patience --histogram \
    --word-diff --no-renames --check --quiet -q -i -E -F --exit-code --no-ext-diff --no-textconv --full-index --left-right \
    --not -z -m -c --cc --root -r -t --no-commit-id --find-renames -M -C --relative --date= --format= --pretty= --since= \
    --until= --after= --before= --author= --committer= --grep= --max-count= --skip= --diff-filter= --unified= --abbrev= \
    --color= --decorate= --word-diff= --stat= --inter-hunk-context= -S: -G: -L: -n: -U#";
const STATUS: &str = "--short -s --branch -b --porcelain --porcelain=v1 --porcelain=v2 --long --untracked-files -u -uno -uall \
    -unormal --untracked-files=no --untracked-files=all --ignored -z -sb -bs --show-stash --ahead-behind --no-renames -v";
const REV_LIST: &str = "--count --all --max-count= --since= --until= --no-merges --merges --first-parent --reverse -n: \
    --left-right --author= --branches --tags";
const REV_PARSE: &str = "--show-toplevel --show-prefix --show-cdup --abbrev-ref --short --short= --verify --quiet -q --git-dir \
    --is-inside-work-tree --is-bare-repository --symbolic-full-name --absolute-git-dir --all --branches";
const LS_FILES: &str = "-c -m -d -o -s -t -z --cached --modified --deleted --others --stage --ignored -i --exclude-standard \
    --full-name --error-unmatch";
const GREP: &str = "-n -i -l -L -c -w -v -E -F -G -P -h -H -e: --line-number --ignore-case --files-with-matches --count \
    --word-regexp --cached --heading --break --show-function -p -A: -B: -C: -I --untracked --and --or --not";
const BRANCH: &str = "-a -r -v -vv -av -avv -va -l --list --all --remotes --verbose --show-current --contains --no-contains \
    --merged --no-merged --points-at --sort= --format= --color= --no-color --contains= --merged= --no-merged=";
const TAG: &str = "-l -n --list --contains --merged --no-merged --points-at --sort= --format= --column -ln --contains= --merged=";
const NO_PROGRAMS: &str = "--no-ext-diff --no-textconv";

const SUBS: &[Sub] = &[
    ("status", STATUS, "--ignore-submodules=dirty", Operands::Any),
    ("log", LOG, NO_PROGRAMS, Operands::Any),
    ("show", LOG, NO_PROGRAMS, Operands::Any),
    ("diff", LOG, "--no-ext-diff --no-textconv --ignore-submodules=dirty", Operands::Any),
    ("diff-tree", LOG, NO_PROGRAMS, Operands::Any),
    (
        "shortlog",
        "-s -n -e -sn -ns -sne --summary --numbered --email --all --no-merges --since= --until=",
        "",
        Operands::Any,
    ),
    ("rev-list", REV_LIST, "", Operands::Any),
    ("rev-parse", REV_PARSE, "", Operands::Any),
    ("ls-files", LS_FILES, "", Operands::Any),
    ("ls-tree", "-r -d -t -l -z --name-only --long --full-tree --full-name", "", Operands::Any),
    (
        "blame",
        "-L: -w -s -e -l -t -p --porcelain --line-porcelain --date= -M -C --show-email",
        "--no-textconv",
        Operands::Any,
    ),
    (
        "describe",
        "--tags --always --all --long --abbrev= --match= --exact-match --contains --first-parent",
        "",
        Operands::Any,
    ),
    ("cat-file", "-p -t -s -e", "", Operands::Any),
    ("grep", GREP, "--no-textconv --no-recurse-submodules", Operands::Any),
    ("branch", BRANCH, "", Operands::Selected),
    ("tag", TAG, "", Operands::Selected),
    ("remote", "-v --verbose", "", Operands::None),
    ("merge-base", "--all --is-ancestor", "", Operands::Any),
    ("name-rev", "--name-only --tags", "", Operands::Any),
    ("show-ref", "--heads --tags -s -d --head", "", Operands::Any),
    ("for-each-ref", "--format= --sort= --count= --contains= --merged= --points-at=", "", Operands::Any),
    ("count-objects", "-v -vH -H", "", Operands::None),
    ("check-ignore", "-v -q", "", Operands::Any),
    ("reflog", "-n:", "", Operands::None),
    ("version", "", "", Operands::None),
];

/// Sub-commands with a sub-command that lists.
const LISTS: &[(&str, &str)] =
    &[("stash", "list"), ("worktree", "list"), ("reflog", "show"), ("notes", "list")];

pub(super) fn judge(args: &Args<'_>) -> Result<Call, Reason> {
    let mut call = args.call();
    call.rendered = SAFE.iter().map(|text| (*text).to_owned()).collect();
    let mut git = GitCall::default();
    let mut words = args.words;
    let name = loop {
        let (word, rest) = words.split_first().ok_or_else(|| Reason::argument("git", "nothing"))?;
        words = rest;
        match word.text().ok_or_else(|| args.refuse(word))? {
            "--no-pager" | "--no-optional-locks" | "-P" => {}
            "-C" => {
                let (directory, rest) = words.split_first().ok_or_else(|| args.refuse(word))?;
                let text = directory.text().filter(|text| !text.starts_with('-') && git.directory.is_none());
                git.directory = Some(text.ok_or_else(|| args.refuse(directory))?.to_owned());
                call.push(word);
                call.read(directory, Walk::No);
                words = rest;
            }
            text if text.starts_with('-') => return Err(args.refuse(word)),
            text => break text,
        }
    };
    call.rendered.push(name.to_owned());
    if let Some((_, list)) = LISTS.iter().find(|(sub, _)| *sub == name)
        && let Some((second, [])) = words.split_first()
        && second.text() == Some(list)
    {
        call.push(second);
        call.git = Some(git);
        return Ok(call);
    }
    let sub = SUBS.iter().find(|sub| sub.0 == name).ok_or_else(|| Reason::argument("git", name))?;
    // Between the index and a commit, `diff` reads no file of the working tree.
    let is_staged = words.iter().any(|word| matches!(word.text(), Some("--cached" | "--staged")));
    git.looks_at_tree = lists(LOOKING_AT_TREE, name) && !(name == "diff" && is_staged);
    git.looks_into_nested = name == "status" || (name == "diff" && !is_staged);
    call.rendered.extend(sub.2.split_ascii_whitespace().map(str::to_owned));
    arguments(args, *sub, words, &git, &mut call)?;
    call.git = Some(git);
    Ok(call)
}

fn arguments(
    args: &Args<'_>,
    sub: Sub,
    words: &[Word],
    git: &GitCall,
    call: &mut Call,
) -> Result<(), Reason> {
    let mut words = words.iter();
    let mut is_selection = sub.3 == Operands::Any;
    let mut has_ended = false;
    while let Some(word) = words.next() {
        if has_ended && sub.3 == Operands::Any {
            read(git, word, call);
            continue;
        }
        let text = word.text().ok_or_else(|| args.refuse(word))?;
        if text == "--" {
            has_ended = true;
            call.push(word);
        } else if word.may_be_option() {
            option(args, sub.1, word, text, &mut words, call)?;
            is_selection |= sub.3 == Operands::Selected && lists(SELECTING, text);
        } else if is_selection {
            read(git, word, call);
        } else {
            return Err(args.refuse(word));
        }
    }
    Ok(())
}

fn option(
    args: &Args<'_>,
    options: &str,
    word: &Word,
    text: &str,
    words: &mut std::slice::Iter<'_, Word>,
    call: &mut Call,
) -> Result<(), Reason> {
    // These placeholders start the program that checks signatures.
    if text.contains("%G") || text.contains("signature") {
        return Err(args.refuse(word));
    }
    let is_valued = lists(options, &format!("{text}:"));
    let is_counted =
        text.get(2..).is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()))
            && text.get(..2).is_some_and(|letter| lists(options, &format!("{letter}#")));
    let is_count = text.chars().skip(1).all(|c| c.is_ascii_digit()) && lists(options, "-n:");
    let has_value = text.split_once('=').is_some_and(|(name, _)| lists(options, &format!("{name}=")));
    let is_glued = text
        .get(..2)
        .is_some_and(|letter| letter != "--" && text.len() > 2 && lists(options, &format!("{letter}:")));
    if !(lists(options, text) || is_valued || is_counted || is_count || has_value || is_glued) {
        return Err(args.refuse(word));
    }
    call.push(word);
    if is_valued {
        // If this Git takes no value here, the next word must not be an option.
        let is_value = |value: &&Word| value.text().is_some_and(|text| !text.starts_with('-'));
        let value = words.next().filter(is_value).ok_or_else(|| args.refuse(word))?;
        call.push(value);
    }
    Ok(())
}

/// Adds an operand as a read, since it may be a path. A relative one starts at the directory of `-C`.
fn read(git: &GitCall, word: &Word, call: &mut Call) {
    call.read(word, Walk::No);
    if let (Some(directory), Some(read)) = (&git.directory, call.reads.last_mut()) {
        let escaped = Word::of(directory.as_str()).pattern();
        if !read.pattern.starts_with('/') {
            read.pattern = format!("{escaped}/{}", read.pattern);
        }
        read.literal = read
            .literal
            .as_ref()
            .map(|path| if path.starts_with('/') { path.clone() } else { format!("{directory}/{path}") });
    }
}
