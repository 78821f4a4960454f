//! Reads clocks and memory.

use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// The spread of several runs; NaN without runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) most: f64,
}

impl Spread {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        Spread { least: at(0), median: at(values.len() / 2), most: at(values.len().saturating_sub(1)) }
    }

    /// Formats the median, with minimum and maximum in brackets.
    pub(crate) fn text(&self) -> String {
        format!("{:.3} [{:.3}, {:.3}]", self.median, self.least, self.most)
    }
}

/// Returns the CPU milliseconds of this process so far, without children.
pub(crate) fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Returns the current time.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
pub(crate) fn start() -> Instant {
    Instant::now()
}

/// Returns the peak memory of this process in MiB, if the system reports it.
pub(crate) fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|kib| kib.parse::<f64>().ok())
        .map_or(f64::NAN, |kib| kib / 1024.0)
}

/// Returns the milliseconds from starting a process to its first model call, `times` times.
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
        // The child exits at its first model call.
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        if output.stdout.is_empty() {
            return Err("the process made no model call".to_owned());
        }
        found.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    Ok(found)
}
