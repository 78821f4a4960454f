//! Limits of the system that would end this process without a word.

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
