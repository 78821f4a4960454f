//! A scripted memory that records what it is asked.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use async_trait::async_trait;
use setpoint_app::{Error, ErrorKind, Memory};
use setpoint_memory::view::*;
use setpoint_protocol::memory::Author;
use setpoint_protocol::message::*;
use setpoint_protocol::{MegramId, TaskId, Timestamp};

/// 2026-11-23T03:30:00Z, the time of every command.
pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_795_404_600_000_000);

/// Returns the moment this many days after [`NOW`].
pub(crate) fn after(days: f64) -> Timestamp {
    Timestamp::from_micros(NOW.as_micros() + (days * 86_400e6) as i64)
}

/// A scripted memory.
pub(crate) struct FakeMemory {
    pub(crate) stats: MemoryStats,
    pub(crate) answer: Answer,
    pub(crate) records: Vec<RecordLine>,
    /// The sources of the shown record.
    pub(crate) sources: Vec<RecordLine>,
    pub(crate) rules: Vec<RuleLine>,
    pub(crate) is_known: bool,
    pub(crate) dreamt: DreamReport,
    /// Pages of an export, with the place after each.
    pub(crate) pages: Vec<(Vec<Megram>, Option<u64>)>,
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) imported: ImportReport,
    pub(crate) proposals: Vec<RecordLine>,
    /// Models for which sharing was not decided yet.
    pub(crate) unasked: Vec<String>,
    /// Whether it cannot be opened.
    pub(crate) is_locked: bool,
    /// Requests that begin with this fail.
    pub(crate) broken: &'static str,
    /// The recorded requests; see [`FakeMemory::asked`].
    pub(crate) questions: Mutex<Vec<String>>,
}

impl Default for FakeMemory {
    fn default() -> Self {
        FakeMemory {
            stats: MemoryStats {
                place: "/data/memory".to_owned(),
                records: 0,
                summed: 0,
                rules: 0,
                facts: 0,
                pairs: 0,
                forgotten: 0,
                journal_records: 0,
                bytes: 0,
                dreamt_at: None,
                is_shared: None,
            },
            answer: Answer::Pairs(vec![]),
            records: vec![],
            sources: vec![],
            rules: vec![],
            is_known: false,
            dreamt: DreamReport::default(),
            pages: vec![(vec![], None)],
            folders: vec![],
            imported: ImportReport::default(),
            proposals: vec![],
            unasked: vec![],
            is_locked: false,
            broken: "nothing",
            questions: Mutex::new(vec![]),
        }
    }
}

impl FakeMemory {
    pub(crate) fn open(&self) -> Result<(), Error> {
        if self.is_locked {
            return Err(Error::new(ErrorKind::Configuration, "failed to open memory: no such folder")
                .hint("name another folder with `--data-dir`"));
        }
        Ok(())
    }

    /// Returns the requests, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.questions.lock().unwrap().clone()
    }

    fn ask(&self, what: String) -> Result<(), Error> {
        let is_broken = what.starts_with(self.broken);
        self.questions.lock().unwrap().push(what);
        if is_broken {
            return Err(Error::new(ErrorKind::Internal, "failed to read memory: \u{1b}[2Jbroken\nbadly")
                .hint("look at the log"));
        }
        Ok(())
    }

    fn named(&self, id: &str) -> Result<RecordLine, Error> {
        let is_named = |record: &&RecordLine| {
            let whole = record.megram.id.as_str();
            whole.starts_with(id) || whole.ends_with(id)
        };
        let everything = || self.records.iter().chain(&self.proposals);
        match everything().filter(is_named).collect::<Vec<_>>().as_slice() {
            [one] => Ok((*one).clone()),
            found => {
                let message = format!("{} records are called {id:?}", found.len());
                Err(Error::new(ErrorKind::Usage, message).hint("`setpoint memory list` shows them"))
            }
        }
    }
}

fn at(moment: Option<Timestamp>) -> String {
    moment.map_or_else(|| "now".to_owned(), |moment| moment.to_string())
}

#[async_trait]
impl Memory for FakeMemory {
    async fn stats(&self) -> Result<MemoryStats, Error> {
        self.ask("stats".to_owned())?;
        Ok(self.stats.clone())
    }

    async fn query(&self, question: &PairQuestion) -> Result<Answer, Error> {
        let PairQuestion { space, entity, at: moment } = question;
        self.ask(format!("query {space:?} {entity:?} {}", at(*moment)))?;
        Ok(self.answer.clone())
    }

    async fn list(&self, filter: &RecordFilter) -> Result<Vec<RecordLine>, Error> {
        let RecordFilter { space, entity, level, limit, at: moment } = filter;
        self.ask(format!("list {space:?} {entity:?} {level:?} {limit} {}", at(*moment)))?;
        Ok(self.records.clone())
    }

    async fn show(&self, id: &str, moment: Option<Timestamp>) -> Result<RecordReport, Error> {
        self.ask(format!("show {id} {}", at(moment)))?;
        Ok(RecordReport { record: self.named(id)?, sources: self.sources.clone() })
    }

    async fn rules(&self, moment: Option<Timestamp>) -> Result<Vec<RuleLine>, Error> {
        self.ask(format!("rules {}", at(moment)))?;
        Ok(self.rules.clone())
    }

    async fn remember(&self, text: &str, tags: &[String]) -> Result<FactLine, Error> {
        self.ask(format!("remember {text:?} {tags:?}"))?;
        Ok(FactLine { id: id(7), is_known: self.is_known })
    }

    async fn forget(&self, ids: &[MegramId]) -> Result<Vec<RecordLine>, Error> {
        let names: Vec<&str> = ids.iter().map(MegramId::as_str).collect();
        self.ask(format!("forget {}", names.join(" ")))?;
        names.into_iter().map(|id| self.named(id)).collect()
    }

    async fn prunable(&self, older_than_ms: u64) -> Result<PrunableRecords, Error> {
        self.ask(format!("prunable {older_than_ms}"))?;
        Ok(PrunableRecords { before: after(-1.0), records: self.records.clone() })
    }

    async fn dream(&self) -> Result<DreamReport, Error> {
        self.ask("dream".to_owned())?;
        Ok(self.dreamt.clone())
    }

    async fn export(&self, after: u64) -> Result<(Vec<Megram>, Option<u64>), Error> {
        self.ask(format!("export {after}"))?;
        let before = self.asked().iter().filter(|asked| asked.starts_with("export")).count();
        Ok(self.pages[before - 1].clone())
    }

    async fn export_skills(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        self.ask(format!("skills {}", folder.display()))?;
        Ok(self.folders.clone())
    }

    async fn import(&self, text: &str, is_lenient: bool) -> Result<ImportReport, Error> {
        self.ask(format!("import {text:?} {is_lenient}"))?;
        Ok(self.imported.clone())
    }

    async fn proposals(&self) -> Result<Vec<RecordLine>, Error> {
        self.ask("proposals".to_owned())?;
        Ok(self.proposals.clone())
    }

    async fn approve(&self, id: &MegramId) -> Result<RecordLine, Error> {
        self.ask(format!("approve {id}"))?;
        self.named(id.as_str())
    }

    async fn unasked(&self, models: &[String]) -> Result<Vec<String>, Error> {
        self.ask(format!("unasked {}", models.join(" ")).trim().to_owned())?;
        Ok(self.unasked.clone())
    }

    async fn share(&self, is_allowed: bool) -> Result<(), Error> {
        self.ask(format!("share {is_allowed}"))
    }

    async fn close(&self) {
        self.questions.lock().unwrap().push("close".to_owned());
    }
}

/// Returns the `n`-th id: all begin alike, and differ in their last characters.
pub(crate) fn id(n: u32) -> MegramId {
    format!("0199b2c4-7d1e-7a52-9f00-0000{:08x}", 0x4f2a_91c0_u32 + n).parse().unwrap()
}

/// Returns the `n`-th record: a lesson of a task that counted files, two days old.
pub(crate) fn record(n: u32, lesson: &str) -> RecordLine {
    RecordLine {
        megram: Megram {
            id: id(n),
            level: Level::M,
            created_at: after(-2.0),
            space: "intent:count-files".to_owned(),
            entity: "env:local".to_owned(),
            content: Insight {
                lesson: lesson.to_owned(),
                category: InsightCategory::Procedure,
                tags: vec![],
                tools: vec![],
                targets: vec![],
                approaches: vec![],
                plan_fingerprint: None,
                failed_criteria: vec![],
            },
            state: Some(MacroState::Accept),
            f: 0.9,
            sigma: 1.0,
            k: 0.05,
            known_to: Vec::new(),
            after: Vec::new(),
        },
        author: Author::Task,
        task: Some(TaskId::mint("count the files", 0x7f3a)),
        level_now: Level::M,
        attention: 0.814,
        decision: 0.814,
        half_life_days: Some(13.863),
        fades_at: Some(after(41.94)),
        recalled_at: None,
        standing: Standing::Summed,
    }
}

/// Returns the `n`-th rule, made by the Dreamer twelve days ago.
pub(crate) fn rule(n: u32, text: &str, sigma: f64) -> RecordLine {
    let mut rule = record(n, text);
    (rule.megram.level, rule.level_now, rule.author) = (Level::C, Level::C, Author::Dreamer);
    (rule.megram.f, rule.megram.sigma, rule.megram.k, rule.megram.state) = (1.0, sigma, 0.0, None);
    (rule.attention, rule.decision) = (1.0, sigma);
    (rule.half_life_days, rule.fades_at, rule.task) = (None, None, None);
    (rule.megram.created_at, rule.standing) = (after(-12.0), Standing::InForce);
    rule
}

/// Returns everything about a pair: one rule, two records, and sums that fade from these.
pub(crate) fn pair(attention: f64, decision: f64, action: MemoryAction) -> PairReport {
    let mut failed = record(2, "The shell was refused twice.");
    (failed.megram.state, failed.megram.sigma, failed.decision) = (Some(MacroState::Abandon), -1.0, -0.814);
    (failed.megram.f, failed.megram.k, failed.half_life_days) = (0.95, 0.0, None);
    failed.fades_at = None;
    let point = |day: u32| {
        let left = (-0.05 * f64::from(day)).exp();
        CurvePoint { at: after(f64::from(day)), attention: attention * left, decision: decision * left }
    };
    PairReport {
        space: "intent:count-files".to_owned(),
        entity: "env:local".to_owned(),
        at: NOW,
        sums: Sums { attention, decision, action },
        count: 12,
        rules: vec![rule(9, "Count with `walk`.", 1.0)],
        records: vec![record(1, "Counted with walk: 12 files."), failed],
        curve: (0..=90).map(point).collect(),
    }
}

/// Text with which a hostile page, tool or import could attack a terminal.
pub(crate) const HOSTILE: &str =
    "a\u{1b}[2J\u{1b}]0;title\u{7}\r\nb\u{202e}c\u{9b}31m\u{200b}\u{0}d\u{1b}[31mred";

/// Returns a long record whose every text is hostile.
pub(crate) fn hostile(n: u32) -> RecordLine {
    let mut record = record(n, &format!("{HOSTILE}{}", "x".repeat(5_000)));
    let megram = &mut record.megram;
    (megram.space, megram.entity) = (format!("intent:{HOSTILE}"), format!("path:{HOSTILE}"));
    let content = &mut megram.content;
    (content.tags, content.targets) = (vec![HOSTILE.to_owned()], vec![HOSTILE.to_owned()]);
    content.failed_criteria = vec![HOSTILE.to_owned()];
    content.plan_fingerprint = Some(HOSTILE.to_owned());
    content.approaches = vec![ApproachName {
        playbook: HOSTILE.to_owned(),
        approach: HOSTILE.to_owned(),
        variant: Some(HOSTILE.to_owned()),
    }];
    (megram.f, megram.sigma, megram.k) = (f64::NAN, f64::MAX, f64::INFINITY);
    (record.attention, record.decision) = (f64::MAX, f64::NEG_INFINITY);
    (record.half_life_days, record.fades_at) = (Some(f64::MAX), Some(Timestamp::from_micros(i64::MAX)));
    record.megram.created_at = Timestamp::from_micros(i64::MIN);
    record
}
