//! Markup that several sections use.

use maud::{Markup, html};

/// Returns a text from outside, isolated so that its reading direction does not change that of the line
/// around it.
pub(super) fn isolated(text: &str) -> Markup {
    html! { bdi { (text) } }
}

/// Returns the note of an empty section.
pub(super) fn none(text: &str) -> Markup {
    html! { p.none { (text) } }
}

/// Returns the legend of a picture: the classes of its colours and their meanings.
pub(super) fn keys(keys: &[(&str, &str)]) -> Markup {
    html! {
        @for (class, text) in keys {
            li { span class={ "key " (class) } aria-hidden="true" {} (text) }
        }
    }
}

/// Returns a table in a box of its own, so that a wide table scrolls and the page does not.
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
