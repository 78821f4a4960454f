//! What memory's reply means for a round: lines under fixed headings, and limits that code enforces on a plan.
//!
//! | memory | what it means |
//! |---|---|
//! | the pair says Exploit | SHOULD PREFER the approach of its positive records |
//! | the pair says Avoid | MUST NOT repeat the plan of a negative record, unless a positive one had the same plan |
//! | the pair says Caution | CAUTION; the tools of its records need approval or the strictest sandbox |
//! | a call is avoided | MUST NOT make it: the target is blocked for that tool |
//! | a tool's sums, from three tasks on, say Avoid or Caution | CAUTION, never more: mostly blame is recorded there |
//! | a rule in force | SHOULD PREFER a best practice, MUST NOT a constraint |
//! | other intents' records and rules that share words with this one | RELATED: shown, never enforced |
//! | hypotheses, when symmetry is to be broken | MIGHT TRY |
//! | what the operator stated | a fact |

use std::collections::BTreeSet;

use setpoint_machine::brief::{CalibrationLine, Heading};
use setpoint_protocol::ToolId;
use setpoint_protocol::message::{
    ApproachName, Availability, AvoidedCall, Limits, Megram, MemoryAction, MemoryReply, RuleRef, SopKind,
    SopRecord, ToolPotentials,
};

use crate::blocking::target_name;
use crate::line::one_line;

/// Maximum characters of the intent that are used to look up records of other intents.
pub(super) const ABOUT_CHARS_MAX: usize = 1_000;
/// At most this many records of other intents are shown.
const RELATED_MAX: usize = 5;
/// At most this many records of the pair are read.
pub(super) const RECORDS_MAX: u32 = 10;
/// At most this many lines per heading; the first are kept.
const LINES_MAX: usize = 10;
/// At most this many facts; memory stores no more.
const FACTS_MAX: usize = 32;
/// Maximum length of a line in characters; a longer one is cut with a mark.
const LINE_CHARS_MAX: usize = 400;
/// At most this many avoided calls; the first are kept.
const AVOIDED_MAX: usize = 64;
/// A tool's sums count after at least this many tasks.
const TOOL_TASKS_MIN: u32 = 3;

/// What memory tells a round; empty if memory could not be asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Calibration {
    /// Lines for the model, by heading.
    pub(super) lines: Vec<CalibrationLine>,
    /// Playbook approaches that worked, strongest first.
    pub(super) preferred: Vec<ApproachName>,
    /// Best practices shown to the plan.
    pub(super) applied: Vec<RuleRef>,
    /// Tools whose calls with side effects need approval or the strictest sandbox.
    pub(super) caution_tools: Vec<ToolId>,
    /// What a plan must not do. Dropped when memory's part is relaxed.
    pub(super) must_not: MustNot,
}

/// Memory's part of what a plan must not do, with the evidence.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MustNot {
    /// Blocked targets, as the limits name them.
    pub(super) targets: Vec<(String, RuleRef)>,
    /// Fingerprints of plans that failed and never worked.
    pub(super) plans: Vec<(String, RuleRef)>,
    /// Constraints. They are shown and not enforced, but an accept against all of this counts against them, too.
    pub(super) constraints: Vec<RuleRef>,
}

impl MustNot {
    /// Returns whether there is anything that code would enforce.
    pub(super) fn is_empty(&self) -> bool {
        self.targets.is_empty() && self.plans.is_empty()
    }

    /// Returns the distinct rules that are overridden when this is dropped.
    pub(super) fn rules(&self) -> Vec<RuleRef> {
        let targets = self.targets.iter().chain(&self.plans).map(|(_, rule)| rule);
        let mut seen = BTreeSet::new();
        targets.chain(&self.constraints).filter(|rule| seen.insert(rule.id.clone())).cloned().collect()
    }

    /// Returns why the plan with this fingerprint is forbidden; `None` if it is not.
    pub(super) fn refusal(&self, fingerprint: &str) -> Option<&'static str> {
        let is_known = self.plans.iter().any(|(plan, _)| plan == fingerprint);
        is_known.then_some("failed in an earlier task, as memory has it; take another way")
    }

    /// Adds the blocked targets to the limits of a plan.
    pub(super) fn add_to(&self, limits: &mut Limits) {
        for (target, _) in &self.targets {
            if !limits.blocked_targets.contains(target) {
                limits.blocked_targets.push(target.clone());
            }
        }
    }
}

impl Calibration {
    /// Reads memory's reply.
    pub(super) fn of(reply: &MemoryReply) -> Self {
        let mut calibration = Calibration::default();
        if reply.availability == Availability::Unavailable {
            return calibration;
        }
        calibration.add_rules(&reply.rules);
        calibration.add_avoided(&reply.avoided);
        calibration.add_records(reply.potentials.action, &reply.records);
        calibration.add_tools(&reply.tools);
        calibration.add_related(&reply.related);
        for hypothesis in reply.hypotheses.iter().take(RELATED_MAX) {
            calibration.line(Heading::MightTry, &record_line(hypothesis));
        }
        for fact in &reply.facts {
            calibration.line(Heading::UserFact, &fact.content.lesson);
        }
        calibration.lines.sort_by_key(|line| line.heading);
        calibration
    }

    fn add_rules(&mut self, rules: &[SopRecord]) {
        for rule in rules {
            let (heading, rules) = match rule.kind {
                SopKind::BestPractice => (Heading::ShouldPrefer, &mut self.applied),
                SopKind::Constraint => (Heading::MustNot, &mut self.must_not.constraints),
            };
            let (id, space, entity) = (rule.id.clone(), rule.space.clone(), rule.entity.clone());
            rules.push(RuleRef { id, space, entity });
            if rule.kind == SopKind::BestPractice {
                self.prefer(&rule.approaches);
            }
            self.line(heading, &format!("{} (a rule made of several tasks)", rule.rule.trim()));
        }
    }

    fn add_avoided(&mut self, avoided: &[AvoidedCall]) {
        for call in avoided.iter().take(AVOIDED_MAX) {
            let target = target_name(call.tool.as_str(), &call.target);
            let shown = one_line(&call.target, LINE_CHARS_MAX / 2);
            let why = &call.evidence.content.lesson;
            self.line(Heading::MustNot, &format!("call `{}` on `{shown}`: {why}", call.tool));
            self.must_not.targets.push((target, rule_of(&call.evidence)));
        }
    }

    fn add_records(&mut self, action: MemoryAction, records: &[Megram]) {
        let records = records.iter().take(RECORDS_MAX as usize);
        let (good, rest): (Vec<&Megram>, Vec<&Megram>) = records.partition(|record| record.sigma > 0.0);
        let bad: Vec<&Megram> = rest.into_iter().filter(|record| record.sigma < 0.0).collect();
        match action {
            MemoryAction::Ignore => {}
            MemoryAction::Exploit => {
                for record in good {
                    self.line(Heading::ShouldPrefer, &record_line(record));
                    self.prefer(&record.content.approaches);
                }
            }
            MemoryAction::Avoid => {
                let worked: BTreeSet<&String> =
                    good.iter().filter_map(|record| record.content.plan_fingerprint.as_ref()).collect();
                for record in bad {
                    let plan = record.content.plan_fingerprint.as_ref().filter(|plan| !worked.contains(plan));
                    if let Some(plan) = plan {
                        self.must_not.plans.push((plan.clone(), rule_of(record)));
                    }
                    self.line(Heading::MustNot, &format!("repeat what failed: {}", record_line(record)));
                }
            }
            MemoryAction::Caution => {
                for record in good.into_iter().chain(bad) {
                    let how = if record.sigma > 0.0 { "it worked" } else { "it failed" };
                    self.line(Heading::Caution, &format!("{how} before: {}", record_line(record)));
                    for tool in &record.content.tools {
                        self.caution(tool);
                    }
                }
            }
        }
    }

    fn add_related(&mut self, records: &[Megram]) {
        for record in records.iter().take(RELATED_MAX) {
            let how = match record.sigma {
                sigma if sigma > 0.0 => "it worked: ",
                sigma if sigma < 0.0 => "it failed: ",
                _ => "",
            };
            self.line(Heading::Related, &format!("{how}{}", record_line(record)));
        }
    }

    fn add_tools(&mut self, tools: &[ToolPotentials]) {
        let is_told = |tool: &&ToolPotentials| {
            tool.tasks >= TOOL_TASKS_MIN
                && matches!(tool.potentials.action, MemoryAction::Avoid | MemoryAction::Caution)
        };
        for ToolPotentials { tool, tasks, .. } in tools.iter().filter(is_told) {
            self.line(Heading::Caution, &format!("`{tool}` often led to no result, in {tasks} tasks"));
            self.caution(tool);
        }
    }

    fn prefer(&mut self, approaches: &[ApproachName]) {
        for approach in approaches {
            if !self.preferred.contains(approach) && self.preferred.len() < LINES_MAX {
                self.preferred.push(approach.clone());
            }
        }
    }

    fn caution(&mut self, tool: &ToolId) {
        if !self.caution_tools.contains(tool) {
            self.caution_tools.push(tool.clone());
        }
    }

    fn line(&mut self, heading: Heading, text: &str) {
        let text = one_line(text, LINE_CHARS_MAX);
        let line = CalibrationLine { heading, text };
        let max = if heading == Heading::UserFact { FACTS_MAX } else { LINES_MAX };
        let is_full = self.lines.iter().filter(|other| other.heading == heading).count() >= max;
        if !line.text.is_empty() && !is_full && !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }
}

/// Returns a record as one line: what was learned, with which tools, and what was not met.
fn record_line(record: &Megram) -> String {
    let content = &record.content;
    let mut text = content.lesson.trim().to_owned();
    if !content.tools.is_empty() {
        let tools: Vec<&str> = content.tools.iter().map(ToolId::as_str).collect();
        text.push_str(&format!(" [tools: {}]", tools.join(", ")));
    }
    if !content.targets.is_empty() {
        text.push_str(&format!(" [on: {}]", content.targets.join(", ")));
    }
    text
}

fn rule_of(record: &Megram) -> RuleRef {
    RuleRef { id: record.id.clone(), space: record.space.clone(), entity: record.entity.clone() }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    use super::*;

    fn record(n: u32, sigma: f64, plan: &str) -> Value {
        json!({
            "id": format!("00000000-0000-7000-8000-{n:012}"), "level": "M", "created_at": "2026-03-01T09:00:00Z",
            "space": "intent:count", "entity": "env:local", "f": 0.9, "sigma": sigma, "k": 0.05,
            "content": {
                "lesson": format!("lesson {n}"), "category": "procedure", "tools": [format!("tool{n}")],
                "targets": [format!("/t{n}")], "plan_fingerprint": plan,
                "approaches": [{ "playbook": "count", "approach": format!("way{n}"), "variant": "deep" }],
            },
        })
    }

    fn check(reply: &Value, expected: &Expect) {
        let mut reply = reply.clone();
        reply["call_id"] = json!("r2/1");
        reply["availability"] = json!("available");
        let reply: MemoryReply = serde_json::from_value(reply).unwrap();
        let Calibration { lines, preferred, applied, caution_tools, must_not } = Calibration::of(&reply);
        let mut text = String::new();
        for line in lines {
            text += &format!("{:?}: {}\n", line.heading, line.text);
        }
        let ids = |rules: &[RuleRef]| {
            rules
                .iter()
                .map(|rule| rule.id.as_str().get(34..).unwrap().to_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        for ApproachName { playbook, approach, variant } in preferred {
            text += &format!("preferred {playbook}/{approach} {variant:?}\n");
        }
        text += &format!("applied {}; ", ids(&applied));
        text +=
            &format!("caution {}; ", caution_tools.iter().map(ToolId::as_str).collect::<Vec<_>>().join(" "));
        for (what, rule) in must_not.targets.iter().chain(&must_not.plans) {
            text += &format!("not {what} ({}); ", ids(std::slice::from_ref(rule)));
        }
        text += &format!("overridden {}", ids(&must_not.rules()));
        expected.assert_eq(&text);
    }

    fn pair(action: &str) -> Value {
        let records = [record(1, 1.0, "a"), record(2, -1.0, "b"), record(3, -1.0, "a"), record(4, 0.0, "c")];
        json!({
            "potentials": { "attention": 2.0, "decision": 0.0, "action": action }, "records": records,
        })
    }

    #[test]
    fn each_policy_action_gives_its_own_lines() {
        check(&pair("ignore"), &expect!["applied ; caution ; overridden "]);
        check(
            &pair("exploit"),
            &expect![[r#"
                ShouldPrefer: lesson 1 [tools: tool1] [on: /t1]
                preferred count/way1 Some("deep")
                applied ; caution ; overridden "#]],
        );
        check(
            &pair("avoid"),
            &expect![[r#"
                MustNot: repeat what failed: lesson 2 [tools: tool2] [on: /t2]
                MustNot: repeat what failed: lesson 3 [tools: tool3] [on: /t3]
                applied ; caution ; not b (02); overridden 02"#]],
        );
        check(
            &pair("caution"),
            &expect![[r#"
                Caution: it worked before: lesson 1 [tools: tool1] [on: /t1]
                Caution: it failed before: lesson 2 [tools: tool2] [on: /t2]
                Caution: it failed before: lesson 3 [tools: tool3] [on: /t3]
                applied ; caution tool1 tool2 tool3; overridden "#]],
        );
    }

    #[test]
    fn a_tool_gets_at_most_a_caution_and_only_from_three_tasks_on() {
        let tool = |name: &str, action: &str, tasks: u32| {
            json!({ "tool": name, "tasks": tasks,
                "potentials": { "attention": 9.0, "decision": -9.0, "action": action } })
        };
        let tools = [
            tool("shell", "avoid", 2),
            tool("fetch", "avoid", 3),
            tool("search", "caution", 9),
            tool("glob", "exploit", 9),
            tool("grep", "ignore", 9),
        ];
        check(
            &json!({ "tools": tools }),
            &expect![[r#"
                Caution: `fetch` often led to no result, in 3 tasks
                Caution: `search` often led to no result, in 9 tasks
                applied ; caution fetch search; overridden "#]],
        );
    }

    #[test]
    fn rules_calls_and_facts_have_their_headings() {
        let rule = |n: u32, kind: &str| {
            json!({ "id": format!("00000000-0000-7000-8000-{n:012}"), "kind": kind, "rule": format!("rule {n}."),
                "space": "intent:count", "entity": "env:local" })
        };
        let reply = json!({
            "rules": [rule(50, "best_practice"), rule(51, "constraint")],
            "facts": [record(60, 1.0, "")],
            "avoided": [{ "tool": "fetch", "target": "https://a\n.example", "evidence": record(70, -1.0, "x"),
                "potentials": { "attention": 0.85, "decision": -0.85, "action": "avoid" } }],
        });
        check(
            &reply,
            &expect![[r#"
                MustNot: rule 51. (a rule made of several tasks)
                MustNot: call `fetch` on `https://a .example`: lesson 70
                ShouldPrefer: rule 50. (a rule made of several tasks)
                UserFact: lesson 60
                applied 50; caution ; not fetch: https://a
                .example (70); overridden 70 51"#]],
        );
    }

    #[test]
    fn related_records_are_shown_and_not_enforced() {
        let related: Vec<Value> = [(1, 1.0), (2, -1.0), (3, 0.0), (4, 1.0), (5, 1.0), (6, 1.0)]
            .into_iter()
            .map(|(n, sigma)| record(n, sigma, "p"))
            .collect();
        check(
            &json!({ "related": related }),
            &expect![[r#"
                Related: it worked: lesson 1 [tools: tool1] [on: /t1]
                Related: it failed: lesson 2 [tools: tool2] [on: /t2]
                Related: lesson 3 [tools: tool3] [on: /t3]
                Related: it worked: lesson 4 [tools: tool4] [on: /t4]
                Related: it worked: lesson 5 [tools: tool5] [on: /t5]
                applied ; caution ; overridden "#]],
        );
    }

    #[test]
    fn excess_entries_of_memory_are_cut() {
        let facts: Vec<Value> = (0..50).map(|n| record(n, 1.0, "")).collect();
        let mut records: Vec<Value> = (0..50).map(|n| record(n, -1.0, &format!("p{n}"))).collect();
        records[0]["content"]["lesson"] = json!("long ".repeat(1_000));
        let reply: MemoryReply = serde_json::from_value(json!({
            "call_id": "r2/1", "availability": "available", "facts": facts, "records": records,
            "potentials": { "attention": 9.0, "decision": -9.0, "action": "avoid" },
        }))
        .unwrap();
        let calibration = Calibration::of(&reply);
        assert_eq!(calibration.lines.len(), 10 + 32);
        assert!(calibration.lines.iter().all(|line| line.text.chars().count() <= LINE_CHARS_MAX));
        assert_eq!(calibration.must_not.plans.len(), 10);
    }

    #[test]
    fn unavailable_memory_gives_no_calibration() {
        let reply =
            json!({ "call_id": "r2/1", "availability": "unavailable", "facts": [record(1, 1.0, "")] });
        let reply: MemoryReply = serde_json::from_value(reply).unwrap();
        assert_eq!(Calibration::of(&reply), Calibration::default());
    }
}
