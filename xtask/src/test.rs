//! `cargo xtask test`: runs every check and every test, in one order, for contributors and CI.
//!
//! A failed check does not stop the next one; each check stops at its own first failure. Nothing here makes a release
//! build. The run ends with a table of the checks and the seconds of each. The last line on stdout is `N passed, N
//! failed`: the tests that the runners counted, and one for each other check.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::counts::{self, Tally};
use crate::error::{self, Error};
use crate::finding::Finding;
use crate::process::ProgramOutput;
use crate::{conformance, generate, layers, needs, process, tidy};

/// Runs everything and prints the summary.
pub(crate) fn run(root: &Path) -> Result<ExitCode, Error> {
    let start = now();
    let tally = run_checks(&checks(), root, &mut io::stdout(), || start.elapsed())
        .map_err(|source| Error::Start { command: "a check: stdout is closed".to_owned(), source })?;
    Ok(if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[expect(clippy::disallowed_methods, reason = "how long a check takes is shown, and decides nothing")]
fn now() -> Instant {
    Instant::now()
}

/// One step of the run.
struct Check {
    name: &'static str,
    /// The command line, or a description.
    what: String,
    work: Box<Work>,
}

type Work = dyn Fn(&Path) -> Result<Outcome, Error>;

/// The result of a check, with the reasons of a failure.
#[derive(Debug, Default)]
struct Outcome {
    tally: Tally,
    reasons: Vec<String>,
}

fn checks() -> Vec<Check> {
    let mut checks = vec![
        Check::of("needs", "what the checks need is there", |_| {
            Ok(outcome(needs::provide(&mut needs::ThisMachine)?))
        }),
        Check::cargo("fmt", &["fmt", "--all", "--check"]),
        Check::cargo(
            "clippy",
            &["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"],
        ),
        Check::of("layers", "cargo xtask layers", |root| Ok(found(&layers::run(root)?))),
        Check::of("tidy", "cargo xtask tidy", |root| Ok(found(&tidy::run(root)?))),
        Check::of("gen", "cargo xtask gen --check", |root| Ok(found(&generate::check(root)?))),
    ];
    checks.extend(test_checks(process::answers(process::cargo(), &["nextest", "--version"])));
    checks.push(Check::cargo("doc", &["doc", "--workspace", "--no-deps"]));
    checks.push(Check::of("conformance", "cargo xtask conformance", |_| {
        let summary = conformance::run(None)?;
        Ok(outcome(if summary.failed() == 0 { Vec::new() } else { vec![summary.to_string()] }))
    }));
    checks
}

/// Returns the checks that run tests. `cargo nextest` is faster and isolates tests, but does not run doctests.
///
/// Tests that open pages in a browser are a check of their own, so that a fault of a page has a name in the table.
fn test_checks(has_nextest: bool) -> [Check; 3] {
    let every = ["--workspace", "--all-features"];
    let of = |name, parts: &[&[&'static str]], count| Check::tests(name, &parts.concat(), count);
    let [tests, pages] = if has_nextest {
        let run: &[&str] = &["nextest", "run"];
        [
            of("test", &[run, &every, &["-E", "not test(/^browser::/)"]], count_nextest),
            of("pages", &[run, &every, &["--test", "cli", "-E", "test(/^browser::/)"]], count_nextest),
        ]
    } else {
        let run: &[&str] = &["test", "--no-fail-fast"];
        [
            of(
                "test",
                &[run, &every, &["--lib", "--bins", "--tests", "--", "--skip", "browser::"]],
                count_libtest,
            ),
            of("pages", &[run, &every, &["--test", "cli", "--", "browser::"]], count_libtest),
        ]
    };
    let doctests = of("doctest", &[&["test", "--no-fail-fast"], &every, &["--doc"]], count_doctest);
    [tests, pages.called("look at the pages in a browser"), doctests]
}

impl Check {
    fn of(name: &'static str, what: &str, work: impl Fn(&Path) -> Result<Outcome, Error> + 'static) -> Self {
        Self { name, what: what.to_owned(), work: Box::new(work) }
    }

    /// Adds a description, for a command line that does not explain itself.
    fn called(self, words: &str) -> Self {
        Self { what: format!("{words}: {}", self.what), ..self }
    }

    /// Creates a check that runs cargo.
    fn cargo(name: &'static str, arguments: &'static [&'static str]) -> Self {
        Self::of(name, &format!("cargo {}", arguments.join(" ")), move |root| {
            let heard = process::run_visibly(cargo(arguments, root))?;
            Ok(outcome(if heard.success { Vec::new() } else { vec![heard.status] }))
        })
    }

    /// Creates a check that runs cargo and counts its tests.
    fn tests(name: &'static str, arguments: &[&'static str], count: fn(&ProgramOutput) -> Outcome) -> Self {
        let arguments = arguments.to_vec();
        Self::of(name, &format!("cargo {}", arguments.join(" ")), move |root| {
            Ok(count(&process::run_visibly(cargo(&arguments, root))?))
        })
    }
}

fn cargo(arguments: &[&str], root: &Path) -> Command {
    let mut command = Command::new(process::cargo());
    command.args(arguments).current_dir(root);
    // Colour codes would come between the words that are counted.
    command.env("CARGO_TERM_COLOR", "never").env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// Runs the checks in order and writes the table; `elapsed` returns the time since some start.
fn run_checks(
    checks: &[Check],
    root: &Path,
    out: &mut impl Write,
    mut elapsed: impl FnMut() -> Duration,
) -> io::Result<Tally> {
    let mut sum = Tally::default();
    let mut summary = String::new();
    for (index, check) in (1..).zip(checks) {
        writeln!(out, "[{index}/{}] {}: {}", checks.len(), check.name, check.what)?;
        out.flush()?;
        let start = elapsed();
        let outcome = (check.work)(root).unwrap_or_else(|error| outcome(vec![error::chain(&error)]));
        for reason in &outcome.reasons {
            writeln!(out, "{reason}")?;
        }
        sum.add(outcome.tally);
        let verdict = if outcome.tally.failed == 0 { "ok" } else { "FAILED" };
        let counted = match outcome.tally {
            Tally::ONE_PASSED | Tally::ONE_FAILED => String::new(),
            Tally { passed, failed } => format!(" ({passed} passed, {failed} failed)"),
        };
        let seconds = elapsed().saturating_sub(start).as_secs_f64();
        summary.push_str(&format!("{verdict:6} {:11} {seconds:6.1} s{counted}\n", check.name));
    }
    write!(out, "\n{summary}\n{} passed, {} failed\n", sum.passed, sum.failed)?;
    out.flush()?;
    Ok(sum)
}

/// Returns the outcome of a check, failed if there are reasons.
fn outcome(reasons: Vec<String>) -> Outcome {
    Outcome { tally: if reasons.is_empty() { Tally::ONE_PASSED } else { Tally::ONE_FAILED }, reasons }
}

fn found(findings: &[Finding]) -> Outcome {
    outcome(findings.iter().map(ToString::to_string).collect())
}

fn count_nextest(heard: &ProgramOutput) -> Outcome {
    // An empty summary means that nothing was built, which `counted` turns into a failure.
    counted(counts::nextest(&heard.stderr).unwrap_or_default(), heard, true)
}

fn count_libtest(heard: &ProgramOutput) -> Outcome {
    counted(counts::libtest(&heard.stdout), heard, true)
}

fn count_doctest(heard: &ProgramOutput) -> Outcome {
    counted(counts::libtest(&heard.stdout), heard, false)
}

/// Corrects the runner's count if it hides a failure: a runner may fail with every counted test passed (a test program
/// that did not build), and a run without any test proves nothing.
fn counted(mut tally: Tally, heard: &ProgramOutput, must_run: bool) -> Outcome {
    let mut reasons = Vec::new();
    if !heard.success && tally.failed == 0 {
        tally.failed = 1;
        reasons.push(format!("the test runner ended with {}", heard.status));
    } else if must_run && tally.is_empty() {
        tally.failed = 1;
        reasons.push("no test ran".to_owned());
    }
    Outcome { tally, reasons }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(checks: &[Check], expected: &Expect) -> Tally {
        let mut out = Vec::new();
        let mut seconds = 0;
        // Each reading of the clock is one second after the last.
        let elapsed = || {
            seconds += 1;
            Duration::from_secs(seconds)
        };
        let tally = run_checks(checks, Path::new("."), &mut out, elapsed).unwrap();
        expected.assert_eq(&String::from_utf8(out).unwrap());
        tally
    }

    fn heard(success: bool, stdout: &str, stderr: &str) -> ProgramOutput {
        let status = if success { "exit status: 0" } else { "exit status: 101" };
        ProgramOutput {
            success,
            status: status.to_owned(),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
        }
    }

    #[test]
    fn every_check_runs_and_the_last_line_counts_them() {
        let tests = |_: &Path| Ok(Outcome { tally: Tally { passed: 40, failed: 2 }, reasons: Vec::new() });
        let broken = |_: &Path| {
            Err(Error::Ended {
                command: "x".to_owned(),
                status: "exit status: 2".to_owned(),
                stderr: "y".to_owned(),
            })
        };
        let checks = [
            Check::of("fmt", "cargo fmt", |_| Ok(outcome(vec!["exit status: 1".to_owned()]))),
            Check::of("layers", "cargo xtask layers", broken),
            Check::of("tidy", "cargo xtask tidy", |_| Ok(found(&[Finding::at("a.rs", 3, "no")]))),
            Check::of("test", "cargo test", tests),
            Check::of("doc", "cargo doc", |_| Ok(outcome(Vec::new()))),
        ];
        let tally = check(
            &checks,
            &expect![[r#"
                [1/5] fmt: cargo fmt
                exit status: 1
                [2/5] layers: cargo xtask layers
                failed to run `x`: it ended with exit status: 2: y
                [3/5] tidy: cargo xtask tidy
                a.rs:3: no
                [4/5] test: cargo test
                [5/5] doc: cargo doc

                FAILED fmt            1.0 s
                FAILED layers         1.0 s
                FAILED tidy           1.0 s
                FAILED test           1.0 s (40 passed, 2 failed)
                ok     doc            1.0 s

                41 passed, 5 failed
            "#]],
        );
        assert_eq!(tally, Tally { passed: 41, failed: 5 });
    }

    #[test]
    fn a_runner_that_fails_without_a_failed_test_is_a_failure() {
        let summary = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        let outcome = count_libtest(&heard(false, summary, "error: could not compile"));
        assert_eq!(outcome.tally, Tally { passed: 3, failed: 1 });
        assert_eq!(count_nextest(&heard(false, "", "error: could not compile")).tally, Tally::ONE_FAILED);
    }

    #[test]
    fn a_failed_test_is_counted_once() {
        let outcome =
            count_nextest(&heard(false, "", "Summary [1s] 3 tests run: 2 passed, 1 failed, 0 skipped"));
        assert_eq!(outcome.tally, Tally { passed: 2, failed: 1 });
    }

    #[test]
    fn a_run_without_tests_fails_except_for_doctests() {
        let empty = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(count_libtest(&heard(true, empty, "")).tally, Tally::ONE_FAILED);
        assert_eq!(count_doctest(&heard(true, empty, "")).tally, Tally::default());
    }

    #[test]
    fn the_checks_run_all_tests_and_make_no_release_build() {
        let all = checks();
        assert!(all.iter().all(|check| !check.what.contains("--release")));
        let lines: String = [true, false].into_iter().flat_map(test_checks).map(|c| c.what + "\n").collect();
        expect![[r#"
            cargo nextest run --workspace --all-features -E not test(/^browser::/)
            look at the pages in a browser: cargo nextest run --workspace --all-features --test cli -E test(/^browser::/)
            cargo test --no-fail-fast --workspace --all-features --doc
            cargo test --no-fail-fast --workspace --all-features --lib --bins --tests -- --skip browser::
            look at the pages in a browser: cargo test --no-fail-fast --workspace --all-features --test cli -- browser::
            cargo test --no-fail-fast --workspace --all-features --doc
        "#]]
        .assert_eq(&lines);
    }
}
