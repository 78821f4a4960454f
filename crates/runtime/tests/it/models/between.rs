//! Evidence across sub-tasks: what one sub-task proves and another one undoes, or has falsified before.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use setpoint_model_server::question::{self, Site};
use setpoint_model_server::{Answer, Hosted, SeenRequest, Turn, Wire};

use super::{Place, asked, run_with, said, site};

const GOAL: &str = "make it so that python3 -m unittest passes, and write notes.md";
const RUN: &str = "python3 -m unittest";
const TESTS: &str = "import unittest, calc\nclass T(unittest.TestCase):\n    def test_add(self):\n        \
    self.assertEqual(calc.add(2, 2), 4)\n    def test_true(self):\n        self.assertTrue(True)\n";
const MEND: &str = "sed -i 's/a - b/a + b/' calc.py";
const UNDO: &str = "sed -i 's/a + b/a - b/' calc.py";

/// Returns a sub-task after which the red test must pass.
fn mended(intent: &str, sequence: u32) -> Value {
    let check = json!({ "on": { "call": { "tool": "shell", "which": RUN } }, "expect": { "test_run": {} } });
    let criterion = json!({ "criterion": "`python3 -m unittest` passes", "asked": "python3 -m unittest passes", "check": check });
    json!({ "intent": intent, "sequence": sequence, "success_criteria": [criterion] })
}

/// Returns a sub-task after which the notes must exist.
fn noted(sequence: u32) -> Value {
    let probe = json!({ "tool": "file_facts", "input": { "path": "notes.md" } });
    let check = json!({ "on": { "probe": probe }, "expect": { "file": { "exists": true, "lines_min": 1 } } });
    json!({ "intent": "write the notes", "sequence": sequence,
        "success_criteria": [{ "criterion": "notes.md is there", "check": check }] })
}

/// Returns the result of these plans, one per round. For an intent that holds the word, the executor runs the commands, in
/// the order in which it is asked, and then says that it is done.
fn run(plans: Vec<Value>, work: &[(&'static str, &[&'static str])]) -> Value {
    run_before(GOAL, plans, work, "pass").0
}

/// Returns the result, and the questions to the judges. Of what pieces showed and does not hold any more, the judge of the
/// whole says `outlived`.
fn run_before(
    goal: &str,
    plans: Vec<Value>,
    work: &[(&'static str, &[&'static str])],
    outlived: &'static str,
) -> (Value, Vec<String>) {
    let place = Place::new();
    place.file("calc.py", "def add(a, b):\n    return a - b\n");
    place.file("test_calc.py", TESTS);
    place.file("README.md", "calc\n");
    let commands = work.iter().flat_map(|(_, commands)| *commands);
    let allowed: String = commands.map(|command| format!("command {command}\n")).collect();
    let planned = AtomicUsize::new(0);
    let work: Vec<(&str, Vec<&str>)> =
        work.iter().map(|(word, commands)| (*word, commands.to_vec())).collect();
    let answer = move |seen: &SeenRequest| {
        let asked = seen.asked.told();
        match site(seen) {
            Site::Plan => said(&plans[planned.fetch_add(1, Ordering::Relaxed).min(plans.len() - 1)]),
            Site::Execute => {
                let intent = question::work(&asked).unwrap_or_default();
                let (_, commands) = work.iter().find(|(word, _)| intent.contains(word)).unwrap();
                match commands.get(question::calls(&asked).count()) {
                    Some(command) => {
                        Turn::from(Answer::call("shell", &json!({ "command": command }).to_string()))
                    }
                    None => said(&json!({ "status": "completed", "output": "done" })),
                }
            }
            Site::Perceive => said(&json!({ "title": "a goal" })),
            Site::Report => said(&json!({ "achieved": "nothing", "next_moves": [] })),
            // It believes the work.
            at @ (Site::Judge | Site::Merge) => {
                let cites: Vec<&str> = question::calls(&asked).collect();
                let verdict = |id: &str| {
                    let is_of_a_piece = at == Site::Merge && id.starts_with('s');
                    let word = if is_of_a_piece { outlived } else { "pass" };
                    json!({ "criterion_id": id, "verdict": word, "evidence": "done", "cites": cites, "failure_class": "logical" })
                };
                let verdicts: Vec<Value> = question::criteria(&asked).map(verdict).collect();
                said(&json!({ "verdicts": verdicts, "summary": "it is done" }))
            }
        }
    };
    let server = Hosted::start(Arc::new(answer)).unwrap();
    let ran =
        run_with(&place, &server, Wire::Chat, goal, &allowed, |opened| opened.controller.max_replans = 1);
    assert!(
        ran.messages("ApprovalDecision").iter().all(|word| word["decision"] == "once"),
        "{:#}",
        ran.result
    );
    let judged = [Site::Judge, Site::Merge].into_iter().flat_map(|site| asked(&server, site));
    (ran.result, judged.map(|seen| seen.asked.told()).collect())
}

/// Returns a plan that uses the last sub-task's criterion as the task's own.
fn plan(subtasks: &[Value]) -> Value {
    let last = subtasks.last().unwrap();
    match subtasks.len() {
        1 => json!({ "subtasks": subtasks }),
        _ => json!({ "subtasks": subtasks, "task_criteria": last["success_criteria"] }),
    }
}

#[test]
fn work_that_keeps_earlier_evidence_is_accepted() {
    let both = || vec![plan(&[mended("mend calc.py", 1), noted(2)])];
    for notes in ["echo fixed > notes.md", "echo fixed > notes.md; echo see notes.md >> README.md"] {
        let result = run(both(), &[("mend", &[MEND, RUN]), ("notes", &[notes])]);
        assert_eq!(result["directive"], "accept", "{notes}: {result:#}");
    }
}

#[test]
fn what_a_later_sub_task_undoes_is_not_shown() {
    const NOTES: &str = "echo fixed > notes.md";
    for later in [
        &[UNDO, NOTES][..],
        &["sed -i 's/a + b/a - b/' calc.py; echo fixed > notes.md"],
        &[
            "printf 'import unittest\\nclass Z(unittest.TestCase):\\n    def test_z(self): self.fail()\\n' > test_z.py",
            NOTES,
        ],
        &["rm test_calc.py", NOTES],
    ] {
        let plans = vec![plan(&[mended("mend calc.py", 1), noted(2)])];
        let result = run(plans, &[("mend", &[MEND, RUN]), ("notes", later)]);
        assert_ne!(result["directive"], "accept", "{later:?}: {result:#}");
        let verdicts = result["subtask_verdicts"].as_array().into_iter().chain(result["verdicts"].as_array());
        let told =
            verdicts.flatten().find(|one| one["evidence"].as_str().unwrap().contains("it was shown before"));
        assert_eq!(told.map(|one| &one["shown"]), Some(&json!("not_shown")), "{later:?}: {result:#}");
    }
}

#[test]
fn what_an_earlier_sub_task_falsified_is_marked() {
    const LAX: &str = "echo x > notes.md; sed -i 's/, 4)/, 0)/' test_calc.py";
    const GONE: &str = "echo x > notes.md; rm test_calc.py; echo import unittest > test_a.py; \
        echo 'class A(unittest.TestCase):' >> test_a.py; echo '  def test_a(self): pass' >> test_a.py";
    for earlier in [LAX, GONE] {
        let plans = vec![plan(&[noted(1), mended("mend calc.py", 2)])];
        let result = run(plans, &[("notes", &[earlier]), ("mend", &[RUN])]);
        for verdict in [&result["verdicts"][0], &result["subtask_verdicts"][1]] {
            assert_eq!(verdict["self_made"], true, "{earlier}: {result:#}");
        }
    }
}

#[test]
fn what_an_earlier_round_falsified_proves_nothing() {
    let plans = vec![
        plan(&[mended("mend calc.py", 1)]),
        plan(&[mended("repair the sum in another file by hand", 1)]),
    ];
    let result = run(plans, &[("mend", &["sed -i 's/, 4)/, 0)/' test_calc.py"]), ("repair", &[RUN])]);
    assert_eq!(
        (&result["directive"], &result["ended_by"]),
        (&json!("success"), &json!("unproven")),
        "{result:#}"
    );
    assert_eq!(result["verdicts"][0]["self_made"], true, "{result:#}");
}

#[test]
fn a_judge_sees_what_an_earlier_round_removed() {
    const LOSS: &str = "rm README.md; sed -i 's/, 4)/, 0)/' test_calc.py";
    let plans = vec![
        plan(&[mended("mend calc.py", 1)]),
        plan(&[mended("repair the sum in another file by hand", 1), noted(2)]),
    ];
    let work: [(&str, &[&str]); 3] = [
        ("mend", &[LOSS]),
        ("repair", &["sed -i 's/, 0)/, 4)/' test_calc.py; sed -i 's/a - b/a + b/' calc.py", RUN]),
        ("notes", &["echo fixed > notes.md"]),
    ];
    let (result, judged) = run_before(GOAL, plans, &work, "pass");
    assert_eq!(result["replans"], 1, "{result:#}");
    // The commands run without a sandbox here, so that only their traces are known.
    let removed = "removed README.md; what it was is not known";
    // The judge of the whole is asked last.
    let question = judged.last().unwrap();
    assert!(question.contains(removed) && question.contains("changed test_calc.py;"), "{question}");
}

/// Returns a sub-task after which a command that only looks prints this.
fn looked(intent: &str, sequence: u32, command: &str, prints: &str) -> Value {
    let probe = json!({ "tool": "shell", "input": { "command": command } });
    let check = json!({ "on": { "probe": probe }, "expect": { "contains": prints } });
    json!({ "intent": intent, "sequence": sequence,
        "success_criteria": [{ "criterion": format!("`{command}` prints {prints}"), "check": check }] })
}

#[test]
fn what_a_look_showed_is_measured_again_at_the_end() {
    let two = |look: &str, prints: &str, sum: &[&'static str], mend: &[&'static str], outlived| {
        let second = looked("mend calc.py", 2, "cat calc.py", "a + b");
        let plans = vec![plan(&[looked("sum up", 1, look, prints), second])];
        run_before("sum up, and mend calc.py", plans, &[("sum", sum), ("mend", mend)], outlived).0
    };
    let has = |result: &Value, text: &str| {
        let verdicts = result["subtask_verdicts"].as_array().unwrap().iter();
        verdicts.map(|one| one["evidence"].as_str().unwrap()).any(|evidence| evidence.contains(text))
    };
    // It still holds, although a program that was there was changed since.
    let result = two("cat sum.txt", "60", &["echo 60 > sum.txt"], &[MEND], "fail");
    assert_eq!(result["directive"], "accept", "{result:#}");
    // It does not, because of the target of the link.
    let link = ["ln -s real.txt shown.txt; echo 60 > real.txt"];
    let spoil = [MEND, "sed -i s/60/61/ real.txt"];
    let result = two("cat shown.txt", "60", &link, &spoil, "fail");
    assert_ne!(result["directive"], "accept", "{result:#}");
    assert!(has(&result, "it held, and does not any more"), "{result:#}");
    // A copy of what was there before differs, as it was meant to.
    let result = two("diff -s calc.py calc.old", "identical", &["cp calc.py calc.old"], &[MEND], "pass");
    assert_eq!(result["directive"], "accept", "{result:#}");
    assert!(has(&result, "a judge of the whole work: done"), "{result:#}");
}

#[test]
fn what_a_look_of_the_work_showed_is_measured_again_too() {
    for (outlived, is_accepted) in [("pass", true), ("fail", false)] {
        let check = json!({ "on": { "call": { "tool": "shell", "which": "cat shown.txt" } }, "expect": { "contains": "60" } });
        let first = json!({ "intent": "sum up", "sequence": 1,
            "success_criteria": [{ "criterion": "shown.txt says 60", "check": check }] });
        let plans = vec![plan(&[first, looked("mend calc.py", 2, "cat calc.py", "a + b")])];
        let work: [(&str, &[&str]); 2] = [
            ("sum", &["ln -s real.txt shown.txt; echo 60 > real.txt", "cat shown.txt"]),
            ("mend", &[MEND, "sed -i s/60/61/ real.txt"]),
        ];
        let (result, judged) = run_before("sum up, and mend calc.py", plans, &work, outlived);
        assert_eq!(result["directive"] == "accept", is_accepted, "{result:#}");
        assert!(
            judged.iter().any(|asked| asked.contains("after the later pieces its check finds")),
            "{judged:?}"
        );
    }
}
