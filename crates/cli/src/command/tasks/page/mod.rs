//! A task as one page: everything that its records say, in a file that needs nothing else and asks nobody.
//!
//! `maud` checks the markup when this program is built, and escapes every text. Reading order: [`limit`] (how much of a
//! text gets in), [`sections`] (what stands where), then one file per section. [`parts`] has what they share.

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
mod parts;
mod rounds;
mod sections;
mod svg;
mod timeline;

use jiff::tz::TimeZone;
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
