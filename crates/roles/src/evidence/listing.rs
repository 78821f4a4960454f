//! Calls as a model reads them: one head line each, and the bodies of the newest.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use setpoint_machine::listing::{Entry, Listing};
use setpoint_protocol::limits::EVIDENCE_CHARS_MAX;
use setpoint_protocol::text::{clip, head_and_tail};
use setpoint_protocol::tool::{Phase, ToolRecord};

use super::called::name_of;

/// Characters of a call's input in its head.
const INPUT_CHARS_MAX: usize = 400;
/// Bytes of a head beside the input, about.
const HEAD_BYTES: usize = 64;
/// Characters of facts that are shown where a call has no text.
const FACTS_CHARS_MAX: usize = 1_500;

/// The calls in their order, in at most `chars_max` characters and one line; see [`Listing::bounded`]. Lines of a
/// body are indented, so that no output can pass for the head of another call.
#[must_use]
pub fn listing(calls: &[Arc<ToolRecord>], chars_max: usize) -> Listing {
    let entries = calls.iter().rev().map(|record| Entry { head: head(record), body: body(record) });
    Listing::bounded(entries, chars_max)
}

fn head(record: &ToolRecord) -> String {
    #[cfg(test)]
    tests::HEADS.set(tests::HEADS.get() + 1);
    let input = clip(&record.input.to_text(), INPUT_CHARS_MAX);
    let mut head = String::with_capacity(HEAD_BYTES + input.len());
    // Writing into a string cannot fail.
    let _ = write!(head, "{} attempt {} {}", record.call_id, record.attempt, record.tool);
    for tool in record.tool_ids().skip(1) {
        head.push('+');
        head.push_str(tool.as_str());
    }
    match record.error_kind {
        Some(kind) => {
            head.push_str(" FAILED ");
            head.push_str(&name_of(&kind));
        }
        None => head.push_str(if record.ok { " ok" } else { " FAILED" }),
    }
    if let Some(code) = record.exit_code {
        let _ = write!(head, " exit {code}");
    }
    let _ = write!(head, " {} ms ", record.duration_ms);
    push_one_line(&mut head, &input);
    head.push('\n');
    head
}

fn body(record: &ToolRecord) -> Option<String> {
    let text = match &record.facts {
        Some(facts) if record.evidence.is_empty() => Cow::from(clip(&facts.to_text(), FACTS_CHARS_MAX)),
        _ if record.phase == Phase::Work => Cow::from(&record.evidence),
        // A probe keeps more for code to judge by than a model is shown.
        _ => Cow::from(head_and_tail(&record.evidence, EVIDENCE_CHARS_MAX)),
    };
    let mut body = String::with_capacity(text.len() + text.len() / 8 + 4);
    for line in text.lines() {
        body.push_str("  ");
        push_one_line(&mut body, line);
        body.push('\n');
    }
    (!body.is_empty()).then_some(body)
}

fn push_one_line(out: &mut String, text: &str) {
    for (n, part) in text.split(char::is_control).enumerate() {
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
        /// Heads that were made on this thread: the work that a list costs.
        pub(super) static HEADS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    #[test]
    fn a_long_list_costs_no_more_than_what_is_shown_of_it() {
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
        assert_eq!(listing(&calls, 20_000).to_text().matches("[… 1 of 4001 characters cut …]").count(), 3);
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
            r3.1/2 attempt 1 shell/ls+shell/wc FAILED exit exit 1 2 ms {"command":"ls\nrm"}
              r3.1/9 attempt 1 shell/ls ok
              body body body body body body body body body body body body body body body body body body body body 2
            r3.1/3 attempt 1 shell/ls+shell/wc ok exit 2 3 ms {"command":"ls\nrm"}
              r3.1/9 attempt 1 shell/ls ok
              body body body body body body body body body body body body body body body body body body body body 3
            700:
            r3.1/1 attempt 1 shell/ls+shell/wc ok exit 0 1 ms {"command":"ls\nrm"}
              [output left out: the list is full]
            r3.1/2 attempt 1 shell/ls+shell/wc FAILED exit exit 1 2 ms {"command":"ls\nrm"}
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
