//! Test runs other than the requested one: of other tests, of fewer, by another program, or of tests that the
//! work changed.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use setpoint_model_server::question::Site;
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn, Wire};

use super::{Place, passed, run_with, said, site};

const GOAL: &str = "make it so that python3 -m unittest passes";
const RUN: &str = "python3 -m unittest";
const TESTS: &str = "import unittest, calc\nclass T(unittest.TestCase):\n    def test_add(self):\n        \
    self.assertEqual(calc.add(2, 2), 4)\n";
const GREEN: &str =
    "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(1, 1)\n";

/// Returns a model that plans for the goal's command to pass, and whose executor makes these calls and says
/// that it is done, each time.
fn server(calls: Vec<Value>) -> Hosted {
    let check = json!({ "on": { "call": { "tool": "shell", "which": RUN } }, "expect": { "test_run": {} } });
    serving(
        &json!({ "criterion": "`python3 -m unittest` passes", "asked": "python3 -m unittest passes", "check": check }),
        calls,
    )
}

/// Returns such a model with this criterion.
fn serving(criterion: &Value, calls: Vec<Value>) -> Hosted {
    let plan = json!({ "subtasks": [{ "intent": "mend calc.py", "success_criteria": [criterion] }] });
    let executed = AtomicUsize::new(0);
    let answer = move |seen: &SeenRequest| match site(seen) {
        Site::Plan => said(&plan),
        Site::Execute => match calls.get(executed.fetch_add(1, Ordering::Relaxed)) {
            Some(input) if input["path"].is_string() => {
                Turn::from(Answer::call("edit_file", &input.to_string()))
            }
            Some(input) if input["patch"].is_string() => {
                Turn::from(Answer::call("apply_patch", &input.to_string()))
            }
            Some(input) => Turn::from(Answer::call("shell", &input.to_string())),
            None => said(&json!({ "status": "completed", "output": "all tests pass" })),
        },
        Site::Perceive => said(&json!({ "title": "a goal" })),
        Site::Report => said(&json!({ "achieved": "nothing", "next_moves": [] })),
        // A careless judge: what a check proves nothing of stays unproven.
        Site::Judge => passed(seen),
        Site::Merge => panic!("a check judges it: {}", seen.asked.system),
    };
    Hosted::start(Arc::new(answer)).unwrap()
}

/// Runs with a red test beside a green one, and another project with a green one; all calls are allowed.
fn run(calls: &[Value]) -> Value {
    let place = Place::new();
    place.file("calc.py", "def add(a, b):\n    return a - b\n");
    place.file("test_calc.py", TESTS);
    place.file("test_green.py", GREEN);
    place.file("other/test_green.py", GREEN);
    let allowed: Vec<String> = calls
        .iter()
        .filter_map(|input| Some(format!("command {}\n", input["command"].as_str()?)))
        .chain(["path calc.py\npath test_calc.py\n".to_owned()])
        .collect();
    let server = server(calls.to_vec());
    let ran = run_with(&place, &server, Wire::Chat, GOAL, &allowed.concat(), |opened| {
        opened.controller.max_replans = 1;
    });
    assert!(ran.messages("ApprovalDecision").iter().all(|word| word["decision"] == "once"), "{calls:?}");
    ran.result
}

fn shell(command: &str) -> Value {
    json!({ "command": command })
}

fn edit(path: &str, find: &str, replace: &str) -> Value {
    json!({ "path": path, "find": find, "replace": replace })
}

#[test]
fn the_requested_test_run_is_a_proof() {
    let mend = || edit("calc.py", "a - b", "a + b");
    for run_of_it in [
        shell(RUN),
        shell("python3 -m unittest -v"),
        shell("cd . && python3 -m unittest"),
        shell("LC_ALL=C python3 -m unittest"),
    ] {
        let result = run(&[mend(), run_of_it.clone()]);
        assert_eq!(result["directive"], "accept", "{run_of_it}: {result:#}");
    }
}

#[test]
fn another_test_run_than_the_requested_one_proves_nothing() {
    for call in [
        shell("python3 -m unittest test_green"),
        shell("python3 -m unittest -k test_it"),
        shell("cd other && python3 -m unittest"),
        shell("PATH=other:$PATH python3 -m unittest"),
        shell("python3 -m unittest || true"),
        shell("python3() { echo Ran 2 tests in 0.1s; echo; echo OK; }; python3 -m unittest"),
    ] {
        let result = run(std::slice::from_ref(&call));
        let verdict = &result["verdicts"][0];
        assert_eq!(
            (&verdict["verdict"], &verdict["shown"]),
            (&json!("fail"), &json!("not_shown")),
            "{call}: {result:#}"
        );
    }
}

#[test]
fn tests_that_the_work_changed_prove_nothing() {
    for change in [
        edit("test_calc.py", "(2, 2), 4", "(2, 2), 0"),
        edit("test_calc.py", "class T", "@unittest.skip('x')\nclass T"),
        json!({ "patch": "--- a/test_calc.py\n+++ b/test_calc.py\n@@ -4 +4 @@\n-        self.assertEqual(calc.add(2, 2), 4)\n\
            +        self.assertEqual(calc.add(2, 2), 0)\n" }),
        shell("rm test_calc.py"),
        shell("mv test_calc.py calc_test.txt"),
        shell(
            "printf 'def load_tests(loader, tests, pattern):\\n    return unittest.TestSuite()\\n' >> test_calc.py",
        ),
        shell("printf 'print(\"Ran 9 tests in 0.1s\")\\nprint()\\nprint(\"OK\")\\n' > unittest.py"),
        shell(
            "printf 'import os\\nprint(\"Ran 9 tests in 0.1s\\\\n\\\\nOK\", flush=True)\\nos._exit(0)\\n' > difflib.py",
        ),
    ] {
        let result = run(&[change.clone(), shell(RUN)]);
        assert_eq!(
            (&result["directive"], &result["ended_by"]),
            (&json!("success"), &json!("unproven")),
            "{change}: {result:#}"
        );
        assert_eq!(result["verdicts"][0]["self_made"], true, "{change}: {result:#}");
    }
}

/// The work is checked by a script that the person named: if the work rewrites the script, a pass proves
/// nothing.
#[test]
fn a_rewritten_test_script_proves_nothing() {
    let check =
        json!({ "on": { "call": { "tool": "shell", "which": "./check.sh" } }, "expect": { "exit_code": 0 } });
    let criterion =
        json!({ "criterion": "`./check.sh` ends with 0", "asked": "./check.sh passes", "check": check });
    for (work, end) in [
        ("printf '#!/bin/sh\\nexit 0\\n' > check.sh", "success"),
        ("sed -i 's/grep/true/' check.sh", "success"),
        ("echo b > a.txt", "accept"),
    ] {
        let place = Place::new();
        place.file("a.txt", "a\n");
        place.file("check.sh", "#!/bin/sh\ngrep -q b a.txt\n");
        let script = place.work().join("check.sh");
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let allowed = format!("command {work}\ncommand ./check.sh\n");
        let server = serving(&criterion, vec![shell(work), shell("./check.sh")]);
        let result = super::run(&place, &server, "mend a.txt so that ./check.sh passes", &allowed).result;
        assert_eq!(result["directive"], end, "{work}: {result:#}");
        let is_self_made = result["verdicts"][0]["self_made"].as_bool().unwrap_or(false);
        assert_eq!(is_self_made, end == "success", "{work}");
    }
}
