//! Short constructors of records.

use setpoint_memory::store::{BatchOutcome, BatchResult, Event, EventKind, Options, Store};
use setpoint_mkct::{Quantum, State, quantize};
use setpoint_protocol::memory::{Author, MemoryAct};
use setpoint_protocol::message::{Insight, InsightCategory, Level, Megram};
use setpoint_protocol::{MegramId, TaskId, Timestamp};

/// A day in microseconds.
pub(crate) const DAY_US: i64 = 86_400_000_000;
/// An arbitrary moment.
pub(crate) const NOON_US: i64 = 1_790_000_000_000_000;

/// Returns the moment `days` after noon.
pub(crate) fn day(days: f64) -> Timestamp {
    Timestamp::from_micros(NOON_US + (days * DAY_US as f64) as i64)
}

pub(crate) fn id(n: u128) -> MegramId {
    let hex = format!("{n:032x}");
    let parts: Vec<String> = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)]
        .map(|(a, b)| hex.get(a..b).unwrap().to_owned())
        .into();
    parts.join("-").parse().unwrap()
}

pub(crate) fn task(n: u64) -> TaskId {
    TaskId::mint("count the words", n)
}

pub(crate) fn insight(lesson: &str) -> Insight {
    Insight {
        lesson: lesson.to_owned(),
        category: InsightCategory::Procedure,
        tags: Vec::new(),
        tools: Vec::new(),
        targets: Vec::new(),
        approaches: Vec::new(),
        plan_fingerprint: None,
        failed_criteria: Vec::new(),
    }
}

/// Creates an M record of `space` and `env:local` in this state.
pub(crate) fn megram(n: u128, space: &str, state: State, at: Timestamp) -> Megram {
    let Quantum { f, sigma, k } = quantize(state);
    Megram {
        id: id(n),
        level: Level::M,
        created_at: at,
        space: space.to_owned(),
        entity: "env:local".to_owned(),
        content: insight(&format!("lesson {n}")),
        state: None,
        f,
        sigma,
        k,
        known_to: Vec::new(),
        after: Vec::new(),
    }
}

/// Creates a rule of the same pair.
pub(crate) fn rule(n: u128, space: &str, sigma: f64, at: Timestamp) -> Megram {
    Megram { level: Level::C, f: 1.0, sigma, k: 0.0, ..megram(n, space, State::Accept, at) }
}

pub(crate) fn written(task_number: u64, megram: Megram) -> EventKind {
    EventKind::Written { task: task(task_number), megram: Box::new(megram) }
}

pub(crate) fn promoted(rule: Megram, as_of: u64) -> EventKind {
    EventKind::Act(Box::new(MemoryAct::Promoted { rule, as_of, worded: None }))
}

pub(crate) fn stated(megram: Megram) -> EventKind {
    EventKind::Act(Box::new(MemoryAct::Recorded { megram, by: Author::Operator }))
}

pub(crate) fn forgotten(ids: &[u128]) -> EventKind {
    let ids = ids.iter().map(|n| id(*n)).collect();
    EventKind::Act(Box::new(MemoryAct::Forgotten { ids }))
}

/// Applies these after the store's position, one position each.
pub(crate) fn take(store: &Store, happenings: impl IntoIterator<Item = EventKind>) -> BatchResult {
    let from = store.cursor().unwrap();
    let events: Vec<Event> =
        happenings.into_iter().zip(from + 1..).map(|(what, pos)| Event { pos, what }).collect();
    let to = from + events.len() as u64;
    match store.apply(from, &events, to).unwrap() {
        BatchOutcome::Applied(applied) => applied,
        BatchOutcome::WrongPosition { cursor } => panic!("memory is at {cursor}, not at {from}"),
    }
}

pub(crate) struct Home {
    pub(crate) dir: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Home { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("memory")
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.path(), &Options::default()).unwrap().0
    }
}

/// Returns everything that a user can see of a store at a moment.
pub(crate) fn seen(store: &Store, now: Timestamp) -> String {
    let mut seen = String::new();
    for record in store.newest(10_000).unwrap().iter().rev() {
        let megram = serde_json::to_string(&record.megram).unwrap();
        let level = record.trace.level;
        seen += &format!(
            "{megram} {level:?} {:?} {:?} {:?} {:?} {:?} {}\n",
            record.author,
            record.task.as_ref().map(TaskId::as_str),
            record.rule.as_ref().map(MegramId::as_str),
            record.superseded_by.as_ref().map(MegramId::as_str),
            record.trace.moments.demoted_us,
            record.trace.is_consolidated,
        );
    }
    let mut pairs: Vec<String> = store
        .pairs(now, 10_000)
        .unwrap()
        .into_iter()
        .map(|pair| {
            let tool = store.tool(&pair.space, now).unwrap();
            format!(
                "{:?} {:?} {} {:.9} {:.9} tool {:.9} {}\n",
                pair.space,
                pair.entity,
                pair.count,
                pair.potentials.attention,
                pair.potentials.decision,
                tool.potentials.attention,
                tool.tasks,
            )
        })
        .collect();
    pairs.sort();
    seen + &pairs.concat()
}
