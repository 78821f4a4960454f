//! Rewording the lessons of ended tasks: which records may be reworded, and what a model is shown for that.

use setpoint_journal::JournalError;
use setpoint_machine::brief::ReflectBrief;
use setpoint_mkct::tags::TOOL_SPACE;
use setpoint_protocol::memory::{Author, MemoryAct, Worded};
use setpoint_protocol::message::{FinalResult, Insight, Level, MacroState, Megram};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{MegramId, RoleId, TaskId, Timestamp};

use super::dream::DreamLock;
use super::{Memory, MemoryFailure};
use crate::store::StoredRecord;

/// Maximum records, the newest ones, that are considered.
const LOOKED_AT_MAX: usize = 256;
/// Age in microseconds after which a lesson is no longer reworded, even if no model was available until then.
const AGE_US_MAX: i64 = 86_400_000_000;

impl Memory {
    /// Returns the lessons of the newest tasks' ends that still have a template's words, newest first.
    pub(crate) fn unreflected(&self, now: Timestamp) -> Result<Vec<StoredRecord>, MemoryFailure> {
        let mut records = self.mended(|| Ok(self.store.newest(LOOKED_AT_MAX)?))?;
        records.retain(|record| {
            let age_us = now.as_micros().saturating_sub(record.megram.created_at.as_micros());
            is_end(&record.megram)
                && record.author == Author::Task
                && !record.is_reflected
                && record.trace.is_summed()
                && age_us < AGE_US_MAX
        });
        Ok(records)
    }

    /// Returns what a model is shown of the task of a record: its typed facts. `None` if the journal no longer has
    /// them.
    pub(crate) fn reflection(&self, record: &StoredRecord) -> Result<Option<ReflectBrief>, MemoryFailure> {
        let Some(task) = &record.task else { return Ok(None) };
        let messages = match self.messages(task) {
            Ok(Some(messages)) => messages,
            // The task was pruned.
            Ok(None) => return Ok(None),
            Err(error) => {
                let error = setpoint_protocol::text::error_chain(&error);
                tracing::info!(error, "a task cannot be looked at once more");
                return Ok(None);
            }
        };
        let (mut intent, mut criteria, mut result) = (String::new(), Vec::new(), None);
        let mut on_the_way: Vec<String> = Vec::new();
        for message in messages {
            match message {
                Payload::TaskSpec(spec) => intent = spec.intent,
                Payload::DispatchManifest(manifest) => {
                    let of_subtasks = manifest.subtasks.iter().flat_map(|entry| &entry.success_criteria);
                    let all = of_subtasks.chain(&manifest.task_criteria);
                    criteria = all.map(|criterion| criterion.criterion.clone()).collect();
                }
                Payload::Megram(megram) if megram.space.starts_with(TOOL_SPACE) => {
                    on_the_way.push(megram.content.lesson);
                }
                Payload::FinalResult(end) => result = Some(end),
                _ => {}
            }
        }
        let Some(FinalResult { ended_by, replans, unmet_criteria: unmet, .. }) = result else {
            return Ok(None);
        };
        let known = record.megram.content.clone();
        Ok(Some(ReflectBrief { intent, ended_by, replans, criteria, unmet, on_the_way, known }))
    }

    /// Returns the messages of a task's roles, checked against its chain; `None` if the task was pruned.
    fn messages(&self, task: &TaskId) -> Result<Option<Vec<Payload>>, JournalError> {
        if self.journal.task(task.as_str())?.pruned_at_us.is_some() {
            return Ok(None);
        }
        self.journal.verify_task(task.as_str())?;
        let mut messages = Vec::new();
        for row in self.journal.rows(task.as_str(), 1) {
            let row = row?;
            let kind = row.kind.parse().ok();
            messages.extend(kind.and_then(|kind| Payload::decode(kind, &row.body).ok()));
        }
        Ok(Some(messages))
    }

    /// Rewords the lesson of a record.
    pub(crate) fn reword(
        &self,
        _: &DreamLock,
        id: MegramId,
        content: Insight,
        worded: Worded,
        now: Timestamp,
    ) -> Result<(), MemoryFailure> {
        let act = MemoryAct::Reflected { id, content, worded: Some(worded) };
        self.act(RoleId::Memory, &act, now).map(drop)
    }
}

/// Returns whether the record is the lesson of a task's end about its approach.
fn is_end(megram: &Megram) -> bool {
    let ends = [MacroState::Accept, MacroState::Success, MacroState::Abandon];
    megram.level == Level::M
        && megram.state.is_some_and(|state| ends.contains(&state))
        && !megram.space.starts_with(TOOL_SPACE)
}
