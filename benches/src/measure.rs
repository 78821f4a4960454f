//! Reading clocks and memory.

use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// CPU of this process so far, without children, in milliseconds.
pub(crate) fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// A moment to measure from.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn start() -> Instant {
    Instant::now()
}

/// Peak memory of this process in MiB, where the system tells.
pub(crate) fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|kib| kib.parse::<f64>().ok())
        .map_or(f64::NAN, |kib| kib / 1024.0)
}

/// Milliseconds from starting a process to its first model call, `times` times, sorted.
pub(crate) fn starts(times: usize) -> Result<Vec<f64>, String> {
    let me = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    for _ in 0..times {
        let begin = start();
        let child = Command::new(&me)
            .arg("--first-call")
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        // The child ends at its first model call.
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        if output.stdout.is_empty() {
            return Err("the process made no model call".to_owned());
        }
        found.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    found.sort_by(f64::total_cmp);
    Ok(found)
}
