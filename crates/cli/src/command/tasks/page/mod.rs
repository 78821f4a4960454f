//! A task as one page: everything that its records say, in a file that needs nothing else and asks nobody.
//!
//! `maud` checks the markup when this program is built, and escapes every text. Reading order: [`limit`] (how much of a
//! text gets in), [`sections`] (what stands where), then a file a section.

mod calls;
mod chart;
mod cost;
mod ending;
mod gist;
mod grid;
mod header;
mod limit;
mod matrix;
mod measured;
mod rounds;
mod sections;
mod svg;
mod timeline;

use jiff::tz::TimeZone;
use maud::{Markup, html};
use setpoint_history::cost::CostReport;
use setpoint_protocol::message::Finding;
use setpoint_protocol::record::Record;

pub(crate) use self::sections::page;
use crate::state::ViewState;

/// What a page is made of.
pub(crate) struct Report<'a> {
    /// The task, folded from `records`.
    pub(crate) state: &'a ViewState,
    /// All of its records.
    pub(crate) records: &'a [Record],
    /// What it cost, from the same records.
    pub(crate) cost: &'a CostReport,
    /// What the Auditor found.
    pub(crate) findings: &'a [Finding],
    /// Where times are shown for.
    pub(crate) zone: &'a TimeZone,
}

/// A text of others within a line of ours: whichever way it is read, ours is not turned round by it.
fn said(text: &str) -> Markup {
    html! { bdi { (text) } }
}

/// Says that a section has nothing.
fn none(text: &str) -> Markup {
    html! { p.none { (text) } }
}

/// What the colours of a picture mean: a class and its words.
fn keys(keys: &[(&str, &str)]) -> Markup {
    html! {
        @for (class, text) in keys {
            li { span class={ "key " (class) } aria-hidden="true" {} (text) }
        }
    }
}

/// A table in a box of its own, so that a wide one moves and not the page.
fn table(caption: &str, head: &[&str], rows: &Markup) -> Markup {
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
