//! Which variables change what programs do.

/// Whether setting `name` in the shell itself may change which program runs, what it does, or how the text is read.
pub(super) fn changes_programs(name: &str) -> bool {
    EXACT.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || name.ends_with("PAGER")
        || name.ends_with("EDITOR")
        || name.to_ascii_lowercase().ends_with("_proxy")
}

/// Whether a program may be given `name` without a change in what it does to the world.
pub(super) fn is_harmless_to_programs(name: &str) -> bool {
    HARMLESS.contains(&name) || (name.starts_with("LC_") && name.len() > 3)
}

const EXACT: &[&str] = &[
    "PATH",
    "IFS",
    "HOME",
    "PWD",
    "OLDPWD",
    "CDPATH",
    "ENV",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PROMPT_COMMAND",
    "SHELL",
    "SHELLOPTS",
    "GLOBIGNORE",
    "GLOBSORT",
    "POSIXLY_CORRECT",
    "TMPDIR",
    "TEMP",
    "TMP",
    "FPATH",
    "MAIL",
    "MAILPATH",
    "MAILCHECK",
    "OPTIND",
    "UID",
    "EUID",
    "FUNCNAME",
    "FUNCNEST",
    "INPUTRC",
    "TERMINFO",
    "TERMCAP",
    "VISUAL",
    "BROWSER",
    "FCEDIT",
    "EXINIT",
    "CC",
    "CXX",
    "LD",
    "AR",
    "GZIP",
    "MAGIC",
    "TZDIR",
    "WGETRC",
    "COMPILER_PATH",
    "LOCPATH",
    "NLSPATH",
    "GCONV_PATH",
    "HOSTALIASES",
    "RES_OPTIONS",
    "CHILD_MAX",
    "EXECIGNORE",
    "COMP_WORDBREAKS",
    "MANPATH",
    "DISPLAY",
    "AWKPATH",
    "AWKLIBPATH",
    // Set behind the back of whoever reads the text.
    "REPLY",
    "MAPFILE",
    "OPTARG",
    "PIPESTATUS",
    "LINENO",
    "SECONDS",
    "RANDOM",
    "_",
];

const PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "BASH",
    "HIST",
    "GIT_",
    "LESS",
    "MAN_",
    "PYTHON",
    "PERL",
    "RUBY",
    "NODE_",
    "JAVA_",
    "_JAVA",
    "JDK_",
    "GEM_",
    "BUNDLE_",
    "NPM_",
    "npm_",
    "CARGO",
    "RUSTC",
    "RUSTUP",
    "RUSTFLAGS",
    "GOFLAGS",
    "GOROOT",
    "GOPATH",
    "GOTOOLCHAIN",
    "MAKE",
    "MFLAGS",
    "GCC_",
    "TAR_",
    "RSYNC_",
    "SSH_",
    "GREP_",
    "RIPGREP_",
    "JQ_",
    "ZIP",
    "UNZIP",
    "BZIP",
    "XZ_",
    "ZSTD_",
    "MALLOC_",
    "GLIBC_",
    "SUDO_",
    "XDG_",
    "EMACS",
    "VIM",
    "DOTNET_",
    "LUA_",
    "PHP",
    "OPENSSL_",
    "SSL_",
    "CURL_",
    "FZF_",
    "COPROC",
    "DIRSTACK",
    "GAWK",
    "DOCKER_",
    "KUBE",
];

const HARMLESS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "CI",
    "COLORTERM",
    "LS_COLORS",
    "BLOCK_SIZE",
    "BLOCKSIZE",
    "TIME_STYLE",
    "QUOTING_STYLE",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_on_the_right_side() {
        for name in
            ["PATH", "LD_PRELOAD", "IFS", "GIT_EXTERNAL_DIFF", "PAGER", "MANPAGER", "BASH_ENV", "https_proxy"]
        {
            assert!(changes_programs(name), "{name}");
            assert!(!is_harmless_to_programs(name), "{name}");
        }
        for name in ["x", "DIR", "count", "FILES", "OUT"] {
            assert!(!changes_programs(name), "{name}");
        }
        for name in ["LC_ALL", "TZ", "NO_COLOR"] {
            assert!(is_harmless_to_programs(name), "{name}");
        }
    }
}
