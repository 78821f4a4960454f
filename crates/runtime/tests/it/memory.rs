//! R5: what it takes in, answers and dreams; real journals and stores on disk.

use std::path::Path;
use std::sync::Arc;

use setpoint_journal::{Journal, JournalOptions, NewRow, Submission, TaskHead, TaskOpening};
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
use setpoint_runtime::memory::Memory;
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

    fn memory(&self, journal: &Journal) -> Memory {
        Memory::open(&self.memory_dir(), journal).unwrap().0
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
    journal.append(submission).unwrap();
}

fn written(megram: &Megram) -> (&'static str, Vec<u8>) {
    ("Megram", serde_json::to_vec(megram).unwrap())
}

fn against(rule: &MegramId) -> (&'static str, Vec<u8>) {
    let feedback = NegativeFeedback { rule_id: rule.clone(), content: insight("it did not hold") };
    ("NegativeFeedback", serde_json::to_vec(&feedback).unwrap())
}

fn ask(memory: &Memory) -> MemoryReply {
    let query = MemoryQuery {
        call_id: "r2/1".parse().unwrap(),
        space: "intent:count".to_owned(),
        entity: "env:local".to_owned(),
        tools: vec!["shell".parse().unwrap(), "fetch".parse().unwrap()],
        limit: 10,
    };
    memory.answer(&query, || NOW)
}

#[test]
fn what_tasks_taught_is_answered() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    assert_eq!(ask(&memory).potentials.action, MemoryAction::Ignore);

    let output = Megram { level: Level::K, ..megram(9, "task:x", "subtask:y", State::ChangePath) };
    task(
        &journal,
        1,
        &[written(&of_intent(1, State::Accept)), written(&output), ("FinalResult", b"{}".into())],
    );
    let blamed = megram(2, "tool:fetch", "path:https://a", State::ChangeApproach);
    let praised = megram(3, "tool:shell/wc", "path:wc -l a", State::BreakSymmetry);
    let unasked = megram(4, "tool:search", "path:x", State::ChangeApproach);
    task(
        &journal,
        2,
        &[written(&blamed), written(&praised), written(&unasked), written(&of_intent(5, State::Refine))],
    );
    let fact = Megram {
        level: Level::C,
        f: 1.0,
        sigma: 1.0,
        k: 0.0,
        ..megram(6, USER_SPACE, "env:local", State::Accept)
    };
    memory.act(RoleId::Operator, &MemoryAct::Recorded { megram: fact, by: Author::Operator }, NOW).unwrap();

    let reply = ask(&memory);
    assert_eq!(
        (reply.availability, reply.potentials.action),
        (Availability::Available, MemoryAction::Exploit)
    );
    let ids = |megrams: &[Megram]| megrams.iter().map(|megram| megram.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&reply.records), [id(1), id(5)], "the strongest first");
    assert_eq!(ids(&reply.facts), [id(6)]);
    let tools: Vec<(&str, MemoryAction, u32)> =
        reply.tools.iter().map(|tool| (tool.tool.as_str(), tool.potentials.action, tool.tasks)).collect();
    assert_eq!(tools, [("fetch", MemoryAction::Avoid, 1), ("shell/wc", MemoryAction::Exploit, 1)]);
    let avoided: Vec<(&str, &str, &MegramId)> = reply
        .avoided
        .iter()
        .map(|call| (call.tool.as_str(), call.target.as_str(), &call.evidence.id))
        .collect();
    assert_eq!(avoided, [("fetch", "https://a", &id(2))]);
    assert_eq!(memory.dream(NOW).unwrap().unwrap().outputs, 0, "that was no output of the task's own space");
}

#[test]
fn a_rule_is_made_once_and_lost_when_tasks_contradict_it() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    for n in 1..=6 {
        task(&journal, n.into(), &[written(&of_intent(n, State::Accept))]);
    }
    let dreamt = memory.dream(NOW).unwrap().unwrap();
    assert_eq!((dreamt.promoted.len(), dreamt.demoted.len()), (1, 0));
    assert_eq!(memory.dream(NOW).unwrap().unwrap(), Default::default(), "once");
    let reply = ask(&memory);
    assert_eq!((reply.rules.len(), reply.records.len()), (1, 0), "its sources are told by it");
    assert_eq!(reply.rules[0].kind, SopKind::BestPractice);
    assert_eq!(reply.rules[0].rule, "This worked again and again. lesson 6");
    assert_eq!(reply.potentials.action, MemoryAction::Ignore);

    let rule = reply.rules[0].id.clone();
    for n in 11..=13 {
        task(&journal, n, &[against(&rule), ("FinalResult", b"{}".into())]);
    }
    let dreamt = memory.dream(NOW).unwrap().unwrap();
    assert_eq!((dreamt.promoted.len(), dreamt.demoted), (0, vec![rule]));
    assert_eq!(ask(&memory).rules, []);
    memory.store().check(NOW).unwrap();
}

#[test]
fn a_constraint_comes_before_blame_that_is_not_yet_one() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    for n in 1..=6 {
        task(&journal, n.into(), &[written(&megram(n, "tool:fetch", "path:ruled out", State::Abandon))]);
    }
    assert_eq!(memory.dream(NOW).unwrap().unwrap().promoted.len(), 1);
    task(&journal, 7, &[written(&megram(7, "tool:fetch", "path:blamed", State::Abandon))]);
    let targets: Vec<String> = ask(&memory).avoided.into_iter().map(|call| call.target).collect();
    assert_eq!(targets, ["ruled out", "blamed"]);
}

#[test]
fn a_memory_that_is_lost_is_made_anew_from_the_journal() {
    let home = Home::new();
    let journal = home.journal();
    let before = {
        let memory = home.memory(&journal);
        for n in 1..=6 {
            task(&journal, n.into(), &[written(&of_intent(n, State::Accept))]);
        }
        memory.dream(NOW).unwrap().unwrap();
        task(&journal, 7, &[written(&of_intent(7, State::Abandon)), written(&of_intent(8, State::Accept))]);
        memory.act(RoleId::Operator, &MemoryAct::Forgotten { ids: vec![id(8)] }, NOW).unwrap();
        ask(&memory)
    };
    assert_eq!((before.rules.len(), before.records.len()), (1, 1));
    std::fs::remove_dir_all(home.memory_dir()).unwrap();
    let memory = home.memory(&journal);
    assert_eq!(ask(&memory), before);
    drop(memory);

    for name in ["memory.db", "memory.db-wal"] {
        let path = home.memory_dir().join(name);
        if let Ok(bytes) = std::fs::read(&path) {
            std::fs::write(&path, vec![0x5a; bytes.len()]).unwrap();
        }
    }
    let (memory, report) = Memory::open(&home.memory_dir(), &journal).unwrap();
    assert!(report.aside.is_some_and(|(path, _)| path.join("memory.db").exists()));
    assert_eq!(ask(&memory), before);
}

#[test]
fn a_journal_that_ends_before_memory_does_is_taken_in_again() {
    let home = Home::new();
    let memory_dir = home.memory_dir();
    {
        let journal = home.journal();
        task(&journal, 1, &[written(&of_intent(1, State::Accept)), written(&of_intent(2, State::Accept))]);
        home.memory(&journal).catch_up().unwrap();
    }
    let other = Home::new();
    let journal = other.journal();
    task(&journal, 3, &[written(&of_intent(3, State::Accept))]);
    let (memory, _) = Memory::open(&memory_dir, &journal).unwrap();
    assert_eq!(memory.catch_up().unwrap(), 1);
    let ids: Vec<MegramId> = ask(&memory).records.into_iter().map(|record| record.id).collect();
    assert_eq!(ids, [id(3)], "it is what the journal says");
    assert!(memory_dir.join("damaged-1/memory.db").exists(), "what it was is kept");
    memory.store().check(NOW).unwrap();
}

/// Nothing shows when it is opened; it shows when a record is read.
#[test]
fn damage_that_shows_later_is_mended() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    task(&journal, 1, &[written(&of_intent(1, State::Accept))]);
    let before = ask(&memory);
    drop(memory);
    let path = home.memory_dir().join("memory.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update_and_check(None, "wal_checkpoint", "TRUNCATE", |_| Ok(())).unwrap();
    drop(conn);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(8).position(|window| window == b"lesson 1").unwrap();
    bytes[at] = b'L';
    std::fs::write(&path, bytes).unwrap();
    let (memory, report) = Memory::open(&home.memory_dir(), &journal).unwrap();
    assert_eq!(report.aside, None);
    assert_eq!(ask(&memory), before);
    memory.store().check(NOW).unwrap();
}

#[test]
fn two_processes_write_and_dream_side_by_side() {
    let home = Home::new();
    let setup = home.journal();
    for n in 1..=6 {
        task(&setup, n.into(), &[written(&of_intent(n, State::Accept))]);
    }
    let forget = |memory: &Memory, from: u32| {
        for n in from..from + 20 {
            memory.act(RoleId::Operator, &MemoryAct::Forgotten { ids: vec![id(n)] }, NOW).unwrap();
        }
        // Nothing is done where the other one dreams.
        memory.dream(NOW).unwrap().unwrap_or_default().promoted.len()
    };
    let made: usize = std::thread::scope(|scope| {
        let workers = [1_000, 2_000].map(|from| {
            let (home, forget) = (&home, &forget);
            scope.spawn(move || {
                let journal = home.journal();
                forget(&home.memory(&journal), from)
            })
        });
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    let memory = home.memory(&setup);
    memory.catch_up().unwrap();
    let made_later = memory.dream(NOW).unwrap().unwrap().promoted.len();
    assert_eq!(made + made_later, 1);
    assert_eq!(memory.store().stats().unwrap().forgotten, 40);
    assert_eq!(ask(&memory).rules.len(), 1);
    memory.store().check(NOW).unwrap();
}

fn brain() -> Models {
    Models::one(Arc::new(Playbook::new(Arc::new(Library::load(None)))))
}

fn largest_files_under(folder: &Path, suffix: u64) -> NewTask {
    let raw_input = format!("find the three largest files under {}", folder.display());
    NewTask { raw_input, suffix, ..new_task() }
}

#[tokio::test]
async fn the_second_task_of_a_kind_knows_the_first() {
    let files = tempfile::tempdir().unwrap();
    for (name, size) in [("a", 10), ("b", 2_000), ("c", 300), ("d", 40)] {
        std::fs::write(files.path().join(name), vec![b'x'; size]).unwrap();
    }
    let home = Home::new();
    let mut replies = Vec::new();
    for suffix in [1, 2] {
        // A process each.
        let journal = home.journal();
        let memory = Arc::new(home.memory(&journal));
        let organisation = organisation_with(&journal, brain(), Some(memory));
        let task = organisation.start(largest_files_under(files.path(), suffix)).await.unwrap();
        organisation.ended(&task).await;
        assert!(organisation.take_failure(&task).is_none());
        for record in organisation.records(&task).unwrap() {
            match record.message() {
                Some(Payload::MemoryReply(reply)) => replies.push(reply),
                Some(Payload::FinalResult(result)) => assert_eq!(result.directive, EndState::Accept),
                _ => {}
            }
        }
        organisation.shutdown().await;
    }
    let [first, second] = replies.as_slice() else { panic!("{} replies", replies.len()) };
    assert_eq!(
        (first.availability, first.potentials.action),
        (Availability::Available, MemoryAction::Ignore)
    );
    assert_eq!(
        (second.availability, second.potentials.action),
        (Availability::Available, MemoryAction::Exploit)
    );
    let [record] = second.records.as_slice() else { panic!("{} records", second.records.len()) };
    let approaches: Vec<&str> =
        record.content.approaches.iter().map(|approach| approach.playbook.as_str()).collect();
    assert_eq!(approaches, ["largest-files"]);
}

/// Six tasks of one kind that were accepted just now.
fn accepted_six_times(journal: &Journal) {
    let created_at = setpoint_runtime::clock::now();
    for n in 1..=6 {
        let megram = Megram { created_at, ..of_intent(n, State::Accept) };
        task(journal, n.into(), &[written(&megram), ("FinalResult", b"{}".into())]);
    }
}

/// The clock is virtual: it moves on when nothing else can happen.
async fn pass(seconds: u64) {
    tokio::time::sleep(std::time::Duration::from_secs(seconds)).await;
}

fn rules(memory: &Memory) -> usize {
    memory.store().rules().unwrap().len()
}

#[tokio::test(start_paused = true)]
async fn what_earlier_processes_left_is_dreamt_of_at_once() {
    let home = Home::new();
    let journal = home.journal();
    accepted_six_times(&journal);
    let memory = Arc::new(home.memory(&journal));
    let organisation = organisation_with(&journal, brain(), Some(Arc::clone(&memory)));
    pass(1).await;
    assert_eq!(rules(&memory), 1);
    let first = memory.last_dream().unwrap();
    organisation.shutdown().await;

    // The next process finds that nothing is left to do.
    let journal = home.journal();
    let memory = Arc::new(home.memory(&journal));
    let organisation = organisation_with(&journal, brain(), Some(Arc::clone(&memory)));
    pass(299).await;
    assert_eq!(memory.last_dream(), Some(first));
    pass(2).await;
    assert_ne!(memory.last_dream(), Some(first), "every five minutes");
    organisation.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_ended_is_dreamt_of_once_things_have_settled() {
    let home = Home::new();
    let journal = home.journal();
    let memory = Arc::new(home.memory(&journal));
    let organisation = organisation_with(&journal, brain(), Some(Arc::clone(&memory)));
    pass(1).await;
    accepted_six_times(&journal);
    // No playbook knows it: it ends without a tool, whose time would be the virtual clock's.
    let new = NewTask { raw_input: "sing to me".to_owned(), suffix: 77, ..new_task() };
    let task = organisation.start(new).await.unwrap();
    organisation.ended(&task).await;
    pass(1).await;
    assert_eq!(rules(&memory), 0, "not yet");
    pass(2).await;
    assert_eq!(rules(&memory), 1);
    organisation.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_does_not_wait_for_the_dreamer_to_begin() {
    let home = Home::new();
    let journal = home.journal();
    let memory = Arc::new(home.memory(&journal));
    let organisation = organisation_with(&journal, brain(), Some(Arc::clone(&memory)));
    pass(1).await;
    accepted_six_times(&journal);
    let new = NewTask { raw_input: "sing to me".to_owned(), suffix: 77, ..new_task() };
    let task = organisation.start(new).await.unwrap();
    organisation.ended(&task).await;
    organisation.shutdown().await;
    assert_eq!(rules(&memory), 0);
}
