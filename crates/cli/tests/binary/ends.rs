//! The end of a task whose consent was refused, as the person and the script see it.

use crate::support::Home;
use crate::support::task::{GOAL, Trial, pursue};

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
    let told = home.run(&["run", "--set", "memory.recall=false", GOAL]);
    assert_eq!(told.code, 5, "{told:#?}");
    let told = told.out;
    assert!(told.starts_with("stopped: it needs your approval, and you could not be asked\n"), "{told}");
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
