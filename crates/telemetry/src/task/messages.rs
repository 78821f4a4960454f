//! Spans and events from the messages of a task: plans, verdicts, corrections, rounds, faults, the end.

use setpoint_protocol::message::{
    CorrectionSignal, FinalResult, Loss, MacroState, SubTaskOutcome, TaskFault, Verdict, VerdictWord,
};
use setpoint_protocol::record::Record;
use setpoint_protocol::topology::Payload;
use setpoint_protocol::{Address, RoleId};

use super::{TaskTrace, maybe, suffix, word};
use crate::attribute as names;
use crate::attribute::{Attribute, Value};
use crate::measure::{Instrument, Measure};

impl TaskTrace {
    /// Applies a message, after its sender's activity and before those of its receivers.
    pub(super) fn message(&mut self, record: &Record, payload: Payload) {
        let from = Some(record.from);
        match payload {
            Payload::UserInput(input) => {
                let goal = self.content(names::GOAL, &input.raw_input);
                self.know(goal);
            }
            Payload::TaskSpec(_) => self.end_activity(record.from),
            Payload::DispatchManifest(manifest) => {
                if let Some(plan) = &mut self.plan {
                    plan.attributes.extend([
                        (names::PLAN_SUBTASKS, (manifest.subtasks.len() as u64).into()),
                        (names::PLAN_FINGERPRINT, manifest.plan_fingerprint.into()),
                    ]);
                }
                self.end_plan(record.at);
            }
            Payload::CorrectionSignal(signal) => self.corrected(record, &signal),
            Payload::SubTaskOutcome(outcome) => self.judged(record, &outcome),
            Payload::OutcomeSummary(summary) => {
                self.verdicts(record, &summary.task_criteria_verdicts);
            }
            Payload::ReplanRequest(request) => {
                self.verdicts(record, request.task_criteria_verdicts.as_deref().unwrap_or_default());
            }
            Payload::TaskFault(fault) => self.faulted(record, &fault),
            Payload::PlanDirective(directive) => {
                let decided = MacroState::from(directive.directive);
                let facts = self.round_facts(&directive.loss, directive.grad_l, decided, None);
                self.tell(from, record, names::ROUND, facts);
                self.end_round(record.at);
                self.round = self.round.saturating_add(1);
            }
            Payload::FinalResult(result) => self.finished(record, &result),
            Payload::DirectAnswer(_) => {
                self.know([(names::ENDED_BY, "direct_answer".into())]);
                self.end_task(record);
            }
            _ => {}
        }
    }

    /// Begins the span of R2's plan, when R2 has received its input.
    pub(super) fn begin_plan(&mut self, record: &Record) {
        let planner = RoleId::Planner;
        let parent = self.activities.get(&Address::singleton(planner)).map(|activity| activity.id);
        let Some(parent) = parent else { return };
        // A plan that was never dispatched, or whose dispatch cannot be read.
        self.end_plan(record.at);
        let mut plan = self.span(record, "plan", Some(parent), format!("plan {planner}"));
        plan.attributes = vec![
            (names::OPERATION_NAME, names::PLAN.into()),
            (names::AGENT_NAME, planner.name().into()),
            (names::AGENT_ID, planner.name().into()),
            (names::ROLE, planner.label().into()),
            (names::ROUND, self.round.into()),
        ];
        self.plan = Some(plan);
    }

    /// Adds attributes to the task's span.
    fn know(&mut self, attributes: impl IntoIterator<Item = Attribute>) {
        if let Some(root) = &mut self.root {
            root.attributes.extend(attributes);
        }
    }

    fn corrected(&mut self, record: &Record, signal: &CorrectionSignal) {
        let ids = signal.failed_criteria.iter().map(ToString::to_string).collect();
        let mut attributes =
            vec![(names::ATTEMPT, signal.attempt_number.into()), (names::FAILED_CRITERIA, Value::Texts(ids))];
        attributes.extend(maybe(names::FAILURE_CLASS, signal.failure_class.map(word)));
        attributes.extend(self.content(names::REASON, &signal.what_was_wrong));
        self.tell(Some(record.from), record, names::CORRECTION, attributes);
    }

    /// Ends the activities of an effector.
    fn judged(&mut self, record: &Record, outcome: &SubTaskOutcome) {
        self.verdicts(record, &outcome.criteria_verdicts);
        for role in [RoleId::Executor, RoleId::AgentValidator] {
            let address = Address::effector(role, record.from.instance);
            if let Some(activity) = self.activities.get_mut(&address) {
                activity.attributes.extend([
                    (names::SUBTASK_ID, outcome.subtask_id.to_string().into()),
                    (names::OUTCOME, word(outcome.status).into()),
                ]);
            }
            self.end_activity(address);
        }
    }

    /// Adds an event per verdict to the activity of the sender.
    fn verdicts(&mut self, record: &Record, verdicts: &[Verdict]) {
        for verdict in verdicts {
            let (label, value) = match verdict.verdict {
                VerdictWord::Pass => ("pass", 1.0),
                VerdictWord::Fail => ("fail", 0.0),
            };
            let mut attributes = vec![
                (names::EVALUATION_NAME, verdict.criterion_id.to_string().into()),
                (names::EVALUATION_LABEL, label.into()),
                (names::EVALUATION_VALUE, value.into()),
                (names::JUDGED_BY, word(verdict.judged_by).into()),
                (names::VACUOUS, verdict.vacuous.into()),
            ];
            attributes.extend(maybe(names::FAILURE_CLASS, verdict.failure_class.map(word)));
            attributes.extend(self.content(names::CRITERION, &verdict.criterion));
            attributes.extend(self.content(names::EVALUATION_EXPLANATION, &verdict.evidence));
            self.tell(Some(record.from), record, names::EVALUATION_RESULT, attributes);
        }
    }

    /// Adds a fault to the task's span, and marks the activity of the reporting role as failed.
    fn faulted(&mut self, record: &Record, fault: &TaskFault) {
        let mut attributes = vec![
            (names::AGENT_NAME, fault.role.name().into()),
            (names::FAULT_KIND, word(fault.kind).into()),
            (names::RETRYABLE, fault.retryable.into()),
        ];
        attributes.extend(maybe(names::FAILURE_CLASS, fault.failure_class.map(word)));
        attributes.extend(self.content(names::REASON, &fault.reason));
        self.tell(None, record, names::FAULT, attributes);
        if let Some(activity) = self.activities.get_mut(&record.from) {
            activity.error = Some(word(fault.kind));
        }
    }

    /// Returns R7's decision on a round as attributes for the event, after adding them to its activity.
    fn round_facts(
        &mut self,
        loss: &Loss,
        grad_l: f64,
        decided: MacroState,
        ended_by: Option<&'static str>,
    ) -> Vec<Attribute> {
        let mut facts = vec![
            (names::LOSS_D, loss.d.into()),
            (names::LOSS_P, loss.p.into()),
            (names::LOSS_OMEGA, loss.omega.into()),
            (names::LOSS_L, loss.l.into()),
            (names::GRAD_L, grad_l.into()),
            (names::DIRECTIVE, decided.name().into()),
        ];
        facts.extend(maybe(names::ENDED_BY, ended_by));
        let controller = Address::singleton(RoleId::GoalGradientSolver);
        if let Some(activity) = self.activities.get_mut(&controller) {
            activity.attributes.extend(facts.iter().cloned());
        }
        facts.push((names::ROUND, self.round.into()));
        facts
    }

    fn finished(&mut self, record: &Record, result: &FinalResult) {
        let decided = MacroState::from(result.directive);
        let ended_by = result.ended_by.name();
        let facts = self.round_facts(&result.loss, result.grad_l, decided, Some(ended_by));
        self.know(facts.clone());
        self.tell(Some(record.from), record, names::ROUND, facts);
        let usage = &result.usage;
        let mut known = vec![
            (names::REPLANS, result.replans.into()),
            (names::CALLS, usage.calls.into()),
            (names::TOOL_CALLS, usage.tool_calls.into()),
            (names::TOKENS_IN, usage.tokens_in.into()),
            (names::TOKENS_OUT, usage.tokens_out.into()),
        ];
        known.extend(maybe(names::COST, usage.cost.map(|cost| cost.units())));
        known.extend(maybe(names::ACCOUNTABLE, result.accountable.map(RoleId::name)));
        known.extend(self.content(names::SUMMARY, &result.summary));
        self.know(known);
        if decided == MacroState::Abandon
            && let Some(root) = &mut self.root
        {
            root.error = Some(ended_by.to_owned());
        }
        self.measure_end(record, result, decided, ended_by);
        self.end_task(record);
    }

    fn measure_end(
        &mut self,
        record: &Record,
        result: &FinalResult,
        decided: MacroState,
        ended_by: &'static str,
    ) {
        let end: Vec<Attribute> =
            vec![(names::DIRECTIVE, decided.name().into()), (names::ENDED_BY, ended_by.into())];
        let seconds =
            self.root.as_ref().map_or(0, |root| record.at.millis_since(root.start)) as f64 / 1_000.0;
        for (instrument, value) in [
            (Instrument::Tasks, 1.0),
            (Instrument::Rounds, f64::from(self.round)),
            (Instrument::TaskSeconds, seconds),
        ] {
            self.told.measures.push(Measure { instrument, value, attributes: end.clone() });
        }
        let Loss { d, p, omega, l } = result.loss;
        for (component, value) in [("d", d), ("p", p), ("omega", omega), ("l", l)] {
            let attributes = vec![(names::LOSS_COMPONENT, component.into())];
            self.told.measures.push(Measure { instrument: Instrument::Loss, value, attributes });
        }
    }

    /// Ends the task. Its own span ends last.
    fn end_task(&mut self, record: &Record) {
        self.end_calls(record);
        self.end_round(record.at);
        let id: String = match self.content {
            super::Content::Exported => self.task.to_string(),
            super::Content::Omitted => suffix(&self.task).to_owned(),
        };
        self.know([(names::TASK_ID, id.into())]);
        if let Some(mut root) = self.root.take() {
            root.end = root.end.max(record.at);
            self.told.spans.push(root);
        }
        self.is_ended = true;
    }
}
