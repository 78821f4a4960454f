//! Which models see which memory: a language model sees what was learnt with it, and the rest only with the operator's
//! consent.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use setpoint_machine::ModelCall;
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::record::Reply;

use super::*;

/// Stores a task that these models answer: how it opened, and what it wrote.
fn task_of(journal: &Journal, n: u64, models: [&str; 2], messages: &[(&'static str, Vec<u8>)]) {
    let [brain, tool] = models;
    let opened = serde_json::json!({ "models": { "brain": brain, "tool": tool } });
    let mut rows = vec![("Opened", serde_json::to_vec(&opened).unwrap())];
    rows.extend_from_slice(messages);
    task(journal, n, &rows);
}

fn reader(name: &str) -> Readers {
    Readers::named([name])
}

fn ids(megrams: &[Megram]) -> Vec<MegramId> {
    megrams.iter().map(|megram| megram.id.clone()).collect()
}

/// Stores what each brain has learnt about the same kind of task, about another kind, and about a call.
fn learnt(journal: &Journal) {
    for (n, models) in [(10, ["playbook", "playbook"]), (20, ["near/a", "near/a"]), (30, ["far/b", "near/a"])]
    {
        let mut elsewhere = megram(n + 1, &format!("intent:pack {n}"), "env:local", State::Accept);
        elsewhere.content.tags = vec!["photos".to_owned()];
        let mut call = megram(n + 2, "tool:fetch", &format!("path:rm /data/{n}"), State::ChangeApproach);
        call.content = insight("it failed");
        let messages = [written(&of_intent(n, State::Accept)), written(&elsewhere), written(&call)];
        task_of(journal, n.into(), models, &messages);
    }
}

#[test]
fn a_model_sees_what_it_taught_and_the_rest_after_consent() {
    let home = Home::new();
    let journal = home.journal();
    learnt(&journal);
    let memory = home.memory(&journal);
    memory.remember("Photos lie in ~/p.", &[], NOW).unwrap();
    let told = |readers: &Readers| {
        let reply = ask_for(&memory, readers);
        let mut related: Vec<_> = reply.related.iter().map(|one| one.id.clone()).collect();
        related.sort();
        let avoided = reply.avoided.iter().map(|one| one.target.clone()).collect::<Vec<_>>();
        assert_eq!(reply.facts.len(), 1, "a fact is meant for everybody");
        (ids(&reply.records).len(), related, avoided.len(), reply.withheld)
    };
    let everything = (3, vec![id(11), id(21), id(31)], 3, 0);
    assert_eq!(told(&Readers::default()), everything, "the embedded brain is this program");
    assert_eq!(told(&reader("playbook")), everything);
    assert_eq!(told(&reader("near/a")), (2, vec![id(21), id(31)], 2, 3));
    assert_eq!(told(&reader("far/b")), (1, vec![id(31)], 1, 6));
    assert_eq!(told(&Readers::named(["near/a", "far/b"])), (1, vec![id(31)], 1, 6));
    assert_eq!(told(&reader("new/c")), (0, vec![], 0, 9));
    assert_eq!(ask_for(&memory, &reader("new/c")).potentials.action, MemoryAction::Ignore);
    let reply = ask_for(&memory, &reader("far/b"));
    assert_eq!(ids(&reply.records), [id(30)]);
    assert_eq!(reply.avoided[0].target, "rm /data/30");

    assert_eq!(memory.is_shared().unwrap(), None);
    memory.share(true, NOW).unwrap();
    assert_eq!(told(&reader("new/c")), everything);
    // The decision is in the journal: a rebuilt memory has it.
    drop(memory);
    std::fs::remove_dir_all(home.memory_dir()).unwrap();
    let memory = home.memory(&journal);
    memory.catch_up().unwrap();
    assert_eq!(memory.is_shared().unwrap(), Some(true));
    assert_eq!(ask_for(&memory, &reader("new/c")).withheld, 0);
    memory.share(false, NOW).unwrap();
    assert_eq!((memory.is_shared().unwrap(), ask_for(&memory, &reader("new/c")).withheld), (Some(false), 9));
}

#[test]
fn a_rule_is_known_to_models_that_know_all_its_sources() {
    let rule_of = |models: &dyn Fn(u32) -> [&'static str; 2]| {
        let home = Home::new();
        let journal = home.journal();
        for n in 1..=6 {
            task_of(&journal, n.into(), models(n), &[written(&of_intent(n, State::Accept))]);
        }
        let memory = home.memory(&journal);
        assert_eq!(dream(&memory).unwrap().promoted.len(), 1);
        let told = |name: &str| ask_for(&memory, &reader(name)).rules.len();
        assert_eq!(ask(&memory).rules.len(), 1);
        (told("near/a"), told("far/b"))
    };
    assert_eq!(rule_of(&|_| ["near/a", "near/a"]), (1, 0));
    assert_eq!(rule_of(&|_| ["near/a", "far/b"]), (1, 1));
    assert_eq!(rule_of(&|n| if n == 6 { ["playbook", "playbook"] } else { ["near/a", "near/a"] }), (0, 0));
}

#[test]
fn the_operator_is_asked_while_records_are_withheld() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    memory.remember("Photos lie in ~/p.", &[], NOW).unwrap();
    assert!(!memory.must_ask(&reader("near/a")).unwrap(), "a fact is no secret");
    task_of(&journal, 1, ["near/a", "near/a"], &[written(&of_intent(1, State::Accept))]);
    assert!(!memory.must_ask(&reader("near/a")).unwrap(), "it knows all of it");
    assert!(memory.must_ask(&reader("far/b")).unwrap());
    task_of(&journal, 2, ["playbook", "playbook"], &[written(&of_intent(2, State::Accept))]);
    assert!(memory.must_ask(&reader("near/a")).unwrap());
    assert!(!memory.must_ask(&reader("playbook")).unwrap(), "it is no language model");
    memory.share(false, NOW).unwrap();
    assert!(!memory.must_ask(&reader("near/a")).unwrap(), "a no is an answer");
}

/// Gives no usable answer, and counts its questions.
struct Counted(AtomicUsize);

#[async_trait]
impl Model for Counted {
    async fn answer(&self, _: &ModelCall, _: &Progress) -> Result<Reply, ModelError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Reply { parts: vec![], usage: Default::default(), is_cut: false, by: None })
    }

    fn name(&self) -> &str {
        "near/a"
    }
}

/// Returns the number of questions in one pass of the Dreamer over six tasks that these models answered.
async fn asked(models: [&str; 2], is_shared: bool) -> usize {
    let home = Home::new();
    let journal = home.journal();
    for n in 1..=6 {
        task_of(&journal, n.into(), models, &[written(&of_intent(n, State::Accept))]);
    }
    let memory = home.memory(&journal);
    if is_shared {
        memory.share(true, NOW).unwrap();
    }
    let model = Arc::new(Counted(AtomicUsize::new(0)));
    let dreamer = Dreamer::new(Arc::clone(&memory), Some(Arc::clone(&model) as Arc<dyn Model>));
    assert_eq!(dreamer.pass(NOW).await.unwrap().unwrap().promoted.len(), 1, "in a template's words at least");
    model.0.load(Ordering::SeqCst)
}

#[tokio::test]
async fn the_dreamer_asks_a_model_about_what_it_knows() {
    assert_eq!(asked(["near/a", "near/a"], false).await, 1);
    assert_eq!(asked(["playbook", "playbook"], false).await, 0);
    assert_eq!(asked(["far/b", "far/b"], false).await, 0);
    assert_eq!(asked(["far/b", "far/b"], true).await, 1);
}

#[tokio::test]
async fn only_its_own_model_reflects_on_the_end_of_a_task() {
    let home = Home::new();
    let journal = home.journal();
    let files = tempfile::tempdir().unwrap();
    std::fs::write(files.path().join("a"), "x").unwrap();
    let organisation = organisation_with(&journal, brain(), None);
    let task = organisation.start(largest_files_under(files.path(), 1)).await.unwrap();
    organisation.ended(&task).await;
    let memory = home.memory(&journal);
    memory.share(true, NOW).unwrap();
    let model = Arc::new(Counted(AtomicUsize::new(0)));
    let dreamer = Dreamer::new(Arc::clone(&memory), Some(Arc::clone(&model) as Arc<dyn Model>));
    dreamer.pass(setpoint_runtime::clock::now()).await.unwrap();
    assert_eq!(model.0.load(Ordering::SeqCst), 0, "whatever the operator says about memory");
}
