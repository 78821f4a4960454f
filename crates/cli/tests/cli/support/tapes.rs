//! Whole tasks.

use serde_json::json;
use setpoint_protocol::RoleId::*;
use setpoint_protocol::message::*;
use setpoint_protocol::record::Purpose;
use setpoint_protocol::settings::Budgets;

use super::tape::*;

const LOGICAL: Option<FailureClass> = Some(FailureClass::Logical);
const ENVIRONMENTAL: Option<FailureClass> = Some(FailureClass::Environmental);

/// Returns a goal that is met at once. Its last record is the end.
pub(crate) fn accepted() -> Tape {
    let mut tape = Tape::opened("count the files");
    let criteria = vec![criterion("s1.c1", "the output is a number")];
    let call = tool_record("r3.1/2", "shell/find", "find . -type f", 0);
    tape.ask_model("r1/1", Purpose::Perceive)
        .after(400)
        .answer_model("r1/1", 300, 20)
        .say(Perceiver, 0, spec("count the files"))
        .ask_model("r2/1", Purpose::Plan)
        .after(1_000)
        .answer_model("r2/1", 900, 120)
        .say(
            Planner,
            0,
            manifest(1, &[(1, 1, criteria.clone())], vec![criterion("t1", "the count is right")]),
        )
        .say(Planner, 1, subtask(1, "count", criteria.clone()))
        .ask_tool("r3.1/2", "shell", json!({ "command": "find . -type f" }))
        .after(1_200)
        .answer_tool("r3.1/2", 0, 1_200)
        .say(Executor, 1, execution(1, 1, vec![call.clone()]))
        .say(
            AgentValidator,
            1,
            outcome(
                1,
                criteria,
                vec![pass("s1.c1", "the output is a number", "42", &["r3.1/2"])],
                vec![],
                vec![call],
            ),
        )
        .say(
            MetaValidator,
            0,
            OutcomeSummary {
                withdrawn: Vec::new(),
                overlooked: Vec::new(),
                merged_output: "42".into(),
                summary: "Counted the files.".to_owned(),
                task_criteria_verdicts: vec![pass("t1", "the count is right", "42 files", &["r3.1/2"])],
                outcomes: vec![],
                applied_rules: vec![],
                overridden_rules: vec![],
                plan_fingerprint: "plan1".to_owned(),
                elapsed_ms: 2_600,
            },
        );
    let mut result = final_result(EndState::Accept, EndedBy::CriteriaMet);
    result.verdicts = vec![pass("t1", "the count is right", "42 files", &["r3.1/2"])];
    tape.say(GoalGradientSolver, 0, result);
    tape
}

/// Returns a task that ends at once with this result.
pub(crate) fn ended(result: FinalResult) -> Tape {
    let mut tape = Tape::opened("count the files");
    tape.say(Perceiver, 0, spec("count the files")).say(GoalGradientSolver, 0, result);
    tape
}

/// Returns the example of the interface's description: two finished rounds, the second with one correction,
/// and a third one running.
pub(crate) fn migration() -> Tape {
    let budgets = Budgets { calls: Some(40), ..Budgets::default() };
    let mut tape = Tape::opened_with("migrate users.csv → sqlite, keep 10 412 rows", budgets);
    let rows = || criterion("s1.c1", "10 412 rows in db");
    let emails = || criterion("s1.c2", "no NULL email");
    let tests = || criterion("s2.c1", "tests pass");
    let whole = || vec![criterion("t1", "the schema is readable")];
    tape.ask_model("r1/1", Purpose::Perceive)
        .after(2_000)
        .answer_model("r1/1", 400, 40)
        .say(Perceiver, 0, spec("migrate users.csv to sqlite"))
        .say(
            Memory,
            0,
            MemoryReply {
                reason: None,
                related: vec![],
                hypotheses: vec![],
                call_id: id("r2/1"),
                availability: Availability::Available,
                rules: vec![SopRecord {
                    id: "00000000-0000-7000-8000-00000000aaaa".parse().unwrap(),
                    kind: SopKind::Constraint,
                    rule: "csvsql loses rows".to_owned(),
                    approaches: vec![],
                    space: "intent:migrate_userscsv_to".to_owned(),
                    entity: "env:local".to_owned(),
                }],
                potentials: Potentials::default(),
                records: vec![],
                facts: vec![],
                tools: vec![],
                avoided: vec![],
                withheld: 0,
                after: Vec::new(),
            },
        )
        .ask_model("r2/2", Purpose::Plan)
        .after(9_000)
        .answer_model("r2/2", 2_000, 300)
        .say(Planner, 0, manifest(1, &[(1, 1, vec![rows(), emails()]), (2, 2, vec![tests()])], whole()))
        .say(Planner, 1, subtask(1, "load", vec![rows(), emails()]))
        .ask_tool("r3.1/2", "shell", json!({ "command": "csvsql --insert users.csv" }))
        .after(20_000)
        .answer_tool("r3.1/2", 0, 20_000);
    let csvsql = || tool_record("r3.1/2", "shell/csvsql", "csvsql --insert users.csv", 0);
    tape.say(Executor, 1, execution(1, 1, vec![csvsql()]))
        .say(
            AgentValidator,
            1,
            correction(1, 1, ("10 412 rows in db", LOGICAL), "9 998 rows", &["s1.c1", "s1.c2"]),
        )
        .after(20_000)
        .say(Executor, 1, execution(1, 2, vec![csvsql()]));
    let first = outcome(
        1,
        vec![rows(), emails()],
        vec![
            fail("s1.c1", "10 412 rows in db", LOGICAL, "10 001 rows", &["r3.1/2"]),
            fail("s1.c2", "no NULL email", LOGICAL, "3 are NULL", &["r3.1/2"]),
        ],
        vec![
            gap(1, &[("s1.c1", LOGICAL), ("s1.c2", LOGICAL)]),
            gap(2, &[("s1.c1", LOGICAL), ("s1.c2", LOGICAL)]),
        ],
        vec![csvsql()],
    );
    let mut skipped = outcome(2, vec![tests()], vec![], vec![], vec![]);
    skipped.failure_reason = Some("skipped: group 1 failed".to_owned());
    tape.say(AgentValidator, 1, first.clone())
        .say(MetaValidator, 0, replan(1, vec![first, skipped], None))
        .say(
            GoalGradientSolver,
            0,
            directive(
                ActionState::ChangeApproach,
                loss(0.75, 0.62, 0.12, 0.71),
                0.0,
                &["shell/csvsql"],
                "change_approach: |∇L| ≥ ε = 0.100 and P > ρ = 0.500 (L = 0.710 from D = 0.750).",
            ),
        )
        .ask_model("r2/3", Purpose::Plan)
        .after(10_000)
        .answer_model("r2/3", 2_500, 300);
    let again = |id: &str, text: &str| criterion(id, text);
    let load = || vec![again("s3.c1", "10 412 rows in db"), again("s3.c2", "no NULL email")];
    let check = || vec![again("s4.c1", "tests pass")];
    tape.say(Planner, 0, manifest(2, &[(3, 1, load()), (4, 1, check())], whole()))
        .say(Planner, 3, subtask(3, "load", load()))
        .say(Planner, 4, subtask(4, "test", check()))
        .ask_tool("r3.3/1", "shell", json!({ "command": "sqlite3 users.db 'select count(*) from users'" }))
        .ask_tool("r3.4/1", "shell", json!({ "command": "pytest -q" }))
        .after(30_000)
        .answer_tool("r3.3/1", 0, 300)
        .answer_tool("r3.4/1", 4, 2_000);
    let count = || tool_record("r3.3/1", "shell/sqlite3", "sqlite3 users.db 'select count(*) from users'", 0);
    let pytest = || tool_record("r3.4/1", "shell/pytest", "pytest -q", 4);
    let failed = outcome(
        4,
        check(),
        vec![fail("s4.c1", "tests pass", ENVIRONMENTAL, "module missing", &["r3.4/1"])],
        vec![gap(1, &[("s4.c1", ENVIRONMENTAL)])],
        vec![pytest()],
    );
    let matched = outcome(
        3,
        load(),
        vec![
            pass("s3.c1", "10 412 rows in db", "10412", &["r3.3/1"]),
            Verdict { vacuous: true, ..pass("s3.c2", "no NULL email", "0 rows", &["r3.3/1"]) },
        ],
        vec![],
        vec![count()],
    );
    tape.say(Executor, 3, execution(3, 1, vec![count()]))
        .say(AgentValidator, 3, matched.clone())
        .say(Executor, 4, execution(4, 1, vec![pytest()]))
        .say(AgentValidator, 4, failed.clone())
        .say(MetaValidator, 0, replan(2, vec![matched.clone(), failed], None))
        .say(
            GoalGradientSolver,
            0,
            directive(
                ActionState::Refine,
                loss(0.25, 0.20, 0.36, 0.38),
                -0.33,
                &[],
                "refine: |∇L| ≥ ε = 0.100 and P ≤ ρ = 0.500 (L = 0.380 from D = 0.250).",
            ),
        )
        .after(10_000);
    let mut third = manifest(3, &[(3, 1, load()), (5, 1, vec![again("s5.c1", "tests pass")])], whole());
    third.subtasks[0].carried = Some(matched);
    tape.say(Planner, 0, third)
        .say(Planner, 5, subtask(5, "test", vec![again("s5.c1", "tests pass")]))
        .ask_tool("r3.5/1", "shell", json!({ "command": "pip install pytest && pytest -q" }))
        .after(9_000);
    tape
}

/// Returns the same task, accepted with gaps.
pub(crate) fn migration_with_gaps() -> Tape {
    let mut tape = migration();
    let mut result = final_result(EndState::Success, EndedBy::Distance);
    result.summary = "Loaded all 10 412 rows. The tests could not be run.".to_owned();
    result.output = setpoint_protocol::Any(json!([
        { "table": "users", "rows": 10412 },
        { "table": "log", "rows": 7 },
    ]));
    result.loss = loss(0.25, 0.0, 0.40, 0.31);
    result.grad_l = -0.07;
    result.replans = 2;
    result.verdicts = vec![
        pass("s3.c1", "10 412 rows in db", "10412", &["r3.3/1"]),
        fail("s5.c1", "tests pass", ENVIRONMENTAL, "pytest is not there", &["r3.5/1"]),
    ];
    result.unmet_criteria = vec!["tests pass".to_owned()];
    result.accountable = Some(Executor);
    result.next_moves = vec!["install pytest and run `pytest -q`".to_owned()];
    result.usage.cost = setpoint_protocol::money::Money::of_units(0.18);
    tape.answer_tool("r3.5/1", 1, 9_000).say(GoalGradientSolver, 0, result);
    tape
}
