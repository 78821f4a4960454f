//! Whole tasks that are difficult for a page: many rounds, texts that attack, more than a person would read.

use serde_json::json;
use setpoint_protocol::RoleId::*;
use setpoint_protocol::message::*;
use setpoint_protocol::record::{Purpose, Usage};
use setpoint_protocol::tool::ToolRecord;

use super::tape::*;

const LOGICAL: Option<FailureClass> = Some(FailureClass::Logical);
const ENVIRONMENTAL: Option<FailureClass> = Some(FailureClass::Environmental);

/// The size of a task.
struct Size {
    rounds: u32,
    subtasks: u32,
    attempts: u32,
}

/// Returns a task of four rounds with a correction each, in every direction, that is given up.
pub(crate) fn abandoned() -> Tape {
    let size = Size { rounds: 4, subtasks: 2, attempts: 2 };
    worked("bring the nightly build back to green", &size, &["exit 1: tests/api.rs:41 left: 200, right: 503"])
}

/// Returns the largest possible task: every sub-task of every round fails in every attempt.
pub(crate) fn huge() -> Tape {
    let size = Size { rounds: 4, subtasks: 32, attempts: 3 };
    worked(
        "do everything at once",
        &size,
        &["one line of a long output that says little\n", "and more of it\n"],
    )
}

/// Texts that could attack a browser, a terminal or a reader.
pub(crate) const ATTACKS: [&str; 9] = [
    "</title></style></script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "<!-- <iframe src=https://evil.example>",
    "user\u{202e}txt.exe\u{202c} and \u{2066}more\u{2069}",
    "\u{1b}[2J\u{1b}]8;;https://evil.example\u{7}click\u{1b}]8;;\u{7}",
    "zero\u{200b}width\u{feff} \0 \u{85} \u{9b}31m e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "]]> &lt;b&gt; &amp; <svg onload=alert(1)> javascript:alert(1)",
    "עברית ו-العربية beside 日本語 and 👩\u{200d}🔧",
];

/// Returns a task with all of them wherever a text can be, and with a word that is wider than any page.
pub(crate) fn hostile() -> Tape {
    let long = "Donaudampfschifffahrtsgesellschaft".repeat(30);
    let mut texts = ATTACKS.to_vec();
    texts.push(&long);
    let size = Size { rounds: 3, subtasks: 2, attempts: 2 };
    worked(&texts.join("\n"), &size, &texts)
}

/// Returns a task whose sub-tasks fail round after round. Every text from outside consists of `texts`.
fn worked(goal: &str, size: &Size, texts: &[&str]) -> Tape {
    let text = texts.join(" ");
    let mut tape = Tape::opened(goal);
    let usage = Usage { tokens_in: 700, tokens_out: 3, tokens_cached: 0 };
    tape.after(3_000)
        .ask_model("r1/1", Purpose::Perceive)
        .after(1_200)
        .reask_after("r1/1", 2, &format!("the server is busy: {text}"), usage)
        .after(900)
        .answer_model("r1/1", 800, 60)
        .say(
            Perceiver,
            0,
            TaskSpec {
                constraints: Constraints { scope: Some(text.clone()), deadline: None },
                clarifications: vec![Clarification { question: text.clone(), answer: text.clone() }],
                ..spec(&text)
            },
        );
    for round in 1..=size.rounds {
        work_a_round(&mut tape, round, size, &text);
    }
    let mut result = final_result(EndState::Abandon, EndedBy::Omega);
    result.summary = format!("Given up: {text}");
    result.output = setpoint_protocol::Any(json!({ "report": text, "tried": size.rounds }));
    result.loss = loss(0.5, 0.5, 0.8, 0.65);
    result.grad_l = 0.02;
    result.accountable = Some(Planner);
    result.unmet_criteria = vec![text.clone()];
    result.next_moves = texts.iter().map(|text| format!("try: {text}")).collect();
    tape.say(GoalGradientSolver, 0, result);
    tape
}

fn work_a_round(tape: &mut Tape, round: u32, size: &Size, text: &str) {
    let number = |n: u32| (round - 1) * size.subtasks + n;
    let criteria = |n: u32| {
        [1, 2].map(|c| criterion(&format!("s{}.c{c}", number(n)), &format!("{c} of {n}: {text}"))).to_vec()
    };
    let plan = format!("r2/{round}");
    tape.ask_model(&plan, Purpose::Plan).after(6_000).answer_model(&plan, 3_000, 700);
    let entries: Vec<_> = (1..=size.subtasks).map(|n| (number(n), 1, criteria(n))).collect();
    tape.say(Planner, 0, manifest(round, &entries, vec![criterion("t1", &format!("the whole: {text}"))]));
    for n in 1..=size.subtasks {
        tape.say(Planner, instance(number(n)), subtask(number(n), text, criteria(n)));
    }
    let mut outcomes = vec![];
    for n in 1..=size.subtasks {
        outcomes.push(work(tape, number(n), criteria(n), size.attempts, text));
    }
    let (d, p, omega) = (1.0 / f64::from(round), 0.8 - 0.2 * f64::from(round), 0.2 * f64::from(round));
    let end = loss(d, p, omega, 0.6 * d + 0.3 * (1.0 - omega) * p + 0.4 * omega);
    tape.say(MetaValidator, 0, replan(round, outcomes, None));
    if round < size.rounds {
        let state = [ActionState::ChangePath, ActionState::BreakSymmetry, ActionState::Refine]
            [(round as usize - 1) % 3];
        let mut directive = directive(state, end, 0.1 - 0.1 * f64::from(round), &["shell/cargo"], text);
        directive.blocked_targets = vec![format!("shell/make: {text}")];
        tape.after(500).say(GoalGradientSolver, 0, directive);
    }
}

/// Adds a sub-task's fast loop, which ends with a criterion that holds and one that does not.
fn work(tape: &mut Tape, n: u32, criteria: Vec<Criterion>, attempts: u32, text: &str) -> SubTaskOutcome {
    let [first, second] = [1, 2].map(|c| format!("s{n}.c{c}"));
    let mut calls: Vec<ToolRecord> = vec![];
    for attempt in 1..=attempts {
        let (model, tool) = (format!("r3.{n}/{}", attempt * 2 - 1), format!("r3.{n}/{}", attempt * 2));
        tape.ask_model(&model, Purpose::Execute)
            .after(700)
            .answer_model(&model, 1_500, 90)
            .ask_tool(&tool, "shell", json!({ "command": text }))
            .after(1_100)
            .answer_tool(&tool, 1, 1_100);
        let mut call = tool_record(&tool, "shell/cargo", text, 1);
        call.attempt = attempt;
        call.evidence = text.repeat(20);
        calls.push(call);
        tape.say(Executor, instance(n), execution(n, attempt, calls.clone()));
        if attempt < attempts {
            let signal = correction(n, attempt, ("", LOGICAL), text, &[&second]);
            tape.say(AgentValidator, instance(n), signal);
        }
    }
    let last = format!("r3.{n}/{}", attempts * 2);
    let verdicts = vec![
        pass(&first, "the first", text, &[&last]),
        fail(&second, "the second", ENVIRONMENTAL, text, &[&last]),
    ];
    let gaps = (1..=attempts).map(|attempt| gap(attempt, &[(&second, LOGICAL)])).collect();
    let mut ended = outcome(n, criteria, verdicts, gaps, calls);
    ended.failure_reason = Some(text.to_owned());
    tape.say(AgentValidator, instance(n), ended.clone());
    ended
}

fn instance(n: u32) -> u16 {
    u16::try_from(n).unwrap()
}

/// Returns a task that broke before it had a plan.
pub(crate) fn broken() -> Tape {
    let mut tape = Tape::opened("reach a model that is not there");
    let mut result = final_result(EndState::Abandon, EndedBy::Fault);
    result.accountable = Some(Runtime);
    result.output = setpoint_protocol::Any::NULL;
    result.next_moves = vec!["start the server at 127.0.0.1:11434".to_owned()];
    tape.ask_model("r1/1", Purpose::Perceive)
        .after(200)
        .say(
            Runtime,
            0,
            TaskFault {
                role: Runtime,
                kind: FaultKind::Fault,
                reason: "no model could read the goal: connection refused".to_owned(),
                failure_class: ENVIRONMENTAL,
                hints: vec![],
                retryable: false,
                elapsed_ms: 0,
            },
        )
        .say(GoalGradientSolver, 0, result);
    tape
}
