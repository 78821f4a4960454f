//! The built-in playbooks, one line per file of `playbooks/`.

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        /// File names with their texts.
        pub(super) const SOURCES: &[(&str, &str)] =
            &[$((concat!($name, ".toml"), include_str!(concat!("../../../../playbooks/", $name, ".toml")))),*];
    };
}

sources!(
    "archive-directory",
    "broken-symlinks",
    "compare-directories",
    "count-lines",
    "csv-summary",
    "disk-usage",
    "duplicate-files",
    "file-checksum",
    "find-text",
    "git-report",
    "json-summary",
    "largest-files",
    "log-summary",
    "manifest-create",
    "manifest-verify",
    "rename-files",
);
