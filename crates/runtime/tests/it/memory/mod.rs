//! R5: what it applies, answers and dreams, and what the operator does to it; with real journals and stores on disk.

mod answers;
mod burst;
mod damage;
mod dreaming;
mod labels;
mod operator;
mod sharing;

use std::path::Path;
use std::sync::Arc;

use setpoint_journal::{Journal, JournalOptions, NewRow, Submission, TaskHead, TaskOpening};
use setpoint_memory::{DreamResult, Dreamer, Memory, Readers};
use setpoint_mkct::tags::USER_SPACE;
use setpoint_mkct::{Quantum, State, quantize};
use setpoint_model::playbook::{Library, Playbook};
use setpoint_protocol::memory::{Author, MemoryAct};
use setpoint_protocol::message::{
    Availability, EndState, Insight, InsightCategory, Level, Megram, MemoryAction, MemoryQuery, MemoryReply,
    NegativeFeedback, SopKind,
};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{MegramId, RoleId, TaskId, Timestamp};
use setpoint_runtime::{Models, NewTask};

use crate::support::{new_task, organisation_with};

const NOW: Timestamp = Timestamp::from_micros(1_790_000_000_000_000);

/// A data directory with a journal and a memory.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Home(tempfile::tempdir().unwrap())
    }

    fn journal(&self) -> Journal {
        Journal::open(&self.0.path().join("journal"), &JournalOptions::default()).unwrap()
    }

    fn memory_dir(&self) -> std::path::PathBuf {
        self.0.path().join("memory")
    }

    fn memory(&self, journal: &Journal) -> Arc<Memory> {
        Arc::new(Memory::open(&self.memory_dir(), journal).unwrap().0)
    }
}

fn id(n: u32) -> MegramId {
    format!("00000000-0000-7000-8000-{n:012}").parse().unwrap()
}

fn insight(lesson: &str) -> Insight {
    Insight {
        lesson: lesson.to_owned(),
        category: InsightCategory::Procedure,
        tags: vec!["count".to_owned()],
        tools: vec!["shell/wc".parse().unwrap()],
        targets: vec!["wc -l a".to_owned()],
        approaches: Vec::new(),
        plan_fingerprint: Some("f1".to_owned()),
        failed_criteria: Vec::new(),
    }
}

fn megram(n: u32, space: &str, entity: &str, state: State) -> Megram {
    let Quantum { f, sigma, k } = quantize(state);
    Megram {
        id: id(n),
        level: Level::M,
        created_at: NOW,
        space: space.to_owned(),
        entity: entity.to_owned(),
        content: insight(&format!("lesson {n}")),
        state: None,
        f,
        sigma,
        k,
        known_to: Vec::new(),
        after: Vec::new(),
    }
}

fn of_intent(n: u32, state: State) -> Megram {
    megram(n, "intent:count", "env:local", state)
}

/// Appends a task of these messages, and closes it.
fn task(journal: &Journal, n: u64, messages: &[(&'static str, Vec<u8>)]) {
    let task = TaskId::mint("count", n);
    let mut submission = Submission::new(&TaskHead::start(task.as_str()).unwrap());
    submission
        .open(TaskOpening {
            opened_at_us: NOW.as_micros(),
            logic_version: 1,
            title: "count".to_owned(),
            lease: None,
        })
        .unwrap();
    for ((kind, body), seq) in messages.iter().zip(1..) {
        submission
            .push(NewRow {
                seq,
                at_us: NOW.as_micros(),
                clock_ms: 0,
                from: "r7".into(),
                to: "r5".into(),
                kind: (*kind).into(),
                cause: None,
                format: 1,
                body: body.clone(),
            })
            .unwrap();
    }
    submission.close(NOW.as_micros());
    journal.append(submission).unwrap();
}

fn written(megram: &Megram) -> (&'static str, Vec<u8>) {
    ("Megram", serde_json::to_vec(megram).unwrap())
}

fn against(rule: &MegramId) -> (&'static str, Vec<u8>) {
    let feedback = NegativeFeedback { rule_id: rule.clone(), content: insight("it did not hold") };
    ("NegativeFeedback", serde_json::to_vec(&feedback).unwrap())
}

/// Runs one pass, with the words of templates.
fn dream(memory: &Arc<Memory>) -> Option<DreamResult> {
    dream_at(memory, NOW)
}

fn dream_at(memory: &Arc<Memory>, now: Timestamp) -> Option<DreamResult> {
    let dreamer = Dreamer::new(Arc::clone(memory), None);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(dreamer.pass(now)).unwrap()
}

fn ask(memory: &Memory) -> MemoryReply {
    ask_for(memory, &Readers::default())
}

fn ask_for(memory: &Memory, readers: &Readers) -> MemoryReply {
    let query = MemoryQuery {
        call_id: "r2/1".parse().unwrap(),
        space: "intent:count".to_owned(),
        entity: "env:local".to_owned(),
        about: "photos".to_owned(),
        hypotheses: false,
        tools: vec!["shell".parse().unwrap(), "fetch".parse().unwrap()],
        limit: 10,
    };
    memory.answer(&query, readers, || NOW)
}

fn brain() -> Models {
    Models::one(Arc::new(Playbook::new(Arc::new(Library::load(None)))))
}

fn largest_files_under(folder: &Path, suffix: u64) -> NewTask {
    let raw_input = format!("find the three largest files under {}", folder.display());
    NewTask { raw_input, suffix, ..new_task() }
}
