//! The columns of a cost table after its rows' names: the same for a terminal and for a page.

use setpoint_history::cost::{CostReport, Spending};
use setpoint_protocol::money::Money;

use super::words;

/// Which columns a table has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    /// `false` if rows have shares of calls, which cannot be counted.
    has_calls: bool,
    is_priced: bool,
    /// Whether there is a column for attempts that gave no answer.
    has_failed: bool,
}

impl Columns {
    /// Returns the columns for which the report has values.
    #[must_use]
    pub(crate) fn of(report: &CostReport) -> Self {
        let Spending { cost, failed, .. } = report.total;
        Columns { has_calls: true, is_priced: cost.is_some(), has_failed: !failed.is_none() }
    }

    /// Returns the columns without calls, for rows that have shares of them.
    #[must_use]
    pub(crate) fn of_shares(self) -> Self {
        Columns { has_calls: false, ..self }
    }

    /// Returns the head, with `name` first.
    #[must_use]
    pub(crate) fn head(self, name: &'static str) -> Vec<&'static str> {
        let mut head = vec![name];
        if self.has_calls {
            head.push("calls");
        }
        head.extend(["tokens in", "cached", "tokens out"]);
        if self.is_priced {
            head.extend(["price", "unpriced"]);
        }
        if self.has_failed && self.has_calls {
            head.push("failed calls");
        }
        if self.has_failed {
            head.extend(["failed in", "failed out"]);
        }
        if self.has_failed && self.is_priced {
            head.push("failed price");
        }
        head
    }

    /// Returns the cells of a row after its name.
    #[must_use]
    pub(crate) fn cells(self, spent: &Spending) -> Vec<String> {
        let Spending { calls, tokens_in, tokens_out, tokens_cached, cost, tokens_unpriced, failed } = *spent;
        let price = |cost: Option<Money>| cost.unwrap_or_default().to_string();
        let mut cells = Vec::new();
        if self.has_calls {
            cells.push(words::thousands(calls));
        }
        cells.extend([tokens_in, tokens_cached, tokens_out].map(words::thousands));
        if self.is_priced {
            cells.extend([price(cost), words::thousands(tokens_unpriced)]);
        }
        if self.has_failed && self.has_calls {
            cells.push(words::thousands(failed.calls));
        }
        if self.has_failed {
            cells.extend([failed.tokens_in, failed.tokens_out].map(words::thousands));
        }
        if self.has_failed && self.is_priced {
            cells.push(price(failed.cost));
        }
        cells
    }
}
