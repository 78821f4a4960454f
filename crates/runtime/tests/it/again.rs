//! A model that fails for a while is retried: each retry is recorded first, waits longer, and stays within budget and
//! time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use setpoint_journal::Journal;
use setpoint_machine::ModelCall;
use setpoint_model::{Model, ModelError, Progress};
use setpoint_protocol::message::{CancelRequest, EndedBy, FinalResult};
use setpoint_protocol::record::{ModelFailure, ModelFailureKind, Part, Purpose, RecordKind, Reply};
use setpoint_protocol::topology::Payload;
use setpoint_runtime::NewTask;

use crate::support::{Tested, new_task, organisation};

/// A model that is always unavailable, and states when it may be back.
struct Away {
    asked: Arc<AtomicU64>,
    again_after: Option<Duration>,
}

#[async_trait]
impl Model for Away {
    async fn answer(&self, _: &ModelCall, _: &Progress) -> Result<Reply, ModelError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let reason = "nobody is there".to_owned();
        let failure = ModelFailure { kind: ModelFailureKind::Unavailable, reason, hints: vec![] };
        Err(ModelError { failure, again_after: self.again_after })
    }

    fn name(&self) -> &str {
        "away"
    }
}

/// The outcome of a task whose model is unavailable: attempts, their records, the end.
struct Became {
    asked: u64,
    reasked: usize,
    ended_by: EndedBy,
    calls: u64,
    summary: String,
}

fn away(again_after: Option<Duration>) -> (Tested, Arc<AtomicU64>) {
    let asked = Arc::new(AtomicU64::new(0));
    let model = Away { asked: Arc::clone(&asked), again_after };
    (organisation(&Journal::in_memory(), model), asked)
}

async fn run(new: NewTask, again_after: Option<Duration>) -> Became {
    let (organisation, asked) = away(again_after);
    let task = organisation.start(new).await.unwrap();
    organisation.ended(&task).await;
    let records = organisation.records(&task).unwrap();
    let result = organisation.result(&task).unwrap().unwrap();
    organisation.shutdown().await;
    Became {
        asked: asked.load(Ordering::SeqCst),
        reasked: records.iter().filter(|record| record.kind == RecordKind::Reasked).count(),
        ended_by: result.ended_by,
        calls: result.usage.calls,
        summary: result.summary,
    }
}

#[tokio::test(start_paused = true)]
async fn every_attempt_is_recorded_and_counted() {
    let became = run(new_task(), Some(Duration::ZERO)).await;
    // R1 and R2's plan ask five times each: one call and four retries.
    assert_eq!((became.asked, became.reasked), (became.calls, became.reasked), "{}", became.summary);
    assert_eq!(became.asked as usize, became.reasked / 4 * 5, "{}", became.summary);
    assert!(became.reasked >= 8, "{}", became.summary);
    assert!(became.summary.contains("nobody is there (asked 5 times)"), "{}", became.summary);
}

#[tokio::test(start_paused = true)]
async fn a_permanent_failure_is_not_retried() {
    let became = run(new_task(), None).await;
    assert_eq!(became.reasked, 0);
    assert!(!became.summary.contains("times"), "{}", became.summary);
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_would_exceed_the_time_limit_is_not_made() {
    let became = run(new_task(), Some(Duration::from_secs(3_600))).await;
    assert_eq!(became.reasked, 0);
}

#[tokio::test(start_paused = true)]
async fn attempts_share_the_budget_of_calls() {
    let mut new = new_task();
    new.opened.budgets.calls = Some(4);
    let became = run(new, Some(Duration::ZERO)).await;
    // One of four calls is reserved for the report.
    assert_eq!((became.asked, became.calls, became.ended_by), (3, 3, EndedBy::Budget), "{}", became.summary);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_for_a_retry_can_be_cancelled() {
    let (organisation, asked) = away(Some(Duration::from_secs(200)));
    let task = organisation.start(new_task()).await.unwrap();
    while asked.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let cancel = CancelRequest { reason: Some("enough".to_owned()) };
    organisation.say(&task, Payload::CancelRequest(cancel)).await.unwrap();
    organisation.ended(&task).await;
    let result = organisation.result(&task).unwrap().unwrap();
    assert_eq!((result.ended_by, asked.load(Ordering::SeqCst)), (EndedBy::Cancelled, 1));
    organisation.shutdown().await;
}

/// Plans, but has no key for the executor.
struct Keyless(Arc<AtomicU64>);

#[async_trait]
impl Model for Keyless {
    async fn answer(&self, call: &ModelCall, _: &Progress) -> Result<Reply, ModelError> {
        let text = match call.purpose() {
            Purpose::Perceive => r#"{"title":"count the files"}"#,
            Purpose::Plan => {
                r#"{"subtasks":[{"intent":"look at the shelf","success_criteria":["the output names each jar"]}]}"#
            }
            _ => {
                self.0.fetch_add(1, Ordering::SeqCst);
                let failure = ModelFailure {
                    kind: ModelFailureKind::Refused,
                    reason: "the key is not valid".to_owned(),
                    hints: vec!["check the key".to_owned()],
                };
                return Err(ModelError { failure, again_after: None });
            }
        };
        Ok(Reply { parts: vec![Part::Text(text.to_owned())], ..Reply::default() })
    }

    fn name(&self) -> &str {
        "keyless"
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_for_a_person_ends_the_task_without_a_replan() {
    let asked = Arc::new(AtomicU64::new(0));
    let organisation = organisation(&Journal::in_memory(), Keyless(Arc::clone(&asked)));
    let task = organisation.start(new_task()).await.unwrap();
    organisation.ended(&task).await;
    let result = organisation.result(&task).unwrap().unwrap();
    assert_eq!((result.ended_by, result.replans, result.usage.calls), (EndedBy::Fault, 0, 3), "{result:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert!(result.summary.contains("no model could execute: the key is not valid"), "{}", result.summary);
    assert_eq!(result.next_moves.first().map(String::as_str), Some("check the key"));
    organisation.shutdown().await;
}

/// Reads the goal and plans, except where it is to fail; fails for all other roles.
struct Faulty {
    failure: ModelFailure,
    at_once: bool,
    asked: Arc<AtomicU64>,
}

#[async_trait]
impl Model for Faulty {
    async fn answer(&self, call: &ModelCall, progress: &Progress) -> Result<Reply, ModelError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let plans = matches!(call.purpose(), Purpose::Perceive | Purpose::Plan) && !self.at_once;
        if plans || (call.purpose() == Purpose::Plan && self.failure.kind == ModelFailureKind::TooLong) {
            return Keyless(Arc::default()).answer(call, progress).await;
        }
        Err(ModelError { failure: self.failure.clone(), again_after: None })
    }

    fn name(&self) -> &str {
        "faulty"
    }
}

async fn faulty(kind: ModelFailureKind, hints: &[&str], at_once: bool) -> (FinalResult, u64) {
    let asked = Arc::new(AtomicU64::new(0));
    let hints = hints.iter().map(|hint| (*hint).to_owned()).collect();
    let failure = ModelFailure { kind, reason: "the server answered 429: too much".to_owned(), hints };
    let model = Faulty { failure, at_once, asked: Arc::clone(&asked) };
    let organisation = organisation(&Journal::in_memory(), model);
    let task = organisation.start(new_task()).await.unwrap();
    organisation.ended(&task).await;
    let result = organisation.result(&task).unwrap().unwrap();
    organisation.shutdown().await;
    (result, asked.load(Ordering::SeqCst))
}

#[tokio::test(start_paused = true)]
async fn a_failure_for_a_person_ends_the_task_at_once() {
    for kind in [ModelFailureKind::Refused, ModelFailureKind::Unable, ModelFailureKind::Unreachable] {
        let (result, asked) = faulty(kind, &["check the key"], true).await;
        assert_eq!((result.ended_by, asked), (EndedBy::Fault, 1), "{kind:?}: {result:?}");
        let reason = "no model could read the goal: the server answered 429: too much";
        assert!(result.summary.contains(reason), "{}", result.summary);
        assert_eq!(result.next_moves.first().map(String::as_str), Some("check the key"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_goal_too_long_for_r1_reaches_r2_unchanged() {
    let (result, asked) = faulty(ModelFailureKind::TooLong, &["choose another model"], true).await;
    assert!(asked > 2, "{result:?}");
    assert!(result.summary.contains("no model could execute"), "{}", result.summary);
}

#[tokio::test(start_paused = true)]
async fn each_failure_of_a_model_is_in_the_result_once() {
    let (result, _) = faulty(ModelFailureKind::Unavailable, &[], false).await;
    // The task ends because there is no other plan; that is not why it failed.
    assert!(result.summary.contains("no valid plan"), "{}", result.summary);
    let told = "No answer from a model: R3: the server answered 429: too much.";
    assert_eq!(result.summary.matches(told).count(), 1, "{}", result.summary);
    let told = "a model did not answer: try again later, or choose another model";
    assert_eq!(result.next_moves.iter().filter(|one| *one == told).count(), 1, "{:?}", result.next_moves);
}
