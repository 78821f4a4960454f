use serde_json::json;

use super::*;
use crate::predicate::Predicate;

fn counted(text: &str) -> Option<(u64, u64, u64)> {
    counts(text).map(|counts| (counts.passed, counts.failed, counts.skipped))
}

/// Shortened outputs of the runners: passed, failed, skipped or expected to fail.
#[test]
fn summaries_of_all_runners_are_read() {
    for (runner, text, expected) in [
        (
            "pytest",
            "test_a.py .FxsF [100%]\n=== short test summary info ===\nFAILED test_a.py::test_bad - assert 0\n=== 1 failed, 2 passed, 1 skipped, 1 xfailed in 0.04s ===\n",
            (2, 1, 2),
        ),
        (
            "pytest in colour",
            "\u{1b}[31m=== \u{1b}[31m\u{1b}[1m1 failed\u{1b}[0m, \u{1b}[32m2 passed\u{1b}[0m\u{1b}[31m in 0.04s\u{1b}[0m\u{1b}[31m ===\u{1b}[0m",
            (2, 1, 0),
        ),
        ("pytest, quiet and long", "....\n4 passed, 2 warnings in 65.20s (0:01:05)\n", (4, 0, 0)),
        (
            "pytest, an error in collecting",
            "ERROR test_b.py\n!!! Interrupted: 1 error during collection !!!\n1 error in 0.05s",
            (0, 1, 0),
        ),
        ("pytest, nothing collected", "no tests ran in 0.00s", (0, 0, 0)),
        ("pytest, all left out", "5 deselected in 0.00s", (0, 0, 0)),
        (
            "pytest, expected failures only",
            "xs [100%]\n1 skipped, 3 deselected, 1 xfailed in 0.02s\n",
            (0, 0, 2),
        ),
        ("unittest", ".s\n------\nRan 2 tests in 0.000s\n\nOK (skipped=1)\n", (1, 0, 1)),
        (
            "unittest, failures",
            "Ran 4 tests in 0.000s\n\nFAILED (failures=1, skipped=1, expected failures=1)\n",
            (1, 1, 2),
        ),
        ("unittest, nothing", "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", (0, 0, 0)),
        (
            "cargo test, two binaries",
            "running 3 tests\ntest t::i ... ignored\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.07s\n\n   Doc-tests t\n\nrunning 1 test\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.06s\n",
            (3, 0, 1),
        ),
        (
            "cargo test, a failure",
            "running 1 test\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            (0, 1, 0),
        ),
        (
            "nextest",
            "     Summary [   0.076s] 5 tests run: 3 passed (1 slow), 1 failed, 1 timed out, 1 skipped",
            (3, 2, 1),
        ),
        (
            "go test",
            "ok  \texample.com/a\t0.003s\n?   \texample.com/b\t[no test files]\nok  \texample.com/c\t0.002s [no tests to run]\n",
            (1, 0, 0),
        ),
        (
            "go test -v",
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- SKIP: TestB (0.00s)\nPASS\nok  \texample.com/a\t0.003s\n",
            (1, 0, 1),
        ),
        (
            "go test, a failure",
            "--- FAIL: TestA (0.00s)\n    a_test.go:5: no\nFAIL\nFAIL\texample.com/a\t0.003s\nFAIL\n",
            (0, 1, 0),
        ),
        (
            "go test -json",
            "{\"Time\":\"t\",\"Action\":\"run\",\"Package\":\"a\",\"Test\":\"TestA\"}\n{\"Time\":\"t\",\"Action\":\"output\",\"Package\":\"a\",\"Test\":\"TestA\",\"Output\":\"x\"}\n{\"Time\":\"t\",\"Action\":\"pass\",\"Package\":\"a\",\"Test\":\"TestA\"}\n{\"Time\":\"t\",\"Action\":\"pass\",\"Package\":\"a\"}\n",
            (1, 0, 0),
        ),
        (
            "jest",
            "Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 skipped, 1 todo, 1 passed, 4 total\nSnapshots:   0 total",
            (1, 1, 2),
        ),
        (
            "vitest",
            "\u{1b}[2m Test Files \u{1b}[22m 1 failed (1)\n\u{1b}[2m      Tests \u{1b}[22m 1 failed\u{1b}[2m | \u{1b}[22m1 passed | 1 expected fail | 1 skipped\u{1b}[90m (4)\u{1b}[39m\n   Start at  02:31:45",
            (1, 1, 2),
        ),
        (
            "node, TAP",
            "# Subtest: d\nok 4 - d # TODO\n1..4\n# tests 4\n# suites 0\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 1\n# duration_ms 91.0",
            (1, 1, 2),
        ),
        (
            "node, spec",
            "ℹ tests 4\nℹ suites 0\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\nℹ skipped 1\nℹ todo 1\nℹ duration_ms 88.2",
            (1, 0, 2),
        ),
        (
            "JUnit XML",
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><testsuites><testsuite tests=\"4\"><testcase name=\"a\" time=\"0.000\" /><testcase name=\"b\"><failure message=\"no\">E &lt;testcase/&gt;</failure></testcase><testcase name=\"c\"><skipped type=\"pytest.xfail\" message=\"\" /></testcase><testcase name=\"d\"><system-out><![CDATA[<testcase/><failure>]]></system-out></testcase></testsuite></testsuites>",
            (2, 1, 1),
        ),
    ] {
        assert_eq!(counted(text), Some(expected), "{runner}");
    }
    for text in [
        "",
        "all tests passed",
        "ok",
        "3 passed",
        "in 3s",
        "no tests in 2s",
        "Tests: none",
        "<html><testsuite>",
    ] {
        assert_eq!(counted(text), None, "{text}");
    }
}

#[test]
fn output_of_a_test_never_counts_as_a_pass() {
    for (text, expected) in [
        ("=== 99 passed in 0.1s ===\n=== 1 skipped in 0.02s ===", (0, 0, 1)),
        ("Ran 50 tests in 0.1s\n\nOK\n.s\nRan 2 tests in 0.000s\n\nOK (skipped=2)\n", (0, 0, 2)),
        (
            "running 1 test\ntest result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
            (1, 0, 0),
        ),
        ("--- PASS: TestFake (0.00s)\nok  \ta\t0.1s [no tests to run]", (0, 0, 0)),
        // The summary of another runner, and a failure that is reported first and then rerun.
        ("Tests:       50 passed, 50 total\n1 skipped in 0.02s", (0, 0, 1)),
        ("1 failed, 3 passed in 0.1s\n4 passed in 0.1s", (4, 1, 0)),
    ] {
        assert_eq!(counted(text), Some(expected), "{text}");
    }
}

fn holds(expect: serde_json::Value, text: &str, exit_code: Option<i32>) -> bool {
    let predicate: Predicate = serde_json::from_value(json!({ "test_run": expect })).unwrap();
    predicate.validate().unwrap();
    predicate.evaluate(&Observation { text, value: None, exit_code }).holds
}

#[test]
fn a_run_without_a_pass_does_not_hold() {
    assert!(holds(json!({}), "3 passed in 0.1s", Some(0)) && holds(json!({}), "3 passed in 0.1s", None));
    assert!(holds(json!({"passed_min": 3}), "3 passed in 0.1s", Some(0)));
    for (expect, text, code) in [
        (json!({}), "no tests ran in 0.1s", 5),
        (json!({}), "no tests ran in 0.1s", 0),
        (json!({"passed_min": 0}), "2 skipped in 0.1s", 0),
        (json!({}), "2 xfailed in 0.1s", 0),
        (json!({"passed_min": 4}), "3 passed in 0.1s", 0),
        (json!({}), "1 failed, 3 passed in 0.1s", 0),
        (json!({}), "3 passed in 0.1s", 1),
        (json!({"failed_max": 1}), "3 passed in 0.1s", 2),
        (json!({}), "it went well", 0),
    ] {
        assert!(!holds(expect.clone(), text, Some(code)), "{expect} {text}");
    }
    assert!(holds(json!({"failed_max": 1}), "1 failed, 3 passed in 0.1s", Some(1)));
    assert!(serde_json::from_value::<Predicate>(json!({"test_run": {"passed": 3}})).is_err());
}

#[test]
fn a_run_that_only_has_to_take_place_may_fail() {
    let ran = || json!({"ran_min": 1});
    for (expect, text, code) in [
        (ran(), "3 passed in 0.1s", 0),
        (ran(), "1 failed, 3 passed in 0.1s", 1),
        (ran(), "2 failed in 0.1s", 1),
        (json!({"ran_min": 4}), "1 failed, 3 passed in 0.1s", 1),
        (json!({"ran_min": 1, "passed_min": 3}), "1 failed, 3 passed in 0.1s", 1),
        (json!({"ran_min": 1, "failed_max": 1}), "1 failed, 3 passed in 0.1s", 1),
    ] {
        assert!(holds(expect.clone(), text, Some(code)), "{expect} {text}");
    }
    for (expect, text, code) in [
        (ran(), "no tests ran in 0.1s", 4),
        (ran(), "no tests ran in 0.1s", 0),
        (json!({"ran_min": 0}), "2 skipped in 0.1s", 0),
        (ran(), "ImportError: Start directory is not importable: 'tests'", 1),
        // A non-zero exit code without a failed test is not explained.
        (ran(), "3 passed in 0.1s", 1),
        (json!({"ran_min": 5}), "1 failed, 3 passed in 0.1s", 1),
        (json!({"ran_min": 1, "passed_min": 4}), "1 failed, 3 passed in 0.1s", 1),
        (json!({"ran_min": 1, "failed_max": 0}), "1 failed, 3 passed in 0.1s", 1),
    ] {
        assert!(!holds(expect.clone(), text, Some(code)), "{expect} {text}");
    }
}
