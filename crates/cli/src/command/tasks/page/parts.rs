//! Markup that several sections use.

use maud::{Markup, html};

/// A text of others within a line of ours: whichever way it is read, ours is not turned round by it.
pub(super) fn said(text: &str) -> Markup {
    html! { bdi { (text) } }
}

/// Says that a section has nothing.
pub(super) fn none(text: &str) -> Markup {
    html! { p.none { (text) } }
}

/// What the colours of a picture mean: a class and its words.
pub(super) fn keys(keys: &[(&str, &str)]) -> Markup {
    html! {
        @for (class, text) in keys {
            li { span class={ "key " (class) } aria-hidden="true" {} (text) }
        }
    }
}

/// A table in a box of its own, so that a wide one moves and not the page.
pub(super) fn table(caption: &str, head: &[&str], rows: &Markup) -> Markup {
    html! {
        div.wide {
            table {
                caption { (caption) }
                thead { tr { @for name in head { th scope="col" { (name) } } } }
                tbody { (rows) }
            }
        }
    }
}
