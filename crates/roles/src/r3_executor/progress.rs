//! Detects attempts without progress: counts the same call with the same result, and rounds without news.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use setpoint_protocol::limits::SAME_RESULT_MAX;
use setpoint_protocol::tool::{Effect, ErrorKind, ToolRecord};
use setpoint_protocol::{CallId, ToolId};

use super::news::AttemptResults;
use crate::evidence::ExaminedCall;

/// The calls of one attempt.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// Number of distinct calls that may change something.
    epoch: u64,
    /// Number of calls that may change something.
    changes: u64,
    /// Distinct calls made that may change something.
    made: BTreeSet<Key>,
    seen: BTreeMap<(Key, u64), SeenCall>,
    /// Calls of this round.
    round: BTreeSet<Key>,
    news: AttemptResults,
}

/// The identity of a call: its tools, its target, and the parameters that the target does not cover.
///
/// A call reader may give all parameters in normal form. Otherwise the target is taken as the normal form of one
/// parameter (the path, the command), and the others are compared as they are: two edits of one file differ, and so
/// do two pages of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) tools: Vec<ToolId>,
    pub(super) target: String,
    pub(super) rest: String,
}

/// The identity of a result.
pub(super) type Digest = [u8; 32];

#[derive(Clone, Debug)]
struct SeenCall {
    /// Last result.
    last: CallId,
    digest: Digest,
    is_ok: bool,
    /// Whether the record can replace another run of a read.
    is_lasting: bool,
    /// Number of changes when it was recorded.
    changes: u64,
    /// How often each result occurred.
    results: BTreeMap<Digest, u32>,
}

/// Whether the attempt may continue.
#[must_use = "an attempt without progress has to end"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    GoOn,
    /// The same call has given the same result too often.
    Stuck,
}

/// The news of a round.
#[must_use = "an attempt without news has to end"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// Something new, or too few rounds have passed to tell.
    GoOn,
    /// Nothing new for this many rounds: the model is told so.
    Slow(u32),
    /// Nothing new for this many rounds.
    Stale(u32),
    /// Only known errors for this many rounds.
    Failing(u32),
}

impl Progress {
    /// Returns the record that answers this call without running it.
    pub(super) fn known(&self, called: &ExaminedCall) -> Option<CallId> {
        if called.reading.effect != Effect::ReadOnly || called.reading.volatile {
            return None;
        }
        let seen = self.seen.get(&(Key::of(called), self.epoch))?;
        (seen.is_lasting && seen.changes == self.changes).then_some(seen.last)
    }

    /// Counts a call that was answered from its record, at most once per round: a model that repeats a call within
    /// one reply has not seen the answer yet.
    pub(super) fn repeated(&mut self, called: &ExaminedCall) -> Pace {
        let key = Key::of(called);
        let is_of_this_round = !self.round.insert(key.clone());
        match self.seen.get_mut(&(key, self.epoch)) {
            Some(seen) => {
                self.news.repeated(seen.is_ok);
                if is_of_this_round {
                    Pace::GoOn
                } else {
                    count(seen.results.entry(seen.digest).or_default())
                }
            }
            None => Pace::GoOn,
        }
    }

    /// Counts a call that ran, with its output `result`.
    pub(super) fn ran(&mut self, called: &ExaminedCall, record: &ToolRecord, result: &[u8]) -> Pace {
        let (key, digest) = (Key::of(called), digest(record, result));
        self.round.insert(key.clone());
        if called.reading.effect == Effect::Unsafe {
            self.changes += 1;
            if self.made.insert(key.clone()) {
                self.epoch += 1;
            }
        }
        if called.reading.effect == Effect::Unsafe && record.ok {
            self.news.changed();
        } else {
            self.news.count_answer(&key, record, &digest);
        }
        self.count(key, record, digest)
    }

    /// Counts a refused call, which changed nothing.
    pub(super) fn refused(&mut self, called: &ExaminedCall, record: &ToolRecord) -> Pace {
        let (key, digest) = (Key::of(called), digest(record, record.evidence.as_bytes()));
        self.news.count_answer(&key, record, &digest);
        self.count(key, record, digest)
    }

    /// Ends a round of calls.
    pub(super) fn end_round(&mut self) -> Round {
        self.round.clear();
        self.news.end_round()
    }

    fn count(&mut self, key: Key, record: &ToolRecord, digest: Digest) -> Pace {
        let seen = self.seen.entry((key, self.epoch)).or_insert_with(|| SeenCall {
            last: record.call_id,
            digest,
            is_ok: false,
            is_lasting: false,
            changes: 0,
            results: BTreeMap::new(),
        });
        seen.last = record.call_id;
        seen.digest = digest;
        seen.is_ok = record.ok;
        seen.is_lasting = is_lasting(record.error_kind);
        seen.changes = self.changes;
        count(seen.results.entry(digest).or_default())
    }
}

impl Key {
    fn of(called: &ExaminedCall) -> Self {
        let target = called.reading.target.clone();
        if let Some(beyond) = &called.reading.beyond {
            return Key { tools: called.reading.tools.clone(), target, rest: beyond.clone() };
        }
        let mut rest = called.call.input.clone();
        if let Value::Object(fields) = &mut rest.0 {
            let says_the_target =
                |value: &Value| value.as_str().is_some_and(|text| stands_for(text, &target));
            // If several parameters match, it is unknown which one the target covers, so all of them are kept.
            if fields.values().filter(|value| says_the_target(value)).count() == 1 {
                fields.retain(|_, value| !says_the_target(value));
            }
        }
        Key { tools: called.reading.tools.clone(), target, rest: rest.to_text() }
    }
}

/// Returns whether the target is this text in normal form without loss: they differ only in white space, or the text
/// is the end of an absolute path.
fn stands_for(text: &str, target: &str) -> bool {
    let is_spaced_otherwise = text.split_whitespace().eq(target.split_whitespace());
    let relative = text.trim_start_matches("./");
    let is_end = target.starts_with('/')
        && !relative.is_empty()
        && target.strip_suffix(relative).is_some_and(|rest| rest.ends_with('/'));
    is_spaced_otherwise || is_end
}

fn count(times: &mut u32) -> Pace {
    *times = times.saturating_add(1);
    if *times >= SAME_RESULT_MAX { Pace::Stuck } else { Pace::GoOn }
}

/// Returns whether repeating the read would give the same result; after a transient error it might not.
fn is_lasting(error: Option<ErrorKind>) -> bool {
    match error {
        None
        | Some(
            ErrorKind::NotFound
            | ErrorKind::Permission
            | ErrorKind::MissingTool
            | ErrorKind::Exit
            | ErrorKind::InvalidData,
        ) => true,
        // A call is not known by a parameter that was wrong, so the right one must run.
        Some(
            ErrorKind::InvalidInput
            | ErrorKind::Timeout
            | ErrorKind::Network
            | ErrorKind::RateLimit
            | ErrorKind::Storage
            | ErrorKind::Signal
            | ErrorKind::Interrupted
            | ErrorKind::Blocked
            | ErrorKind::ApprovalRequired
            | ErrorKind::Consent
            | ErrorKind::Other,
        ) => false,
    }
}

fn digest(record: &ToolRecord, result: &[u8]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    let head = (record.ok, record.error_kind, record.exit_code);
    hasher.update(&serde_json::to_vec(&head).unwrap_or_default());
    hasher.update(result);
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use setpoint_protocol::tool::{CallReading, Phase, ToolAnswer, ToolCall};

    /// Plays one word per call and round: `!` may change something, `~` is volatile; `=` gives the result, otherwise
    /// there is none.
    fn play(script: &str) -> String {
        let mut progress = Progress::default();
        let mut out = Vec::new();
        for word in script.split_whitespace() {
            let (call, result) = word.split_once('=').unwrap_or((word, ""));
            let called = ExaminedCall {
                call: ToolCall { tool: "t".to_owned(), input: json!({"path": call}).into() },
                reading: CallReading {
                    tools: vec!["t".parse().unwrap()],
                    target: call.to_owned(),
                    beyond: None,
                    effect: if call.starts_with('!') { Effect::Unsafe } else { Effect::ReadOnly },
                    volatile: call.starts_with('~'),
                },
                attempt: 1,
                phase: Phase::Work,
            };
            let verdict = if progress.known(&called).is_some() {
                out.push("known");
                progress.repeated(&called)
            } else {
                out.push("ran");
                let answer = ToolAnswer { ok: true, ..ToolAnswer::default() };
                let record = called.answered("r3.1/1".parse().unwrap(), &answer);
                progress.ran(&called, &record, result.as_bytes())
            };
            if verdict == Pace::Stuck {
                out.push("stuck");
                break;
            }
            assert!(matches!(progress.end_round(), Round::GoOn | Round::Slow(_)), "{script}");
        }
        out.join(" ")
    }

    #[test]
    fn cycles_end_the_attempt_and_work_continues() {
        for (script, expected) in [
            ("a a a", "ran known known stuck"),
            ("!a !a !a", "ran ran ran stuck"),
            ("~a ~a ~a", "ran ran ran stuck"),
            ("~a=1 ~a=2 ~a=3 ~a=4 ~a=1 ~a=1", "ran ran ran ran ran ran stuck"),
            ("a b a b a", "ran ran known known known stuck"),
            ("!edit1 !test !edit2 !test !edit3 !test !edit4 !test", "ran ran ran ran ran ran ran ran"),
            ("!edit1 test !edit2 test !edit3 test !edit4 test", "ran ran ran ran ran ran ran ran"),
            ("!edit1 !test !edit1 !test !edit1 !test", "ran ran ran ran ran ran stuck"),
            ("!a=x read=x !b=y read=y !a=x read=x", "ran ran ran ran ran ran"),
        ] {
            assert_eq!(play(script), expected, "{script}");
        }
    }

    #[test]
    fn cosmetic_differences_are_ignored_and_parameters_count() {
        let key = |target: &str, input: serde_json::Value| {
            let reading = CallReading {
                tools: vec!["t".parse().unwrap()],
                target: target.to_owned(),
                beyond: None,
                effect: Effect::ReadOnly,
                volatile: false,
            };
            let call = ToolCall { tool: "t".to_owned(), input: input.into() };
            Key::of(&ExaminedCall { call, reading, attempt: 1, phase: Phase::Work })
        };
        let file = "/ws/src/a";
        assert_eq!(key(file, json!({"path": "src/a"})), key(file, json!({"path": "./src/a"})));
        assert_eq!(key(file, json!({"path": "a"})), key(file, json!({"path": "/ws/src/a"})));
        assert_ne!(key(file, json!({"path": "a", "line": 1})), key(file, json!({"path": "a", "line": 2})));
        assert_ne!(
            key(file, json!({"path": "a", "text": "x"})),
            key(file, json!({"path": "a", "text": "y"}))
        );
        assert_ne!(
            key(file, json!({"path": file, "find": "a"})),
            key(file, json!({"path": file, "find": "b"}))
        );
        assert_eq!(key("ls -l", json!({"command": "ls  -l"})), key("ls -l", json!({"command": " ls -l"})));
        assert_ne!(key("ls", json!({"command": "ls > a"})), key("ls", json!({"command": "ls > b"})));
    }
}
