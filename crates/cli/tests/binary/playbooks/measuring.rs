//! Sizes and lines: `largest-files`, `disk-usage`, `count-lines`.

use serde_json::{Value, json};

use super::{accepted, array, at_once, given_up, goal, lines, number, odd_home, plain_path, sorted};
use crate::support::{Home, shell};

pub(super) const PLAYBOOKS: &[&str] = &["count-lines", "disk-usage", "largest-files"];

fn sizes(home: &Home, output: &Value) -> Vec<String> {
    array(&output["files"])
        .iter()
        .map(|file| format!("{} {}", file["bytes"], plain_path(home, &file["path"])))
        .collect()
}

/// What `stat` says, largest first.
fn largest(home: &Home, directory: &str, count: u32) -> Vec<String> {
    let script =
        format!("find '{directory}' -type f -exec stat -c '%s %n' {{}} + | sort -rn | head -n {count}");
    shell(&home.work(), &script).lines().map(str::to_owned).collect()
}

#[test]
fn the_largest_files_are_those_of_stat() {
    let home = odd_home();
    for (text, count) in [
        ("find the three largest files under 'odd dir'", 3),
        ("what are the 2 biggest files in \"odd dir\"?", 2),
        ("which file is the biggest in 'odd dir'", 1),
    ] {
        let output = at_once(&home, text);
        assert_eq!(
            (&output["count"], sizes(&home, &output)),
            (&json!(count), largest(&home, "odd dir", count))
        );
    }
}

#[test]
fn a_line_break_in_a_name_turns_the_search_for_large_files() {
    let home = odd_home();
    shell(&home.work(), r"head -c 90000 /dev/zero > $'odd dir/two\nlines.bin'");
    let (output, directives) = accepted(&home, goal(&home, "find the 2 largest files in 'odd dir'"));
    assert_eq!(directives, ["break_symmetry"]);
    assert_eq!(output["files"][0]["bytes"], json!(90_000));
    assert!(output["files"][0]["path"].as_str().unwrap().ends_with("lines.bin"), "{output:#}");
    assert_eq!(sizes(&home, &output)[1], "70000 odd dir/deep er/est/big.bin");
}

#[test]
fn a_name_that_is_not_utf_8_is_never_told_garbled() {
    let home = odd_home();
    shell(&home.work(), r"head -c 80000 /dev/zero > $'odd dir/gro\xdf.bin'");
    let (output, directives) = accepted(&home, goal(&home, "find the largest file in 'odd dir'"));
    assert_eq!(directives, ["break_symmetry"]);
    assert_eq!(output["files"][0]["bytes"], json!(80_000));
    let path = output["files"][0]["path"].as_str().unwrap();
    assert!(path.contains(r"gro\xdf.bin") && !path.contains('\u{FFFD}'), "{path}");
}

#[test]
fn no_files_and_no_directory_are_not_the_same() {
    let home = odd_home();
    let output = at_once(&home, "find the largest files in 'odd dir/empty'");
    assert_eq!((&output["files"], &output["count"]), (&json!([]), &json!(0)));
    let output = at_once(&home, "how much space does './odd dir/empty' take?");
    assert_eq!((&output["directories"], &output["total_bytes"]), (&json!([]), &json!(0)));
    let output = at_once(&home, "count the lines in './odd dir/empty'");
    assert_eq!((&output["languages"], &output["total"]["lines"]), (&json!([]), &json!(0)));
    for text in [
        "find the largest files in 'no dir'",
        "how much space does './no dir' take?",
        "count the lines in './no dir'",
    ] {
        let result = given_up(goal(&home, text), 4);
        assert_eq!(result["output"], Value::Null, "{result:#}");
    }
}

#[test]
fn the_disk_usage_is_what_can_be_read_out_of_the_files() {
    let home = odd_home();
    shell(&home.work(), "ln 'odd dir/a b.txt' 'odd dir/deep er/second name.txt'");
    let output = at_once(&home, "disk usage by directory under 'odd dir'");
    assert_eq!(output["total_bytes"], json!(number(&home, "find 'odd dir' -type f -exec cat {} + | wc -c")));
    assert_eq!(output["unreadable"], json!(0));
    let told = array(&output["directories"])
        .iter()
        .map(|one| format!("{} {} {}", one["bytes"], one["files"], plain_path(&home, &one["path"])))
        .collect();
    let measured = lines(
        &home,
        r#"for d in 'odd dir'/.[!.]* 'odd dir'/*; do [ -d "$d" ] || continue
           echo "$(find "$d" -type f -exec cat {} + | wc -c) $(find "$d" -type f -printf x | wc -c) $d"; done"#,
    );
    assert_eq!(sorted(told), measured);
}

#[test]
fn lines_are_counted_as_awk_counts_them() {
    let home = odd_home();
    let output = at_once(&home, "count lines of code in 'odd dir' by language");
    // Hidden and binary files are left out; the last line of a file counts without its end too.
    let counted = |files: &str| {
        let script = format!("cd 'odd dir'; awk 'END {{ print NR }}' {files}");
        number(&home, &script)
    };
    let told: Vec<(String, u64, u64)> = array(&output["languages"])
        .iter()
        .map(|one| {
            let lines = one["lines"].as_u64().unwrap();
            (one["language"].as_str().unwrap().to_owned(), one["files"].as_u64().unwrap(), lines)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("Text".to_owned(), 6, counted("./*.txt deep*/*.txt deep*/est/*.txt")),
            ("Markdown".to_owned(), 1, counted("./*.md")),
            ("Rust".to_owned(), 1, counted("./*.rs")),
        ]
    );
    let all = counted("./*.txt deep*/*.txt deep*/est/*.txt ./*.md ./*.rs");
    assert_eq!((&output["total"]["lines"], &output["total"]["files"]), (&json!(all), &json!(8)));

    let output = at_once(&home, "how many lines does 'odd dir/ünï.md' have");
    assert_eq!(output["total"]["lines"], json!(counted("ünï.md")));
}
