//! Programs by what their output can show.

/// They print what stands in the files that they are given.
pub(super) const READERS: &[&str] = &[
    "awk",
    "base64",
    "cat",
    "cmp",
    "column",
    "comm",
    "cut",
    "diff",
    "du",
    "egrep",
    "expand",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "grep",
    "head",
    "hexdump",
    "join",
    "jq",
    "less",
    "ls",
    "md5sum",
    "more",
    "nl",
    "od",
    "paste",
    "rev",
    "rg",
    "sed",
    "sha256sum",
    "sort",
    "stat",
    "strings",
    "tac",
    "tail",
    "tr",
    "uniq",
    "wc",
    "xxd",
];

/// They print names, where they run, or what a repository holds, and run nothing of it.
pub(super) const LISTERS: &[&str] = &[
    "basename", "cd", "command", "df", "dirname", "find", "git", "hostname", "id", "nproc", "printenv", "ps",
    "pwd", "readlink", "realpath", "tree", "uname", "whoami", "which",
];

/// Their exit codes say what they found.
pub(super) const EXITS: &[&str] = &["cmp", "diff", "egrep", "fgrep", "git", "grep", "jq", "rg"];

/// They print lines that they find in files, or parts of them.
pub(super) const FINDERS: &[&str] =
    &["awk", "cd", "cut", "egrep", "fgrep", "find", "git", "grep", "rg", "sed", "sort", "tail", "uniq"];

/// They print names of what is there.
pub(super) const NAMERS: &[&str] = &["cd", "du", "find", "ls", "tree"];

/// Programs that print what they are told and look at nothing.
pub(super) const SPEAKERS: &[&str] =
    &["echo", "printf", "true", "false", ":", "yes", "seq", "expr", "sleep", "date", "jot"];

/// Programs that run a program text, which may be all that there is to them.
pub(super) const INTERPRETERS: &[&str] = &[
    "python", "python2", "python3", "perl", "ruby", "node", "php", "lua", "awk", "gawk", "mawk", "bc", "dc",
    "cat", "jq",
];
