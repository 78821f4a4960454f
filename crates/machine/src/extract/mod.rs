//! Finding the one JSON object in what a model wrote, and reading it as what was asked for.
//!
//! Prompts ask for one JSON object and nothing else; this reads as if they had not. It takes the first of these
//! that leads to an answer:
//!
//! 1. The text is the object, and says something. Nearly every answer does, and it costs one typed parse.
//! 2. What was said, without the thinking (`thinking`), is searched from the front (`starts`). An object that is
//!    valid JSON of the wanted shape is taken as it is; one that is not is read tolerantly (`parse`, `strings`)
//!    and decoded tolerantly (`decode`, `words`). Fences, prose and special tokens around it do not matter. An
//!    object with none of the wanted fields is looked into when one thing in it can be the answer: a list of one,
//!    the only list or object among its fields, JSON in a string. Where a list is the gist of the answer, the
//!    bare list will do, and so will its items one by one.
//! 3. Where nothing of that kind was said, the last thing in the last block of thinking, if it is an answer.
//!
//! Among several answers (`choose`): those that say the same are one. A copy of the example in the prompt, told by
//! its dots, does not count beside another. Of a *turn* (R3) the first counts, since what follows is a reply that
//! the model made up; a call that was only thought of was not made; and one that cannot be read is an error where
//! it begins or ends the text, but something that the text shows where it stands between sentences. Of an *answer* (all others) none counts when
//! two differ: a draft and its correction look like an answer and an afterthought, like a quotation and a verdict,
//! like the first and the second half of a plan; taking either would sometimes run a plan that was withdrawn,
//! lose sub-tasks, or pass what was failed. One more call is cheaper.
//!
//! What is never done:
//!
//! - completing what was cut off. Half a list of sub-tasks or verdicts reads like a whole one, so the end of the
//!   text inside an object is an error that says where;
//! - taking a part for the whole: nothing is looked for inside an object that cannot be read;
//! - choosing between readings: a repair is made only where one reading is left;
//! - changing a valid answer: valid JSON of the wanted shape decodes as `serde_json` decodes it. A field given
//!   twice is an error there unless both say the same; inside values of no fixed shape the last one counts, as it
//!   does everywhere in `serde_json`;
//! - carrying a word of the answer in an error.
//!
//! The text is read by loops and not by recursion, objects are at most as deep as `serde_json` allows, and the
//! steps are counted against [`STEPS_PER_BYTE_MAX`].

mod choose;
mod cursor;
mod decode;
mod draft;
mod error;
mod look;
mod nested;
mod node;
mod parse;
mod starts;
mod strings;
#[cfg(test)]
mod tests;
mod thinking;
mod words;

use std::borrow::Cow;

use serde_json::Value;

pub use cursor::STEPS_PER_BYTE_MAX;
pub use draft::{Draft, List, Speech};
pub use error::{At, ExtractError, Flaw};

/// Longest answer that is searched, in bytes; a longer one is refused unread.
pub const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The answer in `text`.
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
    if text.chars().all(cursor::is_blank) {
        return Err(ExtractError::Empty);
    }
    match (choose::choose(text).0, whole) {
        // Nothing in it says more than the whole does, which is nothing: that is for the role to find wanting.
        (Err(ExtractError::NoField(_)), Some(whole)) => Ok(whole),
        (chosen, _) => chosen,
    }
}

/// What was said in `text`, without the thinking and the blanks around it; empty when there was nothing else.
#[must_use]
pub fn said(text: &str) -> Cow<'_, str> {
    let heard = thinking::hear(text);
    match heard.said.as_slice() {
        [] => Cow::Borrowed(""),
        [one] => Cow::Borrowed(one.trim()),
        parts => Cow::Owned(parts.iter().map(|part| part.trim()).collect::<Vec<_>>().join("\n")),
    }
}

/// Whether two names of fields are the same but for their spelling.
pub(crate) fn same_name(ours: &str, written: &str) -> bool {
    node::same_name(ours, written)
}

/// The word of a turn's status that `text` means.
pub(crate) fn status_word(text: &str) -> Option<&'static str> {
    words::variant(text, &["completed", "uncertain", "failed"])
}

/// The class of failure that `text` means.
pub(crate) fn class_word(text: &str) -> Option<&'static str> {
    words::variant(text, &["logical", "environmental"])
}

/// The JSON object that a string says, if it says one and nothing else.
pub(crate) fn object_in(text: &str) -> Option<Value> {
    decode::decode(&node::Node::Object(nested::object(text)?)).ok()
}
