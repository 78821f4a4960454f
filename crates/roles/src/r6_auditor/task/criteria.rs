//! The task's criteria freeze with the first manifest: a replan may add criteria, and may openly withdraw the
//! planner's own; it may never drop or weaken one.

use setpoint_protocol::RoleId;
use setpoint_protocol::message::FindingKind;

use super::super::body::{Criterion, Manifest};
use super::told::{Fact, RecordReading};
use super::watch::TaskWatch;

/// Finding for a criterion whose check was replaced.
const OTHER_CHECK: &str = "has another check";

impl TaskWatch {
    pub(super) fn on_manifest(&mut self, manifest: Manifest, told: &mut RecordReading<'_>) {
        self.asks.planned();
        told.count(Fact::Worked { role: RoleId::Planner, failed: false });
        self.fan_in.on_manifest(&manifest, told);
        let (round, replans_max) = (manifest.round, self.settings.max_replans);
        if round > replans_max.saturating_add(1) {
            let text = format!("round {round} of a task that may be replanned {replans_max} times");
            told.find(FindingKind::RetriesAboveBudget, RoleId::GoalGradientSolver, text);
        }
        if !manifest.overridden_rules.is_empty() && self.is_news(FindingKind::ConstraintRelaxed) {
            let text = format!(
                "no plan was valid under what memory forbids; {} of its constraints were relaxed",
                manifest.overridden_rules.len()
            );
            told.find(FindingKind::ConstraintRelaxed, RoleId::Planner, text);
        }
        for frozen in &self.criteria {
            check_frozen(frozen, &manifest, told);
        }
        self.criteria = manifest.task_criteria;
    }
}

/// Reports a change to a criterion that may not change.
fn check_frozen(frozen: &Criterion, manifest: &Manifest, told: &mut RecordReading<'_>) {
    let mut own = manifest.withdrawn.iter().filter(|one| one.criterion_id == frozen.id);
    let is_withdrawn = own.clone().any(|one| !one.check_replaced);
    let is_replaced = own.any(|one| one.check_replaced);
    let change = change(frozen, &manifest.task_criteria);
    let (kind, what) = if is_replaced && change == Some(OTHER_CHECK) {
        (FindingKind::CriterionWithdrawn, "has another check, in the open")
    } else if is_withdrawn && frozen.origin.is_planner() {
        (FindingKind::CriterionWithdrawn, "was withdrawn")
    } else if let Some(what) = change {
        (FindingKind::CriteriaChanged, what)
    } else {
        return;
    };
    told.find(kind, RoleId::Planner, format!("criterion {} of the task {what}", frozen.id));
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
