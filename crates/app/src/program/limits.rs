//! What is asked of the system about this process itself: limits that would end it without a word, and that no other
//! process may look into it.

use std::ffi::OsStr;

/// Starts this process again in UTC where `TZ` or `TZDIR` names no time zone: libraries that format a time would read
/// the named file to its end, and `/dev/zero` has none. `warn` is called with the variable before. Returns only where
/// there is nothing to do, or with the reason why it cannot be done.
///
/// # Errors
/// When this executable cannot be started again.
pub fn leave_no_time_zone(warn: impl Fn(&str, &OsStr)) -> std::io::Result<()> {
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

/// From now on a write beyond a limit on the size of files (`ulimit -f`) fails like one to a full disk, and is told;
/// left alone, the signal that comes with it would end the process without a word. The programs that it starts are
/// not changed. Call it inside the async runtime.
///
/// # Errors
/// When the system takes no handler.
#[cfg(unix)]
pub fn outlive_file_size_limits() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    // The handler stays when this end of it is dropped.
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}

/// Other systems have no such limits.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn outlive_file_size_limits() -> std::io::Result<()> {
    Ok(())
}

/// From now on no other process of this person may read this one's environment or memory, where keys are, and it leaves
/// no core file. Whoever may look into every process (root) still can: there the gate of the tools is all there is. The
/// programs that it starts are not changed.
///
/// # Errors
/// When the system does not do it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn keep_to_itself() -> std::io::Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Other systems do not show a process to others.
///
/// # Errors
/// Never.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn keep_to_itself() -> std::io::Result<()> {
    Ok(())
}
