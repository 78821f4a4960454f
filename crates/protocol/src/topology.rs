//! The one table of who may send what to whom, and who may act on the world.
//!
//! Everything that enforces the organisation is generated from the table below: the trait bounds that reject a wrong
//! send at compile time ([`SentBy`], [`Has`]), each role's closed inbox ([`inbox`]), decoding at run time
//! ([`Payload::decode`]), the route table as data ([`ROUTES`], [`allows`]) and `docs/routes.md`.
//!
//! A line reads: message, senders, receivers. A message with two receivers is one record with two deliveries, in the
//! order given here. `asks ANSWER` marks a question to a party outside the task: it opens an ask, which a cancel stops
//! and a restart shows again. `closes task` marks the last message of a task.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::{Capability, CapabilityType};
use crate::id::CallId;
use crate::message::{self, Message};
use crate::role::RoleId;

mod expand;
use expand::topology;

topology! {
    messages {
        /// A person states a goal.
        UserInput: [User] => [Perceiver];
        /// R1 asks what a reference means.
        ClarificationRequest: [Perceiver] => [User] asks ClarificationAnswer;
        /// The person says, or lets it go.
        ClarificationAnswer: [User] => [Perceiver];
        /// Small talk, answered at once; closes the stream.
        DirectAnswer: [Perceiver] => [User] closes task;
        /// The intent, unchanged.
        TaskSpec: [Perceiver] => [Planner];
        /// The calibration question.
        MemoryQuery: [Planner] => [Memory] asks MemoryReply;
        /// What is remembered.
        MemoryReply: [Memory] => [Planner];
        /// The plan, shown before it is dispatched.
        PlanProposal: [Planner] => [User] asks PlanDecision;
        /// The person's word on it.
        PlanDecision: [User] => [Planner];
        /// Opens a round.
        DispatchManifest: [Planner] => [MetaValidator];
        /// The work and the rubric.
        SubTask: [Planner] => [AgentValidator, Executor];
        /// What R3 claims and did.
        ExecutionResult: [Executor] => [AgentValidator];
        /// What to mend.
        CorrectionSignal: [AgentValidator] => [Executor];
        /// What R4a measured.
        SubTaskOutcome: [AgentValidator] => [MetaValidator];
        /// A sequence group is done.
        GroupMatched: [MetaValidator] => [Planner];
        /// The round holds.
        OutcomeSummary: [MetaValidator] => [GoalGradientSolver];
        /// The round fell short.
        ReplanRequest: [MetaValidator] => [GoalGradientSolver];
        /// The round could not be measured.
        TaskFault: [Perceiver, Planner, Runtime] => [GoalGradientSolver];
        /// A directed replan.
        PlanDirective: [GoalGradientSolver] => [Planner];
        /// The task will be abandoned.
        AbandonNotice: [GoalGradientSolver] => [Planner];
        /// What was achieved.
        PartialReport: [Planner] => [GoalGradientSolver];
        /// Experience.
        Megram: [GoalGradientSolver] => [Memory];
        /// Evidence against a rule.
        NegativeFeedback: [GoalGradientSolver] => [Memory];
        /// The one end of a task.
        FinalResult: [GoalGradientSolver] => [User] closes task;
        /// Consent is wanted.
        ApprovalRequest: [Executor] => [User] asks ApprovalDecision;
        /// Consent is given or refused.
        ApprovalDecision: [User] => [Executor];
        /// The person stops the task.
        CancelRequest: [User] => [GoalGradientSolver];
        /// The operator speaks to memory.
        MemoryCommand: [Operator] => [Memory];
        /// Memory answers the operator.
        MemoryListing: [Memory] => [Operator];
        /// The operator asks the Auditor.
        AuditQuery: [Operator] => [Auditor];
        /// The Auditor reports.
        AuditReport: [Auditor] => [Operator];
    }
    capabilities {
        Perceiver: [CallModel];
        Planner: [CallModel, Survey];
        Executor: [CallModel, RunTool, RunProbe];
        AgentValidator: [CallModel];
        MetaValidator: [CallModel, RunProbe];
        Memory: [CallModel];
    }
}

/// A message to a person that neither asks nor closes the task would leave the task waiting without an open ask.
const _: () = {
    let mut n = 0;
    while n < ROUTES.len() {
        let route = ROUTES[n];
        let is_to_person = matches!(route.to, [RoleId::User]);
        assert!(
            !is_to_person || route.kind.asks().is_some() || route.kind.closes(),
            "a message to User needs `asks ANSWER` or `closes task`"
        );
        n += 1;
    }
};

/// A party of the topology, as a type.
pub trait Party: sealed::Sealed + 'static {
    /// The same party as a value.
    const ID: RoleId;
}

/// A party that receives messages: its inbox is a closed enum, so a handler that forgets one does not compile.
pub trait Receives: Party {
    /// Every message that may reach it.
    type Inbox: TryFrom<Payload, Error = Misrouted>;
}

/// A message that the party `S` may send.
#[diagnostic::on_unimplemented(
    message = "no route lets `{S}` send `{Self}`",
    label = "`{S}` may not send this",
    note = "routes are declared in `crates/protocol/src/topology.rs`"
)]
pub trait SentBy<S: Party>: Message {}

/// A message that reaches the party `R`.
#[diagnostic::on_unimplemented(
    message = "no route delivers `{Self}` to `{R}`",
    note = "routes are declared in `crates/protocol/src/topology.rs`"
)]
pub trait DeliveredTo<R: Party>: Message {}

/// A party with the capability `C`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` may not `{C}`",
    label = "this capability is not given to `{Self}`",
    note = "capabilities are declared in `crates/protocol/src/topology.rs`"
)]
pub trait Has<C: CapabilityType>: Party {}

/// The error for a payload that reached a party whose inbox does not include it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("deliver {kind}: {to} does not receive it")]
pub struct Misrouted {
    /// Kind of the message.
    pub kind: Kind,
    /// The party that does not receive it.
    pub to: RoleId,
}

/// One line of the table, as a value.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The message.
    pub kind: Kind,
    /// Parties that may send it.
    pub from: &'static [RoleId],
    /// Receivers, in delivery order.
    pub to: &'static [RoleId],
    /// Description in one sentence.
    pub about: &'static str,
}

/// The error for a text that names no message.
#[derive(Debug, thiserror::Error)]
#[error("read {0:?} as a message kind")]
pub struct KindError(String);

/// The error for a body that is not a message of its kind.
#[derive(Debug, thiserror::Error)]
#[error("decode a {kind}")]
pub struct DecodeError {
    /// Kind of the message.
    pub kind: Kind,
    /// Error of the decoder.
    #[source]
    pub source: serde_json::Error,
}

/// Returns whether the table lets `from` send `kind` to `to`. Checked at run time for messages from another process.
#[must_use]
pub fn allows(from: RoleId, to: RoleId, kind: Kind) -> bool {
    let route = kind.route();
    route.from.contains(&from) && route.to.contains(&to)
}

/// Returns whether the table grants `role` the capability.
#[must_use]
pub fn may(role: RoleId, capability: Capability) -> bool {
    CAPABILITIES.iter().any(|(id, given)| *id == role && given.contains(&capability))
}

/// Returns the text of `docs/routes.md`.
#[must_use]
pub fn routes_markdown() -> String {
    let names = |ids: &[RoleId]| ids.iter().map(|id| id.label()).collect::<Vec<_>>().join(", ");
    let mut out = String::from(
        "# Routes\n\nGenerated from `crates/protocol/src/topology.rs` by `cargo xtask gen`; do not edit.\n\n\
         ## Messages\n\n| message | from | to | what it is | then |\n|---|---|---|---|---|\n",
    );
    for route in ROUTES {
        let then = match route.kind.asks() {
            Some(answer) => format!("answered by `{answer}`"),
            None if route.kind.closes() => "ends the task".to_owned(),
            None => String::new(),
        };
        out.push_str(&format!(
            "| `{}` | {} | {} | {} | {then} |\n",
            route.kind,
            names(route.from),
            names(route.to),
            route.about.trim()
        ));
    }
    out.push_str("\n## Capabilities\n\n| role | may |\n|---|---|\n");
    for role in RoleId::ALL {
        let given: Vec<String> = CAPABILITIES
            .iter()
            .filter(|(id, _)| *id == role)
            .flat_map(|(_, given)| given.iter().map(|c| format!("`{c:?}`")))
            .collect();
        let given = if given.is_empty() { "nothing".to_owned() } else { given.join(", ") };
        out.push_str(&format!("| {} ({role}) | {given} |\n", role.label()));
    }
    out.push_str("\n## Flow\n\n```mermaid\nflowchart LR\n");
    let mut edges: std::collections::BTreeMap<(RoleId, RoleId), Vec<&str>> =
        std::collections::BTreeMap::new();
    for route in ROUTES {
        for from in route.from {
            for to in route.to {
                edges.entry((*from, *to)).or_default().push(route.kind.name());
            }
        }
    }
    for ((from, to), kinds) in edges {
        out.push_str(&format!("    {} -->|{}| {}\n", from.label(), kinds.join("<br>"), to.label()));
    }
    out.push_str("```\n");
    out
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = KindError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Kind::ALL
            .iter()
            .copied()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| KindError(text.chars().take(60).collect()))
    }
}

mod sealed {
    pub trait Sealed {}
}

#[cfg(test)]
mod tests;
