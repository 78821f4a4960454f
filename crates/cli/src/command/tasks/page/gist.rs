//! A record in a line: what was said, asked or answered, in as few words as tell it.

use serde::de::DeserializeOwned;
use setpoint_protocol::record::{Answer, Answered, Ask, Asked, Poisoned, Reasked, Record, RecordKind};
use setpoint_protocol::text::clip;
use setpoint_protocol::topology::Payload;

use super::limit::GIST_CHARS_MAX;
use crate::render::gist::{Gist, gist};
use crate::view::words;

/// The gist, clipped; empty where the kind says it all, or the body cannot be read.
pub(super) fn of(record: &Record) -> String {
    let gist = match record.kind {
        RecordKind::Message(_) => record.message().map(|said| message(&said)),
        RecordKind::Opened => Some("the task was opened".to_owned()),
        RecordKind::Asked => read(record).map(asked),
        RecordKind::Reasked => read(record)
            .map(|Reasked { call, attempt, reason, .. }| format!("{call}, attempt {attempt}: {reason}")),
        RecordKind::Answered => read(record).map(answered),
        RecordKind::Quiesced => Some("everything that was stopped has come back".to_owned()),
        RecordKind::Poisoned => {
            read(record).map(|Poisoned { kind, panic, .. }| format!("a machine failed on {kind}: {panic}"))
        }
    };
    clip(&gist.unwrap_or_default(), GIST_CHARS_MAX)
}

fn read<T: DeserializeOwned>(record: &Record) -> Option<T> {
    serde_json::from_slice(&record.body).ok()
}

fn asked(Asked { call, ask, .. }: Asked) -> String {
    match ask {
        Ask::Model { purpose, .. } => format!("{call}: a model, to {}", purpose.name()),
        Ask::Tool { call: tool, .. } => format!("{call}: {} {}", tool.tool, tool.input.to_text()),
        Ask::Timer { ms } => format!("{call}: a timer of {}", words::duration(ms)),
        Ask::Survey { .. } => format!("{call}: a look around"),
    }
}

fn answered(Answered { call, answer, .. }: Answered) -> String {
    match answer {
        Answer::Model(reply) => {
            let (tokens_in, tokens_out) =
                (words::thousands(reply.usage.tokens_in), words::thousands(reply.usage.tokens_out));
            let said = reply.text();
            let wishes: Vec<String> = reply.tool_calls().map(|call| call.tool).collect();
            let wishes =
                if wishes.is_empty() { String::new() } else { format!("calls {} ", wishes.join(", ")) };
            format!("{call}: {tokens_in} tokens in, {tokens_out} out: {wishes}{said}")
        }
        Answer::ModelFailed(failure) => format!("{call}: no answer: {}", failure.reason),
        Answer::Tool(answer) => {
            let ended = match (answer.exit_code, answer.error_kind) {
                (Some(code), _) => format!("exit {code}"),
                (None, Some(kind)) => crate::state::calls::error_words(kind).to_owned(),
                (None, None) if answer.ok => "done".to_owned(),
                (None, None) => "failed".to_owned(),
            };
            format!("{call}: {ended}, {}: {}", words::duration(answer.duration_ms), answer.text)
        }
        Answer::Timer => format!("{call}: the timer went off"),
        Answer::Survey(survey) => {
            format!(
                "{call}: {} below the working directory",
                words::count(survey.entries.len() as u64, "name")
            )
        }
        Answer::Interrupted => format!("{call}: interrupted"),
    }
}

/// A message as far as there is room: its headline, then what else it says.
fn message(message: &Payload) -> String {
    let Gist { headline, aside, details, .. } = gist(message);
    let beside = (!aside.is_empty()).then_some(aside);
    let details = details.iter().map(|line| line.to_text().trim().to_owned());
    std::iter::once(headline).chain(beside).chain(details).collect::<Vec<_>>().join(" / ")
}
