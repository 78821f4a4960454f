//! Every fault of the list, on every wire, streamed and not: one typed end each, without the key in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect_file;
use setpoint_model_server::{Answer, Fault, Measures, ModelServer, Turn, Wire};

use crate::support::{ask, remote, shown};

/// The clock runs on whenever everybody waits, so that no wait takes any time.
#[tokio::test(start_paused = true)]
async fn every_fault_on_every_wire_has_one_typed_end() {
    let mut found = String::new();
    let mut scenarios = 0;
    for fault in Fault::all_with(&Measures::endless()) {
        let mut ends: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for wire in Wire::ALL {
            for is_streamed in [false, true] {
                for has_tools in [false, true] {
                    // Below what the model says, it makes no difference what it was offered.
                    if has_tools && fault.number() <= 28 {
                        continue;
                    }
                    scenarios += 1;
                    let line = end_of(&fault, wire, is_streamed, has_tools).await;
                    assert!(!line.contains("very-secret"), "{}: {line}", fault.name());
                    let form = if is_streamed { "streamed" } else { "whole" };
                    let tools = if has_tools { "+tools" } else { "" };
                    ends.entry(line).or_default().push(format!("{wire} {form}{tools}"));
                }
            }
        }
        writeln!(found, "# {}", fault.name()).unwrap();
        let all: usize = ends.values().map(Vec::len).sum();
        for (line, places) in ends {
            let places = if places.len() == all { "everywhere".to_owned() } else { places.join(", ") };
            writeln!(found, "{line}\n    {places}").unwrap();
        }
    }
    assert!(scenarios >= 1_000, "{scenarios}");
    expect_file!["faults.expected"].assert_eq(&found);
}

async fn end_of(fault: &Fault, wire: Wire, is_streamed: bool, has_tools: bool) -> String {
    let turn = Turn::from(Answer::text("Blue is the colour.")).with(fault.clone());
    let server = ModelServer::start(Arc::new(turn)).await.unwrap();
    let model = remote(wire, &server.base_with(wire, fault), is_streamed);
    // The caller limits the time of the whole answer.
    let answer = tokio::time::timeout(Duration::from_secs(300), ask(&model, has_tools)).await;
    server.stop().await;
    match answer {
        Ok(answer) => shown(&answer),
        Err(_) => "nothing, until whoever asks gives up".to_owned(),
    }
}
