//! Recorded and constructed answers, each with its expected result.
//!
//! The files of `corpus` hold entries of this form:
//!
//! ```text
//! === its subject, or its reason
//! perceive | plan | report | turn | judge | merge
//! <<<
//! the answer, verbatim
//! >>>
//! the result: the draft as JSON, or the error
//! ```
//!
//! In an answer `⟦U+0000⟧` is that character and `⟦300×[⟧` three hundred of these. Lines before the first entry are
//! a comment. `UPDATE_EXPECT=1` rewrites the last lines.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use setpoint_extract::draft::{JudgeDraft, MergeDraft, PerceiveDraft, PlanDraft, ReportDraft, TurnDraft};
use setpoint_extract::{Draft, extract};

/// Minimum number of entries in the corpus.
const ENTRIES_MIN: usize = 300;

struct Entry {
    name: String,
    wanted: String,
    answer: String,
    expected: String,
}

#[test]
fn every_corpus_entry_gives_its_recorded_result() {
    let mut differences = String::new();
    let mut names = BTreeSet::new();
    let mut wanted = BTreeSet::new();
    let mut count = 0;
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let (head, entries) = read(&file, &text);
        let mut rewritten = head;
        for entry in &entries {
            count += 1;
            assert!(names.insert(entry.name.clone()), "{file}: two entries are called {:?}", entry.name);
            wanted.insert(entry.wanted.clone());
            let found = outcome(&entry.wanted, &unescaped(&entry.answer));
            if found != entry.expected {
                let Entry { name, wanted, answer, expected } = entry;
                writeln!(differences, "{file}: {name}\n{wanted}: {answer}\n- {expected}\n+ {found}\n")
                    .unwrap();
            }
            let Entry { name, wanted, answer, .. } = entry;
            write!(rewritten, "=== {name}\n{wanted}\n<<<\n{answer}\n>>>\n{found}\n\n").unwrap();
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, format!("{}\n", rewritten.trim_end())).unwrap();
        }
    }
    println!("{count} answers");
    assert!(differences.is_empty(), "\n{differences}");
    assert!(count >= ENTRIES_MIN, "only {count} answers");
    assert_eq!(wanted.len(), 6, "{wanted:?}");
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extract/corpus");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Returns the comment at the head of a file, and its entries.
fn read(file: &str, text: &str) -> (String, Vec<Entry>) {
    let mut parts = format!("\n{text}").split("\n=== ").map(str::to_owned).collect::<Vec<_>>().into_iter();
    let head = parts.next().unwrap_or_default().trim().to_owned();
    let entries = parts.map(|part| {
        let fail = || panic!("{file}: this is no entry:\n{part}");
        let (name, rest) = part.split_once('\n').unwrap_or_else(fail);
        let (wanted, rest) = rest.split_once("\n<<<\n").unwrap_or_else(fail);
        let (answer, expected) = rest.split_once("\n>>>").unwrap_or_else(fail);
        Entry {
            name: name.to_owned(),
            wanted: wanted.to_owned(),
            answer: answer.to_owned(),
            expected: expected.trim().to_owned(),
        }
    });
    (if head.is_empty() { head } else { format!("{head}\n\n") }, entries.collect())
}

fn unescaped(answer: &str) -> String {
    let mut out = String::new();
    let mut rest = answer;
    while let Some((before, escape)) = rest.split_once('⟦') {
        out.push_str(before);
        let (escape, after) =
            escape.split_once('⟧').unwrap_or_else(|| panic!("an escape has no end: {escape}"));
        match escape.strip_prefix("U+") {
            Some(code) => out.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap()),
            None => {
                let (times, what) = escape.split_once('×').unwrap();
                out.push_str(&what.repeat(times.parse().unwrap()));
            }
        }
        rest = after;
    }
    out + rest
}

fn outcome(wanted: &str, answer: &str) -> String {
    match wanted {
        "perceive" => shown::<PerceiveDraft>(answer),
        "plan" => shown::<PlanDraft>(answer),
        "report" => shown::<ReportDraft>(answer),
        "judge" => shown::<JudgeDraft>(answer),
        "merge" => shown::<MergeDraft>(answer),
        "turn" => match extract::<TurnDraft>(answer) {
            Ok(TurnDraft::Answer(draft)) => format!("answer {}", serde_json::to_string(&draft).unwrap()),
            Ok(TurnDraft::Call(call)) => format!("call {}", serde_json::to_string(&call).unwrap()),
            Err(error) => format!("failed to {error}"),
        },
        other => panic!("nobody wants {other}"),
    }
}

fn shown<T: Draft + Serialize>(answer: &str) -> String {
    match extract::<T>(answer) {
        Ok(draft) => serde_json::to_string(&draft).unwrap(),
        Err(error) => format!("failed to {error}"),
    }
}
