//! The conversation after a question: the model's own turns, the results of its calls, and messages of the runtime.
//!
//! A conversation only grows at its end: a turn is made once and never changed, so that a provider's prefix cache
//! hits, and so that the journal stores each turn once however often it is sent.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use setpoint_protocol::Any;
use setpoint_protocol::record::{FragmentHash, Opaque, Part};

use crate::prompt::{FragmentKind, Prompt, fenced};

/// Stand-in for the result of a request that did not run before the attempt ended. Providers require a result for
/// each.
const NOT_RUN: &str = "not run: the attempt ended before it";
/// Maximum bytes of a request's id; a longer one is replaced.
const ID_BYTES_MAX: usize = 64;
/// Name of the data block around a result that is sent as text.
const RESULT: &str = "result";

/// An entry of a conversation. Cloning it copies no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn(Arc<Entry>);

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    what: TurnContent,
    text: String,
    chars: usize,
    hash: FragmentHash,
}

#[derive(Debug, PartialEq)]
enum TurnContent {
    /// The model's reply.
    Reply(Vec<Part>),
    /// The result of one of its calls. Results follow the turn that requested them, in the order of its requests.
    Result {
        /// Whether the call succeeded.
        ok: bool,
        /// Line that is kept when the result is cut.
        head: String,
    },
    /// A message of the runtime.
    Notice,
}

// Numbers in a model's parameters are JSON numbers, which are never NaN.
impl Eq for TurnContent {}

impl Turn {
    /// Makes a turn from the parts of a model's reply.
    #[must_use]
    pub fn of_reply(parts: Vec<Part>) -> Self {
        // Parts read from JSON can always be written as JSON.
        let text = serde_json::to_string(&parts).unwrap_or_default();
        Turn::new(TurnContent::Reply(parts), text)
    }

    /// Makes a turn from a call's result: one line that says which call and how it ended, and its output.
    #[must_use]
    pub fn result(ok: bool, head: String, output: &str) -> Self {
        let text = if output.is_empty() { head.clone() } else { format!("{head}\n{output}") };
        Turn::new(TurnContent::Result { ok, head }, text)
    }

    /// Makes a turn from a message of the runtime.
    #[must_use]
    pub fn of_notice(text: String) -> Self {
        Turn::new(TurnContent::Notice, text)
    }

    fn new(what: TurnContent, text: String) -> Self {
        let (hash, chars) = (FragmentHash::of(&text), text.chars().count());
        Turn(Arc::new(Entry { what, text, chars, hash }))
    }

    /// Returns its text, as the journal stores it; for a model's reply, the parts as JSON.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns the number of characters of its text.
    pub(crate) fn chars(&self) -> usize {
        self.0.chars
    }

    /// Returns the content hash of its text.
    #[must_use]
    pub fn hash(&self) -> FragmentHash {
        self.0.hash
    }

    /// Returns the kind of its fragment in a prompt.
    #[must_use]
    pub fn kind(&self) -> FragmentKind {
        match self.0.what {
            TurnContent::Reply(_) => FragmentKind::Said,
            TurnContent::Result { .. } => FragmentKind::Result,
            TurnContent::Notice => FragmentKind::Task,
        }
    }

    /// Returns the line that replaces a result that is left out; `None` if this is not a result, or is not longer
    /// than that line.
    pub(crate) fn stub(&self) -> Option<String> {
        match &self.0.what {
            TurnContent::Result { head, .. } if head.len() < self.0.text.len() => {
                Some(format!("{head} (its output is left out: the window is short)"))
            }
            TurnContent::Reply(_) | TurnContent::Result { .. } | TurnContent::Notice => None,
        }
    }

    pub(crate) fn parts(&self) -> &[Part] {
        match &self.0.what {
            TurnContent::Reply(parts) => parts,
            TurnContent::Result { .. } | TurnContent::Notice => &[],
        }
    }

    pub(crate) fn is_ok(&self) -> bool {
        matches!(self.0.what, TurnContent::Result { ok: true, .. })
    }
}

/// A message of a question, in the form that providers take.
#[derive(Clone, Debug, PartialEq)]
pub enum Message<'p> {
    /// The question, or an addition of the runtime.
    User(Cow<'p, str>),
    /// The model's reply.
    Assistant(Vec<Block<'p>>),
    /// The results of its calls, in the order of its requests.
    Results(Vec<ToolResult<'p>>),
}

/// A block of a model's reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Block<'p> {
    /// Text of the reply.
    Text(Cow<'p, str>),
    /// A request to call a tool.
    Call {
        /// Id that its result refers to.
        id: RequestId<'p>,
        /// Name of the tool.
        tool: &'p str,
        /// Parameters of the call.
        input: &'p Any,
    },
    /// A provider-specific item, which belongs to the block after it.
    Opaque(&'p Opaque),
}

/// The id of a request to call a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestId<'p> {
    /// An id given by the provider.
    Provider(&'p str),
    /// An id made here, because the provider gave none or an unusable one.
    Local(String),
}

impl RequestId<'_> {
    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            RequestId::Provider(id) => id,
            RequestId::Local(id) => id,
        }
    }

    /// Returns the provider's id; `None` if it was made here.
    #[must_use]
    pub fn given(&self) -> Option<&str> {
        match self {
            RequestId::Provider(id) => Some(id),
            RequestId::Local(_) => None,
        }
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult<'p> {
    /// Id of the request.
    pub id: RequestId<'p>,
    /// Name of the tool.
    pub tool: &'p str,
    /// Output of the call.
    pub text: &'p str,
    /// Whether the call succeeded.
    pub ok: bool,
}

/// How a conversation is converted to messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageForm<'m> {
    /// Whether the provider has an interface for calls and results; without it they are sent as text.
    pub has_tools: bool,
    /// Target wire and model; opaque items of others are left out.
    pub to: &'m str,
}

impl Prompt {
    /// Returns the question and the conversation, without the standing instructions; at least one message.
    #[must_use]
    pub fn messages(&self, manner: MessageForm<'_>) -> Vec<Message<'_>> {
        let mut writer = Writer { manner, messages: Vec::new(), open: Vec::new(), ids: BTreeSet::new() };
        let mut first = 0;
        for (at, fragment) in self.fragments.iter().enumerate() {
            if let Some(turn) = fragment.turn().filter(|_| fragment.kind.is_conversation()) {
                writer.user(self.text_between(first, at, manner.has_tools));
                first = at + 1;
                match fragment.kind {
                    FragmentKind::Said => writer.said(turn.parts()),
                    _ => writer.result(fragment.text(), turn.is_ok()),
                }
            }
        }
        writer.user(self.text_between(first, self.fragments.len(), manner.has_tools));
        writer.close();
        if writer.messages.is_empty() {
            writer.messages.push(Message::User(Cow::Borrowed("")));
        }
        writer.messages
    }
}

struct Writer<'p, 'm> {
    manner: MessageForm<'m>,
    messages: Vec<Message<'p>>,
    /// Requests without a result so far, the next one last.
    open: Vec<(RequestId<'p>, &'p str)>,
    /// Ids in use.
    ids: BTreeSet<String>,
}

impl<'p> Writer<'p, '_> {
    fn user(&mut self, text: String) {
        if !text.is_empty() {
            self.close();
            self.push_user(text);
        }
    }

    fn said(&mut self, parts: &'p [Part]) {
        self.close();
        let mut blocks = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Part::Text(text) if text.trim().is_empty() => {}
                Part::Text(text) => blocks.push(Block::Text(Cow::Borrowed(text))),
                Part::Opaque(opaque) if self.manner.has_tools && opaque.by == self.manner.to => {
                    blocks.push(Block::Opaque(opaque));
                }
                Part::Opaque(_) => {}
                Part::ToolCall(request) => {
                    let (tool, input) = (request.tool.as_str(), &request.input);
                    let id = self.id_of(request.id.as_deref());
                    self.open.push((id.clone(), tool));
                    blocks.push(if self.manner.has_tools {
                        Block::Call { id, tool, input }
                    } else {
                        Block::Text(format!("{{\"tool\":{},\"input\":{}}}", json!(tool), json!(input)).into())
                    });
                }
            }
        }
        self.open.reverse();
        if !self.manner.has_tools && blocks.len() > 1 {
            let texts = blocks.iter().filter_map(|block| match block {
                Block::Text(text) => Some(text.as_ref()),
                Block::Call { .. } | Block::Opaque(_) => None,
            });
            blocks = vec![Block::Text(texts.collect::<Vec<&str>>().join("\n").into())];
        }
        if !blocks.is_empty() {
            self.messages.push(Message::Assistant(blocks));
        }
    }

    fn result(&mut self, text: &'p str, ok: bool) {
        match self.open.pop() {
            Some((id, tool)) => self.push_result(ToolResult { id, tool, text, ok }),
            // The call was parsed from text, so there is no request id for the result to name.
            None => self.push_user(fenced(RESULT, text)),
        }
    }

    fn push_user(&mut self, text: String) {
        match self.messages.last_mut() {
            Some(Message::User(before)) => {
                let before = before.to_mut();
                before.push_str("\n\n");
                before.push_str(&text);
            }
            _ => self.messages.push(Message::User(text.into())),
        }
    }

    fn push_result(&mut self, result: ToolResult<'p>) {
        if !self.manner.has_tools {
            self.push_user(fenced(RESULT, result.text));
            return;
        }
        match self.messages.last_mut() {
            Some(Message::Results(results)) => results.push(result),
            _ => self.messages.push(Message::Results(vec![result])),
        }
    }

    /// Adds a result for every request that is still open.
    fn close(&mut self) {
        while let Some((id, tool)) = self.open.pop() {
            self.push_result(ToolResult { id, tool, text: NOT_RUN, ok: false });
        }
    }

    /// Returns the provider's id of a request if no other request has it, otherwise one made here.
    fn id_of(&mut self, given: Option<&'p str>) -> RequestId<'p> {
        let is_usable = |id: &&str| {
            !id.is_empty() && id.len() <= ID_BYTES_MAX && id.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if let Some(id) = given.filter(is_usable)
            && self.ids.insert(id.to_owned())
        {
            return RequestId::Provider(id);
        }
        let mut number = self.ids.len() + 1;
        loop {
            // Nine letters and digits: some servers accept no other form.
            let id = format!("call{number:05}");
            if self.ids.insert(id.clone()) {
                return RequestId::Local(id);
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use setpoint_protocol::record::ToolRequest;

    use super::*;

    fn rounds(count: usize, chars: usize) -> Vec<Turn> {
        let call = |n: usize| ToolRequest { tool: "t".to_owned(), input: Any(json!({ "n": n })), id: None };
        let round = |n: usize| {
            let said = Turn::of_reply(vec![Part::ToolCall(call(n))]);
            [said, Turn::result(true, format!("[{n}] ok"), &"ä".repeat(chars))]
        };
        (1..=count).flat_map(round).collect()
    }

    fn shown(prompt: &Prompt) -> String {
        let count = |text: &str| {
            prompt.fragments.iter().filter(|fragment| fragment.text().contains(text)).count().to_string()
        };
        let fragments = prompt.fragments.len();
        format!("{fragments} fragments, {} results whole, {} left out", count("ää"), count("window is short"))
    }

    #[test]
    fn omissions_stay_the_same_for_several_turns() {
        let shown = |count: usize| shown(&Prompt::default().conversation(&rounds(count, 1_000), 20_000));
        assert_eq!(shown(19), "38 fragments, 19 results whole, 0 left out");
        for count in [20, 23, 26] {
            let whole = count - 8;
            assert_eq!(shown(count), format!("{} fragments, {whole} results whole, 8 left out", 2 * count));
        }
        assert_eq!(shown(28), "56 fragments, 12 results whole, 16 left out");
        // The same holds for the model's window.
        let mut prompt = Prompt::default().conversation(&rounds(20, 1_000), usize::MAX);
        let all = prompt.tokens(true);
        assert!(prompt.shrink(all - 10, true) < all - 10);
        assert_eq!(self::shown(&prompt), "40 fragments, 12 results whole, 8 left out");
    }

    #[test]
    fn a_conversation_of_calls_alone_is_bounded_too() {
        let prompt = Prompt::default().conversation(&rounds(1_000, 0), 10_000);
        let first = prompt.fragments[0].text();
        assert!(
            first.starts_with("[The first ")
                && first.ends_with(" entries of this conversation are left out.]")
        );
        let chars: usize = prompt.fragments.iter().map(|fragment| fragment.text().chars().count()).sum();
        assert!((9_000..11_000).contains(&chars), "{chars}");
        // The remainder begins with a turn of the model, so that each result has its request.
        assert_eq!(prompt.fragments[1].kind, FragmentKind::Said);
        let [Message::User(_), Message::Assistant(_), Message::Results(_), ..] =
            prompt.messages(MessageForm { has_tools: true, to: "" })[..]
        else {
            panic!("a result without its request");
        };
    }
}
