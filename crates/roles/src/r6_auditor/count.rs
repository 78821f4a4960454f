//! Counts the facts of a record over all tasks, and compares a task's cost with the usual one.

use setpoint_protocol::message::{DriftRate, Finding, FindingKind};
use setpoint_protocol::{RoleId, TaskId};

use super::entry::Entry;
use super::machine::Auditor;
use super::task::{AnswerOutcome, Fact, TaskWatch};
use super::window::count_end;

impl Auditor {
    /// Counts a fact. Returns a finding if a share has changed.
    pub(super) fn count(&mut self, entry: &Entry<'_>, watch: &TaskWatch, fact: Fact) -> Option<Finding> {
        let mut of_role = |role, rate, happened| {
            self.health.role(entry, (role, watch.models.of(role).name.as_str(), rate), happened)
        };
        match fact {
            Fact::Answer(came) => return self.count_call(entry, came),
            Fact::Worked { role, failed } => return of_role(role, DriftRate::Failure, failed),
            Fact::Judged { role, failed } => return of_role(role, DriftRate::FailVerdict, failed),
            Fact::Claimed { refuted } => {
                self.health.claim(watch.models.of(RoleId::Executor).name.as_str(), refuted);
            }
            Fact::Corrected => {
                self.window.corrections += 1;
                self.totals.corrections += 1;
            }
            Fact::Replanned => self.totals.replans += 1,
            Fact::IsTask => self.totals.tasks += 1,
            Fact::Ended(end) => {
                count_end(&mut self.totals, end);
                // The tokens inherited by a fork were spent elsewhere, so they say nothing about the usual cost of a
                // task.
                if !watch.is_fork() {
                    self.cost.ended(watch.tokens);
                }
            }
        }
        None
    }

    fn count_call(&mut self, entry: &Entry<'_>, came: AnswerOutcome) -> Option<Finding> {
        match came {
            AnswerOutcome::Model { model, failure, is_cut, duration_ms, tokens } => {
                self.window.model(&model, failure, is_cut, duration_ms);
                self.totals.tokens = self.totals.tokens.saturating_add(tokens);
                None
            }
            AnswerOutcome::AttemptAnew => {
                self.totals.model_calls += 1;
                None
            }
            AnswerOutcome::Attempt { role, model, is_retry } => {
                self.totals.model_calls += 1;
                if is_retry {
                    self.window.retried(&model);
                }
                self.health.role(entry, (role, &model, DriftRate::Retry), is_retry)
            }
            AnswerOutcome::Used { role, model, malformed } => {
                if malformed {
                    self.window.malformed(&model);
                }
                self.health.role(entry, (role, &model, DriftRate::Malformed), malformed)
            }
            AnswerOutcome::Tool { tool, ok, error, duration_ms } => {
                self.totals.tool_calls += 1;
                self.window.tool(&tool, ok, error, duration_ms);
                self.health.tool(entry, &tool, !ok)
            }
        }
    }

    /// Reports a task that costs far more than usual, once.
    pub(super) fn check_cost(&mut self, entry: &Entry<'_>, watch: &mut TaskWatch) -> Option<Finding> {
        let mean = self.cost.mean_if_runaway(watch.tokens)?;
        watch.is_news(FindingKind::CostRunaway).then(|| {
            let text = format!("{} tokens so far; a task uses {mean:.0} here", watch.tokens);
            entry.finding(FindingKind::CostRunaway, RoleId::GoalGradientSolver, text)
        })
    }

    /// Stores the rounds of a task in the window, if there are new ones.
    pub(super) fn note_trend(&mut self, task: &TaskId, watch: &TaskWatch, is_ended: bool) {
        let Some(trend) = watch.trend(task, is_ended) else { return };
        let known = self.window.trends.iter().find(|one| one.task_id == *task);
        let is_news = known.is_none_or(|one| one.rounds.len() != trend.rounds.len());
        if is_news || is_ended {
            self.window.trend(trend);
        }
    }
}
