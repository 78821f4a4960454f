//! The Dreamer's inventions: proposals for the layer T, and hypotheses (SPEC 7, beyond the sources).
//!
//! Neither counts as evidence. A proposal is shown to no model before the operator approves it; a hypothesis is offered
//! to R2 to break symmetry, and fades within days.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_mkct::quantization::HYPOTHESIS;
use setpoint_mkct::tags::{ENV_LOCAL, HYPOTHESIS_SPACE, INTENT_SPACE, THINKING_SPACE};
use setpoint_mkct::{Action, Quantum, Rule};
use setpoint_protocol::memory::{Author, MemoryAct};
use setpoint_protocol::message::{Insight, InsightCategory, Level, Megram};
use setpoint_protocol::text::clip;
use setpoint_protocol::{MegramId, RoleId, Timestamp, ToolId};

use super::dream::DreamLock;
use super::sharing::{after, known_to};
use super::{BEGINNING, Memory, MemoryFailure, derived_id};
use crate::store::StoredRecord;

/// Fewest kinds of tasks whose rules must agree before something is proposed for every task.
const KINDS_MIN: usize = 3;
/// Maximum proposals that wait for the operator.
const PROPOSALS_MAX: usize = 8;
/// Maximum pairs of intents, the youngest ones, that a pass makes hypotheses for.
const PAIRS_MAX: usize = 64;
/// Maximum hypotheses for one intent.
const HYPOTHESES_OF_ONE_MAX: usize = 2;
/// Maximum hypotheses that one pass makes.
const HYPOTHESES_MAX: usize = 8;
/// Maximum records of other intents that are considered for one intent.
const RELATED_MAX: usize = 8;
/// Time until the same hypothesis may be made again, in microseconds: six days.
const HYPOTHESIS_PERIOD_US: i64 = 6 * 86_400_000_000;
/// Longest lesson, in characters.
const LESSON_CHARS_MAX: usize = 400;

impl Memory {
    /// Proposes for every task what the rules of several kinds of tasks agree on.
    pub(crate) fn propose(&self, _: &DreamLock, now: Timestamp) -> Result<Vec<MegramId>, MemoryFailure> {
        let (_, waiting) = self.mended(|| Ok(self.store.thoughts()?))?;
        let rules = self.mended(|| Ok(self.store.rules()?))?;
        let mut kinds: BTreeMap<(bool, ToolId), BTreeSet<String>> = BTreeMap::new();
        for rule in rules.iter().filter(|rule| rule.author != Author::Operator) {
            let Megram { space, sigma, content, .. } = &rule.megram;
            if !space.starts_with(INTENT_SPACE) {
                continue;
            }
            for tool in &content.tools {
                kinds.entry((*sigma > 0.0, tool.clone())).or_default().insert(space.clone());
            }
        }
        let mut proposed = Vec::new();
        for ((is_good, tool), spaces) in kinds {
            if spaces.len() < KINDS_MIN || waiting.len() + proposed.len() >= PROPOSALS_MAX {
                continue;
            }
            let megram = proposal(is_good, &tool, spaces.len(), now);
            if self.mended(|| Ok(self.store.knows(&megram.id)?))? {
                continue;
            }
            proposed.push(megram.id.clone());
            self.act(RoleId::Memory, &MemoryAct::Recorded { megram, by: Author::Dreamer }, now)?;
        }
        Ok(proposed)
    }

    /// Makes hypotheses for known intents: that what worked for a related intent may work for them.
    pub(crate) fn hypothesise(&self, _: &DreamLock, now: Timestamp) -> Result<Vec<MegramId>, MemoryFailure> {
        let mut made = Vec::new();
        let mut pairs = self.mended(|| Ok(self.store.pairs_of(INTENT_SPACE, now, PAIRS_MAX)?))?;
        pairs.retain(|pair| pair.entity == ENV_LOCAL && Action::of(pair.potentials) != Action::Ignore);
        for pair in pairs {
            let known = self.mended(|| Ok(self.store.records(&pair.space, &pair.entity, RELATED_MAX)?))?;
            let tried: BTreeSet<&ToolId> =
                known.iter().flat_map(|record| &record.megram.content.tools).collect();
            let Some(newest) = known.first() else { continue };
            let about = format!("{} {}", newest.megram.content.tags.join(" "), newest.megram.content.lesson);
            let own = (pair.space.as_str(), pair.entity.as_str());
            let related = self.mended(|| Ok(self.store.related(&about, own, now, RELATED_MAX)?))?;
            // A hypothesis must name a tool that was not tried yet.
            let fits = |other: &StoredRecord| {
                let content = &other.megram.content;
                Rule::of_sigma(other.megram.sigma) == Some(Rule::BestPractice)
                    && other.megram.space.starts_with(INTENT_SPACE)
                    && content.tools.iter().any(|tool| !tried.contains(tool))
            };
            let others = related.into_iter().map(|found| found.record).filter(fits);
            for other in others.take(HYPOTHESES_OF_ONE_MAX) {
                if made.len() >= HYPOTHESES_MAX {
                    return Ok(made);
                }
                let megram = hypothesis(&pair.space, &newest.megram, &other.megram, now);
                if self.mended(|| Ok(self.store.knows(&megram.id)?))? {
                    continue;
                }
                made.push(megram.id.clone());
                self.act(RoleId::Memory, &MemoryAct::Recorded { megram, by: Author::Dreamer }, now)?;
            }
        }
        Ok(made)
    }
}

/// Returns the space of the hypotheses for an intent.
pub(super) fn hypothesis_space(intent_space: &str) -> String {
    let slug = intent_space.strip_prefix(INTENT_SPACE).unwrap_or(intent_space);
    format!("{HYPOTHESIS_SPACE}{slug}")
}

fn proposal(is_good: bool, tool: &ToolId, kinds: usize, now: Timestamp) -> Megram {
    let (lesson, rule) = match is_good {
        true => (
            format!(
                "Where several tools would do, prefer `{tool}`: the rules of {kinds} kinds of tasks name it among what works."
            ),
            Rule::BestPractice,
        ),
        false => (
            format!(
                "Look for another way than `{tool}` first: the rules of {kinds} kinds of tasks name it among what failed."
            ),
            Rule::Constraint,
        ),
    };
    let category = match rule {
        Rule::BestPractice => InsightCategory::Procedure,
        Rule::Constraint => InsightCategory::Constraint,
    };
    Megram {
        // Independent of time, so that a forgotten proposal is not made again.
        id: derived_id("proposal", &[rule.name().as_bytes(), tool.as_str().as_bytes()], 0, BEGINNING),
        level: Level::T,
        created_at: now,
        space: THINKING_SPACE.to_owned(),
        entity: ENV_LOCAL.to_owned(),
        content: Insight {
            tools: vec![tool.clone()],
            ..Insight::new(clip(&lesson, LESSON_CHARS_MAX), category)
        },
        state: None,
        f: rule.quantum().f,
        sigma: rule.quantum().sigma,
        k: rule.quantum().k,
        known_to: Vec::new(),
        after: Vec::new(),
    }
}

fn hypothesis(space: &str, known: &Megram, other: &Megram, now: Timestamp) -> Megram {
    let of = other.space.strip_prefix(INTENT_SPACE).unwrap_or(&other.space);
    let lesson = format!("What worked for `{of}` may work here: {}", other.content.lesson);
    // By the next period the hypothesis has faded and may be made again. It needs another id, because the journal must
    // not hold one record twice.
    let period = now.as_micros().div_euclid(HYPOTHESIS_PERIOD_US);
    let parts = [space.as_bytes(), other.id.as_str().as_bytes(), &period.to_le_bytes()];
    let Quantum { f, sigma, k } = HYPOTHESIS;
    Megram {
        id: derived_id("hypothesis", &parts, 0, BEGINNING),
        level: Level::M,
        created_at: now,
        space: hypothesis_space(space),
        entity: ENV_LOCAL.to_owned(),
        content: Insight {
            tags: known.content.tags.clone(),
            tools: other.content.tools.clone(),
            targets: other.content.targets.clone(),
            approaches: other.content.approaches.clone(),
            ..Insight::new(clip(&lesson, LESSON_CHARS_MAX), InsightCategory::Procedure)
        },
        state: None,
        f,
        sigma,
        k,
        known_to: known_to([known, other].into_iter()),
        after: after([known, other].into_iter()),
    }
}
