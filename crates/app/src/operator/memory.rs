//! The memory of a data directory, for the operator.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use setpoint_memory::view::{
    Answer, CurvePoint, DreamReport, FactLine, ImportProblem, ImportReport, MemoryStats, PairLine,
    PairQuestion, PairReport, PrunableRecords, RecordFilter, RecordLine, RecordReport, RuleLine, Standing,
    Sums,
};
use setpoint_memory::{Readers, store};
use setpoint_protocol::memory::Author;
use setpoint_protocol::message::{Level, Megram, Potentials, SopKind};
use setpoint_protocol::{MegramId, TaskId, Timestamp};
use setpoint_runtime::clock;

use crate::error::{Error, ErrorKind};
use crate::program::Program;

type Result<T> = std::result::Result<T, Error>;

/// Memory, as the operator uses it. Reading creates only memory's own files. In an unused data directory there is
/// nothing to read, and no file is created.
#[async_trait]
pub trait Memory: Send + Sync {
    /// Returns the size of memory.
    async fn stats(&self) -> Result<MemoryStats>;

    /// Returns what memory knows about pairs.
    async fn query(&self, question: &PairQuestion) -> Result<Answer>;

    /// Returns records, newest first.
    async fn list(&self, filter: &RecordFilter) -> Result<Vec<RecordLine>>;

    /// Returns the one record whose id begins or ends with `id`. Ids created at the same time begin alike.
    async fn show(&self, id: &str, at: Option<Timestamp>) -> Result<RecordReport>;

    /// Returns the rules and facts in force, newest first.
    async fn rules(&self, at: Option<Timestamp>) -> Result<Vec<RuleLine>>;

    /// States a fact, which every later task sees.
    async fn remember(&self, text: &str, tags: &[String]) -> Result<FactLine>;

    /// Deletes these records permanently, all of them or none, and returns them.
    async fn forget(&self, ids: &[MegramId]) -> Result<Vec<RecordLine>>;

    /// Returns what was learnt at least this many milliseconds ago and can be forgotten, oldest first. Excludes rules,
    /// their source records, proposals and stated facts.
    async fn prunable(&self, older_than_ms: u64) -> Result<PrunableRecords>;

    /// Runs one pass of the Dreamer now.
    async fn dream(&self) -> Result<DreamReport>;

    /// Returns a page of records as JSON after a position, oldest first, and the next position while there may be more.
    async fn export(&self, after: u64) -> Result<(Vec<Megram>, Option<u64>)>;

    /// Writes rules in force as folders with a `SKILL.md` each, below this folder; returns the folders.
    async fn export_skills(&self, folder: &Path) -> Result<Vec<PathBuf>>;

    /// Imports records, one JSON object per line. An invalid line rejects the whole import, unless `is_lenient`.
    async fn import(&self, text: &str, is_lenient: bool) -> Result<ImportReport>;

    /// Returns the proposals for the layer T that are not approved, newest first.
    async fn proposals(&self) -> Result<Vec<RecordLine>>;

    /// Approves a proposal. Every model-backed role of tasks opened from now on receives it.
    async fn approve(&self, id: &MegramId) -> Result<RecordLine>;

    /// Returns the language models, among these or the configured ones, that the operator has to decide about: they do
    /// not know everything learnt lately, and there is no decision yet whether they may see it.
    async fn unasked(&self, models: &[String]) -> Result<Vec<String>>;

    /// Records whether a language model may see what was learnt without it.
    async fn share(&self, is_allowed: bool) -> Result<()>;

    /// Closes memory.
    async fn close(&self);
}

/// Maximum records of a pair that are shown.
const RECORDS_SHOWN: usize = 20;
/// Maximum sources of a rule that are shown.
const SOURCES_SHOWN: usize = 50;
/// Maximum pairs that are listed.
const PAIRS_LISTED: usize = 1_000;
/// Steps of a curve.
const CURVE_STEPS: u32 = 120;
/// Longest curve, in days.
const CURVE_DAYS_MAX: f64 = 512.0;

/// The memory of a data directory, opened when first used.
pub struct OperatorMemory {
    program: Program,
    opened: Mutex<Option<Arc<setpoint_memory::Memory>>>,
}

impl OperatorMemory {
    /// Creates the memory of this program's data directory.
    #[must_use]
    pub fn new(program: Program) -> Self {
        OperatorMemory { program, opened: Mutex::new(None) }
    }

    /// Opens memory and applies the whole journal; `None` in an unused data directory.
    fn read(&self) -> Result<Option<Arc<setpoint_memory::Memory>>> {
        self.open(false)
    }

    /// Opens memory, creating it if necessary.
    fn write(&self) -> Result<Arc<setpoint_memory::Memory>> {
        self.open(true)?.ok_or_else(|| Error::new(ErrorKind::Internal, "failed to create the memory"))
    }

    fn open(&self, is_made: bool) -> Result<Option<Arc<setpoint_memory::Memory>>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.is_none() {
            *opened = self.program.open_memory(is_made)?;
            if let Some(memory) = &*opened {
                memory.catch_up()?;
            }
        }
        Ok(opened.clone())
    }

    fn lines(&self, records: Vec<store::StoredRecord>, at: Timestamp) -> Vec<RecordLine> {
        records.into_iter().map(|record| line(record, at)).collect()
    }
}

#[async_trait]
impl Memory for OperatorMemory {
    async fn stats(&self) -> Result<MemoryStats> {
        let memory = self.read()?;
        let stats = memory.as_ref().map(|memory| memory.store().stats()).transpose().map_err(failed)?;
        let stats = stats.unwrap_or_default();
        Ok(MemoryStats {
            place: self.program.directories.memory().display().to_string(),
            records: stats.records,
            summed: stats.summed,
            rules: stats.rules,
            facts: stats.facts,
            pairs: stats.pairs,
            forgotten: stats.forgotten,
            journal_records: stats.cursor,
            bytes: stats.bytes,
            is_shared: match &memory {
                Some(memory) => memory.is_shared()?,
                None => None,
            },
            dreamt_at: memory.and_then(|memory| memory.last_dream()).map(|dream| dream.at),
        })
    }

    async fn query(&self, question: &PairQuestion) -> Result<Answer> {
        let at = question.at.unwrap_or_else(clock::now);
        let memory = self.read()?;
        if let (Some(space), Some(entity)) = (&question.space, &question.entity) {
            return self.pair(memory.as_deref(), space, entity, at).map(Box::new).map(Answer::Pair);
        }
        let Some(memory) = memory else { return Ok(Answer::Pairs(Vec::new())) };
        let mut pairs = pairs(&memory, at)?;
        if let Some(space) = &question.space {
            // A goal in words selects the space that it maps to.
            let named = pairs.iter().any(|pair| pair.space == *space);
            let space = if named { space.clone() } else { setpoint_mkct::intent_space(space) };
            pairs.retain(|pair| pair.space == space);
            if let [only] = pairs.as_slice() {
                let report = self.pair(Some(&memory), &only.space, &only.entity, at)?;
                return Ok(Answer::Pair(Box::new(report)));
            }
        }
        Ok(Answer::Pairs(pairs))
    }

    async fn list(&self, filter: &RecordFilter) -> Result<Vec<RecordLine>> {
        let Some(memory) = self.read()? else { return Ok(Vec::new()) };
        let RecordFilter { space, entity, level, limit, at } = filter.clone();
        let records = memory.store().list(&store::Filter { space, entity, level, limit }).map_err(failed)?;
        Ok(self.lines(records, at.unwrap_or_else(clock::now)))
    }

    async fn show(&self, id: &str, at: Option<Timestamp>) -> Result<RecordReport> {
        let at = at.unwrap_or_else(clock::now);
        let Some(memory) = self.read()? else { return Err(nothing_there(id)) };
        let record = memory.store().find(id).map_err(failed)?;
        let (sources, _) = match record.trace.level {
            _ if record.author == Author::Operator => (Vec::new(), 0),
            _ => memory.store().sources(&record.megram.id, SOURCES_SHOWN).map_err(failed)?,
        };
        Ok(RecordReport { record: line(record, at), sources: self.lines(sources, at) })
    }

    async fn rules(&self, at: Option<Timestamp>) -> Result<Vec<RuleLine>> {
        let at = at.unwrap_or_else(clock::now);
        let Some(memory) = self.read()? else { return Ok(Vec::new()) };
        let rules = memory.store().rules().map_err(failed)?;
        rules.into_iter().map(|rule| rule_line(&memory, rule, at)).collect()
    }

    async fn remember(&self, text: &str, tags: &[String]) -> Result<FactLine> {
        let memory = self.write()?;
        let text = self.program.output_keys().text(text.to_owned());
        let stated = memory.remember(&text, tags, clock::now())?;
        Ok(FactLine { id: stated.id, is_known: stated.is_known })
    }

    async fn forget(&self, ids: &[MegramId]) -> Result<Vec<RecordLine>> {
        let Some(memory) = self.read()? else {
            return match ids.first() {
                Some(id) => Err(nothing_there(id.as_str())),
                None => Ok(Vec::new()),
            };
        };
        let now = clock::now();
        let went = memory.forget_records(ids, now)?;
        Ok(self.lines(went, now))
    }

    async fn prunable(&self, older_than_ms: u64) -> Result<PrunableRecords> {
        let now = clock::now();
        let before = now.minus_millis(older_than_ms);
        let Some(memory) = self.read()? else { return Ok(PrunableRecords { before, records: Vec::new() }) };
        let records = memory.prunable(before)?;
        Ok(PrunableRecords { before, records: self.lines(records, now) })
    }

    async fn dream(&self) -> Result<DreamReport> {
        let Some(memory) = self.read()? else { return Ok(DreamReport::default()) };
        let now = clock::now();
        let model = self.program.dreamers_model();
        let dreamer = setpoint_memory::Dreamer::new(Arc::clone(&memory), model);
        let Some(dreamt) = dreamer.pass(now).await? else {
            return Ok(DreamReport { is_elsewhere: true, ..DreamReport::default() });
        };
        let of_ids = |ids: Vec<MegramId>| -> Result<Vec<RecordLine>> {
            let found = ids.iter().map(|id| memory.store().get(id));
            // Skips a record that another process has forgotten in the meantime.
            let found = found.filter(|one| !matches!(one, Err(store::MemoryError::Unknown { .. })));
            found.map(|one| Ok(line(one.map_err(failed)?, now))).collect()
        };
        Ok(DreamReport {
            is_elsewhere: false,
            demoted: of_ids(dreamt.demoted)?,
            promoted: of_ids(dreamt.promoted)?,
            reflected: of_ids(dreamt.reflected)?,
            proposed: of_ids(dreamt.proposed)?,
            hypotheses: of_ids(dreamt.hypotheses)?,
            faded: dreamt.faded,
            outputs: dreamt.outputs,
            duration_ms: clock::now().millis_since(now),
        })
    }

    async fn export(&self, after: u64) -> Result<(Vec<Megram>, Option<u64>)> {
        let Some(memory) = self.read()? else { return Ok((Vec::new(), None)) };
        memory.exported(after).map_err(Error::from)
    }

    async fn export_skills(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let Some(memory) = self.read()? else { return Ok(Vec::new()) };
        memory.export_skills(folder).map_err(Error::from)
    }

    async fn import(&self, text: &str, is_lenient: bool) -> Result<ImportReport> {
        let memory = self.write()?;
        let imported = memory.import(text, is_lenient, clock::now())?;
        let problem = |(line, reason)| ImportProblem { line, reason };
        Ok(ImportReport {
            taken: imported.taken,
            known: imported.known,
            refused: imported.refused.into_iter().map(problem).collect(),
        })
    }

    async fn proposals(&self) -> Result<Vec<RecordLine>> {
        let Some(memory) = self.read()? else { return Ok(Vec::new()) };
        let proposals = memory.proposals()?;
        Ok(self.lines(proposals, clock::now()))
    }

    async fn approve(&self, id: &MegramId) -> Result<RecordLine> {
        let Some(memory) = self.read()? else { return Err(nothing_there(id.as_str())) };
        let now = clock::now();
        let approved = memory.approve(id, now)?;
        Ok(line(approved, now))
    }

    async fn unasked(&self, models: &[String]) -> Result<Vec<String>> {
        let readers = match models {
            // A configuration without a usable model is reported by the command that needs one.
            [] => Readers::named(
                self.program.chosen_models().unwrap_or_default().iter().map(|one| one.name.as_str()),
            ),
            named => Readers::named(named.iter().map(String::as_str)),
        };
        let Some(memory) = self.read()? else { return Ok(Vec::new()) };
        match memory.must_ask(&readers)? {
            true => Ok(readers.names()),
            false => Ok(Vec::new()),
        }
    }

    async fn share(&self, is_allowed: bool) -> Result<()> {
        let memory = self.write()?;
        memory.share(is_allowed, clock::now()).map_err(Error::from)
    }

    async fn close(&self) {
        if let Some(memory) = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take() {
            memory.close();
        }
    }
}

impl OperatorMemory {
    /// Returns everything about one pair; empty for a pair that was never written to.
    fn pair(
        &self,
        memory: Option<&setpoint_memory::Memory>,
        space: &str,
        entity: &str,
        at: Timestamp,
    ) -> Result<PairReport> {
        let mut report = PairReport {
            space: space.to_owned(),
            entity: entity.to_owned(),
            at,
            sums: sums(setpoint_mkct::Potentials::default()),
            count: 0,
            rules: Vec::new(),
            records: Vec::new(),
            curve: Vec::new(),
        };
        let Some(memory) = memory else { return Ok(report) };
        let store = memory.store();
        report.sums = sums(store.potentials(space, entity, at).map_err(failed)?);
        report.count = store.count(space, entity).map_err(failed)?;
        report.rules = self.lines(store.rules_of(space, entity).map_err(failed)?, at);
        report.records = self.lines(store.records(space, entity, RECORDS_SHOWN).map_err(failed)?, at);
        report.curve = curve(store, space, entity, at)?;
        Ok(report)
    }
}

/// Returns a pair's sums until they have faded, or until the longest curve ends.
fn curve(memory: &store::Store, space: &str, entity: &str, at: Timestamp) -> Result<Vec<CurvePoint>> {
    let of = |moments: &[Timestamp]| memory.curve(space, entity, moments).map_err(failed);
    let after = |days: f64| {
        Timestamp::from_micros(
            at.as_micros().saturating_add((days * setpoint_mkct::decay::DAY_US as f64) as i64),
        )
    };
    let mut days = 2.0;
    while days < CURVE_DAYS_MAX
        && of(&[after(days)])?.iter().any(|sums| sums.attention > setpoint_mkct::consolidation::GC_ATTENTION)
    {
        days *= 2.0;
    }
    let moments: Vec<Timestamp> =
        (0..=CURVE_STEPS).map(|n| after(days * f64::from(n) / f64::from(CURVE_STEPS))).collect();
    let sums = of(&moments)?;
    let point = |(at, sums): (Timestamp, setpoint_mkct::Potentials)| CurvePoint {
        at,
        attention: sums.attention,
        decision: sums.decision,
    };
    Ok(moments.into_iter().zip(sums).map(point).collect())
}

/// Returns the pairs with summed records or rules in force, the strongest first.
fn pairs(memory: &setpoint_memory::Memory, at: Timestamp) -> Result<Vec<PairLine>> {
    let summed = memory.store().pairs(at, PAIRS_LISTED).map_err(failed)?;
    let mut lines: Vec<PairLine> = summed
        .into_iter()
        .map(|pair| PairLine {
            space: pair.space,
            entity: pair.entity,
            records: pair.count,
            rules: 0,
            sums: sums(pair.potentials),
        })
        .collect();
    for rule in memory.store().rules().map_err(failed)? {
        let Megram { space, entity, .. } = rule.megram;
        match lines.iter_mut().find(|line| line.space == space && line.entity == entity) {
            Some(line) => line.rules += 1,
            None => {
                let sums = sums(setpoint_mkct::Potentials::default());
                lines.push(PairLine { space, entity, records: 0, rules: 1, sums });
            }
        }
    }
    lines.sort_by(|a, b| b.sums.attention.total_cmp(&a.sums.attention));
    Ok(lines)
}

fn rule_line(memory: &setpoint_memory::Memory, rule: store::StoredRecord, at: Timestamp) -> Result<RuleLine> {
    let is_fact = rule.author == Author::Operator;
    let (sources, count) = match is_fact {
        true => (Vec::new(), 0),
        false => memory.store().sources(&rule.megram.id, SOURCES_SHOWN).map_err(failed)?,
    };
    let mut tasks: Vec<TaskId> = Vec::new();
    for task in sources.into_iter().filter_map(|source| source.task) {
        if !tasks.contains(&task) {
            tasks.push(task);
        }
    }
    let kind = match rule.megram.sigma {
        _ if is_fact => None,
        sigma if sigma < 0.0 => Some(SopKind::Constraint),
        _ => Some(SopKind::BestPractice),
    };
    let Megram { space, entity, .. } = &rule.megram;
    let since = memory.store().potentials(space, entity, at).map_err(failed)?;
    let left = setpoint_mkct::consolidation::standing(rule.trace.quantum, since.decision);
    Ok(RuleLine { record: line(rule, at), kind, sources: count, tasks, left })
}

fn line(record: store::StoredRecord, at: Timestamp) -> RecordLine {
    let now_us = at.as_micros();
    let trace = record.trace;
    let fades_at = match trace.level.fades() {
        true => setpoint_mkct::consolidation::fades_by_us(trace.quantum, trace.moments)
            .map(Timestamp::from_micros),
        false => None,
    };
    let standing = match (&record.rule, &record.superseded_by) {
        (Some(rule), _) => Standing::Source { rule: rule.clone() },
        (None, Some(by)) => Standing::Superseded { by: by.clone() },
        (None, None) if trace.level == setpoint_mkct::Level::T && !record.is_approved => Standing::Proposed,
        (None, None) if !trace.level.fades() => Standing::InForce,
        (None, None) if fades_at.is_some_and(|fades| fades <= at) => Standing::Faded,
        (None, None) if trace.moments.demoted_us.is_some() => Standing::Demoted,
        (None, None) => Standing::Summed,
    };
    RecordLine {
        author: record.author,
        task: record.task,
        level_now: level(trace.level),
        attention: trace.attention(now_us),
        decision: trace.decision(now_us),
        half_life_days: setpoint_mkct::decay::half_life_days(trace.quantum.k),
        fades_at,
        recalled_at: trace.moments.recalled_us.map(Timestamp::from_micros),
        standing,
        megram: record.megram,
    }
}

const fn level(level: setpoint_mkct::Level) -> Level {
    match level {
        setpoint_mkct::Level::M => Level::M,
        setpoint_mkct::Level::K => Level::K,
        setpoint_mkct::Level::C => Level::C,
        setpoint_mkct::Level::T => Level::T,
    }
}

fn sums(sums: setpoint_mkct::Potentials) -> Sums {
    let Potentials { attention, decision, action } = setpoint_memory::potentials(sums);
    Sums { attention, decision, action }
}

fn nothing_there(id: &str) -> Error {
    let error = store::MemoryError::NoId { part: id.to_owned() };
    failed(error)
}

fn failed(error: store::MemoryError) -> Error {
    setpoint_memory::MemoryFailure::from(error).into()
}
