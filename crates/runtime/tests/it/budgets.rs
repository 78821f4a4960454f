//! Budgets hold whatever fails: parallel attempts, broken connections, processes that die, and models that the task was
//! not opened with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use setpoint_journal::Journal;
use setpoint_machine::ModelCall;
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::message::{CancelRequest, EndedBy};
use setpoint_protocol::models::ModelCard;
use setpoint_protocol::money::Money;
use setpoint_protocol::record::{ModelFailure, ModelFailureKind, Part, Purpose, Reply, Usage};
use setpoint_protocol::topology::Payload;
use setpoint_runtime::error::RuntimeError;
use setpoint_runtime::models::StandIn;
use setpoint_runtime::{Models, NewTask, ResumeOutcome};

use crate::support::{new_task, organisation, organisation_of};

/// How the model answers questions of executors.
#[derive(Clone, Copy)]
enum Work {
    /// The server is unavailable.
    Away,
    /// Sends this many bytes of an answer, then breaks off.
    BreaksOff(usize),
    /// Reports usage as a provider does, then breaks off.
    Counts(Usage),
    /// Never answers.
    Hangs,
}

/// Plans six sub-tasks, whose execution fails.
struct Planner {
    name: &'static str,
    asked: Arc<AtomicU64>,
    work: Work,
}

const PLAN: &str = r#"{"task_criteria":["the output names each jar of every shelf"],"subtasks":[
    {"intent":"look at shelf 1","success_criteria":["the output names each jar"]},
    {"intent":"look at shelf 2","success_criteria":["the output names each jar"]},
    {"intent":"look at shelf 3","success_criteria":["the output names each jar"]},
    {"intent":"look at shelf 4","success_criteria":["the output names each jar"]},
    {"intent":"look at shelf 5","success_criteria":["the output names each jar"]},
    {"intent":"look at shelf 6","success_criteria":["the output names each jar"]}]}"#;

#[async_trait]
impl Model for Planner {
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let text = match call.purpose() {
            Purpose::Perceive => r#"{"title":"count the files"}"#,
            Purpose::Plan => PLAN,
            _ => {
                tokio::task::yield_now().await;
                match self.work {
                    Work::Away => {}
                    Work::BreaksOff(bytes) => {
                        progress.begun();
                        progress.count_bytes(bytes);
                    }
                    Work::Counts(usage) => {
                        progress.begun();
                        progress.counted(usage);
                    }
                    Work::Hangs => std::future::pending().await,
                }
                let reason = "the line was cut".to_owned();
                let failure = ModelFailure { kind: ModelFailureKind::Unavailable, reason, hints: vec![] };
                return Err(ModelError { failure, again_after: Some(Duration::ZERO) });
            }
        };
        Ok(Reply { parts: vec![Part::Text(text.to_owned())], ..Reply::default() })
    }

    fn name(&self) -> &str {
        self.name
    }

    fn card(&self) -> ModelCard {
        ModelCard { tokens_out_max: Some(1_000), ..ModelCard::named(self.name) }
    }
}

fn planner(work: Work) -> (Planner, Arc<AtomicU64>) {
    let asked = Arc::new(AtomicU64::new(0));
    (Planner { name: "planner", asked: Arc::clone(&asked), work }, asked)
}

#[tokio::test(start_paused = true)]
async fn parallel_attempts_stay_within_the_budget_of_calls() {
    for calls in 4..=16 {
        let (model, asked) = planner(Work::Away);
        let organisation = organisation(&Journal::in_memory(), model);
        let mut new = new_task();
        new.opened.budgets.calls = Some(calls);
        let task = organisation.start(new).await.unwrap();
        organisation.ended(&task).await;
        let result = organisation.result(&task).unwrap().unwrap();
        organisation.shutdown().await;
        assert!(result.usage.calls <= calls, "{} of {calls}", result.usage.calls);
        assert_eq!(result.usage.calls, asked.load(Ordering::SeqCst), "of {calls}");
    }
}

#[tokio::test(start_paused = true)]
async fn answers_that_break_off_are_paid_for() {
    let usage = Usage { tokens_in: 5_000, tokens_out: 2_000, tokens_cached: 0 };
    for (work, least) in [(Work::BreaksOff(4_000), 1_000), (Work::Counts(usage), 7_000)] {
        let (model, asked) = planner(work);
        let organisation = organisation(&Journal::in_memory(), model);
        let mut new = new_task();
        new.opened.budgets.tokens = Some(20_000);
        let task = organisation.start(new).await.unwrap();
        organisation.ended(&task).await;
        let result = organisation.result(&task).unwrap().unwrap();
        organisation.shutdown().await;
        assert_eq!(result.ended_by, EndedBy::Budget, "{}", result.summary);
        let used = &result.usage;
        assert_eq!(used.calls, asked.load(Ordering::SeqCst));
        // The two answers state a cost of zero.
        assert_eq!(used.tokens_lost, used.tokens_in + used.tokens_out);
        assert!(used.tokens_lost >= 3 * least, "{used:?}");
        // The reported usage may exceed the reservation; after that nothing more is asked.
        assert!(used.tokens_lost <= 20_000 + 6 * 7_000, "{used:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn stopped_and_late_answers_are_paid_for() {
    let (model, asked) = planner(Work::Hangs);
    let organisation = organisation(&Journal::in_memory(), model);
    let task = organisation.start(new_task()).await.unwrap();
    until(&asked, 8).await;
    organisation.say(&task, Payload::CancelRequest(CancelRequest { reason: None })).await.unwrap();
    organisation.ended(&task).await;
    let cancelled = organisation.result(&task).unwrap().unwrap();
    assert!(cancelled.usage.tokens_lost > 6 * 20, "{:?}", cancelled.usage);

    let task = organisation.start(NewTask { suffix: 2, ..new_task() }).await.unwrap();
    organisation.ended(&task).await;
    let late = organisation.result(&task).unwrap().unwrap();
    organisation.shutdown().await;
    assert!(late.usage.tokens_lost >= cancelled.usage.tokens_lost, "{:?}", late.usage);
}

#[tokio::test(start_paused = true)]
async fn processes_that_die_share_the_budget_of_calls() {
    let data = tempfile::tempdir().unwrap();
    let journal = || Journal::open(data.path(), &setpoint_journal::JournalOptions::default()).unwrap();
    let asked = Arc::new(AtomicU64::new(0));
    let model = || Planner { name: "planner", asked: Arc::clone(&asked), work: Work::Hangs };
    let first = organisation(&journal(), model());
    let mut new = new_task();
    new.opened.budgets.calls = Some(12);
    let task = first.start(new).await.unwrap();
    until(&asked, 8).await;
    first.shutdown().await;
    // Two attempts of six are left and one call is reserved for the report, so no process gets more.
    for _ in 0..4 {
        let next = organisation(&journal(), model());
        if next.resume(&task).await.unwrap() == ResumeOutcome::Ended {
            break;
        }
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
        next.shutdown().await;
    }
    let last = organisation(&journal(), model());
    if last.resume(&task).await.unwrap() == ResumeOutcome::Running {
        last.ended(&task).await;
    }
    let result = last.result(&task).unwrap().unwrap();
    last.shutdown().await;
    assert!(asked.load(Ordering::SeqCst) <= 12, "{}", asked.load(Ordering::SeqCst));
    assert!(result.usage.calls <= 12, "{}", result.usage.calls);
}

// Not with a paused clock: with a slow journal it would run ahead, and the watchdog would end the task.
#[tokio::test]
async fn other_models_resume_a_task_only_if_a_person_names_them() {
    for (stand_in, money, is_refused) in [
        (StandIn::No, None, true),
        (StandIn::Named, None, false),
        (StandIn::Named, Money::of_units(1.0), true),
        (StandIn::Unasked, Money::of_units(1.0), false),
    ] {
        let data = tempfile::tempdir().unwrap();
        let journal = || Journal::open(data.path(), &setpoint_journal::JournalOptions::default()).unwrap();
        let (model, asked) = planner(Work::Hangs);
        let first = organisation(&journal(), Priced(model));
        let mut new = new_task();
        new.opened.budgets.money = money;
        let task = first.start(new).await.unwrap();
        until(&asked, 3).await;
        first.shutdown().await;

        let (other, _) = planner(Work::Hangs);
        let other = Planner { name: "other", ..other };
        let second = organisation_of(&journal(), Models::one(Arc::new(other)).with_stand_in(stand_in));
        let resumed = second.resume(&task).await;
        second.shutdown().await;
        match resumed {
            Err(RuntimeError::OtherModels { unlike, .. }) => {
                assert!(is_refused, "{stand_in:?}");
                let text = unlike.to_string();
                assert!(text.contains("planner") && text.contains("other"), "{text}");
                assert_eq!(unlike.is_for_money, stand_in == StandIn::Named);
            }
            Ok(resumed) => assert_eq!((resumed, is_refused), (ResumeOutcome::Running, false), "{stand_in:?}"),
            Err(error) => panic!("{error:?}"),
        }
        // No process holds it: it is resumed with the model that it was opened with.
        let (model, _) = planner(Work::Hangs);
        let third = organisation(&journal(), Priced(model));
        assert_eq!(third.resume(&task).await.unwrap(), ResumeOutcome::Running);
        third.shutdown().await;
    }
}

/// A planner whose price is known.
struct Priced(Planner);

#[async_trait]
impl Model for Priced {
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        self.0.answer(call, progress).await
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn card(&self) -> ModelCard {
        ModelCard { price: Some(setpoint_protocol::models::Price::default()), ..self.0.card() }
    }
}

async fn until(asked: &AtomicU64, count: u64) {
    while asked.load(Ordering::SeqCst) < count {
        tokio::task::yield_now().await;
    }
}

/// Takes this long to read the goal, and never answers anything else.
struct SlowReader(Duration);

#[async_trait]
impl Model for SlowReader {
    async fn answer(&self, call: &ModelCall, _: &Progress) -> Result<Reply, ModelError> {
        if call.purpose() != Purpose::Perceive {
            std::future::pending::<()>().await;
        }
        // The clock is paused, so this takes no real time.
        drop(tokio::time::timeout(self.0, std::future::pending::<()>()).await);
        let text = r#"{"intent":"look at every shelf"}"#.to_owned();
        Ok(Reply { parts: vec![Part::Text(text)], ..Reply::default() })
    }

    fn name(&self) -> &str {
        "slow"
    }
}

#[tokio::test(start_paused = true)]
async fn time_spent_reading_the_goal_counts() {
    let budget = Duration::from_secs(20);
    let organisation = organisation(&Journal::in_memory(), SlowReader(budget + budget / 2));
    let mut new = new_task();
    new.opened.controller.time_budget_ms = u64::try_from(budget.as_millis()).unwrap();
    let task = organisation.start(new).await.unwrap();
    organisation.ended(&task).await;
    let result = organisation.result(&task).unwrap().unwrap();
    assert_eq!(result.ended_by, EndedBy::Deadline, "{result:?}");
    let end = organisation.records(&task).unwrap().last().unwrap().clock_ms;
    assert!(Duration::from_millis(end) < 2 * budget + Duration::from_secs(1), "it took {end} ms");
}
