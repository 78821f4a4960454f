//! `rename-files`: shown first, done with consent.

use serde_json::json;

use super::{accepted, array, at_once, given_up, goal, goal_approved, lines, plain_path, sorted};
use crate::support::{Home, shell};

pub(super) const PLAYBOOKS: &[&str] = &["rename-files"];

fn home() -> Home {
    let home = Home::new();
    let script = r#"
        mkdir -p 'my photos/sub.jpeg' 'my photos/deep'; cd 'my photos'
        for name in 'a b.jpeg' -dash.jpeg ünï.jpeg "it's.jpeg" .hidden.jpeg; do echo "$name" > "./$name"; done
        : > empty.jpeg; echo png > other.png; echo inner > deep/inner.jpeg; ln -s empty.jpeg link.jpeg
        printf latin > $'caf\xe9.jpeg'
    "#;
    shell(&home.work(), script);
    home
}

/// Every entry with its content's sum, so that nothing can be lost or mixed up unseen.
fn state(home: &Home) -> Vec<String> {
    lines(
        home,
        "find 'my photos' -printf '%y %i %p %l\\n' | cat -v; find 'my photos' -type f -exec md5sum {} + | cat -v",
    )
}

#[test]
fn a_preview_names_what_would_change_and_changes_nothing() {
    let home = home();
    let before = state(&home);
    let output = at_once(&home, "preview renaming .jpeg to .jpg in 'my photos'");
    assert_eq!((&output["applied"], state(&home)), (&json!(false), before));
    let told = sorted(
        array(&output["renames"])
            .iter()
            .map(|one| format!("{} -> {}", plain_path(&home, &one["from"]), plain_path(&home, &one["to"])))
            .collect(),
    );
    let named = |name: &str| told.contains(&format!("my photos/{name}.jpeg -> my photos/{name}.jpg"));
    for name in ["a b", "-dash", "ünï", "it's", "empty"] {
        assert!(named(name), "{name}: {told:#?}");
    }
    assert_eq!(output["count"], json!(told.len()));
    assert!(!told.iter().any(|one| one.contains("png") || one.contains("inner")), "{told:#?}");
    assert!(output["conflicts"].to_string().contains("not UTF-8"), "{output:#}");

    let output = at_once(&home, "preview renaming .gif to .jpg in 'my photos'");
    assert_eq!((&output["renames"], &output["count"]), (&json!([]), &json!(0)));
    given_up(goal(&home, "preview renaming .jpeg to .jpg in 'no photos'"), 4);
}

const REALLY: &str = "really rename .png to .webp in the names of the files in 'my photos'";

#[test]
fn renaming_waits_for_consent() {
    let home = home();
    let before = state(&home);
    let elsewhere = format!("path {}\n", home.work().join("other").display());
    for command in [goal(&home, REALLY), goal_approved(&home, REALLY, &elsewhere)] {
        let result = given_up(command, 5);
        assert_eq!((&result["ended_by"], state(&home)), (&json!("consent"), before.clone()));
    }
}

#[test]
fn with_consent_the_files_have_their_new_names_and_old_contents() {
    let home = home();
    shell(&home.work(), r"rm 'my photos'/caf*");
    let before = lines(&home, "find 'my photos' -type f -exec md5sum {} + | cut -c 1-32");
    let rule = format!("path {}\n", home.work().join("my photos").display());
    let text = "rename all .jpeg files to .jpg in 'my photos' and apply it";
    let shown = at_once(&home, "preview renaming .jpeg to .jpg in 'my photos'");
    let (output, _) = accepted(&home, goal_approved(&home, text, &rule));
    assert_eq!((&output["applied"], &output["count"]), (&json!(true), &shown["count"]));
    for one in array(&shown["renames"]) {
        let path = |end: &str| home.work().join(plain_path(&home, &one[end]));
        assert!(path("from").symlink_metadata().is_err() && path("to").symlink_metadata().is_ok(), "{one}");
    }
    assert_eq!(
        shell(&home.work(), "cat './my photos/a b.jpg' './my photos/-dash.jpg'"),
        "a b.jpeg\n-dash.jpeg"
    );
    assert_eq!(lines(&home, "find 'my photos' -type f -exec md5sum {} + | cut -c 1-32"), before);
    assert_eq!(shell(&home.work(), "cat 'my photos/other.png' 'my photos/deep/inner.jpeg'"), "png\ninner");
}

#[test]
fn two_files_never_become_one() {
    let home = Home::new();
    shell(&home.work(), "mkdir d; echo 1 > d/a1; echo 2 > d/a2; echo 3 > d/b2; echo 4 > d/c1");
    let output = at_once(&home, "preview renaming a to b in the names of the files in d");
    assert!(!array(&output["conflicts"]).is_empty(), "{output:#}");
    let rule = format!("path {}\n", home.work().join("d").display());
    let (code, result) =
        super::pursue(goal_approved(&home, "really rename a to b in the file names in d", &rule));
    assert_eq!(shell(&home.work(), "cat d/* | sort | tr -d '\\n'"), "1234");
    assert_eq!(shell(&home.work(), "cat d/b2"), "3");
    // What could not be renamed is told, or nothing was done at all.
    assert!(code != 0 || result["output"]["conflicts"].to_string().contains("a2"), "{result:#}");
}
