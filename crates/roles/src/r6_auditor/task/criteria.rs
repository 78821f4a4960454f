//! The task's criteria freeze with the first manifest: a replan may add criteria, and may openly withdraw the
//! planner's own; it may never drop or weaken one.

use setpoint_protocol::RoleId;
use setpoint_protocol::message::FindingKind;

use super::super::body::{Criterion, Manifest, Withdrawn};
use super::super::entry::Seen;
use super::{TaskWatch, Told};

/// Finding for a criterion whose check was replaced.
const OTHER_CHECK: &str = "has another check";

impl TaskWatch {
    pub(super) fn on_manifest(&mut self, seen: &Seen<'_>, manifest: Manifest, told: &mut Told) {
        self.asks.planned();
        told.count(super::Fact::Worked { role: RoleId::Planner, failed: false });
        self.fan_in.on_manifest(seen, &manifest, told);
        if manifest.round > self.settings.max_replans.saturating_add(1) {
            let text = format!(
                "round {} of a task that may be replanned {} times",
                manifest.round, self.settings.max_replans
            );
            told.find([seen.entry.finding(
                FindingKind::RetriesAboveBudget,
                RoleId::GoalGradientSolver,
                text,
            )]);
        }
        if !manifest.overridden_rules.is_empty() && self.is_news(FindingKind::ConstraintRelaxed) {
            let text = format!(
                "no plan was valid under what memory forbids; {} of its constraints were relaxed",
                manifest.overridden_rules.len()
            );
            told.find([seen.entry.finding(FindingKind::ConstraintRelaxed, RoleId::Planner, text)]);
        }
        for frozen in &self.criteria {
            let of_it = |one: &&Withdrawn| one.criterion_id == frozen.id;
            let is_withdrawn = manifest.withdrawn.iter().filter(of_it).any(|one| !one.check_replaced);
            let is_replaced = manifest.withdrawn.iter().filter(of_it).any(|one| one.check_replaced);
            if is_replaced && change(frozen, &manifest.task_criteria) == Some(OTHER_CHECK) {
                let text = format!("criterion {} of the task {OTHER_CHECK}, in the open", frozen.id);
                told.find([seen.entry.finding(FindingKind::CriterionWithdrawn, RoleId::Planner, text)]);
            } else if is_withdrawn && frozen.origin.is_planner() {
                let text = format!("criterion {} of the task was withdrawn", frozen.id);
                told.find([seen.entry.finding(FindingKind::CriterionWithdrawn, RoleId::Planner, text)]);
            } else if let Some(what) = change(frozen, &manifest.task_criteria) {
                let text = format!("criterion {} of the task {what}", frozen.id);
                told.find([seen.entry.finding(FindingKind::CriteriaChanged, RoleId::Planner, text)]);
            }
        }
        self.criteria = manifest.task_criteria;
    }
}

/// Returns how a frozen criterion was changed; `None` if it is unchanged.
fn change(frozen: &Criterion, now: &[Criterion]) -> Option<&'static str> {
    match now.iter().find(|criterion| criterion.id == frozen.id) {
        None => Some("was dropped"),
        Some(now) if now.criterion != frozen.criterion => Some("says something else now"),
        Some(now) if now.mode > frozen.mode => Some("was weakened from verifiable to plausible"),
        Some(now) if frozen.check.is_some() && now.check.is_none() => Some("lost its check"),
        Some(now) if now.check != frozen.check => Some(OTHER_CHECK),
        Some(_) => None,
    }
}
