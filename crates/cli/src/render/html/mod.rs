//! A task as one page: everything that its records say, in a file that needs nothing else and asks nobody.
//!
//! Reading order: [`markup`] (how text gets in), [`limit`] (how much of it), [`page`] (what stands where), then a file
//! a section.

mod calls;
mod chart;
mod cost;
mod ending;
mod gist;
mod grid;
mod header;
mod limit;
mod markup;
mod matrix;
mod measured;
mod page;
mod rounds;
mod svg;
mod timeline;

use jiff::tz::TimeZone;
use setpoint_history::cost::CostReport;
use setpoint_protocol::message::Finding;
use setpoint_protocol::record::Record;

use self::markup::Html;
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

/// The page. Pure: the same report gives the same page.
#[must_use]
pub(crate) fn page(report: &Report<'_>) -> String {
    page::page(report)
}

/// A table in a box of its own, so that a wide one moves and not the page.
fn table(html: &mut Html, caption: &str, head: &[&str], rows: impl FnOnce(&mut Html)) {
    html.tag("div", &[("class", "wide")], |html| {
        html.tag("table", &[], |html| {
            html.leaf("caption", &[], caption);
            html.tag("thead", &[], |html| {
                html.tag("tr", &[], |html| {
                    for name in head {
                        html.leaf("th", &[("scope", "col")], name);
                    }
                });
            });
            html.tag("tbody", &[], rows);
        });
    });
}
