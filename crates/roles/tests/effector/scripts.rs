//! Scripts: inputs in, effects out.
//!
//! Every file of `scripts/r3`, `scripts/r4a` and `scripts/r4b` is one case; `UPDATE_EXPECT=1` rewrites the effects of
//! all of them.

use std::path::Path;

use expect_test::expect_file;
use setpoint_machine::AnyMachine;
use setpoint_machine::script::{Setup, run};
use setpoint_protocol::Instance;
use setpoint_roles::r3_executor::Executor;
use setpoint_roles::r4a_agent_validator::AgentValidator;
use setpoint_roles::r4b_meta_validator::MetaValidator;

use crate::{brief_line, world};

#[test]
fn r3_reacts_as_its_scripts_say() {
    run_all("r3", 1, &|| Box::new(Executor::default()));
}

#[test]
fn r4a_reacts_as_its_scripts_say() {
    run_all("r4a", 1, &|| Box::new(AgentValidator::default()));
}

#[test]
fn r4b_reacts_as_its_scripts_say() {
    run_all("r4b", 0, &|| Box::new(MetaValidator::default()));
}

fn run_all(folder: &str, instance: u16, machine: &dyn Fn() -> Box<dyn AnyMachine>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(folder);
    let mut scripts: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    assert!(!scripts.is_empty(), "no scripts in {}", folder.display());
    for script in scripts {
        let text = std::fs::read_to_string(&script).unwrap();
        let setup = Setup {
            opened: world::opened(),
            instance: Instance(instance),
            reader: &world::Reader,
            describe: brief_line::describe,
        };
        let shown = script.display();
        let actual = run(machine().as_mut(), &text, setup).unwrap_or_else(|error| panic!("{shown}: {error}"));
        expect_file![script].assert_eq(&actual);
    }
}
