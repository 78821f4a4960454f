//! Forks: what they inherit, what counts against their budgets, and what they ask again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde_json::Value;
use setpoint_history::fork::{BudgetWish, NewFork};
use setpoint_journal::Journal;
use setpoint_machine::ModelCall;
use setpoint_model::playbook::{Library, Playbook};
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::TaskId;
use setpoint_protocol::message::EndedBy;
use setpoint_protocol::money::Money;
use setpoint_protocol::record::{Ask, Asked, Opened, Purpose, Reasked, Record, Reply, Usage};
use setpoint_protocol::settings::{Budgets, ControllerSettings};
use setpoint_runtime::NewTask;

use crate::support::{Tested, new_task, organisation};

/// The embedded brain as a model whose calls count.
struct Counted(Playbook, Arc<AtomicU64>);

#[async_trait]
impl Model for Counted {
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.answer(call, progress).await
    }

    fn name(&self) -> &str {
        "counted"
    }
}

/// A task that has ended, and its organisation.
struct Origin {
    organisation: Tested,
    task: TaskId,
    records: Vec<Record>,
    asked: Arc<AtomicU64>,
    _files: tempfile::TempDir,
}

impl Origin {
    async fn new(budgets: Budgets) -> Self {
        let (files, asked) = (tempfile::tempdir().unwrap(), Arc::new(AtomicU64::new(0)));
        std::fs::write(files.path().join("a"), "one").unwrap();
        let brain = Playbook::new(Arc::new(Library::load(None)));
        let organisation = organisation(&Journal::in_memory(), Counted(brain, Arc::clone(&asked)));
        let raw_input = format!("find the three largest files under {}", files.path().display());
        let mut new = NewTask { raw_input, ..new_task() };
        new.opened.budgets = budgets;
        let task = organisation.start(new).await.unwrap();
        organisation.ended(&task).await;
        let records = organisation.records(&task).unwrap();
        Origin { organisation, task, records, asked, _files: files }
    }

    /// Forks the task at a record, and returns the fork after its end.
    async fn fork(&self, at: u64, budgets: &[BudgetWish]) -> (TaskId, Vec<Record>) {
        let (from, controller) = (self.task.clone(), ControllerSettings::default());
        let suffix = 7 + self.organisation.tasks(false, usize::MAX).unwrap().len() as u64;
        let new = NewFork { from, at, controller, budgets: budgets.to_vec(), suffix };
        let task = self.organisation.fork(new).await.unwrap().task;
        self.organisation.ended(&task).await;
        let records = self.organisation.records(&task).unwrap();
        (task, records)
    }

    fn ended_by(&self, task: &TaskId) -> EndedBy {
        self.organisation.result(task).unwrap().unwrap().ended_by
    }

    /// Returns the place of the first record of this kind.
    fn first(&self, kind: &str) -> u64 {
        self.records.iter().find(|record| record.kind.name() == kind).unwrap().seq
    }
}

fn bodies<T: serde::de::DeserializeOwned>(records: &[Record], kind: &str) -> Vec<T> {
    let of_kind = records.iter().filter(|record| record.kind.name() == kind);
    of_kind.map(|record| serde_json::from_slice(&record.body).unwrap()).collect()
}

#[tokio::test]
async fn recorded_budgets_hold_but_for_those_that_are_named() {
    let recorded = Budgets { calls: Some(30), tokens: Some(1_000_000), money: None };
    let origin = Origin::new(recorded.clone()).await;
    let half = Money::of_units(0.5);
    for (wishes, expected) in [
        (vec![], recorded.clone()),
        (
            vec![BudgetWish::Calls(Some(50)), BudgetWish::Money(half)],
            Budgets { calls: Some(50), money: half, ..recorded.clone() },
        ),
        (vec![BudgetWish::Tokens(None)], Budgets { tokens: None, ..recorded.clone() }),
    ] {
        let (_, records) = origin.fork(origin.first("MemoryReply"), &wishes).await;
        assert_eq!(bodies::<Opened>(&records, "Opened")[0].budgets, expected, "{wishes:?}");
    }
    origin.organisation.shutdown().await;
}

/// If inherited calls have used up the budget, the fork asks only for the report.
#[tokio::test]
async fn inherited_calls_count_against_a_forks_budget() {
    let origin = Origin::new(Budgets::default()).await;
    let at = origin.first("DispatchManifest");
    let is_call = |asked: &&Asked| matches!(asked.ask, Ask::Model { .. });
    let inherited: Vec<Record> = origin.records.iter().filter(|record| record.seq <= at).cloned().collect();
    let used = bodies::<Asked>(&inherited, "Asked").iter().filter(is_call).count() as u64;
    assert!(used > 0);
    let before = origin.asked.load(Ordering::SeqCst);
    let (task, _) = origin.fork(at, &[BudgetWish::Calls(Some(used + 1))]).await;
    assert_eq!(origin.ended_by(&task), EndedBy::Budget);
    assert!(origin.asked.load(Ordering::SeqCst) <= before + 1);
    let (task, _) = origin.fork(at, &[BudgetWish::Calls(Some(30))]).await;
    assert_eq!(origin.ended_by(&task), EndedBy::CriteriaMet);
    origin.organisation.shutdown().await;
}

#[tokio::test]
async fn an_ask_that_is_open_at_the_point_is_asked_again() {
    let origin = Origin::new(Budgets::default()).await;
    let is_plan = |record: &&Record| {
        let asked = serde_json::from_slice::<Asked>(&record.body);
        asked.is_ok_and(|asked| matches!(asked.ask, Ask::Model { purpose: Purpose::Plan, .. }))
    };
    let plan = origin.records.iter().find(is_plan).unwrap();
    let (task, records) = origin.fork(plan.seq, &[]).await;
    let [reasked] = &bodies::<Reasked>(&records, "Reasked")[..] else { panic!("{records:#?}") };
    assert_eq!((reasked.reason.as_str(), reasked.spent), ("the task was forked here", Usage::default()));
    assert_eq!(reasked.call, serde_json::from_slice::<Asked>(&plan.body).unwrap().call);
    // The fork opens when it is made, but its ids are derived from the times of its records.
    let listed = origin.organisation.tasks(false, usize::MAX).unwrap();
    let of = |task: &TaskId| listed.iter().find(|row| row.task == *task).unwrap();
    let closed_at = of(&origin.task).closed_at.unwrap();
    assert!(of(&origin.task).opened_at < closed_at && closed_at < of(&task).opened_at, "{listed:#?}");
    let lines = origin.organisation.history().export(&task).unwrap();
    let events: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let records: Vec<&Value> = events.iter().filter(|event| event["seq"].is_u64()).collect();
    assert!(records.iter().all(|event| event["correlationid"] == records[0]["id"]), "{:#}", records[0]);
    origin.organisation.shutdown().await;
}
