//! Whether claims and decisions follow from the measurements.

use expect_test::expect;

use crate::support::Script;
use crate::{check, silent};

/// Returns a script with one more directive: `n` rounds that R4b rejects with these distances, each with a plan of
/// one sub-task.
fn rounds(ds: &[f64], directive: &str) -> Script {
    let mut script = Script::healthy().cut_behind("recalled");
    let mut last = "recalled".to_owned();
    let mut previous: Option<f64> = None;
    // P and Ω are chosen so that the table gives the directive.
    let p = if directive == "break_symmetry" { 0.9 } else { 0.1 };
    for (n, d) in (1..).zip(ds) {
        let add = |script: Script, last: &mut String, label: &str, line: String| {
            let own = format!("{label}{n}");
            let script = script.behind(last, &own, &line);
            *last = own;
            script
        };
        let omega = 0.02 * f64::from(n);
        let l = 0.6 * d + 0.3 * (1.0 - omega) * p + 0.4 * omega;
        let grad_l = previous.map_or(0.0, |previous| l - previous);
        previous = Some(l);
        script = add(
            script,
            &mut last,
            "m",
            format!(
                r##"planner meta_validator DispatchManifest - {{"round":{n},"subtasks":[{{"subtask_id":"#{n}"}}]}}"##
            ),
        );
        script = add(
            script,
            &mut last,
            "g",
            format!(r##"planner agent_validator.{n}+executor.{n} SubTask - {{"subtask_id":"#{n}"}}"##),
        );
        script = add(
            script,
            &mut last,
            "o",
            format!(
                r##"agent_validator.{n} meta_validator SubTaskOutcome - {{"subtask_id":"#{n}","status":"failed"}}"##
            ),
        );
        script = add(
            script,
            &mut last,
            "r",
            format!(
                r##"meta_validator goal_gradient_solver ReplanRequest - {{"outcomes":[{{"subtask_id":"#{n}","status":"failed"}}]}}"##
            ),
        );
        script = add(
            script,
            &mut last,
            "d",
            format!(
                r#"goal_gradient_solver planner PlanDirective - {{"loss":{{"D":{d},"P":{p},"Omega":{omega},"L":{l}}},"directive":"{directive}","grad_l":{grad_l}}}"#
            ),
        );
    }
    script.with("opened", r#""controller":{}"#, r#""controller":{"max_replans":9}"#)
}

#[test]
fn replans_without_progress_are_found() {
    silent(&rounds(&[0.9, 0.9], "change_path"));
    silent(&rounds(&[0.9, 0.9, 0.85, 0.85], "change_path"));
    check(
        &rounds(&[0.9, 0.9, 0.9, 0.9], "change_path"),
        &expect![[r#"
        convergence_failure R7 #12 #17 #22: 2 replans in a row without D falling: 0.900, 0.900, 0.900
    "#]],
    );
    silent(&rounds(&[0.9, 0.85], "break_symmetry"));
    check(
        &rounds(&[0.9, 0.9], "break_symmetry"),
        &expect![[r#"
        ggs_thrashing R7 #12 #17: break_symmetry twice in a row, and D went from 0.900 to 0.900
    "#]],
    );
}

#[test]
fn a_decision_against_its_own_numbers_is_found() {
    check(
        &Script::healthy().with("directive", r#""L":0.5"#, r#""L":0.6"#),
        &expect![[r#"
        decision_mismatch R7 #33: L is 0.600000, and D 0.500, P 0.500 and Ω 0.200 give 0.500000
    "#]],
    );
    check(
        &Script::healthy().with("directive", r#""grad_l":0.0"#, r#""grad_l":0.05"#),
        &expect![[r#"
        decision_mismatch R7 #33: ∇L is 0.050000, and L changed by 0.000000
    "#]],
    );
    check(
        &Script::healthy().with("directive", "change_path", "refine"),
        &expect![[r#"
        decision_mismatch R7 #33: the law says change_path and it says refine
    "#]],
    );
    check(
        &Script::healthy().with("end", r#""replans":1"#, r#""replans":2"#),
        &expect![[r#"
        decision_mismatch R7 #45: it counts 2 replans, and there were 1
    "#]],
    );
    check(
        &Script::healthy().with("end", r#""L":0.08"#, r#""L":0.09"#),
        &expect![[r#"
        decision_mismatch R7 #45: L is 0.090000, and D 0.000, P 0.000 and Ω 0.200 give 0.080000
    "#]],
    );
    // A δ of 0.5 would have ended it.
    check(
        &Script::healthy().with("opened", r#""controller":{}"#, r#""controller":{"delta":0.5}"#),
        &expect![[r#"
            decision_mismatch R7 #33: the law says distance and it says change_path
        "#]],
    );
    let gaps = |omega: &str, ended_by: &str| {
        Script::healthy()
            .cut_behind("megram")
            .behind("megram", "end", &format!(r#"goal_gradient_solver user FinalResult - {{"loss":{{"D":0.3,"P":0.5,"Omega":{omega}}},"grad_l":0.0,"replans":0,"directive":"success","ended_by":"{ended_by}","unmet_criteria":["c"]}}"#))
    };
    silent(&gaps(r#"0.2,"L":0.38"#, "distance"));
    check(
        &gaps(r#"0.9,"L":0.555"#, "distance"),
        &expect![[r#"
        decision_mismatch R7 #33: the law says omega and it ends by distance
    "#]],
    );
}

#[test]
fn a_task_under_an_unknown_law_is_not_judged() {
    let other = Script::healthy().with("opened", r#""controller":{}"#, r#""controller":{"law":"other"}"#);
    silent(&other);
    silent(&other.with("directive", "change_path", "refine"));
}

#[test]
fn claims_without_evidence_are_found() {
    let fail =
        |label: &'static str| Script::healthy().with(label, r#""verdict":"pass""#, r#""verdict":"fail""#);
    check(
        &fail("end"),
        &expect![[r#"
        false_claim R7 #45: the end is accept, and criterion t.c1 failed
    "#]],
    );
    check(
        &fail("summary"),
        &expect![[r#"
        false_claim R4b #44: the round is accepted, and the task's criterion t.c1 failed
    "#]],
    );
    check(
        &fail("outcome-3"),
        &expect![[r#"
        false_claim R4a #41: matched, and criterion s3.c1 failed
    "#]],
    );
    check(
        &Script::healthy().with("end", r#""unmet_criteria":[]"#, r#""unmet_criteria":["c"]"#),
        &expect![[r#"
            false_claim R7 #45: the end is accept, and it names criteria that were not met
        "#]],
    );
    check(
        &Script::healthy().with("summary", r#""criterion_id":"t.c1""#, r#""criterion_id":"t.c2""#),
        &expect![[r#"
            false_claim R4b #44: the round is accepted, and the task's criterion t.c1 has no verdict
        "#]],
    );
    check(
        &Script::healthy().with(
            "outcome-1",
            r#""success_criteria":[{"id":"s1.c1"}]"#,
            r#""success_criteria":[{"id":"s1.c1"},{"id":"s1.c2"}]"#,
        ),
        &expect![[r#"
            false_claim R4a #27: matched, and criterion s1.c2 has no verdict
        "#]],
    );
    // It cites a call that does not exist, one that failed, and one that is shown as a success but failed.
    check(
        &Script::healthy().with("outcome-1", r#""cites":["r3.1/2"]"#, r#""cites":["r3.1/9"]"#),
        &expect![[r#"
            false_claim R4a #27: criterion s1.c1 passes on r3.1/9, which is no call of the sub-task
        "#]],
    );
    check(
        &Script::healthy().with("outcome-1", r#""ok":true"#, r#""ok":false"#),
        &expect![[r#"
        false_claim R4a #27: criterion s1.c1 passes on r3.1/2, which failed
    "#]],
    );
    check(
        &Script::healthy().with("tool", r#""ok":true"#, r#""ok":false"#),
        &expect![[r#"
        false_claim R3 #27: r3.1/2 is shown as a success, and it failed
    "#]],
    );
    // A red exit code is a result, which a judge may cite: `grep` finds nothing.
    silent(&Script::healthy().with("outcome-1", r#""ok":true"#, r#""ok":false,"error_kind":"exit""#));
    // A check that expects a failure may cite a failed call.
    silent(&Script::healthy().with("outcome-1", r#""ok":true"#, r#""ok":false"#).with(
        "outcome-1",
        r#""judged_by":"model""#,
        r#""judged_by":"check""#,
    ));
    check(
        &Script::healthy().with(
            "end",
            r#""D":0.0,"P":0.0,"Omega":0.2,"L":0.08"#,
            r#""D":0.1,"P":0.0,"Omega":0.2,"L":0.14"#,
        ),
        &expect![[r#"
            false_claim R7 #45: the end is accept, and its own numbers say otherwise (D 0.100, criteria_met)
        "#]],
    );
    // The last round was rejected.
    check(
        &Script::healthy().with("summary", "OutcomeSummary", "ReplanRequest"),
        &expect![[r#"
        false_claim R7 #45: the end is accept, and R4b accepted nothing
    "#]],
    );
    check(
        &Script::healthy()
            .with("end", r#""accept","ended_by":"criteria_met""#, r#""success","ended_by":"cancelled""#)
            .with("end", "pass", "fail"),
        &expect![[r#"
            false_claim R7 #45: the end is success, and it does not name the criterion that failed
        "#]],
    );
}

#[test]
fn a_pass_on_self_made_evidence_is_noted() {
    check(
        &Script::healthy().with("end", r#""judged_by":"check""#, r#""judged_by":"check","self_made":true"#),
        &expect![[r#"
            self_made_evidence R3 #45: passes that rest on what the work made or changed itself: t.c1
        "#]],
    );
}

#[test]
fn changed_criteria_are_found() {
    let second = |old: &str, new: &str| Script::healthy().with("manifest-2", old, new);
    check(
        &second("counted", "counted well"),
        &expect![[r#"
        criteria_changed R2 #36: criterion t.c1 of the task says something else now
    "#]],
    );
    check(
        &second("verifiable", "plausible"),
        &expect![[r#"
        criteria_changed R2 #36: criterion t.c1 of the task was weakened from verifiable to plausible
    "#]],
    );
    check(
        &second(r#","check":{"on":"output","expect":{"contains":"3"}}"#, ""),
        &expect![[r#"
        criteria_changed R2 #36: criterion t.c1 of the task lost its check
    "#]],
    );
    check(
        &second(r#"{"contains":"3"}"#, r#"{"contains":"4"}"#),
        &expect![[r#"
        criteria_changed R2 #36: criterion t.c1 of the task has another check
    "#]],
    );
    check(
        &second("t.c1", "t.c2"),
        &expect![[r#"
        criteria_changed R2 #36: criterion t.c1 of the task was dropped
        false_claim R4b #44: the round is accepted, and the task's criterion t.c2 has no verdict
    "#]],
    );
    // A check that could not be evaluated may be replaced openly.
    check(
        &second(
            r#"{"contains":"3"}}}]"#,
            r#"{"contains":"4"}}}],"withdrawn":[{"criterion_id":"t.c1","criterion":"c","why":"w","seen":[],"check_replaced":true}]"#,
        ),
        &expect![[r#"
        criterion_withdrawn R2 #36: criterion t.c1 of the task has another check, in the open
    "#]],
    );
    // The planner's own criterion may be withdrawn openly; the person's may not.
    let withdrawn = |origin: &str| {
        let without = r#""task_criteria":[],"withdrawn":[{"criterion_id":"t.c1","criterion":"c","why":"w","seen":[]}],"was":["#;
        let mut script = second(r#""task_criteria":["#, without);
        if !origin.is_empty() {
            let first = format!(r#""mode":"verifiable","origin":"{origin}""#);
            script = script.with("manifest", r#""mode":"verifiable""#, &first);
        }
        script.with("summary", r#""task_criteria_verdicts":["#, r#""task_criteria_verdicts":[],"was":["#)
    };
    check(
        &withdrawn(""),
        &expect![[r#"
        criterion_withdrawn R2 #36: criterion t.c1 of the task was withdrawn
    "#]],
    );
    check(
        &withdrawn("person"),
        &expect![[r#"
        criteria_changed R2 #36: criterion t.c1 of the task was dropped
    "#]],
    );
    let more = second(
        r#""task_criteria":["#,
        r#""task_criteria":[{"id":"t.c9","criterion":"more","mode":"verifiable"},"#,
    );
    let judged = r#"[{"criterion_id":"t.c9","verdict":"pass","cites":["output"],"judged_by":"check"},"#;
    silent(&more.with(
        "summary",
        r#""task_criteria_verdicts":["#,
        &format!(r#""task_criteria_verdicts":{judged}"#),
    ));
}
