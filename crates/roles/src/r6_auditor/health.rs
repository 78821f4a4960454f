//! The long-term health of roles, models and tools, and whether it changes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{ClaimRate, DriftRate, Finding, FindingKind, RoleHealth};

use super::entry::Entry;
use super::share::{Share, Shift};
use super::window::{NAMES_MAX, named};

/// Shares over all time.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Health {
    roles: Vec<RoleShare>,
    tools: BTreeMap<String, Share>,
    claims: BTreeMap<String, Claims>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RoleShare {
    role: RoleId,
    model: String,
    rate: DriftRate,
    share: Share,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Claims {
    claims: u64,
    refuted: u64,
}

impl Health {
    /// Counts an event of a role. Returns a finding if its share has changed.
    pub(super) fn role(
        &mut self,
        entry: &Entry<'_>,
        (role, model, rate): (RoleId, &str, DriftRate),
        happened: bool,
    ) -> Option<Finding> {
        let place = |roles: &[RoleShare], model: &str| {
            roles.iter().position(|one| one.role == role && one.rate == rate && one.model == model)
        };
        let known = place(&self.roles, model);
        let model = if known.is_some() || self.roles.len() < NAMES_MAX { model } else { "" };
        let at = known.or_else(|| place(&self.roles, model)).unwrap_or_else(|| {
            self.roles.push(RoleShare { role, model: model.to_owned(), rate, share: Share::default() });
            self.roles.len() - 1
        });
        let share = &mut self.roles.get_mut(at)?.share;
        // A validator that stops finding faults is a change too; for every other rate only a rise is reported.
        let shift = share.take(happened, rate == DriftRate::FailVerdict)?;
        let seen = share.seen;
        let of = if model.is_empty() { String::new() } else { format!(" with {model}") };
        let text = format!("{} of {}{of} {} ({seen} seen)", words(rate), role.label(), change(shift));
        Some(entry.finding(FindingKind::RoleDrift, role, text))
    }

    /// Counts a call of a tool. Returns a finding if it fails far more often than before.
    pub(super) fn tool(&mut self, entry: &Entry<'_>, tool: &str, failed: bool) -> Option<Finding> {
        let shift = named(&mut self.tools, tool).take(failed, false)?;
        let text = format!("the share of failed calls of {tool} {}", change(shift));
        Some(entry.finding(FindingKind::ToolUnhealthy, RoleId::Executor, text))
    }

    /// Counts a judged claim of R3.
    pub(super) fn claim(&mut self, model: &str, refuted: bool) {
        let claims = named(&mut self.claims, model);
        claims.claims += 1;
        claims.refuted += u64::from(refuted);
    }

    pub(super) fn roles(&self) -> Vec<RoleHealth> {
        let mut roles: Vec<RoleHealth> = self.roles.iter().map(health_of).collect();
        roles.sort_by(|a, b| (a.role, &a.model, a.rate).cmp(&(b.role, &b.model, b.rate)));
        roles
    }

    pub(super) fn claims(&self) -> Vec<ClaimRate> {
        let rate = |(model, claims): (&String, &Claims)| ClaimRate {
            model: model.clone(),
            claims: claims.claims,
            refuted: claims.refuted,
        };
        self.claims.iter().map(rate).collect()
    }
}

fn health_of(one: &RoleShare) -> RoleHealth {
    RoleHealth {
        role: one.role,
        model: one.model.clone(),
        rate: one.rate,
        seen: one.share.seen,
        happened: one.share.happened,
        mean: one.share.overall(),
        recent: one.share.recent,
        bound: one.share.bound(),
        score: one.share.score(),
    }
}

fn words(rate: DriftRate) -> &'static str {
    match rate {
        DriftRate::Retry => "the share of questions to the model that had to be asked again",
        DriftRate::Failure => "the share of failed work",
        DriftRate::FailVerdict => "the share of verdicts that are `fail`",
        DriftRate::Malformed => "the share of answers that could not be used",
    }
}

fn change(shift: Shift) -> String {
    let (before, now) = (shift.before * 100.0, shift.now * 100.0);
    let how = if shift.is_rise { "rose" } else { "fell" };
    format!("{how} from {before:.0} % to about {now:.0} %")
}
