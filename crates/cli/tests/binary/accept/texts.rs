//! `find-text` and `count-lines`: what a search sees and what it leaves out.

use serde_json::{Value, json};

use super::{Want, case, hold, odd_home, texts, worded};
use crate::support::{Home, shell};

/// Returns a Git repository with ignored files, beside folders that a search skips.
fn home() -> Home {
    let home = odd_home();
    shell(&home.work(), "git init -q repo");
    for (name, content) in [
        ("repo/.gitignore", "*.log\nbuilt/\n!kept.log\n"),
        ("repo/a.rs", "let needle = 1;\n// no\nneedle needle\n"),
        ("repo/sub/b.c", "needle\n"),
        ("repo/x.log", "needle\n"),
        ("repo/kept.log", "needle kept\n"),
        ("repo/built/out.c", "needle\n"),
        ("repo/node_modules/dep/i.js", "needle\n"),
        ("repo/.secret", "needle\n"),
        ("plain/one", "Needle\nNEEDLE\nneedle\n"),
        ("plain/.gitignore", "two\n"),
        ("plain/two", "needle\n"),
        ("wide/long", &format!("{}needle\n{}\n", "é".repeat(500), "needle ".repeat(100))),
        ("coded/utf16.txt", ""),
        ("coded/plain.txt", "needle\r\n"),
    ] {
        home.file(name, content);
    }
    let utf16: Vec<u8> = "\u{feff}needle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    home.file("coded/utf16.txt", utf16);
    for n in 0..250 {
        home.file(format!("many/{n:03}.txt"), "needle one\nneedle two\n");
    }
    home
}

fn lines(found: &[(&str, u64, &str)]) -> Value {
    found.iter().map(|(path, line, text)| json!({"path": path, "line": line, "text": text})).collect()
}

/// A path, the lines that contain the text, and what is left out.
type World<'a> = (&'a str, Vec<(&'a str, u64, &'a str)>, Value);

const FIND: &[&str] = &[
    "find all occurrences of needle in {}",
    "search for 'needle' in {}",
    "which lines contain 'needle' in {}?",
    "grep for needle in {}",
    "where is needle used in {}",
];

#[test]
fn found_texts() {
    let home = home();
    let worlds: Vec<World<'_>> = vec![
        (
            "repo",
            vec![
                ("repo/a.rs", 1, "let needle = 1;"),
                ("repo/a.rs", 3, "needle needle"),
                ("repo/kept.log", 1, "needle kept"),
                ("repo/sub/b.c", 1, "needle"),
            ],
            texts(&["6 hidden or ignored files, or folders of packages or caches, were left out"]),
        ),
        // An ignored folder is searched if it is named itself.
        ("repo/built", vec![("repo/built/out.c", 1, "needle")], Value::Null),
        // Nothing is ignored outside a repository.
        (
            "plain",
            vec![("plain/one", 3, "needle"), ("plain/two", 1, "needle")],
            texts(&["1 hidden or ignored file, or folder of packages or caches, was left out"]),
        ),
        (
            "'odd dir'",
            vec![
                ("odd dir/-dash.rs", 2, "// needle: here and there"),
                ("odd dir/a b.txt", 2, "needle"),
                ("odd dir/a:12:b.txt", 2, "needle"),
                ("odd dir/it's \"quoted\".txt", 2, "needle"),
                ("odd dir/tab\there.txt", 1, "a needle"),
                ("odd dir/ünï.md", 3, "NEEDLE needle"),
            ],
            texts(&[
                "6 symbolic links were not followed",
                "1 hidden or ignored file, or folder of packages or caches, was left out",
                "1 binary file was left out",
            ]),
        ),
        ("repo/x.log", vec![("repo/x.log", 1, "needle")], Value::Null),
    ];
    let mut cases = Vec::new();
    for (path, found, left_out) in &worlds {
        cases.extend(worded(FIND, path, || {
            Want::Answer(vec![
                ("/count", json!(found.len())),
                ("/lines", lines(found)),
                ("/left_out", left_out.clone()),
                ("/complete", json!(true)),
            ])
        }));
    }
    let any_case = lines(&[
        ("plain/one", 1, "Needle"),
        ("plain/one", 2, "NEEDLE"),
        ("plain/one", 3, "needle"),
        ("plain/two", 1, "needle"),
    ]);
    cases.push(case("grep for needle in plain, ignoring case", Want::Answer(vec![("/lines", any_case)])));
    cases.push(case(
        "find 'needle' in many",
        Want::Answer(vec![
            ("/count", json!(500)),
            ("/file_count", json!(250)),
            ("/lines/199", json!({"path": "many/099.txt", "line": 2, "text": "needle two"})),
            ("/files/0", json!({"path": "many/000.txt", "lines": 2})),
            ("/files/199", json!({"path": "many/199.txt", "lines": 2})),
            ("/left_out", texts(&["200 of 500 lines are listed", "200 of 250 files are listed"])),
        ]),
    ));
    // Files are named however many lines of another file match.
    home.file("wf/a.txt", "needle\n".repeat(300));
    home.file("wf/b.txt", "x\nneedle\n");
    home.file("wf/c.txt", "thread\n");
    let files = json!([{"path": "wf/a.txt", "lines": 300}, {"path": "wf/b.txt", "lines": 1}]);
    cases.extend(worded(&["which files contain 'needle' in {}", "grep for needle in {}"], "wf", || {
        Want::Answer(vec![
            ("/count", json!(301)),
            ("/file_count", json!(2)),
            ("/files", files.clone()),
            ("/left_out", texts(&["200 of 301 lines are listed"])),
        ])
    }));
    let files = json!([{"path": "plain/one", "lines": 3}, {"path": "plain/two", "lines": 1}]);
    let goal = "which files contain 'NEEDLE' in plain, ignoring case";
    cases.push(case(goal, Want::Answer(vec![("/files", files)])));
    // Capital letters beyond ASCII, and the sign of Kelvin.
    let words =
        [("école", "École\nÉCOLE\necole\n", 2), ("ΣΟΦΟΣ", "σοφος\nΣοφος\nσοφος\n", 3), ("жук", "Жук\n", 1)];
    for (n, (word, content, count)) in
        words.into_iter().chain([("5 kelvin", "5 \u{212a}elvin\n", 1)]).enumerate()
    {
        home.file(format!("case/{n}.txt"), content);
        let goal = format!("search for '{word}' in case/{n}.txt ignoring case");
        cases.push(case(goal, Want::Answer(vec![("/count", json!(count))])));
    }
    cases.push(case("find 'needle' in wide", Want::Answer(vec![("/count", json!(2))])));
    cases.push(case(
        "find 'to be or not' in plain",
        Want::Answer(vec![("/count", json!(0)), ("/lines", json!([]))]),
    ));
    let said = texts(&["the text holds signs of a regular expression, and was looked for as it is written"]);
    let values = vec![("/count", json!(0)), ("/left_out/0", said[0].clone())];
    cases.push(case("find 'need[a-z]+' in plain/one", Want::Answer(values)));
    home.file("signs/a", "x|y\n");
    let values = vec![("/count", json!(1)), ("/left_out", Value::Null)];
    cases.push(case("find 'x|y' in signs", Want::Answer(values)));
    cases.push(case("find 'a.c' in repo", Want::Answer(vec![("/count", json!(0))])));
    cases.push(case("find 'needle' in nowhere", Want::Refused("nowhere does not exist in ")));
    // Goals that ask for something other than a text.
    for goal in [
        "which files have more than 500 lines in repo",
        "find lines that do not contain needle in repo",
        "find needle or thread in repo",
        "which files contain no needle in repo",
    ] {
        cases.push(case(goal, Want::Refused("no playbook")));
    }
    // The answer says so if the text may be hidden by another encoding, by a link, or in a file that is not
    // text.
    home.file("latin/a.txt", b"Gr\xf6\xdfe\n");
    let said = texts(&["1 line is not UTF-8, and may contain the text in another encoding"]);
    cases.push(case(
        "find 'Größe' in latin",
        Want::Gap("everything could be read", vec![("/left_out", said)]),
    ));
    let said = texts(&["1 file in UTF-16 was not searched"]);
    cases.extend(worded(FIND, "coded", || {
        let found = ("/lines", lines(&[("coded/plain.txt", 1, "needle")]));
        Want::Gap("everything could be read", vec![found, ("/left_out", said.clone())])
    }));
    home.file("linked/other.txt", "x\n");
    std::os::unix::fs::symlink("../plain/one", home.work().join("linked/one")).unwrap();
    let said = texts(&["1 symbolic link was not followed"]);
    for goal in ["find 'needle' in linked", "count the lines in linked"] {
        cases.push(case(goal, Want::Answer(vec![("/left_out", said.clone())])));
    }
    for goal in ["largest files in linked", "disk usage of linked", "find duplicates in linked"] {
        cases.push(case(goal, Want::Answer(vec![("/links_not_followed", json!(1))])));
    }
    // A file is binary even if its first NUL comes late.
    home.file("late/a.txt", format!("{}a\0b\n", "needle\n".repeat(50_000)));
    home.file("late/b.txt", "needle\n");
    let left_out = || ("/left_out", texts(&["1 binary file was left out"]));
    let found = lines(&[("late/b.txt", 1, "needle")]);
    cases.push(case("find 'needle' in late", Want::Answer(vec![("/lines", found), left_out()])));
    cases.push(case("count the lines in late", Want::Answer(vec![("/lines", json!(1)), left_out()])));
    // A named link means its target.
    std::os::unix::fs::symlink("plain", home.work().join("way")).unwrap();
    let said = texts(&["1 hidden or ignored file, or folder of packages or caches, was left out"]);
    let values = vec![("/count", json!(2)), ("/left_out", said.clone())];
    cases.push(case("find all occurrences of needle in way", Want::Answer(values)));
    let none = vec![("/count", json!(0)), ("/left_out", said.clone())];
    cases.push(case("find all occurrences of thread in way", Want::Answer(none)));
    cases.push(case("count the lines in way", Want::Answer(vec![("/left_out", said)])));
    cases.push(case("find 'needle' in coded/utf16.txt", Want::Refused("it is no text")));
    cases.push(case("count the lines in coded/utf16.txt", Want::Refused("it is no text")));
    home.file("mac.txt", "one\rtwo\rthree");
    let said = texts(&["1 line has carriage returns within it, and was read as one line"]);
    cases.push(case(
        "how many lines does mac.txt have",
        Want::Gap("everything could be read", vec![("/left_out", said)]),
    ));
    hold(&home, &cases);
}

const COUNT: &[&str] = &[
    "count lines of code in {} by language",
    "how many lines of code are there in {}",
    "lines of code per language under {}",
    "count the lines in {}",
];

#[test]
fn counted_lines() {
    let home = home();
    home.file("ends/none", "no end");
    home.file("ends/Makefile", "all:\n\ttrue\n\n");
    home.file("ends/crlf.TXT", "a\r\n\r\n  \r\nb");
    home.file("ends/empty.rs", "");
    let row = |language: &str, ending: &str, files: u64, lines: u64, blank: u64| json!({"language": language, "ending": ending, "files": files, "lines": lines, "blank": blank});
    let mut cases = worded(COUNT, "ends", || {
        Want::Answer(vec![
            ("/lines", json!(8)),
            ("/files", json!(4)),
            ("/blank", json!(3)),
            (
                "/languages",
                json!([row("other", "", 2, 4, 1), row("Text", "txt", 1, 4, 2), row("Rust", "rs", 1, 0, 0)]),
            ),
        ])
    });
    cases.extend(worded(COUNT, "repo", || {
        Want::Answer(vec![
            ("/lines", json!(5)),
            ("/files", json!(3)),
            (
                "/left_out",
                texts(&["6 hidden or ignored files, or folders of packages or caches, were left out"]),
            ),
        ])
    }));
    cases.extend(worded(COUNT, "coded", || {
        Want::Answer(vec![("/lines", json!(1)), ("/left_out", texts(&["1 binary file was left out"]))])
    }));
    cases.push(case("how many lines does repo/a.rs have", Want::Answer(vec![("/lines", json!(3))])));
    cases.push(case("how many lines does 'odd dir/ünï.md' have", Want::Answer(vec![("/lines", json!(4))])));
    cases.push(case("count the lines in 'odd dir/empty'", Want::Gap("a text file to count", vec![])));
    cases.push(case("count the lines in nowhere", Want::Refused("nowhere does not exist in ")));
    hold(&home, &cases);
}

/// Rules that ignore everything except some files, that exclude hidden names, or that name the searched
/// folder itself.
#[test]
fn files_left_out_by_ignore_rules() {
    let home = Home::new();
    for (repo, rules) in [
        ("spare", "*.log\n.*\n!.env.example\n!.github\n"),
        ("allow", "*\n!*.py\n"),
        ("deep", "*\n!*/\n!*.py\n"),
        ("named", "dist/\n*.map\n/out/*\n"),
        ("other", ""),
    ] {
        shell(&home.work(), &format!("git init -q {repo}"));
        home.file(format!("{repo}/.gitignore"), rules);
        for name in [
            "a.py",
            "b.log",
            "c.map",
            ".env.example",
            ".github/x",
            "dist/a.py",
            "dist/c.map",
            "dist/sub/d",
            "out/e",
        ] {
            home.file(format!("{repo}/{name}"), "needle\n");
        }
    }
    home.file("other/.ignore", "a.py\n");
    std::os::unix::fs::symlink("dist", home.work().join("named/link")).unwrap();
    let worlds: [(&str, &[&str]); 9] = [
        ("spare", &["a.py", "c.map", "dist/a.py", "dist/c.map", "dist/sub/d", "out/e"]),
        ("allow", &["a.py"]),
        ("deep", &["a.py", "dist/a.py"]),
        ("deep/dist", &["a.py"]),
        ("named", &["a.py", "b.log"]),
        ("named/dist", &["a.py", "c.map", "sub/d"]),
        ("named/dist/sub", &["d"]),
        ("named/link", &["a.py", "c.map", "sub/d"]),
        // Git does not track such a file.
        ("other", &["a.py", "b.log", "c.map", "dist/a.py", "dist/c.map", "dist/sub/d", "out/e"]),
    ];
    let mut cases = Vec::new();
    for (folder, names) in worlds {
        let found: Value = names
            .iter()
            .map(|name| json!({"path": format!("{folder}/{name}"), "line": 1, "text": "needle"}))
            .collect();
        cases.push(case(
            format!("grep for needle in ./{folder}"),
            Want::Answer(vec![("/count", json!(names.len()))]),
        ));
        cases.push(case(
            format!("find all occurrences of needle in '{folder}'"),
            Want::Answer(vec![("/lines", found)]),
        ));
        cases.push(case(
            format!("count the lines in ./{folder}"),
            Want::Answer(vec![("/lines", json!(names.len()))]),
        ));
    }
    hold(&home, &cases);
}

/// Program output with such names is decoded before it is compared.
#[test]
#[cfg(target_os = "linux")]
fn names_that_are_not_utf8() {
    let home = Home::new();
    let make = "mkdir -p one/sub two/sub && for d in one two; do printf 'needle\\n' > $d/$(printf 'a\\377b'); done &&
        printf 'needle 2\\n' > one/sub/$(printf '\\342\\202z') && ln -s gone \"one/$(printf 'l\\351\\tx')\"";
    shell(&home.work(), make);
    let (a, z, link) = (
        "one/a\\xffb [name is not UTF-8]",
        "one/sub/\\xe2\\x82z [name is not UTF-8]",
        "one/l\\xe9\tx [name is not UTF-8]",
    );
    let size = |bytes: u64, path: &str| json!({"bytes": bytes, "path": path});
    let differs = json!([{"path": "l\\xe9\tx [name is not UTF-8]", "what": "only in left"}, {"path": "sub/\\xe2\\x82z [name is not UTF-8]", "what": "only in left"}]);
    hold(
        &home,
        &[
            case(
                "grep for needle in one",
                Want::Answer(vec![("/lines", lines(&[(a, 1, "needle"), (z, 1, "needle 2")]))]),
            ),
            case("largest files in one", Want::Answer(vec![("/files", json!([size(9, z), size(7, a)]))])),
            case(
                "find duplicate files in .",
                Want::Answer(vec![("/files/0/path", json!(format!("./{a}"))), ("/groups", json!(1))]),
            ),
            case(
                "find broken links in one",
                Want::Answer(vec![("/links", json!([{"path": link, "target": "gone"}]))]),
            ),
            case("compare one with two", Want::Gap("identical", vec![("/differences", differs)])),
        ],
    );
}
