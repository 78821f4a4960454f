//! Tasks as texts, one record per line, with edits; the Auditor's findings as text.

use std::collections::BTreeMap;

use setpoint_protocol::message::Finding;
use setpoint_protocol::{TaskId, Timestamp};
use setpoint_roles::r6_auditor::{Auditor, Entry};

pub(crate) const HEALTHY: &str = include_str!("../scripts/r6/healthy.txt");

/// A task's records as labelled lines.
#[derive(Clone)]
pub(crate) struct Script {
    lines: Vec<(String, String)>,
}

impl Script {
    pub(crate) fn healthy() -> Self {
        let lines = HEALTHY.lines().filter(|line| !line.starts_with('#'));
        let labelled = |line: &str| {
            let (label, rest) = line.split_once(": ").unwrap();
            (label.to_owned(), rest.to_owned())
        };
        Script { lines: lines.map(labelled).collect() }
    }

    fn place(&self, label: &str) -> usize {
        self.lines.iter().position(|(own, _)| own == label).unwrap_or_else(|| panic!("no line {label}"))
    }

    /// Inserts a record after another.
    pub(crate) fn behind(mut self, label: &str, own: &str, line: &str) -> Self {
        let at = self.place(label) + 1;
        self.lines.insert(at, (own.to_owned(), line.to_owned()));
        self
    }

    /// Repeats a record after another.
    pub(crate) fn repeated(self, label: &str, behind: &str) -> Self {
        let line = self.lines[self.place(label)].1.clone();
        self.behind(behind, &format!("{label}-again"), &line)
    }

    pub(crate) fn without(mut self, label: &str) -> Self {
        let at = self.place(label);
        self.lines.remove(at);
        self
    }

    /// Removes everything after a record.
    pub(crate) fn cut_behind(mut self, label: &str) -> Self {
        let at = self.place(label) + 1;
        self.lines.truncate(at);
        self
    }

    /// Replaces text in a record.
    pub(crate) fn with(mut self, label: &str, old: &str, new: &str) -> Self {
        let at = self.place(label);
        let line = &mut self.lines[at].1;
        assert!(line.contains(old), "{label} does not say {old}");
        *line = line.replace(old, new);
        self
    }

    /// Feeds it as the task with this number; its records are one second apart, starting at `from_s`.
    pub(crate) fn feed(&self, auditor: &mut Auditor, number: u64, from_s: i64) -> Vec<Finding> {
        self.feed_from(auditor, number, from_s, 0)
    }

    /// Feeds it without its first records.
    pub(crate) fn feed_from(
        &self,
        auditor: &mut Auditor,
        number: u64,
        from_s: i64,
        skip: u64,
    ) -> Vec<Finding> {
        self.feed_each(number, from_s, |entry| {
            let entry = Entry { pos: auditor.position() + 1, ..*entry };
            if entry.seq > skip { auditor.observe(&entry) } else { Vec::new() }
        })
    }

    /// Passes every record to `take`.
    pub(crate) fn feed_each(
        &self,
        number: u64,
        from_s: i64,
        mut take: impl FnMut(&Entry<'_>) -> Vec<Finding>,
    ) -> Vec<Finding> {
        let task = task(number);
        let mut places = BTreeMap::new();
        let mut findings = Vec::new();
        for ((label, line), seq) in self.lines.iter().zip(1..) {
            places.insert(label.clone(), seq);
            let mut words = line.splitn(5, ' ');
            let mut word = || words.next().unwrap();
            let (from, to, kind, cause, body) = (word(), word(), word(), word(), word());
            let body = numbered(body, number);
            findings.extend(take(&Entry {
                pos: seq,
                task: task.as_str(),
                seq,
                at: seconds(from_s + i64::try_from(seq).unwrap()),
                from,
                to,
                kind,
                cause: places.get(cause).copied(),
                body: body.as_bytes(),
                is_system: false,
                is_loss: false,
                is_pruning: false,
                is_pruned: false,
            }));
        }
        findings
    }

    pub(crate) fn findings(&self) -> Vec<Finding> {
        self.feed(&mut Auditor::default(), 1, 0)
    }

    /// Returns the sequence number of a record.
    pub(crate) fn seq(&self, label: &str) -> u64 {
        self.place(label) as u64 + 1
    }
}

/// Renumbers the sub-tasks' ids, which differ between tasks.
fn numbered(body: &str, task: u64) -> String {
    let mut body = body.to_owned();
    for n in 1..=9 {
        body = body.replace(&format!("\"#{n}\""), &format!("\"00000000-0000-7000-8000-{task:06}00000{n}\""));
    }
    body
}

pub(crate) fn task(number: u64) -> TaskId {
    TaskId::mint("count", number)
}

pub(crate) fn seconds(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_767_000_000_000_000 + seconds * 1_000_000)
}

/// Returns the findings as lines, with `#n` for a record's sequence number.
pub(crate) fn text(findings: &[Finding]) -> String {
    let line = |finding: &Finding| {
        let records: Vec<String> = finding.records.iter().map(|seq| format!("#{seq}")).collect();
        let (kind, who) = (finding.kind.name(), finding.accountable.label());
        format!("{kind} {who} {}: {}\n", records.join(" "), finding.text)
    };
    findings.iter().map(line).collect()
}
