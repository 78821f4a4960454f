//! The only place that reads the operating system's clocks.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use setpoint_protocol::Timestamp;
use tokio::time::Instant;

/// Returns the time of day in UTC.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the edge where time enters")]
pub fn now() -> Timestamp {
    let micros = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
    };
    Timestamp::from_micros(micros)
}

/// Returns the seconds since 1970.
#[must_use]
pub fn now_s() -> i64 {
    now().as_micros().div_euclid(1_000_000)
}

/// A task's own clock: monotonic, and stopped while only people are asked or no process runs.
#[derive(Clone, Debug)]
pub(crate) struct TaskClock {
    base_ms: u64,
    since: Option<Instant>,
}

impl TaskClock {
    /// Creates a running clock that starts at `base_ms`.
    pub(crate) fn starting_at(base_ms: u64) -> Self {
        TaskClock { base_ms, since: Some(Instant::now()) }
    }

    /// Returns the milliseconds on the clock.
    pub(crate) fn read_ms(&self) -> u64 {
        let running = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.base_ms.saturating_add(u64::try_from(running.as_millis()).unwrap_or(u64::MAX))
    }

    /// Starts or stops the clock.
    pub(crate) fn set_running(&mut self, running: bool) {
        if running == self.since.is_some() {
            return;
        }
        self.base_ms = self.read_ms();
        self.since = running.then(Instant::now);
    }

    /// Returns the moment at which the clock will show `clock_ms`; `None` while it is stopped.
    pub(crate) fn instant_of(&self, clock_ms: u64) -> Option<Instant> {
        self.since?;
        Some(Instant::now() + Duration::from_millis(clock_ms.saturating_sub(self.read_ms())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stopped_clock_keeps_its_time() {
        let mut clock = TaskClock::starting_at(5);
        tokio::time::advance(Duration::from_millis(100)).await;
        assert_eq!(clock.read_ms(), 105);
        clock.set_running(false);
        tokio::time::advance(Duration::from_secs(86_400)).await;
        assert_eq!(clock.read_ms(), 105);
        assert!(clock.instant_of(200).is_none());
        clock.set_running(true);
        tokio::time::advance(Duration::from_millis(10)).await;
        assert_eq!(clock.read_ms(), 115);
    }
}
