//! What a page shows at most, and how it says what it leaves out.

use maud::{Markup, PreEscaped, html};

use crate::text::sanitise;

/// Bytes that one section's list may take; what comes after is left out and counted.
const SECTION_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Characters of the goal, verbatim.
pub(super) const GOAL_CHARS_MAX: usize = 20_000;
/// Characters of a heading made of the goal.
pub(super) const HEADING_CHARS_MAX: usize = 160;
/// Characters of a field: an intent, a statement, a reason, a command.
pub(super) const FIELD_CHARS_MAX: usize = 2_000;
/// Characters of a line that stands for more: a gist, a tooltip.
pub(super) const GIST_CHARS_MAX: usize = 240;
/// Characters of a call's output where it is cited; with the call itself there are more.
pub(super) const CITED_CHARS_MAX: usize = 600;
/// Characters of the task's output.
pub(super) const OUTPUT_CHARS_MAX: usize = 40_000;
/// Rows of the matrix: criteria.
pub(super) const CRITERIA_MAX: usize = 400;
/// Columns of the matrix: attempts, the latest ones.
pub(super) const COLUMNS_MAX: usize = 60;
/// Calls that are shown of those that one verdict cites.
pub(super) const CITES_MAX: usize = 4;
/// Rounds: of the charts, the grid, the decisions, the plans, and what memory gave, the latest ones.
pub(super) const ROUNDS_MAX: usize = 40;
/// Sub-tasks of one plan.
pub(super) const PARTS_MAX: usize = 64;
/// Things that memory gave to one plan.
pub(super) const GIVEN_MAX: usize = 60;
/// Tool calls.
pub(super) const CALLS_MAX: usize = 1_000;
/// Approvals.
pub(super) const APPROVALS_MAX: usize = 200;
/// Records of the time line's picture.
pub(super) const DRAWN_MAX: usize = 1_500;
/// Records of the time line's table.
pub(super) const RECORDS_MAX: usize = 3_000;
/// Rows of one table of costs.
pub(super) const COSTS_MAX: usize = 200;
/// Findings.
pub(super) const FINDINGS_MAX: usize = 500;
/// Lines of every other list.
pub(super) const LINES_MAX: usize = 100;

/// Shows `items` one after the other, as far as there is room. Returns them, and how many were left out.
pub(super) fn each<T>(
    items: impl IntoIterator<Item = T>,
    most: usize,
    mut show: impl FnMut(T) -> Markup,
) -> (Markup, usize) {
    let mut shown = String::new();
    let mut left_out = 0;
    for (n, item) in items.into_iter().enumerate() {
        if n < most && shown.len() < SECTION_BYTES_MAX {
            // Naming what hides makes a text longer, so it is done before the bytes are counted.
            shown.push_str(&sanitise::marked(&show(item).into_string()));
        } else {
            left_out += 1;
        }
    }
    (PreEscaped(shown), left_out)
}

/// The latest of them, and how many earlier ones are left out.
pub(super) fn latest<T>(all: &[T], most: usize) -> (usize, &[T]) {
    let left_out = all.len().saturating_sub(most);
    all.split_at_checked(left_out).map_or((0, all), |(_, latest)| (left_out, latest))
}

/// Says that something was left out, and where all of it is.
pub(super) fn tell(left_out: usize, what: &str) -> Markup {
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
    fn a_list_ends_at_its_number_or_its_bytes_and_counts_the_rest() {
        let (shown, left_out) = each(0..10, 4, |n| html! { li { (n) } });
        assert_eq!((left_out, shown.0.len()), (6, 4 * "<li>0</li>".len()));
        let long = "x".repeat(SECTION_BYTES_MAX);
        let (shown, left_out) = each(0..10, 10, |_| html! { (long) });
        assert_eq!((left_out, shown.0.len()), (9, SECTION_BYTES_MAX));
        assert_eq!(latest(&[1, 2, 3], 2), (1, &[2, 3][..]));
        assert_eq!(latest(&[1, 2], 2), (0, &[1, 2][..]));
        assert_eq!(tell(0, "criteria are").0, "");
    }
}
