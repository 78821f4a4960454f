//! A run that is recorded, and played without the server in another folder.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use serde_json::json;
use setpoint_model_server::{Hosted, Seen, Wire};

use crate::support::thinker::think;
use crate::support::{Came, Home};

use super::{KEY, command, plan, writes};

const GOAL: &str = "write two small files";

#[test]
fn a_recorded_run_is_played_offline_in_another_place() {
    let (here, there) = (Home::new(), Home::new());
    let plan = plan(&[writes("alpha", 1), writes("beta", 1)]);
    let server = Hosted::start(Arc::new(move |seen: &Seen| think(seen, &plan))).unwrap();
    let run = |options: &[&str]| {
        let arguments: Vec<&str> = ["run", "--json"].iter().chain(options).copied().chain([GOAL]).collect();
        Came::of(&mut command(&here, &server, Wire::Anthropic, &arguments))
    };
    let recorded = run(&["--record", "tape.jsonl"]);
    assert_eq!(recorded.code, 0, "{recorded:#?}");
    let asked = server.seen().len();
    let tape = here.work().join("tape.jsonl");
    let text = fs::read_to_string(&tape).unwrap();
    assert_eq!(text.lines().count(), asked + 1);
    assert!(!text.contains(KEY));
    assert_eq!(fs::metadata(&tape).unwrap().permissions().mode() & 0o777, 0o600);

    // No provider is named there, and no key; the server is not asked.
    let copy = there.file("copy.jsonl", &text);
    let replay = copy.to_str().unwrap();
    let played = there.run(&["run", "--json", "--replay", replay, GOAL]);
    assert_eq!(played.code, 0, "{played:#?}");
    let (first, second) = (recorded.json(), played.json());
    for field in ["summary", "output", "ended_by", "unmet_criteria"] {
        assert_eq!(first[field], second[field], "{field}");
    }
    assert_eq!(second["usage"]["tokens_in"], first["usage"]["tokens_in"]);
    assert_eq!(second["usage"]["cost"], 0.0, "nothing is paid twice");
    assert_eq!(fs::read_to_string(there.work().join("names/beta.txt")).unwrap(), "beta\n");
    assert_eq!(server.seen().len(), asked);

    // A recording is never written over.
    let again = run(&["--record", "tape.jsonl"]);
    assert_eq!(again.code, 2, "{again:#?}");
    assert!(again.err.contains("tape.jsonl") && again.err.contains("hint:"), "{again:#?}");
    assert_eq!(fs::read_to_string(&tape).unwrap(), text);
}

#[test]
fn what_was_not_recorded_ends_by_fault_and_says_how_it_differs() {
    let home = Home::new();
    let server = Hosted::start(Arc::new(|seen: &Seen| think(seen, &plan(&[writes("alpha", 1)])))).unwrap();
    let recorded = Came::of(&mut command(
        &home,
        &server,
        Wire::Chat,
        &["run", "--json", "--record", "tape.jsonl", GOAL],
    ));
    assert_eq!(recorded.code, 0, "{recorded:#?}");
    let played = home.run(&["run", "--json", "--replay", "tape.jsonl", "write something else"]);
    let result = played.json();
    assert_eq!((played.code, &result["ended_by"]), (4, &json!("fault")), "{played:#?}");
    let told = result.to_string();
    assert!(told.contains("the recording has no answer to question 1 of `plan`"), "{result:#}");
    assert!(told.contains("write something else"), "{result:#}");
    for missing in ["nothing.jsonl", "."] {
        let came = home.run(&["run", "--replay", missing, GOAL]);
        assert_eq!(came.code, 2, "{came:#?}");
        assert!(came.err.contains("hint:"), "{came:#?}");
    }
}
