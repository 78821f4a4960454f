//! An existing task: everything in its records, for a person and as one JSON value.

use serde_json::{Value, json};
use setpoint_protocol::message::{EndState, Finding, MacroState, Severity};
use setpoint_protocol::record::{Guide, Skill};
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{Any, CallId, Timestamp};
use setpoint_runtime::organisation::TaskSummary;

use super::result::{self, section};
use crate::state::ViewState;
use crate::state::board::Row;
use crate::state::calls::Call;
use crate::state::consents::Consent;
use crate::state::rounds::Round;
use crate::text::sanitise::exact;
use crate::text::table::{Cell, table};
use crate::text::{Line, Tone};
use crate::view::{self, Look, words};

/// At most this many findings are shown to a person; `--json` has all.
const FINDINGS_MAX: usize = 20;

/// Returns the task as lines: the answer, every criterion with its evidence, and every call.
pub(crate) fn lines(state: &ViewState, findings: &[Finding], look: &Look) -> Vec<Line> {
    let mut lines = head(state, findings, look);
    section(&mut lines, result::detailed(state));
    if !state.is_ended() {
        section(&mut lines, view::criteria(state, look));
    }
    let recall = state.recall.as_ref().and_then(view::recall::brief);
    section(
        &mut lines,
        recall.map(|line| Line::new().and(Tone::Dim, "memory: ").then(line)).into_iter().collect(),
    );
    section(&mut lines, calls(state, look, false));
    section(&mut lines, consents(state));
    lines
}

/// Returns the task as lines, with the reasons of the controller and the roles.
pub(crate) fn verbose_lines(state: &ViewState, findings: &[Finding], look: &Look) -> Vec<Line> {
    let mut lines = head(state, findings, look);
    lines.push(field("clock", &words::clock(state.clock_ms)));
    lines.push(field("used", &used(state)));
    section(&mut lines, state.recall.as_ref().map(view::recall::lines).unwrap_or_default());
    section(&mut lines, view::rounds(state, look));
    section(&mut lines, view::criteria(state, look));
    section(&mut lines, calls(state, look, true));
    section(&mut lines, consents(state));
    if state.is_ended() {
        section(&mut lines, result::lines(state));
    }
    lines
}

/// Returns what the task is and what matters most about it.
fn head(state: &ViewState, findings: &[Finding], look: &Look) -> Vec<Line> {
    let mut lines = vec![field("task", state.task.as_str())];
    lines.extend(titled("goal", &state.goal));
    if let Some(intent) = state.intent.as_deref().filter(|intent| *intent != state.goal) {
        lines.push(field("read as", intent));
    }
    lines.extend(opened(state, look));
    lines.extend(guides(&state.guides, &state.skills));
    if let Some(from) = &state.forked_from {
        lines.push(field("forked", &format!("from {} at record {}", from.task, from.seq)));
    }
    lines.push(stands(state));
    for fault in &state.faults {
        let text = format!("{}: {}", fault.role.label(), fault.reason);
        lines.push(Line::new().and(Tone::Bad, "fault   ").and(Tone::Plain, &text));
    }
    for question in state.questions() {
        lines.push(
            Line::new()
                .and(Tone::Care, "waits   ")
                .and(Tone::Plain, &format!("for you, {}", question.words())),
        );
    }
    lines.extend(findings.iter().take(FINDINGS_MAX).map(finding));
    if findings.len() > FINDINGS_MAX {
        lines.push(field("", &format!("… {} more", findings.len() - FINDINGS_MAX)));
    }
    lines
}

/// Returns what is left of a pruned task, as lines.
pub(crate) fn left_lines(state: &ViewState, pruned_at: Timestamp, look: &Look) -> Vec<Line> {
    let mut lines = vec![field("task", state.task.as_str())];
    lines.extend(titled("goal", &state.goal));
    lines.extend(opened(state, look));
    lines.push(stands(state));
    let when = words::date_and_time(pruned_at, &look.zone);
    lines.push(field("steps", &format!("pruned on {when}; the goal and the result are left")));
    section(&mut lines, result::detailed(state));
    lines
}

/// Returns what is left of a pruned task, as one JSON value.
pub(crate) fn left_value(state: &ViewState, pruned_at: Timestamp) -> Value {
    let mut value = head_value(state);
    value["pruned_at"] = json!(pruned_at);
    value
}

/// Returns the task as one JSON value.
pub(crate) fn value(state: &ViewState, findings: &[Finding]) -> Value {
    let mut value = head_value(state);
    value["intent"] = json!(state.intent);
    let guide = |guide: &Guide| json!({ "path": guide.path, "bytes": guide.bytes, "is_cut": guide.is_cut });
    value["guides"] = state.guides.iter().map(guide).collect();
    value["skills"] = json!(state.skills);
    value["memory"] = json!(state.recall);
    value["rounds"] = state.rounds.iter().map(round).collect();
    value["criteria"] = state.board.rows().map(|row| criterion(state, row)).collect();
    value["calls"] = state.calls.iter().map(call).collect();
    value["approvals"] = state.consents.iter().map(consent).collect();
    value["usage"] = json!(state.used);
    value["faults"] = json!(state.faults);
    value["findings"] = json!(findings);
    value
}

fn head_value(state: &ViewState) -> Value {
    json!({
        "task_id": state.task,
        "goal": state.goal,
        "opened_at": state.opened_at,
        "forked_from": state.forked_from,
        "state": state_name(state),
        "records": state.seq,
        "clock_ms": state.clock_ms,
        "result": state.is_ended().then(|| result::on_the_wire(state)),
    })
}

fn round(round: &Round) -> Value {
    json!({
        "round": round.round,
        "loss": round.loss,
        "grad_l": round.grad_l,
        "directive": MacroState::from(round.directive),
        "rationale": round.reason,
        "blocked": round.blocked,
    })
}

fn call((id, call): (&CallId, &Call)) -> Value {
    json!({
        "call_id": id,
        "tool": call.tool,
        "target": call.target,
        "ok": call.ok,
        "error_kind": call.error_kind,
        "exit_code": call.exit_code,
        "tier": call.tier,
        "duration_ms": call.duration_ms,
        "at": call.at,
    })
}

/// The columns of [`row`].
pub(crate) const LIST_HEAD: [&str; 4] = ["opened", "state", "task", "goal"];

/// Returns a row of the task list.
pub(crate) fn row(task: &TaskSummary, look: &Look) -> Vec<Cell> {
    let (tone, state) = match (&task.result, &task.closed_at, &task.driven_by) {
        (Some(result), ..) => {
            let tone = match result.directive {
                EndState::Accept => Tone::Good,
                EndState::Success => Tone::Care,
                EndState::Abandon => Tone::Bad,
            };
            (tone, words::outcome(result).to_owned())
        }
        (None, Some(_), _) => (Tone::Plain, "answered".to_owned()),
        (None, None, Some(process)) => (Tone::Care, format!("runs in {process}")),
        (None, None, None) => (Tone::Care, "interrupted".to_owned()),
    };
    vec![
        (Tone::Plain, words::date_and_time(task.opened_at, &look.zone)),
        (tone, state),
        (Tone::Name, task.task.to_string()),
        (Tone::Plain, task.title.clone()),
    ]
}

/// Returns a row of the task list as a JSON value.
pub(crate) fn list_value(task: &TaskSummary) -> Value {
    let wire = |result| {
        let payload = Any(serde_json::to_value(result).unwrap_or(Value::Null));
        setpoint_protocol::envelope::on_the_wire(Kind::FinalResult.name(), &task.task, payload).0
    };
    json!({
        "task_id": task.task,
        "goal": task.title,
        "opened_at": task.opened_at,
        "closed_at": task.closed_at,
        "records": task.records,
        "driven_by": task.driven_by,
        "pruned_at": task.pruned_at,
        "result": task.result.as_ref().map(wire),
    })
}

fn criterion(state: &ViewState, row: &Row) -> Value {
    let attempts: Vec<Value> = row
        .cells()
        .map(|(column, cell)| {
            // A criterion of the whole task is judged once per round, not per attempt.
            let attempt = (column.attempt > 0).then_some(column.attempt);
            json!({ "round": column.round, "attempt": attempt, "state": cell.word() })
        })
        .collect();
    let evidence = row.evidence.as_ref().map(|evidence| {
        json!({
            "text": evidence.text,
            "calls": evidence.calls,
            "judged_by": evidence.judged_by,
            "failure": evidence.shown,
            "at": evidence.at,
            "shown": words::evidence(evidence, &state.calls),
        })
    });
    json!({
        "label": row.label,
        "ids": row.ids().collect::<Vec<_>>(),
        "criterion": row.statement,
        "mode": row.mode,
        "attempts": attempts,
        "evidence": evidence,
    })
}

fn consent(consent: &Consent) -> Value {
    let Consent { request, decision } = consent;
    json!({
        "call_id": request.call_id,
        "for_call": request.for_call,
        "command": request.need.command,
        "cwd": request.need.cwd,
        "writes": request.need.writes,
        "deletes": request.need.deletes,
        "hosts": request.need.hosts,
        "after": request.need.after,
        "secrets": request.need.secrets,
        "reason": request.need.reason,
        "rule": request.need.rule,
        "facts": request.need.facts,
        "preview": request.need.preview,
        "digest": request.need.digest,
        "decision": decision.as_ref().map(|decision| decision.decision),
        "by": decision.as_ref().map(|decision| &decision.by),
    })
}

fn state_name(state: &ViewState) -> &'static str {
    match (&state.result, &state.answer) {
        (Some(result), _) => MacroState::from(result.directive).name(),
        (None, Some(_)) => "answered",
        (None, None) => "open",
    }
}

fn state_words(state: &ViewState) -> String {
    match (&state.result, &state.answer) {
        (Some(result), _) => result::ending(state, result).to_text(),
        (None, Some(_)) => "answered at once".to_owned(),
        (None, None) if state.is_cancelled => "being cancelled".to_owned(),
        (None, None) => match state.questions().count() {
            0 => format!("open, round {}", state.round()),
            n => format!("open, round {}, {} for you", state.round(), words::count(n as u64, "question")),
        },
    }
}

/// Returns a finding of the Auditor, in a line.
fn finding(finding: &Finding) -> Line {
    let severity = finding.kind.severity();
    let tone = match severity {
        Severity::Notice => Tone::Plain,
        Severity::Warning => Tone::Care,
        Severity::Violation => Tone::Bad,
    };
    let line = Line::new().and(Tone::Dim, "finding ").and(tone, severity.name());
    line.and(Tone::Plain, &format!(" {}, {}: {}", finding.kind, finding.accountable.label(), finding.text))
}

fn used(state: &ViewState) -> String {
    let used = &state.used;
    let mut parts =
        vec![words::count(used.model_calls, "model call"), words::count(used.tool_calls, "tool call")];
    if used.tokens_in + used.tokens_out > 0 {
        parts.push(format!(
            "{} tokens in, {} out",
            words::thousands(used.tokens_in),
            words::thousands(used.tokens_out)
        ));
    }
    parts.join(", ")
}

fn calls(state: &ViewState, look: &Look, is_verbose: bool) -> Vec<Line> {
    let rows: Vec<Vec<Cell>> = state
        .calls
        .iter()
        .map(|(id, call)| {
            let (tone, sign) = match call.ok {
                Some(true) => (Tone::Good, "✔"),
                Some(false) => (Tone::Bad, "✗"),
                None => (Tone::Care, "◐"),
            };
            let id = is_verbose.then(|| (Tone::Name, id.to_string()));
            let cells = [
                (Tone::Dim, words::time_of_day(call.at, &look.zone)),
                (Tone::Dim, words::duration(call.duration_ms)),
                (Tone::Plain, call.outcome().unwrap_or_default()),
                (Tone::Plain, call.words()),
            ];
            std::iter::once((tone, sign.to_owned())).chain(id).chain(cells).collect()
        })
        .collect();
    table(&[], &rows).into_iter().map(|line| line.clip(look.columns)).collect()
}

/// Returns what an approval file needs to know about each request: the command and its digest.
fn consents(state: &ViewState) -> Vec<Line> {
    let of = |Consent { request, decision }: &Consent| {
        let (tone, word) = match decision {
            None => (Tone::Care, "waits".to_owned()),
            Some(decision) => words::decided(decision),
        };
        let command = exact(&request.need.command);
        let asked = Line::new().and(Tone::Dim, "consent ").and(tone, &word).and(Tone::Plain, ": ");
        let reason = exact(&request.need.why());
        let mut lines = vec![asked.and(Tone::Plain, &command), field("", &format!("because {reason}"))];
        lines
            .extend(request.need.cwd.as_ref().map(|cwd| field("", &format!("in the folder {}", exact(cwd)))));
        lines.push(field("", &format!("digest {}", request.need.digest)));
        lines.extend(crate::session::dialogue::preview(&request.need));
        lines
    };
    state.consents.iter().flat_map(of).collect()
}

fn opened(state: &ViewState, look: &Look) -> Option<Line> {
    state.opened_at.map(|opened| field("opened", &words::date_and_time(opened, &look.zone)))
}

/// Returns what the project's texts and skills are that a planner was shown, if there are any.
pub(super) fn guides(guides: &[Guide], skills: &[Skill]) -> Option<Line> {
    let guide = |guide: &Guide| match guide.is_cut {
        true => format!("{} (its beginning)", guide.path),
        false => guide.path.clone(),
    };
    let skill = |skill: &Skill| format!("skill {} ({})", skill.name, skill.path);
    let shown: Vec<String> = guides.iter().map(guide).chain(skills.iter().map(skill)).collect();
    (!shown.is_empty()).then(|| field("shown", &shown.join(", ")))
}

fn stands(state: &ViewState) -> Line {
    Line::new().and(Tone::Dim, "state   ").and(Tone::Strong, &state_words(state))
}

fn field(name: &str, text: &str) -> Line {
    Line::new().and(Tone::Dim, &format!("{name:<8}")).and(Tone::Plain, text)
}

/// Returns a field of several lines.
fn titled(name: &str, text: &str) -> Vec<Line> {
    let mut lines = Line::block(Tone::Plain, text).into_iter();
    let first = Line::new().and(Tone::Dim, &format!("{name:<8}"));
    let mut titled = vec![lines.next().map_or(first.clone(), |line| first.clone().then(line))];
    titled.extend(lines.map(|line| Line::plain("        ").then(line)));
    titled
}
