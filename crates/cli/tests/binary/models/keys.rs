//! A model that tries to read a key by every tool: no record, no output and no question contains the key.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_model_server::{Hosted, SeenRequest, Wire};

use crate::support::thinker::think;
use crate::support::tree::tree;
use crate::support::{Came, Home, shell};

use super::{KEY, command};

/// A leak is at least this many characters of the key in a row.
const PIECE: usize = 16;
/// Calls whose answers never contain a key: the first commands see a clean environment, `sh` and `git_report`
/// do not print the names that they find.
const SILENT: usize = 7;

/// Commands that print the key in various ways, from the environment or from a file that holds it.
const COMMANDS: [&str; 26] = [
    "printenv; env; export -p",
    "cat /proc/self/environ | tr '\\0' '\\n'",
    "cat /proc/$PPID/environ 2>&1; true",
    "cat /proc/$(ps -o ppid= -p $PPID | tr -d ' ')/environ /proc/[0-9]*/environ 2>/dev/null | grep -a sk-; true",
    "perl -e 'print \"$_=$ENV{$_}\\n\" for keys %ENV'",
    "cat key.txt",
    "cat key.txt >&2",
    "cat \"$(cat key.txt)\"; true",
    "grep -rn sk- .",
    "base64 key.txt",
    "printf 'a:%s' \"$(cat key.txt)\" | base64 -w 11",
    "base64 key.txt | tr '+/' '-_' | tr -d =",
    "xxd key.txt; xxd -p key.txt",
    "od -An -tx1 key.txt",
    "od -c key.txt",
    "hexdump key.txt 2>/dev/null || od -x key.txt",
    "fold -w 9 key.txt",
    "rev key.txt",
    "sed 's/-/%2D/g' key.txt",
    "cut -c 1-20 key.txt; tail -c 18 key.txt",
    "yes padding | head -c 131070; cat key.txt; yes padding | head -c 900000",
    "yes padding | head -c 900000; cat key.txt; yes padding | head -c 262130",
    "touch \"$(cat key.txt).new\"; ls",
    "sh ./*.sh",
    "tar cf - key.txt | tr -d '\\0'",
    "git -C repo remote -v",
];

fn calls() -> Vec<(&'static str, Value)> {
    let mut calls: Vec<(&str, Value)> =
        COMMANDS.iter().map(|command| ("shell", json!({ "command": command }))).collect();
    calls.extend([
        ("read_file", json!({ "path": "key.txt" })),
        ("grep", json!({ "pattern": "sk-", "path": "." })),
        ("list_dir", json!({ "path": "." })),
        ("table_summary", json!({ "path": "table.csv" })),
        ("archive_list", json!({ "archive": "archive.tar" })),
        ("git_report", json!({ "path": "repo" })),
    ]);
    calls
}

/// Returns the text around a piece of the key, in any encoding and with any line breaks.
fn leak(text: &[u8]) -> Option<String> {
    let text: Vec<u8> =
        text.iter().copied().filter(|byte| !byte.is_ascii_whitespace() && *byte != 0).collect();
    let reversed: String = KEY.chars().rev().collect();
    let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
    // As `base64` writes them, without the characters that depend on the neighbouring bytes.
    let coded = [
        "c2stdGVzdC0wMTIzNDU2Nzg5LWFiY2RlZg",
        "zay10ZXN0LTAxMjM0NTY3ODktYWJjZGVm",
        "rLXRlc3QtMDEyMzQ1Njc4OS1hYmNkZW",
    ];
    let forms = [KEY, &reversed, &hex].into_iter().chain(coded).chain(["sk%2Dtest%2D0123456789"]);
    let pieces: BTreeSet<&[u8]> = forms.flat_map(|form| form.as_bytes().windows(PIECE)).collect();
    let at = text.windows(PIECE).position(|piece| pieces.contains(piece))?;
    let around = text.get(at.saturating_sub(200)..text.len().min(at + 60)).unwrap_or_default();
    Some(String::from_utf8_lossy(around).into_owned())
}

/// The search itself finds what there is to find.
fn assert_leaks_are_found() {
    let wrapped = "c2stdGVzdC0wMTIz\nNDU2Nzg5LWFiY2RlZg==";
    for text in [format!("a {KEY} b"), format!("x{}", KEY.get(..PIECE).unwrap()), wrapped.to_owned()] {
        assert!(leak(text.as_bytes()).is_some(), "{text}");
    }
    assert_eq!(leak(b"sk-test-01234 [key TEST_KEY]"), None);
}

#[test]
fn process_no_tool_reveals_a_key() {
    assert_leaks_are_found();
    let home = Home::new();
    home.file("key.txt", format!("{KEY}\n"));
    home.file(format!("{KEY}.sh"), "echo ran\n");
    home.file("table.csv", format!("name,value,{KEY}\na,1,2\nb,{KEY},3\n"));
    let remote = "git -C repo remote add origin https://x:$(cat key.txt)@h/r";
    shell(&home.work(), &format!("tar cf archive.tar *.sh; git init -q repo; {remote}"));
    let allowed: String = COMMANDS.iter().map(|command| format!("command {command}\n")).collect();
    home.file("approve", allowed);
    let step = |(number, (tool, input)): (usize, (&str, Value))| {
        json!({
            "intent": format!("step {number} is to call {tool} {input}"),
            "success_criteria": [{ "criterion": format!("call {number} was made"), "mode": "plausible" }],
        })
    };
    let calls = calls();
    let steps: Vec<Value> = calls.iter().cloned().enumerate().map(step).collect();
    let whole = json!([{ "criterion": "all calls were made", "mode": "plausible" }]);
    let plan = json!({ "subtasks": steps, "task_criteria": whole });
    let server = Hosted::start(Arc::new(move |seen: &SeenRequest| think(seen, &plan))).unwrap();
    let arguments = ["run", "--json", "--approve", "approve", "--set", "log.level=trace", "look around here"];
    let came = Came::of(&mut command(&home, &server, Wire::Chat, &arguments));
    // Opinions prove nothing; the output of the tools is examined below.
    assert_eq!((came.code, &came.json()["ended_by"]), (3, &json!("unproven")), "{}", came.err);

    // Every call ran, and each that would have printed the key names it instead; the environment holds none.
    let task = came.json()["task_id"].as_str().unwrap().to_owned();
    let answers = home.records(&task);
    let answers = answers.iter().filter(|one| one["type"] == "setpoint.Answered");
    let texts: Vec<String> =
        answers.map(|one| one["data"].to_string()).filter(|one| one.contains("\"ok\":true")).collect();
    let silent: Vec<&String> = texts.iter().filter(|text| !text.contains("[key TEST_KEY]")).collect();
    assert!(
        texts.len() >= calls.len() && silent.len() <= SILENT,
        "{} of {}: {silent:#?}",
        silent.len(),
        texts.len()
    );

    let records = home.run(&["tasks", "export", &task]).out;
    let shown = home.run(&["tasks", "show", &task]).out;
    for (place, text) in
        [("stdout", &came.out), ("stderr", &came.err), ("records", &records), ("shown", &shown)]
    {
        assert_eq!(leak(text.as_bytes()), None, "{place}");
    }
    for path in tree(&home.data()).keys() {
        let bytes = std::fs::read(home.data().join(path)).unwrap_or_default();
        assert_eq!(leak(&bytes), None, "{}", path.display());
    }
    for seen in server.seen() {
        assert_eq!(leak(format!("{:?}", seen.asked).as_bytes()), None);
    }
}
