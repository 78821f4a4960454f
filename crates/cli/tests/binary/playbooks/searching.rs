//! `find-text`: what stands where.

use serde_json::{Value, json};

use super::{
    accepted, array, given_up, goal, goal_without, lines, odd_home, path_without, plain_path, sorted,
};
use crate::support::{Home, shell};

pub(super) const PLAYBOOKS: &[&str] = &["find-text"];

fn matches(home: &Home, output: &Value) -> Vec<String> {
    let told: Vec<String> = array(&output["matches"])
        .iter()
        .map(|one| {
            format!("{}|{}|{}", plain_path(home, &one["path"]), one["line"], one["text"].as_str().unwrap())
        })
        .collect();
    assert_eq!(output["count"], json!(told.len()));
    sorted(told)
}

/// Every line of a visible text file that awk finds the text in.
fn found(home: &Home, text: &str) -> Vec<String> {
    let script = format!(
        "find 'odd dir' -name '.?*' -prune -o -type f ! -name '*.bin' -print0 \
         | xargs -0 awk '{{ l = $0 }} index({text}) {{ print FILENAME \"|\" FNR \"|\" l }}'"
    );
    lines(home, &script)
}

#[test]
fn without_ripgrep_another_program_is_asked() {
    let home = odd_home();
    let command = goal_without(&home, &["rg"], "find all occurrences of needle in 'odd dir'");
    let (output, directives) = accepted(&home, command);
    assert_eq!(directives, ["change_path"]);
    let found = found(&home, "$0, \"needle\"");
    assert_eq!((matches(&home, &output), found.len()), (found, 4));
}

#[test]
fn what_ripgrep_says_is_taken_when_it_is_there_and_right() {
    let home = odd_home();
    // A stand-in with the same output: the machine may not have it. A script in the person's own folders would ask.
    let person = tempfile::tempdir().unwrap();
    let programs = path_without(&home, &["rg"]);
    let rg = programs.join("rg");
    std::fs::write(
        &rg,
        "#!/bin/sh\nexec grep -r -n -H -F -I --exclude-dir='.[!.]*' --exclude='.[!.]*' -e needle 'odd dir'\n",
    )
    .unwrap();
    shell(&programs, "chmod +x rg");
    let mut command = goal(&home, "find all occurrences of needle in 'odd dir'");
    command.env("PATH", &programs).env("HOME", person.path());
    let (output, directives) = accepted(&home, command);
    assert_eq!(directives, [""; 0]);
    assert_eq!(matches(&home, &output), found(&home, "$0, \"needle\""));

    // One that leaves lines out is not believed.
    std::fs::write(&rg, "#!/bin/sh\ngrep -n -H -F -e needle 'odd dir/a b.txt'\n").unwrap();
    let mut command = goal(&home, "find all occurrences of needle in 'odd dir'");
    command.env("PATH", &programs).env("HOME", person.path());
    let (output, directives) = accepted(&home, command);
    assert_eq!(directives, ["break_symmetry"]);
    assert_eq!(matches(&home, &output), found(&home, "$0, \"needle\""));
}

#[test]
fn small_and_capital_letters_are_one_when_the_goal_says_so() {
    let home = odd_home();
    let command = goal_without(&home, &["rg"], "grep for nEEdle in 'odd dir', ignoring case");
    let (output, _) = accepted(&home, command);
    assert_eq!(matches(&home, &output), found(&home, "tolower($0), \"needle\""));
}

#[test]
fn a_name_like_a_line_number_is_not_taken_for_one() {
    let home = odd_home();
    shell(
        &home.work(),
        "printf 'x\\nneedle\\n' > 'odd dir/notes:12:30.txt'; printf 'needle\\n' > $'odd dir/n\\xe9e.txt'",
    );
    let command = goal_without(&home, &["rg"], "find all occurrences of needle in 'odd dir'");
    let (output, directives) = accepted(&home, command);
    assert!(directives.len() > 1, "{directives:?}");
    let told = matches(&home, &output);
    assert!(told.contains(&"odd dir/notes:12:30.txt|2|needle".to_owned()), "{told:?}");
    assert!(told.iter().any(|one| one.contains(r"n\xe9e.txt") && one.ends_with("|1|needle")), "{told:?}");
    assert_eq!(told.len(), 6);
}

#[test]
fn nothing_found_and_nothing_to_look_in_are_not_the_same() {
    let home = odd_home();
    for missing in [&["rg"][..], &[]] {
        let command = goal_without(&home, missing, "find all occurrences of 'no such text' in 'odd dir'");
        let (output, _) = accepted(&home, command);
        assert_eq!((&output["matches"], &output["count"]), (&json!([]), &json!(0)));
    }
    let result = given_up(goal(&home, "find all occurrences of needle in 'no dir'"), 4);
    assert_eq!(result["output"], Value::Null, "{result:#}");
}
