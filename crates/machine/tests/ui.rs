//! What the topology forbids does not compile, and the compiler says why in the topology's own words: no role sends or
//! asks what its routes do not list, no inbox is half handled, no party or message is added from outside.
//!
//! The texts are pinned: a case that fails for any other reason fails this test. The cases of both crates are here,
//! because each crate with cases compiles its dependencies once more. What is allowed is compiled with this file:
//! without a program to run, the cases are only checked, not built.

#[expect(dead_code, reason = "it is enough that it compiles")]
#[path = "ui/a_handler_of_every_message.rs"]
mod a_handler_of_every_message;
#[expect(dead_code, reason = "it is enough that it compiles")]
#[path = "ui/a_role_within_its_routes.rs"]
mod a_role_within_its_routes;

#[test]
fn what_the_topology_forbids_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail_*.rs");
}
