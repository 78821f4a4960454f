//! What the topology forbids does not compile, and the compiler says why in the topology's own words.
//!
//! The texts are pinned: a case that fails for any other reason fails this test.

#[test]
fn what_the_topology_forbids_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass_*.rs");
    cases.compile_fail("tests/ui/fail_*.rs");
}
