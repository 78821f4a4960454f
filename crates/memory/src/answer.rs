//! Answers R2's questions: structured records, never text for a prompt.

use setpoint_mkct::tags::{ENV_LOCAL, TARGET_ENTITY, TOOL_SPACE, USER_SPACE};
use setpoint_mkct::{Action, Potentials as Sums, Rule};
use setpoint_protocol::memory::Author;
use setpoint_protocol::message::{
    Availability, AvoidedCall, Level, MemoryAction, MemoryQuery, MemoryReply, Potentials, SopKind, SopRecord,
    ToolPotentials,
};
use setpoint_protocol::text::clip;
use setpoint_protocol::{CallId, Timestamp, ToolId};

use super::imagine::hypothesis_space;
use super::operator::FACTS_MAX;
use super::sharing::{Filter, Readers, after};
use super::{Memory, MemoryFailure};
use crate::store::StoredRecord;

/// Maximum records of a pair that are compared by strength; the strongest are returned.
const RECORDS_WEIGHED: usize = 32;
/// Maximum records, rules and facts in an answer, each.
const RECORDS_MAX: usize = 10;
/// Longest reason why memory is unavailable, in characters.
const REASON_CHARS_MAX: usize = 400;
/// Maximum records of other pairs that are considered; the best ones that the models may see are returned.
const RELATED_WEIGHED: usize = 20;
/// Maximum records of other pairs in an answer.
const RELATED_MAX: usize = 5;
/// Maximum hypotheses in an answer.
const HYPOTHESES_MAX: usize = 3;
/// Maximum records that are indexed before a question is answered; the Dreamer indexes the rest.
const INDEXED_AT_ONCE: usize = 512;
/// Maximum calls to avoid in an answer.
const AVOIDED_MAX: usize = 64;

impl Memory {
    /// Returns what memory knows, from everything in the journal; `unavailable` if memory cannot be read. `clock` is
    /// read after the journal, so that no record is later than the answer. Records that `readers` may not see are left
    /// out and counted.
    pub fn answer(
        &self,
        query: &MemoryQuery,
        readers: &Readers,
        clock: impl Fn() -> Timestamp,
    ) -> MemoryReply {
        let answered = self.catch_up().and_then(|_| {
            self.index_some();
            self.mended(|| self.reply(query, readers, clock()))
        });
        answered.unwrap_or_else(|error| {
            let error = setpoint_protocol::text::error_chain(&error);
            tracing::warn!(error, "the plan is made without memory");
            unavailable(query.call_id, &error)
        })
    }

    /// Indexes records written just before the question, so that they are found by their words too.
    fn index_some(&self) {
        if let Err(error) = self.mended(|| Ok(self.store.index(INDEXED_AT_ONCE)?)) {
            let error = setpoint_protocol::text::error_chain(&error);
            tracing::debug!(error, "new records are not found by their words yet");
        }
    }

    fn reply(
        &self,
        query: &MemoryQuery,
        readers: &Readers,
        now: Timestamp,
    ) -> Result<MemoryReply, MemoryFailure> {
        let mut filter = self.filter(readers)?;
        let MemoryQuery { space, entity, .. } = query;
        let mut rules = self.store.recall(space, entity, now)?;
        rules.retain(|rule| rule.author != Author::Operator && filter.admits(rule));
        let mut facts = self.store.recall(USER_SPACE, ENV_LOCAL, now)?;
        facts.retain(|fact| fact.author == Author::Operator);
        let pair = (space.as_str(), entity.as_str());
        let limit = usize::try_from(query.limit).unwrap_or(RECORDS_MAX).min(RECORDS_MAX);
        let mut records = self.store.strongest(pair, RECORDS_WEIGHED, RECORDS_WEIGHED, now)?;
        let has_records = !records.is_empty() || !rules.is_empty();
        records.retain(|record| filter.admits(record));
        records.truncate(limit);
        // Sums over records that are all withheld would give a verdict without its reasons.
        let is_told = !has_records || !records.is_empty() || !rules.is_empty();
        let pair_sums = if is_told { self.store.potentials(space, entity, now)? } else { Sums::default() };
        let mut related = self.store.related(&query.about, pair, now, RELATED_WEIGHED)?;
        related.retain(|found| filter.admits(&found.record));
        related.truncate(RELATED_MAX);
        let mut hypotheses = match query.hypotheses {
            true => self.store.records(&hypothesis_space(space), entity, HYPOTHESES_MAX)?,
            false => Vec::new(),
        };
        hypotheses.retain(|one| filter.admits(one));
        let (mut tools, mut avoided) = (Vec::new(), Vec::new());
        for space in self.store.tool_spaces()? {
            let Some(tool) =
                tool_of(&space).filter(|tool| query.tools.iter().any(|asked| asked.covers(tool)))
            else {
                continue;
            };
            let sums = self.store.tool(&space, now)?;
            if sums.tasks > 0 {
                let potentials = potentials(sums.potentials);
                tools.push(ToolPotentials { tool: tool.clone(), potentials, tasks: sums.tasks });
            }
            avoided.extend(self.avoided(&space, &tool, &mut filter, now)?);
        }
        // Rules come first, because their source records are no longer summed; then the calls with the worst decision.
        let is_rule = |call: &AvoidedCall| call.evidence.level == Level::C;
        avoided.sort_by(|a, b| {
            let by_rule = is_rule(b).cmp(&is_rule(a));
            by_rule.then_with(|| a.potentials.decision.total_cmp(&b.potentials.decision))
        });
        avoided.truncate(AVOIDED_MAX);
        rules.truncate(RECORDS_MAX);
        facts.truncate(FACTS_MAX);
        let given = rules.iter().chain(&records).chain(&hypotheses).chain(&facts);
        let given = given.chain(related.iter().map(|found| &found.record)).map(|record| &record.megram);
        let after = after(given.chain(avoided.iter().map(|call| &call.evidence)));
        Ok(MemoryReply {
            call_id: query.call_id,
            availability: Availability::Available,
            reason: None,
            rules: rules.iter().filter_map(sop).collect(),
            potentials: potentials(pair_sums),
            records: records.into_iter().map(|record| record.megram).collect(),
            related: related.into_iter().map(|found| found.record.megram).collect(),
            hypotheses: hypotheses.into_iter().map(|one| one.megram).collect(),
            facts: facts.into_iter().map(|fact| fact.megram).collect(),
            tools,
            avoided,
            withheld: filter.withheld,
            after,
        })
    }

    fn avoided(
        &self,
        space: &str,
        tool: &ToolId,
        filter: &mut Filter<'_>,
        now: Timestamp,
    ) -> Result<Vec<AvoidedCall>, MemoryFailure> {
        let found = self.store.avoided(space, now)?.into_iter();
        Ok(found
            .filter(|avoided| filter.admits(&avoided.evidence))
            .filter_map(|avoided| {
                let target = avoided.entity.strip_prefix(TARGET_ENTITY)?.to_owned();
                let potentials = potentials(avoided.potentials);
                Some(AvoidedCall {
                    tool: tool.clone(),
                    target,
                    potentials,
                    evidence: avoided.evidence.megram,
                })
            })
            .collect())
    }
}

/// Returns the reply to a query when memory is unavailable.
#[must_use]
pub fn unavailable(call_id: CallId, reason: &str) -> MemoryReply {
    MemoryReply {
        call_id,
        availability: Availability::Unavailable,
        reason: Some(clip(reason, REASON_CHARS_MAX)),
        rules: Vec::new(),
        potentials: Potentials::default(),
        records: Vec::new(),
        related: Vec::new(),
        hypotheses: Vec::new(),
        facts: Vec::new(),
        tools: Vec::new(),
        avoided: Vec::new(),
        withheld: 0,
        after: Vec::new(),
    }
}

fn tool_of(space: &str) -> Option<ToolId> {
    space.strip_prefix(TOOL_SPACE)?.parse().ok()
}

fn sop(rule: &StoredRecord) -> Option<SopRecord> {
    let kind = match Rule::of_sigma(rule.megram.sigma)? {
        Rule::BestPractice => SopKind::BestPractice,
        Rule::Constraint => SopKind::Constraint,
    };
    let megram = &rule.megram;
    Some(SopRecord {
        id: megram.id.clone(),
        kind,
        rule: megram.content.lesson.clone(),
        approaches: megram.content.approaches.clone(),
        space: megram.space.clone(),
        entity: megram.entity.clone(),
    })
}

/// Returns the sums with the action that follows from them for a plan.
#[must_use]
pub fn potentials(sums: setpoint_mkct::Potentials) -> Potentials {
    let action = match Action::of(sums) {
        Action::Ignore => MemoryAction::Ignore,
        Action::Exploit => MemoryAction::Exploit,
        Action::Avoid => MemoryAction::Avoid,
        Action::Caution => MemoryAction::Caution,
    };
    Potentials { attention: sums.attention, decision: sums.decision, action }
}
