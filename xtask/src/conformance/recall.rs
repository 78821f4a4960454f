//! Runs the vectors about recall, which are texts, on a store that holds one record of every kind.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use setpoint_memory::store::{Event, EventKind, MemoryError, Options, Store};
use setpoint_protocol::memory::{Author, MemoryAct};
use setpoint_protocol::message::{Insight, InsightCategory, Level, Megram};
use setpoint_protocol::{MegramId, Timestamp};

use super::format::{UnreadFields, read, unread};
use super::{Summary, VectorFault, compare, object};

const MADE: Timestamp = Timestamp::from_micros(1_790_000_000_000_000);
const NOW: Timestamp = Timestamp::from_micros(1_790_000_100_000_000);
const LEVELS: [(Level, &str); 3] = [(Level::M, "M"), (Level::K, "K"), (Level::C, "C")];

#[derive(Debug, Deserialize)]
struct Vector {
    id: String,
    #[serde(rename = "why")]
    _why: String,
    expect: Value,
    #[serde(flatten)]
    unread: UnreadFields,
}

pub(super) fn run(at: &str, vectors: &[Value], summary: &mut Summary) -> Result<(), VectorFault> {
    for (index, vector) in vectors.iter().enumerate() {
        let at_vector = format!("{at}[{index}]");
        let vector: Vector = read(&at_vector, vector)?;
        let mut differences: Vec<String> = unread("", &vector.unread).collect();
        match recalled() {
            Ok(got) => {
                differences.extend(compare::fields(&at_vector, object(&at_vector, &vector.expect)?, &got)?);
            }
            Err(error) => differences.push(error),
        }
        summary.add(at, &vector.id, differences);
    }
    Ok(())
}

/// Returns what `query_c` gives from a pair with a record of every level, and what it touches.
fn recalled() -> Result<Map<String, Value>, String> {
    let told = |error: MemoryError| format!("failed to {error}");
    let dir = tempfile::tempdir().map_err(|error| format!("failed to make a directory: {error}"))?;
    let (store, _) = Store::open(dir.path(), &Options::default()).map_err(told)?;
    let mut events = Vec::new();
    let mut ids = Vec::new();
    for ((level, name), pos) in LEVELS.into_iter().zip(1_u64..) {
        let id: MegramId = format!("00000000-0000-7000-8000-{pos:012}")
            .parse()
            .map_err(|error| format!("failed to {error}"))?;
        ids.push((id.clone(), name));
        let megram = megram(id, level);
        let act = MemoryAct::Recorded { megram, by: Author::Operator };
        events.push(Event { pos, what: EventKind::Act(Box::new(act)) });
    }
    store.apply(0, &events, LEVELS.len() as u64).map_err(told)?;
    let given = store.recall("intent:a", "env:local", NOW).map_err(told)?;
    let mut touched = Vec::new();
    for (id, name) in ids {
        let is_given = given.iter().any(|record| record.megram.id == id);
        let recalled = store.get(&id).map_err(told)?.trace.moments.recalled_us;
        match (is_given, recalled) {
            (true, Some(at)) if at == NOW.as_micros() => touched.push(name),
            (false, None) => {}
            (is_given, recalled) => {
                return Err(format!("{name}: given out: {is_given}, recalled: {recalled:?}"));
            }
        }
    }
    let mut got = Map::new();
    let recalled_at = if touched.is_empty() { Value::Null } else { json!("now") };
    got.insert("last_recalled_at".to_owned(), recalled_at);
    got.insert("levels".to_owned(), json!(touched));
    Ok(got)
}

fn megram(id: MegramId, level: Level) -> Megram {
    let content = Insight {
        lesson: "what was learnt".to_owned(),
        category: InsightCategory::Procedure,
        tags: Vec::new(),
        tools: Vec::new(),
        targets: Vec::new(),
        approaches: Vec::new(),
        plan_fingerprint: None,
        failed_criteria: Vec::new(),
    };
    let k = if level == Level::C { 0.0 } else { 0.05 };
    Megram {
        id,
        level,
        created_at: MADE,
        space: "intent:a".to_owned(),
        entity: "env:local".to_owned(),
        content,
        state: None,
        f: 0.9,
        sigma: 1.0,
        k,
        known_to: Vec::new(),
        after: Vec::new(),
    }
}
