//! Every end of a task, as a person and a script see it.

use crate::support::Home;
use crate::support::task::{Ended, GOAL, Trial, pursue};

/// Returns what the same run prints for a person, without what memory learnt from the first one; the exit
/// code is the same.
fn told(home: &Home, options: &[&str], code: i32) -> String {
    let mut arguments = vec!["run", "--set", "memory.recall=false"];
    arguments.extend(options);
    arguments.push(GOAL);
    let came = home.run(&arguments);
    assert_eq!(came.code, code, "{came:#?}");
    came.out
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[test]
fn accept_says_accepted_and_names_no_gap() {
    let home = Home::new();
    Trial::new().reads("there.txt", "11").write(&home);
    let ended = pursue(&home, &[]);
    assert_eq!(ended.course(), "init→accept");
    assert_eq!(ended.result["loss"]["D"], 0.0);
    assert!(!ended.result["unproven"].as_bool().unwrap_or(false));
    let told = told(&home, &[], 0);
    assert_eq!(first_line(&told), "mark0: 1", "the answer comes first");
    assert!(told.contains("\naccepted: mark 0 of the answer is one  (and 1 more criterion)\n"), "{told}");
    assert!(!told.contains("not met") && !told.contains("accountable"), "{told}");
}

#[test]
fn success_is_accepted_with_the_gap_by_name() {
    let home = Home::new();
    Trial::new().reads("there.txt", "1011").write(&home);
    let ended = pursue(&home, &[]);
    assert_eq!(ended.course(), "init→success");
    assert_eq!(ended.unmet(), ["mark 1 of the answer is one"]);
    assert_eq!(ended.result["loss"]["D"], 0.25);
    let told = told(&home, &[], 3);
    assert!(
        told.contains("\naccepted with gaps: 1 of 4 criteria is not met; shown: mark 0 of the answer is one\n\n✗ mark 1 of the answer is one  "),
        "{told}"
    );
    assert!(told.contains("mark 1 of the answer is one  refuted: "), "{told}");
    assert!(!told.contains("success"), "{told}");
}

#[test]
fn omega_ends_when_rounds_are_used_up() {
    let home = Home::new();
    Trial::new().reads("gone-1.txt", "0").reads("gone-2.txt", "0").reads("gone-3.txt", "0").write(&home);
    let options = ["--max-replans", "1"];
    let ended = pursue(&home, &options);
    assert_eq!(
        (ended.course().as_str(), &ended.result["ended_by"]),
        ("init→change_path→abandon", &"omega".into())
    );
    assert_eq!(ended.accountable(), "planner");
    assert_eq!(ended.unmet(), ["mark 0 of the answer is one"]);
    assert!(!ended.next_moves().is_empty());
    let told = told(&home, &options, 4);
    assert!(first_line(&told).starts_with("given up: rounds and time are nearly used up"), "{told}");
}

/// 0.6·4/3 equals θ, although its binary value is slightly below: the fourth failure is the last.
#[test]
fn with_the_reference_settings_the_fourth_failure_is_the_last() {
    let home = Home::new();
    let mut trial = Trial::new();
    for n in 1..=5 {
        trial = trial.reads(&format!("gone-{n}.txt"), "0");
    }
    trial.write(&home);
    let ended = pursue(&home, &["--set", "controller.w2=0"]);
    assert_eq!(ended.course(), "init→change_path→change_path→change_path→abandon");
    assert_eq!(ended.result["ended_by"], "omega");
    assert_eq!(ended.payloads("DispatchManifest").len(), 4);
}

#[test]
fn the_round_limit_ends_a_task_before_omega() {
    let home = Home::new();
    Trial::new().reads("gone-1.txt", "0").reads("gone-2.txt", "0").reads("gone-3.txt", "0").write(&home);
    let options = ["--max-replans", "1", "--set", "controller.w1=0.1"];
    let ended = pursue(&home, &options);
    assert_eq!(
        (ended.course().as_str(), &ended.result["ended_by"]),
        ("init→change_path→abandon", &"rounds".into())
    );
    let told = told(&home, &options, 4);
    assert!(first_line(&told).starts_with("given up: no replans are left"), "{told}");
    assert!(told.contains("no replans are left") && told.contains("what to try next:\n- look at"), "{told}");
}

/// Half of the criteria fail, then all, then all for another reason.
#[test]
fn two_worsening_rounds_in_a_row_end_by_law_2() {
    let home = Home::new();
    Trial::new()
        .reads("gone-1.txt", "10")
        .reads("gone-2.txt", "00")
        .counts("there.txt", "00")
        .hashes("there.txt", "11")
        .write(&home);
    let ended = pursue(&home, &["--set", "controller.w2=0"]);
    assert_eq!(ended.course(), "init→change_path→refine→abandon");
    assert_eq!((&ended.result["ended_by"], ended.accountable()), (&"law2".into(), "goal_gradient_solver"));
    assert!(ended.result["grad_l"].as_f64().unwrap() >= 0.1);
    let told = told(&home, &["--set", "controller.w2=0"], 4);
    assert!(first_line(&told).starts_with("given up: it got worse round after round"), "{told}");
}

#[test]
fn a_goal_that_no_playbook_knows_ends_by_fault() {
    let home = Home::new();
    let ended = Ended::of(&home, home.pursue("compose a sonnet about the sea").0);
    assert_eq!((ended.course().as_str(), &ended.result["ended_by"]), ("init→abandon", &"fault".into()));
    assert_eq!(ended.accountable(), "planner");
    assert_eq!(ended.payloads("DispatchManifest").len(), 0);
    assert!(ended.summary().contains("no playbook matches this goal"), "{}", ended.summary());
}

/// All approaches of the model failed, and it has no further plan.
#[test]
fn a_model_without_a_further_plan_ends_by_fault() {
    let home = Home::new();
    Trial::new().reads("gone.txt", "10").write(&home);
    let ended = pursue(&home, &[]);
    assert_eq!(ended.course(), "init→change_path→abandon");
    assert_eq!((&ended.result["ended_by"], ended.accountable()), (&"fault".into(), "planner"));
    assert_eq!(ended.unmet(), ["mark 1 of the answer is one"]);
    let told = told(&home, &[], 4);
    assert!(first_line(&told).starts_with("given up: no further plan was found; 1 of "), "{told}");
}

/// Questions to the embedded brain are steps of this program, not calls.
#[test]
fn a_budget_of_calls_is_for_a_language_model() {
    let home = Home::new();
    Trial::new().reads("gone.txt", "0").counts("there.txt", "1").write(&home);
    let ended = pursue(&home, &["--max-calls", "1"]);
    assert_eq!(ended.course(), "init→change_path→accept");
    assert_eq!(ended.result["usage"]["calls"], 0, "{:#}", ended.result);
}

#[test]
fn a_budget_of_no_tokens_allows_no_call() {
    let home = Home::new();
    Trial::new().reads("there.txt", "1").write(&home);
    let ended = pursue(&home, &["--set", "budgets.tokens=0"]);
    assert_eq!((&ended.result["ended_by"], &ended.result["usage"]["calls"]), (&"budget".into(), &0.into()));
}

#[test]
fn refused_consent_ends_by_consent_and_changes_nothing() {
    let home = Home::new();
    Trial::new()
        .runs("rm", "rm there.txt", "1")
        .proof(
            "{ probe = { tool = \"file_facts\", input = { path = \"there.txt\" } } }",
            "{ file = { exists = false } }",
        )
        .write(&home);
    let ended = pursue(&home, &[]);
    assert_eq!((ended.course().as_str(), &ended.result["ended_by"]), ("init→abandon", &"consent".into()));
    assert_eq!(ended.accountable(), "user");
    assert!(ended.summary().contains("rm there.txt"), "{}", ended.summary());
    assert!(home.work().join("there.txt").exists());
    let told = told(&home, &[], 5);
    assert_eq!(first_line(&told), "stopped: it needs your approval, and nobody could be asked");
    assert!(told.contains("allow the action that was refused"), "{told}");
    // The printed lines are enough to allow it.
    let (_, lines) = told.split_once("`--approve FILE`:\n").unwrap_or_else(|| panic!("{told}"));
    let (lines, _) = lines.split_once("\n\n").unwrap();
    let allowing = home.file("allowing", lines);
    assert_eq!(pursue(&home, &["--approve", allowing.to_str().unwrap()]).course(), "init→accept");
    std::fs::write(home.work().join("there.txt"), "1").unwrap();
    // With consent, the same run is done and accepted.
    let consent = home.file("consent", "command rm there.txt\n");
    let ended = pursue(&home, &["--approve", consent.to_str().unwrap()]);
    assert_eq!(ended.course(), "init→accept");
    assert!(!home.work().join("there.txt").exists());
}

/// Every sub-task matches, but the whole does not hold: never an accept.
#[test]
fn a_whole_that_fails_is_never_accepted() {
    let home = Home::new();
    let trial = |home: &Home| {
        Trial::new()
            .reads("there.txt", "1")
            .counts("there.txt", "1")
            .whole("the answer names the amber way", "{ pointer = { at = \"/way\", is = \"exists\" } }")
            .whole(
                "the answer is the birch way",
                "{ pointer = { at = \"/way\", is = { equals = \"birch\" } } }",
            )
            .write(home);
    };
    trial(&home);
    // Half of the task's criteria fail: above δ this leads to a replan, and the second way is right.
    let ended = pursue(&home, &[]);
    assert_eq!(ended.course(), "init→break_symmetry→accept");
    let asked = ended.payloads("ReplanRequest");
    assert_eq!(asked.len(), 1);
    // The only sub-task matched, but its output does not hold.
    assert_eq!(asked[0]["failed_subtasks"][0], asked[0]["outcomes"][0]["subtask_id"]);
    assert_eq!(asked[0]["outcomes"][0]["status"], "matched");
    // At δ the result is close enough, and the gap is reported; memory would choose the way that was
    // accepted.
    let options = ["--set", "controller.delta=0.5", "--set", "memory.recall=false"];
    let ended = pursue(&home, &options);
    assert_eq!(ended.course(), "init→success");
    assert_eq!(ended.unmet(), ["the answer is the birch way"]);
    assert_eq!(ended.accountable(), "meta_validator");
    let told = told(&home, &options, 3);
    assert!(told.contains("the answer is the birch way  refuted: "), "{told}");
}
