//! The model's text without its thinking.
//!
//! Thinking is the text between the marks of one of the known kinds. A block that is not closed extends to the end
//! of the text; a closing mark without an opening one ends thinking that began with the text, because many
//! templates put the opening mark into the prompt. Of the channels of Harmony only the final one is speech. What
//! follows the end of the model's turn is a conversation that it made up, and is dropped.
//!
//! A mark counts where a model puts it, not where a sentence or a string mentions it. Never changes a text, only
//! leaves parts of it out, and reads it a fixed number of times.

use super::is_blank;

/// Names of thinking in angle brackets.
const TAGS: &[&str] =
    &["think", "thinking", "thought", "reasoning", "reflection", "scratchpad", "seed:think"];
/// Other marks of thinking.
const PAIRS: &[(&str, &str)] = &[
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
];
/// Marks after which another party speaks.
const TURN_ENDS: &[&str] = &[
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|return|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|END_RESPONSE|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "</s>",
];
/// Marks that begin the model's own turn, or have no meaning.
const NOISE: &[&str] = &[
    "<|im_start|>assistant",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<start_of_turn>model",
    "<|START_RESPONSE|>",
    "<|begin_of_solution|>",
    "<|end_of_solution|>",
    "<|begin_of_text|>",
];

/// Maximum bytes of a line examined before a mark, and blanks after it, to decide whether it counts.
const LINE_BYTES_MAX: usize = 512;
const BLANKS_MAX: usize = 256;

/// A text split into speech and thinking.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SplitText<'t> {
    /// Spoken parts, in order. None is empty.
    pub(super) said: Vec<&'t str>,
    /// Last block of thinking.
    pub(super) thought: Option<ThinkingBlock<'t>>,
}

/// A block of thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThinkingBlock<'t> {
    pub(super) text: &'t str,
    /// Whether it was closed. The content of one that was not may be meant for others.
    pub(super) is_closed: bool,
}

/// Splits a text.
pub(super) fn split_thinking(text: &str) -> SplitText<'_> {
    let mut heard = SplitText::default();
    match harmony(text) {
        Some(channels) => channels.for_each(|(name, body)| match name {
            Channel::Final => heard.say(body),
            Channel::Other => heard.thought = Some(ThinkingBlock { text: body, is_closed: true }),
        }),
        None => heard.listen(text),
    }
    heard
}

#[derive(Clone, Copy)]
enum Mark {
    Opens(Kind),
    Closes(Kind),
    TurnEnds,
    Noise,
}

/// The kind of a mark, which pairs it with its counterpart: an index in [`TAGS`] and [`PAIRS`].
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind(usize);

struct FoundMark {
    mark: Mark,
    start: usize,
    end: usize,
}

impl<'t> SplitText<'t> {
    fn say(&mut self, text: &'t str) {
        if !text.chars().all(is_blank) {
            self.said.push(text);
        }
    }

    fn listen(&mut self, text: &'t str) {
        let mut at = 0;
        while let Some(found) = next_mark(text, at, |found| counts(text, found)) {
            let before = text.get(at..found.start).unwrap_or_default();
            at = found.end;
            match found.mark {
                Mark::Noise => self.say(before),
                Mark::TurnEnds => {
                    self.say(before);
                    if !self.said.is_empty() {
                        return;
                    }
                }
                Mark::Closes(kind) => {
                    if let Some((start, end)) = opening_in_line(before, kind) {
                        self.say(before.get(..start).unwrap_or_default());
                        let text = before.get(end..).unwrap_or_default();
                        self.thought = Some(ThinkingBlock { text, is_closed: true });
                        continue;
                    }
                    self.said.clear();
                    let text = text.get(..found.start).unwrap_or_default();
                    self.thought = Some(ThinkingBlock { text, is_closed: true });
                }
                Mark::Opens(kind) => {
                    self.say(before);
                    let (thought, after) = block(text, found.end, kind);
                    self.thought = Some(thought);
                    at = after;
                }
            }
        }
        self.say(text.get(at..).unwrap_or_default());
    }
}

/// Returns the block whose opening mark ends at `from`, and where the text after it begins. Nested blocks belong to
/// it. If more are opened than closed, the last closing mark ends it: some are only mentioned.
fn block(text: &str, from: usize, kind: Kind) -> (ThinkingBlock<'_>, usize) {
    let is_of_kind = |found: &FoundMark| match found.mark {
        Mark::Opens(other) => other == kind && is_first_on_line(text, found),
        Mark::Closes(other) => other == kind,
        Mark::TurnEnds | Mark::Noise => false,
    };
    let mut depth = 1_usize;
    let mut at = from;
    let mut last = None;
    while let Some(found) = next_mark(text, at, is_of_kind) {
        at = found.end;
        match found.mark {
            Mark::Opens(_) => depth += 1,
            _ => {
                depth -= 1;
                last = Some(found);
                if depth == 0 {
                    break;
                }
            }
        }
    }
    let (end, after, is_closed) = match last {
        Some(found) => (found.start, found.end, true),
        None => (text.len(), text.len(), false),
    };
    (ThinkingBlock { text: text.get(from..end).unwrap_or_default(), is_closed }, after)
}

fn next_mark(text: &str, from: usize, is_wanted: impl Fn(&FoundMark) -> bool) -> Option<FoundMark> {
    let rest = text.get(from..)?;
    rest.match_indices(['<', '[', '◁']).find_map(|(at, _)| mark_at(text, from + at).filter(&is_wanted))
}

fn mark_at(text: &str, start: usize) -> Option<FoundMark> {
    let rest = text.get(start..)?;
    let found = |mark, len: usize| Some(FoundMark { mark, start, end: start + len });
    for (kind, (opening, closing)) in PAIRS.iter().enumerate() {
        let kind = Kind(TAGS.len() + kind);
        if rest.starts_with(opening) {
            return found(Mark::Opens(kind), opening.len());
        }
        if rest.starts_with(closing) {
            return found(Mark::Closes(kind), closing.len());
        }
    }
    for (marks, mark) in [(TURN_ENDS, Mark::TurnEnds), (NOISE, Mark::Noise)] {
        if let Some(written) = marks.iter().find(|written| rest.starts_with(**written)) {
            return found(mark, written.len());
        }
    }
    let inside = rest.strip_prefix('<')?;
    let (closes, inside) = match inside.strip_prefix('/') {
        Some(inside) => (true, inside),
        None => (false, inside),
    };
    let is_named = |name: &&&str| {
        inside.get(..name.len()).is_some_and(|written| written.eq_ignore_ascii_case(name))
            && inside.get(name.len()..).is_some_and(|rest| rest.starts_with('>'))
    };
    let (kind, name) = TAGS.iter().enumerate().find(|(_, name)| is_named(name))?;
    let mark = if closes { Mark::Closes(Kind(kind)) } else { Mark::Opens(Kind(kind)) };
    found(mark, 1 + usize::from(closes) + name.len() + 1)
}

/// Returns the last opening mark on the line that `before` ends with, which did not count by itself.
fn opening_in_line(before: &str, kind: Kind) -> Option<(usize, usize)> {
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let is_of_kind = |found: &FoundMark| matches!(found.mark, Mark::Opens(other) if other == kind);
    let mut last = None;
    let mut at = line;
    while let Some(found) = next_mark(before, at, is_of_kind) {
        at = found.end;
        last = Some((found.start, found.end));
    }
    last
}

/// Returns whether a mark is where a model puts it.
fn counts(text: &str, found: &FoundMark) -> bool {
    match found.mark {
        Mark::Opens(_) => is_first_on_line(text, found) || is_no_word(text, found),
        Mark::Noise => is_first_on_line(text, found),
        Mark::Closes(_) => {
            is_first_on_line(text, found) || is_last_on_line(text, found) || is_no_word(text, found)
        }
        Mark::TurnEnds => is_first_on_line(text, found) || is_last_on_line(text, found),
    }
}

/// Returns whether only blanks and other marks precede it on its line.
fn is_first_on_line(text: &str, found: &FoundMark) -> bool {
    let line = line_before(text, found);
    let line = line.trim_matches(is_blank);
    line.is_empty() || line.ends_with("|>") || TAGS.iter().any(|tag| ends_with_closing(line, tag))
}

fn ends_with_closing(line: &str, tag: &str) -> bool {
    line.strip_suffix('>').and_then(|line| line.strip_suffix(tag)).is_some_and(|line| line.ends_with("</"))
}

/// Returns whether only blanks follow it on its line, or JSON or another mark.
fn is_last_on_line(text: &str, found: &FoundMark) -> bool {
    let rest = text.get(found.end..).unwrap_or_default();
    let blanks = rest.chars().take(BLANKS_MAX).take_while(|c| *c != '\n' && is_blank(*c));
    let rest = rest.get(blanks.map(char::len_utf8).sum()..).unwrap_or_default();
    rest.is_empty() || rest.starts_with(['\n', '{', '[', '<']) || rest.starts_with("```")
}

/// Returns whether it is not a word of a sentence, and not part of a string.
fn is_no_word(text: &str, found: &FoundMark) -> bool {
    let line = line_before(text, found);
    line.ends_with(['}', ']']) || (!line.ends_with([' ', '`', '\'']) && !line.contains('"'))
}

/// Returns the text before it on its line, up to the limit. Not read character by character, because there may be a
/// mark in every word.
fn line_before<'t>(text: &'t str, found: &FoundMark) -> &'t str {
    let before = text.get(..found.start).unwrap_or_default();
    let from = before.floor_char_boundary(before.len().saturating_sub(LINE_BYTES_MAX));
    let near = before.get(from..).unwrap_or_default();
    near.rsplit('\n').next().unwrap_or(near)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Channel {
    Final,
    Other,
}

/// Returns the channels of a text in the Harmony format; `None` for any other text. Some servers leave the marks out
/// and write the names of the channels into the text.
fn harmony(text: &str) -> Option<Box<dyn Iterator<Item = (Channel, &str)> + '_>> {
    let text = text.trim_start_matches(is_blank);
    if text.starts_with("analysis")
        && let Some((thought, said)) = text.rsplit_once("assistantfinal")
    {
        return Some(Box::new([(Channel::Other, thought), (Channel::Final, said)].into_iter()));
    }
    let starts = ["<|channel|>", "<|start|>assistant<|channel|>"].iter().any(|mark| text.starts_with(mark));
    let is_continued = || {
        let marks = text.match_indices("<|channel|>final");
        marks.into_iter().any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default().trim_end_matches(is_blank);
            before.ends_with("<|start|>assistant") || before.ends_with("<|end|>")
        })
    };
    if !starts && !is_continued() {
        return None;
    }
    let parts = text.split("<|channel|>").enumerate().filter_map(|(index, part)| {
        let (name, body) = match part.split_once("<|message|>") {
            Some(split) => split,
            None if index == 0 => ("", part),
            None => return None,
        };
        let ends = ["<|end|>", "<|return|>", "<|call|>", "<|start|>"];
        let end = ends.iter().filter_map(|end| body.find(end)).min();
        let body = end.and_then(|end| body.get(..end)).unwrap_or(body);
        let is_final = name.trim_start().starts_with("final");
        Some((if is_final { Channel::Final } else { Channel::Other }, body))
    });
    Some(Box::new(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let heard = split_thinking(text);
        let thought = heard.thought.map(|thought| match thought.is_closed {
            true => format!(" ({})", thought.text.trim()),
            false => format!(" ({}…", thought.text.trim()),
        });
        let said: Vec<&str> = heard.said.iter().map(|said| said.trim()).collect();
        said.join(" | ") + &thought.unwrap_or_default()
    }

    #[test]
    fn thinking_blocks_with_any_marks_are_left_out() {
        for (text, expected) in [
            ("plain", "plain"),
            ("<think>a</think>b", "b (a)"),
            ("<Thinking>a</THINKING>\nb", "b (a)"),
            ("<think>a</think>b\n<think>c</think>d", "b | d (c)"),
            ("<think>a\n<think>b</think>c</think>d", "d (a\n<think>b</think>c)"),
            ("<think>a <think> b</think>d", "d (a <think> b)"),
            ("<think>a\n<think> b</think>d", "d (a\n<think> b)"),
            ("<think></think>\n\nb", "b ()"),
            ("[THINK]a[/THINK]b", "b (a)"),
            ("◁think▷a◁/think▷b", "b (a)"),
            ("<think>a</think><reasoning>b</reasoning>c", "c (b)"),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
    }

    #[test]
    fn half_a_pair_is_enough() {
        for (text, expected) in [
            ("<think>a", " (a…"),
            ("b\n<think>a", "b (a…"),
            ("a\n</think>\n\nb", "b (a)"),
            ("a.</think>b", "b (a.)"),
            ("a</think>\nb</think>\nc", "c (a</think>\nb)"),
            ("a</think>", " (a)"),
            ("a.<think>b</think>c", "a. | c (b)"),
            ("a. <think>b</think> c", "a. | c (b)"),
            ("{\"a\":1}<think>b</think>", "{\"a\":1} (b)"),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
    }

    #[test]
    fn a_mark_that_is_only_mentioned_is_ignored() {
        for text in [
            "Use <think> to begin.",
            "Use </think> to end.",
            "a `</think>`b",
            "{\"output\": \"a <think>b</think> c\", \"x\": 1}",
            "It prints <|im_end|> and goes on.",
            "a [THINK] b",
        ] {
            assert_eq!(said(text), text);
        }
    }

    #[test]
    fn only_the_final_channel_is_said() {
        let expected = "b (a)";
        for text in [
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
            "a<|end|><|start|>assistant<|channel|>final<|message|>b",
            "<|channel|>final<|message|>b<|end|><|start|>user<|message|>c<|channel|>analysis<|message|>a",
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
        assert_eq!(said("analysisaassistantfinalb"), "b (analysisa)");
        assert_eq!(said("<|channel|>analysis<|message|>a"), " (a)");
    }

    #[test]
    fn text_after_the_turn_is_dropped() {
        for (text, expected) in [
            ("b<|im_end|>\n<|im_start|>user\nc", "b"),
            ("<|im_start|>assistant\nb<|im_end|>", "b"),
            ("b</s>", "b"),
            ("<end_of_turn>\nb", "b"),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
    }
}
