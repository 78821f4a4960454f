//! `tasks diff` and `tasks undo`: what a task changed, and the way back.

use std::fs;

use serde_json::json;

use crate::support::Home;

#[test]
fn a_rename_is_shown_and_undone_except_where_a_person_went_on() {
    let home = Home::new();
    for name in ["a.txt", "b.txt"] {
        home.file(name, "text\n");
    }
    let ran = home.run(&["run", "rename .txt to .md in ."]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.err.contains("changed 2 paths: a.md, b.md (`setpoint tasks diff "), "{ran:#?}");
    let there = |name: &str| home.work().join(name).exists();
    assert!(there("a.md") && there("b.md") && !there("a.txt"));

    let shown = home.run(&["tasks", "diff", "rename"]);
    assert!(shown.out.contains("renamed ") && shown.out.contains("a.txt)"), "{shown:#?}");
    let asked = home.run(&["tasks", "undo", "rename"]);
    assert_eq!((asked.code, asked.err.contains("--dry-run")), (2, true), "{asked:#?}");
    let tried = home.run(&["tasks", "undo", "rename", "--dry-run"]);
    assert_eq!((tried.code, tried.out.matches("rename ").count()), (0, 2), "{tried:#?}");
    assert!(there("a.md") && there("b.md"));

    fs::write(home.work().join("b.md"), "a person's\n").unwrap();
    let undone = home.run(&["tasks", "undo", "rename", "--yes"]);
    assert_eq!(undone.code, 3, "{undone:#?}");
    assert!(undone.out.starts_with("put 1 path back\nleft") && undone.out.contains("b.md"), "{undone:#?}");
    assert!(there("a.txt") && there("b.md") && !there("b.txt"));

    let again = home.run(&["tasks", "undo", "rename", "--yes", "--to", "1.1"]);
    assert_eq!(again.code, 0, "{again:#?}");
    assert!(again.out.starts_with("nothing to undo"), "{again:#?}");
    let unasked = home.run(&["tasks", "undo", "rename", "--to", "1.1"]);
    assert_eq!((unasked.code, &unasked.out), (0, &again.out), "{unasked:#?}");
    let pruned = home.run(&["tasks", "prune", "--older-than", "0d", "--yes"]);
    assert_eq!(pruned.code, 0, "{pruned:#?}");
    assert_eq!(fs::read_dir(home.data().join("undo")).unwrap().count(), 0);
}

#[test]
fn at_level_l0_every_change_asks() {
    let home = Home::new();
    home.file("a.txt", "text\n");
    fs::write(home.config().join("setpoint.toml"), "[run]\nlevel = \"L0\"\n").unwrap();
    let ran = home.run(&["run", "--json", "rename .txt to .md in ."]);
    assert_eq!(ran.code, 5, "{ran:#?}");
    assert_eq!(ran.json()["ended_by"], json!("consent"));
    assert!(home.work().join("a.txt").exists());
}
