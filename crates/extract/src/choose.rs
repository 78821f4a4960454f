//! Chooses the answer among the things that look like one.
//!
//! Candidates are read in their order in the text, each in its place: nothing inside an object that cannot be read is
//! taken as an object of its own, because it would be a part for the whole.

use super::cursor::{Cursor, Level, Work};
use super::decode::{Misfit, decode};
use super::error::{At, ExtractError, Flaw};
use super::look::{Looked, is_ours, look, of_items};
use super::node::Node;
use super::parse::{self, Read, Step, Stop, Unread};
use super::starts::{Start, Starts};
use super::thinking::{Heard, Thought, hear};
use super::wanted::{Draft, Speech};

/// At most so many single items of a list are gathered; a text with more of them is not an answer.
const ITEMS_MAX: usize = 256;

/// Finds the answer in `text`; returns it with the work done.
pub(super) fn choose<T: Draft>(text: &str) -> (Result<T, ExtractError>, Work) {
    let heard = hear(text);
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

/// Returns the thinking if an answer may be looked for in it. A turn that was only thought of was not made.
fn countable<'t, T: Draft>(heard: &Heard<'t>) -> Option<Thought<'t>> {
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
    /// Number of answers that differ from it.
    others: usize,
    /// Single items of the list that is the gist of the answer, and where the last one ends in the searched text.
    items: Vec<Node>,
    items_end: Option<usize>,
    /// Position of the last letter or digit of that text.
    last_word: usize,
    /// Whether other text separates them, so that they do not belong together.
    items_apart: bool,
    /// First object that was clearly meant and cannot be read.
    unread: Option<(ExtractError, &'t str)>,
    /// Fault to report if there is nothing better: the first one, with those in our fields preferred.
    misfit: Option<ExtractError>,
    misfit_is_ours: bool,
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
            others: 0,
            items: Vec::new(),
            items_end: None,
            last_word: 0,
            items_apart: false,
            unread: None,
            misfit: None,
            misfit_is_ours: false,
            only_last: false,
            only_thought: false,
        }
    }
}

/// A value that was read, with its position.
struct Piece<'t> {
    text: &'t str,
    start: usize,
    end: usize,
    /// Whether it has the dots of the example in the prompt.
    has_dots: bool,
}

impl<'t> Piece<'t> {
    fn raw(&self) -> &'t str {
        self.text.get(self.start..self.end).unwrap_or_default()
    }
}

impl<'t, T: Draft> Choice<'t, T> {
    /// Searches a thought for the answer at its end. Attempts before it do not count, nor do their faults; but a
    /// thought that was not closed may be cut off inside the answer.
    fn of_thought(thought: Thought<'t>, work: &'t Work) -> Self {
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
        self.found.is_none() && self.items.is_empty() && self.unread.is_none() && !self.misfit_is_ours
    }

    /// Returns whether nothing that follows can count any more.
    fn is_closed(&self) -> bool {
        T::SPEECH == Speech::Turn
            && !self.only_last
            && (self.unread.is_some() || (self.found.is_some() && !self.is_example))
    }

    /// Returns whether only punctuation follows `end` in the searched text.
    fn is_last(&self, end: usize) -> bool {
        end > self.last_word
    }

    fn search(&mut self, text: &'t str, work: &'t Work) {
        work.forget();
        self.items_end = None;
        self.last_word = text.rfind(char::is_alphanumeric).unwrap_or_default();
        let mut starts = Starts::of(text, work);
        while !self.is_closed()
            && let Some(start) = starts.next()
        {
            let cursor = Cursor::new(text, start.at, text.len(), work).at_level(level(text, start));
            match parse::begins(cursor) {
                Ok(()) => {
                    let end = self.take(text, start, &starts, cursor, work);
                    starts.resume(end);
                }
                Err(Stop::Cut) => {
                    let at = text.len();
                    let unread = Unread { at, ..Unread::cut_at_once() };
                    self.note_unread(&unread, text.get(start.at..).unwrap_or_default(), start, true);
                    return;
                }
                Err(_) => {}
            }
        }
    }

    /// Reads what begins at `start`; returns where it ends.
    fn take(
        &mut self,
        text: &'t str,
        start: Start,
        starts: &Starts<'t>,
        cursor: Cursor<'t>,
        work: &'t Work,
    ) -> usize {
        let rest = text.get(start.at..).unwrap_or_default();
        if start.is_object
            && let Some((answer, len)) = strictly::<T>(rest, work)
            && !ends_in_string::<T>(text, start.at, start.at + len, work)
            && field_before::<T>(text, start).is_none()
        {
            let mut piece = Piece { text, start: start.at, end: start.at + len, has_dots: false };
            piece.has_dots = piece.raw().contains("\"…\"") || piece.raw().contains("\"...\"");
            self.note(Looked::Answer(answer), &piece);
            return piece.end;
        }
        match parse::parse(cursor) {
            Ok(read) if start.is_object && ends_in_string::<T>(text, start.at, read.end, work) => {
                let last = read.node.last_field().unwrap_or_default();
                let unread = Unread { depth: 1, ..part_of::<T>(Flaw::Quote, last, read.end) };
                self.pass_unread(&unread, text, start, starts)
            }
            Ok(read) if let Some(name) = field_before::<T>(text, start) => {
                self.note_unread(&part_of::<T>(Flaw::Outside, name, read.end), rest, start, false);
                read.end
            }
            Ok(Read { node, end, is_bare }) => {
                let is_code = is_bare && T::SPEECH == Speech::Turn && !(start.is_first || start.is_fenced);
                let looked = if is_code { Looked::Other } else { look::<T>(&node) };
                let may_be_part = match looked {
                    Looked::Item(_) => true,
                    Looked::Answer(_) => !start.is_object,
                    Looked::Misfit(_) | Looked::Other => false,
                };
                if may_be_part && goes_on::<T>(text, end) {
                    self.note_unread(&part_of::<T>(Flaw::Outside, "", end), rest, start, false);
                    return end;
                }
                if let Looked::Other = looked {
                    self.note_other(&node);
                }
                self.note(looked, &Piece { text, start: start.at, end, has_dots: node.has_dots() });
                end
            }
            Err(unread) => {
                // A fenced object ends with the fence at the latest, and that is where it was cut off.
                let fence_end = starts.fence_end(start.at).filter(|end| *end <= unread.at);
                let sooner = fence_end.and_then(|end| {
                    let inside = Cursor::new(text, start.at, end, work).at_level(level(text, start));
                    parse::parse(inside).err()
                });
                self.pass_unread(&sooner.unwrap_or(unread), text, start, starts)
            }
        }
    }

    fn note(&mut self, looked: Looked<T>, piece: &Piece<'t>) {
        match looked {
            Looked::Answer(answer) => self.note_answer(answer, piece),
            Looked::Item(item) => {
                let gap = self.items_end.and_then(|end| piece.text.get(end..piece.start));
                let touches = gap.is_some_and(|gap| gap.chars().all(|c| c.is_whitespace() || c == ','));
                let must_touch = T::LIST.is_some_and(|list| !list.apart) && !self.items.is_empty();
                self.items_apart |= must_touch && !touches;
                self.items_end = Some(piece.end);
                if self.items.len() >= ITEMS_MAX {
                    self.items_apart = true;
                } else if !self.only_last {
                    self.items.push(item);
                }
            }
            Looked::Misfit(misfit) => {
                if !std::mem::replace(&mut self.misfit_is_ours, true) {
                    self.misfit = Some(shape::<T>(&misfit));
                }
            }
            Looked::Other => {}
        }
    }

    fn note_answer(&mut self, answer: T, piece: &Piece<'t>) {
        let is_example = piece.has_dots || !answer.is_said();
        if self.only_last {
            if self.is_last(piece.end) && !is_example {
                self.found = Some((answer, piece.raw()));
            }
            return;
        }
        match &self.found {
            Some((first, _)) if is_example == self.is_example => {
                self.others += usize::from(*first != answer);
            }
            Some(_) if is_example => {}
            Some(_) | None => {
                self.found = Some((answer, piece.raw()));
                self.is_example = is_example;
                self.others = 0;
            }
        }
    }

    /// Notes something that is not an answer; the fault of the first one is reported.
    fn note_other(&mut self, node: &Node) {
        if self.misfit.is_none() {
            self.misfit = Some(match decode::<T>(node) {
                Err(misfit) if T::SPEECH == Speech::Answer => shape::<T>(&misfit),
                _ => ExtractError::NoField(format!("`{}`", T::FIELDS.join("`, `"))),
            });
        }
    }

    fn pass_unread(&mut self, unread: &Unread, text: &'t str, start: Start, starts: &Starts<'t>) -> usize {
        let end = starts.end_of(start, unread);
        let is_last = self.is_last(end);
        self.note_unread(unread, text.get(start.at..end).unwrap_or_default(), start, is_last);
        end
    }

    fn note_unread(&mut self, unread: &Unread, raw: &'t str, start: Start, is_last: bool) {
        let at = At::of(&unread.path, T::NAMES);
        let error = match unread.stop {
            Stop::Cut => ExtractError::Cut(at),
            Stop::Broken(flaw) => ExtractError::Broken { flaw, at },
            Stop::Deep => ExtractError::Deep,
            Stop::Prose => return,
        };
        // `{"verdicts": [...]}` is a sketch, not an answer.
        let is_meant = !unread.is_sketch && unread.names.iter().any(|name| is_ours::<T>(name));
        // In the middle of a text it is something that the text shows.
        let is_half_a_turn = (is_meant && (start.is_first || is_last))
            || (start.is_first && matches!(unread.stop, Stop::Cut | Stop::Deep));
        if T::SPEECH == Speech::Turn && !is_half_a_turn {
            return;
        }
        if is_meant {
            self.unread.get_or_insert((error, raw));
        } else {
            self.misfit.get_or_insert(error);
        }
    }

    fn settle(self) -> Result<T, ExtractError> {
        if self.others > 0 {
            return Err(ExtractError::Several(self.others + 1));
        }
        match (self.found, self.unread) {
            (Some((answer, _)), None) => return Ok(answer),
            // A model that repeats itself until it is cut off has given its answer.
            (Some((answer, raw)), Some((ExtractError::Cut(_), cut))) if raw.starts_with(cut.trim_end()) => {
                return Ok(answer);
            }
            (_, Some((error, _))) => return Err(error),
            (None, None) => {}
        }
        if let (Some(list), false) = (T::LIST, self.items.is_empty()) {
            if self.items_apart {
                return Err(ExtractError::Several(self.items.len()));
            }
            return decode(&of_items(list, self.items)).map_err(|misfit| shape::<T>(&misfit));
        }
        let nothing = if self.only_thought { ExtractError::OnlyThought } else { ExtractError::NoObject };
        Err(self.misfit.unwrap_or(nothing))
    }
}

fn shape<T: Draft>(misfit: &Misfit) -> ExtractError {
    ExtractError::Shape(misfit.say(T::NAMES))
}

/// Returns whether the object at `start` is written as the inside of a string.
fn level(text: &str, start: Start) -> Level {
    let inside = text.get(start.at + 1..).unwrap_or_default().trim_start();
    let inside = inside.strip_prefix('{').filter(|_| !start.is_object).unwrap_or(inside);
    let inside = inside.strip_prefix("\\n").unwrap_or(inside).trim_start();
    if inside.starts_with("\\\"") { Level::Escaped } else { Level::Plain }
}

/// Returns the answer that `rest` begins with as valid JSON, and its length.
fn strictly<T: Draft>(rest: &str, work: &Work) -> Option<(T, usize)> {
    let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<T>();
    match stream.next()? {
        Ok(answer) => {
            work.add(stream.byte_offset());
            answer.is_said().then(|| (answer, stream.byte_offset()))
        }
        Err(error) => {
            let lines = rest.split_inclusive('\n').take(error.line().saturating_sub(1));
            work.add(lines.map(str::len).sum::<usize>() + error.column());
            None
        }
    }
}

/// Returns the field of ours whose value begins at `start` although no object is open there: its brace is missing,
/// possibly with other fields. A type without other fields can miss none; and a word before an object may belong to a
/// sentence, as in `Answer: {`.
fn field_before<T: Draft>(text: &str, start: Start) -> Option<&str> {
    let before = text.get(..start.at)?.trim_end().strip_suffix([':', '：'])?.trim_end();
    let name = before.trim_end_matches(['"', '\'', '”', '’', '`', '*']);
    if T::FIELDS.len() < 2 || (start.is_object && name.len() == before.len()) {
        return None;
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let name = name.rsplit(|c| !is_part(c)).next()?;
    is_ours::<T>(name).then_some(name)
}

/// Returns whether a list, or an item of one, is followed by text that follows a value inside an object: then an
/// object has lost its beginning, and has other fields.
fn goes_on<T: Draft>(text: &str, end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default().trim_start();
    let has_more = match rest.strip_prefix([',', '，']) {
        Some(rest) => rest.trim_start().starts_with(['"', '\'', '“', '”']),
        None => rest.starts_with(['}', ']']),
    };
    T::FIELDS.len() > 1 && has_more
}

/// Reports that the text up to `at` is only part of an answer.
fn part_of<T: Draft>(flaw: Flaw, name: &str, at: usize) -> Unread {
    let path = if name.is_empty() { Vec::new() } else { vec![Step::Field(name.to_owned())] };
    let names = T::FIELDS.iter().map(|name| (*name).to_owned()).collect();
    Unread { stop: Stop::Broken(flaw), path, at, depth: 0, names, is_sketch: false }
}

/// Returns whether the apparent end of the object is in the middle of one of its strings: a quotation mark follows it
/// and none precedes it, or another of our fields follows on the same line.
fn ends_in_string<T: Draft>(text: &str, start: usize, end: usize, work: &Work) -> bool {
    let rest = text.get(end..).unwrap_or_default();
    let is_quoted = text.get(..start).is_some_and(|before| before.ends_with(['"', '\\']));
    let line = rest.split(['{', '\n']).next().unwrap_or_default();
    work.add(line.len());
    let mut names = line.split("\":").map(|before| before.rsplit('"').next().unwrap_or_default());
    let has_field = line.contains("\":") && names.any(is_ours::<T>);
    has_field || (!is_quoted && rest.starts_with(['"', '\\']))
}
