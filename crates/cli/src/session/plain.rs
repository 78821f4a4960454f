//! Progress as plain lines, for logs and for terminals that cannot redraw: one line per event that matters to
//! a person.

use setpoint_protocol::record::{Answered, Record, RecordKind};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{Phase, TASK_CHANGES};
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{Instance, RoleId};

use crate::render::gist::{Gist, Visibility, gist};
use crate::state::ViewState;
use crate::text::{Line, Tone};
use crate::view::words;

/// At most this many columns of text from outside are shown per line.
const TEXT_COLUMNS_MAX: usize = 200;
/// At most this many characters of a call are shown per line; `tasks show` has all of it.
const CALL_CHARS_MAX: usize = 90;

/// Returns the line about a record that `state` has just applied; `None` if it needs none. With `names_roles`
/// it names the roles and the parts of the loss; without, it says what is done and what comes next.
pub(crate) fn line(state: &ViewState, record: &Record, names_roles: bool) -> Option<Line> {
    let said = match record.kind {
        RecordKind::Message(_) => message(state, record, names_roles)?,
        RecordKind::Answered => call(state, record, names_roles)?,
        RecordKind::Poisoned => {
            (Tone::Bad, "an input made a role panic; it is kept in the journal".to_owned())
        }
        RecordKind::Opened | RecordKind::Asked | RecordKind::Reasked | RecordKind::Quiesced => return None,
    };
    let (tone, text) = said;
    let line = Line::new().and(Tone::Dim, &words::clock(state.clock_ms)).and(Tone::Plain, "  ");
    Some(line.and(tone, &text).clip(TEXT_COLUMNS_MAX))
}

fn message(state: &ViewState, record: &Record, names_roles: bool) -> Option<(Tone, String)> {
    let message = record.message()?;
    let Gist { tone, headline, aside, news, .. } = gist(&message);
    match news {
        Visibility::Never => return None,
        Visibility::Verbose if !names_roles => return None,
        Visibility::Verbose | Visibility::Always => {}
    }
    let headline = match &message {
        // Only the state knows whether a person could be asked.
        Payload::FinalResult(result) => words::end_of(state, result).to_text(),
        // If no round was started, the line of the end says the same.
        Payload::TaskFault(_) if !names_roles && state.board.round() == 0 => return None,
        _ => headline,
    };
    let from = &record.from;
    let text = match (names_roles, from.role) {
        (true, role) => format!("{} {headline}  {aside}", words::role_label(role, from.instance)),
        (false, RoleId::AgentValidator) => {
            format!("{}: {headline}", numbered(state, "check", from.instance))
        }
        (false, _) => headline,
    };
    Some((tone, text.trim_end().to_owned()))
}

/// Returns what is done, with the number of the sub-task if there are several.
fn numbered(state: &ViewState, doing: &str, instance: Instance) -> String {
    if instance.0 > 0 && state.board.subtasks() > 1 {
        format!("{doing} {}", instance.0)
    } else {
        doing.to_owned()
    }
}

fn call(state: &ViewState, record: &Record, names_roles: bool) -> Option<(Tone, String)> {
    let answered: Answered = serde_json::from_slice(&record.body).ok()?;
    let call = state.calls.get(answered.call)?;
    // The program asks this by itself, for the judge.
    if !names_roles && call.tool == TASK_CHANGES {
        return None;
    }
    let who = match (names_roles, call.phase) {
        (true, _) => words::role_label(answered.call.role, answered.call.instance),
        (false, Phase::Before) => "before:".to_owned(),
        (false, Phase::Work) => numbered(state, "work", answered.call.instance) + ":",
        (false, Phase::After) => numbered(state, "check", answered.call.instance) + ":",
    };
    let outcome = call.outcome().map(|outcome| format!("{outcome}, ")).unwrap_or_default();
    let time = words::duration(call.duration_ms);
    let words = clip(&call.words(), CALL_CHARS_MAX);
    Some((Tone::Dim, format!("{who} {words} ({outcome}{time})")))
}
