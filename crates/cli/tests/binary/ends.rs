//! Ends that a task can come to, as the person and the script see it.

use crate::support::Home;
use crate::support::task::{GOAL, Trial, pursue};

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

/// All that it knows failed: a model that has no further plan.
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
    assert_eq!(first_line(&told), "stopped: it needs your approval, and you could not be asked");
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
