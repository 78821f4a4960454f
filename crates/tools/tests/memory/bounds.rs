//! Peak memory while everything that can be long is as long as allowed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use setpoint_machine::effects::ToolAsk;
use setpoint_protocol::Any;
use setpoint_protocol::limits::{FACTS_BYTES_MAX, TOOL_OUTPUT_BYTES_MAX};
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool::{Phase, ToolAnswer, ToolCall};
use setpoint_tools::{CallPlace, Host, Registry};

/// Memory that the whole test may use beyond that of the starting process.
const GROWTH_BYTES_MAX: u64 = 64 << 20;
const GIB: u64 = 1 << 30;
/// A file large enough to show if any tool keeps it in memory; a larger one shows no more and takes longer.
const FILE_BYTES: u64 = 80 << 20;

#[tokio::test]
async fn memory_stays_bounded_for_any_input() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::built_in(&Host::this());
    // Loads what is loaded once before the measurement begins.
    check(&run(&registry, folder.path(), "shell", json!({ "command": "echo x" })).await);
    let before = peak_bytes();

    for size in [1, 1 << 10, 1 << 20, GIB] {
        let command = format!("head -c {size} /dev/zero");
        let answer = run(&registry, folder.path(), "shell", json!({ "command": command })).await;
        assert!(answer.ok, "{}", answer.text);
        check(&answer);
        let is_cut = answer.text.contains(&format!("of {size} bytes cut"));
        assert_eq!(is_cut, size >= 1 << 20, "{size}");
    }
    let endless = json!({ "command": "yes | head -c 20000000" });
    let answer = run(&registry, folder.path(), "shell", endless).await;
    assert!(answer.text.contains("of 20000000 bytes cut"), "{}", head(&answer));
    check(&answer);

    let large = folder.path().join("large.txt");
    let mut file = File::create(&large).unwrap();
    file.write_all("a line of text\n".repeat(10_000).as_bytes()).unwrap();
    // The rest is a hole in the file, and one line.
    file.set_len(FILE_BYTES).unwrap();
    let path = large.to_str().unwrap();
    let strings = folder.path().join("strings.json");
    let mut file = File::create(&strings).unwrap();
    file.write_all(b"[\"").unwrap();
    for _ in 0..FILE_BYTES >> 20 {
        file.write_all(&[b'a'; 1 << 20]).unwrap();
    }
    file.write_all(b"\"]").unwrap();
    let strings = strings.to_str().unwrap();
    for (tool, input) in [
        ("read_file", json!({ "path": path })),
        ("grep", json!({ "path": path, "pattern": "line of" })),
        ("find_files", json!({ "name": "large", "root": folder.path().to_str() })),
        ("list_dir", json!({ "path": folder.path().to_str() })),
        ("table_summary", json!({ "path": path, "kind": "csv" })),
        ("table_summary", json!({ "path": strings, "kind": "json" })),
        ("table_summary", json!({ "path": path, "kind": "jsonl" })),
        ("table_summary", json!({ "path": path, "kind": "log" })),
    ] {
        let answer = run(&registry, folder.path(), tool, input).await;
        check(&answer);
    }

    let growth = peak_bytes() - before;
    assert!(growth <= GROWTH_BYTES_MAX, "{growth} bytes more at the peak");
}

async fn run(registry: &Registry, cwd: &Path, tool: &str, input: Value) -> ToolAnswer {
    let text = cwd.to_str().unwrap().to_owned();
    let surroundings = Surroundings {
        cwd: text.clone(),
        home: text.clone(),
        workspace: text,
        os: "linux".to_owned(),
        ..Surroundings::default()
    };
    let call = ToolCall { tool: tool.to_owned(), input: Any(input) };
    let ask = ToolAsk { call, phase: Phase::Work, probe: false, grant: None, caution: false };
    let place = CallPlace {
        keeps_as: None,
        surroundings: surroundings.into(),
        created: BTreeSet::new(),
        sources: BTreeSet::new(),
        secrets: BTreeSet::new(),
        cancel: tokio_util::sync::CancellationToken::new(),
    };
    let answer = registry.run(&ask, place.clone()).await;
    match answer.approval {
        Some(need) => registry.run(&ToolAsk { grant: Some(need.digest), ..ask }, place).await,
        None => answer,
    }
}

/// Checks that the record is bounded.
fn check(answer: &ToolAnswer) {
    assert!(answer.text.len() <= TOOL_OUTPUT_BYTES_MAX, "{} bytes of text", answer.text.len());
    let facts = answer.facts.as_ref().map_or(0, |facts| facts.to_bytes().len());
    assert!(facts <= FACTS_BYTES_MAX, "{facts} bytes of facts");
}

fn head(answer: &ToolAnswer) -> String {
    answer.text.chars().take(100).collect()
}

/// Returns the peak memory of this process.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = line.trim().trim_end_matches(" kB").trim().parse().unwrap();
    kib * 1024
}
