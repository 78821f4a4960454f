//! Bounds on the evidence in one message.

use std::io;
use std::sync::Arc;

use setpoint_protocol::Any;
use setpoint_protocol::text::{clip, facts_cut};
use setpoint_protocol::tool::{Phase, ToolRecord};

use super::excerpt::Source;

/// Limit, in bytes of JSON, on the records of one sub-task. The oldest are shortened first, then lose their bodies.
pub const RECORDS_BYTES_MAX: usize = 256 * 1024;
/// Limit, in bytes of JSON, on all records of a round; applied in the same way.
pub const ROUND_RECORDS_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Characters of evidence that a shortened record of the work keeps: enough for most outputs and small files.
const SHORTENED_CHARS: usize = 4_000;
/// Characters of evidence that a shortened probe keeps; more than of the work, because code judges by probes.
const SHORTENED_PROBE_CHARS: usize = 16_000;
/// Characters of evidence that a record keeps when it loses its body.
const KEPT_CHARS: usize = 200;
/// Characters reserved for the marks of a cut, so that a record is not cut again because of them.
const MARKS_CHARS: usize = 160;

/// Cuts the bodies of old records until all records fit into `bytes_max`, oldest first. Every record is shortened
/// before any loses its body.
///
/// Records that a judge needs are cut last: first the probes made before the work, which show whether a criterion is
/// vacuous, then the probes made after the last attempt, which judge it. The last call of the work is never cut, so
/// that a check on it sees the whole result. Every cut leaves a mark.
pub fn fit(mut records: Vec<&mut Arc<ToolRecord>>, bytes_max: usize) {
    let mut total: usize = records.iter().map(|record| bytes_of(record)).sum();
    if total <= bytes_max {
        return;
    }
    let last_call = records.iter().rposition(|record| record.phase == Phase::Work);
    let last_attempt = records.iter().map(|record| record.attempt).max().unwrap_or_default();
    for cut in [shorten, cut] {
        for turn in [Turn::Past, Turn::Before, Turn::After] {
            for (at, record) in records.iter_mut().enumerate() {
                if total <= bytes_max {
                    return;
                }
                if Some(at) != last_call && Turn::of(record, last_attempt) == turn {
                    total = total.saturating_sub(bytes_of(record));
                    cut(Arc::make_mut(record));
                    total += bytes_of(record);
                }
            }
        }
    }
}

/// The stage at which a record is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Work, and probes made after an earlier attempt.
    Past,
    /// Probes made before the work.
    Before,
    /// Probes made after the last attempt.
    After,
}

impl Turn {
    fn of(record: &ToolRecord, last_attempt: u32) -> Self {
        match record.phase {
            Phase::Before => Turn::Before,
            Phase::After if record.attempt == last_attempt => Turn::After,
            Phase::Work | Phase::After => Turn::Past,
        }
    }
}

fn shorten(record: &mut ToolRecord) {
    let chars_max = match record.phase {
        Phase::Work => SHORTENED_CHARS,
        Phase::Before | Phase::After => SHORTENED_PROBE_CHARS,
    };
    keep(record, chars_max);
}

/// Keeps at most `chars_max` characters of the evidence and adds a mark.
fn keep(record: &mut ToolRecord, chars_max: usize) {
    if record.evidence.chars().count() > chars_max + MARKS_CHARS {
        record.evidence = Source::of(record).excerpt(&record.evidence, chars_max).to_text("");
    }
}

fn cut(record: &mut ToolRecord) {
    keep(record, KEPT_CHARS);
    if record.facts.take().is_some() {
        record.evidence = facts_cut(&record.evidence);
    }
    // A probe keeps its input: checks find their probe by it.
    let input = record.input.to_text();
    if record.phase == Phase::Work && input.len() > KEPT_CHARS {
        record.input = Any::from(clip(&input, KEPT_CHARS).as_str());
    }
}

fn bytes_of(record: &ToolRecord) -> usize {
    let mut counted = CountingWriter(0);
    serde_json::to_writer(&mut counted, record).map_or(0, |()| counted.0)
}

/// A writer that counts bytes and stores none.
struct CountingWriter(usize);

impl io::Write for CountingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(n: u32, phase: &str, evidence: &str) -> Arc<ToolRecord> {
        of_attempt(1, n, phase, evidence)
    }

    fn of_attempt(attempt: u32, n: u32, phase: &str, evidence: &str) -> Arc<ToolRecord> {
        serde_json::from_value(json!({
            "call_id": format!("r3.1/{n}"), "attempt": attempt, "phase": phase, "tool": "read_file",
            "input": {"path": "/a"}, "target": "/a", "ok": true, "evidence": evidence,
            "facts": {"size": evidence.len()}, "duration_ms": 1,
        }))
        .unwrap()
    }

    #[test]
    fn probes_of_the_last_attempt_are_cut_last() {
        let long = "x".repeat(3_000);
        let mut records = [
            record(1, "before", &long),
            record(2, "work", &long),
            record(3, "after", &long),
            of_attempt(2, 4, "work", &long),
            of_attempt(2, 5, "after", &long),
        ];
        let order = [1, 2, 0, 4];
        for cuts in 1..=order.len() {
            let whole: usize = records.iter().map(|record| bytes_of(record)).sum();
            fit(records.iter_mut().collect(), whole - 1);
            let are_cut = |at: &usize| records.get(*at).is_some_and(|record| record.evidence.len() < 300);
            assert!(order.iter().take(cuts).all(are_cut), "{cuts}");
            assert!(!order.iter().skip(cuts).any(are_cut), "{cuts}");
        }
        fit(records.iter_mut().collect(), 0);
        assert_eq!(records[3].evidence, long);
    }

    #[test]
    fn all_are_shortened_before_one_loses_its_body() {
        let file: String = (1..=2_000).map(|n| format!("line {n}\n")).collect();
        let mut records = [
            record(1, "before", &file),
            record(2, "work", &file),
            record(3, "work", &file),
            record(4, "work", &file),
        ];
        let whole: usize = records.iter().map(|record| bytes_of(record)).sum();
        fit(records.iter_mut().collect(), whole - 1);
        let lengths = |records: &[Arc<ToolRecord>]| -> Vec<usize> {
            records.iter().map(|record| record.evidence.chars().count() / 100).collect()
        };
        assert_eq!(lengths(&records), [188, 40, 188, 188]);
        assert!(
            records[1]
                .evidence
                .ends_with("line 456\n[… 1544 more lines, 14897 characters, cut; go on with offset 457 …]")
        );
        fit(records.iter_mut().collect(), whole / 2 + 8_000);
        assert_eq!(lengths(&records), [160, 40, 40, 188]);
        assert!(records.iter().all(|record| record.facts.is_some()));
        fit(records.iter_mut().collect(), 0);
        assert_eq!(lengths(&records), [2, 2, 2, 188]);
        assert!(records[1].evidence.starts_with("line 1\nline 2\n"), "{}", records[1].evidence);
    }

    #[test]
    fn the_oldest_work_is_cut_first_and_the_newest_never() {
        let long = "x".repeat(3_000);
        let mut records = [
            record(1, "before", &long),
            record(2, "work", &long),
            record(3, "work", &long),
            record(4, "work", &long),
        ];
        let whole: usize = records.iter().map(|record| bytes_of(record)).sum();
        fit(records.iter_mut().collect(), whole);
        assert!(records.iter().all(|record| record.evidence == long));
        fit(records.iter_mut().collect(), whole - 1);
        let lengths: Vec<usize> = records.iter().map(|record| record.evidence.len()).collect();
        assert_eq!(lengths, [3_000, 271, 3_000, 3_000]);
        assert!(records.iter().map(|record| record.facts.is_some()).eq([true, false, true, true]));
        fit(records.iter_mut().collect(), 0);
        let lengths: Vec<usize> = records.iter().map(|record| record.evidence.len()).collect();
        assert_eq!(lengths.last(), Some(&3_000));
        assert!(lengths.iter().take(3).all(|length| *length < 300), "{lengths:?}");
    }
}
