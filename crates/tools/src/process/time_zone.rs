//! Whether a `TZ` names a time zone. Programs read the file that it names to its end, and `/dev/zero` has none.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// The system's folders of time zones.
const ZONE_FOLDERS: &[&str] =
    &["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"];
/// Largest file that counts as a time zone, in bytes; real ones have a few thousand.
const ZONE_BYTES_MAX: u64 = 256 * 1024;
/// Longest value that counts as a time zone, in bytes.
const VALUE_BYTES_MAX: usize = 256;

/// Returns whether a value of `TZ` is a rule (`EST5EDT`), the name of a time zone, or a regular file of the system's time
/// zones. Opens nothing.
#[must_use]
pub fn is_time_zone(value: &OsStr) -> bool {
    let Some(text) = value.to_str().filter(|text| text.len() <= VALUE_BYTES_MAX) else { return false };
    let place = Path::new(text.strip_prefix(':').unwrap_or(text));
    if place.is_absolute() {
        return is_zone_file(place);
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_+-/<>,.:".contains(c);
    let is_below = place.components().all(|part| matches!(part, Component::Normal(_)));
    // Programs read a name that no time zone has as a file of the working directory.
    let is_zone = || ZONE_FOLDERS.iter().any(|folder| is_zone_file(&Path::new(folder).join(place)));
    text.chars().all(is_plain) && is_below && (is_zone() || place.symlink_metadata().is_err())
}

/// Returns whether a value of `TZDIR` is a folder of time zones that only root can write.
#[must_use]
pub fn is_zone_folder(value: &OsStr) -> bool {
    use std::os::unix::fs::MetadataExt;
    let Ok(folder) = Path::new(value).canonicalize() else { return false };
    folder.ends_with("zoneinfo") && folder.metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == 0)
}

fn is_zone_file(path: &Path) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    let folders = ZONE_FOLDERS.iter().filter_map(|folder| Path::new(folder).canonicalize().ok());
    let is_small =
        |path: &Path| path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= ZONE_BYTES_MAX);
    folders.into_iter().any(|folder| real.starts_with(folder)) && is_small(&real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_zone_is_a_rule_a_name_or_a_file_of_the_system() {
        for zone in [
            "",
            "UTC",
            ":UTC",
            "Europe/Berlin",
            "America/Argentina/Salta",
            "EST5EDT,M3.2.0,M11.1.0",
            "<+03>-3",
        ] {
            assert!(is_time_zone(OsStr::new(zone)), "{zone}");
        }
        let long = "A".repeat(VALUE_BYTES_MAX + 1);
        for no_zone in [
            "/dev/zero",
            ":/dev/zero",
            "/dev/stdin",
            "/etc/passwd",
            "/usr/share/zoneinfo/../../../dev/zero",
            "/usr/share/zoneinfo",
            "../../../../dev/zero",
            "Europe/../../../../dev/zero",
            "./pipe",
            // A file in the working directory of the test.
            "Cargo.toml",
            "src/lib.rs",
            "a b",
            "\u{1b}[2J",
            &long,
        ] {
            assert!(!is_time_zone(OsStr::new(no_zone)), "{no_zone}");
        }
        let system = Path::new("/usr/share/zoneinfo/UTC");
        assert_eq!(is_time_zone(system.as_os_str()), system.exists());
    }

    #[test]
    fn only_system_folders_hold_time_zones() {
        let own = tempfile::tempdir().unwrap();
        for no_folder in ["/dev", "/", "", "/usr/share"].map(Path::new).into_iter().chain([own.path()]) {
            assert!(!is_zone_folder(no_folder.as_os_str()), "{}", no_folder.display());
        }
    }
}
