//! What a task taught, looked at once more after its end: which records may get better words, and what a model is shown
//! for that.

use setpoint_journal::JournalError;
use setpoint_machine::brief::ReflectBrief;
use setpoint_mkct::tags::TOOL_SPACE;
use setpoint_protocol::memory::{Author, MemoryAct, Worded};
use setpoint_protocol::message::{FinalResult, Insight, Level, MacroState, Megram};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{MegramId, RoleId, TaskId, Timestamp};

use super::dream::Alone;
use super::{Memory, MemoryFailure};
use crate::store::Remembered;

/// The newest records that are looked through.
const LOOKED_AT_MAX: usize = 256;
/// Microseconds after which a task is not looked at any more: whoever could not be asked until then is left alone.
const AGE_US_MAX: i64 = 86_400_000_000;

impl Memory {
    /// What the newest tasks' ends taught, in the words of a template as yet; newest first.
    pub(crate) fn unreflected(&self, now: Timestamp) -> Result<Vec<Remembered>, MemoryFailure> {
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

    /// What a model is shown of the task behind a record: its typed facts. `None` where the journal has it no more.
    pub(crate) fn reflection(&self, record: &Remembered) -> Result<Option<ReflectBrief>, MemoryFailure> {
        let Some(task) = &record.task else { return Ok(None) };
        let messages = match self.messages(task) {
            Ok(Some(messages)) => messages,
            // Its steps are pruned.
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

    /// What a task's roles said, checked against its chain; `None` if its steps were pruned.
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

    /// Puts what a record teaches into better words.
    pub(crate) fn reword(
        &self,
        _: &Alone,
        id: MegramId,
        content: Insight,
        worded: Worded,
        now: Timestamp,
    ) -> Result<(), MemoryFailure> {
        let act = MemoryAct::Reflected { id, content, worded: Some(worded) };
        self.act(RoleId::Memory, &act, now).map(drop)
    }
}

/// Whether it is what a task's end says about its approach.
fn is_end(megram: &Megram) -> bool {
    let ends = [MacroState::Accept, MacroState::Success, MacroState::Abandon];
    megram.level == Level::M
        && megram.state.is_some_and(|state| ends.contains(&state))
        && !megram.space.starts_with(TOOL_SPACE)
}
