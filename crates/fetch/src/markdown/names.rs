//! What the elements of HTML come to.

/// What an element comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A paragraph of its own.
    Block,
    /// A heading of this level.
    Heading(usize),
    Break,
    Rule,
    List {
        is_ordered: bool,
    },
    Item,
    Quote,
    Pre,
    Code,
    Table,
    Row,
    Cell,
    Link,
    Image,
    /// Nothing but its content.
    Inline,
    /// Left out with its content.
    Skipped,
}

pub(super) fn kind(name: &str) -> Kind {
    match name {
        "h1" => Kind::Heading(1),
        "h2" => Kind::Heading(2),
        "h3" => Kind::Heading(3),
        "h4" => Kind::Heading(4),
        "h5" => Kind::Heading(5),
        "h6" => Kind::Heading(6),
        "br" | "option" => Kind::Break,
        "hr" => Kind::Rule,
        "ul" | "menu" | "dir" => Kind::List { is_ordered: false },
        "ol" => Kind::List { is_ordered: true },
        "li" => Kind::Item,
        "blockquote" => Kind::Quote,
        "pre" | "listing" | "textarea" => Kind::Pre,
        "code" | "kbd" | "samp" | "tt" => Kind::Code,
        "table" => Kind::Table,
        "tr" => Kind::Row,
        "td" | "th" => Kind::Cell,
        "a" => Kind::Link,
        "img" => Kind::Image,
        "address" | "article" | "aside" | "body" | "caption" | "center" | "dd" | "details" | "dialog"
        | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "header"
        | "hgroup" | "legend" | "main" | "nav" | "p" | "search" | "section" | "select" | "summary" => {
            Kind::Block
        }
        "audio" | "canvas" | "datalist" | "embed" | "iframe" | "math" | "noembed" | "noframes" | "object"
        | "script" | "style" | "svg" | "template" | "title" | "video" => Kind::Skipped,
        _ => Kind::Inline,
    }
}

/// Returns whether an element has no content and no end tag.
pub(super) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Returns whether an element without its end tag ends where the next of its name begins.
pub(super) fn is_ended_by_next(name: &str) -> bool {
    matches!(name, "dd" | "dt" | "li" | "option" | "p" | "td" | "th" | "tr")
}
