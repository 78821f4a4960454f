//! What is logged: a level, or levels by target, as `info,setpoint_journal=debug`.

/// Maximum characters of the setting.
pub(super) const LEVELS_CHARS_MAX: usize = 1_000;
/// Maximum characters of a target.
const TARGET_CHARS_MAX: usize = 100;
/// All levels, from least to most output.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Describes a valid setting for a person.
pub(super) const EXPECTED: &str = "off, error, warn, info, debug or trace, alone or for a target, with commas between: \
                                   `info,setpoint_journal=debug`";

/// Returns whether a text is a valid setting. The logging library would take anything else for a target that nothing
/// logs to.
pub(super) fn is_levels(text: &str) -> bool {
    text.chars().count() <= LEVELS_CHARS_MAX && text.split(',').all(|one| is_directive(one.trim()))
}

fn is_directive(text: &str) -> bool {
    match text.split_once('=') {
        None => is_level(text),
        Some((target, level)) => is_target(target) && is_level(level),
    }
}

fn is_level(text: &str) -> bool {
    LEVELS.iter().any(|level| level.eq_ignore_ascii_case(text))
}

/// Returns whether a text names a crate or a module of one.
fn is_target(text: &str) -> bool {
    (1..=TARGET_CHARS_MAX).contains(&text.len())
        && text.split("::").all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_alone_or_for_a_target() {
        for good in
            ["info", "OFF", "setpoint=debug,info", "warn, setpoint_runtime::driver=trace", "hyper-util=error"]
        {
            assert!(is_levels(good), "{good}");
        }
        let long = "info,".repeat(LEVELS_CHARS_MAX) + "info";
        for bad in [
            "",
            "inof",
            "setpoint",
            "setpoint=",
            "=info",
            "setpoint=loud",
            "info,",
            "a::=info",
            "a=b=info",
            "[span]=info",
            "x[{field=\"1\"}]=info",
            "info;debug",
            "a b=info",
            &long,
        ] {
            assert!(!is_levels(bad), "{bad}");
        }
    }
}
