//! The times that matter to a task: timers, deadline, watchdog, overdue stops, lease renewal.

use std::collections::BTreeMap;
use std::time::Duration;

use setpoint_machine::External;
use setpoint_protocol::message::{FailureClass, FaultKind, TaskFault};
use setpoint_protocol::record::{Answer, Answered};
use setpoint_protocol::{CallId, RoleId};
use tokio::time::Instant;

use super::{Driver, Inbound};
use crate::clock;

/// Time between renewals of a task's lease, in milliseconds.
const LEASE_RENEW_MS: u64 = crate::services::LEASE_TTL_MS / 3;

/// Timers and the two hard limits on time.
#[derive(Debug, Default)]
pub(super) struct Timing {
    timers: BTreeMap<CallId, u64>,
    fired: bool,
    renewed: Option<Instant>,
}

impl Timing {
    pub(super) fn arm(&mut self, call: CallId, due_clock_ms: u64) {
        self.timers.insert(call, due_clock_ms);
    }

    /// Removes a timer; returns whether it existed.
    pub(super) fn disarm(&mut self, call: CallId) -> bool {
        self.timers.remove(&call).is_some()
    }
}

impl Driver {
    /// Returns when something is due without any input; `None` if nothing is.
    pub(super) fn next_wake(&mut self) -> Option<Instant> {
        let timer = self.timing.timers.values().min().and_then(|due| self.clock.instant_of(*due));
        let stop = self.running.values().filter_map(|running| running.stop_by).min();
        let limit = if self.timing.fired { None } else { self.hard_limit() };
        let renewed = *self.timing.renewed.get_or_insert_with(Instant::now);
        let renew = self.lease.as_ref().map(|_| renewed + Duration::from_millis(LEASE_RENEW_MS));
        let again = self.again.values().map(|again| again.due).min();
        [timer, stop, limit, renew, again].into_iter().flatten().min()
    }

    /// Turns what is due into inputs.
    pub(super) fn tick(&mut self) {
        self.give_up_on_overdue();
        self.ask_due_again();
        let clock_ms = self.clock.read_ms();
        let due: Vec<CallId> =
            self.timing.timers.iter().filter(|(_, due)| **due <= clock_ms).map(|(call, _)| *call).collect();
        for call in due {
            self.timing.timers.remove(&call);
            let answered = Answered::new(call, 1, Answer::Timer);
            self.backlog.push_back(Inbound::External(External::Answered(answered)));
        }
        if !self.timing.fired
            && let Some(reason) = self.hard_limit_reached(clock_ms)
        {
            self.timing.fired = true;
            self.backlog.push_back(Inbound::External(External::Fault(TaskFault {
                role: RoleId::Runtime,
                kind: FaultKind::Deadline,
                reason,
                failure_class: Some(FailureClass::Environmental),
                hints: vec![self.services.hints.deadline.to_owned()],
                retryable: false,
                elapsed_ms: 0,
            })));
        }
        self.renew_lease();
    }

    /// Returns the earlier of the person's deadline and the watchdog's.
    fn hard_limit(&self) -> Option<Instant> {
        let watchdog = self.clock.instant_of(self.watchdog_clock_ms());
        let deadline = self
            .cell
            .deadline()
            .map(|deadline| Instant::now() + Duration::from_millis(deadline.millis_since(clock::now())));
        [watchdog, deadline].into_iter().flatten().min()
    }

    fn hard_limit_reached(&self, clock_ms: u64) -> Option<String> {
        if let Some(deadline) = self.cell.deadline()
            && deadline <= clock::now()
        {
            return Some(format!("the deadline {deadline} has passed"));
        }
        (clock_ms >= self.watchdog_clock_ms()).then(|| {
            format!("twice the time budget of {} ms is used up (watchdog)", self.cell.time_budget_ms())
        })
    }

    /// Returns twice the time budget that the task was opened with, from its first moment, so that time spent before
    /// the `TaskSpec` counts. A deadline shortens the budget, which then counts from the `TaskSpec`.
    fn watchdog_clock_ms(&self) -> u64 {
        let of_the_task = self.cell.opened().map_or(0, |opened| opened.controller.time_budget_ms);
        let start = self.cell.spec_clock_ms().unwrap_or(0);
        let of_the_spec = start.saturating_add(self.cell.time_budget_ms().saturating_mul(2));
        of_the_task.saturating_mul(2).min(of_the_spec).max(1)
    }

    fn renew_lease(&mut self) {
        let due = self.timing.renewed.is_some_and(|at| at.elapsed() >= Duration::from_millis(LEASE_RENEW_MS));
        let Some(lease) = self.lease.clone().filter(|_| due) else { return };
        self.timing.renewed = Some(Instant::now());
        let journal = self.services.journal.clone();
        let sender = self.sender.clone();
        tokio::task::spawn_blocking(move || {
            let now_us = clock::now().as_micros();
            if let Err(error) = journal.renew_lease(&lease, now_us, crate::services::LEASE_TTL_MS) {
                tracing::warn!(task = %lease.task, %error, "the lease could not be renewed; the task is released");
                drop(sender.blocking_send(Inbound::Release));
            }
        });
    }
}

/// Sleeps until `wake`; without one, forever.
pub(super) async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
