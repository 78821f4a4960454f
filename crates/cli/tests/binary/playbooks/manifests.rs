//! Checksums: `file-checksum`, `manifest-create`, `manifest-verify`.

use serde_json::{Value, json};

use super::{accepted, at_once, given_up, goal, goal_approved, goal_without, number, odd_home, plain_path};
use crate::support::{Home, shell};

pub(super) const PLAYBOOKS: &[&str] = &["file-checksum", "manifest-create", "manifest-verify"];

/// SHA-256 of `abc`, from FIPS 180-4.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[test]
fn the_checksum_is_that_of_the_standard() {
    let home = Home::new();
    for (name, text) in [
        ("abc.txt", "sha256 of abc.txt"),
        ("with blank.txt", "what is the checksum of 'with blank.txt'?"),
        ("-dash.txt", "compute the sha256 hash of the file -dash.txt"),
        ("it's ü.txt", "sha256 of \"it's ü.txt\""),
        ("sub/.hidden", "hash sub/.hidden"),
    ] {
        home.file(name, "abc");
        assert_eq!(at_once(&home, text)["sha256"], json!(ABC), "{text}");
    }
    home.file("empty", "");
    let empty = shell(&home.work(), "cksum -a sha256 --untagged < /dev/null | cut -c 1-64");
    assert_eq!(at_once(&home, "sha256 of ./empty")["sha256"], json!(empty));
}

#[test]
fn a_rewritten_line_or_a_missing_program_turns_the_checksum() {
    let home = Home::new();
    home.file("back\\slash.txt", "abc");
    let (output, directives) = accepted(&home, goal(&home, "sha256 of 'back\\slash.txt'"));
    assert_eq!((&output["sha256"], directives), (&json!(ABC), vec!["break_symmetry".to_owned()]));

    home.file("abc.txt", "abc");
    let (output, directives) = accepted(&home, goal_without(&home, &["sha256sum"], "sha256 of abc.txt"));
    assert_eq!((&output["sha256"], directives), (&json!(ABC), vec!["change_path".to_owned()]));
}

#[test]
fn what_is_no_file_has_no_checksum() {
    let home = odd_home();
    for text in ["sha256 of ./none-such.txt", "sha256 of './odd dir'", "sha256 of './odd dir/bad'"] {
        given_up(goal(&home, text), 4);
    }
}

const CREATE: &str = "create a checksum manifest of 'odd dir' in sums.sha256";

#[test]
fn a_manifest_is_written_and_sha256sum_finds_it_right() {
    let home = odd_home();
    shell(&home.work(), r"printf x > $'odd dir/two\nlines'; printf y > 'odd dir/back\slash'");
    check_manifest(&home, &at_once(&home, CREATE));
}

fn check_manifest(home: &Home, output: &Value) {
    assert_eq!(plain_path(home, &output["manifest"]), "sums.sha256");
    assert_eq!(output["entries"], json!(number(home, "find 'odd dir' -type f -printf x | wc -c")));
    shell(&home.work(), "cd 'odd dir' && sha256sum --strict --quiet -c ../sums.sha256");
    assert_eq!(output["entries"], json!(number(home, "wc -l < sums.sha256")));
}

#[test]
fn a_manifest_that_is_there_stays_without_consent() {
    let home = odd_home();
    home.file("sums.sha256", "mine\n");
    for command in [goal(&home, CREATE), goal_approved(&home, CREATE, "path /elsewhere\n")] {
        assert_eq!(given_up(command, 5)["ended_by"], json!("consent"));
        assert_eq!(shell(&home.work(), "cat sums.sha256"), "mine");
    }
    let rule = format!("path {}\n", home.work().join("sums.sha256").display());
    let (output, directives) = accepted(&home, goal_approved(&home, CREATE, &rule));
    assert_eq!(directives, [""; 0]);
    check_manifest(&home, &output);
    given_up(goal(&home, "create a checksum manifest of 'no dir' in no.sha256"), 4);
    assert_eq!(shell(&home.work(), "ls"), "odd dir\nsums.sha256");
}

const VERIFY: &str = "verify sums.sha256 against 'odd dir'";

#[test]
fn a_manifest_holds_or_says_what_does_not() {
    let home = odd_home();
    shell(&home.work(), "cd 'odd dir'; find . -type f -exec sha256sum {} + > ../sums.sha256");
    let output = at_once(&home, VERIFY);
    assert_eq!((&output["changed"], &output["missing"]), (&json!(0), &json!(0)));

    shell(&home.work(), "cd 'odd dir'; rm ./-dash.rs none.txt; echo more >> 'a b.txt'; echo extra > extra");
    let output = at_once(&home, VERIFY);
    assert_eq!((&output["changed"], &output["missing"]), (&json!(1), &json!(2)));
    let problems = output["problems"].to_string();
    for name in ["a b.txt", "-dash.rs", "none.txt"] {
        assert!(problems.contains(name), "{name}: {problems}");
    }
    assert!(!problems.contains("extra") && !problems.contains("numbers.txt"), "{problems}");
}

#[test]
fn windows_line_ends_and_a_missing_program_do_not_matter() {
    let home = odd_home();
    shell(&home.work(), "cd 'odd dir'; find . -type f -exec sha256sum {} + > ../sums.sha256; rm none.txt");
    let (output, directives) = accepted(&home, goal_without(&home, &["sha256sum"], VERIFY));
    assert_eq!((&output["changed"], &output["missing"]), (&json!(0), &json!(1)));
    assert!(!directives.is_empty());
    shell(&home.work(), r"sed -i 's/$/\r/' sums.sha256");
    let (output, _) = accepted(&home, goal(&home, VERIFY));
    assert_eq!((&output["changed"], &output["missing"]), (&json!(0), &json!(1)));
}

#[test]
fn what_is_no_manifest_verifies_nothing() {
    let home = odd_home();
    given_up(goal(&home, VERIFY), 4);
    for content in ["", "this is no manifest\n", "\u{0}\u{1}\n"] {
        home.file("sums.sha256", content);
        let result = given_up(goal(&home, VERIFY), 4);
        assert!(result["summary"].as_str().unwrap().contains("Not met"), "{result:#}");
    }
}
