//! The layer table of ARCHITECTURE.md as data. A new crate gets a row here, or the check fails.

/// One crate's place.
#[derive(Debug)]
pub(super) struct Row {
    /// The folder under `crates/`; the package is `setpoint-` and this name with `-` for `_`.
    pub(super) name: &'static str,
    pub(super) layer: u8,
    pub(super) may_use: MayUse,
}

/// Which of our crates another may depend on.
#[derive(Debug)]
pub(super) enum MayUse {
    /// None.
    Nothing,
    /// Those of all layers up to this one.
    UpTo(u8),
    /// Those of all layers up to this one, and those named.
    And(u8, &'static [&'static str]),
    /// Those named.
    Only(&'static [&'static str]),
}

/// Rows of crates that do not exist yet are allowed: a crate is added when its content exists.
pub(super) const TABLE: &[Row] = &[
    Row { name: "command_line", layer: 0, may_use: MayUse::Nothing },
    Row { name: "control", layer: 0, may_use: MayUse::Nothing },
    Row { name: "mkct", layer: 0, may_use: MayUse::Nothing },
    // Messages carry the controller's states, classes and gains, which the arithmetic declares.
    Row { name: "protocol", layer: 0, may_use: MayUse::Only(&["control"]) },
    Row { name: "scrub", layer: 0, may_use: MayUse::Nothing },
    Row { name: "extract", layer: 1, may_use: MayUse::Only(&["protocol"]) },
    Row { name: "machine", layer: 1, may_use: MayUse::Only(&["protocol"]) },
    Row { name: "roles", layer: 2, may_use: MayUse::UpTo(1) },
    Row { name: "audit", layer: 3, may_use: MayUse::And(2, &["journal", "own_files"]) },
    Row { name: "documents", layer: 3, may_use: MayUse::Only(&["sandbox"]) },
    // Layer 3 because it connects; it knows nothing of the others there.
    Row { name: "fetch", layer: 3, may_use: MayUse::Nothing },
    Row { name: "journal", layer: 3, may_use: MayUse::And(1, OWN_FILES) },
    Row { name: "memory", layer: 3, may_use: MayUse::And(2, &["journal", "model", "own_files"]) },
    Row { name: "model", layer: 3, may_use: MayUse::And(1, OWN_FILES) },
    Row { name: "mcp", layer: 3, may_use: MayUse::Only(&["protocol"]) },
    // Layer 3 because it opens files; it knows nothing of the others there.
    Row { name: "own_files", layer: 3, may_use: MayUse::Nothing },
    // Layer 3 because it starts processes; it knows nothing of the others there.
    Row { name: "sandbox", layer: 3, may_use: MayUse::Nothing },
    Row { name: "telemetry", layer: 3, may_use: MayUse::And(1, OWN_FILES) },
    Row {
        name: "tools",
        layer: 3,
        may_use: MayUse::And(1, &["documents", "fetch", "mcp", "own_files", "sandbox"]),
    },
    Row { name: "history", layer: 4, may_use: MayUse::UpTo(3) },
    Row { name: "model_server", layer: 4, may_use: MayUse::Nothing },
    Row { name: "runtime", layer: 4, may_use: MayUse::And(3, &["history"]) },
    Row { name: "sim", layer: 4, may_use: MayUse::UpTo(3) },
    Row { name: "app", layer: 5, may_use: MayUse::And(3, &["history", "runtime"]) },
    // Beside `app`, the owners of the views that it shows.
    Row { name: "cli", layer: 6, may_use: MayUse::Only(EDGE) },
    Row { name: "server", layer: 6, may_use: MayUse::Only(EDGE) },
];

/// What an edge to people or programs needs: the program, and the owners of what it shows.
const EDGE: &[&str] = &["app", "audit", "history", "memory", "own_files", "protocol", "runtime", "scrub"];

/// The layers whose crates touch nothing outside: no I/O, no clock, no randomness.
pub(super) const PURE_LAYER_MAX: u8 = 2;

/// The crates that tests of the impure layers may use in any layer. They are not shipped.
pub(super) const TEST_DRIVERS: &[&str] = &["model_server", "sim"];

/// How the crates of the third layer open files.
const OWN_FILES: &[&str] = &["own_files"];

/// Packages that a pure crate may not have anywhere below it; a `*` stands for any ending or beginning.
pub(super) const IMPURE: &[&str] = &[
    "tokio",
    "tokio-*",
    "async-*",
    "futures*",
    "hyper*",
    "reqwest",
    "*sqlite*",
    "rand",
    "rand_core",
    "getrandom",
    "fastrand",
    "chrono",
    "mio",
    "socket2",
];

/// A package that only the named pure crates may depend on directly, and what for.
pub(super) const RESTRICTED: &[(&str, &[&str])] = &[
    // Times are written and read as text here; the clock is never read through it (see `sources`).
    ("jiff", &["protocol"]),
];

/// The row of a crate.
pub(super) fn row(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

impl Row {
    /// Whether the shipped part of this crate may depend on `other`.
    pub(super) fn allows(&self, other: &Row) -> bool {
        match self.may_use {
            MayUse::Nothing => false,
            MayUse::UpTo(layer) => other.layer <= layer,
            MayUse::And(layer, names) => other.layer <= layer || names.contains(&other.name),
            MayUse::Only(names) => names.contains(&other.name),
        }
    }

    /// Whether its tests may: a pure crate's reach as high as the crate itself, the others' reach what is below
    /// them and the test drivers.
    pub(super) fn tests_allow(&self, other: &Row) -> bool {
        let by_layer = if self.is_pure() {
            other.layer <= self.layer
        } else {
            other.layer < self.layer || TEST_DRIVERS.contains(&other.name)
        };
        by_layer || self.allows(other)
    }

    pub(super) fn is_pure(&self) -> bool {
        self.layer <= PURE_LAYER_MAX
    }
}

/// Whether a package's name is meant by an entry of [`IMPURE`].
pub(super) fn matches_entry(entry: &str, package: &str) -> bool {
    match (entry.strip_prefix('*'), entry.strip_suffix('*')) {
        (Some(_), Some(_)) => package.contains(entry.trim_matches('*')),
        (Some(ending), None) => package.ends_with(ending),
        (None, Some(beginning)) => package.starts_with(beginning),
        (None, None) => package == entry,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_crate_uses_a_higher_layer() {
        for row in TABLE {
            let above = TABLE.iter().filter(|other| other.layer > row.layer && row.allows(other));
            assert_eq!(above.count(), 0, "{} may use a crate above it", row.name);
        }
    }

    #[test]
    fn a_pure_crate_may_use_only_pure_crates() {
        for row in TABLE.iter().filter(|row| row.is_pure()) {
            assert!(TABLE.iter().filter(|other| row.allows(other)).all(Row::is_pure), "{}", row.name);
        }
    }

    #[test]
    fn test_drivers_are_not_shipped() {
        let drivers = || TABLE.iter().filter(|row| TEST_DRIVERS.contains(&row.name));
        assert_eq!(drivers().count(), TEST_DRIVERS.len());
        for row in TABLE {
            assert!(drivers().all(|driver| !row.allows(driver)), "{} may ship a test driver", row.name);
        }
    }

    #[test]
    fn stars_stand_for_a_beginning_an_end_or_both() {
        assert!(matches_entry("tokio-*", "tokio-util") && !matches_entry("tokio-*", "tokio"));
        assert!(matches_entry("*sqlite*", "libsqlite3-sys") && !matches_entry("rand", "rand_core"));
    }
}
