//! The tables for `flags`: which flags of which programs are known to change nothing.

use super::flags::{ANY, Entry};
use super::options::Flags;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        names: &["sort"],
        flags: Flags {
            short: "bdfghiMnRrVcCmsuz",
            valued: "ktS",
            long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting \
                month-sort human-numeric-sort numeric-sort random-sort reverse version-sort check merge \
                stable unique zero-terminated debug sort",
            long_valued: "key field-separator buffer-size parallel batch-size files0-from",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["rg"],
        flags: Flags {
            short: "aciFhHIlLnNopPqsSuUvVwx0.",
            valued: "ABCefgjmMrtTE",
            long: "count count-matches ignore-case smart-case case-sensitive fixed-strings files-with-matches \
                files-without-match line-number no-line-number only-matching pcre2 quiet hidden no-ignore \
                no-ignore-vcs no-heading heading invert-match word-regexp line-regexp multiline \
                multiline-dotall files type-list json vimgrep no-messages no-filename with-filename null \
                text follow no-follow unrestricted column trim stats no-config color version help passthru \
                byte-offset",
            long_valued: "regexp file glob iglob type type-not max-count max-depth max-filesize after-context \
                before-context context replace sort sortr threads encoding max-columns colors ignore-file \
                context-separator engine",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["tree"],
        flags: Flags {
            short: "adfilpsughDFtUrvcxnCqNSJXA",
            valued: "LPI",
            long: "dirsfirst filesfirst noreport inodes device gitignore prune du si matchdirs ignore-case \
                metafirst version help",
            long_valued: "filelimit sort timefmt charset",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["file"],
        flags: Flags {
            short: "biIkLhNnprsv0",
            valued: "Ff",
            long: "brief mime mime-type mime-encoding dereference no-dereference extension keep-going",
            long_valued: "separator files-from",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["date"],
        flags: Flags {
            short: "uR",
            valued: "dr",
            long: "utc universal rfc-email iso-8601 rfc-3339 debug resolution version help",
            long_valued: "date reference",
        },
        // Operands are judged in `small`.
        operands_max: 1,
    },
    Entry {
        names: &["hostname"],
        flags: Flags {
            short: "sfiIdA",
            valued: "",
            long: "short fqdn long ip-address all-ip-addresses domain all-fqdns version",
            long_valued: "",
        },
        operands_max: 0,
    },
    Entry {
        names: &["shuf"],
        flags: Flags {
            short: "erz",
            valued: "ni",
            long: "echo repeat zero-terminated",
            long_valued: "head-count input-range random-source",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["iconv"],
        flags: Flags { short: "cl", valued: "ft", long: "list", long_valued: "from-code to-code" },
        operands_max: ANY,
    },
    Entry {
        names: &["ss"],
        flags: Flags {
            short: "tulnpaxrmeoisHO46",
            valued: "",
            long: "tcp udp listening numeric all processes summary",
            long_valued: "",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["dmesg"],
        flags: Flags {
            short: "TtHkxLPruw",
            valued: "lfs",
            long: "ctime human kernel decode level facility follow color reltime",
            long_valued: "",
        },
        operands_max: 0,
    },
    Entry {
        names: &["journalctl"],
        flags: Flags {
            short: "xefrkmqa",
            valued: "unpobtSUg",
            long: "no-pager follow reverse dmesg list-boots disk-usage quiet all no-hostname utc",
            long_valued: "unit lines priority output since until grep identifier boot",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["top"],
        flags: Flags { short: "bciHS1", valued: "ndupowE", long: "", long_valued: "" },
        operands_max: 0,
    },
    Entry {
        names: &["nm"],
        flags: Flags {
            short: "aACDgnrSulop",
            valued: "",
            long: "demangle defined-only undefined-only dynamic size-sort numeric-sort extern-only",
            long_valued: "",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["objdump"],
        flags: Flags {
            short: "dDhtTxpfrRsSClw",
            valued: "jM",
            long: "disassemble headers syms private-headers demangle no-show-raw-insn",
            long_valued: "section",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["bat", "batcat"],
        flags: Flags {
            short: "pnA",
            valued: "rlH",
            long: "plain number show-all color style no-paging",
            long_valued: "line-range language highlight-line",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["ag"],
        flags: Flags {
            short: "acilLnQrsSuvwzoR",
            valued: "ABCGm",
            long: "nocolor color hidden literal files-with-matches ignore-case case-sensitive smart-case \
                word-regexp count nogroup noheading numbers no-numbers",
            long_valued: "ignore depth after before context",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["fd", "fdfind"],
        flags: Flags {
            short: "HIusigFalLp0q1",
            valued: "dteEScjo",
            long: "hidden no-ignore unrestricted case-sensitive ignore-case glob fixed-strings absolute-path \
                list-details follow full-path print0 quiet color no-ignore-vcs strip-cwd-prefix",
            long_valued: "max-depth min-depth exact-depth type extension exclude size changed-within changed-before \
                max-results threads owner",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["dpkg-query"],
        flags: Flags {
            short: "lsLSWp",
            valued: "f",
            long: "list status listfiles search show print-avail",
            long_valued: "showformat",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["ifconfig", "lsusb", "lspci", "sensors", "uuidgen", "dstat"],
        flags: Flags::NONE,
        operands_max: 0,
    },
    Entry {
        names: &["yq"],
        flags: Flags {
            short: "reMPC",
            valued: "op",
            long: "raw-output exit-status no-colors prettyPrint colors unwrapScalar",
            long_valued: "output-format input-format",
        },
        operands_max: ANY,
    },
    Entry {
        names: &["locate", "plocate"],
        flags: Flags {
            short: "bcierwAS0q",
            valued: "ln",
            long: "basename count ignore-case existing wholename all statistics quiet",
            long_valued: "limit",
        },
        operands_max: ANY,
    },
];
