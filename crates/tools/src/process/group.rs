//! The processes of one call, ended one way or another.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::survey::{self, Alive, Process};
use super::warden::Guarded;

/// Looks for survivors before it is given up; there is a pause of [`ROUND_MS`] between two.
const ROUNDS_MAX: u32 = 200;
/// Milliseconds between two looks.
const ROUND_MS: u64 = 10;
/// Looks in a row that may be spent on a process whose environment cannot be seen yet.
const UNSURE_ROUNDS_MAX: u32 = 3;
/// Looks in a row for processes that were born while the ones before were being stopped.
const HOLD_ROUNDS_MAX: u32 = 20;
/// Looks that a dropped call takes, without pauses.
const DROP_ROUNDS_MAX: u32 = 50;

/// A running group. Dropped without [`Group::finish`], it is killed.
#[derive(Debug)]
pub(super) struct Group {
    call: String,
    group: i32,
    /// The program itself, then what was found of its descendants: they are lost from sight when their parents end.
    known: Vec<Process>,
    is_over: bool,
    /// Tells the warden that the call is over, when dropped.
    _guarded: Guarded,
}

impl Group {
    /// The group of a process that was just started with its own pid as group and the mark `call`.
    pub(super) fn new(call: String, pid: u32, guarded: Guarded) -> Self {
        let group = i32::try_from(pid).unwrap_or(0);
        guarded.runs_in(group);
        let known = survey::process(group).into_iter().collect();
        Group { call, group, known, is_over: false, _guarded: guarded }
    }

    /// Asks the group to end.
    pub(super) fn terminate(&mut self) {
        self.hold();
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
        self.known.iter().for_each(|process| survey::send(process, Signal::CONT));
    }

    /// Stops everything of the call where it stands, and looks until nobody is new. Whoever left the group and cleaned
    /// its environment is known by its parent alone: if the parent were ended between its birth and our look, nobody
    /// would ever find it.
    fn hold(&mut self) -> Alive {
        for _ in 0..HOLD_ROUNDS_MAX {
            self.signal(Signal::STOP);
            let alive = survey::alive(&self.call, self.group, &self.known);
            let is_known = |process: &Process| self.known.iter().any(|one| one.is_same(process));
            let new: Vec<Process> =
                alive.processes.iter().filter(|process| !is_known(process)).copied().collect();
            if new.is_empty() {
                return alive;
            }
            new.iter().for_each(|process| survey::send(process, Signal::STOP));
            self.known.extend(new);
        }
        survey::alive(&self.call, self.group, &self.known)
    }

    /// Kills what is left of the call. How many processes that were at most at one time.
    pub(super) async fn finish(mut self) -> usize {
        let mut killed = 0;
        let mut unsure = 0;
        for _ in 0..ROUNDS_MAX {
            let (found, is_unsure) = self.kill_alive();
            killed = killed.max(found);
            if found == 0 {
                if !is_unsure || unsure >= UNSURE_ROUNDS_MAX {
                    break;
                }
                unsure += 1;
            }
            tokio::time::sleep(Duration::from_millis(ROUND_MS)).await;
        }
        self.is_over = true;
        killed
    }

    /// Kills what is alive now: how many that were, and whether there may be more in a moment.
    fn kill_alive(&mut self) -> (usize, bool) {
        let alive = self.hold();
        self.signal(Signal::KILL);
        alive.processes.iter().for_each(|process| survey::send(process, Signal::KILL));
        (alive.processes.len(), alive.is_unsure)
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = Pid::from_raw(self.group) {
            // The group may be empty by now.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        for _ in 0..DROP_ROUNDS_MAX {
            if self.kill_alive().0 == 0 {
                break;
            }
            std::thread::yield_now();
        }
    }
}
