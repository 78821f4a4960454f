//! Testing a machine with a text script: inputs in, effects out.
//!
//! A script is a list of lines; the effects of each input are written under it:
//!
//! ```text
//! # a comment
//! = clock 1500                     the task's clock in milliseconds from here on
//! = now 2026-01-02T03:04:05Z       the record time from here on
//! = grant <digest>                 an approval for the whole task
//! = slug count_go_files            the intent's slug
//! = words count the Go files       the person's input
//! = made /w/a.txt                  a file that the task created
//! = took 45000                     milliseconds that an answer of the planner's model took
//! = spec                           the task's clock started here
//! > TaskSpec {"intent": "…"}       a message; JSON may continue in lines that begin with white space
//! > reply r2/1 {"subtasks": …}     a model's text, verbatim
//! > failed r2/1 {"kind": …}        a model that did not answer
//! > tool r3.1/1 {"ok": true, …}    a tool's answer
//! > timer r2/3                     a timer
//! > interrupted r3.1/2             an ask that was interrupted
//! > quiesced                       every stopped ask has been answered
//! < MemoryQuery {…}                an effect; [`run`] rewrites these lines
//! ```
//!
//! An effect's text is on one line: a line break in it is written as `\n`. A line of any other form is an error.
//!
//! [`run`] returns the script with its `<` lines as they are now, so a test is one comparison with the file.

use std::collections::BTreeSet;

use setpoint_protocol::record::{Answer, ModelFailure, Opened, Part, Reply, Usage};
use setpoint_protocol::tool::ToolAnswer;
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{Address, CallId, Instance, RoleId, TaskId, Timestamp};

use crate::ctx::Ctx;
use crate::effects::{Effect, EffectBuffer};
use crate::fit::Need;
use crate::input::AnyInput;
use crate::ledger::Ledger;
use crate::machine::AnyMachine;
use crate::model_call::ModelCall;
use crate::reading::CallReader;

/// The setup of a script.
pub struct Setup<'a> {
    /// Opening of the task.
    pub opened: Opened,
    /// The machine's instance; 0 for singletons.
    pub instance: Instance,
    /// Reader that classifies calls.
    pub reader: &'a dyn CallReader,
    /// Text to show for a model call besides its purpose.
    pub describe: fn(&ModelCall) -> String,
}

impl std::fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("instance", &self.instance).finish_non_exhaustive()
    }
}

/// A line of a script that cannot be run.
#[derive(Debug, thiserror::Error)]
#[error("run script line {line}: {reason}")]
pub struct ScriptError {
    /// Line number, from 1.
    pub line: usize,
    /// Reason that it cannot be run.
    pub reason: String,
}

struct State<'a> {
    setup: Setup<'a>,
    task: TaskId,
    clock_ms: u64,
    now: Timestamp,
    words: String,
    slug: String,
    grants: BTreeSet<String>,
    ledger: Ledger,
    seq: u64,
    calls: u32,
}

/// Runs a script with a machine and returns it with the machine's current effects.
///
/// # Errors
/// Returns the first line that cannot be read or delivered.
pub fn run(machine: &mut dyn AnyMachine, script: &str, setup: Setup<'_>) -> Result<String, ScriptError> {
    let mut state = State {
        setup,
        task: TaskId::mint("script", 1),
        clock_ms: 0,
        now: Timestamp::from_micros(1_767_323_045_000_000),
        words: String::new(),
        slug: String::new(),
        grants: BTreeSet::new(),
        ledger: Ledger::default(),
        seq: 0,
        calls: 0,
    };
    let mut out = String::new();
    let lines: Vec<&str> = script.lines().collect();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let number = at + 1;
        at += 1;
        if line.starts_with('<') {
            continue;
        }
        out.push_str(line);
        out.push('\n');
        let mut text = (*line).to_owned();
        if line.starts_with('>') {
            while let Some(more) = lines.get(at).filter(|more| more.starts_with(char::is_whitespace)) {
                text.push('\n');
                text.push_str(more);
                out.push_str(more);
                out.push('\n');
                at += 1;
            }
        }
        let fail = |reason: String| ScriptError { line: number, reason };
        if let Some(setting) = text.strip_prefix('=') {
            state.set(setting.trim()).map_err(fail)?;
        } else if let Some(input) = text.strip_prefix('>') {
            let input = read_input(input.trim()).map_err(fail)?;
            for effect in state.deliver(machine, input).map_err(fail)? {
                out.push_str(&effect.replace('\n', "\\n"));
                out.push('\n');
            }
        } else if !text.starts_with('#') && !text.trim().is_empty() {
            return Err(fail("a line begins with #, =, > or <".to_owned()));
        }
    }
    Ok(out)
}

impl State<'_> {
    fn set(&mut self, setting: &str) -> Result<(), String> {
        let (name, value) = setting.split_once(' ').unwrap_or((setting, ""));
        match name {
            "clock" => self.clock_ms = value.parse().map_err(|_| format!("not milliseconds: {value}"))?,
            "now" => self.now = value.parse().map_err(|error| format!("{error}"))?,
            "grant" => drop(self.grants.insert(value.to_owned())),
            "slug" => value.clone_into(&mut self.slug),
            "words" => value.clone_into(&mut self.words),
            "made" => self.ledger.tool_made(&[value.to_owned()]),
            "took" => {
                let ms = value.parse().map_err(|_| format!("not milliseconds: {value}"))?;
                let opened = &self.setup.opened;
                self.ledger.record_latency(&opened.models.of(RoleId::Planner).name, ms);
            }
            "spec" => self.ledger.spec_clock_ms = Some(self.clock_ms),
            _ => return Err(format!("unknown setting {name}")),
        }
        Ok(())
    }

    fn deliver(&mut self, machine: &mut dyn AnyMachine, input: AnyInput) -> Result<Vec<String>, String> {
        self.seq += 1;
        if let AnyInput::Message(Payload::TaskSpec(spec)) = &input {
            self.ledger.spec_clock_ms.get_or_insert(self.clock_ms);
            self.words.clone_from(&spec.raw_input);
        }
        let address = Address::effector(machine.role(), self.setup.instance);
        let mut buffer = EffectBuffer::new(address, self.calls, self.task.clone(), self.seq, self.now);
        let ctx = Ctx {
            task: &self.task,
            now: self.now,
            clock_ms: self.clock_ms,
            opened: &self.setup.opened,
            words: &self.words,
            slug: &self.slug,
            time_budget_ms: self.setup.opened.controller.time_budget_ms,
            ledger: &self.ledger,
            grants: &self.grants,
            reader: self.setup.reader,
        };
        machine.handle_any(input, &ctx, &mut buffer).map_err(|error| error.to_string())?;
        let (effects, calls) = buffer.into_parts();
        self.calls = calls;
        for effect in &effects {
            match effect {
                Effect::Model { call, ask } => {
                    let card = self.setup.opened.models.of(call.role);
                    self.ledger.model_asked(*call, ask.purpose(), Need::default(), Some(card));
                }
                Effect::Tool { call, .. } => self.ledger.tool_asked(call.role),
                Effect::Send { .. } | Effect::Timer { .. } | Effect::Survey { .. } => {}
            }
        }
        effects.iter().map(|effect| render(effect, &self.setup)).collect()
    }
}

fn render(effect: &Effect, setup: &Setup<'_>) -> Result<String, String> {
    Ok(match effect {
        Effect::Send { payload, instance } => {
            let body = payload.encode().map_err(|error| error.to_string())?;
            let body = String::from_utf8_lossy(&body);
            if instance.0 != setup.instance.0 {
                format!("< {} to {} {body}", payload.kind(), instance.0)
            } else {
                format!("< {} {body}", payload.kind())
            }
        }
        Effect::Model { call, ask } => {
            let purpose = serde_json::to_string(&ask.purpose()).unwrap_or_default();
            format!("< model {call} {} {}", purpose.trim_matches('"'), (setup.describe)(ask))
                .trim_end()
                .to_owned()
        }
        Effect::Tool { call, ask } => {
            let what = serde_json::to_string(&ask.call).map_err(|error| error.to_string())?;
            let probe = if ask.probe { "probe" } else { "tool" };
            let grant = ask.grant.as_ref().map(|grant| format!(" under {grant}")).unwrap_or_default();
            let caution = if ask.caution { " with caution" } else { "" };
            format!("< {probe} {call} {what}{grant}{caution}")
        }
        Effect::Timer { call, ms } => format!("< timer {call} {ms}"),
        Effect::Survey { call, ask } => {
            let what = if ask.names_only { "names" } else { "survey" };
            format!("< {what} {call} {}", ask.named.join(" ")).trim_end().to_owned()
        }
    })
}

fn read_input(text: &str) -> Result<AnyInput, String> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let json = |error: serde_json::Error| error.to_string();
    let answer = |rest: &str| -> Result<(CallId, String), String> {
        let (call, body) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        Ok((call.parse().map_err(|error| format!("{error}"))?, body.trim().to_owned()))
    };
    Ok(match word {
        "quiesced" => AnyInput::Quiesced,
        "reply" => {
            let (call, body) = answer(rest)?;
            // A reply that is a whole `Reply` may contain tool calls; anything else is text.
            let reply = match serde_json::from_str::<Reply>(&body) {
                Ok(reply) if body.contains("\"parts\"") => reply,
                _ => {
                    Reply { parts: vec![Part::Text(body)], usage: Usage::default(), is_cut: false, by: None }
                }
            };
            AnyInput::Answer { call, answer: Answer::Model(reply) }
        }
        "failed" => {
            let (call, body) = answer(rest)?;
            let failure: ModelFailure = serde_json::from_str(&body).map_err(json)?;
            AnyInput::Answer { call, answer: Answer::ModelFailed(failure) }
        }
        "tool" => {
            let (call, body) = answer(rest)?;
            let tool: ToolAnswer = serde_json::from_str(&body).map_err(json)?;
            AnyInput::Answer { call, answer: Answer::Tool(Box::new(tool)) }
        }
        "survey" => {
            let (call, body) = answer(rest)?;
            let survey = serde_json::from_str(&body).map_err(json)?;
            AnyInput::Answer { call, answer: Answer::Survey(Box::new(survey)) }
        }
        "timer" => AnyInput::Answer { call: answer(rest)?.0, answer: Answer::Timer },
        "interrupted" => AnyInput::Answer { call: answer(rest)?.0, answer: Answer::Interrupted },
        kind => {
            let kind: Kind = kind.parse().map_err(|error| format!("{error}"))?;
            let payload = Payload::decode(kind, rest.as_bytes())
                .map_err(|error| format!("{error}: {}", error.source))?;
            AnyInput::Message(payload)
        }
    })
}
