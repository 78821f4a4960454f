//! One question to a person and its answer: by the approval policy, by the person's keys, or by the rule for
//! questions that no person can be asked. Pure: keys in, lines and a payload out.

use setpoint_app::approvals::{self, Policy, Word};
use setpoint_protocol::CallId;
use setpoint_protocol::message::{
    ApprovalDecision, ApprovalRequest, ApprovalWord, ClarificationAnswer, ClarificationRequest, Criterion,
    PlanDecision, PlanProposal,
};
use setpoint_protocol::tool::ApprovalNeed;
use setpoint_protocol::topology::Payload;

use super::line_edit::{KeyEffect, LineEdit};
use super::stray::{Answering, Stray};
use crate::io::Key;
use crate::state::ViewState;
use crate::state::asks::Question;
use crate::state::consents::HEADLESS;
use crate::text::{Line, Tone, columns, sanitise};
use crate::view::words;

/// The name recorded for decisions of the person at the terminal.
const TERMINAL: &str = "terminal";

/// Columns of a program's line that fit beside its sign on a terminal of 80.
const PROGRAM_COLUMNS_MAX: usize = 74;

/// A question on the screen.
#[derive(Debug)]
pub(crate) enum Dialogue {
    /// May this be done? `wider` are the lines of an approval file that allow others like it, too.
    Approval { request: ApprovalRequest, wider: Vec<String>, stray: Stray },
    /// What does the goal mean?
    Clarification { request: ClarificationRequest, answers: Vec<String>, line: LineEdit },
    /// Is the plan right, and may it do what it needs? `needs` are the lines that can be allowed, and `note` is the
    /// change that is being typed, if any.
    Plan { proposal: PlanProposal, needs: Vec<String>, note: Option<LineEdit>, stray: Stray },
}

/// The effect of a key.
#[derive(Debug)]
#[must_use = "an answer must be said"]
pub(crate) enum Step {
    /// Nothing visible.
    Ignored,
    /// The input line changed.
    Changed,
    /// These lines are now above the input line.
    Printed(Vec<Line>),
    /// The answer, with the line that stays on the screen.
    Answered { echo: Line, payload: Payload },
}

impl Dialogue {
    pub(crate) fn new(question: Question, state: &ViewState) -> Self {
        match question {
            Question::Approval(request) => {
                let wider = approvals::wider(&request.need, &state.surroundings);
                Dialogue::Approval { request, wider, stray: Stray::default() }
            }
            Question::Clarification(request) => {
                Dialogue::Clarification { request, answers: Vec::new(), line: LineEdit::default() }
            }
            Question::Plan(proposal) => {
                let needs = open_needs(&proposal, state);
                Dialogue::Plan { needs, proposal, note: None, stray: Stray::default() }
            }
        }
    }

    /// Returns the ask that it answers.
    pub(crate) const fn call(&self) -> CallId {
        match self {
            Dialogue::Approval { request, .. } => request.call_id,
            Dialogue::Clarification { request, .. } => request.call_id,
            Dialogue::Plan { proposal, .. } => proposal.call_id,
        }
    }

    /// Returns the question in full.
    pub(crate) fn opening(&self) -> Vec<Line> {
        match self {
            Dialogue::Approval { request, .. } => approval(request),
            Dialogue::Clarification { request, .. } => {
                let mut lines = vec![heading(
                    "The goal leaves something open. Press Enter alone to continue without an answer.",
                )];
                lines.extend(question(request, 0));
                lines
            }
            Dialogue::Plan { proposal, needs, .. } => plan(proposal, needs),
        }
    }

    /// Returns the text before the cursor.
    pub(crate) fn prompt(&self) -> Line {
        let keys = |keys: &[(&str, &str)]| {
            let mut line = Line::new();
            for (key, meaning) in keys {
                line.push(Tone::Strong, &format!("[{key}]"));
                line.push(Tone::Plain, &format!(" {meaning}  "));
            }
            line
        };
        match self {
            Dialogue::Approval { wider, .. } if wider.is_empty() => {
                keys(&[("y", "once"), ("t", "for this task"), ("n", "no")])
            }
            Dialogue::Approval { wider, .. } => {
                let what = if wider.iter().all(|line| line.starts_with("host ")) { "hosts" } else { "paths" };
                let all = format!("for this task, all to these {what}");
                keys(&[("y", "once"), ("t", "for this task"), ("n", "no"), ("w", &all)])
            }
            Dialogue::Plan { proposal, note: None, .. } if !proposal.is_preview => {
                keys(&[("y", "allow it for this task"), ("n", "ask each time")])
            }
            Dialogue::Plan { needs, note: None, .. } if !needs.is_empty() => keys(&[
                ("y", "run it"),
                ("a", "run it, and allow what it needs for this task"),
                ("n", "end the task"),
                ("c", "change it"),
            ]),
            Dialogue::Plan { note: None, .. } => {
                keys(&[("y", "run it"), ("n", "end the task"), ("c", "change it")])
            }
            Dialogue::Plan { note: Some(_), .. } => Line::plain("what should be different? > "),
            Dialogue::Clarification { .. } => Line::plain("> "),
        }
    }

    /// Returns the line that is being typed, if any.
    pub(crate) const fn line(&self) -> Option<&LineEdit> {
        match self {
            Dialogue::Approval { .. } => None,
            Dialogue::Clarification { line, .. } => Some(line),
            Dialogue::Plan { note, .. } => note.as_ref(),
        }
    }

    /// Handles a key. Ctrl-C is handled by the session, because it stops the whole task.
    pub(crate) fn key(&mut self, key: &Key) -> Step {
        if *key == Key::Pause && self.line().is_some() {
            return Step::Ignored;
        }
        match self {
            Dialogue::Approval { request, wider, stray } => {
                let answers = if wider.is_empty() { "ytn" } else { "ytnw" };
                match stray.take(key, answers) {
                    Answering::Key(key) => approval_key(request, wider, &key),
                    Answering::None(step) => step,
                    Answering::TooMany => approval_key(request, wider, &Key::Char('n')),
                }
            }
            Dialogue::Clarification { request, answers, line } => {
                if line.key(key) == KeyEffect::On {
                    return Step::Changed;
                }
                let answer = std::mem::take(line).text();
                let echo = Line::plain("> ").and(Tone::Strong, &answer);
                answers.push(answer);
                if answers.len() < request.questions.len() {
                    let mut lines = vec![echo];
                    lines.extend(question(request, answers.len()));
                    return Step::Printed(lines);
                }
                let answer =
                    ClarificationAnswer { call_id: request.call_id, answers: std::mem::take(answers) };
                Step::Answered { echo, payload: Payload::ClarificationAnswer(answer) }
            }
            Dialogue::Plan { proposal, needs, note, stray } => {
                let answers = match (proposal.is_preview, needs.is_empty()) {
                    (false, _) => "yn",
                    (true, true) => "ync",
                    (true, false) => "yanc",
                };
                let answering = if note.is_some() {
                    // What comes together with the end of the text does not answer the question.
                    stray.pass();
                    Answering::Key(key.clone())
                } else {
                    stray.take(key, answers)
                };
                let key = match answering {
                    Answering::Key(key) => key,
                    Answering::None(step) => return step,
                    Answering::TooMany => Key::Char('n'),
                };
                if proposal.is_preview {
                    plan_key(proposal, needs, note, &key)
                } else {
                    needs_key(proposal, needs, &key)
                }
            }
        }
    }
}

/// What happens to a question.
pub(super) enum Decision {
    /// It is answered without asking.
    Say(Payload, Vec<Line>),
    /// The person is asked.
    Ask,
}

/// Answers a question by the policy, by what the person allowed for this task, or by the rule for questions that no
/// person can be asked.
pub(super) fn decide(
    question: &Question,
    state: &ViewState,
    policy: Option<&Policy>,
    is_interactive: bool,
) -> Decision {
    match question {
        Question::Approval(request) => {
            let command = sanitise::exact(&request.need.command);
            let reason = sanitise::exact(&request.need.why());
            let folder = request.need.cwd.as_deref().map(sanitise::exact);
            let folder = folder.map(|folder| format!("in {folder}: ")).unwrap_or_default();
            let allowed = || {
                let line = approvals::allowing(state.consents.allowed(), &request.need, &state.surroundings);
                line.map_or(Word::Silent, |line| Word::Allow(format!("{TERMINAL}: {line}")))
            };
            let word = policy.map_or(Word::Silent, |policy| policy.decide(&request.need));
            let (by, why) = match if word == Word::Silent { allowed() } else { word } {
                Word::Allow(by) => {
                    let line =
                        Line::new().and(Tone::Good, &format!("allowed by {by}: ")).and(Tone::Plain, &command);
                    return Decision::Say(decision(request, ApprovalWord::Once, &by), vec![line]);
                }
                Word::Deny(by) => (by.clone(), format!("refused by {by}: ")),
                Word::Silent if is_interactive => return Decision::Ask,
                Word::Silent => (HEADLESS.to_owned(), "refused, because you cannot be asked: ".to_owned()),
            };
            let line = Line::new()
                .and(Tone::Bad, &why)
                .and(Tone::Plain, &command)
                .and(Tone::Dim, &format!("  ({folder}{reason}; digest {})", request.need.digest));
            let lines = std::iter::once(line).chain(preview(&request.need)).collect();
            Decision::Say(decision(request, ApprovalWord::Never, &by), lines)
        }
        Question::Plan(proposal) if !proposal.is_preview => {
            let needs = open_needs(proposal, state);
            if is_interactive && !needs.is_empty() && !policy.is_some_and(Policy::is_autonomous) {
                return Decision::Ask;
            }
            let lines = if needs.is_empty() { Vec::new() } else { self::needs(&needs) };
            Decision::Say(verdict(proposal, true, None), lines)
        }
        _ if is_interactive => Decision::Ask,
        Question::Clarification(request) => {
            let answer = ClarificationAnswer { call_id: request.call_id, answers: Vec::new() };
            let questions = request.questions.join(" / ");
            let line = Line::new()
                .and(Tone::Care, "left open, because you cannot be asked: ")
                .and(Tone::Plain, &questions);
            Decision::Say(Payload::ClarificationAnswer(answer), vec![line])
        }
        Question::Plan(proposal) => {
            let text =
                format!("the plan for round {} is refused, because you cannot be asked", proposal.round);
            let line = Line::new().and(Tone::Bad, &text);
            Decision::Say(verdict(proposal, false, None), vec![line])
        }
    }
}

/// Returns the answer to an approval request.
pub(crate) fn decision(request: &ApprovalRequest, word: ApprovalWord, by: &str) -> Payload {
    Payload::ApprovalDecision(ApprovalDecision {
        call_id: request.call_id,
        decision: word,
        digest: request.need.digest.clone(),
        by: by.to_owned(),
        allows: Vec::new(),
    })
}

/// Returns the answer to a plan.
pub(crate) fn verdict(proposal: &PlanProposal, approved: bool, note: Option<String>) -> Payload {
    Payload::PlanDecision(PlanDecision { call_id: proposal.call_id, approved, note, allows: Vec::new() })
}

/// Returns the answer to a plan that may run and do these things for the rest of the task.
fn allowing(proposal: &PlanProposal, needs: &[String]) -> Payload {
    let (call_id, allows) = (proposal.call_id, needs.to_vec());
    Payload::PlanDecision(PlanDecision { call_id, approved: true, note: None, allows })
}

/// Returns what a plan needs that can be allowed and that the person has not decided on.
fn open_needs(proposal: &PlanProposal, state: &ViewState) -> Vec<String> {
    let open = proposal.needs.iter().filter(|need| !state.consents.is_settled(need));
    open.filter_map(|need| approvals::plan_line(need, &state.surroundings)).collect()
}

fn approval_key(request: &ApprovalRequest, wider: &[String], key: &Key) -> Step {
    if matches!(key, Key::Char('w' | 'W')) && !wider.is_empty() {
        let said = format!("for this task all of: {}", sanitise::exact(&wider.join(", ")));
        let decision = ApprovalDecision {
            call_id: request.call_id,
            decision: ApprovalWord::Once,
            digest: request.need.digest.clone(),
            by: TERMINAL.to_owned(),
            allows: wider.to_vec(),
        };
        return Step::Answered {
            echo: Line::plain("> ").and(Tone::Good, &said),
            payload: Payload::ApprovalDecision(decision),
        };
    }
    let Some(word) = approval_word(key) else { return Step::Ignored };
    let (tone, said) = words::approval(word);
    Step::Answered { echo: Line::plain("> ").and(tone, said), payload: decision(request, word, TERMINAL) }
}

/// Handles a key where only what the plan needs is asked about. Enter alone allows nothing.
fn needs_key(proposal: &PlanProposal, needs: &[String], key: &Key) -> Step {
    let (tone, said, payload) = match key {
        Key::Char('y' | 'Y') => (Tone::Good, "allow it for this task", allowing(proposal, needs)),
        Key::Char('n' | 'N') | Key::Enter => (Tone::Care, "ask each time", verdict(proposal, true, None)),
        _ => return Step::Ignored,
    };
    Step::Answered { echo: Line::plain("> ").and(tone, said), payload }
}

/// Returns the decision that a key means. Enter alone means no.
fn approval_word(key: &Key) -> Option<ApprovalWord> {
    match key {
        Key::Char('y' | 'Y') => Some(ApprovalWord::Once),
        Key::Char('t' | 'T') => Some(ApprovalWord::ForTask),
        Key::Char('n' | 'N') | Key::Enter => Some(ApprovalWord::Never),
        _ => None,
    }
}

fn plan_key(proposal: &PlanProposal, needs: &[String], note: &mut Option<LineEdit>, key: &Key) -> Step {
    let Some(line) = note else {
        let (tone, said, approved) = match key {
            Key::Char('y' | 'Y') => (Tone::Good, "run it", true),
            Key::Char('a' | 'A') if !needs.is_empty() => {
                let echo = Line::plain("> ").and(Tone::Good, "run it, and allow what it needs for this task");
                return Step::Answered { echo, payload: allowing(proposal, needs) };
            }
            Key::Char('n' | 'N') => (Tone::Bad, "end the task", false),
            Key::Char('c' | 'C') => {
                *note = Some(LineEdit::default());
                return Step::Changed;
            }
            _ => return Step::Ignored,
        };
        return Step::Answered {
            echo: Line::plain("> ").and(tone, said),
            payload: verdict(proposal, approved, None),
        };
    };
    if *key == Key::Escape {
        *note = None;
        return Step::Changed;
    }
    if line.key(key) == KeyEffect::On {
        return Step::Changed;
    }
    let text = line.text();
    if text.is_empty() {
        // No change was typed, so the question is asked as before.
        *note = None;
        return Step::Changed;
    }
    Step::Answered {
        echo: Line::plain("> change: ").and(Tone::Strong, &text),
        payload: verdict(proposal, false, Some(text)),
    }
}

/// Returns the request in full: command, paths and reason, nothing cut or hidden.
fn approval(request: &ApprovalRequest) -> Vec<Line> {
    let need = &request.need;
    let who = words::role_label(request.call_id.role, request.call_id.instance);
    let exact = |tone: Tone, text: &str| Line::plain("  ").and(tone, &sanitise::exact_gaps(text));
    let mut lines = vec![heading(&format!("{who} asks to do this:"))];
    if need.command.contains('\n') {
        lines.extend(program(&need.command));
    } else {
        lines.push(exact(Tone::Strong, &need.command));
    }
    let folder: Vec<String> = need.cwd.iter().cloned().collect();
    let read = need.read();
    for (name, paths) in [
        ("in the folder", &folder),
        ("connects to", &need.hosts),
        ("deletes", &need.deletes),
        ("writes", &need.writes),
        ("the task has read", &read),
    ] {
        if !paths.is_empty() {
            lines.push(Line::new().and(Tone::Dim, &format!("{name}:")));
            lines.extend(paths.iter().map(|path| exact(Tone::Plain, path)));
        }
    }
    lines.extend(preview(need));
    lines.push(Line::new().and(Tone::Dim, "because: ").and(Tone::Plain, &need.why()));
    lines
}

/// Returns a text of several lines, each after a sign that no text can forge. A line that is too long for a narrow terminal
/// continues after another one.
fn program(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for line in sanitise::exact_lines(text) {
        let mut rest = line.as_str();
        let mut sign = "  | ";
        loop {
            let part = columns::head(rest, PROGRAM_COLUMNS_MAX);
            lines.push(Line::new().and(Tone::Dim, sign).and(Tone::Strong, &part));
            rest = rest.strip_prefix(part.as_str()).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            sign = "  + ";
        }
    }
    lines
}

/// Returns the changes, line by line, with hidden characters as escapes.
pub(crate) fn preview(need: &ApprovalNeed) -> Vec<Line> {
    let Some(preview) = &need.preview else { return Vec::new() };
    let line = |line: &str| {
        let tone = match line.chars().next() {
            Some('+') => Tone::Good,
            Some('-') => Tone::Bad,
            Some('@' | '[') => Tone::Dim,
            _ => Tone::Plain,
        };
        // Tabs indent code, and escapes in their place would make it hard to read.
        Line::plain("  ").and(tone, &sanitise::exact(&line.replace('\t', "    ")))
    };
    let head = Line::new().and(Tone::Dim, "changes:");
    std::iter::once(head).chain(preview.lines().map(line)).collect()
}

fn question(request: &ClarificationRequest, n: usize) -> Vec<Line> {
    let text = request.questions.get(n).map_or("", String::as_str);
    let number = format!("{}/{}  ", n + 1, request.questions.len().max(1));
    vec![Line::new().and(Tone::Dim, &number).and(Tone::Strong, text)]
}

/// Returns what a plan says that a person must allow.
fn needs(needs: &[String]) -> Vec<Line> {
    let heading = heading("The plan says that it will need:");
    let need = |need: &String| Line::plain("  ").and(Tone::Strong, &sanitise::exact(need));
    std::iter::once(heading).chain(needs.iter().map(need)).collect()
}

fn plan(proposal: &PlanProposal, needs: &[String]) -> Vec<Line> {
    if !proposal.is_preview {
        return self::needs(needs);
    }
    let mut lines = vec![heading(&format!("The plan for round {}", proposal.round))];
    if !proposal.reason.is_empty() {
        lines.push(Line::new().and(Tone::Dim, "because: ").and(Tone::Plain, &proposal.reason));
    }
    for (n, subtask) in proposal.subtasks.iter().enumerate() {
        let number = format!("{}. ", n + 1);
        let mut line = Line::new().and(Tone::Name, &number).and(Tone::Plain, &subtask.intent);
        if subtask.sequence > 1 {
            line.push(Tone::Dim, &format!("  (after group {})", subtask.sequence - 1));
        }
        lines.push(line);
        if !subtask.tools.is_empty() {
            let tools: Vec<&str> = subtask.tools.iter().map(setpoint_protocol::ToolId::as_str).collect();
            lines.push(Line::new().and(Tone::Dim, "   with ").and(Tone::Plain, &tools.join(", ")));
        }
        lines.extend(subtask.success_criteria.iter().map(|criterion| self::criterion("   ", criterion)));
    }
    if !proposal.task_criteria.is_empty() {
        lines.push(Line::new().and(Tone::Name, "In the end:"));
        lines.extend(proposal.task_criteria.iter().map(|criterion| self::criterion("   ", criterion)));
    }
    if !needs.is_empty() {
        lines.extend(self::needs(needs));
    }
    lines
}

fn criterion(indent: &str, criterion: &Criterion) -> Line {
    let how = if criterion.check.is_some() { "  (checked by code)" } else { "  (judged by a model)" };
    Line::plain(indent).and(Tone::Plain, "· ").and(Tone::Plain, &criterion.criterion).and(Tone::Dim, how)
}

fn heading(text: &str) -> Line {
    Line::new().and(Tone::Care, text)
}
