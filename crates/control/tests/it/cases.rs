//! Hand-written cases that the vectors do not cover, each with the smallest input that shows it.

use crate::support::{accepted, criteria, failed, matched, rejected, show};
use expect_test::{Expect, expect};
use setpoint_control::loss::Tally;
use setpoint_control::measurement::{
    CALLS_MAX, CRITERIA_MAX, Criterion, Event, Merge, OUTCOMES_MAX, Outcome,
};
use setpoint_control::{
    AdvanceError, EndedBy, FaultKind, Gains, Law2Gradient, Lesson, Loss, MacroState, Measurement, Mode,
    OutcomeStatus, Subject, Trajectory, UrgencyMode, law,
};

#[test]
fn decision_explains_its_reason() {
    check(
        Gains::default(),
        &[rejected(20_000.0, &[failed("LL", &["shell/grep a"])])],
        &expect![[r#"
            init -> break_symmetry by grid, round 1, replans 1, plateau, urgency normal, logical
            blocked tool shell/grep
            break_symmetry: |∇L| < ε = 0.100 and P > ρ = 0.500 (L = 0.923 from D = 1.000, P = 1.000, Ω = 0.227; ∇L = +0.000, of which budget alone +0.000).
        "#]],
    );
}

// Endings before the table.

#[test]
fn refused_consent_ends_the_task_without_lessons() {
    check(
        Gains::default(),
        &[rejected(0.0, &[matched(".", &[]), failed("E", &["!shell a", "x shell b"])])],
        &expect![[r#"
            init -> abandon by consent, round 1, replans 0, plateau, urgency normal, environmental
            abandon: consent was refused for what the task needs (L = 0.380 from D = 0.500, P = 0.000, Ω = 0.200; ∇L = +0.000, of which budget alone +0.000).
        "#]],
    );
}

#[test]
fn refused_consent_in_a_matched_sub_task_ends_nothing() {
    let outcomes = [matched(".", &["x shell b"]), failed("E", &["!shell a"])];
    let decision = last(Gains::default(), &[rejected(0.0, &outcomes)]);
    assert_eq!(decision.directive(), MacroState::ChangePath);
}

#[test]
fn each_fault_kind_ends_as_itself_even_if_retryable() {
    for (kind, by) in [
        (FaultKind::Budget, EndedBy::Budget),
        (FaultKind::Deadline, EndedBy::Deadline),
        (FaultKind::Consent, EndedBy::Consent),
    ] {
        for retryable in [false, true] {
            // Ω is far above θ, but these rules come before the table.
            let decision = last(Gains::default(), &[fault(9e9, kind, retryable)]);
            assert_eq!((decision.ended_by(), decision.lessons), (Some(by), vec![]));
        }
    }
}

#[test]
fn cancel_is_not_a_round_and_keeps_the_last_measurement() {
    let rounds = [rejected(0.0, &[failed("E.", &["!shell a"])]), cancelled(150_000.0)];
    let decision = last(Gains::default(), &rounds);
    assert_eq!((decision.rounds, decision.replans), (1, 1));
    assert_eq!((decision.loss.d, decision.loss.omega), (0.5, 0.4));
    check(
        Gains::default(),
        &rounds,
        &expect![[r#"
            change_path -> abandon by cancelled, round 1, replans 1, plateau, urgency normal, environmental
            abandon: the user cancelled (L = 0.460 from D = 0.500, P = 0.000, Ω = 0.400; ∇L = +0.080, of which budget alone +0.080).
        "#]],
    );
}

#[test]
fn cancel_before_the_first_round_is_unmeasured() {
    let decision = last(Gains::default(), &[cancelled(0.0)]);
    assert_eq!((decision.rounds, decision.loss.d, decision.loss.p), (0, 1.0, 0.5));
    assert_eq!(decision.ended_by(), Some(EndedBy::Cancelled));
}

#[test]
fn accept_takes_precedence_over_a_spent_budget() {
    let decision = last(Gains::default(), &[accepted(9e9, &[matched(".", &[])])]);
    assert_eq!(decision.directive(), MacroState::Accept);
    assert_eq!(
        (decision.loss.d, decision.loss.p, decision.loss.omega, decision.loss.l),
        (0.0, 0.0, 1.0, 0.4)
    );
}

// Order of the table.

#[test]
fn retryable_fault_counts_as_an_unmeasured_round() {
    check(
        Gains::default(),
        &[fault(0.0, FaultKind::Fault, true)],
        &expect![[r#"
            init -> change_path by grid, round 1, replans 1, plateau, urgency normal, mixed
            change_path: |∇L| < ε = 0.100 and P ≤ ρ = 0.500 (L = 0.800 from D = 1.000, P = 0.500, Ω = 0.200; ∇L = +0.000, of which budget alone +0.000).
        "#]],
    );
}

#[test]
fn fatal_fault_ends_the_task_after_the_rules_above_it() {
    let fatal = |elapsed_ms| fault(elapsed_ms, FaultKind::Fault, false);
    assert_eq!(last(Gains::default(), &[fatal(0.0)]).ended_by(), Some(EndedBy::Fault));
    assert_eq!(last(Gains::default(), &[fatal(450_000.0)]).ended_by(), Some(EndedBy::Omega));
    let no_pressure = Gains { w1: 0.0, max_replans: 1, ..Gains::default() };
    let rounds = [fault(0.0, FaultKind::Fault, true), fatal(0.0)];
    assert_eq!(last(no_pressure, &rounds).ended_by(), Some(EndedBy::Rounds));
}

#[test]
fn more_rounds_than_replans_end_the_task_whatever_the_weights() {
    let no_pressure = Gains { w1: 0.0, w2: 0.0, ..Gains::default() };
    let round = rejected(0.0, &[failed("E", &["!shell a"])]);
    check(
        no_pressure,
        &[round.clone(), round.clone(), round.clone(), round],
        &expect![[r#"
            change_path -> abandon by rounds, round 4, replans 3, plateau, urgency normal, environmental
            lesson abandon for the intent
            abandon: round 4 is more than the 3 replans allowed (L = 0.600 from D = 1.000, P = 0.000, Ω = 0.000; ∇L = +0.000, of which budget alone +0.000).
        "#]],
    );
}

#[test]
fn the_fourth_failure_reaches_theta_without_any_time() {
    let round = rejected(0.0, &[failed("E", &["!shell a"])]);
    let decision = last(Gains::default(), &[round.clone(), round.clone(), round.clone(), round]);
    assert_eq!((decision.ended_by(), decision.rounds), (Some(EndedBy::Omega), 4));
}

// Law 2 and the budget's part of the gradient.

#[test]
fn rationale_reports_worsening_by_the_budget_alone() {
    check(
        Gains::default(),
        &[rejected(0.0, &[failed("E", &["!shell a"])]), rejected(60_000.0, &[failed("E", &["!shell b"])])],
        &expect![[r#"
            change_path -> refine by grid, round 2, replans 2, worsening, urgency high, environmental
            blocked target shell: a
            blocked target shell: b
            lesson refine for shell: b
            refine: |∇L| ≥ ε = 0.100 and P ≤ ρ = 0.500 (L = 0.792 from D = 1.000, P = 0.000, Ω = 0.480; ∇L = +0.112, of which budget alone +0.112). The budget part alone makes this round look like worsening: without it ∇L would be +0.000.
        "#]],
    );
}

#[test]
fn law2_gradient_net_does_not_count_the_budget() {
    let flat = [0.0, 40_000.0, 80_000.0].map(|at| rejected(at, &[failed("E", &["!shell a"])]));
    check(
        Gains::default(),
        &flat,
        &expect![[r#"
            refine -> abandon by law2, round 3, replans 2, worsening, urgency high, environmental
            lesson abandon for the intent
            abandon: 2 rounds in a row worsened by ε = 0.100 or more, the limit of Law 2 is 2 (L = 0.883 from D = 1.000, P = 0.000, Ω = 0.707; ∇L = +0.101, of which budget alone +0.101). The budget part alone makes this round look like worsening: without it ∇L would be +0.000.
        "#]],
    );
    let net = Gains { law2_gradient: Law2Gradient::Net, ..Gains::default() };
    let decision = last(net.clone(), &flat);
    assert_eq!((decision.directive(), decision.worsening_count), (MacroState::Refine, 0));

    let worse = ["E....", "EEE..", "EEEEE"].map(|verdicts| rejected(0.0, &[failed(verdicts, &[])]));
    let open = Gains { delta: 0.1, ..net };
    assert_eq!(last(open, &worse).ended_by(), Some(EndedBy::Law2), "real worsening still counts");
}

#[test]
fn law2_counts_as_many_rounds_as_it_is_set_to() {
    let once = Gains { law2_rounds: 1, ..Gains::default() };
    let rounds = [rejected(0.0, &[failed("EE...", &[])]), rejected(0.0, &[failed("EEEE.", &[])])];
    assert_eq!(last(once, &rounds).ended_by(), Some(EndedBy::Law2));
}

// Blocked sets.

#[test]
fn failed_target_is_of_a_failed_call_or_else_the_last() {
    let outcomes = [
        failed("E", &["shell a", "!shell b", "shell c", "!fetch d", "!shell b"]),
        failed("E", &["search e", "search f"]),
        failed("E", &[]),
        matched(".", &["!shell g"]),
    ];
    check(
        Gains::default(),
        &[rejected(0.0, &outcomes)],
        &expect![[r#"
            init -> change_path by grid, round 1, replans 1, plateau, urgency normal, environmental
            blocked target shell: b
            blocked target fetch: d
            blocked target search: f
            lesson change_path for shell: b
            lesson change_path for fetch: d
            lesson change_path for search: f
            change_path: |∇L| < ε = 0.100 and P ≤ ρ = 0.500 (L = 0.530 from D = 0.750, P = 0.000, Ω = 0.200; ∇L = +0.000, of which budget alone +0.000).
        "#]],
    );
}

#[test]
fn outage_blocks_no_call_that_succeeded() {
    let away = |calls| Outcome { outage: true, ..failed("?", calls) };
    let outcomes = [away(&["search a"]), away(&["shell b", "!fetch c", "glob d"]), away(&[])];
    let decision = last(Gains::default(), &[rejected(0.0, &outcomes)]);
    assert_eq!(decision.directive(), MacroState::ChangePath);
    assert_eq!(shown_targets(&decision), ["fetch: c"]);

    let round = [away(&["search a"]), away(&["shell b", "!fetch c", "glob d"]), failed("L", &["edit e"])];
    let decision = last(Gains::default(), &[rejected(0.0, &round)]);
    assert_eq!(decision.directive(), MacroState::BreakSymmetry);
    assert_eq!(decision.blocked_tools, ["edit", "fetch"]);
}

#[test]
fn each_program_of_a_pipeline_is_a_tool_of_its_own() {
    let round = |verdicts| rejected(0.0, &[failed(verdicts, &["!shell/sort+shell/grep grep x | sort"])]);
    check(
        Gains::default(),
        &[round("E")],
        &expect![[r#"
            init -> change_path by grid, round 1, replans 1, plateau, urgency normal, environmental
            blocked target shell/sort: grep x | sort
            blocked target shell/grep: grep x | sort
            lesson change_path for shell/sort: grep x | sort
            lesson change_path for shell/grep: grep x | sort
            change_path: |∇L| < ε = 0.100 and P ≤ ρ = 0.500 (L = 0.680 from D = 1.000, P = 0.000, Ω = 0.200; ∇L = +0.000, of which budget alone +0.000).
        "#]],
    );
    let decision = last(Gains::default(), &[round("L")]);
    assert_eq!(decision.blocked_tools, ["shell/grep", "shell/sort"]);
}

/// Targets that fail under a directive that blocks none are blocked later.
#[test]
fn targets_are_collected_in_every_round() {
    let rounds = [
        rejected(0.0, &[failed("L", &["!shell a"])]),
        rejected(0.0, &[failed("E", &["!shell b", "!shell a"])]),
    ];
    let decision = last(Gains::default(), &rounds);
    assert_eq!(decision.directive(), MacroState::Refine);
    assert_eq!(shown_targets(&decision), ["shell: a", "shell: b"]);
}

#[test]
fn urgency_changes_the_sets_only_in_sets_mode() {
    let sets = Gains { urgency: UrgencyMode::Sets, ..Gains::default() };
    let improving =
        [rejected(0.0, &[failed("EEEEE", &["!shell a"])]), rejected(0.0, &[failed("EE...", &["!shell b"])])];
    let words = last(Gains::default(), &improving);
    assert_eq!((words.directive(), words.urgency.name()), (MacroState::Refine, "low"));
    assert_eq!(shown_targets(&words), ["shell: a", "shell: b"]);
    assert_eq!(shown_targets(&last(sets.clone(), &improving)), ["shell: b"]);

    let worsening =
        [rejected(0.0, &[failed("LL...", &["!shell a"])]), rejected(0.0, &[failed("LLLLL", &["!fetch b"])])];
    let words = last(Gains::default(), &worsening);
    assert_eq!((words.directive(), words.urgency.name()), (MacroState::ChangeApproach, "high"));
    assert_eq!(words.blocked_tools, ["fetch"]);
    assert_eq!(last(sets, &worsening).blocked_tools, ["fetch", "shell"]);
}

/// Only the merge failed in this round, so the newest targets are those of the round before.
#[test]
fn narrowing_to_the_newest_targets_never_forgets_them_all() {
    let sets = Gains { urgency: UrgencyMode::Sets, ..Gains::default() };
    let event =
        Event::Rejected { outcomes: vec![matched("..", &[])], merge: Merge::Rejected(criteria("E.")) };
    let rounds = [
        rejected(0.0, &[failed("E", &["!shell a"])]),
        rejected(0.0, &[failed("E", &["!shell b"])]),
        Measurement { elapsed_ms: 0.0, event },
    ];
    let decision = last(sets, &rounds);
    assert_eq!((decision.directive(), decision.urgency.name()), (MacroState::Refine, "low"));
    assert_eq!(shown_targets(&decision), ["shell: b"]);
}

// Lessons.

#[test]
fn a_breakthrough_is_credited_to_what_won_the_round() {
    let carried = Outcome { carried: true, ..matched(".", &["glob old"]) };
    let winning = matched(".", &["glob new", "x shell rm", "glob new", "!fetch u"]);
    check(
        Gains::default(),
        &[
            rejected(0.0, &[failed("L", &["!shell a"]), matched(".", &["glob old"])]),
            accepted(0.0, &[carried, winning]),
        ],
        &expect![[r#"
            break_symmetry -> accept by criteria_met, round 1, replans 1, improving, urgency low, environmental
            lesson accept for the intent
            lesson break_symmetry for glob: new
            lesson break_symmetry for fetch: u
            accept: every criterion is met (L = 0.080 from D = 0.000, P = 0.000, Ω = 0.200; ∇L = -0.540, of which budget alone +0.000).
        "#]],
    );
}

#[test]
fn only_the_last_directive_makes_a_breakthrough() {
    let rounds = [
        rejected(0.0, &[failed("LLLLL", &["!shell a"])]),
        rejected(0.0, &[failed("LL...", &["!shell b"])]),
        accepted(0.0, &[matched(".", &["glob c"])]),
    ];
    let decision = last(Gains::default(), &rounds);
    assert_eq!(decision.prev_directive, MacroState::ChangeApproach);
    assert_eq!(decision.lessons, [Lesson { state: MacroState::Accept, subject: Subject::Intent }]);
}

#[test]
fn success_after_break_symmetry_is_a_breakthrough() {
    check(
        Gains::default(),
        &[
            rejected(0.0, &[failed("LLLL", &["!shell a"])]),
            rejected(0.0, &[failed("L", &["!shell b"]), matched("...", &["glob c"])]),
        ],
        &expect![[r#"
            break_symmetry -> success by distance, round 2, replans 1, improving, urgency low, logical
            lesson success for the intent
            lesson break_symmetry for glob: c
            success: D ≤ δ = 0.300, close enough (L = 0.490 from D = 0.250, P = 1.000, Ω = 0.400; ∇L = -0.430, of which budget alone +0.020).
        "#]],
    );
}

#[test]
fn ending_without_a_judged_outcome_has_no_lesson() {
    let down = fault(0.0, FaultKind::Fault, true);
    let never_judged = [down.clone(), down.clone(), down.clone(), down.clone()];
    let decision = last(Gains::default(), &never_judged);
    assert_eq!((decision.ended_by(), decision.lessons), (Some(EndedBy::Omega), vec![]));

    let once_judged = [rejected(0.0, &[failed("E", &[])]), down.clone(), down.clone(), down];
    let decision = last(Gains::default(), &once_judged);
    assert_eq!((decision.ended_by(), decision.lessons.len()), (Some(EndedBy::Omega), 1));
}

// Counting of criteria.

#[test]
fn vacuous_passes_are_left_out_and_vacuous_fails_are_not() {
    assert_eq!(counts(&[failed("L.vv", &[])]), (1.0, 2, 0.5));
    assert_eq!(counts(&[failed("LV", &[])]), (2.0, 2, 1.0));
}

#[test]
fn rejection_without_a_failed_criterion_is_not_done() {
    // A failed sub-task with only passes, or only vacuous ones.
    assert_eq!(counts(&[failed("..", &[])]), (1.0, 3, 1.0 / 3.0));
    assert_eq!(counts(&[failed("v", &[])]), (1.0, 1, 1.0));
    // A rejected merge with only passes, or no verdicts.
    for verdicts in ["", "..", "v"] {
        let merge = Merge::Rejected(criteria(verdicts));
        let event = Event::Rejected { outcomes: vec![matched(".", &[])], merge };
        let loss = Loss::of(&event, 1, 0.0, &Gains::default());
        assert_eq!((loss.d, loss.p), (1.0, 0.5), "{verdicts:?}");
    }
    // No outcome, or none with a counted criterion.
    assert_eq!((loss(&[]).d, loss(&[]).p), (1.0, 0.5));
    assert_eq!((loss(&[matched("vv", &[])]).d, loss(&[matched("vv", &[])]).p), (1.0, 0.5));
}

#[test]
fn failed_sub_task_takes_precedence_over_the_merge() {
    let outcomes = vec![failed("E...", &[])];
    for merge in [Merge::NotReached, Merge::Unjudged, Merge::Rejected(criteria("L"))] {
        let loss =
            Loss::of(&Event::Rejected { outcomes: outcomes.clone(), merge }, 1, 0.0, &Gains::default());
        assert_eq!((loss.d, loss.p), (0.25, 0.0));
    }
}

#[test]
fn criteria_without_a_verdict_count_like_their_sub_task() {
    let open = Outcome { unjudged: 3, ..Outcome::new(OutcomeStatus::Failed) };
    let closed = Outcome { unjudged: 2, ..Outcome::new(OutcomeStatus::Matched) };
    assert_eq!(counts(&[open, closed]), (3.0, 5, 0.6));
    let half_judged = Outcome { unjudged: 1, ..failed("L.", &[]) };
    assert_eq!(counts(&[half_judged]), (2.0, 3, 2.0 / 3.0));
    // A sub-task without any criterion counts as one.
    assert_eq!(
        counts(&[Outcome::new(OutcomeStatus::Failed), Outcome::new(OutcomeStatus::Matched)]),
        (1.0, 2, 0.5)
    );
}

#[test]
fn a_plausible_failure_weighs_the_share_of_attempts_that_failed() {
    let with_trajectory = |attempts: &[&[&str]]| {
        let gap_trajectory =
            attempts.iter().map(|ids| ids.iter().map(|&id| id.to_owned()).collect()).collect();
        let criteria: Vec<Criterion> = criteria("L")
            .into_iter()
            .map(|criterion| Criterion { mode: Mode::Plausible, ..criterion })
            .collect();
        loss(&[Outcome { criteria, gap_trajectory, ..Outcome::new(OutcomeStatus::Failed) }]).d
    };
    assert_eq!(with_trajectory(&[&["c1"], &[], &["c1"], &[]]), 0.5);
    assert_eq!(with_trajectory(&[&["c1", "c1"], &["c2"]]), 0.5, "named twice is failed once");
    assert_eq!(with_trajectory(&[&[], &[]]), 0.5, "a standing fail failed at least once");
    assert_eq!(with_trajectory(&[]), 1.0);
}

// Refusals.

#[test]
fn refused_measurement_leaves_the_task_unchanged() {
    let mut trajectory = Trajectory::new(Gains::default()).unwrap();
    let _ = trajectory.advance(&rejected(0.0, &[failed("E", &["!shell a"])])).unwrap();
    let twice = Outcome { criteria: [criteria("."), criteria("E")].concat(), ..failed("", &[]) };
    let round = |outcomes: Vec<Outcome>| rejected(0.0, &outcomes);
    let calls = vec!["shell a"; CALLS_MAX + 1];
    let unjudged = Outcome { unjudged: u32::MAX, ..Outcome::new(OutcomeStatus::Failed) };
    for (measurement, text) in [
        (rejected(f64::NAN, &[]), "use elapsed_ms = NaN: it must be a finite number"),
        (accepted(f64::INFINITY, &[]), "use elapsed_ms = inf: it must be a finite number"),
        (cancelled(f64::NEG_INFINITY), "use elapsed_ms = -inf: it must be a finite number"),
        (rejected(-1.0, &[]), "use elapsed_ms = -1: it must be 0 or more"),
        (round(vec![twice]), "use two verdicts for the criterion \"c1\" of one sub-task"),
        (round(vec![failed("", &[]); OUTCOMES_MAX + 1]), "use 1025 outcomes: at most 1024 are allowed"),
        (
            round(vec![failed(&".".repeat(CRITERIA_MAX + 1), &[])]),
            "use 16385 criteria: at most 16384 are allowed",
        ),
        (round(vec![unjudged]), "use 4294967295 criteria: at most 16384 are allowed"),
        (round(vec![failed("E", &calls)]), "use 65537 tool calls: at most 65536 are allowed"),
    ] {
        let error = trajectory.advance(&measurement).unwrap_err();
        let AdvanceError::Measurement { source, .. } = error else { panic!("{error}") };
        assert_eq!(source.to_string(), text);
    }
    let decision = trajectory.advance(&rejected(0.0, &[failed("E", &["!shell b"])])).unwrap();
    assert_eq!((decision.rounds, shown_targets(&decision)), (2, vec!["shell: a".into(), "shell: b".into()]));
}

#[test]
fn ended_task_refuses_further_measurements() {
    let mut trajectory = Trajectory::new(Gains::default()).unwrap();
    let _ = trajectory.advance(&cancelled(0.0)).unwrap();
    let error = trajectory.advance(&accepted(0.0, &[])).unwrap_err();
    assert_eq!(error.to_string(), "decide on a task that has ended already (cancelled)");
    assert_eq!(trajectory.ended_by(), Some(EndedBy::Cancelled));
}

#[test]
fn an_unknown_law_is_refused_with_the_known_ones() {
    assert_eq!(law::named("reference").unwrap().name(), "reference");
    let error = law::named("pid").unwrap_err();
    assert_eq!(error.to_string(), "find a control law named \"pid\": known are reference");
    assert!(Trajectory::new(Gains { law: "pid".into(), ..Gains::default() }).is_err());
}

fn check(gains: Gains, rounds: &[Measurement], expected: &Expect) {
    expected.assert_eq(&show(&last(gains, rounds)));
}

fn last(gains: Gains, rounds: &[Measurement]) -> setpoint_control::Decision {
    let mut trajectory = Trajectory::new(gains).unwrap();
    let decisions = rounds.iter().map(|round| trajectory.advance(round).unwrap());
    decisions.last().expect("a case has a round")
}

fn of_subtasks(outcomes: &[Outcome]) -> Event {
    Event::Rejected { outcomes: outcomes.to_vec(), merge: Merge::NotReached }
}

fn loss(outcomes: &[Outcome]) -> Loss {
    Loss::of(&of_subtasks(outcomes), 1, 0.0, &Gains::default())
}

fn counts(outcomes: &[Outcome]) -> (f64, u32, f64) {
    let tally = Tally::of(&of_subtasks(outcomes));
    (tally.weighted_failures(), tally.total(), loss(outcomes).d)
}

fn shown_targets(decision: &setpoint_control::Decision) -> Vec<String> {
    decision.blocked_targets.iter().map(ToString::to_string).collect()
}

fn fault(elapsed_ms: f64, kind: FaultKind, retryable: bool) -> Measurement {
    Measurement { elapsed_ms, event: Event::Fault { kind, retryable } }
}

fn cancelled(elapsed_ms: f64) -> Measurement {
    Measurement { elapsed_ms, event: Event::Cancelled }
}
