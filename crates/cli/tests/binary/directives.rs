//! Each directive of the controller, caused by a real failure and followed by the next plan.

use serde_json::Value;

use crate::support::Home;
use crate::time_travel::four_rounds;

/// Returns the texts of a list.
fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap()).collect()
}

/// A missing file that was to be changed, then wrong results (worse), then half of the criteria met (better),
/// then all.
#[test]
fn one_task_goes_through_path_approach_and_refinement() {
    let home = Home::new();
    let ended = four_rounds(&home, &[]);
    let directives = ended.payloads("PlanDirective");
    let signs: Vec<f64> = directives.iter().map(|one| one["grad_l"].as_f64().unwrap()).collect();
    assert!(signs[0] == 0.0 && signs[1] >= 0.1 && signs[2] <= -0.1, "{signs:?}");
    let urgencies: Vec<&str> = directives.iter().map(|one| one["urgency"].as_str().unwrap()).collect();
    assert_eq!(urgencies, ["normal", "high", "low"]);
    // What failed to change something is blocked for the next plan, by its target; what only read is not.
    let blocked = texts(&directives[0]["blocked_targets"]);
    let target = format!("edit_file: {} ", home.work().join("gone-1.txt").display());
    assert!(matches!(blocked.as_slice(), [only] if only.starts_with(&target)), "{blocked:?}");
    assert!(!directives[0]["rationale"].as_str().unwrap().contains("Not blocked"));
    for directive in &directives {
        assert_eq!(texts(&directive["blocked_tools"]), Vec::<&str>::new());
    }
    // Failed targets are those of all rounds; if no call failed, that of the last one.
    let not_blocked = |at: usize| {
        let rationale = directives[at]["rationale"].as_str().unwrap();
        rationale.split_once(" Not blocked: ").unwrap_or_else(|| panic!("{rationale}")).1
    };
    assert!(not_blocked(1).starts_with("count_lines (it only read)"), "{}", not_blocked(1));
    let last = not_blocked(2).split(" of ").skip(1);
    let tools: Vec<&str> = last.filter_map(|rest| rest.split(" (it only read)").next()).collect();
    assert!(tools.ends_with(&["count_lines", "read_file"]), "{}", not_blocked(2));
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
