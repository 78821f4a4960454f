//! The matrix: faults × places × streamed or not, over the five wires in turn.
//!
//! Each fault meets each place on three wires: at every question on two of them, streamed and not, and at the first
//! question alone on a third, where a passing fault must not fail the task. The outcomes are in `expected/`, one file
//! per place, rewritten with `UPDATE_EXPECT=1`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect_file;
use setpoint_model_server::question::Site;
use setpoint_model_server::{Fault, Measures, Wire};

use crate::checks::{check, story};
use crate::organisation::CALLS;
use crate::world::{Scenario, cellar, run};

#[tokio::test(start_paused = true)]
async fn without_a_fault_every_wire_ends_in_accept() {
    let cellar = cellar();
    for wire in Wire::ALL {
        for is_streamed in [false, true] {
            let site = Site::Execute;
            let scenario = Scenario { site, fault: None, is_once: false, wire, is_streamed };
            let outcome = run(&scenario, cellar.path()).await;
            let line = check(&scenario, &outcome);
            assert_eq!(line, format!("accept by criteria_met, {CALLS} calls"), "{wire}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn faults_at_r1() {
    matrix(Site::Perceive).await;
}

#[tokio::test(start_paused = true)]
async fn faults_at_the_plan() {
    matrix(Site::Plan).await;
}

#[tokio::test(start_paused = true)]
async fn faults_at_the_report() {
    matrix(Site::Report).await;
}

#[tokio::test(start_paused = true)]
async fn faults_at_r3() {
    matrix(Site::Execute).await;
}

#[tokio::test(start_paused = true)]
async fn faults_at_r4a() {
    matrix(Site::Judge).await;
}

#[tokio::test(start_paused = true)]
async fn faults_at_r4b() {
    matrix(Site::Merge).await;
}

async fn matrix(site: Site) {
    let cellar = cellar();
    let mut found = String::new();
    let mut numbers = BTreeSet::new();
    let mut scenarios = 0;
    for (at, fault) in Fault::all_with(&Measures::endless()).into_iter().enumerate() {
        numbers.insert(fault.number());
        let mut ends: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (is_once, is_streamed) in [(false, false), (false, true), (true, at % 2 == 0)] {
            let turn = at + site as usize + 2 * usize::from(is_streamed) + usize::from(is_once);
            let Some(wire) = wire(&fault, turn, is_streamed) else { continue };
            scenarios += 1;
            let scenario = Scenario { site, fault: Some(fault.clone()), is_once, wire, is_streamed };
            let outcome = run(&scenario, cellar.path()).await;
            let line = check(&scenario, &outcome);
            if is_once && scenario.is_passing() && site != Site::Report {
                let story = story(&outcome.records);
                assert!(line.starts_with("accept"), "{scenario:?}: {line}\n{story}");
            }
            let form = if is_streamed { "streamed" } else { "whole" };
            let when = if is_once { "once" } else { "always" };
            ends.entry(line).or_default().push(format!("{when} {wire} {form}"));
        }
        writeln!(found, "# {}", fault.name()).unwrap();
        for (line, places) in ends {
            writeln!(found, "{line}\n    {}", places.join(", ")).unwrap();
        }
    }
    assert_eq!(numbers.len(), 59);
    assert!(scenarios >= 3 * numbers.len(), "{scenarios}");
    let name = format!("{site:?}").to_lowercase();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/faults/expected/{name}.txt"));
    expect_file![path].assert_eq(&found);
}

/// Returns the wire whose turn it is, or the next one on which the fault is possible; any wire if it is possible on
/// none.
fn wire(fault: &Fault, turn: usize, is_streamed: bool) -> Option<Wire> {
    let in_turn =
        || (0..Wire::ALL.len()).filter_map(|more| Wire::ALL.get((turn + more) % Wire::ALL.len()).copied());
    in_turn().find(|wire| fault.applies(*wire, is_streamed)).or_else(|| in_turn().next())
}
