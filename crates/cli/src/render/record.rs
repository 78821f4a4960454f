//! Records that are not messages: how the task was opened, the calls, and their answers.

use std::collections::BTreeMap;

use setpoint_protocol::record::{
    Answer, Answered, Ask, Asked, FragmentHash, ModelFailure, Opened, Part, Poisoned, Prompts, Quiesced,
    Reasked, Record, RecordKind, Reply, Survey, Usage,
};
use setpoint_protocol::tool::{Effect, Phase, ToolAnswer};

use super::gist::excerpt;
use crate::state::calls::error_words;
use crate::text::{Line, Tone, sanitise};
use crate::view::words;

/// Hexadecimal digits of a hash that are shown.
const HASH_CHARS: usize = 12;
/// At most this many characters of a prompt's first line, and of a call's input, are shown.
const LINE_CHARS_MAX: usize = 200;

/// Pieces of prompts by their hashes; `None` for one that is not stored.
pub(crate) type Fragments = BTreeMap<FragmentHash, Option<String>>;

/// How records are shown.
pub(crate) struct RecordStyle<'m> {
    /// The pieces of the prompts.
    pub(crate) fragments: &'m Fragments,
    /// The hashes of the pieces of each prompt.
    pub(crate) prompts: &'m Prompts,
    /// Whether prompts and answers of models are shown in full.
    pub(crate) has_prompts: bool,
}

/// Returns a record's gist and its details; without `manner`, nothing of prompts.
pub(crate) fn lines(record: &Record, manner: Option<&RecordStyle<'_>>) -> (Line, Vec<Line>) {
    fn read<T: serde::de::DeserializeOwned>(record: &Record) -> Option<T> {
        serde_json::from_slice(&record.body).ok()
    }
    let said = match record.kind {
        RecordKind::Opened => read(record).map(|opened: Opened| of_opened(&opened)),
        RecordKind::Asked => read(record).map(|asked: Asked| of_asked(&asked, manner)),
        RecordKind::Reasked => read(record).map(|reasked: Reasked| of_reasked(&reasked)),
        RecordKind::Answered => read(record).map(|answered: Answered| {
            of_answered(&answered, manner.is_some_and(|manner| manner.has_prompts))
        }),
        RecordKind::Poisoned => read(record).map(|poisoned: Poisoned| {
            let gist =
                format!("{} made a role panic and was not delivered: {}", poisoned.kind, poisoned.panic);
            (Line::new().and(Tone::Bad, &gist), Vec::new())
        }),
        RecordKind::Quiesced => read(record).map(|quiesced: Quiesced| {
            let stopped = words::count(u64::from(quiesced.stopped), "ask");
            (Line::plain(&format!("every call has returned; {stopped} had been stopped")), Vec::new())
        }),
        RecordKind::Message(_) => None,
    };
    said.unwrap_or_default()
}

/// Returns the prompt in full, in the pieces in which the journal stores it.
fn prompt(hashes: &[FragmentHash], fragments: &Fragments) -> Vec<Line> {
    let mut lines = Vec::new();
    for (number, hash) in (1..).zip(hashes) {
        let name = format!("── piece {number} of {}, {} ──", hashes.len(), short(hash));
        lines.push(Line::new().and(Tone::Dim, &name));
        match fragments.get(hash).and_then(Option::as_deref) {
            Some(text) => lines.extend(Line::block(Tone::Plain, text)),
            None => lines.push(Line::new().and(Tone::Care, "is not kept here")),
        }
    }
    lines
}

/// Returns a text, in full or as an excerpt.
fn text_of(text: &str, is_full: bool) -> Vec<Line> {
    if is_full { Line::block(Tone::Plain, text) } else { excerpt(Tone::Plain, text) }
}

/// Returns the first digits of a hash, enough to distinguish it from others.
fn short(hash: &FragmentHash) -> String {
    let hash = serde_json::to_string(hash).unwrap_or_default();
    hash.chars().filter(|c| *c != '"').take(HASH_CHARS).collect()
}

fn of_opened(opened: &Opened) -> (Line, Vec<Line>) {
    let models: Vec<String> = ["brain", "tool"]
        .iter()
        .zip([&opened.models.brain, &opened.models.tool])
        .map(|(tier, card)| format!("{tier} {}", card.name))
        .collect();
    let own = opened.models.roles.iter().map(|(role, card)| format!("{} {}", role.label(), card.name));
    let models: Vec<String> = models.into_iter().chain(own).collect();
    let settings = serde_json::to_value(&opened.controller).unwrap_or_default();
    let settings: Vec<String> = settings
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name} {}", value.as_str().map_or(value.to_string(), str::to_owned)))
        .collect();
    let field = |name: &str, text: &str| Line::new().and(Tone::Dim, name).and(Tone::Plain, text);
    let mut details =
        vec![field("models: ", &models.join(", ")), field("controller: ", &settings.join(", "))];
    let tools: Vec<&str> = opened.tools.iter().map(|tool| tool.name.as_str()).collect();
    details.push(field("tools: ", &tools.join(", ")));
    details.push(field("working directory: ", &opened.surroundings.cwd));
    if let Some(from) = &opened.forked_from {
        details.push(field("forked from: ", &format!("{} at record {}", from.task, from.seq)));
    }
    for law in &opened.thinking {
        details.extend(excerpt(Tone::Plain, &format!("standing instruction: {law}")));
    }
    (Line::plain(&format!("logic version {}", opened.logic_version)), details)
}

fn of_asked(asked: &Asked, manner: Option<&RecordStyle<'_>>) -> (Line, Vec<Line>) {
    let call = asked.call;
    match &asked.ask {
        Ask::Model { purpose, .. } => {
            let gist = format!("{call} model, to {}", purpose.name());
            let Some((manner, fragments)) = manner.map(|manner| (manner, manner.prompts.of(call))) else {
                return (Line::plain(&gist), Vec::new());
            };
            let texts = fragments.iter().filter_map(|hash| manner.fragments.get(hash)?.as_deref());
            let characters: usize = texts.clone().map(|text| text.chars().count()).sum();
            // One hash for the whole prompt: two prompts with the same pieces are the same prompt.
            let hashes: String =
                fragments.iter().filter_map(|hash| serde_json::to_string(hash).ok()).collect();
            let gist = format!(
                "{gist}: {} in {}, {}",
                words::count(characters as u64, "character"),
                words::count(fragments.len() as u64, "piece"),
                short(&FragmentHash::of(&hashes)),
            );
            let details = if manner.has_prompts {
                prompt(fragments, manner.fragments)
            } else {
                let first = texts.flat_map(str::lines).find(|line| !line.trim().is_empty());
                let first = first.unwrap_or("its pieces are not kept here");
                vec![Line::new().and(Tone::Dim, first).clip(LINE_CHARS_MAX)]
            };
            (Line::plain(&gist), details)
        }
        Ask::Tool { call: tool, phase, effect, grant } => {
            let when = match phase {
                Phase::Before => ", before the work",
                Phase::Work => "",
                Phase::After => ", after the work",
            };
            let may = match effect {
                Effect::ReadOnly => "reads",
                Effect::Unsafe => "may change things",
            };
            let under = if grant.is_some() { ", allowed by the person" } else { "" };
            let gist = format!("{call} tool {} ({may}{when}{under})", tool.tool);
            let input = sanitise::exact(&tool.input.to_text());
            (Line::plain(&gist), vec![Line::plain(&input).clip(LINE_CHARS_MAX)])
        }
        Ask::Survey(ask) => {
            let gist = match ask.names_only {
                true => format!("{call} look at {}", words::count(ask.named.len() as u64, "word")),
                false => format!("{call} survey, {}", words::count(ask.named.len() as u64, "named path")),
            };
            (Line::plain(&gist), Vec::new())
        }
        Ask::Timer { ms } => (Line::plain(&format!("{call} timer, {}", words::duration(*ms))), Vec::new()),
    }
}

fn of_reasked(reasked: &Reasked) -> (Line, Vec<Line>) {
    let gist =
        format!("{} attempt {}: {}{}", reasked.call, reasked.attempt, reasked.reason, lost(reasked.spent));
    (Line::new().and(Tone::Care, &gist), Vec::new())
}

fn of_answered(answered: &Answered, is_full: bool) -> (Line, Vec<Line>) {
    let call = answered.call;
    let attempt = match answered.attempt {
        0 | 1 => String::new(),
        n => format!(" at attempt {n}"),
    };
    match &answered.answer {
        Answer::Model(reply) => of_reply(&format!("{call} model{attempt}"), reply, is_full),
        Answer::ModelFailed(ModelFailure { kind, reason, hints }) => {
            let kind = serde_json::to_value(kind).unwrap_or_default();
            let kind = kind.as_str().unwrap_or_default().to_owned();
            let gist = format!("{call} model failed{attempt} ({kind}): {reason}{}", lost(answered.spent));
            let hints = hints.iter().map(|hint| Line::new().and(Tone::Dim, hint)).collect();
            (Line::new().and(Tone::Bad, &gist), hints)
        }
        Answer::Tool(answer) => of_tool(&format!("{call} tool{attempt}"), answer, is_full),
        Answer::Survey(survey) => of_survey(&format!("{call} survey{attempt}"), survey),
        Answer::Timer => (Line::plain(&format!("{call} timer: the time is up")), Vec::new()),
        Answer::Interrupted => {
            let gist = format!("{call} interrupted{attempt}, outcome unknown{}", lost(answered.spent));
            (Line::new().and(Tone::Care, &gist), Vec::new())
        }
    }
}

fn of_survey(who: &str, survey: &Survey) -> (Line, Vec<Line>) {
    let names = words::count(survey.entries.len() as u64, "name");
    let git = match &survey.git {
        Some(git) => format!(", branch {}", git.branch.as_deref().unwrap_or("none")),
        None => String::new(),
    };
    let missing = survey.named.iter().filter(|named| named.kind.is_none());
    let missing =
        missing.map(|named| Line::plain(&format!("not there: {}", named.path)).clip(LINE_CHARS_MAX));
    let guides = super::task::guides(&survey.guides, &survey.skills);
    (Line::plain(&format!("{who}: {names}{git}")), missing.chain(guides).collect())
}

fn of_reply(who: &str, reply: &Reply, is_full: bool) -> (Line, Vec<Line>) {
    let usage = reply.usage;
    let mut gist = Line::plain(who);
    if !usage.is_zero() {
        let cached = match usage.tokens_cached {
            0 => String::new(),
            n => format!(" ({} cached)", words::thousands(n)),
        };
        let tokens = format!(
            ": {} tokens in{cached}, {} out",
            words::thousands(usage.tokens_in),
            words::thousands(usage.tokens_out)
        );
        gist.push(Tone::Plain, &tokens);
    }
    if reply.is_cut {
        gist.push(Tone::Care, ", cut at the length limit");
    }
    if let Some(by) = &reply.by {
        gist.push(Tone::Dim, &format!(", said by {by}"));
    }
    let mut details = Vec::new();
    for part in &reply.parts {
        match part {
            Part::Text(text) => details.extend(text_of(text, is_full)),
            Part::Opaque(opaque) => details.push(
                Line::new().and(Tone::Dim, &format!("kept for {}: {} bytes", opaque.by, opaque.body.len())),
            ),
            Part::ToolCall(call) => {
                let line = format!("wants {} {}", call.tool, sanitise::exact(&call.input.to_text()));
                details.push(Line::plain(&line).clip(LINE_CHARS_MAX));
            }
        }
    }
    (gist, details)
}

fn of_tool(who: &str, answer: &ToolAnswer, is_full: bool) -> (Line, Vec<Line>) {
    let how = match (answer.ok, answer.exit_code, answer.error_kind) {
        (_, Some(code), _) => format!("exit {code}"),
        (true, None, _) => "ok".to_owned(),
        (false, None, Some(kind)) => error_words(kind).to_owned(),
        (false, None, None) => "failed".to_owned(),
    };
    let tone = if answer.ok { Tone::Good } else { Tone::Bad };
    let time = words::duration(answer.duration_ms);
    let gist = Line::plain(&format!("{who}: ")).and(tone, &how).and(Tone::Plain, &format!(", {time}"));
    let mut details = text_of(&answer.text, is_full);
    if !answer.created.is_empty() {
        let created: Vec<String> = answer.created.iter().map(|path| sanitise::exact(path)).collect();
        details.push(Line::new().and(Tone::Dim, "created: ").and(Tone::Plain, &created.join(", ")));
    }
    (gist, details)
}

/// Returns the cost of an attempt that gave no answer.
fn lost(spent: Usage) -> String {
    if spent.is_zero() {
        return String::new();
    }
    let (tokens_in, tokens_out) = (words::thousands(spent.tokens_in), words::thousands(spent.tokens_out));
    format!(" (lost: {tokens_in} tokens in, {tokens_out} out)")
}
