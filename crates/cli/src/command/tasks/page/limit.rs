//! Limits on what a page shows, and the note about what it leaves out.

use maud::{Markup, PreEscaped, html};

use crate::text::sanitise;

/// Maximum bytes that one section's list may take; later items are left out and counted.
const SECTION_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Maximum characters of the goal, verbatim.
pub(super) const GOAL_CHARS_MAX: usize = 20_000;
/// Maximum characters of the goal as a heading.
pub(super) const HEADING_CHARS_MAX: usize = 160;
/// Maximum characters of a field: an intent, a statement, a reason, a command.
pub(super) const FIELD_CHARS_MAX: usize = 2_000;
/// Maximum characters of a summary: a gist, a tooltip.
pub(super) const GIST_CHARS_MAX: usize = 240;
/// Maximum characters of a call's output where it is cited; the call itself shows more.
pub(super) const CITED_CHARS_MAX: usize = 600;
/// Maximum characters of the task's output.
pub(super) const OUTPUT_CHARS_MAX: usize = 40_000;
/// Maximum rows of the matrix: criteria.
pub(super) const CRITERIA_MAX: usize = 400;
/// Columns of the matrix: the latest attempts.
pub(super) const COLUMNS_MAX: usize = 60;
/// Maximum calls that are shown per verdict, of those that it cites.
pub(super) const CITES_MAX: usize = 4;
/// Rounds, the latest ones, of the charts, the grid, the decisions, the plans, and the recalls.
pub(super) const ROUNDS_MAX: usize = 40;
/// Maximum sub-tasks of one plan.
pub(super) const PARTS_MAX: usize = 64;
/// Maximum items that memory gave to one plan.
pub(super) const GIVEN_MAX: usize = 60;
/// Maximum tool calls.
pub(super) const CALLS_MAX: usize = 1_000;
/// Maximum approvals.
pub(super) const APPROVALS_MAX: usize = 200;
/// Maximum records in the picture of the time line.
pub(super) const DRAWN_MAX: usize = 1_500;
/// Maximum records in the table of the time line.
pub(super) const RECORDS_MAX: usize = 3_000;
/// Maximum rows of one table of costs.
pub(super) const COSTS_MAX: usize = 200;
/// Maximum findings.
pub(super) const FINDINGS_MAX: usize = 500;
/// Maximum lines of every other list.
pub(super) const LINES_MAX: usize = 100;

/// Shows `items` until a limit is reached. Returns the markup and how many were left out.
pub(super) fn each<T>(
    items: impl IntoIterator<Item = T>,
    most: usize,
    mut show: impl FnMut(T) -> Markup,
) -> (Markup, usize) {
    let mut shown = String::new();
    let mut left_out = 0;
    for (n, item) in items.into_iter().enumerate() {
        if n < most && shown.len() < SECTION_BYTES_MAX {
            // Naming hidden characters makes a text longer, so it is done before the bytes are counted.
            shown.push_str(&sanitise::marked(&show(item).into_string()));
        } else {
            left_out += 1;
        }
    }
    (PreEscaped(shown), left_out)
}

/// Returns the latest items, and how many earlier ones are left out.
pub(super) fn latest<T>(all: &[T], most: usize) -> (usize, &[T]) {
    let left_out = all.len().saturating_sub(most);
    all.split_at_checked(left_out).map_or((0, all), |(_, latest)| (left_out, latest))
}

/// Says how many were left out, and where all of them are.
pub(super) fn left_out_note(left_out: usize, what: &str) -> Markup {
    html! {
        @if left_out > 0 {
            p.cut { (left_out) " more " (what) " left out here; `setpoint tasks export` has all of it." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_stops_at_its_limits_and_counts_the_rest() {
        let (shown, left_out) = each(0..10, 4, |n| html! { li { (n) } });
        assert_eq!((left_out, shown.0.len()), (6, 4 * "<li>0</li>".len()));
        let long = "x".repeat(SECTION_BYTES_MAX);
        let (shown, left_out) = each(0..10, 10, |_| html! { (long) });
        assert_eq!((left_out, shown.0.len()), (9, SECTION_BYTES_MAX));
        assert_eq!(latest(&[1, 2, 3], 2), (1, &[2, 3][..]));
        assert_eq!(latest(&[1, 2], 2), (0, &[1, 2][..]));
        assert_eq!(left_out_note(0, "criteria are").0, "");
    }
}
