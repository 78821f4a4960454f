//! Attempts that repeat themselves: those without progress are ended soon, and the others are not.
//!
//! `loops/loops.txt` and `loops/benign.txt` hold one case per `##`: what the model says turn by turn, what its calls
//! return, and after `=` how the attempt ended. R3 itself runs, with the catalogue's own reading of calls; no call is
//! executed. A turn is one line:
//!
//! ```text
//! tool {"its":"input"} -> what it gave
//! tool {"its":"input"} -> !error_kind what it said     `!exit` precedes the exit code
//! + tool {"its":"input"} -> …                          one more call in the turn of the line above
//! say an answer                                        `\n` is a line break
//! 5x …                                                 the turn, so often
//! repeat 5                                             the turns up to `end`, so often; without a number for ever
//! ```
//!
//! `{n}` counts the repetitions, `{m}` counts down, `{t}` is a time stamp and `{h}` a nonce; both change with every
//! turn.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use expect_test::expect_file;
use serde_json::json;
use setpoint_machine::effects::{Effect, EffectBuffer};
use setpoint_machine::{AnyInput, AnyMachine, CallReader, Ctx, Ledger};
use setpoint_protocol::message::{ExecutionResult, ExecutionStatus, SubTask};
use setpoint_protocol::record::{Answer, Opened, Part, Reply, Surroundings, Usage};
use setpoint_protocol::tool::{CallReading, Effect as CallEffect, ToolAnswer, ToolCall, ToolSpec};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{Address, Any, CallId, Instance, TaskId, Timestamp, ToolId};
use setpoint_roles::r3_executor::Executor;
use setpoint_tools::{Host, Registry};

use crate::support::new_task;

/// Maximum turns until a loop is ended.
const LOOP_TURNS_MAX: usize = 12;
/// Number of turns after which this test stops a case.
const TURNS_MAX: usize = 60;

#[test]
fn attempts_without_progress_are_ended_soon() {
    let cases = check("loops");
    assert!(cases.len() >= 60, "{}", cases.len());
    for Case { name, end, .. } in cases {
        let end = end.unwrap();
        assert!(end.turns <= LOOP_TURNS_MAX, "{name}: {end:?}");
        let is_told = end.why.starts_with("no progress: ") || end.why.starts_with("the model gave no answer");
        // A text without a call is an answer; R4a has to judge it.
        let is_answer = end.status == ExecutionStatus::Completed && end.turns == 1;
        assert!(is_answer || (end.status == ExecutionStatus::Failed && is_told), "{name}: {end:?}");
    }
}

#[test]
fn attempts_with_progress_are_not_ended() {
    let cases = check("benign");
    assert!(cases.len() >= 40, "{}", cases.len());
    for Case { name, turns, end, .. } in cases {
        let end = end.unwrap();
        assert_eq!(end.status, ExecutionStatus::Completed, "{name}: {end:?}");
        assert_eq!(end.turns, turns.len(), "{name}: not all of it was played");
    }
}

/// Plays all cases of a file and compares their ends with the expected ones.
fn check(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/loops/{file}.txt"));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut cases = parse(&text);
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "a name is there twice");
    for case in &mut cases {
        case.end = Some(play(case));
    }
    let mut found = String::new();
    let mut ends = cases.iter();
    for block in text.split_inclusive("\n\n") {
        let mut lines: Vec<&str> = block.trim_end().lines().filter(|line| !line.starts_with('=')).collect();
        let end;
        if block.starts_with("## ") {
            end = ends.next().and_then(|case| case.end.as_ref()).unwrap().to_string();
            lines.push(&end);
        }
        writeln!(found, "{}\n", lines.join("\n")).unwrap();
    }
    expect_file![path].assert_eq(&format!("{}\n", found.trim_end()));
    cases
}

struct Case {
    name: String,
    turns: Vec<String>,
    is_endless: bool,
    end: Option<End>,
}

/// The end of an attempt.
#[derive(Debug)]
struct End {
    status: ExecutionStatus,
    turns: usize,
    why: String,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let status = if self.status == ExecutionStatus::Completed { "answered" } else { "ended" };
        let s = if self.turns == 1 { "" } else { "s" };
        write!(f, "= {status} after {} turn{s}: {}", self.turns, self.why)
    }
}

fn parse(text: &str) -> Vec<Case> {
    text.split("\n\n").filter(|block| block.starts_with("## ")).map(case).collect()
}

fn case(block: &str) -> Case {
    let mut lines = block.lines().filter(|line| !line.is_empty() && !line.starts_with('='));
    let name = lines.next().and_then(|line| line.strip_prefix("## ")).unwrap().to_owned();
    let mut turns: Vec<String> = Vec::new();
    let mut repeated: Option<(usize, Vec<String>)> = None;
    let mut is_endless = false;
    for line in lines {
        if line == "repeat" {
            is_endless = true;
        } else if let Some(times) = line.strip_prefix("repeat ") {
            repeated = Some((times.parse().unwrap(), Vec::new()));
        } else if line == "end" {
            let (times, body) = repeated.take().unwrap();
            turns.extend((1..=times).flat_map(|n| body.iter().map(move |turn| counted(turn, n, times))));
        } else if let Some(call) = line.strip_prefix("+ ") {
            let turns = repeated.as_mut().map_or(&mut turns, |(_, body)| body);
            let last = turns.last_mut().unwrap();
            last.push('\n');
            last.push_str(call);
        } else {
            let (times, turn) = match line.split_once("x ") {
                Some((times, turn)) if times.parse::<usize>().is_ok() => (times.parse().unwrap(), turn),
                _ => (1, line),
            };
            match &mut repeated {
                Some((_, body)) => body.push(turn.to_owned()),
                None if times == 1 => turns.push(turn.to_owned()),
                None => turns.extend((1..=times).map(|n| counted(turn, n, times))),
            }
        }
    }
    Case { name, turns, is_endless, end: None }
}

fn counted(turn: &str, n: usize, of: usize) -> String {
    turn.replace("{n}", &n.to_string()).replace("{m}", &(of + 1 - n).to_string())
}

/// A turn of the model: its reply, and what its calls return.
struct Turn {
    reply: Reply,
    results: VecDeque<(ToolCall, ToolAnswer)>,
}

impl Case {
    /// Returns the turn of this number, from 1.
    fn turn(&self, number: usize) -> Turn {
        let index = if self.is_endless { (number - 1) % self.turns.len() } else { number - 1 };
        let line = self.turns.get(index).unwrap_or_else(|| panic!("{}: it goes on after its end", self.name));
        let hash = blake3::hash(&number.to_le_bytes()).to_hex();
        let line = counted(line, number, number)
            .replace("{t}", &(1_700_000_000 + 37 * number).to_string())
            .replace("{h}", hash.get(..12).unwrap());
        let text = line.strip_prefix("say");
        let results: VecDeque<_> = match text {
            Some(_) => VecDeque::new(),
            None => line.lines().map(result).collect(),
        };
        let parts = match text {
            Some(text) => vec![Part::Text(text.trim_start_matches(' ').replace("\\n", "\n"))],
            None => results.iter().map(|(call, _)| Part::ToolCall(call.clone().into())).collect(),
        };
        Turn { reply: Reply { parts, usage: Usage::default(), is_cut: false, by: None }, results }
    }
}

fn result(line: &str) -> (ToolCall, ToolAnswer) {
    let (call, result) = line.split_once(" -> ").unwrap_or_else(|| panic!("no result: {line}"));
    let (tool, input) = call.split_once(' ').unwrap();
    let input = serde_json::from_str(input).unwrap_or_else(|error| panic!("{error}: {input}"));
    let result = result.replace("\\n", "\n");
    let answer = match result.strip_prefix('!') {
        None => ToolAnswer { ok: true, text: result, ..ToolAnswer::default() },
        Some(error) => {
            let (kind, text) = error.split_once(' ').unwrap();
            let (exit_code, text) = match (kind, text.split_once(' ')) {
                ("exit", Some((code, text))) => (Some(code.parse().unwrap()), text),
                _ => (None, text),
            };
            let error_kind = serde_json::from_value(json!(kind)).unwrap();
            ToolAnswer {
                error_kind: Some(error_kind),
                exit_code,
                text: text.to_owned(),
                ..ToolAnswer::default()
            }
        }
    };
    (ToolCall { tool: tool.to_owned(), input: Any(input) }, answer)
}

/// The catalogue's own reader, with two tools that the catalogue lacks: a poll and a fetch.
struct Reader(Registry);

const VOLATILE: [&str; 2] = ["job_status", "fetch"];

impl CallReader for Reader {
    fn read(&self, call: &ToolCall, surroundings: &Surroundings) -> CallReading {
        if !VOLATILE.contains(&call.tool.as_str()) {
            return self.0.read(call, surroundings);
        }
        CallReading {
            tools: vec![ToolId::of_name(&call.tool)],
            target: call.input.to_text(),
            beyond: Some(String::new()),
            effect: CallEffect::ReadOnly,
            volatile: true,
        }
    }
}

fn play(case: &Case) -> End {
    let reader = Reader(Registry::built_in(&Host::new("linux", [])));
    let mut specs = reader.0.specs();
    for name in VOLATILE {
        let spec =
            json!({"name": name, "description": "", "input_schema": {}, "class": "fetch", "volatile": true});
        specs.push(serde_json::from_value::<ToolSpec>(spec).unwrap());
    }
    let surroundings = Surroundings {
        cwd: "/ws".to_owned(),
        home: "/home/ada".to_owned(),
        workspace: "/ws/.out".to_owned(),
        os: "linux".to_owned(),
        ..Surroundings::default()
    };
    let tools = specs.into_iter().map(Arc::new).collect();
    let opened = Opened { tools, surroundings: surroundings.into(), ..new_task().opened };
    let mut plant = Plant { machine: Box::new(Executor::default()), reader, opened, calls: 0, seq: 0 };
    let mut waiting = plant.deliver(AnyInput::Message(Payload::from(subtask())));
    let mut turns = 0;
    let mut results = VecDeque::new();
    loop {
        match waiting {
            Waiting::Ended(result) => {
                let why = result.output.to_text();
                return End { status: result.status, turns, why };
            }
            Waiting::ForModel(call) => {
                turns += 1;
                if turns > TURNS_MAX {
                    return End {
                        status: ExecutionStatus::Uncertain,
                        turns,
                        why: "it never ended".to_owned(),
                    };
                }
                let turn = case.turn(turns);
                results = turn.results;
                waiting = plant.deliver(AnyInput::Answer { call, answer: Answer::Model(turn.reply) });
            }
            Waiting::ForTool(call, asked) => {
                // A call that was answered from a record, or refused, does not run: its result is not used.
                let answer = loop {
                    match results.pop_front() {
                        Some((call, answer)) if call == asked => break answer,
                        Some(_) => {}
                        // A call written as text has no result of its own.
                        None => {
                            break ToolAnswer { ok: true, text: "one".to_owned(), ..ToolAnswer::default() };
                        }
                    }
                };
                waiting = plant.deliver(AnyInput::Answer { call, answer: Answer::Tool(Box::new(answer)) });
            }
        }
    }
}

/// R3 and its surroundings.
struct Plant {
    machine: Box<dyn AnyMachine>,
    reader: Reader,
    opened: Opened,
    calls: u32,
    seq: u64,
}

enum Waiting {
    ForModel(CallId),
    ForTool(CallId, ToolCall),
    Ended(Box<ExecutionResult>),
}

impl Plant {
    /// Delivers an input; R3 waits for one thing at a time.
    fn deliver(&mut self, input: AnyInput) -> Waiting {
        self.seq += 1;
        let task = TaskId::mint("loops", 1);
        let address = Address::effector(self.machine.role(), Instance(1));
        let now = Timestamp::from_micros(1_767_323_045_000_000);
        let mut buffer = EffectBuffer::new(address, self.calls, task.clone(), self.seq, now);
        let ctx = Ctx {
            task: &task,
            now,
            clock_ms: self.seq,
            opened: &self.opened,
            words: "",
            slug: "",
            time_budget_ms: 300_000,
            ledger: &Ledger::default(),
            grants: &BTreeSet::new(),
            reader: &self.reader,
        };
        self.machine.handle_any(input, &ctx, &mut buffer).unwrap();
        let (effects, calls) = buffer.into_parts();
        self.calls = calls;
        let mut effects = effects.into_iter().filter_map(|effect| match effect {
            Effect::Model { call, .. } => Some(Waiting::ForModel(call)),
            Effect::Tool { call, ask } => Some(Waiting::ForTool(call, ask.call)),
            Effect::Send { payload: Payload::ExecutionResult(result), .. } => {
                Some(Waiting::Ended(Box::new(result)))
            }
            Effect::Send { .. } | Effect::Timer { .. } | Effect::Survey { .. } => None,
        });
        let waiting = effects.next().expect("nothing is waited for and nothing was said");
        assert!(effects.next().is_none(), "two things are waited for");
        waiting
    }
}

fn subtask() -> SubTask {
    serde_json::from_value(json!({
        "subtask_id": "00000000-0000-7000-8000-000000000001", "intent": "do what has to be done",
        "success_criteria": [{"id": "s1.c1", "criterion": "the work is done", "mode": "verifiable"}],
        "context": "", "sequence": 1, "fingerprint": "f1",
    }))
    .unwrap()
}
