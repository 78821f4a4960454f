//! Chooses the answer among the things that look like one.
//!
//! Candidates are read in their order in the text, each in its place: nothing inside an object that cannot be read is
//! taken as an object of its own, because it would be a part for the whole.

use std::cell::Cell;

use super::begin::{Begin, begin, end};
use super::decode::{Misfit, decode};
use super::error::{ExtractError, Flaw, ObjectPath, Step};
use super::is_blank;
use super::look::{ValueClass, is_ours, look};
use super::mend::mend;
use super::node::{Node, same_name};
use super::read::{ReadFailure, Stop, read};
use super::thinking::{SplitText, ThinkingBlock, split_thinking};
use super::wanted::{Draft, Speech};

/// Maximum bytes read per byte of the text. Answers take one to four.
const BYTES_PER_BYTE_MAX: u64 = 16;
/// Bytes that may be read for any text, however short.
const BYTES_FLOOR: u64 = 4_096;

/// Number of bytes read so far. A search that would read too many ends.
#[derive(Debug)]
pub(super) struct Work {
    bytes: Cell<u64>,
    max: u64,
}

impl Work {
    fn on(bytes: usize) -> Self {
        let max = (bytes as u64).saturating_mul(BYTES_PER_BYTE_MAX).saturating_add(BYTES_FLOOR);
        Work { bytes: Cell::new(0), max }
    }

    fn add(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_add(bytes as u64));
    }

    fn is_spent(&self) -> bool {
        self.bytes.get() > self.max
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.get()
    }
}

/// Finds the answer in `text`; returns it with the work done.
pub(super) fn choose<T: Draft>(text: &str) -> (Result<T, ExtractError>, Work) {
    let heard = split_thinking(text);
    let work = Work::on(text.len());
    let mut choice = Choice::<T>::default();
    for part in &heard.said {
        choice.search(part, &work);
    }
    if choice.is_open()
        && let Some(thought) = countable::<T>(&heard)
    {
        let nothing_said = heard.said.is_empty();
        let thoughts = Choice::of_thought(thought, &work);
        if nothing_said || !thoughts.is_open() {
            choice = thoughts;
        }
        choice.only_thought = nothing_said;
    }
    let chosen = if work.is_spent() { Err(ExtractError::Tangled) } else { choice.settle() };
    (chosen, work)
}

/// Returns the thinking in which an answer may be. For a turn this is only thinking that was never closed, with no
/// text outside it: in closed thinking, a call was only considered.
fn countable<'t, T: Draft>(heard: &SplitText<'t>) -> Option<ThinkingBlock<'t>> {
    heard.thought.filter(|thought| match T::SPEECH {
        Speech::Answer => true,
        Speech::Turn => heard.said.is_empty() && !thought.is_closed,
    })
}

struct Choice<'t, T> {
    /// First answer, with the text that contains it.
    found: Option<(T, &'t str)>,
    /// Whether it only copies the example in the prompt, or says nothing.
    is_example: bool,
    /// Whether it is an item without its list, so that any other item counts.
    is_item: bool,
    /// Number of answers that differ from it.
    others: usize,
    /// First object that was clearly meant and cannot be read.
    unread: Option<(ExtractError, &'t str)>,
    /// Fault to report if there is nothing better: the first one, with those in our fields preferred.
    misfit: Option<ExtractError>,
    misfit_is_ours: bool,
    /// Whether mending has failed once. It is not tried again: it may read to the end of the text.
    is_past_mending: bool,
    /// Whether only an answer at the end of the text counts.
    only_last: bool,
    /// Whether the text has only thinking.
    only_thought: bool,
}

impl<T> Default for Choice<'_, T> {
    fn default() -> Self {
        Choice {
            found: None,
            is_example: false,
            is_item: false,
            others: 0,
            unread: None,
            misfit: None,
            misfit_is_ours: false,
            is_past_mending: false,
            only_last: false,
            only_thought: false,
        }
    }
}

/// A place in a text where a value begins.
#[derive(Clone, Copy)]
struct Place<'t> {
    text: &'t str,
    start: usize,
    /// Position of the first letter or digit outside of the lines of fences and other marks.
    first_word: usize,
    /// Position of the last one.
    last_word: usize,
}

impl<'t> Place<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.start..).unwrap_or_default()
    }

    fn raw(&self, len: usize) -> &'t str {
        self.rest().get(..len).unwrap_or_default()
    }

    /// Returns the text after a value of `len` bytes.
    fn after(&self, len: usize) -> &'t str {
        self.rest().get(len..).unwrap_or_default()
    }

    /// Returns whether no word precedes it.
    fn is_first(&self) -> bool {
        self.start <= self.first_word
    }

    /// Returns whether only punctuation follows a value of `len` bytes.
    fn is_last(&self, len: usize) -> bool {
        self.start + len > self.last_word
    }
}

/// What an answer is in the text.
#[derive(Clone, Copy)]
struct Kind {
    /// Whether it has the dots of the example in the prompt.
    has_dots: bool,
    /// Whether it is an item without its list. Two of them are two items, even if they are equal.
    is_item: bool,
}

impl<'t, T: Draft> Choice<'t, T> {
    /// Searches a thought for the answer at its end. Attempts before it do not count, nor do their faults; but a
    /// thought that was not closed may be cut off inside the answer.
    fn of_thought(thought: ThinkingBlock<'t>, work: &Work) -> Self {
        let mut choice = Choice { only_last: true, ..Choice::default() };
        choice.search(thought.text, work);
        choice.misfit = None;
        choice.misfit_is_ours = false;
        choice.unread =
            choice.unread.filter(|(error, _)| !thought.is_closed && matches!(error, ExtractError::Cut(_)));
        choice
    }

    /// Returns whether nothing meant as an answer has been seen.
    fn is_open(&self) -> bool {
        self.found.is_none() && self.unread.is_none() && !self.misfit_is_ours
    }

    /// Returns whether nothing that follows can count any more.
    fn is_closed(&self) -> bool {
        T::SPEECH == Speech::Turn
            && !self.only_last
            && (self.unread.is_some() || (self.found.is_some() && !self.is_example))
    }

    fn search(&mut self, text: &'t str, work: &Work) {
        let first_word = first_word(text);
        let last_word = text.rfind(char::is_alphanumeric).unwrap_or_default();
        let mut at = 0;
        while !self.is_closed()
            && !work.is_spent()
            && let Some(found) = text.get(at..).and_then(|rest| rest.find(['{', '[']))
        {
            let place = Place { text, start: at + found, first_word, last_word };
            work.add(found + 1);
            at = place.start
                + match begin(place.rest()) {
                    Begin::Prose => 1,
                    Begin::Json => self.take(place, work),
                    Begin::Alike { name, is_bare } => {
                        let flaw = if is_bare { Flaw::Name } else { Flaw::Mark };
                        let len = end_of(place, work);
                        self.note_unread(part_of(flaw, &name, vec![name.clone()]), place, len);
                        len
                    }
                    Begin::Cut => {
                        let unread = ReadFailure {
                            stop: Stop::Cut,
                            path: Vec::new(),
                            names: Vec::new(),
                            is_sketch: false,
                        };
                        self.note_unread(unread, place, place.rest().len());
                        return;
                    }
                };
        }
    }

    /// Takes what begins at `place`; returns its length.
    fn take(&mut self, place: Place<'t>, work: &Work) -> usize {
        let len = end_of(place, work);
        let raw = place.raw(len);
        work.add(2 * len);
        let is_object = raw.starts_with('{');
        let outside = field_before::<T>(place, is_object);
        if is_object
            && outside.is_none()
            && !ends_in_text::<T>(place, len, work)
            && let Ok(answer) = serde_json::from_str::<T>(raw)
            && answer.is_said()
        {
            let has_dots = raw.contains("\"…\"") || raw.contains("\"...\"");
            self.note_answer(answer, place, len, Kind { has_dots, is_item: false });
            return len;
        }
        let (read, len) = match read(raw) {
            Err(ReadFailure { stop: Stop::Broken(_), .. }) if !self.is_past_mending => {
                let (mended, len) = mend(place.rest());
                work.add(2 * len);
                let read = read(&mended);
                self.is_past_mending = read.is_err();
                (read, len)
            }
            read => (read, len),
        };
        let node = match read {
            Ok(node) => node,
            Err(unread) => {
                self.note_unread(unread, place, len);
                return len;
            }
        };
        let ours = || T::FIELDS.iter().map(|name| (*name).to_owned()).collect();
        if is_object && ends_in_text::<T>(place, len, work) {
            let last = node.last_field().unwrap_or_default();
            self.note_unread(part_of(Flaw::Quote, last, ours()), place, len);
        } else if let Some(name) = outside {
            self.note_unread(part_of(Flaw::Outside, name, ours()), place, len);
        } else {
            match look::<T>(&node) {
                ValueClass::Answer(_) if is_list::<T>(&node) && goes_on::<T>(place.after(len)) => {
                    self.note_unread(part_of(Flaw::Outside, "", ours()), place, len);
                }
                looked => self.note(looked, &node, place, len),
            }
        }
        len
    }

    fn note(&mut self, looked: ValueClass<T>, node: &Node, place: Place<'t>, len: usize) {
        match looked {
            ValueClass::Answer(answer) => {
                let is_item = matches!(node, Node::Object(_)) && is_list::<T>(node);
                self.note_answer(answer, place, len, Kind { has_dots: node.has_dots(), is_item });
            }
            ValueClass::Misfit(misfit) => {
                if !std::mem::replace(&mut self.misfit_is_ours, true) {
                    self.misfit = Some(shape::<T>(&misfit));
                }
            }
            ValueClass::Other if self.misfit.is_none() => {
                self.misfit = Some(match decode::<T>(node) {
                    Err(misfit) if T::SPEECH == Speech::Answer => shape::<T>(&misfit),
                    _ => ExtractError::NoField(format!("`{}`", T::FIELDS.join("`, `"))),
                });
            }
            ValueClass::Other => {}
        }
    }

    fn note_answer(&mut self, answer: T, place: Place<'t>, len: usize, kind: Kind) {
        let is_example = kind.has_dots || !answer.is_said();
        if self.only_last {
            if place.is_last(len) && !is_example && !kind.is_item {
                self.found = Some((answer, place.raw(len)));
            }
            return;
        }
        match &self.found {
            Some((first, _)) if is_example == self.is_example => {
                self.others += usize::from(kind.is_item || *first != answer);
            }
            Some(_) if is_example => {}
            Some(_) | None => {
                self.found = Some((answer, place.raw(len)));
                self.is_example = is_example;
                self.is_item = kind.is_item;
                self.others = 0;
            }
        }
    }

    fn note_unread(&mut self, unread: ReadFailure, place: Place<'t>, len: usize) {
        let at = ObjectPath::of(&unread.path, T::NAMES);
        let error = match unread.stop {
            Stop::Cut => ExtractError::Cut(at),
            Stop::Broken(flaw) => ExtractError::Broken { flaw, at },
            Stop::Deep => ExtractError::Deep,
        };
        // `{"verdicts": [...]}` is a sketch, not an answer.
        let is_ours = unread.names.iter().any(|name| is_ours::<T>(name))
            || field_before::<T>(place, place.rest().starts_with('{')).is_some();
        let is_meant = is_ours && !unread.is_sketch;
        // Between sentences it is something that the text shows, unless it is JSON but for a slip.
        let is_slip = matches!(unread.stop, Stop::Broken(Flaw::Quote | Flaw::Comma | Flaw::Mark));
        let is_half = matches!(unread.stop, Stop::Cut | Stop::Deep) || !place.raw(len).ends_with(['}', ']']);
        let is_half_a_turn = (is_meant && (is_slip || place.is_first() || place.is_last(len)))
            || (place.is_first() && is_half);
        if T::SPEECH == Speech::Turn && !is_half_a_turn {
            return;
        }
        if is_meant {
            self.unread.get_or_insert((error, place.raw(len)));
        } else {
            self.misfit.get_or_insert(error);
        }
    }

    fn settle(self) -> Result<T, ExtractError> {
        if self.others > 0 {
            return Err(ExtractError::Several(self.others + 1));
        }
        match (self.found, self.unread) {
            (Some(_), None) if self.is_item && self.misfit_is_ours => {
                Err(self.misfit.unwrap_or(ExtractError::NoObject))
            }
            (Some((answer, _)), None) => Ok(answer),
            // A model that repeats itself until it is cut off has given its answer.
            (Some((answer, raw)), Some((ExtractError::Cut(_), cut)))
                if !self.is_item && raw.starts_with(cut.trim_end()) =>
            {
                Ok(answer)
            }
            (_, Some((error, _))) => Err(error),
            (None, None) if self.only_thought => Err(self.misfit.unwrap_or(ExtractError::OnlyThought)),
            (None, None) => Err(self.misfit.unwrap_or(ExtractError::NoObject)),
        }
    }
}

fn shape<T: Draft>(misfit: &Misfit) -> ExtractError {
    ExtractError::Shape(misfit.say(T::NAMES))
}

/// Returns the length of what begins at `place`, by its brackets.
fn end_of(place: Place<'_>, work: &Work) -> usize {
    let len = end(place.rest()).unwrap_or(place.rest().len());
    work.add(len);
    len
}

/// Returns the position of the first letter or digit outside of the lines of fences and other marks.
fn first_word(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let inside = line.trim_start_matches(is_blank);
        if !inside.starts_with(['`', '~', '<', '['])
            && let Some(word) = line.find(char::is_alphanumeric)
        {
            return at + word;
        }
        at += line.len();
    }
    at
}

/// Returns whether it is a list, or an item of the wanted one.
fn is_list<T: Draft>(node: &Node) -> bool {
    match node {
        Node::Object(fields) => {
            let has = |ours: &str| fields.iter().any(|(name, _)| same_name(ours, name));
            T::LIST.is_some_and(|list| has(list.key)) && !T::FIELDS.iter().any(|name| has(name))
        }
        _ => true,
    }
}

/// Returns the field of ours whose value begins at `place` although no object is open there: its brace is missing,
/// possibly with other fields. A type without other fields can miss none; and a word before an object may belong to a
/// sentence, as in `Answer: {`.
fn field_before<'t, T: Draft>(place: Place<'t>, is_object: bool) -> Option<&'t str> {
    let before = place.text.get(..place.start)?.trim_end().strip_suffix([':', '：'])?.trim_end();
    let name = before.trim_end_matches(['"', '\'', '”', '’', '`', '*']);
    if T::FIELDS.len() < 2 || (is_object && name.len() == before.len()) {
        return None;
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let name = name.rsplit(|c| !is_part(c)).next()?;
    is_ours::<T>(name).then_some(name)
}

/// Returns whether a list, or an item of one, is followed by text that follows a value inside an object: then an
/// object has lost its beginning, and has other fields.
fn goes_on<T: Draft>(after: &str) -> bool {
    let after = after.trim_start();
    let has_more = match after.strip_prefix([',', '，']) {
        Some(after) => after.trim_start().starts_with(['"', '\'', '“', '”']),
        None => after.starts_with(['}', ']']),
    };
    T::FIELDS.len() > 1 && has_more
}

/// Reports that the text is only part of an answer.
fn part_of(flaw: Flaw, name: &str, names: Vec<String>) -> ReadFailure {
    let path = if name.is_empty() { Vec::new() } else { vec![Step::Field(name.to_owned())] };
    ReadFailure { stop: Stop::Broken(flaw), path, names, is_sketch: false }
}

/// Returns whether the apparent end of the object is in the middle of one of its texts: a quotation mark follows it
/// and none precedes it, or another of our fields follows on the same line.
fn ends_in_text<T: Draft>(place: Place<'_>, len: usize, work: &Work) -> bool {
    let after = place.after(len);
    let is_quoted = place.text.get(..place.start).is_some_and(|before| before.ends_with(['"', '\\']));
    let line = after.split(['{', '\n']).next().unwrap_or_default();
    work.add(line.len());
    let mut names = line.split("\":").map(|before| before.rsplit('"').next().unwrap_or_default());
    let has_field = line.contains("\":") && names.any(is_ours::<T>);
    has_field || (!is_quoted && after.starts_with(['"', '\\']))
}
