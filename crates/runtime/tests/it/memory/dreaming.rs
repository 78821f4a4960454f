//! Making and demoting rules, when the Dreamer runs, and whose words it uses.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use setpoint_machine::{Brief, ModelCall};
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::record::{Part, Reply, Usage};

use super::*;

#[test]
fn a_rule_is_made_once_and_demoted_when_contradicted() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    for n in 1..=6 {
        task(&journal, n.into(), &[written(&of_intent(n, State::Accept))]);
    }
    let dreamt = dream(&memory).unwrap();
    assert_eq!((dreamt.promoted.len(), dreamt.demoted.len()), (1, 0));
    assert_eq!(dream(&memory).unwrap(), Default::default(), "once");
    let reply = ask(&memory);
    assert_eq!((reply.rules.len(), reply.records.len()), (1, 0), "its sources are told by it");
    assert_eq!(reply.rules[0].kind, SopKind::BestPractice);
    assert_eq!(reply.rules[0].rule, "This worked again and again. lesson 6");
    assert_eq!(reply.potentials.action, MemoryAction::Ignore);

    let rule = reply.rules[0].id.clone();
    for n in 11..=13 {
        task(&journal, n, &[against(&rule), ("FinalResult", b"{}".into())]);
    }
    let dreamt = dream(&memory).unwrap();
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
    assert_eq!(dream(&memory).unwrap().promoted.len(), 1);
    task(&journal, 7, &[written(&megram(7, "tool:fetch", "path:blamed", State::Abandon))]);
    let targets: Vec<String> = ask(&memory).avoided.into_iter().map(|call| call.target).collect();
    assert_eq!(targets, ["ruled out", "blamed"]);
}

/// Stores six tasks of one kind that were accepted just now.
fn accepted_six_times(journal: &Journal) {
    let created_at = setpoint_runtime::clock::now();
    for n in 1..=6 {
        let megram = Megram { created_at, ..of_intent(n, State::Accept) };
        task(journal, n.into(), &[written(&megram), ("FinalResult", b"{}".into())]);
    }
}

/// Opens a journal whose writes take no virtual time, which advances while another thread waits for a disk.
fn journal_in_no_time() -> Journal {
    Journal::in_memory()
}

/// Advances the virtual clock, which moves when nothing else can happen.
async fn pass(seconds: u64) {
    let later = std::time::Duration::from_secs(seconds);
    tokio::time::interval_at(tokio::time::Instant::now() + later, later).tick().await;
}

fn rules(memory: &Memory) -> usize {
    memory.store().rules().unwrap().len()
}

#[tokio::test(start_paused = true)]
async fn work_left_by_earlier_processes_is_dreamt_of_at_once() {
    let home = Home::new();
    let journal = home.journal();
    accepted_six_times(&journal);
    let memory = home.memory(&journal);
    let organisation = organisation_with(&journal, brain(), Some(Arc::clone(&memory)));
    pass(1).await;
    assert_eq!(rules(&memory), 1);
    let first = memory.last_dream().unwrap();
    organisation.shutdown().await;

    // The next process has nothing left to do.
    let journal = home.journal();
    let memory = home.memory(&journal);
    let organisation = organisation_with(&journal, brain(), Some(Arc::clone(&memory)));
    pass(299).await;
    assert_eq!(memory.last_dream(), Some(first));
    pass(2).await;
    assert_ne!(memory.last_dream(), Some(first), "every five minutes");
    organisation.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_pass_follows_the_end_of_a_task_after_a_delay() {
    let home = Home::new();
    let journal = journal_in_no_time();
    let memory = home.memory(&journal);
    let organisation = organisation_with(&journal, brain(), Some(Arc::clone(&memory)));
    pass(1).await;
    accepted_six_times(&journal);
    // No playbook knows this goal: the task ends without a tool, which would take virtual time.
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
    let journal = journal_in_no_time();
    let memory = home.memory(&journal);
    memory.share(true, NOW).unwrap();
    let organisation = organisation_with(&journal, brain(), Some(Arc::clone(&memory)));
    // The first pass finds nothing, however long it takes to begin.
    while memory.last_dream().is_none() {
        pass(1).await;
    }
    accepted_six_times(&journal);
    let new = NewTask { raw_input: "sing to me".to_owned(), suffix: 77, ..new_task() };
    let task = organisation.start(new).await.unwrap();
    organisation.ended(&task).await;
    organisation.shutdown().await;
    assert_eq!(rules(&memory), 0);
}

/// A model that answers R5 with this text, or never, and counts its questions.
struct Words {
    text: Option<&'static str>,
    asked: Arc<AtomicUsize>,
}

#[async_trait]
impl Model for Words {
    async fn answer(&self, call: &ModelCall, _: &Progress) -> Result<Reply, ModelError> {
        assert!(matches!(call.brief, Brief::Distil(_) | Brief::Reflect(_)), "{:?}", call.brief);
        self.asked.fetch_add(1, Ordering::SeqCst);
        let Some(text) = self.text else { return std::future::pending().await };
        let usage = Usage { tokens_in: 70, tokens_out: 7, tokens_cached: 0 };
        Ok(Reply { parts: vec![Part::Text(text.to_owned())], usage, is_cut: false, by: None })
    }

    fn name(&self) -> &str {
        "words"
    }
}

fn words(text: Option<&'static str>) -> (Arc<dyn Model>, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    (Arc::new(Words { text, asked: Arc::clone(&asked) }), asked)
}

/// Returns the Dreamer's acts in the journal, as written.
fn acts(journal: &Journal) -> Vec<serde_json::Value> {
    let rows = journal.rows("system", 1).map(|row| row.unwrap()).filter(|row| &*row.from == "memory");
    rows.map(|row| serde_json::from_slice(&row.body).unwrap()).collect()
}

#[tokio::test]
async fn a_model_words_each_promotion_once_and_nothing_else() {
    let home = Home::new();
    let journal = home.journal();
    accepted_six_times(&journal);
    let memory = home.memory(&journal);
    memory.share(true, NOW).unwrap();
    let (model, asked) = words(Some(r#"{"rule": "Count with wc. Look first. Then more.", "sigma": -1}"#));
    let dreamer = Dreamer::new(Arc::clone(&memory), Some(model));
    let now = setpoint_runtime::clock::now();
    let dreamt = dreamer.pass(now).await.unwrap().unwrap();
    // The journals of these tasks do not say how they ended, so there is nothing to reflect on.
    assert_eq!((dreamt.promoted.len(), dreamt.reflected.len(), asked.load(Ordering::SeqCst)), (1, 0, 1));
    let [rule] = &memory.store().rules().unwrap()[..] else { panic!() };
    assert_eq!(rule.megram.content.lesson, "Count with wc. Look first.");
    assert_eq!((rule.megram.sigma, rule.megram.content.tools[0].as_str()), (1.0, "shell/wc"));
    assert_eq!(acts(&journal)[0]["worded"]["model"], "words");
    assert_eq!(acts(&journal)[0]["worded"]["usage"]["tokens_in"], 70);
    dreamer.pass(now).await.unwrap().unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn unusable_words_leave_those_of_the_template() {
    let home = Home::new();
    let journal = home.journal();
    accepted_six_times(&journal);
    let memory = home.memory(&journal);
    memory.share(true, NOW).unwrap();
    let (model, asked) = words(Some("I would rather not."));
    let dreamt = Dreamer::new(Arc::clone(&memory), Some(model)).pass(setpoint_runtime::clock::now()).await;
    assert_eq!((dreamt.unwrap().unwrap().promoted.len(), asked.load(Ordering::SeqCst)), (1, 1));
    let [rule] = &memory.store().rules().unwrap()[..] else { panic!() };
    assert_eq!(rule.megram.content.lesson, "This worked again and again. lesson 6");
    assert_eq!(acts(&journal)[0]["worded"]["usage"]["tokens_in"], 70, "it is paid for all the same");
}

#[tokio::test]
async fn a_shutdown_ends_a_question_and_the_rule_is_made_later() {
    let home = Home::new();
    let journal = home.journal();
    accepted_six_times(&journal);
    let memory = home.memory(&journal);
    memory.share(true, NOW).unwrap();
    let (model, asked) = words(None);
    let models = brain().with_role(RoleId::Memory, model);
    let organisation = organisation_with(&journal, models, Some(Arc::clone(&memory)));
    while asked.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    organisation.shutdown().await;
    assert_eq!((rules(&memory), memory.last_dream()), (0, None));

    let memory = home.memory(&home.journal());
    let (model, _) = words(Some(r#"{"rule": "Later."}"#));
    Dreamer::new(Arc::clone(&memory), Some(model)).pass(setpoint_runtime::clock::now()).await.unwrap();
    assert_eq!(rules(&memory), 1);
}

/// Runs tasks that are accepted and have not been dreamt of.
async fn accepted_tasks(journal: &Journal, count: u64) {
    let files = tempfile::tempdir().unwrap();
    std::fs::write(files.path().join("a"), "x").unwrap();
    // The model that words rules is one of theirs.
    let models = brain().with_role(RoleId::Memory, words(None).0);
    let organisation = organisation_with(journal, models, None);
    for n in 1..=count {
        let task = organisation.start(largest_files_under(files.path(), n)).await.unwrap();
        organisation.ended(&task).await;
    }
}

#[tokio::test]
async fn the_next_pass_reflects_on_the_rest() {
    let home = Home::new();
    let journal = home.journal();
    accepted_tasks(&journal, 5).await;
    let memory = home.memory(&journal);
    let (model, _) = words(Some(r#"{"lesson": "find prints sizes."}"#));
    let dreamer = Dreamer::new(Arc::clone(&memory), Some(model));
    let mut reflected = Vec::new();
    for _ in 0..3 {
        let dreamt = dreamer.pass(setpoint_runtime::clock::now()).await.unwrap().unwrap();
        reflected.push(dreamt.reflected.len());
    }
    assert_eq!(reflected, [4, 1, 0]);
}

#[tokio::test]
async fn a_pass_asks_a_bounded_number_of_questions() {
    let home = Home::new();
    let journal = home.journal();
    accepted_tasks(&journal, 2).await;
    let created_at = setpoint_runtime::clock::now();
    for n in 100..190 {
        let megram = Megram {
            created_at,
            ..megram(n, &format!("intent:kind {}", n % 15), "env:local", State::Accept)
        };
        task(&journal, n.into(), &[written(&megram)]);
    }
    let memory = home.memory(&journal);
    memory.share(true, NOW).unwrap();
    let (model, asked) = words(Some("I would rather not."));
    let dreamer = Dreamer::new(Arc::clone(&memory), Some(model));
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(dreamer.pass(created_at).await.unwrap().unwrap().promoted.len());
    }
    assert_eq!((made, asked.load(Ordering::SeqCst)), (vec![6, 8, 1], 17));
}

#[tokio::test]
async fn an_unusable_reflection_is_not_asked_for_again() {
    let home = Home::new();
    let journal = home.journal();
    accepted_tasks(&journal, 1).await;
    let memory = home.memory(&journal);
    let (model, asked) = words(Some("I would rather not."));
    let dreamer = Dreamer::new(Arc::clone(&memory), Some(model));
    for _ in 0..2 {
        let dreamt = dreamer.pass(setpoint_runtime::clock::now()).await.unwrap().unwrap();
        assert_eq!((dreamt.reflected, asked.load(Ordering::SeqCst)), (vec![], 1));
    }
    let lessons = memory.store().newest(10).unwrap();
    assert!(lessons.iter().any(|record| record.megram.content.lesson.starts_with("This way met every")));
}

#[tokio::test]
async fn the_lesson_of_a_task_is_reworded_after_its_end() {
    let home = Home::new();
    let journal = home.journal();
    accepted_tasks(&journal, 1).await;
    let memory = home.memory(&journal);
    let (model, asked) = words(Some(r#"{"lesson": "find prints sizes.", "tags": ["sizes"]}"#));
    let dreamer = Dreamer::new(Arc::clone(&memory), Some(model));
    let now = setpoint_runtime::clock::now();
    let dreamt = dreamer.pass(now).await.unwrap().unwrap();
    let [id] = &dreamt.reflected[..] else { panic!("{dreamt:?}") };
    let record = memory.store().get(id).unwrap();
    assert_eq!(record.megram.content.lesson, "find prints sizes.");
    assert_eq!(record.megram.content.tags.last().unwrap(), "sizes");
    assert!(!record.megram.content.approaches.is_empty() && record.megram.sigma > 0.0);
    // Neither this process nor another one asks again.
    dreamer.pass(now).await.unwrap();
    let (again, _) = words(Some(r#"{"lesson": "other words"}"#));
    let dreamt = Dreamer::new(Arc::clone(&memory), Some(again)).pass(now).await.unwrap().unwrap();
    assert_eq!((asked.load(Ordering::SeqCst), dreamt.reflected), (1, vec![]));
}

/// Creates a best practice of this kind of task, with this tool.
fn practice(n: u32, kind: &str, tool: &str) -> Megram {
    let mut rule = Megram {
        level: Level::C,
        f: 1.0,
        sigma: 1.0,
        k: 0.0,
        ..megram(n, &format!("intent:{kind}"), "env:local", State::Accept)
    };
    rule.content.tools = vec![tool.parse().unwrap()];
    rule
}

#[test]
fn agreement_of_several_kinds_is_proposed_once() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    let import = |rule: Megram| {
        let act = MemoryAct::Recorded { megram: rule, by: Author::Import };
        memory.act(RoleId::Operator, &act, NOW).unwrap();
    };
    import(practice(1, "a", "shell/rg"));
    import(practice(2, "b", "shell/rg"));
    import(practice(3, "b", "shell/wc"));
    assert_eq!(dream(&memory).unwrap().proposed, [], "two kinds are not enough");
    import(practice(4, "c", "shell/rg"));
    let proposed = dream(&memory).unwrap().proposed;
    let [id] = &proposed[..] else { panic!("{proposed:?}") };
    assert_eq!(dream(&memory).unwrap().proposed, [], "once");
    let [proposal] = &memory.proposals().unwrap()[..] else { panic!() };
    assert!(proposal.megram.content.lesson.starts_with("Where several tools would do, prefer `shell/rg`"));
    assert_eq!(memory.approved_principles().unwrap(), [""; 0]);

    let unknown = memory.approve(&practice(1, "a", "x").id, NOW).unwrap_err().to_string();
    assert!(unknown.contains("it is not a proposal"), "{unknown}");
    memory.approve(id, NOW).unwrap();
    assert_eq!(memory.approved_principles().unwrap().len(), 1);
    assert!(memory.approve(id, NOW).is_err(), "it waits no more");
    assert_eq!(memory.proposals().unwrap(), []);
    // A rebuilt memory has the approved one, and a forgotten one is not proposed again.
    std::fs::remove_dir_all(home.memory_dir()).unwrap();
    let memory = home.memory(&journal);
    assert_eq!(memory.approved_principles().unwrap().len(), 1);
    memory.forget_records(&proposed, NOW).unwrap();
    assert_eq!(dream(&memory).unwrap().proposed, []);
    assert_eq!(memory.approved_principles().unwrap(), [""; 0]);
    memory.store().check(NOW).unwrap();
}

#[test]
fn only_dreamer_and_operator_write_to_layer_t() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    let thought = |n: u32| Megram { level: Level::T, ..practice(n, "a", "x") };
    task(&journal, 1, &[written(&thought(1))]);
    let imported = MemoryAct::Recorded { megram: thought(2), by: Author::Import };
    memory.act(RoleId::Operator, &imported, NOW).unwrap();
    assert_eq!((memory.proposals().unwrap(), memory.approved_principles().unwrap()), (vec![], vec![]));
}

#[test]
fn hypotheses_are_offered_to_break_symmetry_and_fade() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    let about = |n: u32, kind: &str, tool: &str, state: State| {
        let mut megram = megram(n, &format!("intent:{kind}"), "env:local", state);
        megram.content.tags = vec!["archive".to_owned(), "photos".to_owned()];
        megram.content.lesson = format!("archive of photos with {tool}");
        megram.content.tools = vec![tool.parse().unwrap()];
        megram
    };
    let stuck = about(1, "count", "shell/zip", State::Abandon);
    task(
        &journal,
        1,
        &[
            written(&stuck),
            written(&about(2, "pack_photos", "shell/tar", State::Accept)),
            // A tool that was tried is not a new way, and one that failed is not either.
            written(&about(3, "zip_photos", "shell/zip", State::Accept)),
            written(&about(4, "lose_photos", "shell/rm", State::Abandon)),
        ],
    );
    let made = dream(&memory).unwrap().hypotheses;
    assert!(!made.is_empty());
    assert_eq!(dream(&memory).unwrap().hypotheses, [], "once");
    let asked = |hypotheses: bool, now: Timestamp| {
        let query = MemoryQuery {
            call_id: "r2/1".parse().unwrap(),
            space: "intent:count".to_owned(),
            entity: "env:local".to_owned(),
            about: String::new(),
            hypotheses,
            tools: vec![],
            limit: 10,
        };
        memory.answer(&query, &Readers::default(), || now).hypotheses
    };
    assert_eq!(asked(false, NOW), []);
    let [hypothesis] = &asked(true, NOW)[..] else { panic!("{:?}", asked(true, NOW)) };
    let first = hypothesis.id.clone();
    assert_eq!(
        hypothesis.content.lesson,
        "What worked for `pack_photos` may work here: archive of photos with shell/tar"
    );
    assert_eq!(hypothesis.content.tools[0].as_str(), "shell/tar");
    assert!(hypothesis.f < 0.5);
    // After it has faded it is made again with another id, and a rebuilt memory has the same one.
    let later = Timestamp::from_micros(NOW.as_micros() + 7 * 86_400_000_000);
    dream_at(&memory, later);
    let ids = |memory: &Memory| -> Vec<MegramId> {
        let records = memory.store().records("hypothesis:count", "env:local", 10).unwrap();
        records.into_iter().map(|record| record.megram.id).collect()
    };
    let second = ids(&memory);
    assert!(second.len() == 1 && second[0] != first, "{second:?}");
    std::fs::remove_dir_all(home.memory_dir()).unwrap();
    let memory = home.memory(&journal);
    memory.catch_up().unwrap();
    assert_eq!(ids(&memory), second);
    memory.store().check(later).unwrap();
}

#[test]
fn a_rule_is_worded_from_the_lessons_that_support_it() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    for n in 1..=14 {
        task(&journal, n.into(), &[written(&of_intent(n, State::Abandon))]);
    }
    for n in 15..=24 {
        task(&journal, n.into(), &[written(&of_intent(n, State::Success))]);
    }
    assert_eq!(dream(&memory).unwrap().promoted.len(), 1);
    assert_eq!(ask(&memory).rules[0].rule, "This failed again and again. lesson 14");
}
