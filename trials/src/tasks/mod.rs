//! The twelve tasks, one file each: generator, goal and checker.

mod already_done;
mod config_migration;
mod failing_test;
mod flaky_command;
mod long_spec;
mod merged_lists;
mod middle_bug;
mod missing_branch;
mod missing_tests;
mod regression;
mod rename_eight;
mod sales_csv;
#[cfg(test)]
pub(crate) mod tests;

use crate::trial::Trial;

/// All trials, in the order of the table.
pub(crate) const TRIALS: [&Trial; 12] = [
    &middle_bug::TRIAL,
    &rename_eight::TRIAL,
    &long_spec::TRIAL,
    &already_done::TRIAL,
    &failing_test::TRIAL,
    &sales_csv::TRIAL,
    &config_migration::TRIAL,
    &regression::TRIAL,
    &flaky_command::TRIAL,
    &merged_lists::TRIAL,
    &missing_branch::TRIAL,
    &missing_tests::TRIAL,
];
