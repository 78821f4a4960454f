//! Each wire completes a whole task, streamed and not, and the reported cost is what the server counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_model_server::question::Site;
use setpoint_model_server::{Hosted, SeenRequest, Wire};

use crate::support::thinker::{site, think};
use crate::support::tree::tree;
use crate::support::{Came, Home};

use super::{KEY, command, plan, writes};

/// Returns a plan with two sub-tasks side by side, and one that waits for both.
fn three() -> Value {
    plan(&[writes("alpha", 1), writes("beta", 1), writes("gamma", 2)])
}

#[test]
fn every_wire_drives_three_sub_tasks_to_accept_streamed_and_not() {
    for wire in Wire::ALL {
        for is_streamed in [true, false] {
            let home = Home::new();
            let server = Hosted::start(Arc::new(|seen: &SeenRequest| think(seen, &three()))).unwrap();
            let stream = format!("models.stream={is_streamed}");
            let arguments =
                ["run", "--json", "--set", &stream, "write three small files\none after two others"];
            let came = Came::of(&mut command(&home, &server, wire, &arguments));
            let result = came.json();
            let what = format!("{wire} streamed {is_streamed}: {came:#?}");
            assert_eq!((came.code, &result["ended_by"]), (0, &json!("criteria_met")), "{what}");
            for name in ["alpha", "beta", "gamma"] {
                assert_eq!(
                    std::fs::read_to_string(home.work().join(format!("names/{name}.txt"))).unwrap(),
                    format!("{name}\n")
                );
            }
            // Which roles were asked, how often, and how.
            let seen = server.seen();
            assert!(seen.iter().all(|one| one.wire == wire && one.is_streaming == is_streamed), "{what}");
            let mut asked: BTreeMap<Site, u64> = BTreeMap::new();
            for one in &seen {
                *asked.entry(site(one)).or_default() += 1;
            }
            let calls = |role: &str| result["usage"]["by_role"][role]["calls"].as_u64().unwrap_or_default();
            let counted = [
                (Site::Perceive, calls("perceiver")),
                (Site::Plan, calls("planner")),
                (Site::Execute, calls("executor")),
                (Site::Judge, calls("agent_validator")),
                (Site::Merge, calls("meta_validator")),
            ];
            assert_eq!(asked, BTreeMap::from(counted), "{what}");
            let expected = [1, 1, 6, 3, 1];
            assert_eq!(counted.map(|(_, calls)| calls), expected, "{what}");
            // The reported cost is what the server counted.
            let served = server.served();
            let sum = |count: fn(&setpoint_model_server::RequestOutcome) -> Option<i128>| -> i128 {
                served.iter().map(|one| count(one).unwrap()).sum()
            };
            let usage = &result["usage"];
            assert_eq!(
                i128::from(usage["tokens_in"].as_u64().unwrap()),
                sum(|one| one.input_tokens),
                "{what}"
            );
            assert_eq!(
                i128::from(usage["tokens_out"].as_u64().unwrap()),
                sum(|one| one.output_tokens),
                "{what}"
            );
            // The key was sent only to the server.
            assert!(
                seen.iter()
                    .all(|one| one.headers.values().any(|value| value.contains(KEY)) || wire == Wire::Ollama)
            );
            let written = tree(&home.data());
            assert!(!written.is_empty());
            assert!(!format!("{came:?}").contains(KEY));
            for path in written.keys() {
                let bytes = std::fs::read(home.data().join(path)).unwrap_or_default();
                assert!(!bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()), "{}", path.display());
            }
        }
    }
}
