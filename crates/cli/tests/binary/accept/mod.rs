//! The corpus of goals: a person's words on deliberately difficult folders. The truth of each is known by
//! construction or computed by the standard library, never by a tool of the program. A goal whose answer is
//! wrong must not be accepted; the answer must say what it leaves out; a goal that cannot be read must name
//! the closest playbook.
//!
//! Every module prints how many goals it tried. Each is run with `setpoint run`, as a person would type it,
//! on real files.

mod catalogue;
mod changes;
mod lists;
mod log_lines;
mod logs;
mod mutations;
mod repositories;
mod rights;
mod signs;
mod sizes;
mod table_forms;
mod tables;
mod texts;
mod unread;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Home, say};

/// The expected end of a goal.
enum Want {
    /// Accepted, and the output has these values at these pointers.
    Answer(Vec<(&'static str, Value)>),
    /// Accepted with gaps (exit 3): the summary names the gap, and the output has these values.
    Gap(&'static str, Vec<(&'static str, Value)>),
    /// Ended before anything was done (exit 4), with this text in the output.
    Refused(&'static str),
    /// Given up (exit 4): the summary names this among what was not met.
    Unmet(&'static str),
    /// Ended because no one gave consent (exit 5).
    Consent,
}

/// A goal and its expected end.
struct Case {
    goal: String,
    want: Want,
}

fn case(goal: impl Into<String>, want: Want) -> Case {
    Case { goal: goal.into(), want }
}

/// Returns one case per wording, with the same expectation; `{}` is the path.
fn worded(ways: &[&str], path: &str, want: impl Fn() -> Want) -> Vec<Case> {
    ways.iter().map(|way| case(way.replace("{}", path), want())).collect()
}

/// Runs every goal in the home's working directory and compares its end with the expected one.
fn hold(home: &Home, cases: &[Case]) {
    let mut wrong = Vec::new();
    for Case { goal, want } in cases {
        let came = home.run(&["run", "--json", goal]);
        let result = came.json();
        let output = &result["output"];
        let summary = format!("{} {}", result["summary"], result["next_moves"]);
        let differs = |values: &[(&'static str, Value)]| {
            values.iter().find_map(|(at, value)| {
                let found = output.pointer(at).unwrap_or(&Value::Null);
                (found != value).then(|| format!("{at} is {found}, and is {value} in truth"))
            })
        };
        let fault = match want {
            Want::Answer(values) if came.code == 0 => differs(values),
            Want::Gap(gap, values) if came.code == 3 => match summary.contains(gap) {
                true => differs(values),
                false => Some(format!("the gap {gap:?} is not named")),
            },
            Want::Unmet(gap) if came.code == 4 => {
                (!summary.contains(gap)).then(|| format!("{gap:?} is not named"))
            }
            Want::Refused(said) if came.code == 4 => {
                (!summary.contains(said)).then(|| format!("{said:?} is not said"))
            }
            Want::Consent if came.code == 5 => None,
            _ => Some(format!("exit code {}", came.code)),
        };
        if let Some(fault) = fault {
            let accepted = if came.code == 0 { "FALSE ACCEPT: " } else { "" };
            wrong.push(format!("{accepted}{goal}: {fault}\n  {summary}\n  {output}"));
        }
    }
    say(&format!("accept: {} goals, {} wrong", cases.len(), wrong.len()));
    assert!(wrong.is_empty(), "{} of {} goals:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Returns everything below a directory, links not followed, with the directory in front, as `find` prints
/// it.
fn below(home: &Home, folder: &str) -> Vec<(String, PathBuf)> {
    fn go(path: &Path, told: &str, out: &mut Vec<(String, PathBuf)>) {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for entry in entries {
            let told = format!("{told}/{}", entry.file_name().unwrap().to_str().unwrap());
            out.push((told.clone(), entry.clone()));
            if fs::symlink_metadata(&entry).unwrap().is_dir() {
                go(&entry, &told, out);
            }
        }
    }
    let mut out = Vec::new();
    go(&home.work().join(folder), folder, &mut out);
    out
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).unwrap().is_file()
}

/// Returns a home with a folder `odd dir` of difficult names: spaces, quotes, a tab, a line break, a leading
/// dash, a colon and a number, letters beyond ASCII; hidden and empty files, an empty folder, links to a
/// file, to nothing, in a circle and through a file.
fn odd_home() -> Home {
    let home = Home::new();
    for (name, content) in [
        ("odd dir/a b.txt", "alpha\nneedle\n"),
        ("odd dir/it's \"quoted\".txt", "alpha\nneedle\n"),
        ("odd dir/tab\there.txt", "a needle\n"),
        ("odd dir/two\nlines.txt", "x\n"),
        ("odd dir/-dash.rs", "fn main() {}\n// needle: here and there\n"),
        ("odd dir/a:12:b.txt", "one\r\nneedle\r\n"),
        ("odd dir/ünï.md", "Grüße\n\nNEEDLE needle\nno end"),
        ("odd dir/none.txt", ""),
        ("odd dir/deep er/none too.txt", ""),
        ("odd dir/.hidden/.s", "needle in secret\n"),
        ("odd dir/deep er/est/numbers.txt", "1\n2\n3\n4\n5\n6\n7\n"),
    ] {
        home.file(name, content);
    }
    home.file("odd dir/deep er/est/big.bin", vec![0_u8; 70_000]);
    let work = home.work();
    fs::create_dir_all(work.join("odd dir/empty")).unwrap();
    for (target, link) in [
        ("none.txt", "good"),
        ("nowhere", "bad"),
        ("../../gone away", "deep er/dead end"),
        ("ring", "ring"),
        ("none.txt/x", "through"),
        ("no\nwhere", "deep er/line"),
    ] {
        std::os::unix::fs::symlink(target, work.join("odd dir").join(link)).unwrap();
    }
    home
}

fn texts(lines: &[&str]) -> Value {
    json!(lines)
}
