//! What a model is asked to answer ([`draft`]), and the reader that finds that answer in its text.
//!
//! Prompts ask for one JSON object and nothing else, but models add to it. The first of these steps that finds an
//! answer counts:
//!
//! 1. The text is the object, and says something. Nearly every answer is, and it costs one typed parse.
//! 2. The text without the thinking (`thinking`) is searched from the front (`choose`, `begin`). An object that is
//!    valid JSON of the wanted shape is taken as it is. One that is not is read again with the habits of models mended
//!    (`mend`, `read`) and decoded tolerantly (`decode`, `words`). Fences, prose and special tokens around it do not
//!    matter. An object with none of the wanted fields is unwrapped if one thing in it can be the answer (`look`): a
//!    list of one, the only list or object among its fields, JSON in a string. If a list is the gist of the answer, the
//!    bare list is enough, and so is a single item.
//! 3. If the text outside the thinking has no answer, the end of the last block of thinking is taken, if it is one.
//!
//! A model repeats a habit in its answer to a repair call, so a habit is read. It does not repeat a slip, such as a
//! quotation mark without its backslash, so a slip is an error that says what to write
//! (docs/decisions/0016-a-habit-is-read-a-slip-is-asked-again.md).
//!
//! Among several answers (`choose`), equal ones count as one, and a copy of the example in the prompt, recognised
//! by its dots, does not count beside another. Of a *turn* (R3) the first counts, because what follows is a reply
//! that the model made up. A call inside closed thinking does not count. A turn that cannot be read is an error if
//! it begins or ends the text, or has only a slip; between sentences it is something that the text shows. Of an
//! *answer* (all others) none counts if two differ: they may be a draft and its correction, an answer and an
//! afterthought, a quotation and a verdict, or two halves of a plan. Taking either would sometimes run a plan that
//! was withdrawn, lose sub-tasks, or pass what was failed. One more call is cheaper.
//!
//! What it never does:
//!
//! - completing what was cut off. Half a list of sub-tasks or verdicts reads like a whole one, so the end of the
//!   text inside an object is an error that says where;
//! - taking a part for the whole: nothing is looked for inside an object that cannot be read;
//! - choosing between readings: what could be read in two ways is not read;
//! - changing a valid answer: valid JSON of the wanted shape decodes as `serde_json` decodes it. A field given
//!   twice is an error there unless both are equal; inside values of no fixed shape the last one counts, as it does
//!   everywhere in `serde_json`;
//! - putting a word of the answer into an error.
//!
//! Objects are at most as deep as `serde_json` allows, and a search reads each byte a few times (`choose::Work`).

mod begin;
mod choose;
mod decode;
pub mod draft;
mod error;
mod look;
mod mend;
mod node;
mod read;
#[cfg(test)]
mod tests;
mod thinking;
mod wanted;
mod words;

use std::borrow::Cow;

use serde_json::Value;

pub use error::{ExtractError, Flaw, ObjectPath};
pub use wanted::{Draft, List, Speech};

/// Maximum bytes of an answer that is searched; a longer one is refused unread.
pub const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Extracts the answer from `text`.
///
/// # Errors
/// See [`ExtractError`].
pub fn extract<T: Draft>(text: &str) -> Result<T, ExtractError> {
    if text.len() > ANSWER_BYTES_MAX {
        return Err(ExtractError::TooLong(text.len()));
    }
    let is_object = text.trim_start().starts_with('{');
    let whole = match is_object.then(|| serde_json::from_str::<T>(text)) {
        Some(Ok(answer)) if answer.is_said() => return Ok(answer),
        Some(Ok(nothing)) => Some(nothing),
        Some(Err(_)) | None => None,
    };
    if text.chars().all(is_blank) {
        return Err(ExtractError::Empty);
    }
    match (choose::choose(text).0, whole) {
        // Nothing inside says more than the whole, which is empty; the role rejects that itself.
        (Err(ExtractError::NoField(_)), Some(whole)) => Ok(whole),
        (chosen, _) => chosen,
    }
}

/// Returns `text` without the thinking and the blanks around it; empty if there is nothing else.
#[must_use]
pub fn without_thinking(text: &str) -> Cow<'_, str> {
    let heard = thinking::split_thinking(text);
    match heard.said.as_slice() {
        [] => Cow::Borrowed(""),
        [one] => Cow::Borrowed(one.trim()),
        parts => Cow::Owned(parts.iter().map(|part| part.trim()).collect::<Vec<_>>().join("\n")),
    }
}

/// Returns whether two field names are the same except for their spelling.
pub(crate) fn same_name(ours: &str, written: &str) -> bool {
    node::same_name(ours, written)
}

/// Returns the status of a turn that `text` means; `None` if it means none.
pub(crate) fn status_word(text: &str) -> Option<&'static str> {
    words::variant(text, &["completed", "uncertain", "failed"])
}

/// Returns the class of failure that `text` means; `None` if it means none.
pub(crate) fn class_word(text: &str) -> Option<&'static str> {
    words::variant(text, &["logical", "environmental"])
}

/// Returns the JSON object that a string consists of; `None` if it is anything else.
pub(crate) fn object_in(text: &str) -> Option<Value> {
    read::nested(text)
        .filter(|node| matches!(node, node::Node::Object(_)))
        .and_then(|node| decode::decode(&node).ok())
}

/// Returns whether it is white space of any kind, or an invisible character.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\0')
}
