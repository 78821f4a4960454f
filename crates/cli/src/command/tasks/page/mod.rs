//! A task as one page: everything in its records, in one file that loads nothing else.
//!
//! `maud` checks the markup when this program is built, and escapes every text. Reading order: [`limit`] (how
//! much is shown), [`sections`] (the order of the page), then one file per section. [`parts`] has what they
//! share.

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

/// The data of a page.
pub(crate) struct Report<'a> {
    /// The task, folded from `records`.
    pub(crate) state: &'a ViewState,
    /// All of the task's records.
    pub(crate) records: &'a [Record],
    /// What the task cost, from the same records.
    pub(crate) cost: &'a CostReport,
    /// What the Auditor found.
    pub(crate) findings: &'a [Finding],
    /// The time zone of the reader.
    pub(crate) zone: &'a TimeZone,
}
