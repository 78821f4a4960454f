//! Settings of this process itself: limits that would end it silently, and protection from other processes.

use std::ffi::OsStr;

/// Restarts this process in UTC if `TZ` or `TZDIR` does not name a time zone: libraries that format a time would read
/// the named file to its end, and `/dev/zero` has none. Calls `warn` with the variable first. Returns only if there is
/// nothing to do, or with the reason why the restart failed.
///
/// # Errors
/// If this executable cannot be started again.
pub fn restart_without_bad_time_zone(warn: impl Fn(&str, &OsStr)) -> std::io::Result<()> {
    use std::os::unix::process::CommandExt as _;
    let wrong = |name: &'static str, is_right: fn(&OsStr) -> bool| {
        std::env::var_os(name).filter(|value| !is_right(value)).map(|value| (name, value))
    };
    let wrong = [wrong("TZ", setpoint_tools::is_time_zone), wrong("TZDIR", setpoint_tools::is_zone_folder)];
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let mut args = std::env::args_os();
    let mut again = std::process::Command::new(std::env::current_exe()?);
    again.arg0(args.next().unwrap_or_default()).args(args).env("TZ", "UTC").env_remove("TZDIR");
    wrong.iter().for_each(|(name, value)| warn(name, value));
    Err(again.exec())
}

/// Makes a write beyond a limit on file size (`ulimit -f`) fail with an error, like one to a full disk. Otherwise the
/// signal that comes with it would end the process silently. Programs that it starts are not affected. Must be called
/// inside the async runtime.
///
/// # Errors
/// When the system accepts no handler.
pub fn outlive_file_size_limits() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // The handler stays installed when the stream is dropped.
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}

/// Prevents other processes of this user from reading the environment and memory of this one, which hold keys, and
/// disables core files. A process that may inspect every other one (root) still can; there only the tools' gate
/// protects. Programs that it starts are not affected.
///
/// # Errors
/// If the system refuses.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn hide_memory_from_user() -> std::io::Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Other systems do not expose a process to others.
///
/// # Errors
/// Never.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn hide_memory_from_user() -> std::io::Result<()> {
    Ok(())
}
