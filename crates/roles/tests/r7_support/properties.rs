//! Properties that hold for any sequence of inputs under any valid settings. A small model of the phases gives what
//! may follow.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use setpoint_machine::AnyInput;
use setpoint_machine::effects::Effect;
use setpoint_protocol::CallId;
use setpoint_protocol::message::{EndState, FinalResult, OutcomeStatus, VerdictWord};
use setpoint_protocol::topology::{Kind, Payload};

use super::driver::Driver;
use super::short;

/// An input.
#[derive(Clone, Debug)]
enum Step {
    /// A report about the current round, or about one already decided.
    Replan {
        outcomes: Vec<String>,
        whole: Option<String>,
        unjudged: bool,
        stale: bool,
        elapsed_ms: u64,
    },
    Accept {
        outcomes: Vec<String>,
        whole: String,
        elapsed_ms: u64,
    },
    Fault {
        kind: &'static str,
        retryable: bool,
        elapsed_ms: u64,
    },
    Cancel,
    Quiesced,
    Report,
    Timer,
}

/// The phases of the specification.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Running,
    Stopping { retryable: bool },
    Reporting { is_cut_short: bool },
    Closed,
}

/// Runs the properties.
pub(crate) fn check() {
    let config = Config { cases: 256, failure_persistence: None, ..Config::default() };
    let inputs = (settings(), prop::collection::vec(step(), 0..24));
    TestRunner::new(config)
        .run(&inputs, |(settings, steps)| {
            run(&settings, &steps);
            Ok(())
        })
        .unwrap();
}

fn run(settings: &Value, steps: &[Step]) {
    let max_replans = settings["max_replans"].as_u64().unwrap();
    let mut driver = Driver::new(&json!({ "controller": settings }));
    let mut phase = Phase::Running;
    let (mut round, mut directives, mut rounds, mut results) = (1_u32, 0_u64, 0_u64, 0_u64);
    let mut timer: Option<CallId> = None;
    for step in steps {
        let effects = deliver(&mut driver, step, round, timer);
        let said = Said::of(effects);
        if said.timer.is_some() {
            timer = said.timer;
        }
        let decides = match (phase, step) {
            (Phase::Running, Step::Replan { stale, .. }) => !*stale || round == 1,
            (Phase::Running, Step::Accept { .. }) | (Phase::Stopping { .. }, Step::Quiesced) => true,
            _ => false,
        };
        let ends = match (phase, step) {
            (Phase::Reporting { .. }, Step::Report) => true,
            (Phase::Reporting { .. }, Step::Timer) => true,
            (Phase::Reporting { is_cut_short }, Step::Quiesced) => is_cut_short,
            _ => false,
        };
        let answers = said.directives + said.notices + said.results;
        assert_eq!(answers, u64::from(decides || ends), "{phase:?} {step:?}: {said:?}");
        assert!(!ends || said.results == 1, "{phase:?} {step:?}: {said:?}");
        assert!(decides || said.memory == 0, "memory is told only what is decided: {phase:?} {step:?}");
        assert!(said.in_order, "memory is told first: {phase:?} {step:?}");
        rounds += u64::from(decides && matches!(step, Step::Replan { .. }));
        rounds += u64::from(decides && matches!((phase, step), (Phase::Stopping { retryable: true }, _)));
        directives += said.directives;
        results += said.results;
        if let Some(result) = &said.result {
            check_result(result, directives);
        }
        phase = next(phase, step, &said);
        round += u32::try_from(said.directives).unwrap();
        assert!(results <= 1 && directives <= max_replans, "{results} results, {directives} directives");
        assert!(rounds <= max_replans + 1, "{rounds} rounds");
        assert!(
            rounds <= max_replans || phase != Phase::Running,
            "a task ends within {} rounds",
            max_replans + 1
        );
    }
}

fn next(phase: Phase, step: &Step, said: &Said) -> Phase {
    if said.results == 1 {
        return Phase::Closed;
    }
    if said.notices == 1 {
        return Phase::Reporting { is_cut_short: false };
    }
    if said.directives == 1 {
        return Phase::Running;
    }
    match (phase, step) {
        (Phase::Running, Step::Fault { retryable, .. }) => Phase::Stopping { retryable: *retryable },
        (Phase::Running | Phase::Stopping { .. }, Step::Cancel) => Phase::Stopping { retryable: false },
        (Phase::Reporting { .. }, Step::Fault { .. } | Step::Cancel) => {
            Phase::Reporting { is_cut_short: true }
        }
        _ => phase,
    }
}

/// Checks that no incomplete result is called complete.
fn check_result(result: &FinalResult, directives: u64) {
    assert_eq!(u64::from(result.replans), directives);
    assert_eq!(result.accountable.is_none(), result.directive == EndState::Accept);
    let numbers = [result.loss.d, result.loss.p, result.loss.omega, result.loss.l, result.grad_l];
    assert!(numbers.iter().all(|number| number.is_finite()), "{numbers:?}");
    match result.directive {
        EndState::Accept => {
            assert!(result.unmet_criteria.is_empty() && result.loss.d == 0.0);
            assert!(result.verdicts.iter().all(|verdict| verdict.verdict == VerdictWord::Pass));
        }
        EndState::Success if result.unproven => {
            assert!(result.verdicts.iter().all(|verdict| verdict.verdict == VerdictWord::Pass), "{result:?}");
        }
        EndState::Success => assert!(!result.unmet_criteria.is_empty() && result.loss.d > 0.0, "{result:?}"),
        EndState::Abandon => {}
    }
    let text = result.summary.to_lowercase();
    let praises = ["success", "succeeded", "done", "complete"].iter().any(|word| text.contains(word));
    assert!(!praises || result.directive == EndState::Accept || result.unproven, "{text}");
}

/// The effects of one input.
#[derive(Debug, Default)]
struct Said {
    directives: u64,
    notices: u64,
    results: u64,
    memory: u64,
    timer: Option<CallId>,
    result: Option<FinalResult>,
    in_order: bool,
}

impl Said {
    fn of(effects: Vec<Effect>) -> Self {
        let mut said = Said { in_order: true, ..Said::default() };
        for effect in effects {
            match effect {
                Effect::Timer { call, .. } => said.timer = Some(call),
                Effect::Send { payload, .. } => said.count(payload),
                Effect::Model { .. } | Effect::Tool { .. } | Effect::Survey { .. } => {
                    panic!("R7 asks for nothing else")
                }
            }
        }
        said
    }

    fn count(&mut self, payload: Payload) {
        match payload {
            Payload::Megram(_) | Payload::NegativeFeedback(_) => {
                self.memory += 1;
                self.in_order &= self.directives + self.notices + self.results == 0;
            }
            Payload::PlanDirective(directive) => {
                let matched = directive.matched.iter().all(|one| one.status == OutcomeStatus::Matched);
                assert!(matched, "what failed is not carried forward");
                self.directives += 1;
            }
            Payload::AbandonNotice(_) => self.notices += 1,
            Payload::FinalResult(result) => {
                self.results += 1;
                self.result = Some(result);
            }
            other => panic!("R7 does not send {}", other.kind()),
        }
    }
}

fn deliver(driver: &mut Driver, step: &Step, round: u32, timer: Option<CallId>) -> Vec<Effect> {
    let (kind, body) = match step {
        Step::Replan { outcomes, whole, unjudged, stale, elapsed_ms } => {
            let round = if *stale { round.saturating_sub(1).max(1) } else { round };
            let mut body = json!({
                "round": round, "outcomes": outcomes, "merge_unjudged": unjudged, "elapsed_ms": elapsed_ms,
                "applied_rules": ["1 a b"],
            });
            if let Some(letters) = whole {
                body["task_criteria_verdicts"] = json!(letters);
            }
            (Kind::ReplanRequest, body)
        }
        Step::Accept { outcomes, whole, elapsed_ms } => {
            let body =
                json!({ "outcomes": outcomes, "task_criteria_verdicts": whole, "elapsed_ms": elapsed_ms });
            (Kind::OutcomeSummary, body)
        }
        Step::Fault { kind, retryable, elapsed_ms } => {
            (Kind::TaskFault, json!({ "kind": kind, "retryable": retryable, "elapsed_ms": elapsed_ms }))
        }
        Step::Cancel => (Kind::CancelRequest, json!({})),
        Step::Report => (Kind::PartialReport, json!({})),
        Step::Quiesced => return driver.input(AnyInput::Quiesced),
        // Before there is a timer, an unknown call id is answered.
        Step::Timer => return driver.timer(timer.unwrap_or_else(|| "r7/99".parse().unwrap())),
    };
    driver.message(kind, &short::expand(kind.name(), body))
}

fn step() -> impl Strategy<Value = Step> {
    let outcomes = prop::collection::vec(outcome(), 0..4).prop_map(|outcomes: Vec<String>| {
        let numbered = outcomes.iter().enumerate();
        numbered.map(|(n, one)| one.replacen('#', &(n + 1).to_string(), 1)).collect::<Vec<_>>()
    });
    let outcomes = outcomes.boxed();
    let elapsed_ms = prop_oneof![8 => 0_u64..60_000, 1 => 0_u64..2_000_000, 1 => Just(u64::MAX)];
    let whole = "[.LEv?]{0,4}";
    prop_oneof![
        6 => (outcomes.clone(), prop::option::of(whole), any::<bool>(), prop::bool::weighted(0.2), elapsed_ms.clone())
            .prop_map(|(outcomes, whole, unjudged, stale, elapsed_ms)| {
                Step::Replan { outcomes, whole, unjudged, stale, elapsed_ms }
            }),
        1 => (outcomes, whole, elapsed_ms.clone())
            .prop_map(|(outcomes, whole, elapsed_ms)| Step::Accept { outcomes, whole, elapsed_ms }),
        2 => (
            prop::sample::select(vec!["fault", "fault", "fault", "budget", "deadline", "consent"]),
            prop::bool::weighted(0.8),
            elapsed_ms,
        )
            .prop_map(|(kind, retryable, elapsed_ms)| Step::Fault { kind, retryable, elapsed_ms }),
        1 => Just(Step::Cancel),
        3 => Just(Step::Quiesced),
        1 => Just(Step::Report),
        1 => Just(Step::Timer),
    ]
}

/// Generates an outcome. Half of the matched ones have only passes; the rest contradict themselves.
fn outcome() -> impl Strategy<Value = String> {
    let calls = prop::collection::vec("[!~]{0,1}(shell/a|shell/b|search|fetch):[a-c]", 0..3);
    let head = prop_oneof!["matched # [.v]{1,4}", "(matched|failed) # [.LE?PvV-]{1,5}"];
    (head, calls).prop_map(|(head, calls)| format!("{head} {}", calls.join(" ")))
}

fn settings() -> impl Strategy<Value = Value> {
    let weight = || prop_oneof![Just(0.0), 0.0..1.0_f64, 0.0..10.0_f64];
    let weights = (weight(), weight(), weight(), weight(), weight());
    let thresholds = (1e-6..1.0_f64, 0.0..0.999_f64, 0.0..1.0_f64, 0.01..1.0_f64);
    let counts = (1_u64..400_000, 1_u64..6, 1_u64..4, any::<bool>(), any::<bool>());
    let drawn = (weights, thresholds, counts).prop_map(|((a, b, l, w1, w2), (e, d, r, t), (ms, max, law2, net, sets))| {
        json!({
            "alpha": a, "beta": b, "lambda": l, "w1": w1, "w2": w2, "epsilon": e, "delta": d, "rho": r, "theta": t,
            "time_budget_ms": ms, "max_replans": max, "law2_rounds": law2,
            "law2_gradient": if net { "net" } else { "full" }, "urgency": if sets { "sets" } else { "words" },
        })
    });
    let reference =
        (1_u64..6).prop_map(|max| json!({ "max_replans": max, "w1": 0.1, "delta": 0.05, "law2_rounds": 9 }));
    prop_oneof![drawn, reference]
}
