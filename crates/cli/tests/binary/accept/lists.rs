//! `broken-symlinks`, `duplicate-files`, `compare-directories`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use serde_json::{Value, json};

use super::{Case, Want, below, case, hold, is_file, odd_home, worded};
use crate::support::Home;

const LINKS: &[&str] = &[
    "find broken symlinks in {}",
    "list all dangling links under {}",
    "are there any broken symbolic links in {}?",
    "which symlinks in {} are broken",
    "check {} for dead links",
];

/// Returns the links through which nothing can be read, in byte order.
fn broken(home: &Home, folder: &str) -> Vec<Value> {
    let mut links: Vec<(String, String)> = below(home, folder)
        .into_iter()
        .filter(|(_, path)| fs::symlink_metadata(path).unwrap().is_symlink() && fs::metadata(path).is_err())
        .map(|(told, path)| (told, fs::read_link(path).unwrap().to_str().unwrap().to_owned()))
        .collect();
    links.sort();
    links.into_iter().map(|(path, target)| json!({"path": path, "target": target})).collect()
}

#[test]
fn broken_links() {
    let home = odd_home();
    fs::create_dir(home.work().join("many")).unwrap();
    for n in 0..300 {
        let link = home.work().join(format!("many/link {n:03}"));
        std::os::unix::fs::symlink(format!("gone {n}"), link).unwrap();
    }
    std::os::unix::fs::symlink("odd dir", home.work().join("to")).unwrap();
    let odd = broken(&home, "odd dir");
    assert_eq!(odd.len(), 5);
    let many = broken(&home, "many");
    let mut cases = worded(LINKS, "'odd dir'", || {
        Want::Answer(vec![("/count", json!(odd.len())), ("/links", json!(odd)), ("/complete", json!(true))])
    });
    cases.extend(worded(LINKS, "many", || {
        let said = json!(["200 of 300 links are listed"]);
        Want::Answer(vec![("/count", json!(300)), ("/links", json!(many[..200])), ("/left_out", said)])
    }));
    let none = || Want::Answer(vec![("/count", json!(0)), ("/links", json!([]))]);
    cases.extend(worded(LINKS, "'odd dir/empty'", none));
    cases.push(case("find broken symlinks in 'to'", Want::Answer(vec![("/count", json!(odd.len()))])));
    cases.push(case("find broken symlinks in 'odd dir/'", Want::Answer(vec![("/count", json!(odd.len()))])));
    cases.push(case("find broken symlinks in 'no dir'", Want::Refused("no dir does not exist in ")));
    cases.push(case("find broken links in 'odd dir/ünï.md'", Want::Refused("is a file, not a directory")));
    cases.push(case("find broken links in 'odd dir/bad'", Want::Refused("is a link that leads nowhere")));
    hold(&home, &cases);
}

const EQUALS: &[&str] = &[
    "find duplicate files in {}",
    "which files in {} are duplicates",
    "list all files with the same content under {}",
];

/// Returns the groups of equal files: bytes that removal would save, first path, all paths; the largest
/// saving first.
fn equals(home: &Home, folder: &str) -> Vec<(u64, Vec<String>)> {
    let mut by_content: BTreeMap<Vec<u8>, Vec<String>> = BTreeMap::new();
    for (told, path) in below(home, folder).into_iter().filter(|(_, path)| is_file(path)) {
        by_content.entry(fs::read(path).unwrap()).or_default().push(told);
    }
    let mut groups: Vec<(u64, Vec<String>)> = by_content
        .into_iter()
        .filter(|(_, paths)| paths.len() > 1)
        .map(|(content, mut paths)| {
            paths.sort();
            // Several names of one file count as one copy.
            let copies: BTreeSet<u64> =
                paths.iter().map(|path| fs::metadata(home.work().join(path)).unwrap().ino()).collect();
            (content.len() as u64 * (copies.len() as u64 - 1), paths)
        })
        .collect();
    groups.sort_by(|one, other| (other.0, &one.1).cmp(&(one.0, &other.1)));
    groups
}

#[test]
fn duplicate_files() {
    let home = odd_home();
    for n in 0..150 {
        home.file(format!("pairs/one {n}"), format!("{n}"));
        home.file(format!("pairs/other {n}"), format!("{n}"));
    }
    home.file("single/a", "a");
    home.file("single/b", "b");
    fs::hard_link(home.work().join("single/a"), home.work().join("single/again")).unwrap();
    let mut cases = Vec::new();
    for folder in ["odd dir", "pairs", "single"] {
        let groups = equals(&home, folder);
        let listed = &groups[..groups.len().min(100)];
        let paths: Vec<&String> = listed.iter().flat_map(|(_, paths)| paths).collect();
        let files: usize = groups.iter().map(|(_, paths)| paths.len()).sum();
        let wasted: u64 = groups.iter().map(|(saved, _)| saved).sum();
        for way in EQUALS {
            let mut values = vec![
                ("/groups", json!(groups.len())),
                ("/file_count", json!(files)),
                ("/wasted_bytes", json!(wasted)),
                ("/complete", json!(true)),
            ];
            values.extend(paths.first().map(|path| ("/files/0/path", json!(path))));
            if groups.len() > 100 {
                values.push(("/left_out", json!(["200 of 300 files are listed"])));
            } else {
                values.extend(paths.last().map(|path| match paths.len() {
                    2 => ("/files/1/path", json!(path)),
                    4 => ("/files/3/path", json!(path)),
                    _ => ("/files/0/none", Value::Null),
                }));
            }
            cases.push(case(way.replace("{}", &format!("'{folder}'")), Want::Answer(values)));
        }
    }
    let none = || Want::Answer(vec![("/groups", json!(0)), ("/files", json!([]))]);
    cases.extend(worded(EQUALS, "'odd dir/empty'", none));
    cases.push(case("find duplicates in dup.csv", Want::Refused("does not exist")));
    home.file("dup.csv", "a\n1\n1\n");
    cases.pop();
    cases.push(case("find duplicates in dup.csv", Want::Refused("dup.csv is a file, not a directory")));
    hold(&home, &cases);
}

const COMPARE: &[&str] = &[
    "compare {}",
    "show the differences between {}",
    "what is different between {}?",
    "are the directories {} identical?",
];

fn compared(left: &str, right: &str, want: impl Fn() -> Want) -> Vec<Case> {
    let ways = COMPARE.iter().map(|way| {
        let and = if way.starts_with("compare") { "with" } else { "and" };
        case(way.replace("{}", &format!("{left} {and} {right}")), want())
    });
    ways.collect()
}

#[test]
fn compared_directories() {
    let home = odd_home();
    for side in ["old", "new"] {
        for (name, content) in [
            ("same.txt", "x"),
            ("sub/also\nsame", "y"),
            ("sub/deep/more", "z"),
            ("changed", side),
            ("size", "1"),
        ] {
            home.file(format!("{side}/{name}"), content);
        }
    }
    home.file("new/size", "12");
    home.file("old/only\told", "");
    home.file("new/sub/only new/file", "");
    home.file("old/kind", "a file here");
    home.file("new/kind/inside", "");
    let work = home.work();
    fs::create_dir(work.join("old/empty")).unwrap();
    for (side, target) in [("old", "a"), ("new", "b")] {
        std::os::unix::fs::symlink(target, work.join(side).join("link")).unwrap();
        std::os::unix::fs::symlink("gone", work.join(side).join("dangling")).unwrap();
    }
    home.file("twin/a b", "1");
    home.file("copy/a b", "1");
    let differences = json!([
        {"path": "changed", "what": "different"},
        {"path": "empty", "what": "only in left"},
        {"path": "kind", "what": "different"},
        {"path": "kind/inside", "what": "only in right"},
        {"path": "link", "what": "different"},
        {"path": "only\told", "what": "only in left"},
        {"path": "size", "what": "different"},
        {"path": "sub/only new/file", "what": "only in right"},
    ]);
    let mut cases = compared("old", "new", || {
        let values = vec![("/differences", differences.clone()), ("/count", json!(8)), ("/same", json!(4))];
        Want::Gap("are identical", values)
    });
    let said = json!("contents, not permissions, owners or dates");
    let same = || {
        let values = vec![("/identical", json!(true)), ("/count", json!(0)), ("/same", json!(1))];
        Want::Answer([values, vec![("/compared", said.clone())]].concat())
    };
    cases.extend(compared("twin", "copy", same));
    cases.extend(compared("twin", "twin", same));
    cases.push(case("compare twin with nothing", Want::Refused("nothing does not exist in ")));
    cases.push(case("compare twin with 'twin/a b'", Want::Refused("is a file, not a directory")));
    cases.push(case("are the files 'twin/a b' and copy identical?", Want::Refused("closest")));
    cases.pop();
    hold(&home, &cases);
}
