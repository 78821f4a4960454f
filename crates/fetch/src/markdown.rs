//! HTML as Markdown: headings, paragraphs, links, lists, quotes, code, tables and the text of images.
//!
//! It writes while it reads, without a tree, so nesting costs nothing: time and memory grow with the page, whatever the
//! page does. Left out are scripts, styles, what the page hides, and emphasis.

use std::convert::Infallible;

use html5gum::Tokenizer;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use url::Url;

use crate::Target;

mod names;
mod writer;

use names::Kind;
use writer::Writer;

/// Maximum bytes of Markdown; what follows is left out.
pub const MARKDOWN_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum characters of a title.
pub const TITLE_CHARS_MAX: usize = 300;
/// Longest attribute value that is looked at, in bytes; a longer one counts as empty.
const VALUE_BYTES_MAX: usize = 4_096;

/// A page as Markdown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markdown {
    /// Its title, on one line.
    pub title: String,
    pub text: String,
    /// Whether it is all of the page, or was cut at [`MARKDOWN_BYTES_MAX`].
    pub is_complete: bool,
}

/// Converts a page. Links are resolved against `base`; those that lead to no page keep only their text.
#[must_use]
pub fn from_html(html: &str, base: &Target) -> Markdown {
    let mut page =
        Page { base: base.url().clone(), writer: Writer::default(), tag: Tag::default(), skipped: None };
    let mut is_in_title = false;
    let mut title = String::new();
    let mut emitter =
        CallbackEmitter::new(|event: CallbackEvent<'_>, _: html5gum::Span<()>| -> Option<Infallible> {
            match event {
                CallbackEvent::OpenStartTag { name } => page.tag = Tag { name: text(name), ..Tag::default() },
                CallbackEvent::AttributeName { name } => {
                    page.tag.is_hidden |= name == b"hidden";
                    page.tag.attribute = text(name);
                }
                CallbackEvent::AttributeValue { value } => page.tag.keep(value),
                CallbackEvent::CloseStartTag { self_closing } => {
                    let tag = std::mem::take(&mut page.tag);
                    is_in_title = tag.name == "title" && title.is_empty() && !self_closing;
                    page.start(&tag, self_closing);
                }
                CallbackEvent::EndTag { name } => {
                    is_in_title = false;
                    page.tag = Tag::default();
                    page.end(&text(name));
                }
                CallbackEvent::String { value } if is_in_title => title = one_line(&text(value)),
                CallbackEvent::String { value } if page.skipped.is_none() => page.writer.text(&text(value)),
                _ => {}
            }
            None
        });
    emitter.naively_switch_states(true);
    // Reading a text in memory cannot fail.
    let _ = Tokenizer::new_with_emitter(html, emitter).finish();
    let (text, is_complete) = page.writer.finished();
    Markdown { title, text, is_complete }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(TITLE_CHARS_MAX).collect();
    words.join(" ").chars().take(TITLE_CHARS_MAX).collect()
}

/// A start tag that is being read.
#[derive(Debug, Default)]
struct Tag {
    name: String,
    /// The attribute whose value comes next.
    attribute: String,
    href: String,
    src: String,
    alt: String,
    start: String,
    is_hidden: bool,
}

impl Tag {
    fn keep(&mut self, value: &[u8]) {
        let name = std::mem::take(&mut self.attribute);
        if value.len() > VALUE_BYTES_MAX {
            return;
        }
        match name.as_str() {
            // The first of a name counts.
            "href" if self.href.is_empty() => self.href = text(value),
            "src" if self.src.is_empty() => self.src = text(value),
            "alt" if self.alt.is_empty() => self.alt = one_line(&text(value)),
            "start" if self.start.is_empty() => self.start = text(value),
            "style" => {
                let style: String = text(value).to_ascii_lowercase().split_whitespace().collect();
                self.is_hidden |= style.contains("display:none") || style.contains("visibility:hidden");
            }
            _ => {}
        }
    }
}

struct Page {
    base: Url,
    writer: Writer,
    tag: Tag,
    /// The element that is left out, and how many of its name are open.
    skipped: Option<(String, usize)>,
}

impl Page {
    fn start(&mut self, tag: &Tag, is_closed: bool) {
        let kind = names::kind(&tag.name);
        if let Some((name, open)) = &mut self.skipped {
            if *name != tag.name {
                return;
            }
            // An element whose end tag may be missing ends where the next one begins.
            if !names::is_ended_by_next(name) {
                *open += 1;
                return;
            }
            self.skipped = None;
        }
        if kind == Kind::Skipped || tag.is_hidden {
            // Only in what is not HTML a tag can close itself.
            let is_whole = is_closed && matches!(tag.name.as_str(), "math" | "svg");
            if !is_whole && !names::is_void(&tag.name) {
                self.skipped = Some((tag.name.clone(), 1));
            }
            return;
        }
        match kind {
            Kind::Block => self.writer.block(),
            Kind::Heading(level) => self.writer.heading(level),
            Kind::Break => self.writer.line(),
            Kind::Rule => self.writer.rule(),
            Kind::List { is_ordered } => {
                self.writer.list(is_ordered.then(|| tag.start.trim().parse().unwrap_or(1)));
            }
            Kind::Item => self.writer.item(),
            Kind::Quote => self.writer.quote(),
            Kind::Pre => self.writer.pre(),
            Kind::Code => self.writer.code(),
            Kind::Table => self.writer.table(),
            Kind::Row => self.writer.row(),
            Kind::Cell => self.writer.cell(),
            Kind::Link => {
                let to = self.resolved(&tag.href);
                self.writer.link(to);
            }
            Kind::Image => {
                let from = self.resolved(&tag.src);
                self.writer.image(&tag.alt, from.as_deref());
            }
            Kind::Inline | Kind::Skipped => {}
        }
    }

    fn end(&mut self, name: &str) {
        if let Some((skipped, open)) = &mut self.skipped {
            if skipped == name {
                *open -= 1;
                if *open == 0 {
                    self.skipped = None;
                }
            }
            return;
        }
        match names::kind(name) {
            Kind::Block => self.writer.block(),
            Kind::Heading(_) => self.writer.end_heading(),
            Kind::List { .. } => self.writer.end_list(),
            Kind::Quote => self.writer.end_quote(),
            Kind::Pre => self.writer.end_pre(),
            Kind::Code => self.writer.end_code(),
            Kind::Table => self.writer.end_table(),
            Kind::Row => self.writer.end_row(),
            Kind::Link => self.writer.end_link(),
            Kind::Item
            | Kind::Cell
            | Kind::Break
            | Kind::Rule
            | Kind::Image
            | Kind::Inline
            | Kind::Skipped => {}
        }
    }

    /// Returns the whole URL of a page or an image.
    fn resolved(&self, reference: &str) -> Option<String> {
        if reference.is_empty() || reference.starts_with('#') {
            return None;
        }
        let url = self.base.join(reference).ok()?;
        matches!(url.scheme(), "http" | "https").then(|| url.to_string())
    }
}

#[cfg(test)]
mod tests;
