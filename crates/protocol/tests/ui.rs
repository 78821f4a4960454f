//! Inboxes are closed and the topology is sealed: code that bypasses them does not compile.
//!
//! The compiler's messages are pinned: a case that fails for another reason fails this test.

#[test]
fn the_topology_cannot_be_bypassed() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass_*.rs");
    cases.compile_fail("tests/ui/fail_*.rs");
}
