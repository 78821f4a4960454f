//! The shipped playbooks recognise their examples, and a broken playbook of the user does not affect the
//! others.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::Home;

/// The check reads every example as a goal, and its own playbook must match it best.
#[test]
fn the_shipped_playbooks_know_their_examples() {
    let came = Home::new().run(&["playbooks", "check", "--json"]);
    assert_eq!((came.code, came.signal, came.json()), (0, None, json!({ "problems": [] })));
    assert!(!came.err.contains("warning"), "{came:#?}");
}

#[test]
fn a_broken_playbook_is_reported_and_affects_no_other() {
    let home = Home::new();
    home.playbook("broken", "name = \"broken\"\ntitle = \"Broken\"\nnonsense = [1, 2\n");
    home.playbook("unknown-field", "name = \"unknown-field\"\nfarbe = 3\n");
    let came = home.run(&["playbooks", "check", "--json"]);
    assert_eq!(came.code, 2, "{came:#?}");
    let problems = came.json()["problems"].as_array().unwrap().clone();
    let told: BTreeSet<(String, bool)> = problems
        .iter()
        .map(|problem| {
            let file = problem["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            (file, problem["line"].as_u64().unwrap() > 0 && !problem["reason"].as_str().unwrap().is_empty())
        })
        .collect();
    assert_eq!(
        told,
        BTreeSet::from([("broken.toml".to_owned(), true), ("unknown-field.toml".to_owned(), true)])
    );
    let broken = problems.iter().find(|problem| problem["file"].as_str().unwrap().ends_with("broken.toml"));
    assert_eq!(broken.unwrap()["line"], json!(3), "{problems:#?}");

    let listed = home.run(&["playbooks", "list", "--json"]).json();
    assert_eq!(listed["problems"].as_array().unwrap().len(), problems.len());
    assert!(listed["playbooks"].as_array().unwrap().iter().any(|one| one["name"] == "largest-files"));
    home.file("a.txt", "abc");
    let (came, result) = home.pursue("sha256 of a.txt");
    assert_eq!((came.code, &result["ended_by"]), (0, &json!("criteria_met")));
}

#[test]
fn an_own_playbook_takes_the_place_of_a_shipped_one() {
    let home = Home::new();
    let shipped = home.run(&["playbooks", "show", "file-checksum"]).out;
    home.playbook("file-checksum", &shipped.replace("Checksum of a file", "My checksum"));
    let listed = home.run(&["playbooks", "list", "--json"]).json();
    let own =
        listed["playbooks"].as_array().unwrap().iter().find(|one| one["name"] == "file-checksum").unwrap();
    assert_eq!(own["title"], json!("My checksum"));
    assert_ne!(own["origin"], json!("built in"));
    home.file("a.txt", "abc");
    let (came, result) = home.pursue("sha256 of a.txt");
    assert_eq!((came.code, &result["output"]["file"]), (0, &json!("a.txt")), "{result:#}");
}
