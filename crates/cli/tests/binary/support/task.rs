//! Goals with playbooks written by the test, and assertions that hold for every end.

use serde_json::Value;

use super::{Came, Home};

/// The goal of a [`Trial`].
pub(crate) const GOAL: &str = "try the trial";

/// A playbook for [`GOAL`]: its ways are planned in this order, whatever the directive.
pub(crate) struct Trial {
    ways: Vec<Way>,
    proof: (String, String),
}

/// One way: one call, and an answer that says for each criterion whether it is met.
struct Way {
    call: String,
    marks: Vec<bool>,
}

impl Trial {
    pub(crate) fn new() -> Self {
        // A file of one line, with which the first mark must agree: an answer's own words prove nothing.
        let on = "{ probe = { tool = \"file_facts\", input = { path = \"ruler.txt\" } } }".to_owned();
        let expect =
            "{ pointer = { at = \"/lines\", is = { output = { how = \"equals\", at = \"/mark0\" } } } }"
                .to_owned();
        Trial { ways: Vec::new(), proof: (on, expect) }
    }

    /// Adds a way that makes this call; the mark of each criterion is `1` if its answer meets it. An unmet
    /// criterion is a failure of the environment if the call failed, else a wrong result.
    pub(crate) fn way(mut self, call: &str, marks: &str) -> Self {
        self.ways.push(Way { call: call.to_owned(), marks: marks.chars().map(|mark| mark == '1').collect() });
        self
    }

    /// Adds a way that reads a file; its call fails if the file is missing.
    pub(crate) fn reads(self, path: &str, marks: &str) -> Self {
        self.way(&format!("tool = \"read_file\"\ninput = {{ path = \"{path}\" }}"), marks)
    }

    /// Adds a way with another tool than [`Trial::reads`].
    pub(crate) fn counts(self, path: &str, marks: &str) -> Self {
        self.way(&format!("tool = \"count_lines\"\ninput = {{ path = \"{path}\" }}"), marks)
    }

    /// Adds a way with a third tool.
    pub(crate) fn hashes(self, path: &str, marks: &str) -> Self {
        self.way(&format!("tool = \"hash_files\"\ninput = {{ root = \"{path}\" }}"), marks)
    }

    /// Adds a way that edits a file, which fails if the file is missing.
    pub(crate) fn edits(self, path: &str, marks: &str) -> Self {
        let input = format!("{{ path = \"{path}\", find = \"one\", replace = \"two\" }}");
        self.way(&format!("tool = \"edit_file\"\ninput = {input}"), marks)
    }

    /// Adds a way with a command.
    pub(crate) fn runs(self, program: &str, command: &str, marks: &str) -> Self {
        let input = format!("input = {{ command = '''{command}''' }}");
        self.way(&format!("tool = \"shell\"\nprograms = [\"{program}\"]\n{input}"), marks)
    }

    /// Sets the check for the first mark, in place of the answer.
    pub(crate) fn proof(mut self, on: &str, expect: &str) -> Self {
        self.proof = (on.to_owned(), expect.to_owned());
        self
    }

    /// Writes the playbook into the user's configuration, and the files that a way may find.
    pub(crate) fn write(&self, home: &Home) {
        home.file("there.txt", "one\ntwo\n");
        home.file("ruler.txt", "one\n");
        home.playbook("trial", &self.text());
    }

    fn text(&self) -> String {
        let mut text = format!(
            "name = \"trial\"\ntitle = \"A trial\"\ndescription = \"What a test needs.\"\n\
             examples = [\"{GOAL}\", \"please {GOAL}\"]\npatterns = [\"{GOAL}\"]\n\
             next_moves = [\"look at the playbook of the trial\"]\ntask_criteria = [\"mark0\"]\n"
        );
        let marks = self.ways.iter().map(|way| way.marks.len()).max().unwrap_or(0);
        for n in 0..marks {
            let expect = format!("{{ pointer = {{ at = \"/mark{n}\", is = {{ equals = 1 }} }} }}");
            let (on, expect) =
                if n == 0 { (&*self.proof.0, &*self.proof.1) } else { ("\"output\"", &*expect) };
            text.push_str(&format!(
                "[criteria.mark{n}]\ntext = \"mark {n} of the answer is one\"\non = {on}\nexpect = {expect}\n"
            ));
        }
        for (n, way) in self.ways.iter().enumerate() {
            let names: Vec<String> = (0..way.marks.len()).map(|n| format!("\"mark{n}\"")).collect();
            let name = WAYS[n];
            text.push_str(&format!(
                "[[approach]]\nname = \"{name}\"\nnote = \"the {name} way\"\n[[approach.step]]\n\
                 intent = \"{name} attempt with means of its own kind\"\ncriteria = [{}]\non_error = \"answer\"\n\
                 [[approach.step.call]]\n{}\n[approach.step.output]\nway = \"{name}\"\n",
                names.join(", "),
                way.call,
            ));
            for (n, mark) in way.marks.iter().enumerate() {
                text.push_str(&format!("mark{n} = {}\n", u8::from(*mark)));
            }
        }
        text
    }
}

/// The names of the ways; different enough that no two plans are alike.
const WAYS: [&str; 5] = ["amber", "birch", "cedar", "dune", "ember"];

/// A task that ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) came: Came,
    pub(crate) result: Value,
    pub(crate) records: Vec<Value>,
}

/// Pursues [`GOAL`] with these options and checks what must hold for every end.
pub(crate) fn pursue(home: &Home, options: &[&str]) -> Ended {
    let mut arguments = vec!["run", "--json"];
    arguments.extend(options);
    arguments.push(GOAL);
    Ended::of(home, home.run(&arguments))
}

impl Ended {
    /// Reads the end of a run with `--json`. Checks that stdout has one `FinalResult` that fits its schema,
    /// that it is the only one in the records and their last, that the exit code agrees, and that the task
    /// replays exactly.
    pub(crate) fn of(home: &Home, came: Came) -> Self {
        let result = came.json();
        let schema = setpoint_protocol::schema::of("FinalResult").unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(&result).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}: {came:#?}");
        assert_no_rule_broken(home);
        let task = result["task_id"].as_str().unwrap();
        let replayed = home.run(&["replay", task]);
        assert!(replayed.code == 0 && replayed.out.contains("\nreplayed exactly: "), "{replayed:#?}");
        let records = home.records(task);
        let ended = Ended { came, result, records };
        let last = ended.records.last().unwrap();
        assert_eq!((ended.payloads("FinalResult").len(), &last["type"]), (1, &"setpoint.FinalResult".into()));
        for (field, recorded) in last["data"].as_object().unwrap() {
            assert_eq!(ended.result[field], *recorded, "{field}");
        }
        let words = (ended.result["directive"].as_str().unwrap(), ended.result["ended_by"].as_str().unwrap());
        let code = match words {
            ("accept", "criteria_met") => 0,
            ("success", "distance") => 3,
            ("abandon", "consent") => 5,
            ("abandon", "cancelled") => 130,
            ("abandon", _) => 4,
            other => panic!("{other:?}"),
        };
        assert_eq!((ended.came.code, &ended.result["exit_code"]), (code, &code.into()), "{:#?}", ended.came);
        let verdicts = ended.result["verdicts"].as_array().unwrap();
        if words.0 == "accept" {
            assert!(verdicts.iter().all(|verdict| verdict["verdict"] == "pass"), "{verdicts:#?}");
            assert_eq!(ended.unmet(), Vec::<&str>::new());
            assert!(ended.result.get("accountable").is_none_or(Value::is_null));
        } else {
            assert!(ended.result["accountable"].is_string(), "{:#}", ended.result);
            // Nothing is reported as done that is not: the summary names each unmet criterion.
            for unmet in ended.unmet() {
                assert!(ended.summary().contains(unmet), "{unmet}: {}", ended.summary());
            }
        }
        ended
    }

    /// Returns the payloads of this kind, in order.
    pub(crate) fn payloads(&self, kind: &str) -> Vec<&Value> {
        let kind = format!("setpoint.{kind}");
        self.records.iter().filter(|record| record["type"] == kind).map(|record| &record["data"]).collect()
    }

    /// Returns the states of the task, including the end.
    pub(crate) fn course(&self) -> String {
        let mut course = vec!["init"];
        course.extend(self.payloads("PlanDirective").iter().map(|one| one["directive"].as_str().unwrap()));
        let before = self.result["prev_directive"].as_str().unwrap();
        assert_eq!(course.last(), Some(&before));
        assert_eq!(self.result["replans"], course.len() - 1);
        course.push(self.result["directive"].as_str().unwrap());
        course.join("→")
    }

    pub(crate) fn unmet(&self) -> Vec<&str> {
        let list = self.result["unmet_criteria"].as_array();
        list.into_iter().flatten().map(|text| text.as_str().unwrap()).collect()
    }

    pub(crate) fn summary(&self) -> &str {
        self.result["summary"].as_str().unwrap()
    }

    pub(crate) fn accountable(&self) -> &str {
        self.result["accountable"].as_str().unwrap_or("nobody")
    }
}

/// Kinds of findings that report bad progress, not a broken rule of the system.
const NO_VIOLATIONS: [&str; 7] = [
    "constraint_relaxed",
    "convergence_failure",
    "cost_runaway",
    "ggs_thrashing",
    "role_drift",
    "task_stalled",
    "tool_unhealthy",
];

/// Asserts that the Auditor found no broken rule.
#[track_caller]
fn assert_no_rule_broken(home: &Home) {
    let log = std::fs::read_to_string(home.data().join("audit/log")).unwrap_or_default();
    for line in log.lines() {
        let entry: Value = serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
        let kind = entry["kind"].as_str().unwrap_or_default();
        assert!(entry["entry"] != "finding" || NO_VIOLATIONS.contains(&kind), "{entry:#}");
    }
}
