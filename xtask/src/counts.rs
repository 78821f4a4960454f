//! Reads how many tests ran from the output of test runners.

/// Numbers of tests, or checks, that passed and failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    pub(crate) const ONE_PASSED: Self = Self { passed: 1, failed: 0 };
    pub(crate) const ONE_FAILED: Self = Self { passed: 0, failed: 1 };

    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Returns the counts in the last summary of `cargo nextest`, such as `Summary [  1.2s] 4/5 tests run: 2 passed (1
/// slow), 1 failed, 1 timed out, 3 skipped`.
///
/// A test that neither passed nor was skipped has failed, even under a status that a later version adds; so has a test
/// that should have run and did not. `None` if there is no summary, which happens if nothing was built.
pub(crate) fn nextest(output: &str) -> Option<Tally> {
    let summary = output.lines().rev().find(|line| line.trim_start().starts_with("Summary ["))?;
    let (_, counts) = summary.split_once("] ")?;
    let (total, parts) = counts.split_once(": ")?;
    // `4/5 tests run`: five should have run.
    let wanted = number(total.split('/').next_back()?)?;
    let mut passed = 0;
    for part in parts.split(',') {
        if part.contains("passed") {
            passed += number(part.trim_start())?;
        }
    }
    Some(Tally { passed, failed: wanted.checked_sub(passed)? })
}

/// Adds up the last lines of cargo's own test programs, such as `test result: FAILED. 2 passed; 1 failed; 0 ignored; 0
/// measured; 0 filtered out; finished in 0.00s`.
pub(crate) fn libtest(output: &str) -> Tally {
    let mut sum = Tally::default();
    for line in output.lines() {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|line| line.split_once(". "))
        else {
            continue;
        };
        let count = |name: &str| {
            let part = counts.split(';').find(|part| part.trim_end().ends_with(name));
            part.and_then(|part| number(part.trim_start())).unwrap_or_default()
        };
        sum.add(Tally { passed: count("passed"), failed: count("failed") });
    }
    sum
}

/// Returns the number that a text begins with.
fn number(text: &str) -> Option<u64> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(passed: u64, failed: u64) -> Tally {
        Tally { passed, failed }
    }

    #[test]
    fn a_clean_run_of_nextest_is_counted() {
        let output =
            "   Compiling a\n------------\n     Summary [   0.012s] 3 tests run: 3 passed, 1 skipped\n";
        assert_eq!(nextest(output), Some(tally(3, 0)));
    }

    #[test]
    fn every_way_to_fail_in_nextest_is_a_failure() {
        let summary = "Summary [1.0s] 9 tests run: 5 passed (2 slow, 1 leaky), 1 failed, 1 exec failed, 2 timed out, 4 skipped";
        assert_eq!(nextest(summary), Some(tally(5, 4)));
    }

    #[test]
    fn tests_that_nextest_did_not_run_have_failed() {
        assert_eq!(nextest("Summary [1.0s] 3/8 tests run: 2 passed, 1 failed, 0 skipped"), Some(tally(2, 6)));
    }

    #[test]
    fn the_last_summary_counts() {
        let output =
            "  Summary [1s] 1 test run: 1 passed, 0 skipped\n Summary [1s] 2 tests run: 2 passed\nFAIL a b";
        assert_eq!(nextest(output), Some(tally(2, 0)));
        assert_eq!(nextest("error: could not compile `a`"), None);
    }

    #[test]
    fn the_results_of_several_test_programs_are_added() {
        let output = "running 2 tests\ntest a ... ok\n\
            test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
            test result: FAILED. 10 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s\n";
        assert_eq!(libtest(output), tally(12, 3));
        assert!(libtest("running 0 tests").is_empty());
    }
}
