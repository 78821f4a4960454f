//! A user's directory of playbooks beside those of the program.

use std::fs;
use std::path::Path;

use expect_test::expect;
use setpoint_model::playbook::{Library, Origin};

use crate::support::catalogue;

fn own(name: &str, pattern: &str) -> String {
    format!(
        r#"
name = "{name}"
title = "Own"
description = "One of the user's own."
examples = ["{pattern} one", "{pattern} two"]
patterns = ["{pattern} {{what}}"]
task_criteria = ["seen"]

[params.what]
type = "path"
description = "what"

[criteria.seen]
text = "{{what}} was looked at"
on = {{ call = {{ tool = "list_dir" }} }}
expect = {{ pointer = {{ at = "/count", is = {{ at_least = 0 }} }} }}

[[approach]]
name = "list"
note = "lists it"

[[approach.step]]
intent = "List {{what}}"
criteria = ["seen"]
output = "{{result.1}}"
call = [{{ tool = "list_dir", input = {{ path = "{{what}}" }} }}]
"#
    )
}

#[test]
fn own_playbooks_stand_beside_the_others_and_over_those_of_the_same_name() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("peek.toml"), own("peek", "peek at")).unwrap();
    fs::write(dir.path().join("mine.toml"), own("largest-files", "largest file of")).unwrap();
    fs::write(dir.path().join("notes.txt"), "not a playbook").unwrap();
    fs::write(dir.path().join(".hidden.toml"), "not read").unwrap();
    let library = Library::load(Some(dir.path()));
    assert_eq!(library.broken().iter().map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
    assert_eq!(library.find("peek at ./x").unwrap().playbook, "peek");
    assert_eq!(library.find("largest file of x").unwrap().playbook, "largest-files");
    assert_eq!(
        library.find("find the three largest files under ./crates"),
        None,
        "the program's own is replaced"
    );
    let (summary, source) = library.show("largest-files").unwrap();
    assert!(matches!(summary.origin, Origin::File(_)));
    assert!(source.contains("largest file of"));
    assert_eq!(library.list().len(), Library::load(None).list().len() + 1);
    assert_eq!(library.check(Some("peek"), &catalogue()), []);
}

#[test]
fn of_equal_patterns_the_users_own_wins() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.toml"), own("zebra", "duplicate files in")).unwrap();
    let library = Library::load(Some(dir.path()));
    assert_eq!(library.find("duplicate files in x").unwrap().playbook, "zebra");
}

#[test]
fn a_broken_file_is_named_with_its_line_and_the_others_work() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.toml"), own("a", "peek at")).unwrap();
    fs::write(dir.path().join("b.toml"), own("b", "look at").replace("note = \"lists it\"\n", "")).unwrap();
    fs::write(dir.path().join("c.toml"), "name = ").unwrap();
    fs::write(dir.path().join("d.toml"), [0xff, 0xfe, b'x']).unwrap();
    fs::write(dir.path().join("e.toml"), "# ".to_owned() + &"x".repeat(300_000)).unwrap();
    fs::create_dir(dir.path().join("f.toml")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("nowhere"), dir.path().join("g.toml")).unwrap();
    let library = Library::load(Some(dir.path()));
    assert_eq!(library.find("peek at x").unwrap().playbook, "a");
    assert!(library.find("find duplicate files").is_some());
    expect![[r#"
        b.toml:18:1: failed to find `note`
        c.toml:1:8: failed to read the playbook as TOML: string values must be quoted, expected literal string
        d.toml: failed to read the playbook as UTF-8
        e.toml: failed to read the playbook: it has more than 262144 bytes
        f.toml: failed to read the playbook: it is a directory, and only regular files are used
        g.toml: failed to read the playbook: No such file or directory (os error 2)
    "#]]
    .assert_eq(&told(dir.path(), library.broken().iter().map(ToString::to_string)));
    assert_eq!(library.check(None, &catalogue()).len(), library.broken().len());
}

#[test]
fn a_directory_that_is_not_there_holds_no_playbooks() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Library::load(Some(&dir.path().join("none"))).broken().len(), 0);
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(Library::load(Some(&file)).broken().len(), 1, "a file is no directory");
}

#[test]
fn checking_says_what_the_catalogue_does_not_have_and_who_else_knows_an_example() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.toml");
    let text = own("x", "find duplicate files in")
        .replace("tool = \"list_dir\", input = { path = \"{what}\" }", "tool = \"list\", input = {}")
        .replace("on = { call = { tool = \"list_dir\" } }", "on = { probe = { tool = \"list_dir\", input = { folder = \"{what}\" } } }")
        .replace("patterns = [\"find duplicate files in {what}\"]", "patterns = [\"find duplicate files {what like one|two}\", \"find {what} files in one\", \"find {what} files in two\"]");
    fs::write(&file, text).unwrap();
    let problems = Library::load(None).check_file(&file, &catalogue());
    expect![[r#"
        x.toml:13:1: the tool list_dir takes no folder
        x.toml:13:1: the tool list_dir needs path
        x.toml:26:9: there is no tool list
        x.toml:5:13: the playbook duplicate-files knows this example better
        x.toml:5:44: the playbook duplicate-files knows this example better
    "#]]
    .assert_eq(&told(dir.path(), problems.iter().map(ToString::to_string)));
}

#[test]
fn too_many_files_are_reported_and_not_read() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..=setpoint_model::playbook::limits::PLAYBOOK_FILES_MAX {
        fs::write(dir.path().join(format!("{n:04}.toml")), "").unwrap();
    }
    let library = Library::load(Some(dir.path()));
    let last = library.broken().last().unwrap().to_string();
    assert!(last.contains("more than 256 playbooks"), "{last}");
}

fn told(dir: &Path, lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| line.replace(&format!("{}/", dir.display()), "") + "\n").collect()
}
