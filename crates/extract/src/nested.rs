//! JSON in a string: a list or an object that was encoded once more than asked for.

use super::cursor::{Cursor, Work};
use super::node::Node;
use super::parse::{self, is_at_end};

/// Returns the list that a text consists of; `None` if it is anything else.
pub(super) fn list(text: &str) -> Option<Vec<Node>> {
    match whole(text, '[')? {
        Node::List(items) => Some(items),
        _ => None,
    }
}

/// Returns the object that a text consists of; `None` if it is anything else.
pub(super) fn object(text: &str) -> Option<Vec<(String, Node)>> {
    match whole(text, '{')? {
        Node::Object(fields) => Some(fields),
        _ => None,
    }
}

fn whole(text: &str, bracket: char) -> Option<Node> {
    let work = Work::on(text.len());
    let mut cursor = Cursor::new(text, 0, text.len(), &work);
    cursor.skip_space();
    if cursor.peek() != Some(bracket) {
        return None;
    }
    let read = parse::parse(cursor).ok()?;
    let is_all = is_at_end(Cursor::new(text, read.end, text.len(), &work));
    (is_all && !read.is_bare).then_some(read.node)
}
