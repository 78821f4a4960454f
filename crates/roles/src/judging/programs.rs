//! Programs, classed by what their output can show.

use crate::words::{WordList, word_list};

/// Programs that print the content of the files they are given.
pub(super) const READERS: WordList = word_list!(
    "awk base64 cat cmp column comm cut diff du egrep expand fgrep file fmt fold grep head hexdump join jq \
     less ls md5sum more nl od paste rev rg sed sha256sum sort stat strings tac tail tr uniq wc xxd"
);

/// Programs that print names, the current directory or a repository's content, and run nothing of it.
pub(super) const LISTERS: &[&str] = &[
    "basename", "cd", "command", "df", "dirname", "find", "git", "hostname", "id", "nproc", "printenv", "ps",
    "pwd", "readlink", "realpath", "tree", "uname", "whoami", "which",
];

/// Programs whose exit codes report what they found.
pub(super) const EXITS: &[&str] = &["cmp", "diff", "egrep", "fgrep", "git", "grep", "jq", "rg"];

/// Programs that print matching lines or parts of files.
pub(super) const FINDERS: &[&str] =
    &["awk", "cd", "cut", "egrep", "fgrep", "find", "git", "grep", "rg", "sed", "sort", "tail", "uniq"];

/// Programs that print the names of what exists.
pub(super) const NAMERS: &[&str] = &["cd", "du", "find", "ls", "tree"];

/// Programs that print their arguments and look at nothing.
pub(super) const SPEAKERS: &[&str] =
    &["echo", "printf", "true", "false", ":", "yes", "seq", "expr", "sleep", "date", "jot"];

/// Programs that run a program text, which may be given on the command line.
pub(super) const INTERPRETERS: &[&str] = &[
    "python", "python2", "python3", "perl", "ruby", "node", "php", "lua", "awk", "gawk", "mawk", "bc", "dc",
    "cat", "jq",
];
