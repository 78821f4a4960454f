//! A complete answer before rendering: with ids and numbers, and altered by a fault.

use crate::answer::{Answer, Finish, Usage};
use crate::seen::SeenRequest;
use crate::wire::Wire;

/// Pieces in which the arguments of a call are streamed, if they are long enough.
const ARGUMENT_PIECES: usize = 4;
/// Characters that count as one token.
const CHARACTERS_PER_TOKEN: usize = 4;
/// The context of Ollama's models if a client asks for no other.
const OLLAMA_CONTEXT: u64 = 4096;
/// Marks where filling is inserted while sending; no script's text contains these characters.
pub(crate) const FILLING: &str = "\u{f8ff}\u{f8fe}\u{f8ff}";

/// An answer that is ready for the renderers of the wires.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) nth: usize,
    pub(crate) model: String,
    pub(crate) thinking: Vec<String>,
    pub(crate) text: Vec<String>,
    pub(crate) calls: Vec<DraftCall>,
    pub(crate) usage: Option<Usage>,
    pub(crate) ending: Ending,
    pub(crate) shape: Shape,
    /// Whether a stream reports its cost; only clients of chat completions ask for it.
    pub(crate) says_usage: bool,
    /// The arguments are cut or malformed, so they are not JSON.
    pub(crate) is_garbled: bool,
    /// Indices count down.
    pub(crate) is_reordered: bool,
    /// Something unknown to every client is inserted.
    pub(crate) has_stranger: bool,
    /// Bytes of filling that replace [`FILLING`].
    pub(crate) filling: u64,
}

/// A call with its id.
#[derive(Clone, Debug)]
pub(crate) struct DraftCall {
    pub(crate) id: String,
    /// Whether a fault gave the id; one wire has ids only then.
    pub(crate) has_own_id: bool,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// The reported reason of the end, which may be a lie; in the order of the words in `render::reason`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    #[default]
    Stop,
    ToolCalls,
    Length,
    Filtered,
    /// An unknown reason.
    Unknown,
    /// No reason.
    Missing,
}

/// The form of the answer's content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shape {
    #[default]
    Plain,
    /// There is no choice, candidate, block or message.
    Nothing,
    /// The content is null.
    Null,
}

impl Draft {
    pub(crate) fn new(seen: &SeenRequest, answer: &Answer) -> Self {
        let calls = answer.calls.iter().enumerate().map(|(index, call)| DraftCall {
            id: call_id(seen.wire, seen.nth, index),
            has_own_id: false,
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        });
        Self {
            nth: seen.nth,
            model: seen.asked.model.clone(),
            thinking: answer.thinking.clone(),
            text: answer.text.clone(),
            calls: calls.collect(),
            usage: answer.usage.or_else(|| Some(counted(seen, answer))),
            ending: match answer.finish {
                Finish::Natural if answer.calls.is_empty() => Ending::Stop,
                Finish::Natural => Ending::ToolCalls,
                Finish::Length => Ending::Length,
                Finish::Filtered => Ending::Filtered,
            },
            says_usage: seen.asked.wants_usage,
            ..Self::default()
        }
    }

    /// Returns the index of the `place`-th of `count` parts.
    pub(crate) fn index(&self, place: usize, count: usize) -> usize {
        match (self.is_reordered, count) {
            (false, _) => place,
            (true, 0 | 1) => 1,
            (true, _) => count.saturating_sub(place + 1),
        }
    }
}

impl DraftCall {
    /// Returns the arguments in the pieces that are streamed, none of them empty.
    pub(crate) fn pieces(&self) -> Vec<String> {
        let characters: Vec<char> = self.arguments.chars().collect();
        let size = characters.len().div_ceil(ARGUMENT_PIECES).max(1);
        characters.chunks(size).map(|piece| piece.iter().collect()).collect()
    }
}

/// Returns an id in the form of the wire's servers.
pub(crate) fn call_id(wire: Wire, nth: usize, index: usize) -> String {
    let prefix = if wire == Wire::Anthropic { "toolu" } else { "call" };
    format!("{prefix}_{nth:02}_{index:02}")
}

fn counted(seen: &SeenRequest, answer: &Answer) -> Usage {
    let characters = |texts: &[String]| texts.iter().map(|text| text.chars().count()).sum::<usize>();
    let calls: usize =
        answer.calls.iter().map(|call| call.name.chars().count() + call.arguments.chars().count()).sum();
    let thinking = characters(&answer.thinking);
    // Ollama silently cuts a prompt that is too long, but counts only what it kept.
    let kept_max = match seen.wire {
        Wire::Ollama => seen.asked.context.unwrap_or(OLLAMA_CONTEXT).into(),
        _ => i128::MAX,
    };
    Usage {
        input: tokens(seen.prompt.chars().count()).max(1).min(kept_max),
        cached: tokens(seen.repeated).min(kept_max),
        output: tokens(thinking + characters(&answer.text) + calls).max(1),
        reasoning: tokens(thinking),
    }
}

fn tokens(characters: usize) -> i128 {
    i128::try_from(characters.div_ceil(CHARACTERS_PER_TOKEN)).unwrap_or(i128::MAX)
}
