//! Whether a record is allowed at all: its sender, its receivers, and whether its sender has the capability that it
//! uses.

use setpoint_protocol::capability::Capability;
use setpoint_protocol::memory::MEMORY_ACT_KIND;
use setpoint_protocol::message::{Finding, FindingKind};
use setpoint_protocol::record::{Purpose, RecordKind};
use setpoint_protocol::tool::Effect;
use setpoint_protocol::topology::{Kind, allows, may};
use setpoint_protocol::{Address, RoleId};

use super::body::Ask;
use super::entry::{Entry, ParsedRow};

/// Checks a record's columns.
pub(super) fn check(seen: &ParsedRow<'_>) -> Option<Finding> {
    let entry = &seen.entry;
    let from = seen.from.role;
    match seen.kind {
        RecordKind::Message(kind) => {
            let route = kind.route();
            let is_whole = seen.to.len() == route.to.len()
                && route.to.iter().zip(&seen.to).all(|(role, to)| *role == to.role);
            if is_whole && seen.to.iter().all(|to| allows(from, to.role, kind)) {
                return None;
            }
            let is_memory = matches!(kind, Kind::Megram | Kind::NegativeFeedback);
            let what = if is_memory { FindingKind::MemoryWrite } else { FindingKind::BoundaryViolation };
            let text = format!("{kind} from {} to {}: no route allows it", seen.from, entry.to);
            Some(entry.finding(what, from, text))
        }
        // Asks go to the runtime, which alone reports their results.
        RecordKind::Asked => (!from.lives_in_cell() || !is_runtime(&seen.to)).then(|| {
            let text = format!("an ask from {} to {}", seen.from, entry.to);
            entry.finding(FindingKind::BoundaryViolation, from, text)
        }),
        kind @ (RecordKind::Opened
        | RecordKind::Reasked
        | RecordKind::Answered
        | RecordKind::Quiesced
        | RecordKind::Poisoned) => (from != RoleId::Runtime).then(|| {
            let text = format!("{kind} from {}: only the runtime says that", seen.from);
            entry.finding(FindingKind::BoundaryViolation, from, text)
        }),
    }
}

fn is_runtime(to: &[Address]) -> bool {
    matches!(to, [only] if only.role == RoleId::Runtime)
}

/// Returns the role that asks a model for this purpose.
fn role_for(purpose: Purpose) -> RoleId {
    match purpose {
        Purpose::Perceive => RoleId::Perceiver,
        Purpose::Plan | Purpose::Report => RoleId::Planner,
        Purpose::Execute => RoleId::Executor,
        Purpose::Judge => RoleId::AgentValidator,
        Purpose::Merge => RoleId::MetaValidator,
        Purpose::Distil | Purpose::Reflect => RoleId::Memory,
    }
}

/// Checks whether a role asks for a capability that it does not have, or for another role's purpose.
pub(super) fn check_ask(seen: &ParsedRow<'_>, ask: &Ask) -> Option<Finding> {
    let role = seen.from.role;
    let (is_able, what) = match ask {
        Ask::Model { purpose } => {
            let able = may(role, Capability::CallModel) && role == role_for(*purpose);
            (able, format!("a model ({})", purpose.name()))
        }
        Ask::Tool { call, effect: Effect::ReadOnly, .. } => {
            let able = may(role, Capability::RunProbe) || may(role, Capability::RunTool);
            (able, format!("a reading call of {}", call.tool))
        }
        Ask::Tool { call, effect: Effect::Unsafe, .. } => {
            (may(role, Capability::RunTool), format!("a call of {} that may change something", call.tool))
        }
        Ask::Survey {} => (may(role, Capability::Survey), "a survey".to_owned()),
        Ask::Timer {} => (true, String::new()),
    };
    (!is_able).then(|| {
        let text = format!("{} asked for {what}, which it may not", seen.from);
        seen.entry.finding(FindingKind::BoundaryViolation, role, text)
    })
}

/// Checks a record that belongs to no task.
pub(super) fn check_system(entry: &Entry<'_>) -> Option<Finding> {
    if entry.is_loss {
        let text = "records of the journal were lost, and the operator went on without them";
        return Some(entry.finding(FindingKind::JournalLoss, RoleId::Runtime, text));
    }
    if entry.is_pruning {
        return None;
    }
    let from: Result<Address, _> = entry.from.parse();
    let role = from.map(|address| address.role);
    if entry.kind != MEMORY_ACT_KIND {
        let text = format!("{} from {} outside every task", entry.kind, entry.from);
        let accountable = role.unwrap_or(RoleId::Runtime);
        return Some(entry.finding(FindingKind::BoundaryViolation, accountable, text));
    }
    match role {
        Ok(RoleId::Memory | RoleId::Operator) => None,
        other => {
            let text = format!("memory was written by {}: only the Dreamer and the operator may", entry.from);
            Some(entry.finding(FindingKind::MemoryWrite, other.unwrap_or(RoleId::Runtime), text))
        }
    }
}
