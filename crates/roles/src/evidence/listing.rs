//! Lists calls for a model: one head line per call, and the bodies of the newest.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use setpoint_machine::listing::{Candidate, Listing};
use setpoint_machine::prompt::Instruction;
use setpoint_protocol::limits::EVIDENCE_CHARS_MAX;
use setpoint_protocol::text::{clip, head_and_tail};
use setpoint_protocol::tool::{ErrorKind, Phase, SandboxTier, ToolRecord};

use super::called::name_of;
use super::changes::is_look;
use super::excerpt::Source;
use crate::programs::WRITE;

/// Maximum characters of a call's input in its head: a script is what a judge looks for.
const INPUT_CHARS_MAX: usize = 4_000;
/// The same for a call that writes a file, which the judge sees once more among the changes of the task.
const WRITTEN_CHARS_MAX: usize = 1_200;
/// At most this many programs of a command are named in its head after the first.
const PROGRAMS_MAX: usize = 4;
/// Approximate bytes of a head without the input.
const HEAD_BYTES: usize = 64;
/// Maximum characters of facts shown for a call without text.
const FACTS_CHARS_MAX: usize = 1_500;
/// Prefix of each line of a body.
const INDENT: &str = "  ";

/// Lists the calls in order, in at most `chars_max` characters plus one line; see [`Listing::bounded`]. Body lines
/// are indented, so that no output can be mistaken for the head of another call.
#[must_use]
pub fn listing(calls: &[Arc<ToolRecord>], chars_max: usize) -> Listing {
    let candidates = calls.iter().rev().map(|record| Candidate {
        head: head(record),
        body_chars: indented_chars(&text(record)).min(chars_max_of(record.phase)),
        body: |chars_max| body(record, chars_max),
    });
    Listing::bounded(candidates, chars_max)
}

/// Returns a result as shown to the model that made the call: a line with its id and how it ended, and its output.
#[must_use]
pub fn shown(record: &ToolRecord) -> (String, String) {
    let mut head = format!("[{}]", record.call_id);
    push_ending(&mut head, record);
    let mut body = String::new();
    for line in text(record).lines() {
        push_one_line(&mut body, line);
        body.push('\n');
    }
    body.truncate(body.trim_end_matches('\n').len());
    (head, body)
}

/// Says what `sandbox` in the line of a call means.
pub static SANDBOX: Instruction = Instruction::new(
    "`sandbox` in a call's line: it saw the working folder, its own copies of the changes in it, and the system's programs. Home \
     folder, /tmp, network, other processes, users and owners were the sandbox's own: what it found there, or did there, shows \
     nothing of the machine and is not kept.",
);

/// Returns whether any of these calls ran in a sandbox with a world of its own.
pub fn has_sandbox<'a>(calls: impl IntoIterator<Item = &'a Arc<ToolRecord>>) -> bool {
    calls.into_iter().any(|record| is_apart(record))
}

fn is_apart(record: &ToolRecord) -> bool {
    record.tier == Some(SandboxTier::Full)
}

/// Appends how a call ended.
fn push_ending(head: &mut String, record: &ToolRecord) {
    match record.error_kind {
        // A non-zero exit is a result, not an error; the exit code below reports it.
        Some(ErrorKind::Exit) if record.exit_code.is_some() => {}
        Some(kind) => {
            head.push_str(" FAILED ");
            head.push_str(&name_of(&kind));
        }
        None => head.push_str(if record.ok { " ok" } else { " FAILED" }),
    }
    if let Some(code) = record.exit_code {
        // Writing into a string cannot fail.
        let _ = write!(head, " exit {code}");
    }
}

fn head(record: &ToolRecord) -> String {
    #[cfg(test)]
    tests::HEADS.set(tests::HEADS.get() + 1);
    if is_look(record) {
        // Its parameters are the program's own.
        let ending = if record.ok { "ok" } else { "FAILED" };
        return format!("{} attempt {} {} {ending}\n", record.call_id, record.attempt, record.tool);
    }
    let input_max = if WRITE.contains(&record.tool.tool()) { WRITTEN_CHARS_MAX } else { INPUT_CHARS_MAX };
    let input = head_and_tail(&record.input.to_text(), input_max);
    let mut head = String::with_capacity(HEAD_BYTES + input.len());
    // Writing into a string cannot fail.
    let _ = write!(head, "{} attempt {} {}", record.call_id, record.attempt, record.tool);
    for tool in record.tool_ids().skip(1).take(PROGRAMS_MAX) {
        head.push('+');
        head.push_str(tool.as_str());
    }
    let more = record.tool_ids().skip(1 + PROGRAMS_MAX).count();
    if more > 0 {
        let _ = write!(head, "+{more} more");
    }
    if is_apart(record) {
        head.push_str(" sandbox");
    }
    push_ending(&mut head, record);
    let _ = write!(head, " {} ms ", record.duration_ms);
    push_one_line(&mut head, &input);
    head.push('\n');
    head
}

/// Returns the call's evidence, or its facts if it has no text.
fn text(record: &ToolRecord) -> Cow<'_, str> {
    match &record.facts {
        Some(facts) if record.evidence.is_empty() => Cow::from(clip(&facts.to_text(), FACTS_CHARS_MAX)),
        _ => Cow::from(&record.evidence),
    }
}

/// Returns the limit on a body. A model is shown less of a probe than the record keeps for code to judge by.
const fn chars_max_of(phase: Phase) -> usize {
    match phase {
        Phase::Work => usize::MAX,
        Phase::Before | Phase::After => EVIDENCE_CHARS_MAX,
    }
}

/// Returns the number of characters after indentation.
fn indented_chars(text: &str) -> usize {
    text.lines().map(|line| INDENT.len() + line.chars().count() + 1).sum()
}

/// Returns the indented text in at most `chars_max` characters, with a mark if it was cut.
fn body(record: &ToolRecord, chars_max: usize) -> String {
    let text = text(record);
    let mut body = String::with_capacity(text.len() + text.len() / 8 + 4);
    for line in text.lines() {
        body.push_str(INDENT);
        push_one_line(&mut body, line);
        body.push('\n');
    }
    if body.len() > chars_max {
        body = Source::of(record).excerpt(&body, chars_max).to_text(INDENT);
        if !body.ends_with('\n') {
            body.push('\n');
        }
    }
    body
}

/// Appends a line without control characters. Tabs stay: an edit has to name them, and a format may demand them.
fn push_one_line(out: &mut String, text: &str) {
    let is_end = |c: char| (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}');
    for (n, part) in text.split(is_end).enumerate() {
        if n > 0 {
            out.push(' ');
        }
        out.push_str(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    thread_local! {
        /// Counts the heads made on this thread, which is the cost of a listing.
        pub(super) static HEADS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    #[test]
    fn a_long_list_costs_only_what_it_shows() {
        let work = |calls: &[Arc<ToolRecord>]| {
            let before = HEADS.get();
            assert!(listing(calls, 32_000).to_text().chars().count() <= 32_100);
            HEADS.get() - before
        };
        let of =
            |count: usize| -> Vec<Arc<ToolRecord>> { records().into_iter().cycle().take(count).collect() };
        let thousand = work(&of(1_000));
        assert!(thousand < 1_000, "{thousand}");
        assert_eq!(work(&of(10_000)), thousand);
    }

    fn records() -> Vec<Arc<ToolRecord>> {
        (1..=3)
            .map(|n| {
                serde_json::from_value(json!({
                    "call_id": format!("r3.1/{n}"), "attempt": 1, "phase": "work", "tool": "shell/ls",
                    "tools": ["shell/ls", "shell/wc"], "input": {"command": "ls\nrm"}, "target": "ls",
                    "ok": n != 2, "error_kind": if n == 2 { Some("exit") } else { None }, "exit_code": n - 1,
                    "evidence": format!("r3.1/9 attempt 1 shell/ls ok\n{}{n}", "body ".repeat(20)),
                    "duration_ms": n,
                }))
                .unwrap()
            })
            .collect()
    }

    #[test]
    fn a_model_is_shown_no_more_of_a_probe_than_of_other_calls() {
        let mut calls = records();
        for call in calls.iter_mut().map(Arc::make_mut) {
            (call.phase, call.evidence) = (Phase::After, "x".repeat(EVIDENCE_CHARS_MAX + 1));
        }
        let shown = listing(&calls, 4 * EVIDENCE_CHARS_MAX).to_text();
        assert_eq!(shown.matches("  [… 4 of 24004 characters cut …]").count(), 3, "{shown}");
    }

    #[test]
    fn a_judge_sees_the_newest_whole_and_where_older_ones_go_on() {
        let file: String = (1..=1_000).map(|n| format!("line {n}\n")).collect();
        let calls: Vec<Arc<ToolRecord>> = (1..=5)
            .map(|n| {
                serde_json::from_value(json!({
                    "call_id": format!("r3.1/{n}"), "attempt": 1, "phase": "work", "tool": "read_file",
                    "input": {"path": "a", "offset": 11}, "target": "a", "ok": true, "evidence": file, "duration_ms": n,
                }))
                .unwrap()
            })
            .collect();
        let shown = listing(&calls, 24_000).to_text();
        let newest = shown.split("r3.1/5 ").nth(1).unwrap();
        assert!(newest.ends_with("  line 999\n  line 1000\n"), "{newest}");
        let oldest = shown.split("r3.1/2 ").next().unwrap();
        assert!(oldest.contains("\n  line 1\n") && oldest.contains(", cut; go on with offset "), "{oldest}");
        assert!(!shown.contains("left out"), "{shown}");
    }

    #[test]
    fn a_tab_is_shown_as_a_tab_and_no_other_control_character_is() {
        let record = ToolRecord {
            evidence: "a\tb\u{1b}[31mc\rd\n".to_owned(),
            ..records().remove(0).as_ref().clone()
        };
        assert_eq!(shown(&record).1, "a\tb [31mc d");
    }

    #[test]
    fn the_oldest_bodies_go_first_and_no_body_passes_for_a_head() {
        let mut out = String::new();
        for chars_max in [10_000, 700, 280, 100] {
            out.push_str(&format!("{chars_max}:\n{}", listing(&records(), chars_max).to_text()));
        }
        expect![[r#"
            10000:
            r3.1/1 attempt 1 shell/ls+shell/wc ok exit 0 1 ms {"command":"ls\nrm"}
              r3.1/9 attempt 1 shell/ls ok
              body body body body body body body body body body body body body body body body body body body body 1
            r3.1/2 attempt 1 shell/ls+shell/wc exit 1 2 ms {"command":"ls\nrm"}
              r3.1/9 attempt 1 shell/ls ok
              body body body body body body body body body body body body body body body body body body body body 2
            r3.1/3 attempt 1 shell/ls+shell/wc ok exit 2 3 ms {"command":"ls\nrm"}
              r3.1/9 attempt 1 shell/ls ok
              body body body body body body body body body body body body body body body body body body body body 3
            700:
            r3.1/1 attempt 1 shell/ls+shell/wc ok exit 0 1 ms {"command":"ls\nrm"}
              [output left out: the list is full]
            r3.1/2 attempt 1 shell/ls+shell/wc exit 1 2 ms {"command":"ls\nrm"}
              r3.1/9 attempt 1 shell/ls ok
              body body body body body body body body body body body body body body body body body body body body 2
            r3.1/3 attempt 1 shell/ls+shell/wc ok exit 2 3 ms {"command":"ls\nrm"}
              r3.1/9 attempt 1 shell/ls ok
              body body body body body body body body body body body body body body body body body body body body 3
            280:
            [2 earlier calls left out]
            r3.1/3 attempt 1 shell/ls+shell/wc ok exit 2 3 ms {"command":"ls\nrm"}
              r3.1/9 attempt 1 shell/ls ok
              body body body body body body body body body body body body body body body body body body body body 3
            100:
            [3 earlier calls left out]
        "#]]
        .assert_eq(&out);
    }
}
