//! Which paths below `/proc` expose the inside of a process: its environment, memory or files, which may contain keys.
//!
//! Never examines a process: it decides by a path's text alone.

/// Entries of a process that every process may see, as in `ps`.
const HARMLESS: &[&str] = &[
    "cgroup",
    "cmdline",
    "comm",
    "io",
    "limits",
    "loginuid",
    "mountinfo",
    "mounts",
    "oom_score",
    "oom_score_adj",
    "schedstat",
    "sessionid",
    "stat",
    "statm",
    "status",
    "wchan",
];

/// The machine's memory as a file.
const MEMORY: &[&str] = &["kcore", "kmem", "vmcore"];

/// Where a path below `/proc` leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcPath {
    /// Not to the inside of a process.
    Elsewhere,
    /// To `/proc` itself, which contains every process.
    Everything,
    /// To the inside of a process, or possibly so.
    Inside,
}

/// Classifies an absolute path that may contain wildcards, or `unknown` in place of characters that are not known.
pub(crate) fn leads(path: &str, unknown: char) -> ProcPath {
    let is_open = |part: &str| part.contains(['*', '?', '[', unknown]);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let Some((first, below)) = parts.split_first() else { return ProcPath::Everything };
    let may_be_proc = *first == "proc"
        || (is_open(first)
            && first.split(['*', '?', '[', unknown]).next().is_some_and(|start| "proc".starts_with(start)));
    if !may_be_proc {
        return ProcPath::Elsewhere;
    }
    let Some((second, below)) = below.split_first() else { return ProcPath::Everything };
    let is_process = is_open(second)
        || ["self", "thread-self"].contains(second)
        || second.chars().all(|c| c.is_ascii_digit());
    if parts.contains(&"..") || MEMORY.contains(second) {
        return ProcPath::Inside;
    }
    match below {
        _ if !is_process => ProcPath::Elsewhere,
        [leaf] if HARMLESS.contains(leaf) => ProcPath::Elsewhere,
        [] if is_open(second) => ProcPath::Everything,
        _ => ProcPath::Inside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inside_of_a_process_is_recognised_by_path() {
        for path in [
            "/proc/1/environ",
            "/proc/self/environ",
            "/proc/12/task/12/environ",
            "/proc/thread-self/mem",
            "/proc/*/environ",
            "/proc/[0-9]*/maps",
            "/proc/!/environ",
            "/p*/1/environ",
            "/[p]roc/1/environ",
            "//proc//1/./environ",
            "/proc/sys/../1/environ",
            "/proc/1/root/etc/passwd",
            "/proc/self/fd/3",
            "/proc/1",
            "/proc/kcore",
        ] {
            assert_eq!(leads(path, '!'), ProcPath::Inside, "{path}");
        }
        for path in ["/", "/proc", "/proc/", "/*", "/proc/*", "/p*"] {
            assert_eq!(leads(path, '!'), ProcPath::Everything, "{path}");
        }
        for path in [
            "/proc/cpuinfo",
            "/proc/meminfo",
            "/proc/sys/kernel/random/boot_id",
            "/proc/self/status",
            "/proc/*/comm",
            "/proc/12/cmdline",
            "/process/1/environ",
            "/srv/proc/1/environ",
            "/u*/lib/environ",
            "proc.txt",
        ] {
            assert_eq!(leads(path, '!'), ProcPath::Elsewhere, "{path}");
        }
    }
}
