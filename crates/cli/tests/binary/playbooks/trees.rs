//! What files and links are to each other: `broken-symlinks`, `duplicate-files`, `compare-directories`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{accepted, array, at_once, given_up, goal, goal_without, lines, odd_home, plain_path, sorted};
use crate::support::{Home, shell};

pub(super) const PLAYBOOKS: &[&str] = &["broken-symlinks", "compare-directories", "duplicate-files"];

fn links(home: &Home, output: &Value) -> Vec<String> {
    let told: Vec<String> = array(&output["links"])
        .iter()
        .map(|link| format!("{} -> {}", plain_path(home, &link["path"]), link["target"].as_str().unwrap()))
        .collect();
    assert_eq!(output["count"], json!(told.len()));
    sorted(told)
}

/// The links below `odd dir` through which nothing can be read.
fn dead(home: &Home) -> Vec<String> {
    let script = r#"find 'odd dir' -type l -print0 | while IFS= read -r -d '' link
        do [ -e "$link" ] || echo "$link -> $(readlink -- "$link")"; done"#;
    lines(home, script)
}

#[test]
fn the_broken_links_are_those_that_lead_nowhere() {
    let home = odd_home();
    let output = at_once(&home, "find broken symlinks in 'odd dir'");
    assert_eq!(links(&home, &output), dead(&home));
    assert_eq!(output["count"], json!(2));
    let output = at_once(&home, "are there any broken symbolic links in 'odd dir/empty'?");
    assert_eq!((&output["links"], &output["count"]), (&json!([]), &json!(0)));
    given_up(goal(&home, "find broken symlinks in 'no dir'"), 4);
}

#[test]
fn what_find_cannot_tell_of_links_turns_the_search() {
    let home = odd_home();
    shell(&home.work(), "ln -s ring 'odd dir/ring'");
    let (output, directives) = accepted(&home, goal(&home, "find broken symlinks in 'odd dir'"));
    assert_eq!(directives, ["break_symmetry"]);
    assert_eq!((links(&home, &output), &output["count"]), (dead(&home), &json!(3)));

    let home = odd_home();
    shell(&home.work(), r"ln -s nowhere $'odd dir/two\nlines'; ln -s nowhere $'odd dir/n\xe9ant'");
    let (output, directives) = accepted(&home, goal(&home, "find broken symlinks in 'odd dir'"));
    assert_eq!((directives, &output["count"]), (vec!["break_symmetry".to_owned()], &json!(4)));
    assert!(!output.to_string().contains('\u{FFFD}'), "{output:#}");
}

fn groups(home: &Home, output: &Value) -> BTreeSet<Vec<String>> {
    let groups = array(&output["groups"]);
    assert_eq!(output["count"], json!(groups.len()));
    let paths = |group: &Value| array(&group["paths"]).iter().map(|path| plain_path(home, path)).collect();
    groups.iter().map(|group| sorted(paths(group))).collect()
}

/// Equal files by another sum.
fn equal(home: &Home, directory: &str) -> BTreeSet<Vec<String>> {
    let script = format!(
        "find '{directory}' -type f -exec md5sum {{}} + | sort | uniq -w 32 --all-repeated=separate | cut -c 35-"
    );
    let text = shell(&home.work(), &script);
    let groups = text.split("\n\n").filter(|group| !group.is_empty());
    groups.map(|group| sorted(group.lines().map(str::to_owned).collect())).collect()
}

#[test]
fn duplicates_are_the_files_of_equal_content() {
    let home = odd_home();
    shell(
        &home.work(),
        "cd 'odd dir'; cp -- -dash.rs 'deep er/.copy of dash'; ln 'a b.txt' 'deep er/third name'",
    );
    let output = at_once(&home, "find duplicate files in 'odd dir'");
    let equal = equal(&home, "odd dir");
    assert_eq!(equal.len(), 3);
    assert_eq!(groups(&home, &output), equal);
    for group in array(&output["groups"]) {
        let file = home.work().join(plain_path(&home, &group["paths"][0]));
        let sum =
            shell(&home.work(), &format!("cksum -a sha256 --untagged < \"{}\" | cut -c 1-64", shown(&file)));
        assert_eq!(group["hash"], json!(sum));
    }
    let output = at_once(&home, "are there any duplicates in 'odd dir/deep er/est'?");
    assert_eq!((&output["groups"], &output["count"]), (&json!([]), &json!(0)));
    given_up(goal(&home, "find duplicate files in 'no dir'"), 4);
}

fn shown(file: &std::path::Path) -> String {
    file.to_str().unwrap().replace('"', "\\\"")
}

#[test]
fn names_that_sha256sum_rewrites_turn_the_search_for_duplicates() {
    let home = odd_home();
    shell(&home.work(), r"printf same > $'odd dir/two\nlines'; printf same > 'odd dir/back\slash'");
    let (output, directives) = accepted(&home, goal(&home, "find duplicate files in 'odd dir'"));
    assert_eq!((directives, &output["count"]), (vec!["break_symmetry".to_owned()], &json!(3)));
    let text = output.to_string();
    assert!(text.contains(r"back\\slash") && text.contains("two"), "{text}");

    let home = odd_home();
    shell(&home.work(), r"cp 'odd dir/a b.txt' $'odd dir/zw\xf6lf'");
    let (output, directives) = accepted(&home, goal(&home, "find duplicate files in 'odd dir'"));
    assert_eq!(directives, ["break_symmetry"]);
    let text = output.to_string();
    assert!(text.contains(r"zw\\xf6lf") && !text.contains('\u{FFFD}'), "{text}");

    let home = odd_home();
    let command = goal_without(&home, &["sha256sum"], "find duplicate files in 'odd dir'");
    let (output, directives) = accepted(&home, command);
    assert!(!directives.is_empty());
    assert_eq!(groups(&home, &output), equal(&home, "odd dir"));
}

fn names(value: &Value) -> Vec<String> {
    sorted(array(value).iter().map(|name| name.as_str().unwrap().to_owned()).collect())
}

#[test]
fn directories_are_compared_as_comm_and_cmp_do() {
    let home = odd_home();
    shell(
        &home.work(),
        r#"cp -a 'odd dir' other; cd other; rm -- -dash.rs; printf 'x' > 'new one.txt'; printf y > .new
           printf 'alphA\nneedle\n' > 'a b.txt'; touch -d 2001-01-01 ünï.md"#,
    );
    let output = at_once(&home, "compare 'odd dir' with other");
    let list =
        "comm {} <(cd 'odd dir'; find . -type f | sort) <(cd other; find . -type f | sort) | cut -c 3-";
    assert_eq!(names(&output["only_left"]), lines(&home, &list.replace("{}", "-23")));
    assert_eq!(names(&output["only_right"]), lines(&home, &list.replace("{}", "-13")));
    let differing = r#"comm -12 <(cd 'odd dir'; find . -type f | sort) <(cd other; find . -type f | sort) \
        | while IFS= read -r f; do cmp -s "odd dir/$f" "other/$f" || echo "${f#./}"; done"#;
    assert_eq!(names(&output["different"]), lines(&home, differing));
    assert_eq!((&output["identical"], &output["differ"]), (&json!(false), &json!(1)));

    shell(&home.work(), "rm -r other; cp -a 'odd dir' other; touch -d 2001-01-01 'other/a b.txt'");
    let output = at_once(&home, "are the directories 'odd dir' and other identical?");
    assert_eq!((&output["identical"], &output["differ"]), (&json!(true), &json!(0)));
    assert_eq!((&output["only_left"], &output["different"]), (&json!([]), &json!([])));
}

#[test]
fn an_empty_directory_on_one_side_is_a_difference() {
    let home = Home::new();
    shell(&home.work(), "mkdir -p old/sub new/sub new/'only here'; echo 1 > old/sub/f; echo 1 > new/sub/f");
    let (output, _) = accepted(&home, goal(&home, "what is different between old and new?"));
    assert_eq!(output["identical"], json!(false));
    assert!(output.to_string().contains("only here"), "{output:#}");
}

#[test]
fn what_is_not_there_is_identical_to_nothing() {
    let home = odd_home();
    for text in [
        "compare 'odd dir' with 'no dir'",
        "compare 'no dir' with 'odd dir/empty'",
        "are the directories 'no dir' and 'neither dir' identical?",
    ] {
        let result = given_up(goal(&home, text), 4);
        assert_eq!(result["output"], Value::Null, "{result:#}");
    }
}
