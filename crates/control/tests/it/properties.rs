//! Properties that hold for every input and every valid setting.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use setpoint_control::compare::TOLERANCE;
use setpoint_control::law::Cell;
use setpoint_control::measurement::{Call, CallEnd, Criterion, Event, Merge, Outcome, Verdict};
use setpoint_control::{
    ActionState, EndedBy, FailureClass, FaultKind, Gains, Law2Gradient, Loss, Measurement, Mode,
    OutcomeStatus, Ruling, Trajectory, UrgencyMode, loss,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_024, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each row of the table states its own condition. Exactly one applies, and the law returns that one.
    #[test]
    fn table_is_complete_and_disjoint(cell in table_cell(), gains in gains()) {
        let TableCell { grad_l, d, p, omega, worsening_count, rounds, fatal } = cell.near(&gains);
        let spent = omega >= gains.theta - TOLERANCE;
        let close = d <= gains.delta + TOLERANCE;
        let killed = worsening_count >= gains.law2_rounds;
        let over = rounds > gains.max_replans;
        let signal = grad_l.abs() >= gains.epsilon - TOLERANCE;
        let logical = p > gains.rho + TOLERANCE;
        let open = !spent && !close && !killed && !over && !fatal;
        let table = [
            (spent, Ruling::End(EndedBy::Omega)),
            (!spent && close, Ruling::End(EndedBy::Distance)),
            (!spent && !close && killed, Ruling::End(EndedBy::Law2)),
            (!spent && !close && !killed && over, Ruling::End(EndedBy::Rounds)),
            (!spent && !close && !killed && !over && fatal, Ruling::End(EndedBy::Fault)),
            (open && !signal && logical, Ruling::Replan(ActionState::BreakSymmetry)),
            (open && signal && logical, Ruling::Replan(ActionState::ChangeApproach)),
            (open && !signal && !logical, Ruling::Replan(ActionState::ChangePath)),
            (open && signal && !logical, Ruling::Replan(ActionState::Refine)),
        ];
        let applying: Vec<Ruling> = table.iter().filter(|row| row.0).map(|row| row.1).collect();
        let ruling = Cell::new(grad_l, d, p, omega).unwrap().in_round(worsening_count, rounds, fatal).rule(&gains);
        prop_assert_eq!(applying, vec![ruling]);
    }

    #[test]
    fn nan_and_infinity_never_reach_the_table(
        mut numbers in [-1.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64],
        place in any::<Index>(),
        bad in select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
    ) {
        numbers[place.index(4)] = bad;
        let [grad_l, d, p, omega] = numbers;
        prop_assert!(Cell::new(grad_l, d, p, omega).is_err());
        let mut trajectory = Trajectory::new(Gains::default()).unwrap();
        let measurement = Measurement { elapsed_ms: bad, event: Event::Cancelled };
        prop_assert!(trajectory.advance(&measurement).is_err());
        prop_assert_eq!(trajectory.history().points().len(), 0);
    }

    #[test]
    fn gains_that_are_not_finite_are_refused(
        place in any::<Index>(),
        bad in select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
    ) {
        let mut gains = Gains::default();
        let Gains { alpha, beta, lambda, w1, w2, epsilon, delta, rho, theta, .. } = &mut gains;
        let places = [alpha, beta, lambda, w1, w2, epsilon, delta, rho, theta];
        *places[place.index(9)] = bad;
        prop_assert!(Trajectory::new(gains).is_err());
    }

    /// Every number of every decision is finite and in its range, and every task ends within its replans.
    #[test]
    fn every_task_ends_and_every_number_is_in_range(
        gains in gains(),
        rounds in vec(measurement(), 1..=12),
    ) {
        let limit = gains.max_replans + 1;
        let loss_max = gains.alpha + gains.beta + gains.lambda + TOLERANCE;
        let mut trajectory = Trajectory::new(gains).unwrap();
        let mut taken = 0;
        for measurement in rounds.iter().cycle() {
            let decision = trajectory.advance(measurement).unwrap();
            taken += 1;
            let Loss { d, p, omega, l } = decision.loss;
            prop_assert!([d, p, omega].iter().all(|ratio| (0.0..=1.0).contains(ratio)), "{:?}", decision.loss);
            prop_assert!((0.0..=loss_max).contains(&l), "{:?}", decision.loss);
            prop_assert!(decision.gradient.grad_l.abs() <= loss_max);
            prop_assert!(decision.gradient.grad_l_budget.is_finite());
            prop_assert!(decision.replans <= trajectory.gains().max_replans);
            if decision.ended_by().is_some() {
                break;
            }
        }
        prop_assert!(taken <= limit, "{taken} rounds, {limit} allowed");
        prop_assert!(trajectory.ended_by().is_some());
    }

    #[test]
    fn the_order_of_sub_tasks_does_not_change_the_loss(
        (ordered, shuffled) in vec(outcome(), 0..8).prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        merge in merge(),
        rounds in 0..6u32,
    ) {
        let gains = Gains::default();
        let of = |outcomes| Loss::of(&Event::Rejected { outcomes, merge: merge.clone() }, rounds, 1e4, &gains);
        // Compares bits, not approximations, because records are compared byte by byte.
        prop_assert_eq!(of(ordered), of(shuffled));
    }

    #[test]
    fn the_same_measurements_give_the_same_decisions(gains in gains(), rounds in vec(measurement(), 1..6)) {
        let run = || {
            let mut trajectory = Trajectory::new(gains.clone()).unwrap();
            rounds.iter().map(|round| trajectory.advance(round)).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(), run());
    }

    /// SPEC 6.1: ∇L is the budget's part plus the round's part.
    #[test]
    fn gradient_is_the_budgets_part_plus_the_rounds_part(gains in gains(), rounds in vec(measurement(), 2..6)) {
        let mut trajectory = Trajectory::new(gains.clone()).unwrap();
        for round in &rounds {
            let _ = trajectory.advance(round);
        }
        for pair in trajectory.history().points().windows(2) {
            let (before, after) = (&pair[0].loss, &pair[1].loss);
            let round_part = gains.alpha * (after.d - before.d) + loss::beta_eff(before.omega, &gains) * (after.p - before.p);
            prop_assert!((pair[1].gradient.net() - round_part).abs() < TOLERANCE);
        }
    }

    #[test]
    fn more_rounds_or_time_never_lower_the_pressure(
        gains in gains(),
        rounds in 0..200u32,
        elapsed_ms in 0.0..1e9f64,
        later_ms in 0.0..1e9f64,
    ) {
        let now = loss::omega(rounds, elapsed_ms, &gains);
        prop_assert!(loss::omega(rounds + 1, elapsed_ms, &gains) >= now);
        prop_assert!(loss::omega(rounds, elapsed_ms + later_ms, &gains) >= now);
    }

    #[test]
    fn one_more_pass_never_raises_the_distance(mut outcomes in vec(outcome(), 1..6)) {
        let gains = Gains::default();
        let distance = |outcomes: &[Outcome]| {
            Loss::of(&Event::Rejected { outcomes: outcomes.to_vec(), merge: Merge::NotReached }, 1, 0.0, &gains).d
        };
        let before = distance(&outcomes);
        let pass = Criterion { id: "more".into(), mode: Mode::Verifiable, verdict: Verdict::Pass, vacuous: false };
        outcomes.push(Outcome { criteria: vec![pass], ..Outcome::new(OutcomeStatus::Matched) });
        prop_assert!(distance(&outcomes) <= before);
    }
}

/// A point of the table; an offset puts a number on its threshold or close to it.
#[derive(Debug, Clone, Copy)]
struct TableCell {
    grad_l: f64,
    d: f64,
    p: f64,
    omega: f64,
    worsening_count: u32,
    rounds: u32,
    fatal: bool,
}

#[derive(Debug, Clone)]
struct DrawnCell {
    free: TableCell,
    beside: [Option<f64>; 4],
    falling: bool,
}

impl DrawnCell {
    fn near(&self, gains: &Gains) -> TableCell {
        let [grad_l, d, p, omega] = self.beside;
        let sign = if self.falling { -1.0 } else { 1.0 };
        TableCell {
            grad_l: grad_l.map_or(self.free.grad_l, |offset| sign * (gains.epsilon + offset)),
            d: d.map_or(self.free.d, |offset| gains.delta + offset),
            p: p.map_or(self.free.p, |offset| gains.rho + offset),
            omega: omega.map_or(self.free.omega, |offset| gains.theta + offset),
            ..self.free
        }
    }
}

fn table_cell() -> impl Strategy<Value = DrawnCell> {
    let free = (-2.0..2.0f64, 0.0..=1.0f64, 0.0..=1.0f64, 0.0..=1.0f64, 0..4u32, 0..8u32, any::<bool>());
    let offset = || option::weighted(0.3, select(vec![0.0, 1e-12, -1e-12, 1e-8, -1e-8, 1e-3, -1e-3]));
    let beside = [offset(), offset(), offset(), offset()];
    (free, beside, any::<bool>()).prop_map(|(free, beside, falling)| {
        let (grad_l, d, p, omega, worsening_count, rounds, fatal) = free;
        DrawnCell { free: TableCell { grad_l, d, p, omega, worsening_count, rounds, fatal }, beside, falling }
    })
}

/// Generates valid gains, the defaults among them, with the ends of their ranges.
fn gains() -> impl Strategy<Value = Gains> {
    let weight = || prop_oneof![Just(0.0), 0.0..=1.0f64, Just(10.0)];
    let weights = [weight(), weight(), weight(), weight(), weight()];
    let thresholds = (
        prop_oneof![Just(1e-6), 0.01..=1.0f64, Just(10.0)],
        prop_oneof![Just(0.0), 0.0..=0.999f64, Just(0.999)],
        prop_oneof![Just(0.0), 0.0..=1.0f64, Just(1.0)],
        prop_oneof![Just(0.01), 0.01..=1.0f64, Just(1.0)],
    );
    let counts = (prop_oneof![Just(1u64), 1_000..1_000_000u64], 1..=5u32, 1..=4u32);
    let choices = (
        select(vec![Law2Gradient::Full, Law2Gradient::Net]),
        select(vec![UrgencyMode::Words, UrgencyMode::Sets]),
    );
    let drawn = (weights, thresholds, counts, choices).prop_map(|(weights, thresholds, counts, choices)| {
        let [alpha, beta, lambda, w1, w2] = weights;
        let (epsilon, delta, rho, theta) = thresholds;
        let (time_budget_ms, max_replans, law2_rounds) = counts;
        let (law2_gradient, urgency) = choices;
        Gains {
            alpha,
            beta,
            lambda,
            w1,
            w2,
            epsilon,
            delta,
            rho,
            theta,
            time_budget_ms,
            max_replans,
            law2_rounds,
            law2_gradient,
            urgency,
            ..Gains::default()
        }
    });
    prop_oneof![1 => Just(Gains::default()), 4 => drawn]
}

/// Generates any event of a round, sometimes with a time large enough to overflow the computation of Ω.
fn measurement() -> impl Strategy<Value = Measurement> {
    let elapsed_ms = prop_oneof![8 => 0.0..1e6f64, 1 => Just(0.0), 1 => Just(f64::MAX)];
    let kind = select(vec![FaultKind::Fault, FaultKind::Budget, FaultKind::Deadline, FaultKind::Consent]);
    let event = prop_oneof![
        12 => (vec(outcome(), 0..4), merge()).prop_map(|(outcomes, merge)| Event::Rejected { outcomes, merge }),
        3 => any::<bool>().prop_map(|retryable| Event::Fault { kind: FaultKind::Fault, retryable }),
        1 => (kind, any::<bool>()).prop_map(|(kind, retryable)| Event::Fault { kind, retryable }),
        1 => vec(outcome(), 0..4).prop_map(|outcomes| Event::Accepted { outcomes, unproven: false }),
        1 => Just(Event::Cancelled),
    ];
    (elapsed_ms, event).prop_map(|(elapsed_ms, event)| Measurement { elapsed_ms, event })
}

fn merge() -> impl Strategy<Value = Merge> {
    prop_oneof![Just(Merge::NotReached), Just(Merge::Unjudged), criteria().prop_map(Merge::Rejected)]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let status = select(vec![OutcomeStatus::Matched, OutcomeStatus::Failed]);
    let gap_trajectory = vec(vec(select(vec!["c0", "c1", "c2"]).prop_map(str::to_owned), 0..4), 0..8);
    let flags = (any::<bool>(), any::<bool>());
    (status, criteria(), 0..3u32, gap_trajectory, vec(call(), 0..4), flags).prop_map(
        |(status, criteria, unjudged, gap_trajectory, calls, (carried, outage))| Outcome {
            status,
            criteria,
            unjudged,
            gap_trajectory,
            calls,
            carried,
            outage,
        },
    )
}

fn criteria() -> impl Strategy<Value = Vec<Criterion>> {
    let class = option::of(select(vec![FailureClass::Logical, FailureClass::Environmental]));
    let verdict = prop_oneof![Just(Verdict::Pass), class.prop_map(Verdict::Fail)];
    let drawn = (select(vec![Mode::Verifiable, Mode::Plausible]), verdict, any::<bool>());
    vec(drawn, 0..5).prop_map(|all| {
        let criterion =
            |(index, (mode, verdict, vacuous))| Criterion { id: format!("c{index}"), mode, verdict, vacuous };
        all.into_iter().enumerate().map(criterion).collect()
    })
}

fn call() -> impl Strategy<Value = Call> {
    let end = prop_oneof![4 => Just(CallEnd::Ok), 4 => Just(CallEnd::Failed), 1 => Just(CallEnd::Refused)];
    let tools = vec(select(vec!["shell/grep", "shell/sort", "fetch"]).prop_map(str::to_owned), 0..3);
    (tools, "[ab]", end).prop_map(|(tools, target, end)| Call { tools, target, end })
}
