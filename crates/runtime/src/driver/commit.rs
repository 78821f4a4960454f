//! Append before effect: a batch of steps becomes durable, then its effects start.

use std::collections::BTreeSet;
use std::sync::Arc;

use setpoint_history::records::row_of;
use setpoint_journal::{JournalError, Submission, TaskHead, TaskOpening};
use setpoint_machine::{Step, WorldEffect};
use setpoint_protocol::record::Record;
use setpoint_protocol::{CallId, RoleId};
use tokio::sync::oneshot;

use super::Driver;
use crate::error::RuntimeError;
use crate::tap::Event;

/// A batch of steps that waits for its commit.
pub(super) struct StagedBatch {
    submission: Submission,
    effects: Vec<WorldEffect>,
    /// Copies for the taps; empty while there are none.
    watched: Vec<Record>,
    closed: bool,
    /// Asks that start again with a new attempt.
    pub(super) restarts: Vec<(u32, WorldEffect)>,
    pub(super) waiters: Vec<oneshot::Sender<Result<(), RuntimeError>>>,
    commands: usize,
}

impl StagedBatch {
    pub(super) fn new(head: &TaskHead) -> Self {
        StagedBatch {
            submission: Submission::new(head),
            effects: Vec::new(),
            watched: Vec::new(),
            closed: false,
            restarts: Vec::new(),
            waiters: Vec::new(),
            commands: 0,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.submission.row_count()
    }

    pub(super) fn take_command(&mut self, command: Option<u64>) -> Result<(), RuntimeError> {
        if let Some(id) = command {
            self.submission.take_command(id)?;
            self.commands += 1;
        }
        Ok(())
    }
}

impl Driver {
    /// Adds a step's rows and fragments to the batch and keeps its effects for later.
    pub(super) fn stage(&mut self, step: Step, staged: &mut StagedBatch) -> Result<(), RuntimeError> {
        let Step { records, effects, closed } = step;
        let watched = self.services.hub.is_watched();
        let mut closed_at = None;
        for record in records {
            if record.seq == 1 {
                let lease = Some(self.services.lease_terms());
                staged.submission.open(TaskOpening {
                    opened_at_us: record.at.as_micros(),
                    logic_version: self.cell.opened().map_or(0, |opened| opened.logic_version),
                    title: std::mem::take(&mut self.title),
                    lease,
                })?;
            }
            closed_at = Some(record.at.as_micros());
            if watched {
                staged.watched.push(record.clone());
            }
            staged.submission.push(row_of(record))?;
        }
        if closed && let Some(at) = closed_at {
            staged.submission.close(at);
            staged.closed = true;
        }
        for effect in effects {
            match effect {
                WorldEffect::Party { call, party: RoleId::Memory, .. } => match self.lacks_memory() {
                    Some(reason) => self.memory_is_unavailable(call, &reason),
                    None => staged.effects.push(effect),
                },
                // A person sees the question in the records; the answer arrives as a message.
                WorldEffect::Party { .. } => {}
                WorldEffect::Model { call, ask, fragments } => {
                    let is_trusted = self.trusts_fragments()?;
                    for (fragment, hash) in ask.prompt.fragments.iter().zip(&fragments) {
                        if let Some(new) = self.services.fragments.unstored(fragment, hash, is_trusted) {
                            staged.submission.attach(new)?;
                        }
                    }
                    staged.effects.push(WorldEffect::Model { call, ask, fragments });
                }
                other => staged.effects.push(other),
            }
        }
        Ok(())
    }

    /// Returns whether the journal still holds the fragments that this process gave it. Nothing is pruned while this
    /// task is leased. Before that, another process may prune fragments of ended tasks at any moment.
    fn trusts_fragments(&mut self) -> Result<bool, RuntimeError> {
        if !self.trusts_fragments && self.lease.is_some() {
            self.services.fragments.trust_since(self.services.journal.last_pruning()?);
            self.trusts_fragments = true;
        }
        Ok(self.trusts_fragments)
    }

    /// Makes the batch durable, publishes it to the taps, and starts its effects.
    pub(super) async fn commit(&mut self, staged: StagedBatch) -> Result<(), RuntimeError> {
        let StagedBatch { mut submission, effects, watched, closed, restarts, waiters, commands } = staged;
        if submission.row_count() == 0 && commands == 0 {
            return Ok(());
        }
        if let Some(lease) = &self.lease {
            submission.under(lease);
        }
        let (ack, acknowledged) = oneshot::channel();
        self.services.journal.submit(submission, move |result| drop(ack.send(result)));
        let committed = match acknowledged.await {
            Ok(Ok(committed)) => committed,
            Ok(Err(error)) => {
                for waiter in waiters {
                    drop(waiter.send(Err(RuntimeError::Append(Arc::clone(&error)))));
                }
                return Err(RuntimeError::Append(error));
            }
            Err(_) => return Err(RuntimeError::Append(Arc::new(JournalError::Closed))),
        };
        self.head = committed.head;
        if let Some(lease) = committed.lease {
            self.lease = Some(lease);
        }
        if !watched.is_empty() {
            self.services.hub.publish(Event::Records {
                task: self.task.clone(),
                records: watched.into(),
                closed,
            });
        }
        for waiter in waiters {
            drop(waiter.send(Ok(())));
        }
        // An ask that is stopped in its own batch is never sent. Its answer gives the number of attempts made.
        let stopped: BTreeSet<CallId> = effects.iter().filter_map(stops).collect();
        let begun = effects.into_iter().map(|effect| (1, effect)).chain(restarts);
        let is_in_vain = |effect: &WorldEffect| begins(effect) && stopped.contains(&effect.call());
        let (in_vain, begun): (Vec<_>, Vec<_>) = begun.partition(|(_, effect)| is_in_vain(effect));
        for (attempt, effect) in in_vain {
            self.interrupted(effect.call(), attempt.saturating_sub(1));
        }
        for (attempt, effect) in begun {
            self.start_attempt(effect, attempt);
        }
        Ok(())
    }
}

/// Returns the ask that the effect stops.
fn stops(effect: &WorldEffect) -> Option<CallId> {
    match effect {
        WorldEffect::Stop { call } => Some(*call),
        _ => None,
    }
}

/// Returns whether the effect acts on the world.
fn begins(effect: &WorldEffect) -> bool {
    matches!(effect, WorldEffect::Model { .. } | WorldEffect::Tool { .. } | WorldEffect::Survey { .. })
}
