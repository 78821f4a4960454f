//! Each directive of the controller, caused by a real failure and followed by the next plan.

use serde_json::Value;

use crate::support::Home;
use crate::support::task::{Trial, pursue};

/// Returns the texts of a list.
fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap()).collect()
}

fn assert_not_blocked(directive: &Value, item: &str) {
    let rationale = directive["rationale"].as_str().unwrap();
    let named = rationale.split_once(" Not blocked: ").map(|(_, named)| named);
    assert!(named.is_some_and(|named| named.contains(item)), "{rationale}");
}

/// What failed to change something is blocked for the next plan, by its target.
#[test]
fn a_failed_change_is_blocked_by_its_target() {
    let home = Home::new();
    Trial::new().edits("gone.txt", "0").reads("there.txt", "1").write(&home);
    let ended = pursue(&home, &[]);
    assert_eq!(ended.course(), "init→change_path→accept");
    let directive = ended.payloads("PlanDirective")[0];
    let place = home.work().join("gone.txt");
    let blocked = texts(&directive["blocked_targets"]);
    let target = format!("edit_file: {} ", place.display());
    assert!(matches!(blocked.as_slice(), [only] if only.starts_with(&target)), "{blocked:?}");
    assert!(!directive["rationale"].as_str().unwrap().contains("Not blocked"));
}

/// Missing files, then wrong results (worse), then half of the criteria met (better), then all.
#[test]
fn one_task_goes_through_path_approach_and_refinement() {
    let home = Home::new();
    Trial::new()
        .reads("gone-1.txt", "00")
        .counts("there.txt", "00")
        .reads("gone-2.txt", "10")
        .hashes("there.txt", "11")
        .write(&home);
    let ended = pursue(&home, &["--set", "controller.w2=0"]);
    assert_eq!(ended.course(), "init→change_path→change_approach→refine→accept");
    let directives = ended.payloads("PlanDirective");
    let signs: Vec<f64> = directives.iter().map(|one| one["grad_l"].as_f64().unwrap()).collect();
    assert!(signs[0] == 0.0 && signs[1] >= 0.1 && signs[2] <= -0.1, "{signs:?}");
    let urgencies: Vec<&str> = directives.iter().map(|one| one["urgency"].as_str().unwrap()).collect();
    assert_eq!(urgencies, ["normal", "high", "low"]);
    // Every call only read, so none is blocked. Failed targets are those of all rounds; if no call failed,
    // that of the last one.
    for directive in &directives {
        assert_eq!(texts(&directive["blocked_tools"]), Vec::<&str>::new());
        assert_eq!(texts(&directive["blocked_targets"]), Vec::<&str>::new());
    }
    assert_not_blocked(directives[1], "count_lines (it only read)");
    let last = directives[2]["rationale"].as_str().unwrap();
    let tools: Vec<&str> =
        last.split(" of ").skip(1).filter_map(|rest| rest.split(" (it only read)").next()).collect();
    assert_eq!(tools.get(tools.len() - 3..).unwrap(), ["read_file", "count_lines", "read_file"], "{last}");
    // Four rounds, each with a plan of its own.
    let mut plans: Vec<&str> = ended
        .payloads("DispatchManifest")
        .iter()
        .map(|one| one["plan_fingerprint"].as_str().unwrap())
        .collect();
    plans.sort_unstable();
    plans.dedup();
    assert_eq!(plans.len(), 4);
    assert_eq!(ended.result["output"]["way"], "dune");
}
