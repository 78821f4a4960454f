//! Inboxes are closed and the topology is sealed: what would get around it does not compile.
//!
//! The texts are pinned: a case that fails for any other reason fails this test.

#[test]
fn nothing_gets_around_the_topology() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass_*.rs");
    cases.compile_fail("tests/ui/fail_*.rs");
}
