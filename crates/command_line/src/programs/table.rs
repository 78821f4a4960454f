//! The list of programs with their accepted options. Excluded are options that write, run, connect, follow links
//! or take the name of another file to read.

/// A program's entry.
#[derive(Debug)]
pub(super) struct Spec {
    names: &'static [&'static str],
    /// Letters of options without a value; `#` accepts numbers like `-5`.
    pub(super) short: &'static str,
    /// Letters of options with a value, glued or in the next word.
    pub(super) valued: &'static str,
    /// Whether such a letter comes alone, with its value in the next word, and never glued.
    pub(super) is_valued_alone: bool,
    /// Long options without a value, or with one after `=`.
    pub(super) long: &'static str,
    /// Long options whose value may be the next word.
    pub(super) long_valued: &'static str,
    pub(super) operands: Operands,
    pub(super) walks: Walks,
}

/// Which operands may follow the options.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operands {
    None,
    /// Words that name no files.
    Text,
    /// Files to read.
    Paths,
    /// At most one file: a second one would be written.
    OnePath,
    /// A text, unless one of these options gives it, then files.
    TextThenPaths(&'static [&'static str]),
}

/// Whether the program reads everything below a directory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Walks {
    Never,
    Names,
    NamesWith(&'static [&'static str]),
    Content,
    ContentWith(&'static [&'static str]),
    /// Content, also through links below it.
    ThroughLinks,
}

pub(super) fn find(name: &str) -> Option<&'static Spec> {
    TABLE.iter().find(|spec| spec.names.contains(&name))
}

/// Returns an entry of a program that reads the given files.
const fn reads(
    names: &'static [&'static str],
    short: &'static str,
    valued: &'static str,
    long: &'static str,
    long_valued: &'static str,
) -> Spec {
    Spec {
        names,
        short,
        valued,
        is_valued_alone: false,
        long,
        long_valued,
        operands: Operands::Paths,
        walks: Walks::Never,
    }
}

/// Returns an entry of a program that reads no file.
const fn tells(
    names: &'static [&'static str],
    short: &'static str,
    long: &'static str,
    operands: Operands,
) -> Spec {
    Spec {
        names,
        short,
        valued: "",
        is_valued_alone: false,
        long,
        long_valued: "",
        operands,
        walks: Walks::Never,
    }
}

const GREP_LONG: &str = "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case \
    invert-match word-regexp line-regexp count color colour files-without-match files-with-matches only-matching \
    quiet silent no-messages byte-offset with-filename no-filename line-number initial-tab null null-data recursive \
    text line-buffered";
const SUMS_LONG: &str = "binary text tag zero";

const TABLE: &[Spec] = &[
    Spec {
        walks: Walks::NamesWith(&["R", "recursive"]),
        ..reads(
            &["ls", "dir", "vdir"],
            "aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1",
            "ITw",
            "all almost-all author escape ignore-backups directory classify file-type full-time \
                group-directories-first no-group human-readable si inode literal numeric-uid-gid quote-name reverse \
                recursive size zero color",
            "hide ignore width time-style sort time format block-size indicator-style",
        )
    },
    reads(
        &["cat"],
        "AbeEnstTuv",
        "",
        "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
        "",
    ),
    reads(&["head"], "qvz#", "nc", "quiet silent verbose zero-terminated", "lines bytes"),
    reads(&["tail"], "qvz#", "nc", "quiet silent verbose zero-terminated", "lines bytes"),
    reads(&["wc"], "clmwL", "", "bytes chars lines words max-line-length", "total"),
    Spec {
        operands: Operands::TextThenPaths(&["e", "regexp"]),
        walks: Walks::ContentWith(&["r", "recursive"]),
        ..reads(
            &["grep", "egrep", "fgrep"],
            "abcEFGHhIiLlnoPqRrsTUvwxyzZ#",
            "ABCem",
            GREP_LONG,
            "regexp max-count label after-context before-context context include exclude exclude-dir binary-files",
        )
    },
    Spec {
        operands: Operands::TextThenPaths(&["e", "regexp", "files", "type-list"]),
        walks: Walks::Content,
        ..reads(
            &["rg"],
            "aciFhHIlnNoPpqsSuUvVwx0.",
            "ABCegjmMrtTE",
            "count count-matches ignore-case smart-case case-sensitive fixed-strings files-with-matches \
                files-without-match line-number no-line-number only-matching pcre2 quiet hidden no-ignore no-ignore-vcs \
                no-heading heading invert-match word-regexp line-regexp multiline multiline-dotall files type-list json \
                vimgrep no-messages no-filename with-filename null text unrestricted column trim stats no-config \
                no-follow byte-offset version",
            "color regexp glob iglob type type-not max-count max-depth max-filesize after-context before-context context \
                replace sort sortr threads encoding max-columns context-separator",
        )
    },
    Spec {
        walks: Walks::Names,
        // Of a bundle it takes each letter's value from the words after it, so that they would be another's.
        is_valued_alone: true,
        ..reads(
            &["tree"],
            "adfipsughDFtUrvcxnCqNSJXA",
            "LPI",
            "dirsfirst filesfirst noreport inodes device gitignore prune du si matchdirs ignore-case version",
            "filelimit sort timefmt charset",
        )
    },
    Spec {
        walks: Walks::Names,
        ..reads(
            &["du"],
            "abchkmsSx0",
            "dBt",
            "all apparent-size bytes total summarize human-readable si one-file-system separate-dirs null inodes time",
            "max-depth block-size threshold exclude time-style",
        )
    },
    reads(
        &["df"],
        "ahHiklPT",
        "Btx",
        "all human-readable si inodes local portability print-type total",
        "block-size type exclude-type",
    ),
    reads(&["stat"], "ft", "c", "file-system terse", "format printf"),
    reads(
        &["file"],
        "bhiIkNnr0",
        "F",
        "brief mime mime-type mime-encoding no-dereference extension keep-going",
        "separator",
    ),
    reads(
        &["sort"],
        "bdfghiMnRrVcCmsuz",
        "kt",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort \
            human-numeric-sort numeric-sort random-sort reverse version-sort check merge stable unique zero-terminated",
        "key field-separator parallel",
    ),
    Spec {
        operands: Operands::OnePath,
        ..reads(
            &["uniq"],
            "cdDiuz",
            "fsw",
            "count repeated ignore-case unique zero-terminated group all-repeated",
            "skip-fields skip-chars check-chars",
        )
    },
    reads(
        &["cut"],
        "nsz",
        "bcdf",
        "complement only-delimited zero-terminated",
        "bytes characters fields delimiter output-delimiter",
    ),
    tells(&["tr"], "cCdst", "complement delete squeeze-repeats truncate-set1", Operands::Text),
    reads(&["nl"], "p", "bdfhilnsvw", "", ""),
    reads(&["tac"], "br", "s", "", ""),
    reads(&["rev"], "", "", "", ""),
    reads(&["paste"], "sz", "d", "serial", "delimiters"),
    reads(&["comm"], "123z", "", "", ""),
    reads(&["join"], "iz", "a12vtoej", "", ""),
    Spec {
        walks: Walks::ThroughLinks,
        ..reads(
            &["diff"],
            "qrsuwBbiNEZTtyacdep#",
            "UCWxI",
            "brief recursive report-identical-files unified context side-by-side ignore-all-space ignore-blank-lines \
                ignore-space-change ignore-case new-file text minimal color suppress-common-lines",
            "exclude label ignore-matching-lines width",
        )
    },
    reads(&["cmp"], "bls", "in", "print-bytes verbose quiet silent", "ignore-initial bytes"),
    reads(&["column"], "tx", "sNo", "table", "separator output-separator"),
    reads(&["fold"], "bs", "w", "bytes spaces", "width"),
    reads(&["fmt"], "cstu", "w", "", "width"),
    reads(&["expand", "unexpand"], "ai", "t", "", "tabs"),
    reads(&["od"], "abcdfilosvx", "AtNjw", "", ""),
    reads(&["hexdump", "hd"], "bcCdovx", "ns", "", ""),
    reads(&["base64", "base32"], "di", "w", "decode ignore-garbage", "wrap"),
    reads(
        &["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"],
        "btz",
        "",
        SUMS_LONG,
        "",
    ),
    reads(&["cksum", "sum"], "", "", "", ""),
    reads(&["zcat", "bzcat", "xzcat"], "", "", "", ""),
    reads(
        &["readlink", "realpath"],
        "efmnPqsvz",
        "",
        "canonicalize canonicalize-existing canonicalize-missing",
        "",
    ),
    tells(&["basename", "dirname"], "az", "multiple zero", Operands::Text),
    tells(
        &["uname"],
        "asnrvmpio",
        "all kernel-name nodename kernel-release machine operating-system",
        Operands::None,
    ),
    tells(&["whoami", "nproc", "arch", "tty", "lscpu", "lsb_release"], "a", "all", Operands::None),
    tells(&["hostname"], "sfiI", "", Operands::None),
    tells(&["id", "groups"], "ugGnr", "user group groups name real", Operands::Text),
    tells(&["uptime"], "ps", "pretty since", Operands::None),
    tells(&["free"], "bkmghtw", "bytes kibi mebi gibi human total wide", Operands::None),
    tells(&["lsblk"], "afm", "all fs", Operands::None),
    tells(&["who", "w"], "", "", Operands::None),
    tells(&["ss"], "tulnpa46s", "tcp udp listening numeric all processes summary", Operands::None),
    tells(&["netstat"], "tulnpa", "", Operands::None),
    tells(&["pgrep"], "aflnx", "list-name list-full full exact", Operands::Text),
    tells(&["pidof"], "", "", Operands::Text),
    tells(&["which"], "a", "all", Operands::Text),
    tells(&["printenv"], "0", "null", Operands::Text),
];
